//! The shell's parser: any bytes must parse to an answer.

use rush::Session;
use rush::syntax::{Context, Input, Parser};

use crate::random::Random;
use crate::targets::Failure;

/// Texts that one round parses.
const PARSES: usize = 5000;

/// Random pieces of the grammar in random order: a tree or a syntax error, and no panic.
pub(in crate::targets) fn parse(random: &mut Random) -> Result<u64, Failure> {
    const PIECES: &[&str] = &[
        "if",
        "then",
        "fi",
        "else",
        "elif",
        "for",
        "in",
        "do",
        "done",
        "while",
        "until",
        "case",
        "esac",
        "select",
        "function",
        "time",
        "coproc",
        "{",
        "}",
        "(",
        ")",
        "((",
        "))",
        "[[",
        "]]",
        ";",
        ";;",
        ";&",
        ";;&",
        "&",
        "&&",
        "||",
        "|",
        "|&",
        "!",
        "<",
        ">",
        ">>",
        "<<",
        "<<-",
        "<<<",
        "<&",
        ">&",
        "<>",
        ">|",
        "&>",
        "2>",
        "a",
        "b=1",
        "b+=(1 2)",
        "c[1]=x",
        "$a",
        "${a}",
        "${a:-b}",
        "${a",
        "$(",
        "$((",
        "`",
        "\"",
        "'",
        "$'",
        "$\"",
        "\\",
        "\n",
        " ",
        "#",
        "EOF",
        "<(",
        ">(",
        "*",
        "?",
        "[a-z]",
        "@(a|b)",
        "~",
        "{a,b}",
        "{1..3}",
        "=~",
        "==",
        "-f",
        "\u{e9}",
        "\0",
        "f()",
        "${!a}",
        "${a[@]}",
        "${#a}",
        "${a//x/y}",
        "${a@Q}",
        "$1",
        "$@",
        "$*",
        "$#",
        "$?",
        "in)",
    ];
    let mut session = Session::new(b"fuzz".to_vec());
    let aliases = Default::default();
    for _ in 0..PARSES {
        let mut text = String::new();
        for _ in 0..1 + random.below(30) {
            text.push_str(random.pick(PIECES));
            if random.chance(60) {
                text.push(' ');
            }
        }
        let mut input = Input::from_bytes(text.as_bytes(), 1);
        let context = Context {
            variables: &mut session.variables,
            aliases: Some(&aliases),
            extglob: random.chance(50),
            posix: random.chance(20),
        };
        let _ = Parser::new(&mut input, context).whole();
    }
    Ok(PARSES as u64)
}
