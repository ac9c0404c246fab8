//! Random scripts whose every part is defined behaviour of bash: no order that is left open, no time, no process id.

use crate::random::Random;

/// Nesting of compound commands.
const STATEMENT_DEPTH: usize = 4;

/// What every script begins with; a loop that does not end is ended by the limit.
const PRELUDE: &str = "ulimit -t 5; a=1 b='x y' c= d=-3; arr=(one 'two three' four); declare -A map=([k]=v ['q r']=s); ref=b; \
f() { echo \"f:$#:$1\"; return 3; }\n";

/// Writes one script.
pub(super) struct Script<'a> {
    pub(super) random: &'a mut Random,
    pub(super) depth: usize,
}

/// A script.
pub(super) fn generate(random: &mut Random) -> String {
    let mut script = Script { random, depth: 0 };
    let mut text = String::from(PRELUDE);
    if script.random.chance(15) {
        text.push_str(script.option());
        text.push('\n');
    }
    for _ in 0..1 + script.random.below(6) {
        text.push_str(&script.statement());
        text.push('\n');
    }
    text.push_str("echo \"end $? $a $b $c $d ${arr[*]} ${PIPESTATUS[*]}\"\n");
    text
}

impl Script<'_> {
    fn option(&mut self) -> &'static str {
        self.random.pick(&[
            "set -u",
            "set -e",
            "set -f",
            "set -x",
            "set -o pipefail",
            "shopt -s nullglob",
            "shopt -s extglob",
            "shopt -s dotglob",
            "shopt -s nocasematch",
            "shopt -s globstar",
            "shopt -s lastpipe",
            "set -o posix",
            "set -e; trap 'echo \"err $?\"' ERR",
            "trap 'echo \"exit $?\"' EXIT",
            "set -E; trap 'echo \"err $? $LINENO\"' ERR",
            "set -T; trap 'echo ret' RETURN",
            "shopt -s failglob",
            "shopt -u patsub_replacement",
        ])
    }

    pub(super) fn statement(&mut self) -> String {
        if self.depth >= STATEMENT_DEPTH {
            return self.simple();
        }
        self.depth += 1;
        let text = match self.random.below(40) {
            0..=9 => self.compound(),
            10..=12 => self.function(),
            13..=15 => self.input(),
            16..=18 => self.redirection(),
            19 | 20 => self.pipeline(),
            21 => self.positional(),
            22 => self.attributes(),
            23 => self.trap(),
            24 => format!(
                "IFS={}; echo {} \"${{arr[*]}}\"; unset IFS",
                self.random.pick(&[":", "' '", "x", "' x'", "", "$' \\t'"]),
                self.expansion()
            ),
            25 => format!(
                "eval {}",
                self.random.pick(&[
                    "'echo $a'",
                    "\"a=\\$b\"",
                    "'echo \"$b\"' '; echo two'",
                    "'for q in 1 2; do echo $q; done'",
                    "'if'",
                    "''"
                ])
            ),
            26 => format!(
                "printf {} {} {}",
                self.random.pick(&[
                    "'%s\\n'",
                    "'%d %s|'",
                    "'%x:%o\\n'",
                    "'%5.2s|\\n'",
                    "'%b\\n'",
                    "'%q '",
                    "'%c%c\\n'",
                    "'%-6d|'",
                    "'%05d\\n'",
                    "'%+d %i\\n'",
                    "'\\x41\\101%%\\n'",
                    "-v e '%s'"
                ]),
                self.word(),
                self.word()
            ),
            27 => format!(
                "{} {}",
                self.random.pick(&["type -t", "command -v", "declare -F", "declare -f", "type"]),
                self.random.pick(&["f", "echo", "if", "nothing", "cd"])
            ),
            28 => format!("echo {} | {}", self.word(), self.filter()),
            _ => self.simple(),
        };
        self.depth -= 1;
        text
    }

    fn compound(&mut self) -> String {
        let level = self.depth;
        match self.random.below(13) {
            0 => format!(
                "if {}; then {}; elif {}; then {}; else {}; fi",
                self.condition(),
                self.statement(),
                self.condition(),
                self.simple(),
                self.statement()
            ),
            1 => format!("for i in {} {}; do {}; echo $i; done", self.word(), self.word(), self.statement()),
            2 => format!("for ((j=0; j<3; j++)); do {}; done", self.statement()),
            3 => format!(
                "n{level}=0; while (( n{level}++ < 2 )); do {}; {}; done",
                self.statement(),
                self.random.pick(&[":", "continue", "break", "true", "continue 2", "break 2"])
            ),
            4 => format!("n{level}=3; until (( n{level}-- <= 1 )); do {}; done", self.statement()),
            5 => {
                let ends = [";;", ";;", ";&", ";;&"];
                format!(
                    "case {} in {}) {}{} {}|{}) {}{} *) {};; esac",
                    self.word(),
                    self.pattern(),
                    self.statement(),
                    self.random.pick(&ends),
                    self.pattern(),
                    self.pattern(),
                    self.statement(),
                    self.random.pick(&ends),
                    self.statement()
                )
            }
            6 => format!("( {}; {} )", self.statement(), self.statement()),
            7 => format!("{{ {}; {}; }}", self.statement(), self.statement()),
            8 => format!("{} && {} || {}", self.condition(), self.simple(), self.simple()),
            9 => format!("! {}", self.simple()),
            10 => format!("{} || {}", self.simple(), self.statement()),
            11 => format!("for i; do echo \"[$i]\"; done; {}", self.simple()),
            _ => format!("( {}; exit {} ); echo $?", self.statement(), self.random.below(4)),
        }
    }

    fn function(&mut self) -> String {
        match self.random.below(7) {
            0 => format!(
                "g() {{ local a={}; {}; return {}; }}; g {}",
                self.word(),
                self.statement(),
                self.random.below(4),
                self.word()
            ),
            1 => format!(
                "g() {{ local -a arr; arr+=({}); echo \"${{#arr[@]}}:${{arr[@]}}\"; }}; g; echo \"${{arr[0]}}\"",
                self.word()
            ),
            2 => format!("g() {{ local -n r=$1; r={}; }}; g {}; echo \"$a|$b|$c\"", self.word(), self.name()),
            3 => format!("g() {{ (( $1 > 0 )) && {{ {}; g $(($1-1)); }}; }}; g 2", self.simple()),
            4 => format!(
                "g() {{ echo \"$FUNCNAME ${{#FUNCNAME[@]}}\"; shift; echo \"$#:$*\"; }}; {}=v g {} {}",
                self.name(),
                self.word(),
                self.word()
            ),
            5 => format!(
                "g() {{ unset {}; {}; }}; g; echo ${{{}-unset}}",
                self.name(),
                self.simple(),
                self.name()
            ),
            _ => format!("g() ( {}; a=sub; ); g; echo \"$a\"; unset -f g", self.simple()),
        }
    }

    fn input(&mut self) -> String {
        match self.random.below(12) {
            0 => format!("cat <<END\n{} {}\nEND", self.expansion(), self.expansion()),
            1 => format!("cat <<'END'\n{}\nEND", self.expansion()),
            2 => format!("cat <<-END | {}\n\t{}\n\t\\$x `echo y`\nEND", self.filter(), self.expansion()),
            3 => format!("cat <<< {}", self.word()),
            4 => format!("while read -r x y; do echo \"[$x][$y]\"; done <<< {}", self.word()),
            5 => format!(
                "IFS={} read -r -a arr <<< {}; echo \"${{#arr[@]}}: ${{arr[@]}}\"",
                self.random.pick(&[":", ".", "' '", "x"]),
                self.quoted()
            ),
            6 => format!(
                "read -d {} x <<< {}; echo \"$? $x\"",
                self.random.pick(&["x", "' '", "''", "y"]),
                self.quoted()
            ),
            7 => format!(
                "read -{} {} x <<< {}; echo \"$? $x\"",
                self.random.pick(&["n", "N"]),
                self.random.below(5),
                self.quoted()
            ),
            8 => format!(
                "mapfile {} lines <<< {}; echo \"${{#lines[@]}} ${{lines[@]@Q}}\"",
                self.random.pick(&["", "-t", "-n 1", "-s 1 -t", "-t -O 2"]),
                self.quoted()
            ),
            9 => "while read -r l; do echo \"<$l>\"; read -r l; done < ab".to_string(),
            10 => format!("{{ read -r x; cat; }} < z9; echo \"$x\" {}", self.word()),
            _ => format!("cat <(echo {}) - <<< two", self.word()),
        }
    }

    fn redirection(&mut self) -> String {
        match self.random.below(11) {
            0 => format!("{} > out; cat out", self.simple()),
            1 => format!("{{ {}; {}; }} > out 2>&1; wc -l < out", self.simple(), self.statement()),
            2 => format!("{} >> ab; tail -n 2 ab", self.simple()),
            3 => format!("exec 3> out; {} >&3; exec 3>&-; cat out", self.simple()),
            4 => format!("{} 2> /dev/null", self.statement()),
            5 => format!(
                "{} < {}",
                self.random.pick(&["cat", "read -r x", "wc -l"]),
                self.random.pick(&["ab", "\"x y\"", "missing", "sub/one"])
            ),
            6 => {
                format!("{} > {}", self.simple(), self.random.pick(&["sub", "missing/x", "\"$c\"", "out$a"]))
            }
            7 => format!("exec {{fd}}< z9; read -r x <&$fd; echo \"$x\"; exec {{fd}}<&-; {}", self.simple()),
            8 => format!("set -C; {} > ab; set +C", self.simple()),
            9 => format!("{} &> out; cat out", self.simple()),
            _ => format!("{{ {} >&2; }} 2>&1 | {}", self.simple(), self.filter()),
        }
    }

    fn pipeline(&mut self) -> String {
        match self.random.below(5) {
            0 => format!("{} | {}", self.simple(), self.filter()),
            1 => format!("{} | {} | {}", self.simple(), self.filter(), self.filter()),
            2 => format!(
                "{} | {}; echo \"${{PIPESTATUS[@]}}\"",
                self.simple(),
                self.random.pick(&["{ cat; true; }", "{ cat; exit 3; }", "{ cat; false; }", "{ cat; f x; }"])
            ),
            3 => format!("{} |& {}", self.simple(), self.filter()),
            _ => format!("{} | while read -r l; do {}; done", self.simple(), self.simple()),
        }
    }

    fn positional(&mut self) -> String {
        match self.random.below(4) {
            0 => format!("set -- {} {} {}; echo \"$#\" \"$@\" \"$*\"", self.word(), self.word(), self.word()),
            1 => format!("set -- {}; shift {}; echo \"$? $#\"", self.word(), self.random.below(3)),
            2 => format!(
                "OPTIND=1; while getopts {} o {}; do echo \"$o ${{OPTARG-none}}\"; done; echo $OPTIND",
                self.random.pick(&["ab:c", ":ab:", "x"]),
                self.random.pick(&["-a -b v -c", "-abv", "-b", "-z -a", "-- -a", "rest -a"])
            ),
            _ => format!(
                "set -- a 'b c'; for i in \"$@\" {}; do echo \"<$i>\"; done",
                self.random.pick(&["\"x$@y\"", "$*", "\"$*\"", "\"${@:2}\"", "$@$@"])
            ),
        }
    }

    fn attributes(&mut self) -> String {
        match self.random.below(9) {
            0 => format!(
                "declare -i num={}; num+=2; echo $num; declare -p num",
                self.random.pick(&["3", "a+1", "x", "0x10"])
            ),
            1 => format!(
                "declare -{} s={}; s+=Xy; echo \"$s\"",
                self.random.pick(&["u", "l", "c"]),
                self.quoted()
            ),
            2 => "declare -r ro=1; ro=2; echo \"ro $ro\"".to_string(),
            3 => format!("declare -p {}", self.random.pick(&["a", "arr", "map", "b", "none", "d"])),
            4 => format!(
                "export {}={}; printenv {}",
                self.random.pick(&["a", "e"]),
                self.word(),
                self.random.pick(&["a", "e"])
            ),
            5 => format!(
                "declare {}={} {}={}; echo \"$a $e\"",
                self.random.pick(&["a", "e"]),
                self.word(),
                self.name(),
                self.word()
            ),
            6 => format!("arr=({} [3]={} {}); declare -p arr", self.word(), self.word(), self.word()),
            7 => format!(
                "declare -A m2=({} {} [z]={}); echo \"${{m2[z]}} ${{#m2[@]}}\"",
                self.random.pick(&["", "[k1]=v"]),
                self.random.pick(&["", "[k2]=w"]),
                self.word()
            ),
            _ => format!(
                "readonly {}=q 2>&1; unset a 2>&1; echo \"${{a-gone}}\"",
                self.random.pick(&["zz", "a"])
            ),
        }
    }

    fn trap(&mut self) -> String {
        match self.random.below(5) {
            0 => {
                format!("trap '{}' EXIT", self.random.pick(&["echo bye $?", "echo $a", ":", "exit 4", "f x"]))
            }
            1 => format!("( trap 'echo sub' EXIT; {} )", self.simple()),
            2 => format!("trap 'echo usr' USR1; kill -USR1 $BASHPID; {}", self.simple()),
            3 => format!("trap 'echo err $?' ERR; {}; trap - ERR", self.statement()),
            _ => "trap 'echo one' INT; trap -p INT; trap - INT; trap -p INT".to_string(),
        }
    }

    pub(super) fn simple(&mut self) -> String {
        match self.random.below(20) {
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
            7 => format!("arr[{}]={}", self.arithmetic_small(), self.word()),
            8 => format!("arr+=({} {})", self.word(), self.word()),
            9 => format!(
                "(( {} {} {} ))",
                self.name(),
                self.random.pick(&["=", "+=", "-=", "*=", "|="]),
                self.arithmetic()
            ),
            10 => format!("f {} {}", self.word(), self.word()),
            11 => format!(
                "map[{}]={}; echo ${{#map[@]}}",
                self.random.pick(&["a", "$a", "'q r'", "\"$b\"", "k"]),
                self.word()
            ),
            12 => format!(
                "unset {}",
                self.random.pick(&["c", "arr[1]", "d", "nothing", "map[k]", "'arr[0]'", "arr", "-v b"])
            ),
            13 => format!("let {}={}", self.name(), self.random.below(9)),
            14 => format!(
                "echo {} {}",
                self.random.pick(&["-n", "-e 'a\\tb'", "-E 'a\\tb'", "-nn", "--"]),
                self.word()
            ),
            15 => format!(
                "{} echo {}",
                self.random.pick(&["command", "builtin", "a=9", "IFS=x", "LC_ALL=C"]),
                self.word()
            ),
            16 => self
                .random
                .pick(&[
                    "false",
                    "true",
                    ":",
                    "(exit 2)",
                    "nocommand",
                    "test",
                    "return",
                    "shift 9",
                    "cd sub",
                    "cd ..",
                    "pwd | tail -c 5",
                ])
                .to_string(),
            17 => format!("[[ {} ]]; echo $?", self.test()),
            18 => format!(
                "echo ${{{}{}}}",
                self.name(),
                self.random.pick(&["?gone", ":?", "?", ":?$a", "-", "@P", "@K", "@k", "[0]", "[@]", "[1]"])
            ),
            _ => format!("echo \"{}\" '{}'", self.expansion(), self.random.pick(&["x", "*", "$a"])),
        }
    }

    pub(super) fn condition(&mut self) -> String {
        match self.random.below(9) {
            0..=3 => format!("[[ {} ]]", self.test()),
            4 => format!(
                "[ {} {} {} ]",
                self.quoted(),
                self.random.pick(&["=", "!=", "<", "-eq", "-a"]),
                self.quoted()
            ),
            5 => format!("(( {} ))", self.arithmetic()),
            6 => format!("test {} {}", self.random.pick(&["-z", "-n", "-e", "-f", "!"]), self.quoted()),
            7 => "false".to_string(),
            _ => "true".to_string(),
        }
    }

    /// What stands between `[[` and `]]`.
    fn test(&mut self) -> String {
        match self.random.below(9) {
            0 => format!("{} {} {}", self.word(), self.random.pick(&["==", "=", "!="]), self.pattern()),
            1 => format!("-n {} && {} < {}", self.word(), self.word(), self.word()),
            2 => format!(
                "{} =~ {}",
                self.word(),
                self.random.pick(&[
                    "^[a-z]*([0-9]+)",
                    "x",
                    "(a|b)+$",
                    "\"$a\"",
                    "$b",
                    "^$",
                    "[[:space:]]",
                    "o{2}"
                ])
            ),
            3 => format!(
                "{} -{} {}",
                self.arithmetic_small().trim(),
                self.random.pick(&["eq", "ne", "lt", "ge"]),
                self.random.below(5)
            ),
            4 => format!(
                "-{} {}",
                self.random.pick(&["f", "d", "e", "s", "r", "L"]),
                self.random.pick(&["ab", "sub", "missing", "\"x y\"", "$b"])
            ),
            5 => format!("-v {}", self.random.pick(&["a", "none", "arr[1]", "map[k]", "arr[9]", "c"])),
            6 => format!("! {} || ( {} != {} )", self.quoted(), self.word(), self.pattern()),
            7 => format!("{} =~ (.)(.*) && ${{BASH_REMATCH[1]}} == x", self.word()),
            _ => self.word(),
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
            "grep -c .",
            "head -n 1",
            "sed s/x/y/",
            "(read x; echo \"$x\")",
        ])
    }
}
