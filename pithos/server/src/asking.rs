//! Asks the person at the client about a host, as the protocol has it (`elicitation/create`): for this command, until the server ends, or not at all.
//! https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation

use std::time::Duration;

use pithos_sessions::limits::ASK_S;
use pithos_sessions::{Asker, Question, Reply, Replying};
use rmcp::model::{ElicitRequestParams, ElicitationAction};
use rmcp::{Peer, RoleServer};
use serde_json::json;

const THIS_COMMAND: &str = "this command";
const EVERY_COMMAND: &str = "every command until the server ends";
const NO: &str = "no";

/// A client that may have somebody to ask.
pub(crate) struct AtClient(pub(crate) Peer<RoleServer>);

impl Asker for AtClient {
    fn ask(&self, question: Question) -> Replying {
        let peer = self.0.clone();
        Box::pin(async move { ask(&peer, question).await })
    }
}

async fn ask(peer: &Peer<RoleServer>, question: Question) -> Reply {
    let can = peer.peer_info().is_some_and(|info| info.capabilities.elicitation.is_some());
    if !can {
        return Reply::Unasked("the client has no elicitation".to_owned());
    }
    let whose = question.job.map(|job| format!(" (job {job})")).unwrap_or_default();
    let message = format!(
        "A command in the sandbox{whose} wants to connect to {}, port {}. Data of the workspace can be sent there. Allow it?",
        question.host, question.port
    );
    let wanted = json!({
        "mode": "form",
        "message": message,
        "requestedSchema": {
            "type": "object",
            "properties": {"allow": {"type": "string", "title": "Allow", "enum": [THIS_COMMAND, EVERY_COMMAND, NO]}},
            "required": ["allow"]
        }
    });
    let Ok(wanted) = serde_json::from_value::<ElicitRequestParams>(wanted) else {
        return Reply::Unasked("the question has no form".to_owned());
    };
    let asked = tokio::time::timeout(Duration::from_secs(ASK_S), peer.create_elicitation(wanted)).await;
    let Ok(asked) = asked else { return Reply::Unasked(format!("no answer came within {ASK_S} s")) };
    match asked {
        Ok(answer) if answer.action == ElicitationAction::Accept => {
            match answer.content.as_ref().and_then(|content| content["allow"].as_str()) {
                Some(THIS_COMMAND) => Reply::Job,
                Some(EVERY_COMMAND) => Reply::Server,
                _ => Reply::No,
            }
        }
        Ok(_) => Reply::No,
        Err(error) => Reply::Unasked(error.to_string()),
    }
}
