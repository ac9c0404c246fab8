//! The shell: any bytes must parse to an answer, and random scripts must do what bash does.
//!
//! The generated scripts use only builtins and filters that read their input; nothing in them can remove or overwrite a file, whatever a
//! wrong expansion makes of it.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use rush::Session;
use rush::syntax::{Context, Input, Parser};

use super::Failure;
use crate::random::Random;

/// Texts that one round parses.
const PARSES: usize = 5000;
/// Scripts that one round compares; each costs two process starts.
const SCRIPTS: usize = 100;

/// Random pieces of the grammar in random order: a tree or a syntax error, and no panic.
pub(super) fn parse(random: &mut Random) -> Result<u64, Failure> {
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

/// Writes scripts whose every part is defined behaviour of bash.
struct Script<'a> {
    random: &'a mut Random,
    depth: usize,
}

impl Script<'_> {
    fn program(&mut self) -> String {
        let mut text = String::from(
            "a=1 b='x y' c= d=-3; arr=(one 'two three' four); declare -A map=([k]=v ['q r']=s); f() { echo \"f:$#:$1\"; return 3; }\n",
        );
        for _ in 0..1 + self.random.below(6) {
            text.push_str(&self.statement());
            text.push('\n');
        }
        text.push_str("echo \"end $? $a $b $c $d ${arr[*]}\"\n");
        text
    }

    fn statement(&mut self) -> String {
        if self.depth >= 4 {
            return self.simple();
        }
        self.depth += 1;
        let text = match self.random.below(20) {
            0 => format!("if {}; then {}; else {}; fi", self.condition(), self.statement(), self.statement()),
            1 => format!("for i in {} {}; do {}; echo $i; done", self.word(), self.word(), self.statement()),
            2 => format!("for ((j=0; j<3; j++)); do {}; done", self.statement()),
            3 => format!(
                "n=0; while (( n++ < 2 )); do {}; {}; done",
                self.statement(),
                self.random.pick(&[":", "continue", "break", "true"])
            ),
            4 => format!(
                "case {} in {}) {};; {}|{}) {};; *) {};; esac",
                self.word(),
                self.pattern(),
                self.statement(),
                self.pattern(),
                self.pattern(),
                self.statement(),
                self.statement()
            ),
            5 => format!("( {}; {} )", self.statement(), self.statement()),
            6 => format!("{{ {}; {}; }}", self.statement(), self.statement()),
            7 => format!("{} && {} || {}", self.condition(), self.simple(), self.simple()),
            8 => format!("{} | {}", self.simple(), self.filter()),
            9 => format!("! {}", self.simple()),
            10 => format!(
                "g() {{ local a={}; {}; return {}; }}; g {}",
                self.word(),
                self.statement(),
                self.random.below(4),
                self.word()
            ),
            11 => format!("cat <<END\n{} {}\nEND", self.expansion(), self.expansion()),
            12 => format!("cat <<< {}", self.word()),
            13 => format!("while read -r x y; do echo \"[$x][$y]\"; done <<< {}", self.word()),
            14 => {
                format!("set -- {} {} {}; echo \"$#\" \"$@\" \"$*\"", self.word(), self.word(), self.word())
            }
            15 => format!(
                "IFS={}; echo {} \"${{arr[*]}}\"; unset IFS",
                self.random.pick(&[":", "' '", "x", "' x'", ""]),
                self.expansion()
            ),
            _ => self.simple(),
        };
        self.depth -= 1;
        text
    }

    fn simple(&mut self) -> String {
        match self.random.below(14) {
            0..=3 => format!("echo {} {}", self.word(), self.word()),
            4 => format!(
                "printf '%s|%5d|%-4s|%q\\n' {} {} {} {}",
                self.word(),
                self.random.below(99),
                self.word(),
                self.word()
            ),
            5 => format!("{}={}", self.name(), self.word()),
            6 => format!("{}+={}", self.name(), self.word()),
            7 => format!("arr[{}]={}", self.random.below(4), self.word()),
            8 => format!("arr+=({} {})", self.word(), self.word()),
            9 => format!(
                "(( {} {} {} ))",
                self.name(),
                self.random.pick(&["=", "+=", "-=", "*=", "|="]),
                self.arithmetic()
            ),
            10 => format!("f {} {}", self.word(), self.word()),
            11 => format!("map[{}]={}; echo ${{#map[@]}}", self.name(), self.word()),
            12 => format!("unset {}", self.random.pick(&["c", "arr[1]", "d", "nothing"])),
            _ => format!("let {}={}", self.name(), self.random.below(9)),
        }
    }

    fn condition(&mut self) -> String {
        match self.random.below(9) {
            0 => format!("[[ {} == {} ]]", self.word(), self.pattern()),
            1 => format!("[[ -n {} && {} < {} ]]", self.word(), self.word(), self.word()),
            2 => format!("[ {} = {} ]", self.quoted(), self.quoted()),
            3 => format!("(( {} ))", self.arithmetic()),
            4 => format!("[[ {} =~ ^[a-z]*([0-9]+) ]]", self.word()),
            5 => format!("test -z {}", self.quoted()),
            6 => format!(
                "[[ {} -{} {} ]]",
                self.random.below(5),
                self.random.pick(&["eq", "ne", "lt", "ge"]),
                self.random.below(5)
            ),
            7 => "false".to_string(),
            _ => "true".to_string(),
        }
    }

    fn filter(&mut self) -> &'static str {
        self.random.pick(&[
            "cat",
            "tr a-z A-Z",
            "while read -r l; do echo \"<$l>\"; done",
            "sort",
            "wc -l",
            "{ read -r l; echo \"$l\"; }",
            "cut -c1-3",
            "cat | cat",
        ])
    }

    fn name(&mut self) -> &'static str {
        self.random.pick(&["a", "b", "c", "d", "e"])
    }

    fn word(&mut self) -> String {
        let mut text = String::new();
        for _ in 0..1 + self.random.below(3) {
            let piece = match self.random.below(8) {
                0..=2 => self.random.pick(&["x", "ab", "10", "-", "a.b", "hello", "z9", "0"]).to_string(),
                3 => self.quoted(),
                4 => format!("'{}'", self.random.pick(&["q s", "*", "$a", "\\n", ""])),
                5 => self.random.pick(&["{a,b}", "{1..3}", "{x,}y", "a{b,c{d,e}}"]).to_string(),
                6 => self.random.pick(&["\\*", "\\$", "$'t\\tb'", "\\ "]).to_string(),
                _ => self.expansion(),
            };
            text.push_str(&piece);
        }
        text
    }

    fn quoted(&mut self) -> String {
        format!("\"{}{}\"", self.random.pick(&["", "p ", "-"]), self.expansion())
    }

    fn pattern(&mut self) -> &'static str {
        self.random.pick(&[
            "x*",
            "?b",
            "[a-h]*",
            "*",
            "\"x y\"",
            "1?",
            "$b",
            "[!x]*",
            "*[[:digit:]]",
            "a\\*",
            "''",
        ])
    }

    fn expansion(&mut self) -> String {
        let name = self.name();
        if self.depth > 6 {
            return format!("${name}");
        }
        self.depth += 1;
        let text = match self.random.below(24) {
            0..=3 => format!("${name}"),
            4 => format!("${{{name}:-{}}}", self.word()),
            5 => format!("${{{name}:+{}}}", self.word()),
            6 => format!("${{{name}#{}}}", self.pattern()),
            7 => format!("${{{name}%%{}}}", self.pattern()),
            8 => format!(
                "${{{name}/{}/{}}}",
                self.random.pick(&["x", "y", "?", "#x", "%y", "[0-9]"]),
                self.random.pick(&["R", "", "&", "a b"])
            ),
            9 => format!("${{{name}//{}/_}}", self.random.pick(&["x", " ", "?", "[a-z]"])),
            10 => format!("${{#{name}}}"),
            11 => format!("${{{name}:{}:{}}}", self.random.below(3), self.random.below(3)),
            12 => format!("${{{name}{}}}", self.random.pick(&["^", "^^", ",", ",,", "@Q", "@U"])),
            13 => format!("$(({}))", self.arithmetic()),
            14 => format!("$({})", self.simple()),
            15 => format!("${{arr[{}]}}", self.random.below(4)),
            16 => self
                .random
                .pick(&[
                    "${arr[@]}",
                    "${arr[*]}",
                    "${#arr[@]}",
                    "${arr[@]:1:2}",
                    "${!arr[@]}",
                    "${arr[@]/o/0}",
                    "${arr[-1]}",
                ])
                .to_string(),
            17 => self.random.pick(&["$#", "$?", "$*", "$@", "$1", "${1-none}"]).to_string(),
            18 => {
                self.random.pick(&["${map[k]}", "${map['q r']}", "${#map[@]}", "${map[none]-no}"]).to_string()
            }
            19 => format!("${{{name}:={}}}", self.random.below(9)),
            _ => format!("\"${name}\""),
        };
        self.depth -= 1;
        text
    }

    fn arithmetic(&mut self) -> String {
        if self.depth > 5 {
            return self.random.below(20).to_string();
        }
        self.depth += 1;
        let text = match self.random.below(9) {
            0..=2 => self.random.below(100).to_string(),
            3 => self.random.pick(&["a", "d", "e", "0x1f", "017", "2#101"]).to_string(),
            4 => format!(
                "({} {} {})",
                self.arithmetic(),
                self.random.pick(&["+", "-", "*", "<<", "&", "^", "|", "<", ">=", "==", "&&", "||", ","]),
                self.arithmetic()
            ),
            5 => format!("{} ? {} : {}", self.arithmetic(), self.arithmetic(), self.arithmetic()),
            6 => format!(
                "{}{}",
                self.random.pick(&["-", "!", "~", "+"]),
                self.arithmetic().trim_start_matches(['-', '+'])
            ),
            7 => format!(
                "{} {} {}",
                self.arithmetic(),
                self.random.pick(&["/", "%"]),
                1 + self.random.below(9)
            ),
            _ => format!("{} ** {}", self.random.below(9), self.random.below(5)),
        };
        self.depth -= 1;
        text
    }
}

/// Output and status of one shell.
fn run(shell: &PathBuf, script: &str) -> Result<(Vec<u8>, Option<i32>), Failure> {
    let output = Command::new(shell)
        .args(["-c", script, "fuzz"])
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("LC_ALL", "C")
        .current_dir("/")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    let output = output.map_err(|error| Failure::Absent(format!("{}: {error}", shell.display())))?;
    Ok((output.stdout, output.status.code()))
}

/// Random scripts through bash and through the rush beside this program (or the one that RUSH names).
pub(super) fn against_bash(random: &mut Random) -> Result<u64, Failure> {
    let ours = match std::env::var_os("RUSH") {
        Some(path) => PathBuf::from(path),
        None => std::env::current_exe().unwrap_or_default().with_file_name("rush"),
    };
    if !ours.is_file() {
        return Err(Failure::Absent(format!(
            "{} is not built: cargo build --release -p pithos-rush-cli",
            ours.display()
        )));
    }
    let mut differences = String::new();
    for _ in 0..SCRIPTS {
        let script = Script { random: &mut *random, depth: 0 }.program();
        let theirs = run(&PathBuf::from("bash"), &script)?;
        let mine = run(&ours, &script)?;
        if theirs != mine {
            let shown = |(output, status): &(Vec<u8>, Option<i32>)| {
                format!("{status:?} {:?}", String::from_utf8_lossy(output))
            };
            differences.push_str(&format!(
                "{script}--- rush {}\n--- bash {}\n\n",
                shown(&mine),
                shown(&theirs)
            ));
        }
    }
    if differences.is_empty() { Ok(SCRIPTS as u64) } else { Err(Failure::Found(differences)) }
}
