//! `json get`, `json set` and `json query`: results, errors and statuses. Where jq is installed, queries are compared with it.

mod machine;

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use machine::Machine;
use rush_utilities::{Context, Outcome, run};

const DOCUMENT: &str = r#"{"name": "pithos", "n": 3, "f": 1.5, "list": [3, 1, {"x": "y"}, null, true],
 "people": [{"name": "Ann", "age": 30, "tags": ["a", "b"]}, {"name": "Bob", "age": 25, "tags": []}],
 "odd key": {"a.b": 1}, "text": "tab\tquote\" é", "none": null}"#;

/// Runs `json` with these words; output, messages, status.
fn json(directory: &Path, words: &[&str], input: &str) -> (String, String, i32) {
    let mut args = vec![b"json".to_vec()];
    args.extend(words.iter().map(|word| word.as_bytes().to_vec()));
    let (mut output, mut errors) = (Vec::new(), Vec::new());
    let outcome = run(&mut Context {
        args: &args,
        directory,
        input: &mut machine::Bytes::new(input.as_bytes()),
        output: &mut output,
        errors: &mut errors,
        interrupted: || false,
        before_read: &|_| {},
        host: &mut Machine { variables: Vec::new() },
    });
    let Outcome::Status(status) = outcome else { panic!("declined: {words:?}") };
    (String::from_utf8(output).unwrap(), String::from_utf8(errors).unwrap(), status)
}

fn of_document(words: &[&str]) -> (String, String, i32) {
    json(Path::new(""), words, DOCUMENT)
}

#[test]
fn get_prints_what_is_at_a_path() {
    for (path, expected) in [
        (".name", "pithos\n"),
        (".n", "3\n"),
        (".list[2].x", "y\n"),
        (".list[-1]", "true\n"),
        (".\"odd key\"[\"a.b\"]", "1\n"),
        (".none", "null\n"),
        (".people[0]", "{\"name\":\"Ann\",\"age\":30,\"tags\":[\"a\",\"b\"]}\n"),
    ] {
        assert_eq!(of_document(&["get", path]), (expected.to_owned(), String::new(), 0), "{path}");
    }
    assert_eq!(of_document(&["get", "-j", ".name"]).0, "\"pithos\"\n");
    for absent in [".nothing", ".list[9]", ".name.x", ".list.x"] {
        assert_eq!(of_document(&["get", absent]), (String::new(), String::new(), 1), "{absent}");
    }
}

#[test]
fn numbers_keep_their_digits() {
    for number in
        ["2.5e-30", "1.2345678901234568e+36", "0.1", "-1.7976931348623157e+308", "5e-324", "9007199254740993"]
    {
        let written = json(Path::new(""), &["query", "-c", "."], number).0;
        assert_eq!(written, format!("{number}\n"));
        assert_eq!(json(Path::new(""), &["get", "-j", ".a"], &format!("{{\"a\":{number}}}")).0, written);
    }
}

#[test]
fn set_changes_and_makes() {
    let set = |words: &[&str], input: &str| json(Path::new(""), &[&["set", "-c"], words].concat(), input);
    for (path, value, input, expected) in [
        (".a", "1", "{}", "{\"a\":1}\n"),
        (".a.b[1]", "[true]", "{}", "{\"a\":{\"b\":[null,[true]]}}\n"),
        (".b", "null", "{\"b\":1,\"a\":2}", "{\"b\":null,\"a\":2}\n"),
        (".[-1]", "-9", "[1,2]", "[1,-9]\n"),
        (".", "0", "[1,2]", "0\n"),
    ] {
        assert_eq!(set(&[path, value], input), (expected.to_owned(), String::new(), 0), "{path}");
    }
    assert_eq!(json(Path::new(""), &["set", "-s", ".a", "x y"], "{}").0, "{\n  \"a\": \"x y\"\n}\n");
    let (output, errors, status) = set(&[".a", "x y"], "{}");
    assert_eq!((output.as_str(), status), ("", 2));
    assert!(errors.starts_with("json: value x y: ") && errors.contains("-s"), "{errors}");
    assert_eq!(set(&[".a.b", "1"], "{\"a\":[]}").1, "json: path .a.b: cannot set \"b\" of array\n");
    assert_eq!(set(&[".[999999999999]", "1"], "[]").2, 2);
}

#[test]
fn set_in_place_writes_the_file() {
    let root = std::env::temp_dir().join(format!("rush-json-{}", std::process::id()));
    fs::create_dir_all(&root).unwrap();
    fs::write(root.join("f"), "{\"a\": 1}").unwrap();
    assert_eq!(json(&root, &["set", "-ic", ".a", "2", "f"], ""), (String::new(), String::new(), 0));
    assert_eq!(fs::read_to_string(root.join("f")).unwrap(), "{\"a\":2}\n");
    // What cannot be read is not written.
    fs::write(root.join("f"), "{\"a\": ").unwrap();
    assert_eq!(json(&root, &["set", "-i", ".a", "2", "f"], "").2, 2);
    assert_eq!(fs::read_to_string(root.join("f")).unwrap(), "{\"a\": ");
    fs::remove_dir_all(&root).unwrap();
}

const QUERIES: &[&str] = &[
    ".",
    ".people[].name",
    ".people | length",
    ".people[] | select(.age > 26) | .name",
    ".people[] | select(.name == \"Bob\" and .age < 26 or .n == 1) | .age",
    ".people | map(.age) | add",
    "[.people[].age] | sort",
    ".list | reverse",
    ".list | sort",
    ".list[1:3], .list[:1], .list[-2:]",
    ".text[1:4]",
    "keys",
    ".list | keys",
    "[.[] | type]",
    ".people[0] | has(\"name\"), has(\"x\")",
    ".people[].tags | join(\"+\")",
    "[.n, .f, .name | tostring]",
    ".missing, .missing.deeper",
    ".name? , .[0]?",
    "[.list[] | not]",
    "[.people[0], .people[1]] | first, last",
    ".n == 3.0, .f <= 1, .name != \"x\"",
    "\"12\" | tonumber",
    "empty",
    "(.n, .f) | . >= 2",
];

#[test]
fn queries_give_what_jq_gives() {
    let results = [
        (".people[] | select(.age > 26) | .name", "\"Ann\"\n"),
        (".people | map(.age) | add", "55\n"),
        ("[.list[] | type]", "[\"number\",\"number\",\"object\",\"null\",\"boolean\"]\n"),
        (".list | sort", "[null,true,1,3,{\"x\":\"y\"}]\n"),
        (".missing.deeper", "null\n"),
        (".text[1:4]", "\"ab\\t\"\n"),
        ("[.people[].tags | join(\"+\")]", "[\"a+b\",\"\"]\n"),
    ];
    for (filter, expected) in results {
        assert_eq!(
            of_document(&["query", "-c", filter]),
            (expected.to_owned(), String::new(), 0),
            "{filter}"
        );
    }
    if Command::new("jq").arg("--version").output().is_err() {
        eprintln!("jq: not here, not compared");
        return;
    }
    for filter in QUERIES {
        for flags in [&[][..], &["-c"], &["-r"]] {
            let words = [flags, &[filter]].concat();
            let mut jq =
                Command::new("jq").args(&words).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
            jq.stdin.take().unwrap().write_all(DOCUMENT.as_bytes()).unwrap();
            let expected = String::from_utf8(jq.wait_with_output().unwrap().stdout).unwrap();
            assert_eq!(of_document(&[&["query"], words.as_slice()].concat()).0, expected, "{filter}");
        }
    }
}

#[test]
fn wrong_use_is_said() {
    for (words, input, expected) in [
        (&["get"][..], "{}", "json: usage: json get"),
        (&["list"], "{}", "json: usage: json get"),
        (&["get", "a", "b", "c"], "{}", "json: usage: json get"),
        (&["get", ".[]"], "{}", "json: path .[]: not a path of keys and indexes\n"),
        (&["get", ".a"], "{\"a\": tru}", "json: standard input: expected ident at line 1 column"),
        (&["get", ".a"], "", "json: standard input: no JSON in it\n"),
        (&["get", ".a", "/nowhere/x"], "", "json: /nowhere/x: No such file or directory\n"),
        (&["query", ".a |"], "{}", "json: filter .a |: unexpected end\n"),
        (&["query", "nothing"], "{}", "json: filter nothing: unknown function `nothing' at character 1\n"),
        (&["query", ".name.x"], "{\"name\":1}", "json: filter .name.x: cannot take \"x\" of number\n"),
        (&["query", ".[]"], "1", "json: filter .[]: cannot go through number\n"),
    ] {
        let (output, errors, status) = json(Path::new(""), words, input);
        assert_eq!((output.as_str(), status), ("", 2), "{words:?}");
        assert!(errors.starts_with(expected), "{words:?}: {errors}");
    }
    assert_eq!(json(Path::new(""), &["query", "-e", ".a"], "{\"a\":false}").2, 1);
    assert_eq!(json(Path::new(""), &["query", "-e", ".a"], "{\"a\":1}").2, 0);
}

#[test]
fn nothing_runs_away() {
    let doubling = vec!["(.,.)"; 40].join("|");
    assert!(json(Path::new(""), &["query", &doubling], "1").1.contains("too many results"));
    let deep = "[".repeat(100_000);
    assert_eq!(json(Path::new(""), &["get", "."], &deep).2, 2);
}
