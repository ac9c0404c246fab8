//! `pithos serve`: the MCP server on standard input and output. Ends when the client closes its side; the guardian then ends
//! everything that still runs.

use std::process::ExitCode;

use pithos_sessions::{Config, Manager};
use rmcp::ServiceExt;

use crate::audit::Audit;
use crate::control;
use crate::handler::Handler;

/// Serves one client on stdio until it goes.
pub(crate) async fn stdio(config: Config, audit: Audit) -> Result<ExitCode, String> {
    let folder = config.logs.clone();
    let manager = Manager::start(config).map_err(|error| error.to_string())?;
    control::serve(&manager, &folder);
    let handler = Handler::new(manager, audit);
    let service = match handler.serve(rmcp::transport::io::stdio_pipes()).await {
        Ok(service) => service,
        Err(error) => return Err(format!("the client's first message: {error}")),
    };
    service.waiting().await.map_err(|error| format!("the server's loop: {error}"))?;
    Ok(ExitCode::SUCCESS)
}
