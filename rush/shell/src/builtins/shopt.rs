//! `shopt`: the shell's own options, and with `-o` those of `set -o`.

use super::options::OptionReader;
use crate::state::options::{SetOption, Shopt};
use crate::{Bytes, Outcome, Session};

#[derive(Default)]
struct Flags {
    set: bool,
    unset: bool,
    quiet: bool,
    reusable: bool,
    set_options: bool,
}

/// `shopt [-pqsu] [-o] [optname ...]`
pub(super) fn run(session: &mut Session, args: &[Bytes]) -> Outcome {
    let mut flags = Flags::default();
    let mut options = OptionReader::new(args, "psuoq");
    loop {
        match options.next(session) {
            Ok(None) => break,
            Ok(Some(found)) => match found.letter {
                b'p' => flags.reusable = true,
                b's' => flags.set = true,
                b'u' => flags.unset = true,
                b'o' => flags.set_options = true,
                _ => flags.quiet = true,
            },
            Err(status) => return Ok(status),
        }
    }
    if flags.set && flags.unset {
        session.builtin_error(b"shopt", "cannot set and unset shell options simultaneously");
        return Ok(1);
    }
    let names = options.operands();
    if names.is_empty() {
        return Ok(list(session, &flags));
    }
    let mut status = 0;
    for name in names {
        let found = if flags.set_options {
            one_set_option(session, name, &flags)
        } else {
            one_shopt(session, name, &flags)
        };
        match found {
            None => {
                let kind =
                    if flags.set_options { "invalid option name" } else { "invalid shell option name" };
                session.builtin_error(b"shopt", [name, b": ".as_slice(), kind.as_bytes()].concat());
                status = 1;
            }
            Some(on) if !flags.set && !flags.unset && !on => status = 1,
            Some(_) => {}
        }
    }
    Ok(status)
}

fn wanted(on: bool, flags: &Flags) -> bool {
    (!flags.set && !flags.unset) || on == flags.set
}

fn list(session: &mut Session, flags: &Flags) -> i32 {
    if flags.quiet {
        return 0;
    }
    if flags.set_options {
        for &option in SetOption::ALL {
            let on = session.is(option);
            if wanted(on, flags) && !option.is_own() {
                show(session, option.name(), on, flags);
            }
        }
        return 0;
    }
    let mut all = Shopt::ALL.to_vec();
    // bash's table is sorted but for its first row.
    all.sort_by_key(|o| (*o != Shopt::Autocd, o.name()));
    for option in all {
        let on = session.shopt(option);
        if wanted(on, flags) {
            show(session, option.name(), on, flags);
        }
    }
    0
}

fn show(session: &mut Session, name: &str, on: bool, flags: &Flags) {
    let line = match (flags.reusable, flags.set_options) {
        (true, true) => format!("set {}o {name}\n", if on { '-' } else { '+' }),
        (true, false) => format!("shopt -{} {name}\n", if on { 's' } else { 'u' }),
        _ => format!("{name:<15}\t{}\n", if on { "on" } else { "off" }),
    };
    session.write_out(line.as_bytes());
}

/// Sets, clears or shows one option; the result is whether it is on afterwards.
fn one_shopt(session: &mut Session, name: &[u8], flags: &Flags) -> Option<bool> {
    let option = Shopt::from_name(name)?;
    if option == Shopt::RestrictedShell && (flags.set || flags.unset) {
        // Only how the shell was started, or `set -r`, decides.
    } else if flags.set || flags.unset {
        session.options.put_shopt(option, flags.set);
    } else if !flags.quiet {
        let on = session.shopt(option);
        show(session, option.name(), on, flags);
    }
    Some(session.shopt(option))
}

fn one_set_option(session: &mut Session, name: &[u8], flags: &Flags) -> Option<bool> {
    let option = SetOption::from_name(name)?;
    if flags.set || flags.unset {
        session.change_option(option, flags.set);
    } else if !flags.quiet {
        let on = session.is(option);
        show(session, option.name(), on, flags);
    }
    Some(session.is(option))
}
