//! `pithos demo`: an agent's day, scripted and real, over MCP. Each step says what it did, what came back, how long it took, and
//! fails the demonstration when what came back is not what it must be.

mod again;
mod client;
pub(crate) mod figures;
mod forks;
mod steps;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use pithos_sessions::outln;
use serde_json::{Value, json};

use client::{Client, ToolResult};
use steps::{Peer, STEPS, Step};

/// Calls of the warm measurement.
const WARM_CALLS: usize = 300;
/// Lines of a result that are printed.
const LINES_SHOWN_MAX: usize = 8;
/// Calls of each peer in the comparison.
const PEER_CALLS: usize = 20;

/// Runs the whole demonstration.
pub(crate) fn run() -> Result<ExitCode, String> {
    let folder = std::env::temp_dir().join(format!("pithos-demo-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let outcome = day(&folder.join("workspace"), &folder.join("journal"));
    let _ = std::fs::remove_dir_all(&folder);
    outcome.map(|()| ExitCode::SUCCESS)
}

fn day(folder: &Path, journal: &Path) -> Result<(), String> {
    let start = Instant::now();
    std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut client = Client::start(folder, Some(journal))?;
    let tools = client.request("tools/list", json!({}))?;
    let names: Vec<&str> =
        tools["tools"].as_array().into_iter().flatten().filter_map(|tool| tool["name"].as_str()).collect();
    outln!("an MCP server with the tools {} ({})\n", names.join(", "), shown(start.elapsed()));
    let beside = folder.join("bash");
    std::fs::create_dir_all(&beside).map_err(|error| format!("{}: {error}", beside.display()))?;
    let mut demo = Demo { client, step: 0, last_job: String::new(), beside, forked: false };
    for step in STEPS {
        demo.step(step)?;
    }
    demo.forks(folder)?;
    demo.orphans()?;
    demo.warm_calls()?;
    let server = demo.client.pid();
    let (next, forked) = (demo.step + 1, demo.forked);
    demo.client.close()?;
    if forked {
        again::show(next, folder, journal)?;
    }
    outln!("the client closed its side: the server (pid {server}) ended and left nothing behind");
    Ok(())
}

struct Demo {
    client: Client,
    step: usize,
    last_job: String,
    /// Where `bash -c` does the same steps.
    beside: PathBuf,
    /// Whether sessions have overlays here.
    forked: bool,
}

impl Demo {
    fn step(&mut self, step: &Step) -> Result<(), String> {
        let arguments = (step.arguments)(&self.last_job);
        let start = Instant::now();
        let result = self.client.tool(step.tool, arguments.clone())?;
        self.report(step.title, step.tool, &arguments, &result, start.elapsed());
        if let Some(job) = result.structured["job"].as_str() {
            self.last_job = job.to_string();
        }
        self.beside(&step.peer);
        if (step.check)(&result) {
            return Ok(());
        }
        Err(format!("step {} did not give what it must: {}", self.step, result.structured))
    }

    /// The same step through `bash -c`, in a folder beside.
    fn beside(&self, peer: &Peer) {
        match peer {
            Peer::Without("") => outln!(),
            Peer::Without(why) => outln!("    bash -c: {why}\n"),
            Peer::Bash(command) => {
                let start = Instant::now();
                let output = Command::new("bash")
                    .args(["-c", command])
                    .current_dir(&self.beside)
                    .stdin(Stdio::null())
                    .output();
                match output {
                    Ok(output) => outln!(
                        "    bash -c: {}, status {}, {} bytes of output\n",
                        shown(start.elapsed()),
                        output.status.code().unwrap_or(-1),
                        output.stdout.len() + output.stderr.len()
                    ),
                    Err(error) => outln!("    bash -c: {error}\n"),
                }
            }
        }
    }

    fn report(&mut self, title: &str, tool: &str, arguments: &Value, result: &ToolResult, wall: Duration) {
        self.step += 1;
        outln!("{:2}. {title}  ({})", self.step, shown(wall));
        let asked = arguments["command"].as_str().map_or_else(|| arguments.to_string(), str::to_string);
        outln!("    {tool}: {}", clipped(asked.lines().next().unwrap_or(""), 100));
        let lines: Vec<&str> = result.text.lines().collect();
        let skipped = lines.len().saturating_sub(LINES_SHOWN_MAX);
        for (index, line) in lines.iter().enumerate() {
            match index.checked_sub(LINES_SHOWN_MAX / 2) {
                Some(0) if skipped > 0 => outln!("    | … {skipped} lines of the result …"),
                Some(past) if past < skipped => {}
                _ => outln!("    | {}", clipped(line, 110)),
            }
        }
    }

    /// Copies of a session with its files, tried side by side.
    fn forks(&mut self, folder: &Path) -> Result<(), String> {
        self.step += 1;
        self.forked = forks::show(&mut self.client, self.step, folder)?;
        Ok(())
    }

    /// A time-out over a tree of processes that tries to get away.
    fn orphans(&mut self) -> Result<(), String> {
        let command = "/bin/sleep 1000 & (setsid sleep 1000 &); /bin/sleep 1000 | cat";
        let arguments = json!({"command": command, "timeout_ms": 300});
        let start = Instant::now();
        let result = self.client.tool("run", arguments.clone())?;
        self.report(
            "a time-out: the whole tree goes, and the result lists it",
            "run",
            &arguments,
            &result,
            start.elapsed(),
        );
        self.beside(&Peer::Without("a time-out kills bash; the sleepers live on"));
        let killed = result.structured["killed"].as_array().map_or(0, Vec::len);
        if killed < 3 {
            return Err(format!(
                "the time-out killed {killed} processes, not all of them: {}",
                result.structured
            ));
        }
        Ok(())
    }

    /// What a warm call costs, beside a new bash for each.
    fn warm_calls(&mut self) -> Result<(), String> {
        let mut ours = Vec::new();
        for _ in 0..WARM_CALLS {
            let start = Instant::now();
            let result = self.client.tool("run", json!({"command": "echo hi"}))?;
            ours.push(start.elapsed());
            if result.text != "hi\n" {
                return Err(format!("echo hi gave {:?}", result.text));
            }
        }
        self.step += 1;
        outln!("{:2}. `echo hi`, {WARM_CALLS} times through the whole server", self.step);
        let (middle, slowest) = (percentile(&mut ours, 50), percentile(&mut ours, 99));
        outln!("    pithos      {} p50, {} p99", shown(middle), shown(slowest));
        for flags in ["-c", "-lc"] {
            if let Some(theirs) = bash(flags) {
                let ratio = theirs.as_secs_f64() / middle.as_secs_f64();
                outln!("    bash {flags:4}   {} p50: {ratio:.0} times as long", shown(theirs));
            }
        }
        outln!();
        Ok(())
    }
}

fn bash(flags: &str) -> Option<Duration> {
    let mut times = Vec::new();
    for _ in 0..PEER_CALLS {
        let start = Instant::now();
        let status =
            Command::new("bash").args([flags, "echo hi"]).stdin(Stdio::null()).stdout(Stdio::null()).status();
        times.push(start.elapsed());
        if !status.is_ok_and(|status| status.success()) {
            return None;
        }
    }
    Some(percentile(&mut times, 50))
}

fn percentile(times: &mut [Duration], percent: usize) -> Duration {
    times.sort();
    times.get(times.len().saturating_sub(1) * percent / 100).copied().unwrap_or_default()
}

fn shown(time: Duration) -> String {
    if time < Duration::from_millis(1) {
        format!("{:.0} µs", time.as_secs_f64() * 1e6)
    } else {
        format!("{:.1} ms", time.as_secs_f64() * 1e3)
    }
}

fn clipped(text: &str, characters: usize) -> String {
    let short: String = text.chars().take(characters).collect();
    if short.len() < text.len() { format!("{short}…") } else { short }
}
