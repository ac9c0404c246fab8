//! What `import` may read: regular files from below the folders of the program and of `--allow=read=DIR`, and nothing else.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Runs in the folder, under a deadline that a file which never ends, or never opens, would exceed.
fn cynic(arguments: &[&str], folder: &Path) -> Output {
    let mut command = Command::new("timeout");
    command.arg("60").arg(env!("CARGO_BIN_EXE_cynic")).args(arguments);
    command.current_dir(folder).env("CYNIC_SECRET", "s3cret").stdin(Stdio::null());
    command.output().expect("the command runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A program's folder `app`, with files around it.
fn tree() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, source: &str| std::fs::write(folder.path().join(name), source).expect("written");
    for name in ["app", "app/lib", "beside", "apps"] {
        std::fs::create_dir(folder.path().join(name)).expect("made");
    }
    write("app/lib/a.mjs", "export { default } from '../b.json' with { type: 'json' };");
    write("app/b.json", "{ \"fine\": true }");
    for name in ["beside/a.mjs", "apps/a.mjs", "above.mjs"] {
        write(name, "export default 's3cret';");
    }
    write("beside/b.json", "{ \"s3cret\": true }");
    write("beside/bad.txt", "s3cret = = 1");
    symlink("../beside", folder.path().join("app/link")).expect("linked");
    symlink("../beside/a.mjs", folder.path().join("app/link.mjs")).expect("linked");
    symlink("lib", folder.path().join("app/inside")).expect("linked");
    symlink("/proc/self/environ", folder.path().join("app/environ.mjs")).expect("linked");
    let status = Command::new("mkfifo").arg(folder.path().join("app/fifo.mjs")).status().expect("it runs");
    assert!(status.success());
    folder
}

/// A program that imports each specifier, as modules and as JSON, and shows what it gets.
fn importer(specifiers: &[&str]) -> String {
    let mut source = String::new();
    for specifier in specifiers {
        for options in ["", ", { with: { type: 'json' } }"] {
            source.push_str(&format!(
                "try {{ print('got', JSON.stringify(await import({specifier:?}{options}))) }} catch (e) {{ print(e.name, e.message) }}\n"
            ));
        }
    }
    source
}

const OUTSIDE: &[&str] = &[
    "../above.mjs",
    "../nowhere.mjs",
    "../beside/a.mjs",
    "../beside/b.json",
    "../beside/bad.txt",
    "../apps/a.mjs",
    "./link/a.mjs",
    "./link/nowhere.mjs",
    "./link/nowhere/deeper.mjs",
    "./link/b.json",
    "./link/bad.txt",
    "./link.mjs",
    "./lib/../../above.mjs",
    "/proc/self/environ",
    "/proc/self/cmdline",
    "/proc/self/fd/0",
    "/proc/self/fd/1",
    "/proc/self/root/etc/passwd",
    "/dev/zero",
    "/dev/stdin",
    "/etc/passwd",
    "/etc/hostname",
    "./environ.mjs",
    "./fifo.mjs",
    "./lib",
];

#[test]
fn nothing_outside_is_read() {
    let tree = tree();
    let app = tree.path().join("app");
    let main = app.join("main.mjs");
    std::fs::write(&main, importer(OUTSIDE)).expect("written");
    for (file, folder) in [("main.mjs", app.as_path()), ("app/main.mjs", tree.path())] {
        let output = cynic(&["--heap-limit=64M", "--timeout=20", file], folder);
        let shown = text(&output.stdout);
        assert_eq!(output.status.code(), Some(0), "{shown}{}", text(&output.stderr));
        assert_eq!(shown.lines().count(), OUTSIDE.len() * 2, "{shown}");
        for line in shown.lines() {
            assert!(line.starts_with("TypeError cannot load module"), "{line}");
            assert!(!line.contains("s3cret") && !line.contains("root:"), "{line}");
        }
    }
}

#[test]
fn a_file_elsewhere_does_not_show_whether_it_is_there() {
    let tree = tree();
    let source = "for (const name of ['../above.mjs', '../nowhere.mjs']) await import(name).catch((e) => print(e.message.replace(name.slice(3), '')));";
    std::fs::write(tree.path().join("app/main.mjs"), source).expect("written");
    let shown = text(&cynic(&["main.mjs"], &tree.path().join("app")).stdout);
    let lines: Vec<&str> = shown.lines().collect();
    assert!(lines.len() == 2 && lines[0] == lines[1], "{shown}");
}

#[test]
fn scripts_and_code_from_elsewhere_have_no_more() {
    let tree = tree();
    let app = tree.path().join("app");
    let source = "import('../above.mjs').then(() => print('got'), (e) => print(e.name)); import('./lib/a.mjs').then(() => print('fine'));";
    std::fs::write(app.join("main.js"), source).expect("written");
    assert_eq!(text(&cynic(&["main.js"], &app).stdout), "TypeError\nfine\n");
    let code = "await import('./lib/a.mjs').then(() => 'got', (e) => e.message)";
    let shown = text(&cynic(&["eval", code], &app).stdout);
    assert!(shown.contains("--allow=read=lib"), "{shown}");
    assert_eq!(text(&cynic(&["eval", "--allow=read=.", code], &app).stdout), "'got'\n");
}

#[test]
fn the_program_and_what_is_allowed_are_read() {
    let tree = tree();
    let app = tree.path().join("app");
    let own =
        "import a from './lib/a.mjs'; import b from './inside/../inside/a.mjs'; print(a.fine && b.fine);";
    std::fs::write(app.join("own.mjs"), own).expect("written");
    for (file, folder) in [("own.mjs", app.as_path()), ("app/own.mjs", tree.path()), ("../app/own.mjs", &app)]
    {
        let output = cynic(&[file], folder);
        assert_eq!(text(&output.stdout), "true\n", "{file}: {}", text(&output.stderr));
    }
    let other = "import a from '../beside/a.mjs'; import b from './link/a.mjs'; print(a, b);";
    std::fs::write(app.join("other.mjs"), other).expect("written");
    let output = cynic(&["--allow=read=../beside", "other.mjs"], &app);
    assert_eq!(text(&output.stdout), "s3cret s3cret\n", "{}", text(&output.stderr));
    assert_eq!(cynic(&["other.mjs"], &app).status.code(), Some(1));
}

#[test]
fn devices_pipes_and_files_without_a_size_are_refused_where_everything_may_be_read() {
    let tree = tree();
    let app = tree.path().join("app");
    let specifiers = ["/proc/self/environ", "/dev/zero", "./fifo.mjs", "./environ.mjs", "/proc/self/fd/1"];
    std::fs::write(app.join("main.mjs"), importer(&specifiers)).expect("written");
    let output = cynic(&["--allow=read=/", "--heap-limit=64M", "--timeout=20", "main.mjs"], &app);
    let shown = text(&output.stdout);
    assert_eq!(shown.lines().count(), specifiers.len() * 2, "{shown}{}", text(&output.stderr));
    for line in shown.lines() {
        assert!(line.starts_with("TypeError cannot load module") && !line.contains("s3cret"), "{line}");
    }
}

#[test]
fn a_file_counts_for_the_limit_of_the_heap() {
    let tree = tree();
    let app = tree.path().join("app");
    std::fs::write(app.join("large.json"), format!("\"{}\"", "x".repeat(32 << 20))).expect("written");
    std::fs::write(app.join("main.mjs"), importer(&["./large.json"])).expect("written");
    let output = cynic(&["--heap-limit=16M", "main.mjs"], &app);
    let shown = text(&output.stdout);
    assert!(shown.lines().count() == 2 && shown.lines().all(|line| line.contains("too large")), "{shown}");
}
