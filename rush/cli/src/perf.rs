//! `RUSH_PERF`: what a command's phases took, as a line for people (`RUSH_PERF=1`) or programs (`RUSH_PERF=json`). The schema
//! is in `docs/rush-json.md`.

use rush::perf::{Phase, Report};

use crate::errors::quoted;

/// How much of a command's text a line shows, in bytes.
const SHOWN_BYTES_MAX: usize = 80;

const PHASES: [(&str, Phase); 5] = [
    ("lex", Phase::Lex),
    ("parse", Phase::Parse),
    ("expand", Phase::Expand),
    ("execute", Phase::Execute),
    ("other", Phase::Other),
];

/// The formatter that the value of `RUSH_PERF` asks for.
pub(crate) fn formatter(value: &[u8]) -> Option<fn(&Report<'_>) -> Vec<u8>> {
    match value {
        b"" | b"0" => None,
        b"json" => Some(as_json),
        _ => Some(as_text),
    }
}

fn micros(nanos: u64) -> String {
    format!("{}.{}", nanos / 1_000, nanos % 1_000 / 100)
}

/// The first line of a command, not too long.
fn shown(text: &[u8]) -> &[u8] {
    let line = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
    line.get(..SHOWN_BYTES_MAX).unwrap_or(line)
}

fn as_text(report: &Report<'_>) -> Vec<u8> {
    let mut line = match report.command {
        Some((number, _)) => format!("rush: perf: line {number}:"),
        None => format!("rush: perf: run of {} commands:", report.commands),
    };
    for (name, phase) in PHASES {
        // A command is never in the phase between commands.
        if phase != Phase::Other || report.command.is_none() {
            line.push_str(&format!(" {name} {}", micros(report.spent.in_phase(phase))));
        }
    }
    line.push_str(&format!(" total {} us", micros(report.spent.total())));
    if let Some((_, text)) = report.command {
        line.push_str(": ");
        line.push_str(&String::from_utf8_lossy(shown(text)));
    }
    line.push('\n');
    line.into_bytes()
}

fn as_json(report: &Report<'_>) -> Vec<u8> {
    let mut line = match report.command {
        Some((number, text)) => {
            format!("{{\"perf\":{{\"line\":{number},\"command\":{}", quoted(shown(text)))
        }
        None => format!("{{\"perf\":{{\"commands\":{}", report.commands),
    };
    for (name, phase) in PHASES {
        if phase != Phase::Other || report.command.is_none() {
            line.push_str(&format!(",\"{name}_us\":{}", micros(report.spent.in_phase(phase))));
        }
    }
    line.push_str(&format!(",\"total_us\":{}}}}}\n", micros(report.spent.total())));
    line.into_bytes()
}
