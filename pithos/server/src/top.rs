//! `pithos top`: what the servers of this user hold and how fast they are, redrawn every second on a terminal and told once, without colours, in a pipe. It shows
//! what others wrote (commands, names, folders), so that nothing that a terminal would obey leaves this file: see [`plain`].

use std::fmt::Write as _;
use std::io::IsTerminal;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use pithos_sessions::{out, outln};
use serde_json::Value;

use crate::control::{Question, ask_all};
use crate::metrics::BUCKETS_US;

/// Between two pictures.
const EVERY: Duration = Duration::from_secs(1);
/// Columns where nobody says how many there are.
const COLUMNS_DEFAULT: usize = 80;
/// Rows of each kind of one client on a terminal; a pipe gets all that a server tells.
const TERMINAL_ROWS: usize = 12;

/// The pictures of all servers at one time.
struct Pictures {
    time: Instant,
    servers: Vec<(u32, Value)>,
}

/// Shows them until it is interrupted, or once.
pub(crate) fn run(once: bool, as_json: bool) -> Result<ExitCode, String> {
    let mut now = look();
    if as_json {
        let rows: Vec<Value> = now.servers.into_iter().map(|(_, picture)| picture).collect();
        outln!("{}", Value::Array(rows));
        return Ok(ExitCode::SUCCESS);
    }
    if once || !std::io::stdout().is_terminal() {
        out!("{}", render(&now, None, &Layout { columns: usize::MAX, lines: usize::MAX, rows: usize::MAX }));
        return Ok(ExitCode::SUCCESS);
    }
    let mut before = None;
    loop {
        let text = render(&now, before.as_ref(), &Layout::of_terminal());
        // Over what was there, line by line: nothing blinks.
        out!("\x1b[H{}\x1b[J", text.replace('\n', "\x1b[K\n"));
        std::thread::sleep(EVERY);
        before = Some(std::mem::replace(&mut now, look()));
    }
}

fn look() -> Pictures {
    Pictures { time: Instant::now(), servers: ask_all(&Question::Overview) }
}

struct Layout {
    columns: usize,
    lines: usize,
    rows: usize,
}

impl Layout {
    fn of_terminal() -> Self {
        let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok().filter(|size| size.ws_col > 0);
        let (columns, lines) =
            size.map_or((COLUMNS_DEFAULT, usize::MAX), |size| (size.ws_col.into(), size.ws_row.into()));
        Self { columns, lines, rows: TERMINAL_ROWS }
    }
}

fn render(now: &Pictures, before: Option<&Pictures>, layout: &Layout) -> String {
    let mut lines = Vec::new();
    if now.servers.is_empty() {
        lines.push("no server runs on this machine (or none that this user may look into)".to_string());
    }
    for (pid, picture) in &now.servers {
        let earlier = before.and_then(|before| {
            let picture = before.servers.iter().find(|(other, _)| other == pid)?;
            Some((&picture.1, now.time.duration_since(before.time)))
        });
        server(*pid, picture, earlier, layout, &mut lines);
    }
    if lines.len() >= layout.lines {
        let left_out = lines.len() + 2 - layout.lines;
        lines.truncate(layout.lines.saturating_sub(2));
        lines.push(format!("[{left_out} lines more: 'pithos top | less']"));
    }
    lines.iter().map(|line| format!("{}\n", cut(line, layout.columns))).collect()
}

fn server(
    pid: u32,
    picture: &Value,
    before: Option<(&Value, Duration)>,
    layout: &Layout,
    lines: &mut Vec<String>,
) {
    if let Some(error) = picture["error"].as_str() {
        lines.push(format!("server {pid}: {}", plain(error)));
        return;
    }
    let (now, counters) = (&picture["now"], &picture["counters"]);
    let journal = &counters["journal"];
    let missing = number(&journal["dropped"]) + number(&journal["failed"]);
    let mut head = format!(
        "server {pid}  up {}  memory {} + {} in {} processes  sessions {} ({} busy)  jobs {} running of {}  actors {}",
        span(number(&counters["up_s"])),
        bytes(number(&now["server_bytes"])),
        bytes(number(&now["workers_bytes"])),
        now["processes"],
        now["sessions"],
        now["sessions_busy"],
        now["jobs_running"],
        now["jobs"],
        now["actors"],
    );
    if missing > 0 {
        let _ = write!(head, "  JOURNAL: {missing} calls missing");
    }
    lines.push(head);
    for (index, tool) in counters["tools"].as_array().into_iter().flatten().enumerate() {
        if number(&tool["calls"]) > 0 {
            let earlier = before.map(|(picture, time)| (&picture["counters"]["tools"][index], time));
            lines.push(format!("  {}", rate(tool, earlier, number(&counters["up_s"]))));
        }
    }
    for client in picture["clients"].as_array().into_iter().flatten() {
        if let Some(number) = client["client"].as_u64() {
            lines.push(format!("  client {number}"));
        }
        let mut rows = |kind: &str, row: fn(&Value) -> String| {
            let all: Vec<&Value> = client[kind].as_array().into_iter().flatten().collect();
            lines.extend(all.iter().take(layout.rows).map(|one| row(one)));
            let more = all.len().saturating_sub(layout.rows) as u64 + number(&client[format!("{kind}_more")]);
            if more > 0 {
                lines.push(format!("    {more} {kind} more"));
            }
        };
        rows("sessions", |row| {
            let busy = row["busy_with"]
                .as_str()
                .map_or_else(String::new, |job| format!("  busy with {}", plain(job)));
            let lost = if row["alive"] == false { "  LOST" } else { "" };
            format!(
                "    session {:<8} {:>6} runs  {}{busy}{lost}",
                text(&row["session"]),
                row["runs"],
                text(&row["cwd"])
            )
        });
        rows("jobs", |row| {
            format!(
                "    job {:<6} {:<8} {:>8} {:>8}  in {}  {}",
                text(&row["job"]),
                text(&row["state"]),
                format!("{:.1} s", number(&row["ms"]) as f64 / 1e3),
                bytes(number(&row["bytes"])),
                text(&row["session"]),
                text(&row["command"])
            )
        });
        rows("systems", |row| {
            let groups = row["groups"].as_array().into_iter().flatten().map(|group| {
                format!(
                    "\n      {} {} actors, version {}, {} waiting, {} failed, {} restarts",
                    text(&group["name"]),
                    group["actors"],
                    group["version"],
                    group["messages_waiting"],
                    group["failed"],
                    group["restarts"]
                )
            });
            let error = row["error"].as_str().map_or_else(String::new, |error| format!("  {}", plain(error)));
            format!(
                "    actors {} {}{error}{}",
                text(&row["system"]),
                row["live"],
                groups.collect::<String>()
            )
        });
    }
    // A system has several lines.
    *lines = lines.iter().flat_map(|line| line.split('\n').map(str::to_string)).collect();
}

/// One tool's calls: each second, and the time of half of them and of nearly all.
fn rate(tool: &Value, before: Option<(&Value, Duration)>, up_s: u64) -> String {
    let buckets =
        |tool: &Value| tool["buckets"].as_array().into_iter().flatten().map(number).collect::<Vec<_>>();
    let mut counts = buckets(tool);
    let seconds = match before {
        Some((earlier, time)) => {
            counts
                .iter_mut()
                .zip(buckets(earlier))
                .for_each(|(now, before)| *now = now.saturating_sub(before));
            time.as_secs_f64()
        }
        None => up_s.max(1) as f64,
    };
    let calls: u64 = counts.iter().sum();
    format!(
        "{:<8} {:>8.1}/s  p50 {:>9}  p99 {:>9}  calls {}  wrong {}",
        text(&tool["tool"]),
        calls as f64 / seconds,
        quantile(&counts, 50),
        quantile(&counts, 99),
        tool["calls"],
        tool["wrong"]
    )
}

/// The end of the bucket in which so many in a hundred are.
fn quantile(counts: &[u64], percent: u64) -> String {
    let all: u64 = counts.iter().sum();
    if all == 0 {
        return "-".to_string();
    }
    let wanted = (all * percent).div_ceil(100);
    let mut below = 0;
    let bucket = counts.iter().position(|count| {
        below += count;
        below >= wanted
    });
    match bucket.and_then(|bucket| BUCKETS_US.get(bucket)) {
        Some(end) => format!("<={} ms", *end as f64 / 1e3),
        None => "> 100 s".to_string(),
    }
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or(0)
}

fn text(value: &Value) -> String {
    plain(value.as_str().unwrap_or(""))
}

fn bytes(count: u64) -> String {
    match count {
        0..1024 => format!("{count} B"),
        1024..1_048_576 => format!("{} KB", count >> 10),
        _ => format!("{} MB", count >> 20),
    }
}

fn span(seconds: u64) -> String {
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7200 => format!("{} min", seconds / 60),
        _ => format!("{} h", seconds / 3600),
    }
}

/// A text that a terminal only shows: control characters, and those that turn the direction of writing, stand as their codes.
pub(crate) fn plain(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        let turns = matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{61c}');
        if c.is_control() || turns {
            let _ = write!(shown, "\\u{{{:x}}}", c as u32);
        } else {
            shown.push(c);
        }
    }
    shown
}

fn cut(line: &str, columns: usize) -> String {
    if line.chars().count() <= columns {
        return line.to_string();
    }
    let kept: String = line.chars().take(columns.saturating_sub(1)).collect();
    format!("{kept}~")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn picture(name: &str, calls: u64) -> Value {
        let tool = json!({"tool": "run", "calls": calls, "wrong": 1, "buckets": [calls, 0, 2]});
        json!({
            "counters": {"up_s": 10, "tools": [tool], "journal": {"dropped": 3, "failed": 0}},
            "now": {"sessions": 1, "sessions_busy": 1, "jobs": 1, "jobs_running": 1, "actors": 5, "processes": 2, "server_bytes": 5_000_000, "workers_bytes": 70},
            "clients": [{
                "client": 1,
                "sessions": [{"session": name, "cwd": name, "runs": 1, "busy_with": name, "alive": false}],
                "jobs": [{"job": name, "state": name, "session": name, "command": name, "ms": 1500, "bytes": 2048}],
                "systems": [{"system": name, "live": 5, "error": name, "groups": [{"name": name, "actors": 5}]}],
                "jobs_more": 7,
            }],
        })
    }

    #[test]
    fn nothing_that_a_terminal_obeys_is_shown_whatever_it_is_called() {
        for code in (0..0x20)
            .chain(0x7f..0xa0)
            .chain([0x61c, 0x200e, 0x200f, 0x2028, 0x202a, 0x202e, 0x2066, 0x2069, 0xfeff])
        {
            let c = char::from_u32(code).unwrap();
            let name = format!("a{c}]52;c;x{c}b");
            let error = json!({"error": name});
            let pictures =
                Pictures { time: Instant::now(), servers: vec![(7, picture(&name, 9)), (8, error)] };
            let shown = render(&pictures, None, &Layout { columns: usize::MAX, lines: usize::MAX, rows: 9 });
            assert!(
                shown.chars().all(|shown| shown == '\n' || shown != c && !shown.is_control()),
                "{code:x}"
            );
            // Each row is one line.
            assert_eq!(shown.lines().count(), 9, "{shown}");
        }
    }

    #[test]
    fn rates_are_those_between_two_pictures() {
        let earlier = Instant::now();
        let before = Pictures { time: earlier, servers: vec![(7, picture("a", 10))] };
        let now = Pictures { time: earlier + Duration::from_secs(2), servers: vec![(7, picture("a", 110))] };
        let shown = render(&now, Some(&before), &Layout { columns: usize::MAX, lines: usize::MAX, rows: 9 });
        assert!(shown.contains("50.0/s  p50  <=0.1 ms  p99  <=0.1 ms"), "{shown}");
        assert!(shown.contains("JOURNAL: 3 calls missing") && shown.contains("7 jobs more"), "{shown}");
        for columns in 1..100 {
            let small = render(&now, None, &Layout { columns, lines: 5, rows: 9 });
            assert!(small.lines().count() < 5 && small.lines().all(|line| line.chars().count() <= columns));
        }
    }
}
