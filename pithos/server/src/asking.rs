//! Asks the person at the client about a host, as the protocol has it (`elicitation/create`), and at the same time whoever looks at the page and may
//! answer there: for this command, until the server ends, or not at all. The first answer counts; the other question is withdrawn.
//! https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation

use std::sync::Arc;
use std::time::Duration;

use pithos_sessions::limits::ASK_S;
use pithos_sessions::{Asker, Question, Reply, Replying};
use rmcp::model::{
    ClientResult, ElicitRequestParams, ElicitResult, ElicitationAction, Request, ServerRequest,
};
use rmcp::service::{PeerRequestOptions, RequestHandle};
use rmcp::{Peer, RoleServer};
use serde_json::json;

use crate::desk::Desk;

const THIS_COMMAND: &str = "this command";
const EVERY_COMMAND: &str = "every command until the server ends";
const NO: &str = "no, and do not ask again";

/// A client that may have somebody to ask, and the page's desk.
pub(crate) struct AtClient {
    pub(crate) peer: Peer<RoleServer>,
    /// Where there is a page.
    pub(crate) desk: Option<Arc<Desk>>,
    /// The client's number, where a server has several.
    pub(crate) number: Option<u64>,
}

impl Asker for AtClient {
    fn ask(&self, question: Question) -> Replying {
        let (peer, desk, number) = (self.peer.clone(), self.desk.clone(), self.number);
        Box::pin(async move {
            let Some(desk) = desk else { return ask(&peer, question).await };
            first(ask(&peer, question.clone()), desk.ask(number, question)).await
        })
    }
}

/// The first reply of two that is one; of two that are none, the first's.
async fn first(client: impl Future<Output = Reply>, page: impl Future<Output = Reply>) -> Reply {
    tokio::pin!(client, page);
    tokio::select! {
        reply = &mut client => match (reply, page) {
            (Reply::Unasked(why), page) => match page.await {
                Reply::Unasked(_) => Reply::Unasked(why),
                reply => reply,
            },
            (reply, _) => reply,
        },
        reply = &mut page => match reply {
            Reply::Unasked(_) => client.await,
            reply => reply,
        },
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
    let request = Request::new(wanted);
    let sent = ServerRequest::ElicitRequest(request);
    let handle = match peer.send_cancellable_request(sent, PeerRequestOptions::no_options()).await {
        Ok(handle) => Asked(Some(handle)),
        Err(error) => return Reply::Unasked(error.to_string()),
    };
    let Ok(answered) = tokio::time::timeout(Duration::from_secs(ASK_S), handle.answer()).await else {
        return Reply::Unasked(format!("no answer came within {ASK_S} s"));
    };
    match answered {
        Ok(answer) if answer.action == ElicitationAction::Accept => {
            match answer.content.as_ref().and_then(|content| content["allow"].as_str()) {
                Some(THIS_COMMAND) => Reply::Job,
                Some(EVERY_COMMAND) => Reply::Server,
                Some(NO) => Reply::No,
                _ => Reply::Silent,
            }
        }
        Ok(answer) if answer.action == ElicitationAction::Decline => Reply::No,
        Ok(_) => Reply::Silent,
        Err(why) => Reply::Unasked(why),
    }
}

/// A question that a person sees. Withdrawn when nobody waits for the answer any more.
struct Asked(Option<RequestHandle<RoleServer>>);

impl Asked {
    async fn answer(mut self) -> Result<ElicitResult, String> {
        let Some(handle) = self.0.as_mut() else { return Err("it was withdrawn".to_owned()) };
        let answer = (&mut handle.rx).await;
        self.0 = None;
        match answer {
            Ok(Ok(ClientResult::ElicitResult(answer))) => Ok(answer),
            Ok(Ok(_)) => Err("the client's answer is none".to_owned()),
            Ok(Err(error)) => Err(error.to_string()),
            Err(_) => Err("the client has gone".to_owned()),
        }
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        if let (Some(handle), Ok(runtime)) = (self.0.take(), tokio::runtime::Handle::try_current()) {
            let why = Some("nobody waits for the answer any more".to_owned());
            // A client that has gone needs no word.
            runtime.spawn(async move { drop(handle.cancel(why).await) });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use super::{Reply, first};

    fn unasked(why: &str) -> Reply {
        Reply::Unasked(why.to_owned())
    }

    #[tokio::test]
    async fn whoever_answers_first_has_answered() {
        assert_eq!(first(ready(Reply::Job), pending()).await, Reply::Job);
        assert_eq!(first(pending(), ready(Reply::No)).await, Reply::No);
        assert_eq!(first(ready(unasked("a")), ready(Reply::Server)).await, Reply::Server);
        assert_eq!(first(ready(Reply::Server), ready(unasked("b"))).await, Reply::Server);
        assert_eq!(first(ready(unasked("a")), ready(unasked("b"))).await, unasked("a"));
    }
}
