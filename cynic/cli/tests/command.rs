//! The command as its users meet it: outputs, exit statuses, TypeScript, the REPL through a pipe.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn cynic(arguments: &[&str], folder: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cynic"));
    command.args(arguments).current_dir(folder).env("CYNIC_HISTORY", "").stdin(Stdio::null());
    command.output().expect("the command runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Runs one file; its status, output and diagnostics.
fn run(name: &str, source: &str, flags: &[&str]) -> (Option<i32>, String, String) {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join(name), source).expect("written");
    let arguments: Vec<&str> = flags.iter().copied().chain([name]).collect();
    let output = cynic(&arguments, folder.path());
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn a_rejection_that_nobody_handles_ends_the_program() {
    let source = "Promise.reject(new TypeError('lost')); setTimeout(() => print('later'), 1);";
    let (status, output, diagnostics) = run("a.js", source, &[]);
    assert_eq!((status, output.as_str()), (Some(1), ""));
    assert!(diagnostics.starts_with("a.js:1\nPromise.reject(new TypeError('lost'))"), "{diagnostics}");
    assert!(diagnostics.contains("\nUncaught (in promise) TypeError: lost\n    at a.js:1"), "{diagnostics}");
    let handled =
        "const p = Promise.reject(1); setTimeout(() => print('later'), 1); p.catch(() => print('caught'));";
    assert_eq!(run("a.js", handled, &[]), (Some(0), "caught\nlater\n".into(), String::new()));
}

#[test]
fn a_module_that_fails_ends_the_program() {
    let source = "setTimeout(() => print('never'), 1); await null; throw new Error('top');";
    let (status, output, diagnostics) = run("a.mjs", source, &[]);
    assert_eq!((status, output.as_str()), (Some(1), ""));
    assert!(diagnostics.contains("^\nUncaught Error: top"), "{diagnostics}");
}

#[test]
fn syntax_errors_show_the_place() {
    let (status, _, diagnostics) = run("bad.js", "let a = 1;\nlet b = = 2;\n", &[]);
    assert_eq!(status, Some(1));
    assert!(diagnostics.contains("SyntaxError") && diagnostics.contains("bad.js:2:9"), "{diagnostics}");
    assert!(diagnostics.contains("\nlet b = = 2;\n        ^"), "{diagnostics}");
}

#[test]
fn each_termination_has_its_status() {
    for (flag, source, status) in [
        ("--fuel=10000", "for (;;);", 120),
        ("--heap-limit=4M", "const a = []; for (;;) a.push('x'.repeat(100) + a.length)", 121),
        ("--timeout=50ms", "for (;;);", 124),
    ] {
        assert_eq!(run("a.js", source, &[flag]).0, Some(status), "{flag}");
    }
}

#[test]
fn types_are_stripped() {
    let source = "interface P { x: number }\ntype N = number;\nconst p: P = { x: 1 as N };\nfunction f<T>(a: T, b?: string): T { return a!; }\nprint(f<number>(p.x) satisfies number);";
    assert_eq!(run("a.ts", source, &["--enable=typescript"]), (Some(0), "1\n".into(), String::new()));
    let module = "export const x: number = 1; import type { Y } from './nowhere.ts'; print(x);";
    assert_eq!(run("a.mts", module, &[]), (Some(0), "1\n".into(), String::new()));
    let output = cynic(&["--list-features"], Path::new("."));
    assert!(text(&output.stdout).contains("typescript"));
}

#[test]
fn typescript_with_a_meaning_at_run_time_has_it() {
    for (source, output) in [
        ("enum E { A, B = 5, C, D = 'd' } print(E.A, E[5], E.C, E.D, Object.keys(E).length)", "0 B 6 d 7"),
        ("const enum E { A = 1 << 2, B = A | 1 } print(E.B, E.A)", "5 4"),
        ("enum E { A = f(), B = 2 } function f() { return 9 } print(E.A, E[9], E.B)", "9 A 2"),
        ("enum E { A } enum E { B = 1 } print(E.A, E.B)", "0 1"),
        ("declare enum E { A } declare namespace N { const x: number } print(1);", "1"),
        (
            "namespace N { export const x = 1; export function f() { return x + y } const y = 2 } print(N.f(), N.y)",
            "3 undefined",
        ),
        (
            "namespace A.B { export const x = 2 } namespace A.B { export const y = B.x + 1 } print(A.B.x, A.B.y)",
            "2 3",
        ),
        ("namespace N { export const x = 7 } import y = N.x; print(y)", "7"),
        (
            "class P { constructor(private x: number, readonly y = 2, z = 3) {} s() { return [this.x, this.y, this.z] } } print(new P(1).s())",
            "1,2,",
        ),
        (
            "class A {} class P extends A { constructor(public x: number) { super(); print(this.x) } } new P(4)",
            "4",
        ),
        (
            "try { print(N.x) } catch (e) { print(e.name) } namespace N { export const x = 1 } print(N.x)",
            "ReferenceError\n1",
        ),
        ("const f = () => E.A; enum E { A = 3 } print(f())", "3"),
        (
            "try { g() } catch (e) { print(e.name) } function g() { return new M.C() } namespace M { export class C { x = 1 } } print(g().x)",
            "ReferenceError\n1",
        ),
        (
            "abstract class A { abstract f(): number; declare x: string; constructor(protected n: number) {} } class B extends A { f() { return this.n } } print(new B(3).f(), 'x' in new B(1))",
            "3 false",
        ),
        (
            "function f(this: string, a?: number): asserts a is number {} f.call('', 1); let x = <any>1; print(x!)",
            "1",
        ),
    ] {
        for name in ["a.ts", "a.mts"] {
            let expected = (Some(0), format!("{output}\n"), String::new());
            assert_eq!(run(name, source, &[]), expected, "{name}: {source}");
        }
    }
}

#[test]
fn namespaces_that_export_variables_are_refused() {
    let (status, _, diagnostics) = run("a.ts", "namespace N { export let x = 1 }", &[]);
    assert_eq!(status, Some(1));
    assert!(
        diagnostics.contains("SyntaxError: a namespace can export `const` and no other variable"),
        "{diagnostics}"
    );
}

#[test]
fn decorators_are_refused() {
    for source in
        ["@d class C {}", "class C { @d m() {} }", "class C { @d x = 1 }", "class C { m(@d x: number) {} }"]
    {
        let (status, _, diagnostics) = run("a.ts", source, &[]);
        assert_eq!(status, Some(1), "{source}");
        assert!(diagnostics.contains("SyntaxError: decorators are not"), "{source}: {diagnostics}");
    }
}

#[test]
fn elements_are_calls() {
    let h = "const h = (type, attributes, ...children) => type + JSON.stringify(attributes) + children.join('');\n";
    let classic = "/** @jsx h @jsxRuntime classic */\n";
    for (name, source, output) in [
        ("a.jsx", "print(<p id=\"a\">don't {1 + 1}<br/></p>)", "p{\"id\":\"a\"}don't 2brnull\n"),
        ("a.tsx", "const n: number = 2; print(<b>{n satisfies number}</b>)", "bnull2\n"),
    ] {
        let source = format!("{classic}{h}{source}");
        assert_eq!(run(name, &source, &[]), (Some(0), output.into(), String::new()), "{name}");
    }
    let (status, _, diagnostics) = run("a.jsx", "print(<p/>)", &[]);
    assert!(status == Some(1) && diagnostics.contains("react/jsx-runtime"), "{diagnostics}");
}

#[test]
fn globals_are_open_and_may_be_sealed() {
    let source = "globalThis.x = 1; print(x); try { globalThis.Array = 1 } catch (e) { print(e.name) }";
    for flags in [&[][..], &["--allow=globals"]] {
        assert_eq!(run("a.js", source, flags).1, "1\nTypeError\n");
    }
    let sealed = run("a.js", source, &["--seal-globals"]).2;
    assert!(sealed.contains("Cannot add property x, object is not extensible"), "{sealed}");
}

#[test]
fn a_module_that_waits_for_ever_says_so() {
    let (status, _, errors) = run("a.mjs", "await new Promise(() => {})", &[]);
    assert_eq!(status, Some(13), "{errors}");
    assert!(errors.contains("nothing will settle"), "{errors}");
    assert_eq!(run("a.mjs", "await new Promise(go => setTimeout(go, 5))", &[]).0, Some(0));
    assert_eq!(run("a.mjs", "setTimeout(() => { throw 1 }, 5); await new Promise(() => {})", &[]).0, Some(1));
    // A script's promises are its own business.
    assert_eq!(run("a.js", "(async () => { await new Promise(() => {}) })()", &[]).0, Some(0));
}

#[test]
fn output_that_is_lost_is_an_error() {
    if !Path::new("/dev/full").exists() {
        pithos_skipped::test("there is no /dev/full");
        return;
    }
    for source in ["console.log(1)", "print(1)"] {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("a.js"), source).expect("written");
        let full = std::fs::File::options().write(true).open("/dev/full").expect("it is there");
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_cynic"));
        let output = command.arg("a.js").current_dir(folder.path()).stdout(full).output().expect("it runs");
        assert_eq!(output.status.code(), Some(1), "{source}");
        assert!(text(&output.stderr).contains("standard output"), "{source}");
    }
}

#[test]
fn what_runs_before_runs_before_an_evaluation_too() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("b.js"), "globalThis.made = 41").expect("written");
    let output = cynic(&["--before=b.js", "eval", "made + 1"], folder.path());
    assert_eq!(text(&output.stdout), "42\n", "{}", text(&output.stderr));
    let missing = cynic(&["--before=no.js", "eval", "1"], folder.path());
    assert_eq!(missing.status.code(), Some(1));
}

#[test]
fn eval_awaits() {
    let output = cynic(&["eval", "const x = await Promise.resolve([1, 'two']); x"], Path::new("."));
    assert_eq!(text(&output.stdout), "[ 1, 'two' ]\n");
}

#[test]
fn the_repl_keeps_bindings_and_the_last_value() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_cynic"))
        .arg("repl")
        .env("CYNIC_HISTORY", "")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command runs");
    let entries = "const a = await Promise.resolve(20)\na + 1\n_ * 2\n{ b: _ }\nfunction f(x) {\n  return x + a;\n}\nf(1)\nnull.x\nPromise.reject(3)\nlet c = 'still here'; c\n";
    child.stdin.take().expect("a pipe").write_all(entries.as_bytes()).expect("written");
    let output = child.wait_with_output().expect("it ends");
    let shown = text(&output.stdout);
    for line in ["21", "42", "{ b: 42 }", "'still here'"] {
        assert!(shown.lines().any(|shown| shown.ends_with(line)), "{line} in {shown}");
    }
    let diagnostics = text(&output.stderr);
    assert!(
        diagnostics.contains("Uncaught TypeError") && diagnostics.contains("Uncaught (in promise) 3"),
        "{diagnostics}"
    );
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn the_repl_runs_timers_while_it_waits() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cynic"));
    command.arg("repl").env("CYNIC_HISTORY", "").stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("the command runs");
    let mut input = child.stdin.take().expect("a pipe");
    input.write_all(b"setTimeout(() => print('tick'), 20); 1\n").expect("written");
    // The input stays open: nothing but the timer can make the line.
    let output = std::io::BufReader::new(child.stdout.take().expect("a pipe"));
    let mut lines = std::io::BufRead::lines(output).map_while(Result::ok);
    assert!(lines.any(|line| line.contains("tick")));
    input.write_all(b"1 + 1\n").expect("written");
    drop(input);
    assert!(lines.any(|line| line.ends_with('2')));
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
}

/// Standard output or error that takes nothing: no panic, an honest status.
#[test]
fn a_stream_that_takes_nothing_is_no_crash() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("a.js"), "1 + 1").expect("written");
    let gone = || Stdio::from(std::io::pipe().expect("a pipe").1);
    let full = || Stdio::from(std::fs::File::options().write(true).open("/dev/full").expect("a device"));
    let lines: [&[&str]; 7] = [
        &["--version"],
        &["--help"],
        &["list-features"],
        &["eval", "1 + 1"],
        &["eval", "throw 1"],
        &["disasm", "a.js"],
        &["--nothing"],
    ];
    for words in lines {
        for (kind, sink) in [("gone", &gone as &dyn Fn() -> Stdio), ("full", &full)] {
            for on_output in [true, false] {
                let mut command = Command::new(env!("CARGO_BIN_EXE_cynic"));
                command.args(words).current_dir(folder.path()).stdin(Stdio::null());
                command.stdout(Stdio::piped()).stderr(Stdio::piped());
                if on_output {
                    command.stdout(sink())
                } else {
                    command.stderr(sink())
                };
                let output = command.output().expect("the command runs");
                let told = text(&[output.stdout, output.stderr].concat());
                let status = output.status.code();
                assert!(!told.contains("panicked"), "{words:?}, {kind}: {told}");
                assert!(status.is_some_and(|status| status != 101), "{words:?}, {kind}: {}", output.status);
                if on_output && words[0] == "--version" {
                    assert_eq!(status, Some(if kind == "gone" { 141 } else { 1 }));
                }
            }
        }
    }
}
