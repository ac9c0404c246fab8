//! Words, expansions, patterns and arithmetic of the random scripts.

use super::script::Script;

/// Nesting of expansions in one word.
const EXPANSION_DEPTH: usize = 6;
/// Nesting of arithmetic.
const ARITHMETIC_DEPTH: usize = 5;

impl Script<'_> {
    pub(super) fn name(&mut self) -> &'static str {
        self.random.pick(&["a", "b", "c", "d", "e"])
    }

    pub(super) fn word(&mut self) -> String {
        let mut text = String::new();
        for _ in 0..1 + self.random.below(3) {
            let piece = match self.random.below(10) {
                0..=2 => self.random.pick(&["x", "ab", "10", "-", "a.b", "hello", "z9", "0"]).to_string(),
                3 => self.quoted(),
                4 => format!("'{}'", self.random.pick(&["q s", "*", "$a", "\\n", ""])),
                5 => self
                    .random
                    .pick(&["{a,b}", "{1..3}", "{x,}y", "a{b,c{d,e}}", "{a..e..2}", "{03..1}", "{a", "{}"])
                    .to_string(),
                6 => self.random.pick(&["\\*", "\\$", "$'t\\tb'", "\\ ", "$'\\x41\\'q'"]).to_string(),
                7 => self.random.pick(&["*", "?b", "[az]*", "sub/*", "~", "nothing*", "./*.b"]).to_string(),
                _ => self.expansion(),
            };
            text.push_str(&piece);
        }
        text
    }

    /// The word of `${x-word}`. Without quotes beside an expansion and without braces: inside double quotes bash removes
    /// such quotes before it reads names, and a brace inside `${ }` hides others (docs/differences-bash.md).
    fn operand(&mut self) -> String {
        match self.random.below(6) {
            0 => String::new(),
            1 => {
                self.random.pick(&["'q s'", "\"p q\"", "$'t\\tb'", "a\"b\"c", "\\*", "~", "a b"]).to_string()
            }
            2 | 3 => self.random.pick(&["x", "10", "a*", "-", "ab cd", "?b", "a:b"]).to_string(),
            _ => format!("{}{}", self.random.pick(&["", "x", "- "]), self.expansion()),
        }
    }

    /// A word that no pathname expansion changes.
    pub(super) fn quoted(&mut self) -> String {
        format!(
            "\"{}{}{}\"",
            self.random.pick(&["", "p ", "-"]),
            self.expansion(),
            self.random.pick(&["", "", " s", "\\\""])
        )
    }

    pub(super) fn pattern(&mut self) -> &'static str {
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
            "*\" \"*",
            "[[:alpha:]_]*",
            "\"$a\"*",
        ])
    }

    pub(super) fn expansion(&mut self) -> String {
        let name = self.name();
        if self.depth > EXPANSION_DEPTH {
            return format!("${name}");
        }
        self.depth += 1;
        let text = match self.random.below(30) {
            0..=3 => format!("${name}"),
            4 => format!("${{{name}{}{}}}", self.random.pick(&[":-", "-", ":+", "+"]), self.operand()),
            5 => format!("${{{name}{}{}}}", self.random.pick(&["#", "##", "%", "%%"]), self.pattern()),
            6 => format!(
                "${{{name}/{}/{}}}",
                self.random.pick(&["x", "y", "?", "#x", "%y", "[0-9]", "#", "%"]),
                self.random.pick(&["R", "", "&", "a b", "\\&", "$c"])
            ),
            7 => format!("${{{name}//{}/_}}", self.random.pick(&["x", " ", "?", "[a-z]", "*"])),
            8 => format!("${{#{name}}}"),
            9 => format!("${{{name}:{}:{}}}", self.arithmetic_small(), self.arithmetic_small()),
            10 => format!(
                "${{{name}{}}}",
                self.random.pick(&["^", "^^", ",", ",,", "@Q", "@U", "@L", "@u", "@a", "@A", "@E", "~~"])
            ),
            11 => format!("$(({}))", self.arithmetic()),
            12 => format!("$({})", self.simple()),
            13 => format!("`echo {}`", self.random.pick(&["x y", "$a", "\"$b\"", "\\$a", "*"])),
            14 => format!("${{arr[{}]}}", self.arithmetic_small()),
            15 | 16 => self.array_expansion().to_string(),
            17 | 18 => self
                .random
                .pick(&[
                    "$#",
                    "$?",
                    "$*",
                    "$@",
                    "$1",
                    "${1-none}",
                    "${@:1:2}",
                    "${*: -1}",
                    "${#@}",
                    "${@@Q}",
                    "$-",
                ])
                .to_string(),
            19 => self
                .random
                .pick(&[
                    "${map[k]}",
                    "${map['q r']}",
                    "${#map[@]}",
                    "${map[none]-no}",
                    "${map[$a]}",
                    "${map[@]@Q}",
                    "${!map[@]}",
                    "${map[*]}",
                ])
                .to_string(),
            20 => format!("${{{name}:={}}}", self.random.below(9)),
            21 => self
                .random
                .pick(&["${!ref}", "${!ref-none}", "${!ar*}", "${!a@}", "${!ref@Q}", "${!ref:1}"])
                .to_string(),
            22 => format!("$(cat <<< {})", self.quoted()),
            _ => format!("\"${name}\""),
        };
        self.depth -= 1;
        text
    }

    fn array_expansion(&mut self) -> &'static str {
        self.random.pick(&[
            "${arr[@]}",
            "${arr[*]}",
            "\"${arr[@]}\"",
            "${#arr[@]}",
            "${arr[@]:1:2}",
            "${arr[@]: -2}",
            "${!arr[@]}",
            "${arr[@]/o/0}",
            "${arr[@]#?}",
            "${arr[*]^}",
            "${arr[@]@Q}",
            "${arr[-1]}",
            "${#arr[1]}",
            "${arr[@]+set}",
            "${arr[9]:-none}",
            "${arr[@]@A}",
        ])
    }

    /// A small number, sometimes computed or negative.
    pub(super) fn arithmetic_small(&mut self) -> &'static str {
        self.random.pick(&["0", "1", "2", "3", "1+1", " -1", "a", "x=1", "${#c}", "d+4"])
    }

    pub(super) fn arithmetic(&mut self) -> String {
        if self.depth > ARITHMETIC_DEPTH {
            return self.random.below(20).to_string();
        }
        self.depth += 1;
        let text = match self.random.below(13) {
            0..=2 => self.random.below(100).to_string(),
            3 => self
                .random
                .pick(&["a", "d", "e", "0x1f", "017", "2#101", "36#z", "64#_", "arr[9]", "$a"])
                .to_string(),
            4 | 5 => format!(
                "({} {} {})",
                self.arithmetic(),
                self.random.pick(&[
                    "+", "-", "*", "<<", ">>", "&", "^", "|", "<", ">=", "!=", "==", "&&", "||", ","
                ]),
                self.arithmetic()
            ),
            6 => format!("{} ? {} : {}", self.arithmetic(), self.arithmetic(), self.arithmetic()),
            7 => format!(
                "{}{}",
                self.random.pick(&["-", "!", "~", "+"]),
                self.arithmetic().trim_start_matches(['-', '+'])
            ),
            8 => {
                format!(
                    "{} {} {}",
                    self.arithmetic(),
                    self.random.pick(&["/", "%"]),
                    1 + self.random.below(9)
                )
            }
            9 => self
                .random
                .pick(&["a++", "--d", "e++ + ++e", "d--", "arr[8]++", "(a+=2)", "(a=b=3)", "d/0"])
                .to_string(),
            10 => format!(
                "({} {} {})",
                self.name(),
                self.random.pick(&["=", "+=", "*=", "<<=", "|=", "%="]),
                1 + self.random.below(9)
            ),
            _ => format!("{} ** {}", self.random.below(9), self.random.below(5)),
        };
        self.depth -= 1;
        text
    }
}
