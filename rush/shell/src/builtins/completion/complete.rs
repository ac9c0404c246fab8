//! `complete` and `compopt`: record, show and change specifications.

use std::rc::Rc;

use super::compgen::apply_option;
use super::{ACTIONS, Completions, OPTIONS, Specification};
use crate::builtins::options::OptionReader;
use crate::{Bytes, Outcome, Session, quote};

/// The letters of `compgen` and those for what is done with a specification.
const LETTERS: &str = "abcdefgjksuvo:A:G:W:P:S:X:F:C:prDEI";

#[derive(Default)]
struct Targets {
    default: bool,
    empty: bool,
    initial: bool,
}

impl Targets {
    fn any(&self) -> bool {
        self.default || self.empty || self.initial
    }
}

/// `complete [-abcdefgjksuv] [-pr] [-DEI] [-o option] [-A action] [-G globpat] [-W wordlist] [-F function] [-C command] [-X filterpat] [-P prefix] [-S suffix] [name ...]`
pub(in crate::builtins) fn run(session: &mut Session, args: &[Bytes]) -> Outcome {
    let mut specification = Specification::default();
    let mut targets = Targets::default();
    let (mut print, mut remove) = (false, false);
    let mut options = OptionReader::new(args, LETTERS);
    loop {
        match options.next(session) {
            Ok(None) => break,
            Ok(Some(found)) => match found.letter {
                b'p' => print = true,
                b'r' => remove = true,
                b'D' => targets.default = true,
                b'E' => targets.empty = true,
                b'I' => targets.initial = true,
                _ => {
                    if let Err(status) = apply_option(session, b"complete", &mut specification, found) {
                        return Ok(status);
                    }
                }
            },
            Err(status) => return Ok(status),
        }
    }
    let names = options.operands();
    if remove {
        return Ok(forget(session, names, &targets));
    }
    let nothing_said = specification == Specification::default();
    if print || (names.is_empty() && nothing_said && !targets.any()) {
        return Ok(show(session, names, &targets));
    }
    if names.is_empty() && !targets.any() {
        return Ok(crate::builtins::options::usage(session, b"complete"));
    }
    let completions = Rc::make_mut(&mut session.builtin_state.completions);
    for (wanted, slot) in [
        (targets.default, &mut completions.default),
        (targets.empty, &mut completions.empty),
        (targets.initial, &mut completions.initial),
    ] {
        if wanted {
            *slot = Some(specification.clone());
        }
    }
    if !targets.any() {
        for name in names {
            completions.commands.insert(name.clone(), specification.clone());
        }
    }
    Ok(0)
}

fn forget(session: &mut Session, names: &[Bytes], targets: &Targets) -> i32 {
    if names.is_empty() && !targets.any() {
        session.builtin_state.completions = Rc::default();
        return 0;
    }
    let completions = Rc::make_mut(&mut session.builtin_state.completions);
    if targets.default {
        completions.default = None;
    }
    if targets.empty {
        completions.empty = None;
    }
    if targets.initial {
        completions.initial = None;
    }
    // With one of those, names are left alone.
    let names: &[Bytes] = if targets.any() { &[] } else { names };
    let missing: Vec<&Bytes> = names.iter().filter(|n| completions.commands.remove(*n).is_none()).collect();
    for name in &missing {
        session.builtin_error(b"complete", [name, b": no completion specification".as_slice()].concat());
    }
    i32::from(!missing.is_empty())
}

fn show(session: &mut Session, names: &[Bytes], targets: &Targets) -> i32 {
    let completions: Rc<Completions> = session.builtin_state.completions.clone();
    let all = names.is_empty() && !targets.any();
    let mut status = 0;
    for (wanted, slot, flag) in [
        (targets.default, &completions.default, b"-D".as_slice()),
        (targets.empty, &completions.empty, b"-E"),
        (targets.initial, &completions.initial, b"-I"),
    ] {
        if let Some(specification) = slot.as_ref().filter(|_| wanted || all) {
            session.write_out(&line(specification, flag));
        }
    }
    for (name, specification) in completions.commands.iter().filter(|_| all) {
        session.write_out(&line(specification, name));
    }
    for name in names {
        match completions.commands.get(name) {
            Some(specification) => session.write_out(&line(specification, name)),
            None => {
                session
                    .builtin_error(b"complete", [name, b": no completion specification".as_slice()].concat());
                status = 1;
            }
        }
    }
    status
}

/// The command that would make the specification.
fn line(specification: &Specification, name: &[u8]) -> Bytes {
    let mut out = b"complete".to_vec();
    for option in OPTIONS.iter().filter(|o| specification.options.contains(o)) {
        out.extend_from_slice(format!(" -o {option}").as_bytes());
    }
    for (action, letter) in ACTIONS.iter().filter(|(a, l)| *l != 0 && specification.actions.contains(a)) {
        let _ = action;
        out.extend_from_slice(&[b' ', b'-', *letter]);
    }
    for (action, _) in ACTIONS.iter().filter(|(a, l)| *l == 0 && specification.actions.contains(a)) {
        out.extend_from_slice(format!(" -A {action}").as_bytes());
    }
    for (flag, value) in [
        (b'G', &specification.glob),
        (b'W', &specification.words),
        (b'P', &specification.prefix),
        (b'S', &specification.suffix),
        (b'X', &specification.filter),
        (b'C', &specification.command),
    ] {
        if let Some(value) = value {
            out.extend_from_slice(&[b' ', b'-', flag, b' ']);
            out.extend(quote::single_quote(value));
        }
    }
    if let Some(function) = &specification.function {
        out.extend_from_slice(b" -F ");
        out.extend_from_slice(function);
    }
    out.push(b' ');
    out.extend_from_slice(if name.is_empty() { b"''" } else { name });
    out.push(b'\n');
    out
}

/// `compopt [-o|+o option] [-DEI] [name ...]`
pub(in crate::builtins) fn run_compopt(session: &mut Session, args: &[Bytes]) -> Outcome {
    let mut changes = Vec::new();
    let mut targets = Targets::default();
    let mut options = OptionReader::with_plus(args, "o:DEI");
    loop {
        match options.next(session) {
            Ok(None) => break,
            Ok(Some(found)) => match found.letter {
                b'D' => targets.default = true,
                b'E' => targets.empty = true,
                b'I' => targets.initial = true,
                _ => match OPTIONS.iter().find(|o| o.as_bytes() == found.value) {
                    Some(option) => changes.push((*option, !found.plus)),
                    None => {
                        session.builtin_error(b"compopt", [found.value, b": invalid option name"].concat());
                        return Ok(2);
                    }
                },
            },
            Err(status) => return Ok(status),
        }
    }
    let names = options.operands();
    if names.is_empty()
        && !targets.any()
        && let Some(options) = &mut session.builtin_state.completing
    {
        let mut specification =
            Specification { options: std::mem::take(options), ..Specification::default() };
        change_options(&mut specification, &changes);
        *options = specification.options;
        return Ok(0);
    }
    if names.is_empty() && !targets.any() {
        session.builtin_error(b"compopt", "not currently executing completion function");
        return Ok(1);
    }
    if changes.is_empty() {
        return Ok(show_options(session, names, &targets));
    }
    let mut status = 0;
    let completions = Rc::make_mut(&mut session.builtin_state.completions);
    let mut missing = Vec::new();
    let special = [
        (targets.default, &mut completions.default, "_DefaultCmD_"),
        (targets.empty, &mut completions.empty, "_EmptycmD_"),
        (targets.initial, &mut completions.initial, "_InitialWorD_"),
    ];
    for (_, slot, name) in special.into_iter().filter(|(wanted, ..)| *wanted) {
        match slot {
            Some(specification) => change_options(specification, &changes),
            None => missing.push(name.into()),
        }
    }
    for name in names.iter().filter(|_| !targets.any()) {
        match completions.commands.get_mut(name) {
            Some(specification) => change_options(specification, &changes),
            None => missing.push(name.clone()),
        }
    }
    for name in missing {
        session.builtin_error(b"compopt", [name.as_slice(), b": no completion specification"].concat());
        status = 1;
    }
    Ok(status)
}

/// `compopt` without an option: what is on and off.
fn show_options(session: &mut Session, names: &[Bytes], targets: &Targets) -> i32 {
    let completions = session.builtin_state.completions.clone();
    let special = [
        (targets.default, &completions.default, "-D", "_DefaultCmD_"),
        (targets.empty, &completions.empty, "-E", "_EmptycmD_"),
        (targets.initial, &completions.initial, "-I", "_InitialWorD_"),
    ];
    let special = special.iter().filter(|(wanted, ..)| *wanted);
    let special = special.map(|(_, slot, flag, name)| ((**slot).as_ref(), flag.as_bytes(), name.as_bytes()));
    let named = names.iter().filter(|_| !targets.any());
    let named = named.map(|name| (completions.commands.get(name), &name[..], &name[..]));
    let mut status = 0;
    for (specification, shown, name) in special.chain(named) {
        let Some(specification) = specification else {
            session.builtin_error(b"compopt", [name, b": no completion specification"].concat());
            status = 1;
            continue;
        };
        let mut line = b"compopt".to_vec();
        for option in OPTIONS {
            let sign = if specification.options.contains(option) { '-' } else { '+' };
            line.extend_from_slice(format!(" {sign}o {option}").as_bytes());
        }
        session.write_out(&[&line[..], b" ", shown, b"\n"].concat());
    }
    status
}

fn change_options(specification: &mut Specification, changes: &[(&'static str, bool)]) {
    for (option, on) in changes {
        specification.options.retain(|o| o != option);
        if *on {
            specification.options.push(option);
        }
    }
}
