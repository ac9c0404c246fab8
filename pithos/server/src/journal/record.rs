//! The format of a journal: JSON lines, each complete in itself. `v` is the format's version and `kind` says what a line is: `start` (a server began to
//! write), `call`, or `dropped` (so many calls are missing here). Everything is bounded before it is queued, and redacted before it is written.

use pithos_sessions::Tape;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::journal::redact::Redactor;
use crate::limits::{JOURNAL_NODES_MAX, JOURNAL_STRING_BYTES_MAX, JOURNAL_TEAR_BYTES};

/// The version of the format.
pub(crate) const VERSION: u64 = 1;

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// With a report; a failed command is one.
    Good,
    /// With something that the client can put right.
    Wrong,
    /// There was no place for the client.
    Refused,
    /// There is no such tool.
    UnknownTool,
    /// Nobody waited for its end.
    Abandoned,
}

impl Ended {
    /// All of them, in the order of their numbers.
    pub(crate) const ALL: [Self; 5] =
        [Self::Good, Self::Wrong, Self::Refused, Self::UnknownTool, Self::Abandoned];

    /// As the journal and the metrics call it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Wrong => "wrong",
            Self::Refused => "refused",
            Self::UnknownTool => "unknown_tool",
            Self::Abandoned => "abandoned",
        }
    }
}

/// Calls that change nothing: tools, and which of their actions; every one where none is named.
const LOOKS: [(&str, &[&str]); 4] =
    [("log", &[]), ("job", &["list"]), ("session", &["list", "diff", "checkpoints"]), ("actors", &["tree"])];

/// Who makes a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum By {
    /// The client itself, which needs no word.
    Client,
    /// A cell.
    Cell,
    /// A person, through the page.
    Console,
}

impl By {
    /// As the journal calls it.
    pub(crate) fn name(self) -> Option<&'static str> {
        match self {
            Self::Client => None,
            Self::Cell => Some("cell"),
            Self::Console => Some("console"),
        }
    }
}

/// One call, before it is redacted.
pub(crate) struct Record {
    pub(crate) number: u64,
    pub(crate) time_s: f64,
    pub(crate) client: Option<u64>,
    pub(crate) by: By,
    pub(crate) tool: String,
    pub(crate) arguments: Bounded,
    pub(crate) ended: Ended,
    pub(crate) result: Bounded,
    pub(crate) text: String,
    pub(crate) tape: Option<Tape>,
    pub(crate) ms: f64,
}

impl Record {
    /// About what it holds in memory.
    pub(crate) fn weight(&self) -> usize {
        let tape = self.tape.as_ref().map_or(0, Tape::weight);
        self.arguments.weight + self.result.weight + self.text.len() + tape + size_of::<Self>()
    }

    /// Whether it may have changed something: all but calls that look, and calls of what is not there.
    pub(crate) fn changing(&self) -> bool {
        match self.ended {
            Ended::Refused | Ended::UnknownTool => return false,
            Ended::Good | Ended::Wrong | Ended::Abandoned => {}
        }
        let action = self.arguments.value["action"].as_str().unwrap_or_default();
        !LOOKS.iter().any(|(tool, looks)| *tool == self.tool && (looks.is_empty() || looks.contains(&action)))
    }

    /// The line, redacted.
    pub(crate) fn line(self, server: &str, redactor: &Redactor) -> String {
        let mut redacted = 0;
        let arguments = redactor.arguments(&self.tool, self.arguments.value, &mut redacted);
        let foreign = self.tool.contains('/');
        let result = if foreign { digest_of(&self.result.value) } else { without_output(self.result.value) };
        let result = redactor.value(result, &mut redacted);
        let tool = redactor.text(&cut_string(&self.tool).0, &mut redacted);
        let mut fields = Map::new();
        let mut field = |name: &str, value: Value| fields.insert(name.to_string(), value);
        field("v", VERSION.into());
        field("kind", "call".into());
        field("server", server.into());
        field("n", self.number.into());
        field("time", json!(self.time_s));
        if let Some(client) = self.client {
            field("client", client.into());
        }
        if let Some(by) = self.by.name() {
            field("by", by.into());
        }
        field("tool", tool.into());
        field("arguments", arguments);
        field("ended", self.ended.name().into());
        field("result", result);
        field("text_bytes", self.text.len().into());
        field("text_sha256", hex(&Sha256::digest(self.text.as_bytes())).into());
        field("ms", json!(self.ms));
        if let Some(tape) = &self.tape {
            field("tape", json!(tape));
        }
        if self.arguments.cut || self.result.cut {
            field("cut", true.into());
        }
        if redacted > 0 {
            field("redacted", redacted.into());
        }
        format!("{}\n", Value::Object(fields))
    }
}

/// Fields of results that hold what a program printed or answered.
const OUTPUT: [&str; 7] = ["stdout", "stderr", "stderr_tail", "value", "reply", "replies", "screen"];

/// A result in which output is only its digest: what a program prints, a cell returns and an actor replies may be anything.
fn without_output(result: Value) -> Value {
    match result {
        Value::Object(fields) => {
            let one = |(name, value): (String, Value)| {
                let hidden = OUTPUT.contains(&name.as_str()) && !value.is_null();
                let value = if hidden { digest_of(&value) } else { without_output(value) };
                (name, value)
            };
            Value::Object(fields.into_iter().map(one).collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(without_output).collect()),
        plain => plain,
    }
}

/// What stands for a value: the length and the digest of its text, or of its JSON.
fn digest_of(value: &Value) -> Value {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_string);
    json!({"bytes": text.len(), "sha256": hex(&Sha256::digest(text.as_bytes()))})
}

/// The line with which a server begins.
pub(crate) fn start_line(server: &str, policy: &str, time_s: f64) -> String {
    let line = json!({
        "v": VERSION, "kind": "start", "server": server, "time": time_s, "pid": std::process::id(),
        "pithos": env!("CARGO_PKG_VERSION"), "policy": policy,
    });
    format!("{line}\n")
}

/// The line that stands for calls that are missing.
pub(crate) fn dropped_line(server: &str, count: u64, changing: u64, time_s: f64) -> String {
    let line = json!({
        "v": VERSION, "kind": "dropped", "server": server, "time": time_s, "count": count, "changing": changing,
    });
    format!("{line}\n")
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A copy of a value that is as large as a journal wants one.
pub(crate) struct Bounded {
    pub(crate) value: Value,
    /// Whether something is missing.
    pub(crate) cut: bool,
    weight: usize,
}

/// Copies a value; long strings are cut, and after so many values the rest is left out, each with a word about it.
pub(crate) fn bounded(value: &Value) -> Bounded {
    let mut cut =
        Cut { nodes_left: JOURNAL_NODES_MAX, bytes_left: JOURNAL_STRING_BYTES_MAX, cut: false, weight: 0 };
    let value = cut.copy(value);
    Bounded { value, cut: cut.cut, weight: cut.weight }
}

struct Cut {
    nodes_left: usize,
    bytes_left: usize,
    cut: bool,
    weight: usize,
}

impl Cut {
    fn copy(&mut self, value: &Value) -> Value {
        self.weight += size_of::<Value>();
        let Some(left) = self.nodes_left.checked_sub(1) else {
            self.cut = true;
            return "[cut]".into();
        };
        self.nodes_left = left;
        match value {
            Value::String(text) => self.string(text).into(),
            Value::Array(items) => {
                let shown = items.len().min(self.nodes_left + 1);
                Value::Array(items.iter().take(shown).map(|item| self.copy(item)).collect())
            }
            Value::Object(fields) => {
                let shown = fields.len().min(self.nodes_left + 1);
                let copied = fields.iter().take(shown);
                Value::Object(copied.map(|(name, value)| (self.string(name), self.copy(value))).collect())
            }
            plain => plain.clone(),
        }
    }

    fn string(&mut self, text: &str) -> String {
        if text.len() > self.bytes_left {
            self.cut = true;
            let kept = self.bytes_left;
            self.bytes_left = 0;
            self.weight += kept;
            return cut_to(text, kept);
        }
        self.bytes_left -= text.len();
        self.weight += text.len();
        text.to_string()
    }
}

fn cut_string(text: &str) -> (String, bool) {
    const NAME_BYTES_MAX: usize = 256;
    if text.len() <= NAME_BYTES_MAX {
        (text.to_string(), false)
    } else {
        (cut_to(text, NAME_BYTES_MAX), true)
    }
}

/// The beginning of a text. A secret that the cut would tear could not be told any more, so that it ends where a word ends.
fn cut_to(text: &str, kept: usize) -> String {
    let kept = &text[..text.floor_char_boundary(kept)];
    let tear = kept.len().saturating_sub(JOURNAL_TEAR_BYTES);
    let end =
        kept.rfind(char::is_whitespace).filter(|end| *end >= tear).unwrap_or(kept.floor_char_boundary(tear));
    format!("{}[cut: {} bytes in all]", &kept[..end], text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_comes_the_copy_is_small_and_says_so() {
        let wide = Value::Array(vec![json!({"a": 1}); 1 << 20]);
        let long = json!({"stdin": "é".repeat(4 << 20)});
        let keys = Value::Object((0..100_000).map(|n| (format!("{n:0>100}"), Value::Null)).collect());
        let deep = (0..120).fold(json!(1), |inner, _| json!([inner, "x"]));
        for value in [wide, long, keys] {
            let copy = bounded(&value);
            assert!(copy.cut && copy.value.to_string().len() < 4 * JOURNAL_STRING_BYTES_MAX);
        }
        assert!(bounded(&deep).value.to_string().len() < 4 * JOURNAL_STRING_BYTES_MAX);
        let small = json!({"command": "echo hi", "env": {"A": "b"}, "n": [1, 2.5, null, true]});
        let copy = bounded(&small);
        assert!(!copy.cut && copy.value == small);
    }

    #[test]
    fn a_cut_tears_no_word() {
        let secret = "ghp_0123456789abcdefghijklmnop";
        for shift in 0..secret.len() + 2 {
            let before = "x ".repeat((JOURNAL_STRING_BYTES_MAX - shift) / 2);
            let text = json!(format!("{before}{secret}{}", " y".repeat(JOURNAL_STRING_BYTES_MAX)));
            let copy = bounded(&text).value.to_string();
            assert!(!copy.contains("ghp_") || copy.contains(secret), "{shift}");
        }
    }
}
