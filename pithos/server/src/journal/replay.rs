//! `pithos replay FILE`: runs the calls of a journal again, each in an overlay over the tree as it is now, and names the first whose end, output or changed
//! paths are not what the journal says. Nothing is committed and no session without an overlay is opened, whatever the calls say. A program that asks
//! for the time or for randomness is a difference like any other: nothing of that is recorded.

use std::collections::{BTreeSet, HashMap};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use pithos_sessions::{Config, DEFAULT_SESSION, Manager, Tape, errln, outln};
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio_util::sync::CancellationToken;

use super::record::{Ended, VERSION, hex};
use super::redact::REDACTED;
use super::{ANSWER, Recorder, show};
use crate::servers::Servers;
use crate::tools::{self, Call, Outcome};
use crate::top::plain;

/// Why a call is not run again, said once for each reason.
const UNKNOWN: &str = "its arguments are not whole in the journal";

/// The state of what had not ended when its call came back.
const RUNNING: &str = "running";
/// For what had an end at once, a replay waits so long.
const PATIENCE_MS: u64 = 3_600_000;

/// The calls of one client of one server, in the order in which they began.
struct Journal {
    policy: String,
    calls: Vec<Value>,
    missing: u64,
}

/// Replays a journal; status 1 when something is other than it was, or nothing could be run.
pub(crate) async fn run(
    config: Config,
    path: PathBuf,
    client: Option<u64>,
    cast: Option<PathBuf>,
) -> Result<ExitCode, String> {
    let journal = read(&path, client)?;
    let policy = &config.confinement.policy.name;
    if *policy != journal.policy {
        errln!(
            "pithos: the journal was written under the policy {}, and this is {policy}",
            plain(&journal.policy)
        );
    }
    if journal.missing > 0 {
        errln!("pithos: {} call(s) are missing in the journal", journal.missing);
    }
    let mut film = cast.map(|path| Film::begin(&path, &journal)).transpose()?;
    let manager = Manager::start(config).map_err(|error| error.to_string())?;
    let opened =
        manager.open_overlaid(Some(DEFAULT_SESSION), None).await.map_err(|error| error.to_string())?;
    if let Some(why) = opened.snapshot_because() {
        return Err(format!("there is no overlay here, and a replay would change the workspace: {why}"));
    }
    let (recorder, servers) = (Recorder::for_replay(), Arc::new(Servers::default()));
    let (mut replayed, mut left_out) = (0, Vec::new());
    let tapes = tapes(&journal);
    let mut main_begun = false;
    for record in &journal.calls {
        if let Some(why) = unfit(record) {
            left_out.push(format!("{} ({why})", named(record)));
            continue;
        }
        let tape = tapes.get(&record["result"]["cell"]);
        let call = Call {
            manager: Arc::clone(&manager),
            cancelled: CancellationToken::new(),
            servers: Arc::clone(&servers),
            recorder: Arc::clone(&recorder),
            client: None,
            tape: tape.cloned(),
            tasks: false,
        };
        let tool = record["tool"].as_str().unwrap_or_default();
        main_begun |= begins_main(record);
        // A server has that session from its first use on, a replay from the start.
        let early = !main_begun && names_main(record);
        if early {
            manager.close(DEFAULT_SESSION).map_err(|error| error.to_string())?;
        }
        let outcome = tools::call(tool, patient(record), call).await;
        if early && manager.session(DEFAULT_SESSION).is_err() {
            let again = manager.open_overlaid(Some(DEFAULT_SESSION), None).await;
            again.map_err(|error| error.to_string())?;
        }
        let now = Now::of(outcome);
        if let Some(film) = &mut film {
            film.show(record, &now.text)?;
        }
        if let Some((what, then, now)) = difference(record, &now) {
            outln!("{}: {what} was {then}, and is {now}", named(record));
            if tape.is_some_and(|tape| tape.cut) {
                outln!("this cell looked at the clock, or waited, more than a journal keeps");
            }
            if !left_out.is_empty() {
                outln!(
                    "perhaps because {} call(s) before it were not run: what they left is not there",
                    left_out.len()
                );
            }
            left_out.iter().for_each(|one| outln!("not run before: {one}"));
            manager.end();
            return Ok(ExitCode::FAILURE);
        }
        replayed += 1;
    }
    left_out.iter().for_each(|one| outln!("not run: {one}"));
    outln!("{replayed} call(s) are as they were; {} were not run", left_out.len());
    manager.end();
    Ok(if replayed > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What the cells of a journal learned by chance, by their handles: the end of a cell may stand with a later call than its beginning.
fn tapes(journal: &Journal) -> HashMap<Value, Tape> {
    let of = |record: &Value| {
        let tape = Tape::deserialize(record.get("tape")?).ok()?;
        Some((record["result"]["cell"].clone(), tape))
    };
    journal.calls.iter().filter_map(of).collect()
}

/// The calls of the last server in a journal.
fn read(path: &Path, client: Option<u64>) -> Result<Journal, String> {
    let mut records = Vec::new();
    for file in show::files(path) {
        let take = |line: Option<&[u8]>| {
            let record = line.and_then(|line| serde_json::from_slice::<Value>(line).ok());
            records.extend(record.filter(|record| record["v"].as_u64() == Some(VERSION)));
        };
        show::each_line(show::open(&file)?, take).map_err(|error| format!("{}: {error}", file.display()))?;
    }
    let start = records.iter().rev().find(|record| record["kind"] == "start").cloned();
    let start = start.ok_or_else(|| format!("{}: no server began to write here", path.display()))?;
    let of_it = |record: &&Value| record["server"] == start["server"];
    let dropped = records.iter().filter(of_it).filter(|record| record["kind"] == "dropped");
    let missing = dropped.filter_map(|record| record["count"].as_u64()).sum();
    let mut calls: Vec<Value> = records
        .iter()
        .filter(of_it)
        // What a cell has called it calls again; what a person did through the page changed the sessions like a client's call.
        .filter(|record| record["kind"] == "call" && (record["by"].is_null() || record["by"] == "console"))
        .cloned()
        .collect();
    let clients: BTreeSet<Option<u64>> = calls.iter().map(|record| record["client"].as_u64()).collect();
    if client.is_none() && clients.len() > 1 {
        let known: Vec<String> = clients.iter().flatten().map(u64::to_string).collect();
        return Err(format!(
            "the journal holds the calls of several clients: take one by --client ({})",
            known.join(", ")
        ));
    }
    calls.retain(|record| client.is_none() || record["client"].as_u64() == client);
    calls.sort_by_key(|record| record["n"].as_u64());
    Ok(Journal { policy: start["policy"].as_str().unwrap_or_default().to_owned(), calls, missing })
}

/// Why a call cannot be run again.
fn unfit(record: &Value) -> Option<&'static str> {
    let arguments = record["arguments"].to_string();
    let commit = record["tool"] == "session" && record["arguments"]["action"] == "commit";
    match record["ended"].as_str() {
        _ if commit => Some("a replay commits nothing"),
        _ if record["tool"] == ANSWER => Some("a person's answer"),
        Some("good" | "wrong") if arguments.contains(REDACTED) || arguments.contains("[cut") => Some(UNKNOWN),
        Some("good" | "wrong") => None,
        _ => Some("it had no end of its own"),
    }
}

/// The arguments of a call; one that came back with an end comes back with it here, however long that takes on this machine.
fn patient(record: &Value) -> Value {
    let mut arguments = record["arguments"].clone();
    let waits =
        arguments["code"].is_string() || arguments["command"].is_string() || arguments["cell"].is_string();
    if waits && record["result"]["state"] != RUNNING && arguments["background"] != true {
        arguments["yield_ms"] = json!(PATIENCE_MS);
    }
    arguments
}

/// Whether a call makes the default session, when it is not there.
fn begins_main(record: &Value) -> bool {
    let named = &record["arguments"]["session"];
    ["run", "js"].iter().any(|tool| record["tool"] == *tool) && (named.is_null() || *named == DEFAULT_SESSION)
}

/// Whether a call says something of the default session, or gives its name to a new one.
fn names_main(record: &Value) -> bool {
    let arguments = &record["arguments"];
    record["tool"] == "session"
        && ["session", "name"].iter().any(|field| arguments[*field] == DEFAULT_SESSION)
}

/// A call's name in messages.
fn named(record: &Value) -> String {
    let (number, tool) =
        (plain(&record["n"].to_string()), plain(record["tool"].as_str().unwrap_or_default()));
    format!("call {number}, {tool} {}", plain(&show::short(&record["arguments"])))
}

/// How a call ended this time.
struct Now {
    ended: &'static str,
    structured: Value,
    text: String,
}

impl Now {
    fn of(outcome: Option<Outcome>) -> Now {
        let (ended, structured, text) = match outcome {
            Some(Outcome::Good(report)) => (Ended::Good, report.structured, report.text),
            Some(Outcome::Wrong(message)) => (Ended::Wrong, Value::Null, message),
            None => (Ended::UnknownTool, Value::Null, String::new()),
        };
        Now { ended: ended.name(), structured, text }
    }
}

/// The first thing that is other than the journal says: what, then, now.
fn difference(record: &Value, now: &Now) -> Option<(&'static str, String, String)> {
    let then = &record["result"];
    if record["ended"] != now.ended {
        let said =
            if now.ended == "wrong" { format!("wrong ({})", plain(&now.text)) } else { now.ended.to_owned() };
        return Some(("its end", plain(record["ended"].as_str().unwrap_or("unknown")), said));
    }
    if then["state"] == RUNNING {
        // It was too early to say more, and how far something is by then is the machine's affair.
        return None;
    }
    for field in ["state", "status", "signal", "stopped_by", "limit"] {
        if then[field] != now.structured[field] {
            return Some((field, plain(&then[field].to_string()), plain(&now.structured[field].to_string())));
        }
    }
    let (before, after) = (paths(&then["changed"]), paths(&now.structured["changed"]));
    if then["changed"].is_object() && before != after {
        return Some(("what it changed", before, after));
    }
    if !speaks_of_output(record) {
        return None;
    }
    // A session that had no overlay did not say what it changed.
    let unsaid = then["changed"].is_null() && now.structured["changed"].is_object();
    let mut text = now.text.as_str();
    if unsaid
        && let Some(at) = text.rfind("[changed: ").filter(|at| *at == 0 || text.as_bytes()[at - 1] == b'\n')
    {
        text = &text[..at];
    }
    let (digest, was) =
        (hex(&Sha256::digest(text.as_bytes())), record["text_sha256"].as_str().unwrap_or_default());
    if digest == was {
        return None;
    }
    let was = format!("of {} bytes ({})", plain(&record["text_bytes"].to_string()), plain(was));
    Some((
        "its output",
        was,
        format!("of {} bytes ({digest}): {}", text.len(), plain(&show::short(&json!(text)))),
    ))
}

/// Whether the text of such a call is what something printed: lists and handles are not.
fn speaks_of_output(record: &Value) -> bool {
    match record["tool"].as_str() {
        Some("run" | "js" | "log") => true,
        Some("job") => record["arguments"]["action"] == "wait",
        Some("session") => record["arguments"]["action"] == "diff",
        _ => false,
    }
}

/// Changed paths on one line.
fn paths(changed: &Value) -> String {
    let rows = changed["files"].as_array().into_iter().flatten();
    let one = |row: &Value| {
        format!("{} {}", row["change"].as_str().unwrap_or_default(), row["path"].as_str().unwrap_or_default())
    };
    let all: Vec<String> = rows.map(one).collect();
    plain(&format!("{} ({})", all.join(", "), changed["count"]))
}

/// A recording in the second version of asciinema's format: each command when it began, what it printed when it ended.
struct Film {
    file: std::fs::File,
    began_s: f64,
}

impl Film {
    fn begin(path: &Path, journal: &Journal) -> Result<Film, String> {
        // It shows what was printed, which the journal does not; and nothing that is there goes for it.
        let opened = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
        let mut file = opened.map_err(|error| format!("--cast {}: {error}", path.display()))?;
        let began_s = journal.calls.first().and_then(|record| record["time"].as_f64()).unwrap_or(0.0);
        let header = json!({"version": 2, "width": 120, "height": 30, "timestamp": began_s as u64});
        writeln!(file, "{header}").map_err(|error| error.to_string())?;
        Ok(Film { file, began_s })
    }

    fn show(&mut self, record: &Value, text: &str) -> Result<(), String> {
        let arguments = &record["arguments"];
        let words = arguments["command"].as_str().or(arguments["code"].as_str());
        let command = words.map_or_else(|| format!("{} {arguments}", record["tool"]), str::to_owned);
        let began = (record["time"].as_f64().unwrap_or(self.began_s) - self.began_s).max(0.0);
        let ended = began + record["ms"].as_f64().unwrap_or(0.0) / 1e3;
        for (at, shown) in [(began, format!("$ {command}\n")), (ended, text.to_owned())] {
            let event = json!([at, "o", shown.replace('\n', "\r\n")]);
            writeln!(self.file, "{event}").map_err(|error| error.to_string())?;
        }
        Ok(())
    }
}
