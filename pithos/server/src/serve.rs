//! `pithos serve`: the MCP server on standard input and output. Ends when the client closes its side; the guardian then ends
//! everything that still runs.

use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream as StdStream;
use std::process::ExitCode;
use std::sync::Arc;

use pithos_sessions::{Config, Manager};
use rmcp::ServiceExt;
use tokio::net::UnixStream;

use crate::control;
use crate::handler::{Callers, Handler};
use crate::journal::Recorder;
use crate::lines::Lines;
use crate::servers::Servers;
use crate::watchdog::{self, Calls};

/// Serves one client on stdio until it goes.
pub(crate) async fn stdio(
    config: Config,
    recorder: Arc<Recorder>,
    servers: Servers,
) -> Result<ExitCode, String> {
    let folder = config.control.clone();
    let manager = Manager::start(config).map_err(|error| error.to_string())?;
    let looked_at = Arc::downgrade(&manager);
    control::serve(
        &folder,
        Arc::clone(&recorder.metrics),
        || None,
        move || Some(vec![(None, looked_at.upgrade()?)]),
    );
    let calls = Calls::default();
    watchdog::start(calls.clone(), true)?;
    pithos_sessions::raise_descriptor_limit();
    let handler = Handler::new(Callers::One(manager), recorder, calls, servers);
    let started = match standard_sockets() {
        Some((from, to)) => handler.serve(Lines::new(from, to)).await,
        None => {
            let (from, to) = rmcp::transport::io::stdio_pipes();
            handler.serve(Lines::new(from, to)).await
        }
    };
    let service = started.map_err(|error| format!("the client's first message: {error}"))?;
    service.waiting().await.map_err(|error| format!("the server's loop: {error}"))?;
    Ok(ExitCode::SUCCESS)
}

/// Standard input and output when both are sockets, as node gives them to its children: driven without a thread for each direction, which is
/// what the transport does with anything but pipes. Whoever holds the other ends has descriptions of their own, so they stay blocking.
fn standard_sockets() -> Option<(UnixStream, UnixStream)> {
    let socket = |descriptor: BorrowedFd<'_>| {
        let kind = rustix::fs::FileType::from_raw_mode(rustix::fs::fstat(descriptor).ok()?.st_mode);
        if kind != rustix::fs::FileType::Socket {
            return None;
        }
        let stream = StdStream::from(descriptor.try_clone_to_owned().ok()?);
        stream.set_nonblocking(true).ok()?;
        UnixStream::from_std(stream).ok()
    };
    Some((socket(std::io::stdin().as_fd())?, socket(std::io::stdout().as_fd())?))
}
