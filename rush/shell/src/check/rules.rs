//! The constructs that are not what they are in bash 5.2, one function for each kind of node.

use super::Kind;
use super::walk::Walk;
use crate::state::names::NameId;
use crate::syntax::ast::*;

/// A simple command, by its name and options.
pub(super) fn command(walk: &mut Walk<'_>, command: &SimpleCommand) {
    let words: Vec<&[u8]> =
        command.words.iter().map(|word| word.as_constant().unwrap_or(word.source())).collect();
    let prefixes = words.iter().take_while(|word| matches!(**word, b"command" | b"builtin")).count();
    let Some((name, arguments)) = words.get(prefixes..).and_then(|words| words.split_first()) else { return };
    let option = |letter: u8| {
        let options = arguments.iter().take_while(|word| word.starts_with(b"-") && word.len() > 1);
        options.into_iter().any(|word| !word.starts_with(b"--") && word.contains(&letter))
    };
    let names = |wanted: &[&[u8]]| arguments.iter().any(|word| wanted.contains(word));
    let only_options = arguments.iter().all(|word| word.starts_with(b"-"));
    match *name {
        b"enable" if option(b'f') || option(b'd') => {
            walk.tell(Kind::Missing, "loadable builtins (`enable -f`, `-d`)");
        }
        b"trap" if names(&[b"CHLD", b"SIGCHLD"]) => {
            walk.tell(
                Kind::Differs,
                "a trap of SIGCHLD runs between commands, not while a program is waited for",
            );
        }
        b"kill" if walk.subshells > 0 && names(&[b"$$", b"\"$$\""]) => {
            walk.tell(Kind::Differs, "`kill $$` in a subshell: the signal finds the traps of the subshell");
        }
        b"shopt" if option(b's') && names(&[b"failglob"]) => {
            walk.tell(
                Kind::Differs,
                "`failglob` fails at the first word without a match, before later words are expanded",
            );
        }
        b"shopt" if option(b's') && arguments.iter().any(|word| word.starts_with(b"compat")) => {
            compatibility(walk)
        }
        b"shopt" if names(&[b"array_expand_once"]) => {
            walk.tell(Kind::Newer, "the option `array_expand_once`");
        }
        b"local" if arguments.is_empty() => {
            walk.tell(Kind::Differs, "`local` without names prints assignments, not declarations");
        }
        b"declare" | b"typeset" if only_options && (option(b'i') || option(b'a') || option(b'A')) => {
            walk.tell(
                Kind::Differs,
                "the list of `declare -i`, `-a` and `-A` lacks bash's dynamic variables",
            );
        }
        b"help" => walk.tell(Kind::Differs, "`help` has words of its own"),
        b"source" | b"." if option(b'p') => walk.tell(Kind::Newer, "`source -p`"),
        b"read" if option(b'E') => walk.tell(Kind::Newer, "`read -E`"),
        b"compgen" if option(b'V') => walk.tell(Kind::Newer, "`compgen -V`"),
        _ => {}
    }
}

fn compatibility(walk: &mut Walk<'_>) {
    walk.tell(Kind::Differs, "compatibility levels of older releases change nothing");
}

/// An assignment, wherever it stands.
pub(super) fn assignment(walk: &mut Walk<'_>, assignment: &Assignment) {
    let AssignmentValue::Scalar(word) = &assignment.value else { return };
    let value = word.as_constant();
    match walk.name(assignment.id) {
        b"IFS" if word.source().iter().any(|byte| *byte >= 0x80) => {
            walk.tell(Kind::Differs, "a character of several bytes in IFS separates at each of its bytes");
        }
        b"LC_ALL" | b"LC_COLLATE" | b"LC_CTYPE" | b"LC_NUMERIC" | b"LC_TIME" | b"LANG"
            if value.is_some_and(|value| !is_known_locale(value)) =>
        {
            walk.tell(
                Kind::Differs,
                "of a locale only UTF-8 or bytes counts; order and numbers are those of C",
            );
        }
        b"BASH_COMPAT" if value != Some(b"") => compatibility(walk),
        b"TEXTDOMAIN" => walk.tell(Kind::Differs, "`$\"...\"` is not translated"),
        b"GLOBSORT" => walk.tell(Kind::Newer, "the order of GLOBSORT"),
        _ => {}
    }
}

/// Whether a locale is one that is treated as in bash.
fn is_known_locale(name: &[u8]) -> bool {
    let name = name.to_ascii_lowercase();
    matches!(&name[..], b"" | b"c" | b"posix" | b"c.utf-8" | b"c.utf8")
}

/// A variable that is expanded.
pub(super) fn variable(walk: &mut Walk<'_>, id: NameId) {
    if walk.name(id) == b"BASH_MONOSECONDS" {
        walk.tell(Kind::Newer, "the variable BASH_MONOSECONDS");
    }
}

/// A substitution of a command's output.
pub(super) fn substitution(walk: &mut Walk<'_>, substitution: &CommandSubstitution) {
    match substitution.kind {
        SubstitutionKind::Subshell => {}
        SubstitutionKind::Output => walk.tell(Kind::Newer, "`${ command; }`"),
        SubstitutionKind::Reply => walk.tell(Kind::Newer, "`${| command; }`"),
    }
}

/// A comparison in `[[ ]]`.
pub(super) fn comparison(walk: &mut Walk<'_>, operator: ConditionOperator, right: &Word) {
    if operator.text() != "=~" {
        return;
    }
    let source = right.source();
    let back = source.windows(2).any(|pair| pair[0] == b'\\' && matches!(pair[1], b'1'..=b'9'));
    if back {
        walk.tell(Kind::Differs, "regular expressions have no back-references");
    }
}
