//! The candidates of each action of `compgen -A`.

use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;

use crate::builtins::type_::KEYWORDS;
use crate::builtins::{self};
use crate::state::options::{SetOption, Shopt};
use crate::state::value::{Attributes, Value};
use crate::{Bytes, Session, signals};

/// The candidates of `action` that begin with `word`.
pub(super) fn candidates(session: &mut Session, action: &str, word: &[u8]) -> Vec<Bytes> {
    let all: Vec<Bytes> = match action {
        "alias" => sorted(session.aliases.keys().cloned().collect()),
        "arrayvar" => variables(session, |_, v| v.is_array()),
        "variable" => variables(session, |_, _| true),
        "export" => variables(session, |a, _| a.has(Attributes::EXPORT)),
        "builtin" => builtins::BUILTINS.iter().map(|b| b.name.into()).collect(),
        "enabled" => builtin_names(session, false),
        "disabled" => builtin_names(session, true),
        "helptopic" => builtins::BUILTINS.iter().map(|b| b.name.into()).collect(),
        "keyword" => KEYWORDS.iter().map(|k| Bytes::from(*k)).collect(),
        "function" => sorted(session.functions.keys().cloned().collect()),
        "setopt" => SetOption::ALL.iter().map(|o| o.name().into()).collect(),
        "shopt" => Shopt::ALL.iter().map(|o| o.name().into()).collect(),
        "signal" => (1..=signals::SIGNAL_MAX)
            .filter_map(signals::name)
            .map(|n| format!("SIG{n}").into_bytes())
            .collect(),
        "command" => commands(session, word),
        "directory" => paths(session, word, true),
        "file" => paths(session, word, false),
        "user" => colon_file("/etc/passwd"),
        "group" => colon_file("/etc/group"),
        "hostname" => hosts(),
        "service" => services(),
        _ => Vec::new(),
    };
    let folds = folds_case(session);
    all.into_iter().filter(|candidate| begins(candidate, word, folds)).collect()
}

/// Whether upper and lower case are the same to completion.
pub(super) fn folds_case(session: &Session) -> bool {
    session.bindings().is_on("completion-ignore-case")
}

/// Whether a candidate begins with `word`.
pub(super) fn begins(candidate: &[u8], word: &[u8], folds: bool) -> bool {
    match candidate.get(..word.len()) {
        Some(start) if folds => start.eq_ignore_ascii_case(word),
        Some(start) => start == word,
        None => false,
    }
}

fn sorted(mut names: Vec<Bytes>) -> Vec<Bytes> {
    names.sort();
    names
}

fn variables(session: &mut Session, wanted: impl Fn(Attributes, &Value) -> bool) -> Vec<Bytes> {
    let ids = session.variables.sorted_ids();
    let mut names = Vec::new();
    for id in ids {
        let slot = session.variables.slot(id);
        if wanted(slot.attributes, &slot.value) {
            names.push(session.variables.names.text(id).to_vec());
        }
    }
    names
}

fn builtin_names(session: &Session, disabled: bool) -> Vec<Bytes> {
    let matching = builtins::BUILTINS.iter().filter(|b| session.is_disabled(b.name.as_bytes()) == disabled);
    matching.map(|b| b.name.into()).collect()
}

fn commands(session: &mut Session, word: &[u8]) -> Vec<Bytes> {
    let mut all = sorted(session.aliases.keys().cloned().collect());
    all.extend(KEYWORDS.iter().map(|k| Bytes::from(*k)));
    all.extend(sorted(session.functions.keys().cloned().collect()));
    all.extend(builtin_names(session, false));
    let folds = folds_case(session);
    let path = session.get(b"PATH").map(|p| String::from_utf8_lossy(&p).into_owned()).unwrap_or_default();
    let mut programs = Vec::new();
    for directory in path.split(':').filter(|d| !d.is_empty()) {
        let Ok(reader) = fs::read_dir(directory) else { continue };
        for entry in reader.flatten() {
            let name = entry.file_name().into_vec();
            if begins(&name, word, folds) {
                let full = [directory.as_bytes(), b"/", &name].concat();
                if builtins::lookup::is_executable_file(&full) {
                    programs.push(name);
                }
            }
        }
    }
    programs.sort();
    programs.dedup();
    all.extend(programs);
    all
}

/// Files whose path begins with `word`.
fn paths(session: &mut Session, word: &[u8], directories: bool) -> Vec<Bytes> {
    let mut pattern = Bytes::new();
    if folds_case(session) {
        let name = word.iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
        let (folder, name) = word.split_at(name);
        crate::pattern::escape_into(&mut pattern, folder);
        for byte in name {
            if byte.is_ascii_alphabetic() {
                pattern.extend([b'[', byte.to_ascii_lowercase(), byte.to_ascii_uppercase(), b']']);
            } else {
                crate::pattern::escape_into(&mut pattern, &[*byte]);
            }
        }
    } else {
        crate::pattern::escape_into(&mut pattern, word);
    }
    pattern.push(b'*');
    let mut found = session.match_pathnames(&pattern);
    if directories {
        use std::os::unix::ffi::OsStrExt;
        found.retain(|p| Path::new(std::ffi::OsStr::from_bytes(p)).is_dir());
    }
    found
}

fn colon_file(path: &str) -> Vec<Bytes> {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.lines().filter_map(|l| l.split(':').next()).map(Bytes::from).collect()
}

fn hosts() -> Vec<Bytes> {
    let text = fs::read_to_string("/etc/hosts").unwrap_or_default();
    let lines = text.lines().map(|l| l.split('#').next().unwrap_or(""));
    lines.flat_map(|l| l.split_whitespace().skip(1)).map(Bytes::from).collect()
}

fn services() -> Vec<Bytes> {
    let text = fs::read_to_string("/etc/services").unwrap_or_default();
    text.lines()
        .filter_map(|l| l.split_whitespace().next())
        .filter(|w| !w.starts_with('#'))
        .map(Bytes::from)
        .collect()
}
