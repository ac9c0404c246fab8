//! `pithos demo`: an agent's day, scripted and real, over MCP. Each step says what it did, what came back, how long it took, and
//! fails the demonstration when what came back is not what it must be.

mod client;

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use client::{Client, ToolResult};

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
    let outcome = day(&folder);
    let _ = std::fs::remove_dir_all(&folder);
    outcome.map(|()| ExitCode::SUCCESS)
}

fn day(folder: &Path) -> Result<(), String> {
    let start = Instant::now();
    let mut client = Client::start(folder)?;
    let tools = client.request("tools/list", json!({}))?;
    let names: Vec<&str> =
        tools["tools"].as_array().into_iter().flatten().filter_map(|tool| tool["name"].as_str()).collect();
    println!("an MCP server with the tools {} ({})\n", names.join(", "), shown(start.elapsed()));
    let mut demo = Demo { client, step: 0 };
    for step in STEPS {
        demo.step(step)?;
    }
    demo.orphans()?;
    demo.warm_calls()?;
    let server = demo.client.pid();
    demo.client.close()?;
    println!("the client closed its side: the server (pid {server}) ended and left nothing behind");
    Ok(())
}

/// A step of the day: a title, a tool with arguments, and what must be true of the result.
struct Step {
    title: &'static str,
    tool: &'static str,
    arguments: fn() -> Value,
    check: fn(&ToolResult) -> bool,
}

const STEPS: &[Step] = &[
    Step {
        title: "a small project: files, a function and a variable that later steps use",
        tool: "run",
        arguments: || json!({"command": SETUP}),
        check: |result| result.structured["status"] == 0 && result.text.contains("3 files"),
    },
    Step {
        title: "edit in place, and the session remembers cwd, function and variable",
        tool: "run",
        arguments: || json!({"command": "sed 's/a - b/a + b/' src/add.sh > t && mv t src/add.sh && shout \"$project is edited in $(basename $PWD)\""}),
        check: |result| result.text.contains("DEMO IS EDITED IN DEMO"),
    },
    Step {
        title: "a failing test piped through tail: the status says 0, the result says what is true",
        tool: "run",
        arguments: || json!({"command": "bash test.sh 3 2>&1 | tail -n 2"}),
        check: |result| {
            result.structured["status"] == 0 && result.text.contains("stage 1 of 2 failed with 1")
        },
    },
    Step {
        title: "the same test, right",
        tool: "run",
        arguments: || json!({"command": "bash test.sh 5"}),
        check: |result| result.structured["status"] == 0 && result.text.contains("ok"),
    },
    Step {
        title: "a command that asks: it comes back with the prompt, and does not hang",
        tool: "run",
        arguments: || json!({"command": "bash -c 'printf \"Overwrite? \"; read answer; echo \"you said $answer\"'", "interactive": true, "yield_ms": 300}),
        check: |result| result.structured["waiting_for_input"]["prompt"] == "Overwrite? ",
    },
    Step {
        title: "answer it",
        tool: "job",
        arguments: || json!({"action": "write", "job": "j5", "text": "yes\n", "timeout_ms": 2000}),
        check: |result| result.text.contains("you said yes"),
    },
    Step {
        title: "a background job in a copy of the session",
        tool: "run",
        arguments: || json!({"command": "sleep 0.2; echo \"$project listens on port 4711\"; /bin/sleep 600", "background": true}),
        check: |result| result.structured["state"] == "running",
    },
    Step {
        title: "wait until it says that it is ready",
        tool: "job",
        arguments: || json!({"action": "wait", "job": "j6", "until": "listens on port \\d+"}),
        check: |result| result.structured["matched"] == true,
    },
    Step {
        title: "stop it, with everything that it started",
        tool: "job",
        arguments: || json!({"action": "stop", "job": "j6"}),
        check: |result| {
            result.structured["state"] == "stopped"
                && result.structured["killed"][0]["command"] == "/bin/sleep 600"
        },
    },
    Step {
        title: "a write outside the workspace: denied, with the rule and how to allow it",
        tool: "run",
        arguments: || json!({"command": "echo '* * * * * root id' > /etc/cron.d/demo"}),
        check: |result| {
            result.structured["status"] != 0 && result.structured["denials"][0]["kind"] == "write"
        },
    },
    Step {
        title: "a flood: 10 MB of output, of which a result shows the ends",
        tool: "run",
        arguments: || json!({"command": "seq 1 1400000", "output_bytes": 400}),
        check: |result| {
            result.structured["stdout_bytes"].as_u64() > Some(10_000_000) && result.text.len() < 800
        },
    },
    Step {
        title: "and the whole of it is there to search",
        tool: "log",
        arguments: || json!({"action": "grep", "job": "j8", "pattern": "^7654321$|^765432$"}),
        check: |result| result.text == "765432:765432\n",
    },
];

const SETUP: &str = r#"mkdir -p demo/src && cd demo && project=demo
shout() { printf '%s\n' "${1^^}"; }
cat > src/add.sh <<'END'
add() { local a=$1 b=$2; echo $((a - b)); }
END
cat > test.sh <<'END'
. src/add.sh
got=$(add 2 3)
if [ "$got" = "$1" ]; then echo ok; else echo "add 2 3: expected $1, got $got"; exit 1; fi
END
printf '%s\n' '# demo' > README
echo "$(find . -type f | wc -l) files""#;

struct Demo {
    client: Client,
    step: usize,
}

impl Demo {
    fn step(&mut self, step: &Step) -> Result<(), String> {
        let arguments = (step.arguments)();
        let start = Instant::now();
        let result = self.client.tool(step.tool, arguments.clone())?;
        self.report(step.title, step.tool, &arguments, &result, start.elapsed());
        if (step.check)(&result) {
            return Ok(());
        }
        Err(format!("step {} did not give what it must: {}", self.step, result.structured))
    }

    fn report(&mut self, title: &str, tool: &str, arguments: &Value, result: &ToolResult, wall: Duration) {
        self.step += 1;
        println!("{:2}. {title}  ({})", self.step, shown(wall));
        let asked = arguments["command"].as_str().map_or_else(|| arguments.to_string(), str::to_string);
        println!("    {tool}: {}", clipped(asked.lines().next().unwrap_or(""), 100));
        let lines: Vec<&str> = result.text.lines().collect();
        let skipped = lines.len().saturating_sub(LINES_SHOWN_MAX);
        for (index, line) in lines.iter().enumerate() {
            match index.checked_sub(LINES_SHOWN_MAX / 2) {
                Some(0) if skipped > 0 => println!("    | … {skipped} lines of the result …"),
                Some(past) if past < skipped => {}
                _ => println!("    | {}", clipped(line, 110)),
            }
        }
        println!();
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
        println!("{:2}. `echo hi`, {WARM_CALLS} times through the whole server", self.step);
        let (middle, slowest) = (percentile(&mut ours, 50), percentile(&mut ours, 99));
        println!("    pithos      {} p50, {} p99", shown(middle), shown(slowest));
        for flags in ["-c", "-lc"] {
            if let Some(theirs) = bash(flags) {
                let ratio = theirs.as_secs_f64() / middle.as_secs_f64();
                println!("    bash {flags:4}   {} p50: {ratio:.0} times as long", shown(theirs));
            }
        }
        println!();
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
