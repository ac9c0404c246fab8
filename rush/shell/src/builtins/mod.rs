//! The builtins: one file each, one table. A builtin takes the session and its words (`args[0]` is its name, as
//! called), writes with `Session::write_out` and reports with `Session::builtin_error`; the dispatcher flushes the
//! output and turns a write error into a message and status 1. Redirections are in place before it is called.

pub mod abbr;
mod alias;
mod assign;
pub mod bind;
mod caller;
pub(crate) mod cd;
mod colon;
pub(crate) mod command;
pub mod completion;
mod control;
pub(crate) mod declare;
pub(crate) mod declare_list;
mod directories;
mod echo;
mod enable;
mod eval;
mod exec;
mod fc;
pub(crate) mod getopts;
mod hash;
mod help;
pub(crate) mod history;
mod jobs;
mod kill;
mod let_;
pub(crate) mod lookup;
mod mapfile;
pub(crate) mod options;
pub(crate) mod printf;
mod read;
mod set;
mod shopt;
pub mod state;
mod support;
pub(crate) mod test;
mod times;
mod trap;
pub(crate) mod type_;
mod ulimit;
mod umask;
mod undo;
mod unset;
mod wait;

use crate::state::options::SetOption;
use crate::{Bytes, Outcome, Session};
pub(crate) use jobs::{describe_job, notices as job_notices};

/// What runs a builtin.
pub type BuiltinFn = fn(&mut Session, &[Bytes]) -> Outcome;

/// One row of the table.
pub struct Builtin {
    /// The command's name.
    pub name: &'static str,
    /// Whether POSIX calls it special: assignments before it last, its errors end a posix-mode shell.
    pub special: bool,
    /// What runs it.
    pub run: BuiltinFn,
    /// The synopsis after the name, for `help` and usage errors.
    pub synopsis: &'static str,
}

const fn special(name: &'static str, run: BuiltinFn, synopsis: &'static str) -> Builtin {
    Builtin { name, special: true, run, synopsis }
}

const fn regular(name: &'static str, run: BuiltinFn, synopsis: &'static str) -> Builtin {
    Builtin { name, special: false, run, synopsis }
}

const DECLARE: &str = "[-aAfFgiIlnrtux] [name[=value] ...] or declare -p [-aAfFilnrtux] [name ...]";
const TYPESET: &str = "[-aAfFgiIlnrtux] name[=value] ... or typeset -p [-aAfFilnrtux] [name ...]";
const READ: &str = "[-ers] [-a array] [-d delim] [-i text] [-n nchars] [-N nchars] [-p prompt] [-t timeout] [-u fd] \
                    [name ...]";
const MAPFILE: &str =
    "[-d delim] [-n count] [-O origin] [-s count] [-t] [-u fd] [-C callback] [-c quantum] [array]";
const COMPLETE: &str = "[-abcdefgjksuv] [-pr] [-DEI] [-o option] [-A action] [-G globpat] [-W wordlist] \
                        [-F function] [-C command] [-X filterpat] [-P prefix] [-S suffix] [name ...]";
const COMPGEN: &str = "[-abcdefgjksuv] [-o option] [-A action] [-G globpat] [-W wordlist] [-F function] \
                       [-C command] [-X filterpat] [-P prefix] [-S suffix] [word]";
const BIND: &str = "[-lpsvPSVX] [-m keymap] [-f filename] [-q name] [-u name] [-r keyseq] \
                    [-x keyseq:shell-command] [keyseq:readline-function or readline-command]";

/// What there is at a terminal besides; in scripts these names are programs.
const AT_TERMINAL: [Builtin; 2] = [
    regular("abbr", abbr::run, "[-g] [name[=text] ...] or abbr -r name ..."),
    regular("undo", undo::run, "[-f] [number] or undo --list or undo --clear"),
];

/// Every builtin, sorted by name.
pub static BUILTINS: &[Builtin] = &TABLE;

const TABLE: [Builtin; 61] = [
    special(".", eval::run_source, "filename [arguments]"),
    special(":", colon::run, ""),
    regular("[", test::run_bracket, "arg... ]"),
    regular("alias", alias::run, "[-p] [name[=value] ... ]"),
    regular("bg", jobs::run_background, "[job_spec ...]"),
    regular("bind", bind::run, BIND),
    special("break", control::run_break, "[n]"),
    regular("builtin", command::run_builtin, "[shell-builtin [arg ...]]"),
    regular("caller", caller::run, "[expr]"),
    regular("cd", cd::run, "[-L|[-P [-e]] [-@]] [dir]"),
    regular("command", command::run, "[-pVv] command [arg ...]"),
    regular("compgen", completion::run_compgen, COMPGEN),
    regular("complete", completion::run_complete, COMPLETE),
    regular("compopt", completion::run_compopt, "[-o|+o option] [-DEI] [name ...]"),
    special("continue", control::run_continue, "[n]"),
    regular("declare", declare::run, DECLARE),
    regular("dirs", directories::run, "[-clpv] [+N] [-N]"),
    regular("disown", jobs::run_disown, "[-h] [-ar] [jobspec ... | pid ...]"),
    regular("echo", echo::run, "[-neE] [arg ...]"),
    regular("enable", enable::run, "[-a] [-dnps] [-f filename] [name ...]"),
    special("eval", eval::run, "[arg ...]"),
    special("exec", exec::run, "[-cl] [-a name] [command [argument ...]] [redirection ...]"),
    special("exit", control::run_exit, "[n]"),
    special("export", declare::run, "[-fn] [name[=value] ...] or export -p"),
    regular("false", colon::run_false, ""),
    regular("fc", fc::run, "[-e ename] [-lnr] [first] [last] or fc -s [pat=rep] [command]"),
    regular("fg", jobs::run_foreground, "[job_spec]"),
    regular("getopts", getopts::run, "optstring name [arg ...]"),
    regular("hash", hash::run, "[-lr] [-p pathname] [-dt] [name ...]"),
    regular("help", help::run, "[-dms] [pattern ...]"),
    regular(
        "history",
        history::run,
        "[-c] [-d offset] [n] or history -anrw [filename] or history -ps arg [arg...]",
    ),
    regular("jobs", jobs::run, "[-lnprs] [jobspec ...] or jobs -x command [args]"),
    regular("kill", kill::run, "[-s sigspec | -n signum | -sigspec] pid | jobspec ... or kill -l [sigspec]"),
    regular("let", let_::run, "arg [arg ...]"),
    regular("local", declare::run, "[option] name[=value] ..."),
    regular("logout", control::run_exit, "[n]"),
    regular("mapfile", mapfile::run, MAPFILE),
    regular("popd", directories::run_popd, "[-n] [+N | -N]"),
    regular("printf", printf::run, "[-v var] format [arguments]"),
    regular("pushd", directories::run_pushd, "[-n] [+N | -N | dir]"),
    regular("pwd", cd::run_pwd, "[-LP]"),
    regular("read", read::run, READ),
    regular("readarray", mapfile::run, MAPFILE),
    special("readonly", declare::run, "[-aAf] [name[=value] ...] or readonly -p"),
    special("return", control::run_return, "[n]"),
    special("set", set::run, "[-abefhkmnptuvxBCEHPT] [-o option-name] [--] [-] [arg ...]"),
    special("shift", control::run_shift, "[n]"),
    regular("shopt", shopt::run, "[-pqsu] [-o] [optname ...]"),
    special("source", eval::run_source, "filename [arguments]"),
    regular("suspend", jobs::run_suspend, "[-f]"),
    regular("test", test::run, "[expr]"),
    special("times", times::run, ""),
    special("trap", trap::run, "[-lp] [[arg] signal_spec ...]"),
    regular("true", colon::run, ""),
    regular("type", type_::run, "[-afptP] name [name ...]"),
    regular("typeset", declare::run, TYPESET),
    regular("ulimit", ulimit::run, "[-SHabcdefiklmnpqrstuvxPRT] [limit]"),
    regular("umask", umask::run, "[-p] [-S] [mode]"),
    regular("unalias", alias::run_unalias, "[-a] name [name ...]"),
    special("unset", unset::run, "[-f] [-v] [-n] [name ...]"),
    regular("wait", wait::run, "[-fn] [-p var] [id ...]"),
];

/// Places of `PLACES`: a power of two, enough that hardly any name meets another's.
const PLACES_COUNT: usize = 256;
/// What a place holds that no builtin has.
const NOBODY: u8 = u8::MAX;

/// Where each builtin stands in the table, at the place of its name or the next free one: every command looks here.
static PLACES: [u8; PLACES_COUNT] = {
    let mut places = [NOBODY; PLACES_COUNT];
    let mut index = 0;
    while index < TABLE.len() {
        let mut place = place(TABLE[index].name.as_bytes());
        while places[place] != NOBODY {
            place = (place + 1) % PLACES_COUNT;
        }
        places[place] = index as u8;
        index += 1;
    }
    places
};

/// The place of a name, which is not empty: its length and three of its letters.
#[inline]
const fn place(name: &[u8]) -> usize {
    let (first, middle, last) = (name[0], name[name.len() / 2], name[name.len() - 1]);
    (first as usize + middle as usize * 5 + last as usize * 29 + name.len() * 43) % PLACES_COUNT
}

impl crate::Session {
    /// The builtin of this name, if it is not turned off; some are there at a terminal only.
    pub(crate) fn builtin(&self, name: &[u8]) -> Option<&'static Builtin> {
        match find(name) {
            Some(builtin) => Some(builtin).filter(|_| !self.is_disabled(name)),
            None if self.interactive || self.is(SetOption::Undo) => {
                AT_TERMINAL.iter().find(|builtin| builtin.name.as_bytes() == name)
            }
            None => None,
        }
    }
}

/// The builtin called `name`.
#[inline]
pub fn find(name: &[u8]) -> Option<&'static Builtin> {
    if name.is_empty() {
        return None;
    }
    let mut place = place(name);
    loop {
        let builtin = BUILTINS.get(usize::from(PLACES[place]))?;
        if builtin.name.as_bytes() == name {
            return Some(builtin);
        }
        place = (place + 1) % PLACES_COUNT;
    }
}

/// Whether `--help` asks the builtin for help; for a few it is an argument like any other.
pub(crate) fn has_help(name: &str) -> bool {
    !matches!(name, ":" | "[" | "echo" | "false" | "test" | "true")
}

/// `NAME --help`: what `help NAME` prints, with the status of a usage error.
pub(crate) fn show_help(session: &mut Session, builtin: &Builtin) -> Outcome {
    let text = help::text(builtin.name);
    session.write_out(text.as_bytes());
    Ok(2)
}

/// Whether `word` is a reserved word.
pub(crate) fn is_keyword(word: &[u8]) -> bool {
    type_::KEYWORDS.iter().any(|keyword| keyword.as_bytes() == word)
}

#[cfg(test)]
mod tests {
    use super::{BUILTINS, find};

    #[test]
    fn the_table_is_sorted() {
        assert!(BUILTINS.is_sorted_by_key(|b| b.name));
    }

    #[test]
    fn every_builtin_is_found_by_its_name_only() {
        for builtin in BUILTINS {
            assert!(find(builtin.name.as_bytes()).is_some_and(|found| std::ptr::eq(found, builtin)));
            assert!(find(&builtin.name.as_bytes()[1..]).is_none_or(|found| !std::ptr::eq(found, builtin)));
        }
        assert!(find(b"").is_none() && find(b"ls").is_none() && find(b"ech").is_none());
    }
}
