//! `awk`: the language of POSIX with `gensub`, `nextfile`, `delete array`, `length(array)`, `**`, `fflush` and `systime`. Options: `-f -F -v`.
//!
//! Which awk is installed differs between machines (mawk, gawk, the one true awk), so this runs what they agree on, and POSIX where one
//! of them is older (intervals, characters of UTF-8). `for (key in array)` goes through the keys in the
//! order in which they came. Pipes, other options, and whatever awks read in different ways are left to the program.
//!
//! `lexer.rs` and `parser.rs` read programs into a `tree.rs`; `kinds.rs` says which names are arrays; `compile.rs` makes the instructions of
//! `code.rs`, which `run.rs` runs (`drive.rs`: over all input; `variables.rs`, `streams.rs`, `builtins.rs`: what instructions do) over the records
//! of `input.rs` and `record.rs`.

mod builtins;
mod code;
mod compile;
mod drive;
mod format;
mod input;
mod kinds;
mod lexer;
mod operands;
mod output;
mod parser;
mod record;
mod run;
mod streams;
mod tree;
mod value;
mod variables;

use std::io;

use run::{Machine, Stop};

use crate::options::parse_until_operand;
use crate::{Context, Outcome};

pub(crate) fn run(context: &mut Context<'_>) -> io::Result<Outcome> {
    let Some(parsed) = parse_until_operand(context.args, "F:f:v:", &[]) else {
        return Ok(Outcome::Fallthrough);
    };
    let mut operands = parsed.operands.as_slice();
    let mut text = Vec::new();
    let files: Vec<&[u8]> =
        parsed.given.iter().filter(|(letter, _)| *letter == b'f').map(|(_, value)| *value).collect();
    if files.is_empty() {
        let [program, rest @ ..] = operands else { return Ok(Outcome::Fallthrough) };
        text.extend_from_slice(program);
        operands = rest;
    }
    for file in files {
        let from_input = matches!(file, b"-" | b"/dev/stdin" | b"");
        let read = std::fs::read(context.path(file)).ok().filter(|_| !from_input);
        let Some(read) = read else { return Ok(Outcome::Fallthrough) };
        text.extend_from_slice(&read);
        text.push(b'\n');
    }
    if !can_be_read(context, operands) || memchr::memmem::find(&text, b"/dev/fd").is_some() {
        return Ok(Outcome::Fallthrough);
    }
    let utf8 = context.is_utf8();
    let program = lexer::tokens(&text).and_then(|tokens| parser::parse(&tokens));
    let Some(code) = program.and_then(|program| compile::compile(&program, utf8)) else {
        return Ok(Outcome::Fallthrough);
    };
    let given: Vec<(u8, &[u8])> = parsed.given.clone();
    // `-Ft` is a tab, or that letter.
    let is_plain = |(letter, value): &(u8, &[u8])| match letter {
        b'v' => assignment(value).is_some(),
        // What is escaped without need is told of by some awks.
        b'F' => *value != b"t" && !has_odd_escape(value),
        _ => true,
    };
    if !given.iter().all(is_plain) {
        return Ok(Outcome::Fallthrough);
    }
    let mut machine = Machine::new(context, code, operands, utf8);
    for (letter, value) in given {
        let set = match letter {
            b'F' => machine.set_by_name("FS", value),
            b'v' => assignment(value).map_or(Ok(()), |(name, text)| machine.set_by_name(name, text)),
            _ => Ok(()),
        };
        match set {
            Ok(()) => {}
            Err(Stop::Output(error)) => return Err(error),
            // The program has its own words for it.
            Err(_) => return Ok(Outcome::Fallthrough),
        }
    }
    machine.all()
}

/// Whether every file of the command line is there: what awks do about others differs.
fn can_be_read(context: &Context<'_>, operands: &[&[u8]]) -> bool {
    operands.iter().filter(|word| !word.is_empty() && **word != b"-").all(|word| {
        if let Some((_, text)) = assignment(word) {
            return !text.contains(&b'\\') || lexer::escape(text, &mut Vec::new()).is_some();
        }
        let path = context.path(word);
        // Only a regular file can be opened without being read.
        std::fs::metadata(&path)
            .is_ok_and(|data| !data.is_dir() && (!data.is_file() || std::fs::File::open(&path).is_ok()))
    })
}

/// The name and the text of `name=text`.
fn assignment(word: &[u8]) -> Option<(&str, &[u8])> {
    let equals = memchr::memchr(b'=', word)?;
    let name = word.get(..equals)?;
    let first = *name.first()?;
    let is_name = (first.is_ascii_alphabetic() || first == b'_')
        && name.iter().all(|c| c.is_ascii_alphanumeric() || *c == b'_');
    Some((std::str::from_utf8(name).ok().filter(|_| is_name)?, word.get(equals + 1..)?))
}

/// The characters of a text; a byte that is part of none is one.
fn characters(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = *rest.first()?;
        let width = match first {
            0xc2..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xf4 => 4,
            _ => 1,
        };
        let length = match rest.get(..width) {
            Some(bytes) if std::str::from_utf8(bytes).is_ok() => width,
            _ => 1,
        };
        let (character, behind) = rest.split_at(length);
        rest = behind;
        Some(character)
    })
}

/// How many characters a text has.
fn count(text: &[u8], utf8: bool) -> usize {
    if !utf8 || text.is_ascii() { text.len() } else { characters(text).count() }
}

/// How many bytes so many characters take.
fn bytes_of(text: &[u8], count: usize, utf8: bool) -> usize {
    if !utf8 || text.is_ascii() {
        return count.min(text.len());
    }
    characters(text).take(count).map(<[u8]>::len).sum()
}

/// Whether a backslash stands before something that needs none.
fn has_odd_escape(text: &[u8]) -> bool {
    let mut bytes = text.iter();
    while let Some(byte) = bytes.next() {
        if *byte == b'\\' && bytes.next().is_some_and(|next| !b"\\/\"abfnrtv01234567".contains(next)) {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::{assignment, characters, compile, lexer, parser};

    fn is_run_here(program: &str) -> bool {
        let tokens = lexer::tokens(program.as_bytes());
        tokens
            .and_then(|tokens| parser::parse(&tokens))
            .and_then(|program| compile::compile(&program, true))
            .is_some()
    }

    #[test]
    fn what_awks_do_differently_is_left_to_the_program() {
        for program in [
            r#"BEGIN{"date" | getline x}"#,
            r#"BEGIN{print 1 | "cat"}"#,
            r#"BEGIN{print "a\qb", "\/"}"#,
            "! $1 ~ /x/",
            "BEGIN{print strftime()}",
            "{print",
            "BEGIN{print 1 < 2 < 3}",
            "BEGIN{getline x < \"a\" \"b\"}",
            "BEGIN{f(1)}",
            "function f(a){a[1]=1} BEGIN{f(1)}",
            "BEGIN{a=1; a[1]=2}",
            "function NR(a){} BEGIN{}",
            "function f(a){} BEGIN{f=1}",
            "BEGIN{break}",
            "BEGIN{return}",
            "BEGIN{print 0x10}",
            "/[/]/",
            "/(/",
            "BEGIN{split(\"a\", a[1])}",
            "BEGIN",
            "@include \"x\"",
            "{switch(x){case 1: print}}",
        ] {
            assert!(!is_run_here(program), "{program}");
        }
        assert!(!is_run_here(&format!("BEGIN{{print {}1{}}}", "(".repeat(100_000), ")".repeat(100_000))));
        assert!(!is_run_here(&format!("BEGIN{{print {}1}}", "-".repeat(100_001))));
        assert!(is_run_here(&format!("BEGIN{{print 1{}}}", "+1".repeat(999))));
        assert!(!is_run_here(&format!("BEGIN{{print 1{}}}", "+1".repeat(100_000))));
        assert!(is_run_here(
            "function f(a, b) { b[1] = a; return g(b) } function g(c) { return c[1] } BEGIN { print f(2) }"
        ));
    }

    #[test]
    fn texts_are_made_of_characters_and_single_bytes() {
        let parts: Vec<&[u8]> = characters("aé€".as_bytes()).chain(characters(b"\xff\xc3(")).collect();
        assert_eq!(parts, [b"a".as_slice(), "é".as_bytes(), "€".as_bytes(), b"\xff", b"\xc3", b"("]);
        assert_eq!(assignment(b"a_1=b=c"), Some(("a_1", b"b=c".as_slice())));
        assert!(
            assignment(b"1a=b").is_none() && assignment(b"=").is_none() && assignment(b"./a=b").is_none()
        );
    }
}
