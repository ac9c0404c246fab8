//! The split of the shell's own time: lex, parse, expand, execute and total per command, as `RUSH_PERF=1` reports it.

use crate::locate::Places;
use std::fmt::Write as _;
use std::process::{Command, Stdio};

/// The commands whose split is recorded.
const COMMANDS: [&str; 5] =
    [":", "x=a; y=$x$x", "for i in 1 2 3 4 5 6 7 8 9 10; do :; done", "x=$(echo x)", "f() { :; }; f; f; f"];

/// A Markdown table of the split, or a sentence that says why there is none.
pub(crate) fn split_table(places: &Places) -> String {
    let Some(rush) = places.ours("PITHOS_BENCH_RUSH", "rush") else { return String::new() };
    let mut table = String::from("What `RUSH_PERF=1` says of single commands:\n\n```\n");
    let mut any = false;
    for text in COMMANDS {
        let mut command = Command::new(&rush);
        command.args(["-c", text]).env("RUSH_PERF", "1").stdin(Stdio::null()).stdout(Stdio::null());
        let Ok(output) = command.output() else { continue };
        let report = String::from_utf8_lossy(&output.stderr);
        let report = report.trim();
        if !report.is_empty() {
            any = true;
            let _ = writeln!(table, "$ {text}\n{report}");
        }
    }
    table.push_str("```");
    if any {
        table
    } else {
        "This build of rush reports no split (`RUSH_PERF=1` printed nothing).".to_owned()
    }
}
