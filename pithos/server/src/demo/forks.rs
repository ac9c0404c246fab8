//! Ten ways out of one point: a test fails, ten copies of the session (files, shell, stores) each try a change at the same
//! time, the one that passes is looked at as a diff and kept, and the workspace has seen none of the others.

use std::path::Path;
use std::time::Instant;

use pithos_sessions::outln;
use serde_json::{Value, json};

use super::client::{Client, ToolResult};
use super::{clipped, shown};

/// A calculator that takes `-` from the right, and its test of eight sums.
const PROJECT: &str = r#"mkdir -p calc && cd calc
cat > calc.c <<'END'
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
static const char *at;
static long sum(void);
static long number(void) {
    long value;
    if (*at == '(') { at++; value = sum(); at++; return value; }
    value = 0;
    while (isdigit((unsigned char)*at)) value = value * 10 + (*at++ - '0');
    return value;
}
static long product(void) {
    long value = number();
    while (*at == '*' || *at == '/') { char op = *at++; long next = number(); value = op == '*' ? value * next : value / next; }
    return value;
}
static long sum(void) {
    long value = product();
    if (*at == '+') { at++; return value + sum(); }
    if (*at == '-') { at++; return value - sum(); }
    return value;
}
int main(int argc, char **argv) { at = argc == 2 ? argv[1] : ""; printf("%ld\n", sum()); return 0; }
END
cat > test.sh <<'END'
passed=0 failed=0
while IFS='=' read -r text expected; do
    got=$(./calc "$text")
    if [ "$got" = "$expected" ]; then passed=$((passed + 1)); else echo "$text: expected $expected, got $got"; failed=$((failed + 1)); fi
done <<'SUMS'
1+2=3
2*3+4=10
2+3*4=14
(2+3)*4=20
10-3=7
10-3-2=5
20/2/5=2
8-(3-2)+1=8
SUMS
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
END
attempt() { cc -O1 -o calc calc.c && bash test.sh; }
attempt"#;

/// What ten colleagues would try; the eighth is right.
const ATTEMPTS: [(&str, &str); 10] = [
    ("swap the operands", "sed -i 's/value - sum()/sum() - value/' calc.c"),
    ("subtract a product only", "sed -i 's/value - sum()/value - product()/' calc.c"),
    ("add a product only", "sed -i 's/value + sum()/value + product()/' calc.c"),
    ("negate the rest", "sed -i 's/value - sum()/value + -sum()/' calc.c"),
    ("a number instead of a product", "sed -i 's/long value = product();/long value = number();/' calc.c"),
    ("bracket the rest", "sed -i 's/value - sum()/value - (sum())/' calc.c"),
    ("unsigned characters", "sed -i 's/static const char/static const unsigned char/' calc.c"),
    (
        "a loop, as in product",
        "sed -i -e \"/at == '+'/d\" -e \"s/if (\\*at == '-') .*/while (*at == '+' || *at == '-') { char op = *at++; long next = product(); value = op == '+' ? value + next : value - next; }/\" calc.c",
    ),
    ("optimise less", "sed -i 's/-O1/-O0/' test.sh"),
    (
        "a loop for minus alone",
        "sed -i \"s/if (\\*at == '-') .*/while (*at == '-') { at++; value -= product(); }/\" calc.c",
    ),
];

/// The step; what it shows is part of the demonstration, and what it must be is checked. False where there are no overlays.
pub(super) fn show(client: &mut Client, number: usize, folder: &Path) -> Result<bool, String> {
    let base = client.tool("session", json!({"action": "open", "name": "base", "overlay": true}))?;
    outln!("{number:2}. a test fails: ten ways out, tried at once from one point, one of them kept");
    if base.structured["undo"] != "overlay" {
        let why = base.structured["undo_note"].as_str().unwrap_or("no overlay here");
        outln!("    not shown, because sessions cannot be forked with their files here: {why}\n");
        client.tool("session", json!({"action": "close", "session": "base"}))?;
        return Ok(false);
    }
    let failing = run(client, "base", PROJECT)?;
    must(failing.text.contains("failed") && failing.structured["status"] == 1, "the test fails", &failing)?;
    outln!("    | {}", failing.text.lines().next().unwrap_or(""));
    let start = Instant::now();
    client.tool("session", json!({"action": "checkpoint", "session": "base", "name": "it-fails"}))?;
    let kept = start.elapsed();
    let forks: Vec<Value> = (0..ATTEMPTS.len())
        .map(|at| json!({"action": "fork", "checkpoint": "it-fails", "name": format!("way-{}", at + 1)}))
        .collect();
    let start = Instant::now();
    client.tools("session", &forks)?;
    outln!("    checkpoint in {}, {} forks in {}", shown(kept), ATTEMPTS.len(), shown(start.elapsed()));
    let tries: Vec<Value> = ATTEMPTS
        .iter()
        .enumerate()
        .map(|(at, (_, change))| json!({"session": format!("way-{}", at + 1), "command": format!("{change}; attempt")}))
        .collect();
    let start = Instant::now();
    let results = client.tools("run", &tries)?;
    let wall = start.elapsed();
    let mut good = Vec::new();
    for (at, result) in results.iter().enumerate() {
        let passes = result.structured["status"] == 0;
        let last = result.text.lines().rfind(|line| line.contains(" passed")).unwrap_or("it does not build");
        outln!("    | way {:2}  {:32} {last}", at + 1, ATTEMPTS[at].0);
        good.extend(passes.then(|| at + 1));
    }
    outln!("    ten builds and tests in {}", shown(wall));
    if good != [8] {
        return Err(format!("the ways that pass are {good:?}, not the eighth alone"));
    }
    let way = "way-8";
    let diff = client.tool("session", json!({"action": "diff", "session": way}))?;
    let shown_lines =
        diff.text.lines().filter(|line| line.starts_with(['+', '-']) && line.contains("while (*at == '+'"));
    for line in shown_lines {
        outln!("    | {}", clipped(line, 110));
    }
    let before = folder.join("calc");
    if before.exists() {
        return Err("the workspace has seen what was not committed".to_string());
    }
    let start = Instant::now();
    client.tool("session", json!({"action": "commit", "session": way}))?;
    outln!(
        "    its diff was looked at and committed ({}), the other nine are dropped\n",
        shown(start.elapsed())
    );
    let mut ends: Vec<Value> =
        (1..=ATTEMPTS.len()).map(|at| json!({"action": "close", "session": format!("way-{at}")})).collect();
    ends.push(json!({"action": "close", "session": "base"}));
    ends.push(json!({"action": "delete", "checkpoint": "it-fails"}));
    client.tools("session", &ends)?;
    let text = std::fs::read_to_string(before.join("calc.c")).map_err(|error| format!("calc.c: {error}"))?;
    if !text.contains("while (*at == '+'") {
        return Err("what was committed is not in the workspace".to_string());
    }
    Ok(true)
}

fn run(client: &mut Client, session: &str, command: &str) -> Result<ToolResult, String> {
    client.tool("run", json!({"session": session, "command": command}))
}

fn must(holds: bool, what: &str, result: &ToolResult) -> Result<(), String> {
    if holds { Ok(()) } else { Err(format!("{what}: not so: {}", result.structured)) }
}
