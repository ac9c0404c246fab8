//! Judges what a client sends before the protocol sees it: the library below answers some malformed messages and says nothing to others, and who gets no answer
//! waits for ever. Every message that is not a notification or a response gets exactly one answer: its own, or the error that is made here.

use std::collections::{HashSet, VecDeque};
use std::fmt;
use std::sync::OnceLock;

use regex::bytes::Regex;
use rmcp::ErrorData;
use rmcp::model::{
    CancelledNotificationParam, ClientJsonRpcMessage, ClientNotification, ErrorCode, JsonRpcMessage,
    RequestId, ServerJsonRpcMessage,
};
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::limits::CANCELLED_REMEMBERED;

/// An id stands among so many bytes of a request's beginning or end.
pub(crate) const END_BYTES: usize = 256;
/// JSON allows this mark before it.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";
/// What the parser says of arrays in arrays in arrays.
const TOO_DEEP: &str = "recursion limit exceeded";

/// What is to become of a message.
pub(crate) enum Judged {
    /// The protocol's business.
    Good(Box<ClientJsonRpcMessage>),
    /// To be answered with this.
    Wrong(Box<ServerJsonRpcMessage>),
    /// Nothing to answer: white space, or a notification that nobody understands.
    Nothing,
}

/// The requests of one client that have no answer yet.
#[derive(Default)]
pub(crate) struct UnderWay {
    ids: HashSet<RequestId>,
    /// Those that were taken back, whose work may not be over; the oldest goes first.
    cancelled: VecDeque<RequestId>,
}

impl UnderWay {
    /// Judges a message and notes it, if it is a request.
    pub(crate) fn judge(&mut self, bytes: &[u8]) -> Judged {
        let judged = judge(bytes);
        let Judged::Good(message) = &judged else { return judged };
        match &**message {
            JsonRpcMessage::Request(request) => {
                let id = &request.id;
                if self.cancelled.contains(id) || !self.ids.insert(id.clone()) {
                    let text = format!("the id {id} is that of a request that is under way: take another");
                    return wrong(ErrorCode::INVALID_REQUEST, text, Some(id.clone()));
                }
            }
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification {
                    self.cancel(&cancelled.params);
                }
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => {}
        }
        judged
    }

    /// Such a request gets no answer any more.
    fn cancel(&mut self, params: &CancelledNotificationParam) {
        if let Some(id) = &params.request_id {
            self.forget(id);
        }
    }

    fn forget(&mut self, id: &RequestId) {
        let Some(id) = self.ids.take(id) else { return };
        self.cancelled.push_back(id);
        if self.cancelled.len() > CANCELLED_REMEMBERED {
            self.cancelled.pop_front();
        }
    }

    /// What is sent to the client may be an answer.
    pub(crate) fn answered(&mut self, message: &ServerJsonRpcMessage) {
        match message {
            JsonRpcMessage::Response(response) => drop(self.ids.remove(&response.id)),
            JsonRpcMessage::Error(error) => drop(error.id.as_ref().map(|id| self.ids.remove(id))),
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => {}
        }
    }

    /// Nobody listens for the answer of a request any more; `answered` says whether it came.
    pub(crate) fn over(&mut self, id: &RequestId, answered: bool) {
        if answered {
            self.ids.remove(id);
        } else {
            self.forget(id);
        }
    }

    /// The answer to a message that is too long to be read, by its ends.
    pub(crate) fn too_long(&self, head: &[u8], tail: &[u8], limit: usize) -> ServerJsonRpcMessage {
        let id = id_of(head, tail).filter(|id| !self.ids.contains(id));
        let text = format!("the request is over the limit of {limit} bytes; put large data into a file");
        error(ErrorCode::INVALID_REQUEST, text, id)
    }
}

fn error(code: ErrorCode, text: String, id: Option<RequestId>) -> ServerJsonRpcMessage {
    JsonRpcMessage::error(ErrorData::new(code, text, None), id)
}

fn wrong(code: ErrorCode, text: String, id: Option<RequestId>) -> Judged {
    Judged::Wrong(Box::new(error(code, text, id)))
}

/// Judges a message by itself.
pub(crate) fn judge(bytes: &[u8]) -> Judged {
    let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes).trim_ascii();
    if bytes.is_empty() {
        return Judged::Nothing;
    }
    let head: Head = match serde_json::from_slice(bytes) {
        Ok(head) => head,
        Err(error) if error.is_data() => {
            let text = format!("a message is one JSON object: {error}");
            return wrong(ErrorCode::INVALID_REQUEST, text, None);
        }
        Err(error) => {
            let ends = bytes.len().min(END_BYTES);
            let id = id_of(&bytes[..ends], &bytes[bytes.len() - ends..]);
            return wrong(ErrorCode::PARSE_ERROR, format!("the message is not JSON: {error}"), id);
        }
    };
    let refused = |text: &str| wrong(ErrorCode::INVALID_REQUEST, text.to_string(), head.id.good());
    let request = match (&head.method, &head.id) {
        (Method::Absent, _) if head.response => false,
        (Method::Absent, _) => return refused("the message has no method"),
        (Method::Wrong, _) => return refused("'method' is not a string"),
        (Method::Name, Given::Wrong) => {
            return refused("'id' is neither a string nor a whole number of 64 bits");
        }
        (Method::Name, Given::Id(_)) => true,
        (Method::Name, Given::Absent) => false,
    };
    if request && !head.version {
        return refused("'jsonrpc' is not \"2.0\"");
    }
    if request && head.response {
        return refused("a message with a method has neither 'result' nor 'error'");
    }
    match serde_json::from_slice::<ClientJsonRpcMessage>(bytes) {
        Ok(message) if request == matches!(message, JsonRpcMessage::Request(_)) => {
            Judged::Good(Box::new(message))
        }
        Ok(_) => refused("the message is neither a request nor a notification nor a response"),
        Err(error) if error.is_syntax() && error.to_string().starts_with(TOO_DEEP) => {
            refused("the message is nested too deeply")
        }
        Err(error) if error.is_syntax() || error.is_eof() => {
            wrong(ErrorCode::PARSE_ERROR, format!("the message is not JSON: {error}"), head.id.good())
        }
        // Nobody answers a notification.
        Err(_) if !request => Judged::Nothing,
        Err(error) => refused(&format!("the request does not fit: {error}")),
    }
}

/// What of a message says what it is. Reads all of it, and of the rest cares for nothing but where it ends.
#[derive(Default)]
struct Head {
    version: bool,
    id: Given,
    method: Method,
    response: bool,
}

#[derive(Default)]
enum Given {
    #[default]
    Absent,
    Wrong,
    Id(RequestId),
}

impl Given {
    fn good(&self) -> Option<RequestId> {
        match self {
            Self::Id(id) => Some(id.clone()),
            _ => None,
        }
    }
}

#[derive(Default)]
enum Method {
    #[default]
    Absent,
    Wrong,
    Name,
}

impl<'de> Deserialize<'de> for Head {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Head;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object (several messages in one array are not part of MCP)")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Head, A::Error> {
                let mut head = Head::default();
                // As the parser below does, the last of several counts.
                while let Some(key) = map.next_key::<String>()? {
                    match key.as_str() {
                        "jsonrpc" => {
                            let Scalar::Text(text) = map.next_value()? else { continue };
                            head.version = text == "2.0";
                        }
                        "id" => {
                            head.id = match map.next_value()? {
                                Scalar::Text(text) => Given::Id(RequestId::String(text.into())),
                                Scalar::Whole(number) => Given::Id(RequestId::Number(number)),
                                Scalar::Other => Given::Wrong,
                            };
                        }
                        "method" => {
                            head.method = match map.next_value()? {
                                Scalar::Text(_) => Method::Name,
                                _ => Method::Wrong,
                            };
                        }
                        "result" | "error" => {
                            map.next_value::<IgnoredAny>()?;
                            head.response = true;
                        }
                        _ => drop(map.next_value::<IgnoredAny>()?),
                    }
                }
                Ok(head)
            }
        }
        deserializer.deserialize_map(Fields)
    }
}

/// A string or a whole number, or something else.
enum Scalar {
    Text(String),
    Whole(i64),
    Other,
}

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Value;
        impl<'de> Visitor<'de> for Value {
            type Value = Scalar;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("any value")
            }

            fn visit_str<E>(self, text: &str) -> Result<Scalar, E> {
                Ok(Scalar::Text(text.to_string()))
            }

            fn visit_i64<E>(self, number: i64) -> Result<Scalar, E> {
                Ok(Scalar::Whole(number))
            }

            fn visit_u64<E>(self, number: u64) -> Result<Scalar, E> {
                Ok(i64::try_from(number).map_or(Scalar::Other, Scalar::Whole))
            }

            fn visit_f64<E>(self, number: f64) -> Result<Scalar, E> {
                // `1.0` and `1e2` are whole numbers too; beyond 2^53 it is not known which.
                let whole = number.fract() == 0.0 && number.abs() <= 9_007_199_254_740_992.0;
                Ok(if whole { Scalar::Whole(number as i64) } else { Scalar::Other })
            }

            fn visit_bool<E>(self, _: bool) -> Result<Scalar, E> {
                Ok(Scalar::Other)
            }

            fn visit_unit<E>(self) -> Result<Scalar, E> {
                Ok(Scalar::Other)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut all: A) -> Result<Scalar, A::Error> {
                while all.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Scalar::Other)
            }

            fn visit_map<A: MapAccess<'de>>(self, mut all: A) -> Result<Scalar, A::Error> {
                while all.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Scalar::Other)
            }
        }
        deserializer.deserialize_any(Value)
    }
}

/// The id of a request whose middle nobody reads.
fn id_of(head: &[u8], tail: &[u8]) -> Option<RequestId> {
    static ID: OnceLock<Option<Regex>> = OnceLock::new();
    let id = ID.get_or_init(|| Regex::new(r#""id"\s*:\s*("[^"\\]*"|-?[0-9]+)\s*[,}]"#).ok()).as_ref()?;
    let params = head.windows(8).position(|window| window == b"\"params\"").unwrap_or(head.len());
    let read = |found: regex::bytes::Captures<'_>| serde_json::from_slice(&found[1]).ok();
    id.captures(&head[..params]).and_then(read).or_else(|| id.captures_iter(tail).last().and_then(read))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Judged, RequestId, UnderWay, id_of, judge};

    #[test]
    fn ids_are_found_at_either_end() {
        assert_eq!(id_of(b"{\"id\": 7, \"params\": {\"id\": 8", b"xxx}}"), Some(RequestId::Number(7)));
        assert_eq!(
            id_of(b"{\"params\": {\"id\": 8", b"{\"id\": 9}}, \"id\": \"a\"}\n"),
            Some(RequestId::String("a".into()))
        );
        assert_eq!(id_of(b"{}", b"{}"), None);
    }

    fn answer(judged: Judged) -> Option<Value> {
        match judged {
            Judged::Good(_) => None,
            Judged::Wrong(message) => Some(serde_json::to_value(message).expect("JSON")),
            Judged::Nothing => Some(Value::Null),
        }
    }

    fn refused(text: &str, code: i64, id: Value) {
        let answer = answer(judge(text.as_bytes())).unwrap_or_else(|| panic!("{text} is good"));
        assert_eq!((answer["error"]["code"].as_i64(), &answer["id"]), (Some(code), &id), "{text}: {answer}");
    }

    #[test]
    fn what_is_no_message_is_refused_by_its_id() {
        refused(r#"{"jsonrpc":"2.0","id":7,"method":"ping","params":{"x":"\ud83d"}}"#, -32700, json!(7));
        refused(r#"{"jsonrpc":"2.0","id":7,"method":"ping","params":"#, -32700, json!(7));
        refused("nonsense", -32700, Value::Null);
        refused("[]", -32600, Value::Null);
        refused("7", -32600, Value::Null);
        refused("{}", -32600, Value::Null);
        refused(r#"{"jsonrpc":"2.0","id":1}"#, -32600, json!(1));
        refused(r#"{"jsonrpc":"1.0","id":"a","method":"ping"}"#, -32600, json!("a"));
        refused(r#"{"jsonrpc":"2.0","id":"a","method":5}"#, -32600, json!("a"));
        refused(r#"{"jsonrpc":"2.0","id":"a","method":"ping","result":5}"#, -32600, json!("a"));
        for id in ["null", "1.5", "true", "{}", "[1]", "1e30", "99999999999999999999", "[[\"\\ud83d\"]]"] {
            let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
            refused(&text, -32600, Value::Null);
        }
        let deep = format!(
            r#"{{"jsonrpc":"2.0","id":7,"method":"ping","params":{}{}}}"#,
            "[".repeat(5000),
            "]".repeat(5000)
        );
        refused(&deep, -32600, json!(7));
    }

    #[test]
    fn messages_pass_and_notifications_are_not_answered() {
        for good in [
            r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#,
            "\u{feff}{\"jsonrpc\":\"2.0\",\"id\":\"\",\"method\":\"x/y\",\"params\":{}}\r\n",
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"2.0","id":7,"result":{}}"#,
        ] {
            assert_eq!(answer(judge(good.as_bytes())), None, "{good}");
        }
        assert_eq!(answer(judge(b"  \r\n")), Some(Value::Null));
        assert_eq!(answer(judge(br#"{"method":"notifications/cancelled","params":7}"#)), Some(Value::Null));
    }

    #[test]
    fn an_id_is_used_once_at_a_time() {
        let mut calls = UnderWay::default();
        let ping = br#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#;
        assert_eq!(answer(calls.judge(ping)), None);
        let again = answer(calls.judge(ping)).expect("refused");
        assert_eq!((again["error"]["code"].as_i64(), &again["id"]), (Some(-32600), &json!(7)));
        let reply =
            serde_json::from_value(json!({"jsonrpc": "2.0", "id": 7, "result": {}})).expect("a response");
        calls.answered(&reply);
        assert_eq!(answer(calls.judge(ping)), None);
        let cancel = br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#;
        assert_eq!(answer(calls.judge(cancel)), None);
        assert!(answer(calls.judge(ping)).is_some(), "its work may still go on");
    }
}
