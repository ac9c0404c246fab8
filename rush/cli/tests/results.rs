//! Results for programs: `--json -c`, `RUSH_ERROR_FORMAT=json` and `RUSH_PERF`, as `docs/rush-json.md` describes them.

use std::process::{Command, Output};

use serde_json::{Value, json};

fn rush(arguments: &[&str], environment: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rush"));
    command.args(arguments).envs(environment.iter().copied()).output().expect("rush starts")
}

fn result(arguments: &[&str]) -> (Value, Option<i32>) {
    let output = rush(arguments, &[]);
    (serde_json::from_slice(&output.stdout).expect("one JSON value"), output.status.code())
}

#[test]
fn a_result_says_how_every_stage_ended() {
    let script = "echo hi; false | (exit 3) | true\nsh -c 'kill -9 $$' | true; cd /; (exit 4)";
    let (value, status) = result(&["--json", "-c", script]);
    assert_eq!(status, Some(4));
    assert_eq!(value["version"], 1);
    assert_eq!(value["status"], 4);
    assert_eq!(value["cwd"], "/");
    assert_eq!(value.get("signal"), None);
    let expect = json!([
        {"stages": [0], "line": 1},
        {"stages": [1, 3, 0], "line": 1},
        {"stages": [137, 0], "line": 2, "signals": ["KILL", null]},
        {"stages": [0], "line": 2},
        {"stages": [4], "line": 2},
    ]);
    assert_eq!(value["pipelines"], expect);
    let stream = json!({"text": "hi\n", "bytes": 3, "truncated": false, "lossy": false, "open": false});
    assert_eq!(value["stdout"], stream);
    for name in ["wall_us", "user_us", "system_us"] {
        assert!(value["timings"][name].is_u64(), "{name}");
    }
}

#[test]
fn streams_are_apart_bounded_and_text() {
    let (value, _) =
        result(&["--json", "--json-limit", "4", "-c", "printf 'abc\\xc3\\xa9def'; printf '\\xff' >&2"]);
    assert_eq!(value["stdout"]["text"], "abc");
    assert_eq!(value["stdout"]["bytes"], 8);
    assert_eq!(value["stdout"]["truncated"], true);
    assert_eq!(value["stdout"]["lossy"], false);
    assert_eq!(value["stderr"]["text"], "\u{fffd}");
    assert_eq!(value["stderr"]["lossy"], true);
}

#[test]
fn a_shell_that_is_killed_has_a_result_too() {
    let (value, status) = result(&["--json", "-c", "echo before; kill -9 $$"]);
    assert_eq!(status, Some(137));
    assert_eq!(value["signal"], "KILL");
    assert_eq!(value["stdout"]["text"], "before\n");
    assert_eq!(value["cwd"], Value::Null);
}

#[test]
fn a_background_process_does_not_hold_the_result() {
    let (value, _) = result(&["--json", "-c", "sleep 300 & echo $!"]);
    assert_eq!(value["stdout"]["open"], true);
    let pid = value["stdout"]["text"].as_str().expect("text").trim().to_string();
    let _ = Command::new("kill").arg(pid).status();
}

#[test]
fn the_exit_trap_is_part_of_the_result() {
    let (value, status) = result(&["--json", "-c", "trap 'echo bye; cd /usr' EXIT; exit 5"]);
    assert_eq!(status, Some(5));
    assert_eq!(value["stdout"]["text"], "bye\n");
    assert_eq!(value["cwd"], "/usr");
}

#[test]
fn usage_errors_are_no_results() {
    let output = rush(&["--json"], &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--json: needs -c COMMAND"));
}

#[test]
fn errors_are_objects_on_request() {
    let output = rush(&["-c", ":\nnonexistent_command_x"], &[("RUSH_ERROR_FORMAT", "json")]);
    let value: Value = serde_json::from_slice(&output.stderr).expect("one JSON value");
    assert_eq!(value["error"]["line"], 2);
    assert!(value["error"]["message"].as_str().expect("text").contains("nonexistent_command_x"));
}

/// The JSON lines of a run under `RUSH_PERF=json`.
fn perf(script: &str) -> Vec<Value> {
    let output = rush(&["-c", script], &[("RUSH_PERF", "json")]);
    let text = String::from_utf8(output.stderr).expect("UTF-8");
    text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON")["perf"].clone()).collect()
}

#[test]
fn phases_add_up_and_every_command_has_a_line() {
    let lines = perf("x=$(echo a)\nf() { eval 'echo \"$1\"'; }; f b; for i in 1 2; do :; done\n/bin/true");
    assert_eq!(lines.len(), 4);
    assert_eq!(lines[1]["line"], 2);
    assert_eq!(lines[2]["command"], "/bin/true");
    assert_eq!(lines[3]["commands"], 3);
    for line in &lines {
        let time = |name: &str| line[name].as_f64().unwrap_or(0.0);
        let sum = ["lex_us", "parse_us", "expand_us", "execute_us", "other_us"].map(time).iter().sum::<f64>();
        // Each figure is cut to a tenth.
        assert!((sum - time("total_us")).abs() < 0.6, "{line}");
    }
    assert!(lines[0]["expand_us"].as_f64() > Some(0.0));
}

#[test]
fn perf_is_a_line_for_people_and_off_by_default() {
    let output = rush(&["-c", "echo a"], &[("RUSH_PERF", "1")]);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.starts_with("rush: perf: line 1: lex "), "{text}");
    assert!(text.contains(" us: echo a\nrush: perf: run of 1 commands: "), "{text}");
    assert!(rush(&["-c", "echo a"], &[("RUSH_PERF", "0")]).stderr.is_empty());
}
