//! The last calls in short, for the page's timeline: what was called, by whom, how it ended and what it changed. Owns a bounded ring; nothing is kept as long as
//! nobody has asked for it. Texts are cut here, and redacted when they are shown.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use pithos_sessions::Locked;
use serde_json::{Value, json};

use crate::journal::record::{By, Ended};
use crate::journal::redact::Redactor;
use crate::limits::{RECENT_CALLS, RECENT_TEXT_BYTES};

/// The ring.
#[derive(Default)]
pub(crate) struct Recent {
    wanted: AtomicBool,
    rows: Locked<VecDeque<Row>>,
}

/// What a call asks for, in short.
#[derive(Clone)]
pub(crate) struct What {
    tool: String,
    action: Option<String>,
    text: String,
    session: Option<String>,
    job: Option<String>,
}

/// What is known of a call besides, when it is over.
pub(crate) struct Call {
    pub(crate) number: u64,
    pub(crate) client: Option<u64>,
    pub(crate) by: By,
    pub(crate) time_s: f64,
    pub(crate) ended: Ended,
    pub(crate) wall: Duration,
}

#[derive(Clone)]
struct Row {
    number: u64,
    what: What,
    fields: Value,
}

impl Recent {
    /// Calls are kept from now on.
    pub(crate) fn want(&self) {
        self.wanted.store(true, Ordering::Relaxed);
    }

    /// Whether they are.
    pub(crate) fn wanted(&self) -> bool {
        self.wanted.load(Ordering::Relaxed)
    }

    /// A call is over; `structured` is of its result.
    pub(crate) fn put(&self, mut what: What, call: &Call, structured: &Value) {
        let name = |field: &str| structured[field].as_str().map(short);
        what.session = name("session").or(what.session);
        what.job = name("job").or(what.job);
        let changed = &structured["changed"];
        let fields = json!({
            "n": call.number, "client": call.client, "by": call.by.name(), "time": call.time_s,
            "ended": call.ended.name(), "ms": call.wall.as_secs_f64() * 1e3,
            "status": structured["status"].as_i64(), "state": name("state"),
            "changed": changed["count"].as_u64(), "undo": changed["undo"].as_str(),
            "denials": structured["denials"].as_array().map(Vec::len),
            "checkpoint": name("checkpoint"),
        });
        let row = Row { number: call.number, what, fields };
        let _gone = self.rows.with(|rows| {
            rows.push_back(row);
            if rows.len() > RECENT_CALLS { rows.pop_front() } else { None }
        });
    }

    /// Those that ended last, oldest first. Work for the blocking pool: there are many, and each text is searched for secrets.
    pub(crate) fn rows(&self, redactor: &Redactor) -> Vec<Value> {
        let rows = self.rows.with(|rows| rows.iter().cloned().collect::<Vec<_>>());
        let mut redacted = 0;
        let shown = rows.into_iter().map(|Row { what, mut fields, .. }| {
            fields["tool"] = redactor.text(&what.tool, &mut redacted).into();
            fields["text"] = redactor.text(&what.text, &mut redacted).into();
            fields["action"] = json!(what.action);
            fields["session"] = json!(what.session);
            fields["job"] = json!(what.job);
            fields
        });
        shown.collect()
    }

    /// The number of the last one.
    pub(crate) fn last(&self) -> u64 {
        self.rows.with(|rows| rows.back().map_or(0, |row| row.number))
    }
}

impl What {
    /// Never what is typed to a program, nor what it is given to read.
    pub(crate) fn of(tool: &str, arguments: &Value) -> Self {
        let field = |name: &str| arguments[name].as_str().map(short);
        let text = match tool {
            "run" => field("command"),
            "js" => field("code"),
            "log" => field("pattern"),
            "session" => field("checkpoint").or_else(|| field("name")),
            "actors" => field("to").or_else(|| field("group")),
            super::ANSWER => field("host"),
            _ => None,
        };
        Self {
            tool: short(tool),
            action: field("action"),
            text: text.unwrap_or_default(),
            session: field("session"),
            job: field("job"),
        }
    }
}

/// The first line of a text, cut where a word ends: of a secret that was torn nothing could be told any more.
fn short(text: &str) -> String {
    let line = text.trim_start().lines().next().unwrap_or_default();
    if line.len() <= RECENT_TEXT_BYTES {
        return line.to_string();
    }
    let kept = &line[..line.floor_char_boundary(RECENT_TEXT_BYTES)];
    format!("{}…", &kept[..kept.rfind(char::is_whitespace).unwrap_or(0)])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(number: u64) -> Call {
        let (by, ended) = (By::Console, Ended::Good);
        Call { number, client: Some(1), by, time_s: 1.0, ended, wall: Duration::ZERO }
    }

    #[test]
    fn the_ring_is_bounded_whatever_is_called() {
        let recent = Recent::default();
        assert!(!recent.wanted());
        recent.want();
        assert!(recent.wanted());
        let long = "é".repeat(1 << 16);
        for number in 0..3 * RECENT_CALLS as u64 {
            let arguments = json!({"command": long, "action": long, "session": long, "job": long});
            recent.put(What::of("run", &arguments), &call(number), &json!({"job": long, "state": long}));
        }
        let rows = recent.rows(&Redactor::new(std::iter::empty()));
        assert_eq!(rows.len(), RECENT_CALLS);
        assert!(rows.iter().all(|row| row.to_string().len() < 8 * RECENT_TEXT_BYTES));
        assert_eq!(recent.last(), 3 * RECENT_CALLS as u64 - 1);
    }

    #[test]
    fn what_is_typed_is_not_kept_and_secrets_are_taken_out() {
        let recent = Recent::default();
        let typed = json!({"action": "write", "job": "j1", "text": "hunter2"});
        recent.put(What::of("job", &typed), &call(1), &json!({}));
        let torn = format!("{}ghp_0123456789abcdefghijklmnop", "x ".repeat(RECENT_TEXT_BYTES / 2 - 5));
        recent.put(What::of("run", &json!({"command": torn})), &call(1), &json!({}));
        let run = json!({"command": "login --password=hunter2", "stdin": "hunter2", "env": {"A": "hunter2"}});
        recent.put(
            What::of("run", &run),
            &call(2),
            &json!({"job": "j2", "changed": {"count": 3, "undo": "exact"}}),
        );
        let rows = recent.rows(&Redactor::new(std::iter::empty()));
        let all = json!(rows).to_string();
        assert!(!all.contains("hunter2") && !all.contains("ghp_"), "{rows:?}");
        assert_eq!((rows[2]["job"].as_str(), rows[2]["changed"].as_u64()), (Some("j2"), Some(3)));
    }
}
