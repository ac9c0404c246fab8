//! How commands are shown: random commands as `declare -f` and as BASH_COMMAND print them, and what is told of programs that a signal ended, each
//! held against the installed bash 5.2.

use std::process::Command;

const RUSH: &str = env!("CARGO_BIN_EXE_rush");

fn bash_is_there() -> bool {
    let version = Command::new("bash").args(["-c", "echo ${BASH_VERSINFO[0]}.${BASH_VERSINFO[1]}"]).output();
    let there = version.is_ok_and(|output| output.stdout == b"5.2\n");
    if !there {
        pithos_skipped::test("bash 5.2 is not installed");
    }
    there
}

/// What a shell prints of a script, both streams; process ids and the shell's own name are the same words everywhere.
fn answer(shell: &str, script: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("script"), script).expect("a file");
    let output = Command::new("env")
        .args(["--default-signal", "sh", "-c", r#"ulimit -c 0; exec "$0" script 2>&1 </dev/null"#, shell])
        .env_clear()
        .envs([("PATH", "/usr/bin:/bin"), ("LC_ALL", "C.UTF-8")])
        .current_dir(folder.path())
        .output()
        .expect("sh starts");
    let name = folder.path().file_name().expect("a name").to_string_lossy().into_owned();
    String::from_utf8_lossy(&output.stdout).replace(&name, "FOLDER").lines().map(without_numbers).collect()
}

/// A line without what differs from run to run.
fn without_numbers(line: &str) -> String {
    let words: Vec<&str> = line.split(' ').collect();
    let is_process = |word: &&str| word.len() > 2 && word.bytes().all(|byte| byte.is_ascii_digit());
    let line: String =
        words.iter().map(|word| if is_process(word) { "N" } else { word }.to_string() + " ").collect();
    // The width of a process id is the machine's.
    let line = line.replace(":  N", ": N").replace(":   N", ": N");
    line + "\n"
}

/// Holds both shells' answers to a script against one another, line by line.
fn compare(script: &str) {
    let (ours, theirs) = (answer(RUSH, script), answer("bash", script));
    if ours != theirs {
        let at = ours.lines().zip(theirs.lines()).take_while(|(ours, theirs)| ours == theirs).count();
        let from =
            |text: &str| text.lines().skip(at.saturating_sub(3)).take(12).collect::<Vec<_>>().join("\n");
        panic!("line {at}:\n--- rush\n{}\n--- bash\n{}\n--- script\n{script}", from(&ours), from(&theirs));
    }
}

/// Random commands, of all kinds, as one writes them.
struct Words(u64);

impl Words {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    fn one_of<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len() as u64) as usize]
    }

    fn word(&mut self) -> &'static str {
        self.one_of(&["a", "'b c'", "\"$d\"", "${e:-f}", "$(g; h)", "\\i", "*.j", "$((k+1))", "{l,m}", "~"])
    }

    fn simple(&mut self) -> String {
        let mut text = self.one_of(&["", "", "x=1 ", "y+=(1 [2]=3) "]).to_string();
        text += self.one_of(&["a", "echo", "test"]);
        for _ in 0..self.below(3) {
            text += " ";
            text += self.word();
        }
        text + self.one_of(&["", "", "", " >o", " 2>&1", " <<<w", " 2>/dev/null", " >&2", " &>all"])
    }

    fn condition(&mut self, depth: u64) -> String {
        match self.below(if depth == 0 { 4 } else { 7 }) {
            0 => self.word().to_string(),
            1 => format!("-{} {}", self.one_of(&["n", "z", "f"]), self.word()),
            2 => format!("{} {} {}", self.word(), self.one_of(&["==", "!=", "=~", "<", "-nt"]), "a"),
            3 => format!("1 {} 2", self.one_of(&["-eq", "-lt"])),
            4 => format!("! {}", self.condition(depth - 1)),
            5 => format!("{} && {}", self.condition(depth - 1), self.condition(depth - 1)),
            _ => format!("( {} || {} )", self.condition(depth - 1), self.condition(depth - 1)),
        }
    }

    fn list(&mut self, depth: u64) -> String {
        let mut text = self.and_or(depth);
        for _ in 0..self.below(3) {
            text += self.one_of(&["; ", "\n", " & "]);
            text += &self.and_or(depth);
        }
        text
    }

    fn and_or(&mut self, depth: u64) -> String {
        let mut text = self.one_of(&["", "", "", "! ", "time "]).to_string() + &self.command(depth);
        for _ in 0..self.below(3) {
            text += self.one_of(&[" && ", " || ", " | ", " && "]);
            text += &self.command(depth);
        }
        text
    }

    fn command(&mut self, depth: u64) -> String {
        if depth == 0 {
            return self.simple();
        }
        let below = depth - 1;
        let text = match self.below(14) {
            0 => format!("( {} )", self.list(below)),
            1 => format!("{{ {}; }}", self.and_or(below)),
            2 => format!("{{ {}\n}}", self.list(below)),
            3 => format!("if {}; then {}\nfi", self.and_or(below), self.list(below)),
            4 => {
                format!("if {}; then {}\nelse {}\nfi", self.and_or(below), self.list(below), self.list(below))
            }
            5 => format!(
                "if {}; then {}\nelif {}; then {}\nfi",
                self.and_or(below),
                self.list(below),
                self.and_or(below),
                self.list(below)
            ),
            6 => format!("while {}; do {}\ndone", self.and_or(below), self.list(below)),
            7 => format!("for v in {} {}; do {}\ndone", self.word(), self.word(), self.list(below)),
            8 => format!("for ((i=0; i<2;i++)); do {}\ndone", self.list(below)),
            9 => format!("case {} in {}) {}\n;; x|y) ;; esac", self.word(), self.word(), self.list(below)),
            10 => format!("[[ {} ]]", self.condition(2)),
            11 => format!("(({}))", self.one_of(&["1", " a = 1 ", "x+ 1"])),
            12 => format!("select s in {}; do {}\ndone", self.word(), self.list(below)),
            _ => return self.simple(),
        };
        text + self.one_of(&["", "", "", " >o", " 2>&1"])
    }
}

#[test]
fn random_commands_are_printed_as_bash_prints_them() {
    if !bash_is_there() {
        return;
    }
    let mut words = Words(1);
    for round in 0..25 {
        let mut script = "trap 'echo \"$BASH_COMMAND\"' ERR\n".to_string();
        for number in 0..12 {
            let list = words.list(round % 4);
            script += &format!("f{number}() {{ {list}\n}}\ndeclare -f f{number}\n( exit 9; {list}\n)\n");
        }
        compare(&script);
    }
}

/// Commands whose program is ended by a signal, and what is around them.
#[test]
fn what_a_signal_ended_is_told_of_as_in_bash() {
    if !bash_is_there() {
        return;
    }
    let killed = "sh -c 'kill -SEGV $$'";
    let inner = [
        killed.to_string(),
        format!("X=\"a b\" {killed} \"c  d\" 2>/dev/null"),
        format!("command {killed}"),
        format!("env A=b {killed}"),
        "eval \"sh -c 'kill -ABRT \\$\\$'\"".to_string(),
        format!("f() {{ {killed}; }}; f"),
        format!("if :; then {killed}; fi"),
        format!("true && {killed}"),
        format!("! {killed}"),
        format!("exec {killed}"),
        "kill -KILL $BASHPID".to_string(),
        "sh -c 'kill -TERM $$'".to_string(),
        "sh -c 'kill -HUP $$'; :".to_string(),
        "echo a | xargs sh -c 'kill -ABRT $$'; echo $?".to_string(),
        "echo a | xargs sh -c 'exit 134'; echo $?".to_string(),
        "find . -maxdepth 0 -exec sh -c 'kill -ABRT $$' \\;".to_string(),
    ];
    let outer =
        ["{}", "( {} )", "( {}; : )", "( :; {} )", "( {} ) 2>/dev/null", "{ {}; } 2>/dev/null", "( ( {} ) )"];
    let mut script = String::new();
    for outer in outer {
        // The shell itself would end.
        for inner in inner
            .iter()
            .filter(|inner| outer.contains('(') || !inner.contains("BASHPID") && !inner.contains("exec s"))
        {
            script += &outer.replacen("{}", inner, 1);
            script += "\n";
        }
    }
    for outer in ["x=$( {} )", "x=$( {}; : )", "x=$( ( {}; : ); : )", "echo \"$( ( {} ) )\""] {
        script += &outer.replacen("{}", killed, 1);
        script += "\n";
    }
    compare(&script);
}

#[test]
fn stopped_jobs_and_their_folders_are_listed_as_in_bash() {
    if !bash_is_there() {
        return;
    }
    let script = r#"set -m
wait_for_stop() { while ! grep -q '^State:.T' /proc/$!/status; do :; done; }
(kill -STOP $BASHPID; echo r) &
wait_for_stop; jobs; jobs -l
cd /tmp; sleep 100 & cd /; jobs; jobs -l
HOME=/tmp; jobs %2; cd; jobs %2
{ kill -KILL %1 %2; wait; } 2>/dev/null
( echo $BASH_SUBSHELL ) & wait
{ echo $BASH_SUBSHELL; } & wait
( ( echo $BASH_SUBSHELL ) ) & wait
"#;
    compare(script);
}
