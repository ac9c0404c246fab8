//! `type`, and `command -v` and `-V`: what a name would run.

use super::lookup::{find_all_in_path, find_in_path, is_executable_file};
use super::options::OptionReader;
use crate::{Bytes, Outcome, Session, quote};

/// Reserved words of the language.
pub(crate) const KEYWORDS: &[&str] = &[
    "!", "[[", "]]", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if",
    "in", "select", "then", "time", "until", "while", "{", "}",
];

/// One meaning of a name.
pub(crate) enum Meaning {
    Alias(Bytes),
    Keyword,
    Function,
    Builtin {
        special: bool,
    },
    /// An in-process utility that stands for no program.
    Utility,
    Hashed(Bytes),
    File(Bytes),
}

/// What may be left out of the search.
#[derive(Default, Clone, Copy)]
pub(crate) struct Search {
    pub(crate) all: bool,
    pub(crate) no_functions: bool,
    /// Only files in `PATH` (`-P`).
    pub(crate) files_only: bool,
    #[allow(dead_code)]
    pub(crate) standard_path: bool,
}

/// The meanings of `name`, in the order the shell prefers them; only the first unless all are wanted.
pub(crate) fn meanings(session: &mut Session, name: &[u8], search: Search) -> Vec<Meaning> {
    let mut found = Vec::new();
    if !search.files_only {
        let expands = session.shopt(crate::state::options::Shopt::ExpandAliases);
        if let Some(text) = session.aliases.get(name).filter(|_| expands) {
            found.push(Meaning::Alias(text.clone()));
        }
        if KEYWORDS.iter().any(|k| k.as_bytes() == name) {
            found.push(Meaning::Keyword);
        }
        if !search.no_functions && session.functions.contains_key(name) {
            found.push(Meaning::Function);
        }
        if let Some(builtin) = session.builtin(name) {
            found.push(Meaning::Builtin { special: builtin.special });
        }
        if !search.all && !found.is_empty() {
            found.truncate(1);
            return found;
        }
    }
    if name.contains(&b'/') {
        if is_executable_file(name) {
            found.push(Meaning::File(name.to_vec()));
        }
        return found;
    }
    if search.all {
        found.extend(find_all_in_path(session, name).into_iter().map(Meaning::File));
    } else if let Some(hashed) = session.remembered(name).filter(|_| !search.files_only) {
        found.push(Meaning::Hashed(hashed.path.clone()));
    } else if let Some(path) = find_in_path(session, name) {
        found.push(Meaning::File(path));
    }
    if found.is_empty() && !search.files_only && session.lone_utility(name) {
        found.push(Meaning::Utility);
    }
    found
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    Sentence,
    Kind,
    Path,
}

/// `type [-afptP] name [name ...]`
pub(super) fn run(session: &mut Session, args: &[Bytes]) -> Outcome {
    let mut search = Search::default();
    let mut style = Style::Sentence;
    let mut options = OptionReader::new(args, "afptP");
    loop {
        match options.next(session) {
            Ok(None) => break,
            Ok(Some(found)) => match found.letter {
                b'a' => search.all = true,
                b'f' => search.no_functions = true,
                b'p' => style = Style::Path,
                b'P' => {
                    style = Style::Path;
                    search.files_only = true;
                }
                _ => style = Style::Kind,
            },
            Err(status) => return Ok(status),
        }
    }
    let mut status = 0;
    for name in options.operands() {
        let found = meanings(session, name, search);
        if found.is_empty() {
            if style == Style::Sentence {
                session.builtin_error(b"type", [name, b": not found".as_slice()].concat());
            }
            status = 1;
        }
        for meaning in found {
            show(session, name, &meaning, style);
        }
    }
    Ok(status)
}

fn show(session: &mut Session, name: &[u8], meaning: &Meaning, style: Style) {
    match style {
        Style::Sentence => sentence(session, name, meaning),
        Style::Kind => {
            let kind = match meaning {
                Meaning::Alias(_) => "alias\n",
                Meaning::Keyword => "keyword\n",
                Meaning::Function => "function\n",
                Meaning::Builtin { .. } | Meaning::Utility => "builtin\n",
                Meaning::Hashed(_) | Meaning::File(_) => "file\n",
            };
            session.write_out(kind.as_bytes());
        }
        Style::Path => {
            if let Meaning::Hashed(path) | Meaning::File(path) = meaning {
                session.write_out(&[path.as_slice(), b"\n"].concat());
            }
        }
    }
}

/// The sentence that `type` and `command -V` print.
pub(crate) fn sentence(session: &mut Session, name: &[u8], meaning: &Meaning) {
    let tail: Bytes = match meaning {
        Meaning::Alias(text) => [b" is aliased to `", text.as_slice(), b"'\n"].concat(),
        Meaning::Keyword => b" is a shell keyword\n".to_vec(),
        Meaning::Function => {
            let text = session.function_text(name).unwrap_or_default();
            [b" is a function\n", text.as_slice(), b"\n"].concat()
        }
        Meaning::Builtin { special: true } if session.is(crate::state::options::SetOption::Posix) => {
            b" is a special shell builtin\n".to_vec()
        }
        Meaning::Builtin { .. } => b" is a shell builtin\n".to_vec(),
        Meaning::Utility => b" is a shell utility\n".to_vec(),
        Meaning::Hashed(path) => [b" is hashed (", path.as_slice(), b")\n"].concat(),
        Meaning::File(path) => [b" is ", path.as_slice(), b"\n"].concat(),
    };
    session.write_out(&[name, &tail].concat());
}

/// The word that `command -v` prints.
pub(crate) fn terse(session: &mut Session, name: &[u8], meaning: &Meaning) {
    let line = match meaning {
        Meaning::Alias(text) => [b"alias ", name, b"=", &quote::single_quote(text)].concat(),
        Meaning::Hashed(path) | Meaning::File(path) => path.clone(),
        _ => name.to_vec(),
    };
    session.write_out(&[line.as_slice(), b"\n"].concat());
}
