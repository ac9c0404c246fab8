//! The steps of the demonstration, as a table: what is asked, what must come back, and the same through `bash -c` where that can be said.

use serde_json::{Value, json};

use super::client::ToolResult;

/// How a step is done without Pithos.
pub(super) enum Peer {
    /// The same work as one `bash -c`; the text is its command.
    Bash(&'static str),
    /// There is no such thing; the text says why.
    Without(&'static str),
}

/// A step of the day. `arguments` is given the handle of the last job.
pub(super) struct Step {
    pub(super) title: &'static str,
    pub(super) tool: &'static str,
    pub(super) arguments: fn(&str) -> Value,
    pub(super) check: fn(&ToolResult) -> bool,
    pub(super) peer: Peer,
}

/// A repository of three files, cloned.
const SETUP: &str = r#"mkdir -p origin/src && cd origin
cat > src/add.c <<'END'
int add(int a, int b) { return a - b; }
END
cat > src/main.c <<'END'
#include <stdio.h>
#include <stdlib.h>
int add(int, int);
int main(int argc, char **argv) { return argc == 3 ? !printf("%d\n", add(atoi(argv[1]), atoi(argv[2]))) : 2; }
END
cat > test.sh <<'END'
got=$(./adder 2 3)
if [ "$got" = 5 ]; then echo "1 passed"; else echo "add 2 3: expected 5, got $got"; echo "1 failed"; exit 1; fi
END
cd .. && cp -R origin project && cd project && project=adder
shout() { printf '%s\n' "${1^^}"; }
echo "$(find . -type f | wc -l) files""#;
const BUILD: &str = "cc -o adder src/*.c && ls -s adder";
const TEST_CUT: &str = "bash test.sh 2>&1 | tail -n 1";
const EDIT: &str = "sed -i 's/a - b/a + b/' src/add.c && shout \"$project is edited in ${PWD##*/}\"";
const EDIT_ALONE: &str = "cd project; sed -i 's/a - b/a + b/' src/add.c && project=adder && echo \"${project^^} IS EDITED IN ${PWD##*/}\"";
const REBUILD: &str = "cc -o adder src/*.c && bash test.sh";
const ASKS: &str = "bash -c 'printf \"Overwrite? \"; read answer; echo \"you said $answer\"'";
/// It speaks as a program of its own, so that the program is there when it has spoken.
const SERVICE: &str =
    "/bin/sh -c 'sleep 0.2; echo \"$0 listens on port 4711\"; while :; do /bin/sleep 600; done' \"$project\"";
const CELL: &str = "const names = (await shell('ls src')).output.trim().split('\\n'); \
    const texts = await Promise.all(names.map(async name => (await shell(`cat src/${name}`)).output)); \
    return names.map((name, i) => ({file: name, words: texts[i].split(/\\W+/).length}));";

/// Actors in a ring: each hands what it gets on to the next, for ever. The second version does so too and says in its state that it did.
const RING: &str = "({ init(_, actor) { const at = Number(actor.id.split('/')[1]); return {next: `ring/${(at + 1) % 100000}`, hops: 0}; }, \
    receive(state, message, actor) { state.hops++; actor.send(state.next, message); } })";
const RING_2: &str = "({ receive(state, message, actor) { state.second = true; state.hops++; actor.send(state.next, message); } })";
/// The third keeps what arrives: so every message that was under way can be counted.
const RING_3: &str = "({ migrate: state => ({...state, kept: 0}), \
    receive(state, message, actor) { if (message === 'read') actor.reply(state.kept); else state.kept++; } })";

/// Actors of the demonstration.
pub(super) const ACTORS: u64 = 100_000;

pub(super) const STEPS: &[Step] = &[
    Step {
        title: "set up a small repository; a function and a variable that later steps use",
        tool: "run",
        arguments: |_| json!({"command": SETUP}),
        check: |result| result.structured["status"] == 0 && result.text.contains("3 files"),
        peer: Peer::Bash(SETUP),
    },
    Step {
        title: "build it",
        tool: "run",
        arguments: |_| json!({"command": BUILD}),
        check: |result| result.structured["status"] == 0 && result.text.contains("adder"),
        peer: Peer::Bash("cd project; cc -o adder src/*.c && ls -s adder"),
    },
    Step {
        title: "a failing test piped through tail: the status says 0, the result says what is true",
        tool: "run",
        arguments: |_| json!({"command": TEST_CUT}),
        check: |result| {
            result.structured["status"] == 0 && result.text.contains("stage 1 of 2 failed with 1")
        },
        peer: Peer::Bash("cd project; bash test.sh 2>&1 | tail -n 1"),
    },
    Step {
        title: "edit in place; the session remembers folder, function and variable",
        tool: "run",
        arguments: |_| json!({"command": EDIT}),
        check: |result| result.text.contains("ADDER IS EDITED IN PROJECT"),
        peer: Peer::Bash(EDIT_ALONE),
    },
    Step {
        title: "build and test again",
        tool: "run",
        arguments: |_| json!({"command": REBUILD}),
        check: |result| result.structured["status"] == 0 && result.text.contains("1 passed"),
        peer: Peer::Bash("cd project; cc -o adder src/*.c && bash test.sh"),
    },
    Step {
        title: "a second shell, for what takes its time",
        tool: "session",
        arguments: |_| json!({"action": "open", "name": "aside"}),
        check: |result| result.structured["session"] == "aside",
        peer: Peer::Without(""),
    },
    Step {
        title: "a command that asks: it comes back with the prompt, and does not hang",
        tool: "run",
        arguments: |_| json!({"session": "aside", "command": ASKS, "interactive": true, "yield_ms": 300}),
        check: |result| result.structured["waiting_for_input"]["prompt"] == "Overwrite? ",
        peer: Peer::Without("hangs until somebody kills it"),
    },
    Step {
        title: "answer it",
        tool: "job",
        arguments: |job| json!({"action": "write", "job": job, "text": "yes\n", "timeout_ms": 2000}),
        check: |result| result.text.contains("you said yes"),
        peer: Peer::Without("nobody is there to answer"),
    },
    Step {
        title: "a background job in a copy of the session",
        tool: "run",
        arguments: |_| json!({"command": SERVICE, "background": true}),
        check: |result| result.structured["state"] == "running",
        peer: Peer::Without("`&` leaves it behind, without a handle"),
    },
    Step {
        title: "follow it until a line matches",
        tool: "job",
        arguments: |job| json!({"action": "wait", "job": job, "until": "listens on port \\d+"}),
        check: |result| result.structured["matched"] == true,
        peer: Peer::Without("a loop of sleep and grep"),
    },
    Step {
        title: "stop it, with everything that it started",
        tool: "job",
        arguments: |job| json!({"action": "stop", "job": job}),
        check: |result| {
            result.structured["state"] == "stopped"
                && result.structured["killed"][0]["command"]
                    .as_str()
                    .is_some_and(|line| line.starts_with("/bin/sh -c"))
        },
        peer: Peer::Without("its children live on"),
    },
    Step {
        title: "a write outside the workspace: denied, with the rule and how to allow it",
        tool: "run",
        arguments: |_| json!({"command": "echo '* * * * * root id' > /etc/cron.d/demo"}),
        check: |result| {
            result.structured["status"] != 0 && result.structured["denials"][0]["kind"] == "write"
        },
        peer: Peer::Without("as root it is written"),
    },
    Step {
        title: "a flood: 10 MB of output, of which a result shows the ends",
        tool: "run",
        arguments: |_| json!({"command": "seq 1 1400000", "output_bytes": 400}),
        check: |result| {
            result.structured["stdout_bytes"].as_u64() > Some(10_000_000) && result.text.len() < 800
        },
        peer: Peer::Bash("seq 1 1400000"),
    },
    Step {
        title: "and the whole of it is there to search",
        tool: "log",
        arguments: |job| json!({"action": "grep", "job": job, "pattern": "^7654321$|^765432$"}),
        check: |result| result.text == "765432:765432\n",
        peer: Peer::Without("run it all again"),
    },
    Step {
        title: "a JavaScript cell maps over files; only what it returns comes back",
        tool: "js",
        arguments: |_| json!({"code": CELL}),
        check: |result| {
            result.structured["value"][0]["file"] == "add.c" && result.structured["value"][1]["words"] != 0
        },
        peer: Peer::Bash("cd project; for f in src/*; do wc -w \"$f\"; done"),
    },
    Step {
        title: "100,000 actors, each with its own state",
        tool: "actors",
        arguments: |_| json!({"action": "spawn", "group": "ring", "code": RING, "count": ACTORS}),
        check: |result| result.structured["count"] == ACTORS,
        peer: Peer::Without("100,000 processes"),
    },
    Step {
        title: "load: a message to each, which hands it on to the next; 100,000 are under way from now on",
        tool: "actors",
        arguments: |_| json!({"action": "send", "to": "ring", "message": "hop"}),
        check: |result| result.structured["accepted"] == ACTORS,
        peer: Peer::Without(""),
    },
    Step {
        title: "under that load, a new behaviour for all of them, each between two messages",
        tool: "actors",
        arguments: |_| json!({"action": "swap", "group": "ring", "code": RING_2, "timeout_ms": 60_000}),
        check: |result| {
            result.structured["actors"] == ACTORS
                && result.structured["pending"] == 0
                && result.structured["handled_meanwhile"].as_u64() > Some(0)
        },
        peer: Peer::Without("restart, and lose the state"),
    },
    Step {
        title: "and another, which keeps what arrives",
        tool: "actors",
        arguments: |_| json!({"action": "swap", "group": "ring", "code": RING_3, "timeout_ms": 60_000}),
        check: |result| result.structured["pending"] == 0 && result.structured["version"] == 3,
        peer: Peer::Without(""),
    },
    Step {
        title: "ask them all: the 100,000 messages are all there, none lost and none twice",
        tool: "actors",
        arguments: |_| json!({"action": "ask", "to": "ring", "message": "read"}),
        check: |result| {
            result.structured["replied"] == ACTORS && result.structured["sum"] == json!(ACTORS as f64)
        },
        peer: Peer::Without(""),
    },
    Step {
        title: "what lives in this server: one supervision tree",
        tool: "actors",
        arguments: |_| json!({"action": "tree"}),
        check: |result| {
            result.text.contains("sessions\n    main")
                && result.structured["systems"][0]["groups"][0]["version"] == 3
        },
        peer: Peer::Without(""),
    },
];
