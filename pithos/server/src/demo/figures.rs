//! `pithos figures`: what a call, a session and a cell cost on this machine, measured from a client through the whole server, beside new
//! processes of other programs that do the same. Interleaved, so that what else the machine does hits everyone.

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use pithos_sessions::outln;
use serde_json::{Value, json};

use super::client::Client;
use super::{percentile, shown};

/// Rounds; in each every contestant has its turn.
const ROUNDS: usize = 20;
/// Calls of ours in a round: they are cheap, and the slowest of a hundred takes some to be known.
const CALLS: usize = 100;
/// Sessions that are opened in a round.
const OPENINGS: usize = 5;
/// Between two openings: so long an agent thinks at least, and the pool fills again.
const OPENING_PAUSE: Duration = Duration::from_millis(20);
/// Sessions that are open at once for the memory figure.
const SESSIONS: usize = 100;

/// Times of one kind of call.
struct Times {
    name: &'static str,
    times: Vec<Duration>,
}

impl Times {
    fn new(name: &'static str) -> Self {
        Self { name, times: Vec::new() }
    }

    fn row(&mut self) -> Value {
        let micros = |time: Duration| time.as_nanos() as f64 / 1e3;
        let (p50, p99) = (percentile(&mut self.times, 50), percentile(&mut self.times, 99));
        json!({"name": self.name, "calls": self.times.len(), "p50_us": micros(p50), "p99_us": micros(p99)})
    }
}

/// Measures and prints.
pub(crate) fn run(as_json: bool) -> Result<ExitCode, String> {
    let folder = std::env::temp_dir().join(format!("pithos-figures-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let outcome = measure(&folder);
    let _ = std::fs::remove_dir_all(&folder);
    let report = outcome?;
    if as_json {
        outln!("{report}");
        return Ok(ExitCode::SUCCESS);
    }
    for row in report["rows"].as_array().into_iter().flatten() {
        let time = |name: &str| shown(Duration::from_nanos((row[name].as_f64().unwrap_or(0.0) * 1e3) as u64));
        outln!(
            "{:28} p50 {:>9}  p99 {:>9}  ({} calls)",
            row["name"].as_str().unwrap_or(""),
            time("p50_us"),
            time("p99_us"),
            row["calls"]
        );
    }
    outln!("{SESSIONS} sessions at once: {} MB, the server with them", report["sessions_mb"]);
    Ok(ExitCode::SUCCESS)
}

fn measure(folder: &Path) -> Result<Value, String> {
    let mut client = Client::start(folder, None)?;
    let mut rows =
        [Times::new("echo hi"), Times::new("open a session"), Times::new("JavaScript cell, 1 + 1")];
    let mut peers: Vec<(Times, &str, &[&str])> = vec![
        (Times::new("bash -c 'echo hi'"), "bash", &["-c", "echo hi"]),
        (Times::new("bash -lc 'echo hi'"), "bash", &["-lc", "echo hi"]),
        (Times::new("node -e '1 + 1'"), "node", &["-e", "1 + 1"]),
    ];
    client.tool("run", json!({"command": "echo hi"}))?;
    client.tool("js", json!({"code": "1 + 1"}))?;
    for _ in 0..ROUNDS {
        for _ in 0..CALLS {
            rows[0].times.push(timed(&mut client, "run", json!({"command": "echo hi"}))?);
        }
        for _ in 0..CALLS {
            rows[2].times.push(timed(&mut client, "js", json!({"code": "1 + 1"}))?);
        }
        for _ in 0..OPENINGS {
            std::thread::sleep(OPENING_PAUSE);
            rows[1].times.push(timed(&mut client, "session", json!({"action": "open", "name": "fresh"}))?);
            client.tool("session", json!({"action": "close", "session": "fresh"}))?;
        }
        peers.retain_mut(|(times, program, arguments)| {
            let start = Instant::now();
            let done =
                Command::new(*program).args(*arguments).stdin(Stdio::null()).stdout(Stdio::null()).status();
            times.times.push(start.elapsed());
            done.is_ok_and(|status| status.success())
        });
    }
    for number in 0..SESSIONS {
        client.tool("session", json!({"action": "open", "name": format!("m{number}")}))?;
    }
    let kilobytes = proportional_kb(client.pid());
    client.close()?;
    let mut report: Vec<Value> = rows.iter_mut().map(Times::row).collect();
    report.extend(peers.iter_mut().map(|(times, ..)| times.row()));
    Ok(json!({"rows": report, "sessions": SESSIONS, "sessions_mb": kilobytes / 1024}))
}

fn timed(client: &mut Client, tool: &str, arguments: Value) -> Result<Duration, String> {
    let start = Instant::now();
    client.tool(tool, arguments)?;
    Ok(start.elapsed())
}

/// Memory of a process and everything below it; what several share is counted once.
fn proportional_kb(root: u32) -> u64 {
    let mut parents: Vec<(u32, u32)> = Vec::new();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let parent = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1)?.parse().ok());
        parents.extend(parent.map(|parent: u32| (pid, parent)));
    }
    let mut tree = vec![root];
    let mut next = 0;
    while let Some(&pid) = tree.get(next) {
        tree.extend(parents.iter().filter(|(_, parent)| *parent == pid).map(|(child, _)| *child));
        next += 1;
    }
    let of = |pid: &u32| {
        let text = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap_or_default();
        let line = text.lines().find(|line| line.starts_with("Pss:"));
        line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok()).unwrap_or(0)
    };
    tree.iter().map(of).sum()
}
