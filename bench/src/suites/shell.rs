//! rush's rows: start-up, loops, expansions, substitutions, spawning, globbing, reading, here-documents, parsing, and a
//! session as an agent holds one. The scripts are in `bench/shell/rows`; sizes are filled in here.

use super::{Suite, invocation, wanted};
use crate::contest::{Case, Contestant, Expected, Figure};
use crate::locate::{Places, version};
use crate::model::{ContestantInfo, Unit};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// One script: its name, the operations at factor 1 and the unit of its figure.
struct Row {
    name: &'static str,
    operations: u64,
    unit: Unit,
}

const fn per_operation(name: &'static str, operations: u64) -> Row {
    Row { name, operations, unit: Unit::MicrosPerOperation }
}

const ROWS: [Row; 23] = [
    per_operation("colon", 10_000),
    per_operation("assign", 10_000),
    per_operation("cond", 10_000),
    per_operation("while_arith", 10_000),
    per_operation("redirect", 10_000),
    per_operation("function", 10_000),
    per_operation("substitution", 500),
    per_operation("subshell", 500),
    per_operation("pipeline", 300),
    per_operation("external", 300),
    Row { name: "glob", operations: 10_000, unit: Unit::Millis },
    per_operation("while_read", 20_000),
    Row { name: "heredoc", operations: HEREDOC_BYTES, unit: Unit::Millis },
    per_operation("parse", 20_000),
    per_operation("append", 10_000),
    // What rush has in process and the other shells start: the programs of the machine.
    Row { name: "filter_cat", operations: FILTER_LINES, unit: Unit::Millis },
    Row { name: "filter_cat_n", operations: FILTER_LINES, unit: Unit::Millis },
    Row { name: "filter_tr", operations: FILTER_LINES, unit: Unit::Millis },
    Row { name: "filter_seq", operations: FILTER_LINES, unit: Unit::Millis },
    Row { name: "filter_uniq", operations: FILTER_LINES, unit: Unit::Millis },
    Row { name: "filter_sed", operations: FILTER_LINES, unit: Unit::Millis },
    Row { name: "filter_grep", operations: FILTER_LINES, unit: Unit::Millis },
    Row { name: "filter_digest", operations: FILTER_LINES, unit: Unit::Millis },
];

/// Lines that filters read: 33 MB.
const FILTER_LINES: u64 = 1_000_000;

const HEREDOC_BYTES: u64 = 1_000_000;

/// What is run at three sizes.
pub(crate) const GROWTH: [&str; 9] = [
    "colon",
    "while_arith",
    "substitution",
    "glob",
    "while_read",
    "heredoc",
    "parse",
    "append",
    "array_append",
];

/// Lines of the dense kind that generated scripts are made of. `@i` becomes the number of the line.
const DENSE_LINES: [&str; 5] = [
    "case $a in x@i|y*) foo \"$b\" ${c:-d@i} >f 2>&1 && bar | baz \"${e%.*}\" ;; esac",
    "if [ \"$x@i\" -gt 1 ]; then y=$((x + @i * 2)); else z=$(cmd -a \"$y\" 'q q' | sed s/a/b/); fi",
    "for i in a b c@i; do echo \"$i\" \"${HOME}/x@i\" <in >>out || continue; done",
    "f@i() { local v=\"$1\"; shift; printf '%s\\n' \"$v\" \"$@\"; }",
    "{ echo one@i & wait; } 2>/dev/null; ( cd /tmp && ls -l *.c ) | while read -r l; do :; done",
];

struct Shell {
    name: &'static str,
    prefix: &'static [&'static str],
    version: &'static [&'static str],
    package: &'static str,
}

const SHELLS: [Shell; 8] = [
    Shell { name: "bash", prefix: &["--norc", "--noprofile"], version: &["--version"], package: "" },
    Shell { name: "dash", prefix: &[], version: &[], package: "dash" },
    Shell { name: "mksh", prefix: &[], version: &["-c", "echo $KSH_VERSION"], package: "" },
    Shell { name: "ksh", prefix: &[], version: &["-c", "echo ${.sh.version}"], package: "" },
    Shell { name: "zsh", prefix: &["-f"], version: &["--version"], package: "" },
    Shell { name: "fish", prefix: &["--no-config"], version: &["--version"], package: "" },
    Shell { name: "busybox", prefix: &["sh"], version: &["--help"], package: "" },
    Shell { name: "brush", prefix: &["--norc", "--noprofile"], version: &["--version"], package: "" },
];

/// The name of the contestant that shows what the machine itself costs: no shell, only spawns.
pub(crate) const FLOOR: &str = "floor";

/// Ours and every shell that is there, and the floor.
pub(crate) fn contestants(places: &Places) -> io::Result<Vec<Contestant>> {
    let mut all = Vec::new();
    if let Some(program) = places.ours("PITHOS_BENCH_RUSH", "rush") {
        let info = ContestantInfo {
            name: "rush".into(),
            version: version(&program, &["--version"], ""),
            ours: true,
        };
        all.push(Contestant { info, program, prefix: Vec::new() });
    }
    for shell in &SHELLS {
        let Some(program) = places.peer(shell.name) else { continue };
        let version = version(&program, shell.version, shell.package);
        let info = ContestantInfo { name: shell.name.into(), version, ours: false };
        all.push(Contestant {
            info,
            program,
            prefix: shell.prefix.iter().map(|&word| word.into()).collect(),
        });
    }
    let info = ContestantInfo { name: FLOOR.into(), version: "/bin/true, spawned".into(), ours: false };
    all.push(Contestant { info, program: std::env::current_exe()?, prefix: vec!["__spawn".into()] });
    Ok(all)
}

/// The suite. The caller is in the sandbox already; `scratch` is the one folder that can be written.
pub(crate) fn suite(places: &Places, scratch: &Path, filter: Option<&str>) -> io::Result<Suite> {
    let contestants = contestants(places)?;
    let mut cases = Vec::new();
    for row in ROWS.iter().filter(|row| wanted(row.name, filter)) {
        cases.push(case(places, scratch, &contestants, row.name, 1.0)?);
    }
    if wanted("rss", filter) {
        cases.push(memory(scratch, &contestants));
    }
    Ok(Suite {
        name: "rush",
        title: "Shells",
        startup: Some(startup(scratch, &contestants)),
        contestants,
        cases,
        reference: "bash",
    })
}

/// The start-up row: `-c :`.
pub(crate) fn startup(scratch: &Path, contestants: &[Contestant]) -> Case {
    Case {
        name: "startup".to_owned(),
        group: "startup".to_owned(),
        unit: Unit::Millis,
        operations: 1,
        figure: Figure::Process,
        expected: Expected::Anything,
        less_startup: false,
        invocations: contestants.iter().map(|c| Some(command_string(c, scratch, ":"))).collect(),
    }
}

fn memory(scratch: &Path, contestants: &[Contestant]) -> Case {
    Case {
        name: "rss of -c true".to_owned(),
        group: "memory".to_owned(),
        unit: Unit::Kilobytes,
        operations: 1,
        figure: Figure::PeakMemory,
        expected: Expected::Anything,
        less_startup: false,
        invocations: contestants.iter().map(|c| Some(command_string(c, scratch, "true"))).collect(),
    }
}

fn command_string(contestant: &Contestant, scratch: &Path, text: &str) -> crate::process::Invocation {
    let mut invocation = invocation(contestant, &["-c".into(), text.into()], scratch);
    if contestant.info.name == FLOOR {
        invocation.program = PathBuf::from("/bin/true");
        invocation.arguments.clear();
    }
    invocation
}

/// One script at one size, in a folder of its own with the files it reads.
pub(crate) fn case(
    places: &Places,
    scratch: &Path,
    contestants: &[Contestant],
    name: &str,
    factor: f64,
) -> io::Result<Case> {
    let row = ROWS.iter().find(|row| row.name == name);
    let (base, unit) = row.map_or((10_000, Unit::MicrosPerOperation), |row| (row.operations, row.unit));
    let operations = ((base as f64 * factor).round() as u64).max(1);
    let folder = scratch.join(format!("{name}-{factor}"));
    fs::create_dir_all(&folder)?;
    write_inputs(name, operations, &folder)?;
    let mut scripts = Vec::new();
    for ending in ["sh", "fish"] {
        let source = places.bench(&format!("shell/rows/{name}.{ending}"));
        if source.exists() {
            let file = folder.join(format!("row.{ending}"));
            fs::write(&file, fill(&fs::read_to_string(source)?, operations))?;
            scripts.push((ending, file));
        }
    }
    let invocations = contestants.iter().map(|contestant| {
        if contestant.info.name == FLOOR {
            let count: OsString = operations.to_string().into();
            return (name == "external").then(|| invocation(contestant, &[count], &folder));
        }
        let ending = if contestant.info.name == "fish" { "fish" } else { "sh" };
        let (_, file) = scripts.iter().find(|(e, _)| *e == ending)?;
        Some(invocation(contestant, &[file.into()], &folder))
    });
    Ok(Case {
        name: name.to_owned(),
        group: "rows".to_owned(),
        unit,
        operations,
        figure: Figure::Process,
        expected: Expected::Agreement,
        less_startup: true,
        invocations: invocations.collect(),
    })
}

fn write_inputs(name: &str, operations: u64, folder: &Path) -> io::Result<()> {
    if name == "glob" {
        let files = folder.join("files");
        fs::create_dir_all(&files)?;
        for i in 0..operations {
            fs::write(files.join(format!("file{i:06}")), b"")?;
        }
    }
    if name == "while_read" || (name.starts_with("filter_") && name != "filter_seq") {
        let mut lines = String::new();
        for i in 0..operations {
            let _ = writeln!(lines, "line {i} of a file with words in it");
        }
        fs::write(folder.join("lines"), lines)?;
    }
    Ok(())
}

/// Puts the sizes into a script.
fn fill(template: &str, operations: u64) -> String {
    let thousands: Vec<String> = (0..operations.div_ceil(1000)).map(|i| i.to_string()).collect();
    let mut text = template.replace("@N@", &operations.to_string()).replace("@SCALE@", &thousands.join(" "));
    if text.contains("@LINES@") {
        text = text.replace("@LINES@", &dense_lines(operations));
    }
    if text.contains("@HEREDOC@") {
        text = text.replace("@HEREDOC@", &heredoc(operations));
    }
    text
}

fn dense_lines(count: u64) -> String {
    let lines = (0..count).zip(DENSE_LINES.iter().cycle());
    lines.map(|(i, line)| line.replace("@i", &i.to_string())).collect::<Vec<_>>().join("\n")
}

/// About `bytes` of text; every eighth line has an expansion.
fn heredoc(bytes: u64) -> String {
    let mut text = String::new();
    let mut line = 0u64;
    while (text.len() as u64) < bytes {
        let ending = if line.is_multiple_of(8) { "and a $x in it" } else { "and nothing in it" };
        let _ = writeln!(text, "line {line} of a document that goes on for a while {ending}");
        line += 1;
    }
    text.pop();
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_filled() {
        assert_eq!(fill("i < @N@ in @SCALE@", 3000), "i < 3000 in 0 1 2");
        assert_eq!(fill("@SCALE@", 10), "0");
        assert!(fill("@HEREDOC@", 5000).len() >= 4999);
        assert_eq!(fill("@LINES@", 12).lines().count(), 12);
    }

    #[test]
    fn dense_lines_are_valid_shell() {
        let script = format!("if false; then\n{}\nfi\n", dense_lines(10));
        assert!(
            script.contains("${e%.*}") && script.contains("'%s\\n'") && script.contains("f3()"),
            "{script}"
        );
        let status = std::process::Command::new("/bin/sh").args(["-n", "-c", &script]).status().unwrap();
        assert!(status.success(), "{script}");
    }
}
