//! Programs as people start them: arguments, standard input, modules by content, TypeScript, packages, checks, and errors with their line.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

struct Folder(tempfile::TempDir);

impl Folder {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().expect("below the folder")).expect("made");
            std::fs::write(path, text).expect("written");
        }
        Folder(folder)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn cynic(&self, arguments: &[&str]) -> (Option<i32>, String, String) {
        self.with_input(arguments, "")
    }

    fn with_input(&self, arguments: &[&str], input: &str) -> (Option<i32>, String, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cynic"));
        command.args(arguments).current_dir(self.path());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the command runs");
        // A command that does not read its input may have ended.
        let _ = child.stdin.take().expect("a pipe").write_all(input.as_bytes());
        let Output { status, stdout, stderr } = child.wait_with_output().expect("it ends");
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        (status.code(), text(stdout), text(stderr))
    }
}

fn fine(output: &str) -> (Option<i32>, String, String) {
    (Some(0), output.to_owned(), String::new())
}

#[test]
fn programs_get_their_arguments() {
    let folder = Folder::new(&[("a.js", "print(JSON.stringify(scriptArgs), Object.isFrozen(scriptArgs))")]);
    let expected = fine("[\"a.js\",\"x\",\"--fuel=1\",\"-\",\"\",\"\u{e4}\"] true\n");
    assert_eq!(folder.cynic(&["a.js", "x", "--fuel=1", "-", "", "\u{e4}"]), expected);
    assert_eq!(folder.cynic(&["run", "a.js", "x", "--fuel=1", "-", "", "\u{e4}"]), expected);
    assert_eq!(folder.cynic(&["a.js"]).1, "[\"a.js\"] true\n");
    assert_eq!(folder.cynic(&["-e", "scriptArgs.slice(1)", "x", "-y"]).1, "[ 'x', '-y' ]\n");
    assert_eq!(folder.cynic(&["--eval=1 + 1"]).1, "2\n");
}

#[test]
fn the_standard_input_is_a_program() {
    let folder = Folder::new(&[]);
    assert_eq!(folder.with_input(&["-", "x"], "print(scriptArgs)"), fine("-,x\n"));
    assert_eq!(folder.with_input(&[], "print(1)"), fine("1\n"));
    assert_eq!(
        folder.with_input(&["-"], "export {}; print(await 2, import.meta.url.slice(0, 5))"),
        fine("2 file:\n")
    );
    let (status, _, diagnostics) = folder.with_input(&["-"], "\n  null.x");
    assert_eq!(status, Some(1));
    assert!(diagnostics.starts_with("<stdin>:2\n  null.x\n"), "{diagnostics}");
}

#[test]
fn modules_are_known_by_their_content() {
    let folder = Folder::new(&[
        ("a.js", "import { x } from './b'; print(x, typeof this)"),
        ("b.js", "export const x = 5"),
        ("c.js", "await null; print('awaited')"),
        ("d.js", "print(typeof this)"),
        ("e.cjs", "export {}"),
        ("f.js", "export {}; let x = = 1"),
        ("g.js", "const important = 1; let y = = 1"),
    ]);
    assert_eq!(folder.cynic(&["a.js"]), fine("5 undefined\n"));
    assert_eq!(folder.cynic(&["c.js"]), fine("awaited\n"));
    assert_eq!(folder.cynic(&["d.js"]), fine("object\n"));
    assert_eq!(folder.cynic(&["--module", "d.js"]), fine("undefined\n"));
    for (name, place) in [("e.cjs", "e.cjs:1:1"), ("f.js", "f.js:1:"), ("g.js", "g.js:1:")] {
        let (status, _, diagnostics) = folder.cynic(&[name]);
        assert!(status == Some(1) && diagnostics.contains(place), "{name}: {diagnostics}");
    }
}

#[test]
fn typescript_needs_no_flag() {
    let folder = Folder::new(&[
        (
            "a.ts",
            "import { y } from './lib.js'; import type { Z } from './nowhere'; const x: number = y; print(x)",
        ),
        ("lib.ts", "export const y: number = 7; export type Z = string;"),
        ("s.ts", "let x: number = 1; print(x)"),
        ("m.mts", "export const x: number = 1; print(x)"),
    ]);
    assert_eq!(folder.cynic(&["a.ts"]), fine("7\n"));
    assert_eq!(folder.cynic(&["s.ts"]), fine("1\n"));
    assert_eq!(folder.cynic(&["m.mts"]), fine("1\n"));
    assert_eq!(folder.cynic(&["--enable=typescript", "s.ts"]), fine("1\n"));
}

#[test]
fn imports_that_only_name_types_are_none() {
    let folder = Folder::new(&[
        ("types.ts", "export interface T { a: number }\nexport const v = 1;\nexport type U = T;"),
        (
            "a.ts",
            "import { T, v, type U } from './types';\nimport Nowhere from './nowhere';\nconst t: T = { a: v };\nlet n: Nowhere;\nprint(t.a)",
        ),
    ]);
    assert_eq!(folder.cynic(&["a.ts"]), fine("1\n"));
}

#[test]
fn errors_of_modules_name_who_imports() {
    let folder = Folder::new(&[
        ("lib.js", "export const y = 1;"),
        ("missing.js", "// first\nimport './lib.js';\n  import x from './nowhere.js';"),
        ("name.js", "import { y,\n  x } from './lib.js';"),
        ("again.js", "export * as all from './lib.js'; export { y as z, x } from './lib.js';"),
        ("kind.js", "import x from './lib.js' with { type: 'css' };"),
        ("package.js", "import 'left-pad';"),
        ("above.js", "import './missing.js';"),
        ("dynamic.js", "\nawait import('./nowhere.js');"),
        ("wrong.js", "import './broken.js';"),
        ("json.js", "import j from './bad.json' with { type: 'json' };"),
        ("bad.json", "{ 1: }"),
        ("broken.js", "let a = ;"),
    ]);
    for (name, line, rest) in [
        (
            "missing.js",
            "missing.js:3\n  import x from './nowhere.js';\n                ^\n",
            "Uncaught TypeError: cannot load module 'nowhere.js'",
        ),
        ("above.js", "missing.js:3\n", "    at missing.js:3:17"),
        ("name.js", "name.js:2\n  x } from './lib.js';\n  ^\n", "Uncaught SyntaxError: the export 'x'"),
        ("again.js", "again.js:1\n", "    at again.js:1:51"),
        ("kind.js", "kind.js:1\n", "    at kind.js:1:15"),
        ("package.js", "package.js:1\n", "    at package.js:1:8"),
        ("json.js", "json.js:1\n", "SyntaxError: cannot load module 'bad.json': "),
        ("dynamic.js", "dynamic.js:2\n", "    at dynamic.js:2:7"),
        ("wrong.js", "Uncaught SyntaxError: Unexpected token (broken.js:1:9)\nlet a = ;\n        ^\n", ""),
    ] {
        let (status, _, diagnostics) = folder.cynic(&[name]);
        assert_eq!(status, Some(1), "{name}");
        assert!(diagnostics.starts_with(line) && diagnostics.contains(rest), "{name}: {diagnostics}");
    }
}

#[test]
fn checks_run_nothing() {
    let folder = Folder::new(&[
        ("a.js", "print('ran')"),
        ("b.mjs", "import './nowhere.mjs'; print('ran')"),
        ("c.js", "let a;\nlet a;"),
    ]);
    assert_eq!(folder.cynic(&["--check", "a.js"]), fine(""));
    assert_eq!(folder.cynic(&["--check", "b.mjs"]), fine(""));
    let (status, output, diagnostics) = folder.cynic(&["--check", "c.js"]);
    assert_eq!((status, output.as_str()), (Some(1), ""));
    assert!(diagnostics.contains("already been declared (c.js:"), "{diagnostics}");
    let (status, _, diagnostics) = folder.cynic(&["--check", "a.js", "c.js"]);
    assert!(status == Some(1) && diagnostics.contains("(c.js:"), "{diagnostics}");
}

#[test]
fn scripts_may_run_before_the_program() {
    let folder = Folder::new(&[("a.js", "let shared = 5;"), ("b.js", "print(shared, scriptArgs)")]);
    assert_eq!(folder.cynic(&["--before=a.js", "b.js", "x"]), fine("5 b.js,x\n"));
}

#[test]
fn uncaught_errors_show_their_line() {
    let folder = Folder::new(&[
        ("a.js", "// first\nfunction f() {\n\tthrow new RangeError('deep');\n}\nf();"),
        ("m.mjs", "import { f } from './lib/x.mjs';\nf();"),
        ("lib/x.mjs", "export const f = () => {\n  undefined.y;\n};"),
        ("forged.js", "const e = new Error('x'); e.stack = 'Error\\n    at /etc/passwd:1:1'; throw e;"),
        ("value.js", "throw 5"),
    ]);
    let (status, _, diagnostics) = folder.cynic(&["a.js"]);
    assert_eq!(status, Some(1));
    assert!(diagnostics.starts_with("a.js:3\n\tthrow new RangeError('deep');\n\t"), "{diagnostics}");
    assert!(diagnostics.contains("^\nUncaught RangeError: deep\n    at f (a.js:3:"), "{diagnostics}");
    let diagnostics = folder.cynic(&["m.mjs"]).2;
    assert!(diagnostics.starts_with("lib/x.mjs:2\n  undefined.y;\n"), "{diagnostics}");
    assert!(!folder.cynic(&["forged.js"]).2.contains("root"));
    assert_eq!(folder.cynic(&["value.js"]).2, "Uncaught 5\n");
}

/// A folder of packages beside and above a program.
fn packages() -> Folder {
    Folder::new(&[
        (
            "app/a.mjs",
            "import d, { named } from 'plain'; import s from '@scope/sub/deep/x'; import { t } from 'transitive'; print(d, named, s, t)",
        ),
        ("app/node_modules/plain/package.json", r#"{ "main": "./c.cjs", "module": "es.js" }"#),
        ("app/node_modules/plain/es.js", "export default 'd'; export const named = 'n'"),
        ("app/node_modules/plain/c.cjs", "module.exports = 1"),
        (
            "node_modules/@scope/sub/package.json",
            r#"{ "exports": { ".": "./i.js", "./deep/*": { "require": "./no.cjs", "import": "./src/*.mjs" }, "./up": "../../../secret.mjs" } }"#,
        ),
        ("node_modules/@scope/sub/src/x.mjs", "export default 's'"),
        ("app/node_modules/transitive/package.json", r#"{ "exports": "./t.js" }"#),
        ("app/node_modules/transitive/t.js", "export { u as t } from 'inner'"),
        ("app/node_modules/transitive/node_modules/inner/package.json", "{}"),
        ("app/node_modules/transitive/node_modules/inner/index.js", "export const u = 't'"),
        ("app/node_modules/common/package.json", "{}"),
        ("app/node_modules/common/index.js", "module.exports = { a: 1 }"),
        ("app/node_modules/broken/package.json", "{"),
        (
            "app/errors.mjs",
            "for (const name of ['nowhere', '@scope/sub', '@scope/sub/src/x.mjs', '@scope/sub/up', 'common', 'broken', 'node:fs', '#x', '../secret.mjs', '../node_modules/../secret.mjs'])\n  await import(name).then(() => print(name, 'got'), (e) => print(name, e.name, e.message));",
        ),
        ("secret.mjs", "export default 's3cret'"),
    ])
}

#[test]
fn packages_are_a_permission() {
    let folder = packages();
    assert_eq!(folder.cynic(&["--allow=packages", "app/a.mjs"]), fine("d n s t\n"));
    let (status, output, diagnostics) = folder.cynic(&["app/a.mjs"]);
    assert_eq!((status, output.as_str()), (Some(1), ""));
    assert!(diagnostics.contains("packages need --allow=packages"), "{diagnostics}");
    // The folder itself is no permission either.
    assert_eq!(folder.cynic(&["--allow=read=.", "app/a.mjs"]).0, Some(1));
}

#[test]
fn what_packages_cannot_give_is_said() {
    let folder = packages();
    let (status, output, diagnostics) = folder.cynic(&["--allow=packages", "app/errors.mjs"]);
    assert_eq!(status, Some(0), "{diagnostics}");
    for (name, why) in [
        ("nowhere", "there is no package 'nowhere'"),
        ("@scope/sub", "cannot load"),
        ("@scope/sub/src/x.mjs", "exports no 'src/x.mjs'"),
        ("@scope/sub/up", "a path outside of it"),
        ("common", "CommonJS"),
        ("broken", "no JSON"),
        ("node:fs", "no name of a package"),
        ("#x", "no package around the importer"),
        ("../secret.mjs", "may not be read"),
        ("../node_modules/../secret.mjs", "may not be read"),
    ] {
        let line = output.lines().find(|line| line.split(' ').next() == Some(name)).unwrap_or_default();
        assert!(line.contains("TypeError") && line.contains(why), "{name}: {line}");
    }
    assert!(!output.contains("s3cret"));
}

#[test]
fn endings_may_be_left_out() {
    let folder = Folder::new(&[
        (
            "a.mjs",
            "import a from './x'; import b from './dir'; import c from './both'; import d from './data'  with { type: 'json' }; print(a, b, c, d)",
        ),
        ("x.mjs", "export default 1"),
        ("dir/index.js", "export default 2"),
        ("both", "export default 3"),
        ("both.js", "export default 'wrong'"),
        ("data.json", "4"),
    ]);
    assert_eq!(folder.cynic(&["a.mjs"]), fine("1 2 3 4\n"));
}

/// A folder of CommonJS modules.
fn common() -> Folder {
    Folder::new(&[
        (
            "main.cjs",
            "#!/usr/bin/env cynic\nconst a = require('./a'), { b } = require('./lib/b.js'), data = require('./data.json');\nprint(a.name, b, data.x, require('./a') === a, require.main === module, module.id, __filename.endsWith('main.cjs'), typeof __dirname, this === exports);\nprint(require('plain'), require('plain/sub'), require('dual').kind, process.env.NODE_ENV, global === globalThis, require.resolve('./a'));\nif (a) return;\nprint('not reached');",
        ),
        ("a.js", "exports.name = 'a'; exports.loaded = module.loaded;"),
        ("lib/b.js", "const { name } = require('../a'); module.exports = { b: name + 'b' };"),
        ("data.json", "{ \"x\": 5 }"),
        ("node_modules/plain/package.json", "{ \"main\": \"./lib\" }"),
        ("node_modules/plain/lib/index.js", "module.exports = 'plain';"),
        ("node_modules/plain/sub/package.json", "{ \"main\": \"../other.js\" }"),
        ("node_modules/plain/other.js", "module.exports = 'sub';"),
        (
            "node_modules/dual/package.json",
            "{ \"type\": \"module\", \"exports\": { \"import\": \"./i.js\", \"require\": \"./r.cjs\" }, \"imports\": { \"#in\": { \"require\": \"./inner.cjs\", \"default\": \"./inner.js\" } } }",
        ),
        ("node_modules/dual/i.js", "import kind from '#in'; export { kind }"),
        ("node_modules/dual/inner.js", "export default 'imported'"),
        ("node_modules/dual/r.cjs", "exports.kind = require('#in');"),
        ("node_modules/dual/inner.cjs", "module.exports = 'required';"),
        (
            "mixed.mjs",
            "import a, { name } from './a.js'; import { b } from './lib/b.js'; import { kind } from 'dual'; import plain from 'plain'; import * as star from './star.cjs';\nprint(a.name, name, b, kind, plain, star.x, star.name, Object.keys(star.default).join());",
        ),
        (
            "star.cjs",
            "__exportStar(require('./a'), exports); exports.x = 1; function __exportStar(m, e) { Object.assign(e, m) }",
        ),
        (
            "cycle.cjs",
            "exports.before = 1; const other = require('./cycle2.cjs'); exports.after = other.seen; print(other.seen, exports.after);",
        ),
        ("cycle2.cjs", "const c = require('./cycle.cjs'); exports.seen = c.before + '/' + c.after;"),
        ("throws.cjs", "exports.n = 1;\n  throw new Error('from inside');"),
        (
            "errors.cjs",
            "for (const name of ['./nope', 'nowhere', './throws.cjs', './throws.cjs', 'fs', './m.mjs', './broken.cjs', '/etc/hostname', './deep.cjs'])\n  try { require(name); print(name, 'got'); } catch (e) { print(name, e.name, e.code, e.message.split('\\n')[0]); }",
        ),
        ("m.mjs", "export default 1"),
        ("broken.cjs", "let a = ;"),
        (
            "deep.cjs",
            "globalThis.n = (globalThis.n ?? 0) + 1; delete require.cache; module.exports = require('./deep' + n + '.cjs')",
        ),
    ])
}

const COMMON: [&str; 2] = ["--allow=commonjs", "--allow=packages"];

#[test]
fn commonjs_modules_are_a_permission() {
    let folder = common();
    let run = |file: &str| folder.cynic(&[COMMON[0], COMMON[1], file]);
    assert_eq!(
        run("main.cjs"),
        fine("a ab 5 true true . true string true\nplain sub required production true a.js\n")
    );
    assert_eq!(run("mixed.mjs"), fine("a a ab imported plain 1 a name,loaded,x\n"));
    assert_eq!(run("cycle.cjs"), fine("1/undefined 1/undefined\n"));
    let (status, _, diagnostics) = folder.cynic(&["main.cjs"]);
    assert_eq!(status, Some(1), "{diagnostics}");
    let (status, _, diagnostics) = folder.cynic(&["mixed.mjs"]);
    assert_eq!(status, Some(1));
    assert!(diagnostics.contains("--allow="), "{diagnostics}");
    assert_eq!(folder.cynic(&["--check", COMMON[0], "main.cjs"]), fine(""));
}

#[test]
fn what_require_cannot_give_is_said() {
    let folder = common();
    let (status, output, diagnostics) = folder.cynic(&[COMMON[0], COMMON[1], "errors.cjs"]);
    assert_eq!(status, Some(0), "{diagnostics}");
    let lines: Vec<&str> = output.lines().collect();
    for (line, (name, parts)) in lines.iter().zip([
        ("./nope", ["Error MODULE_NOT_FOUND", "No such file"]),
        ("nowhere", ["Error MODULE_NOT_FOUND", "required by 'errors.cjs'"]),
        ("./throws.cjs", ["Error undefined", "from inside"]),
        ("./throws.cjs", ["Error undefined", "from inside"]),
        ("fs", ["Error MODULE_NOT_FOUND", "there is no package 'fs'"]),
        ("./m.mjs", ["Error ERR_REQUIRE_ESM", "use import()"]),
        ("./broken.cjs", ["SyntaxError undefined", "(broken.cjs:1:9)"]),
        ("/etc/hostname", ["Error MODULE_NOT_FOUND", "may not be read"]),
        ("./deep.cjs", ["Error MODULE_NOT_FOUND", "deep1.cjs"]),
    ]) {
        assert!(line.starts_with(name) && parts.iter().all(|part| line.contains(part)), "{name}: {line}");
    }
    // The place is the file's own, on its first line too.
    let (_, _, diagnostics) = folder.cynic(&[COMMON[0], "throws.cjs"]);
    assert!(
        diagnostics.starts_with("throws.cjs:2\n  throw new Error('from inside');\n        ^\n"),
        "{diagnostics}"
    );
    let one_line = Folder::new(&[("one.cjs", "exports.a = 1; throw new Error('x')")]);
    let (_, _, diagnostics) = one_line.cynic(&[COMMON[0], "one.cjs"]);
    assert!(diagnostics.contains("one.cjs:1:22"), "{diagnostics}");
}

#[test]
fn import_maps_say_what_specifiers_mean() {
    let folder = Folder::new(&[
        (
            "app/a.mjs",
            "import lib from 'lib'; import x from 'p/x.mjs'; import own from './own.mjs'; print(lib, x, own, await import('forbidden').catch((e) => e.message))",
        ),
        (
            "app/map.json",
            r#"{ "imports": { "lib": "./vendor/lib.mjs", "p/": "./vendor/", "./own.mjs": "./vendor/x.mjs", "forbidden": null, "out": "../secret.mjs" } }"#,
        ),
        ("app/vendor/lib.mjs", "import { y } from 'lib/y'; export default 'lib' + y"),
        ("app/vendor/x.mjs", "export default 'x'"),
        ("app/vendor/y.mjs", "export const y = 'y'"),
        (
            "app/scoped.json",
            r#"{ "imports": { "lib": "./vendor/lib.mjs", "p/": "./vendor/", "./own.mjs": "./vendor/x.mjs", "forbidden": null, "out": "../secret.mjs" }, "scopes": { "./vendor/": { "lib/y": "./vendor/y.mjs" } } }"#,
        ),
        ("app/out.mjs", "import s from 'out'; print(s)"),
        ("secret.mjs", "export default 's3cret'"),
        ("bad.json", r#"{ "imports": { "a": "http://x/" } }"#),
    ]);
    let (status, output, diagnostics) = folder.cynic(&["--import-map=app/scoped.json", "app/a.mjs"]);
    assert_eq!((status, diagnostics.as_str()), (Some(0), ""));
    assert!(
        output.starts_with("liby x x ") && output.contains("the import map forbids 'forbidden'"),
        "{output}"
    );
    assert_eq!(folder.cynic(&["--import-map=app/map.json", "app/a.mjs"]).0, Some(1));
    // A map is no permission.
    let (status, output, diagnostics) = folder.cynic(&["--import-map=app/map.json", "app/out.mjs"]);
    assert_eq!((status, output.as_str()), (Some(1), ""));
    assert!(diagnostics.contains("may not be read"), "{diagnostics}");
    let (status, _, diagnostics) = folder.cynic(&["--import-map=bad.json", "app/a.mjs"]);
    assert_eq!(status, Some(1));
    assert!(diagnostics.contains("--import-map: bad.json: the address 'http://x/'"), "{diagnostics}");
}

/// A program under `--watch`, whose lines are waited for.
struct Watched(std::process::Child, std::io::BufReader<std::process::ChildStdout>);

impl Watched {
    fn start(folder: &Folder, file: &str) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cynic"));
        command.args(["--watch", file]).current_dir(folder.path());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("the command runs");
        let lines = std::io::BufReader::new(child.stdout.take().expect("a pipe"));
        Watched(child, lines)
    }

    fn line(&mut self) -> String {
        use std::io::BufRead as _;
        let mut line = String::new();
        self.1.read_line(&mut line).expect("read");
        line.trim_end().to_owned()
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_watched_program_runs_again() {
    let folder = Folder::new(&[
        ("a.mjs", "import { v } from './b.mjs'; print(v)"),
        ("b.mjs", "export const v = 'first'"),
    ]);
    let mut watched = Watched::start(&folder, "a.mjs");
    assert_eq!(watched.line(), "first");
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("written");
    write("b.mjs", "export const v = 'second one'");
    assert_eq!(watched.line(), "second one");
    // A program that never ends, and one that waits, are ended.
    write("b.mjs", "export const v = 'third'; print('loops'); for (;;);");
    assert_eq!(watched.line(), "loops");
    write("b.mjs", "export const v = 'fourth'; setInterval(() => {}, 1e6)");
    assert_eq!(watched.line(), "fourth");
    // An error is no end.
    write("b.mjs", "export const v = ;");
    std::thread::sleep(std::time::Duration::from_millis(300));
    write("b.mjs", "export const v = 'last of all'");
    assert_eq!(watched.line(), "last of all");
}

#[test]
fn completions_and_the_manual_come_from_the_table() {
    let folder = Folder::new(&[]);
    for (arguments, part) in [
        (&["completions", "bash"][..], "complete -o filenames -F _cynic cynic"),
        (&["completions", "zsh"], "#compdef cynic"),
        (&["completions", "fish"], "complete -c cynic -l import-map -r"),
        (&["man"], ".TH CYNIC 1"),
    ] {
        let (status, output, diagnostics) = folder.cynic(arguments);
        assert_eq!((status, diagnostics.as_str()), (Some(0), ""));
        assert!(output.contains(part), "{output}");
    }
    // A shell that is there must be able to read what is for it.
    let script = folder.cynic(&["completions", "bash"]).1;
    let check = format!(
        "{script}\nCOMP_WORDS=(cynic --jit = f) COMP_CWORD=3; _cynic; echo \"${{COMPREPLY[*]}}\"; COMP_WORDS=(cynic --wat) COMP_CWORD=1; _cynic; echo \"${{COMPREPLY[*]}}\""
    );
    match Command::new("bash").args(["--norc", "-c", &check]).output() {
        Ok(output) => {
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            assert_eq!(text, "force-template\n--watch\n", "{}", String::from_utf8_lossy(&output.stderr));
        }
        Err(_) => pithos_skipped::test("there is no bash"),
    }
}

#[test]
fn stacks_show_who_awaits() {
    let folder = Folder::new(&[
        (
            "a.mjs",
            "async function inner() {\n  await null;\n  helper();\n}\nfunction helper() { throw new Error('deep'); }\nconst arrow = async () => {\n  await inner();\n};\nclass A {\n  async method() { for await (const v of this.items()) print(v); }\n  async *items() { yield await arrow(); }\n}\nawait new A().method();",
        ),
        (
            "b.js",
            "async function f() { await 1; g(); }\nfunction g() { print(new Error('x').stack); }\nf().then(() => {});",
        ),
        ("c.js", "async function f() { g(); }\nfunction g() { print(new Error('x').stack); }\nf();"),
    ]);
    let (status, output, diagnostics) = folder.cynic(&["a.mjs"]);
    assert_eq!((status, output.as_str()), (Some(1), ""));
    let frames: Vec<&str> = diagnostics.lines().filter_map(|line| line.trim().strip_prefix("at ")).collect();
    assert_eq!(
        frames,
        [
            "helper (a.mjs:5:27)",
            "inner (a.mjs:3:3)",
            "async arrow (a.mjs:7:3)",
            "async <anonymous> (a.mjs:11:26)",
            "async <anonymous> (a.mjs:10:42)",
            "async a.mjs:13:1"
        ],
        "{diagnostics}"
    );
    assert_eq!(folder.cynic(&["b.js"]), fine("Error: x\n    at g (b.js:2:22)\n    at f (b.js:1:31)\n"));
    assert_eq!(
        folder.cynic(&["c.js"]),
        fine("Error: x\n    at g (c.js:2:22)\n    at f (c.js:1:22)\n    at c.js:3:1\n")
    );
}
