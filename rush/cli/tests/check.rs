//! `rush --check`: what it prints and its status. (Which constructs it knows is tested beside the rules.)

use std::process::{Command, Stdio};

const RUSH: &str = env!("CARGO_BIN_EXE_rush");

fn check(folder: &std::path::Path, words: &[&str]) -> (String, String, Option<i32>) {
    let output = Command::new(RUSH)
        .arg("--check")
        .args(words)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .expect("rush starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr), output.status.code())
}

#[test]
fn findings_have_places_and_the_status_says_the_worst() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("a file");
    write("same", "echo $((1+1)) | cat\n");
    write("other", ":\nshopt -s failglob\n");
    write("broken", "echo a\nif x; then\n");
    // Nothing runs.
    write("writes", "echo x >written\n");
    let path = folder.path();
    assert_eq!(check(path, &["same", "writes"]), (String::new(), String::new(), Some(0)));
    assert!(!path.join("written").exists());
    let (out, _, status) = check(path, &["same", "other"]);
    assert!(out.starts_with("other:2: differs: `failglob`"), "{out}");
    assert_eq!(status, Some(1));
    let (out, _, status) = check(path, &["other", "broken"]);
    assert!(out.lines().any(|line| line.starts_with("broken:3: refused: ")), "{out}");
    assert_eq!(status, Some(2));
    let (_, errors, status) = check(path, &["missing"]);
    assert!(errors.ends_with("missing: No such file or directory\n"), "{errors}");
    assert_eq!(status, Some(2));
    assert_eq!(check(path, &[]), (String::new(), String::new(), Some(0)));
}

#[test]
fn commands_on_standard_input_go_on_where_exec_leads() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("script"), "(exec <other)\necho one\nexec <other\necho no\n")
        .expect("a file");
    std::fs::write(folder.path().join("other"), "echo two\necho three\n").expect("a file");
    for piped in ["cat script | \"$0\"", "\"$0\" <script"] {
        let output = Command::new("sh")
            .args(["-c", piped, RUSH])
            .current_dir(folder.path())
            .output()
            .expect("sh starts");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "one\ntwo\nthree\n", "{piped}");
    }
}
