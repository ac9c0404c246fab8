//! Compiling is inside the limits: for every kind of source, large ones end in time and within the heap's limit, and little more.

use std::path::Path;

use measured::{BESIDES_KIB, HEAP_KIB, empty_kib, run};

mod measured;

/// Bytes of a large source.
const LARGE: usize = 6 << 20;

/// What one kind of source begins with, repeats (with `%` for a number) and ends with.
const KINDS: &[(&str, &str, &str)] = &[
    ("[", "a=>1,", "]"),
    ("", "a=>1;", ""),
    ("[", "async()=>1,", "]"),
    ("", "function f%(){}", ""),
    ("[", "function*(){},", "]"),
    ("({", "a(){},", "})"),
    ("({", "get a%(){},", "})"),
    ("", "(class{});", ""),
    ("class A{", "a(){}", "}"),
    ("class A{", "a%=1;", "}"),
    ("class A{", "static{}", "}"),
    ("class A{", "#a%;", "}"),
    ("", "{}", ""),
    ("", "{let a}", ""),
    ("", ";", ""),
    ("", "let a%;", ""),
    ("var ", "a%,", "z"),
    ("", "a%;", ""),
    ("[", "\"%\",", "]"),
    ("[", ".%,", "]"),
    ("[", "1,", "]"),
    ("[", ",", "]"),
    ("[", "{},", "]"),
    ("({", "a%:1,", "})"),
    ("[", "...a,", "]"),
    ("", "a();", ""),
    ("f(", "a,", "a)"),
    ("", "a?.b;", ""),
    ("a", "+a", ""),
    ("", "[a]=b;", ""),
    ("", "({a}=b);", ""),
    ("", "`${a}`;", ""),
    ("", "a``;", ""),
    ("[", "/a/,", "]"),
    ("switch(1){", "case %:", "}"),
    ("", "try{}finally{}", ""),
    ("", "for(let a of b);", ""),
    ("", "if(a);else ", ";"),
    ("", "1n;", ""),
    ("(", "a%,", "z)=>1"),
    ("{let x;", "()=>x;", "}"),
    ("", "[", ""),
    ("", "(", ""),
    ("", "//\n", "for(;;);"),
    ("'", "x", "'"),
];

fn source((start, middle, end): (&str, &str, &str), bytes: usize) -> String {
    let mut source = String::with_capacity(bytes + 64);
    source.push_str(start);
    let mut number = 0;
    while source.len() < bytes {
        match middle.split_once('%') {
            Some((before, after)) => source.push_str(&format!("{before}{number}{after}")),
            None => source.push_str(middle),
        }
        number += 1;
    }
    source.push_str(end);
    source
}

/// Statuses of an uncaught error and of the terminations by fuel, heap and deadline; and the normal end.
const ENDED: [i32; 5] = [0, 1, 120, 121, 124];

/// What the parser tries as the parameters of an arrow function, and reads again.
#[test]
fn parentheses_that_may_be_parameters_are_bounded() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut faults = Vec::new();
    for (index, (start, end)) in [
        ("(a=", ")"),
        ("([a]=", ")"),
        ("({a}=", ")"),
        ("({a=", "})"),
        ("([a=", "])"),
        ("({a:b=", "})"),
        ("(a,b=", ")"),
        ("async(a=", ")"),
        ("f(async(a=", "))"),
        ("x=>(a=", ")"),
    ]
    .iter()
    .enumerate()
    {
        for n in [100, 700, 3000, 8000] {
            let file = folder.path().join(format!("a{index}-{n}.js"));
            std::fs::write(&file, format!("{}1{}", start.repeat(n), end.repeat(n))).expect("written");
            check_ends(&["--check"], &format!("{start} {n} times"), &file, &mut faults);
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Code as it is written, and minified, is hardly heavier for it.
#[test]
fn assignments_in_parentheses_are_no_patterns() {
    let folder = tempfile::tempdir().expect("a folder");
    let function =
        "if((m=/a\\(b=/.exec(s))&&(t=m[1],u=(v=2)+t)){w=(0,f)(function(){x=1;return(y=x,y)},z=>{q=(r=z)})}";
    let source = format!("(e=function(s){{{}}})", function.repeat(400));
    let file = folder.path().join("a.js");
    std::fs::write(&file, source).expect("written");
    let ended = run(&["--check", "--heap-limit=32M"], &file);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
}

/// The constants of enums are worked out before the program runs, and may double from one to the next.
#[test]
fn constants_of_enums_are_bounded() {
    let folder = tempfile::tempdir().expect("a folder");
    let doubled = |each: &dyn Fn(usize) -> String| {
        let members: String = (1..60).map(|i| format!(", a{i} = {}", each(i - 1))).collect();
        format!("enum E {{ a0 = 'xxxxxxxx'{members} }}")
    };
    for (index, source) in [
        doubled(&|i| format!("a{i} + a{i}")),
        doubled(&|i| format!("`${{a{i}}}${{a{i}}}`")),
        doubled(&|i| format!("E.a{i} + E['a{i}']")),
        doubled(&|i| format!("+(a{i} + a{i})")),
        (1..60).fold("enum E { a0 = 'xxxxxxxx' }".to_owned(), |all, i| {
            format!("{all} enum E {{ a{i} = a{0} + a{0} }}", i - 1)
        }),
    ]
    .iter()
    .enumerate()
    {
        let file = folder.path().join(format!("a{index}.ts"));
        std::fs::write(&file, source).expect("written");
        let ended = run(&["--check"], &file);
        assert_eq!(ended.code, Some(1), "{source}: {}", ended.stderr);
        assert!(ended.stderr.contains("the constants of these enums are too long"), "{}", ended.stderr);
        assert!(ended.peak_kib <= empty_kib() + BESIDES_KIB, "{source}: {} KiB", ended.peak_kib);
    }
    let flags: String =
        (1..31).map(|i| format!(", a{i} = a{0} | a{0} << 1, b{i} = a{i} + b{0}", i - 1)).collect();
    let file = folder.path().join("fine.ts");
    std::fs::write(&file, format!("enum E {{ a0 = 1, b0 = 1{flags} }} print(E.a30)")).expect("written");
    assert_eq!(run(&[], &file).code, Some(0));
}

/// Runs the files of a folder that begin with `a`, and collects what goes wrong.
fn check_ends(flags: &[&str], kind: &str, file: &Path, faults: &mut Vec<String>) {
    let ended = run(flags, file);
    let name = file.file_name().expect("a name").display();
    let shown = ended.stderr.chars().take(200).collect::<String>();
    if !ended.code.is_some_and(|code| ENDED.contains(&code)) {
        faults.push(format!("{name}: {kind}: ended by {:?}: {shown}", ended.code));
    }
    let above = ended.peak_kib.saturating_sub(HEAP_KIB + empty_kib());
    if above > BESIDES_KIB {
        faults.push(format!("{name}: {kind}: {above} KiB above its heap's limit; {shown}"));
    }
}

fn ends_within_the_limits(flags: &[&str], kind: &str, program: &str, faults: &mut Vec<String>) {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["a.js", "a.mjs"] {
        let file = folder.path().join(name);
        std::fs::write(&file, program).expect("written");
        check_ends(flags, kind, &file, faults);
    }
}

fn none(faults: &[String]) {
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Large sources, and those that are just small enough to be let in: these show what the estimate is worth.
#[test]
fn every_kind_of_source_ends_within_the_limits() {
    let mut faults = Vec::new();
    for &kind in KINDS {
        for bytes in [LARGE, 64 << 10] {
            ends_within_the_limits(&[], kind.1, &source(kind, bytes), &mut faults);
        }
    }
    none(&faults);
}

#[test]
fn code_from_strings_is_inside_the_limits_too() {
    let mut faults = Vec::new();
    for &(start, middle, end) in KINDS {
        let (before, after) = middle.split_once('%').unwrap_or((middle, ""));
        let program = format!(
            "let s = {start:?} + ({before:?} + 1 + {after:?}).repeat(200000) + {end:?}; try {{ (0, eval)(s) }} catch {{}} try {{ Function(s) }} catch {{}}"
        );
        ends_within_the_limits(&["--allow=eval"], middle, &program, &mut faults);
    }
    none(&faults);
}

/// A pattern, and flags, nearly as long as the heap's limit: neither is copied to be looked up, nor quoted in full.
#[test]
fn long_patterns_and_flags_are_not_copied() {
    let mut faults = Vec::new();
    for program in [
        "RegExp('[a-z]'.repeat(2600000))",
        "RegExp('a', 'gggga'.repeat(2600000))",
        "RegExp('(a)'.repeat(4300000), 'v')",
        "RegExp('[a-z]'.repeat(1300000) + '\\u1234')",
    ] {
        ends_within_the_limits(&[], program, program, &mut faults);
    }
    none(&faults);
}

/// Patterns as long as any that are compiled: what is repeated, by an expression of its number.
const PATTERNS: &[&str] = &[
    "'a'",
    "'.'",
    "'(?:)'",
    "'()'",
    "'a?'",
    "'\\\\s?'",
    "'\\\\w'",
    "'[ab]'",
    "'[^\\\\w]*'",
    "'a|'",
    "'ab|'",
    "'(?=a)'",
    "'(?<!b)'",
    "'(?<a>)|'",
    "'\\\\p{L}'",
    "`(?<a${i}>)`",
    "'a{2}'",
    "'(?:ab?){2}'",
    "String.fromCharCode(i * 2 % 50000 + 256)",
    "`[${String.fromCharCode(300, 302, i % 20000 * 2 + 304, 50000, 50002, 50004)}]`",
    "`[${String.fromCharCode(i % 20000 * 2 + 304)}&&\\\\w]`",
    "`[\\\\q{${i}|a}]`",
    "`\\\\k<a>`",
];

#[test]
fn every_kind_of_pattern_ends_within_the_limits() {
    let mut faults = Vec::new();
    for pattern in PATTERNS {
        for flags in ["", "i", "iu", "iv"] {
            // Made in place: a list of its parts would take the room of the pattern.
            let program = format!(
                "let p = '(?<a>)'; for (let i = 0; i < 150000; i++) p += {pattern}; try {{ RegExp(p, '{flags}').test('aaaa') }} catch {{}}
                 let s = {pattern}; s = s.repeat(1000000 / s.length | 0); try {{ RegExp(s, '{flags}').test('aaaa') }} catch {{}}",
            )
            .replace("let s =", "let i = 7; let s =");
            let folder = tempfile::tempdir().expect("a folder");
            let file = folder.path().join("a.js");
            std::fs::write(&file, program).expect("written");
            check_ends(&[], &format!("{pattern} {flags}"), &file, &mut faults);
        }
    }
    none(&faults);
}

/// JSON modules: what is parsed is inside the limits with its text.
#[test]
fn json_modules_end_within_the_limits() {
    let mut faults = Vec::new();
    let long = |start: &str, middle: &str, end: &str, bytes: usize| {
        format!("{start}{}{end}", middle.repeat(bytes / middle.len()))
    };
    for bytes in [14 << 20, 7 << 20, 3 << 20, 1 << 20] {
        for (start, middle, end) in [
            ("\"", "x", "\""),
            ("\"", "é", "\""),
            ("\"", "\u{4e00}", "\""),
            ("\"", "\\n", "\""),
            ("[", "1,", "1]"),
            ("[", "\"a\",", "1]"),
            ("[", "{},", "1]"),
            ("[", "{\"a\":1},", "1]"),
            ("{", "\"a\":1,", "\"b\":2}"),
            ("", " ", "1"),
            ("", "[", ""),
            ("", "7", ""),
        ] {
            let folder = tempfile::tempdir().expect("a folder");
            std::fs::write(folder.path().join("a.json"), long(start, middle, end, bytes)).expect("written");
            let file = folder.path().join("a.mjs");
            std::fs::write(&file, "import value from './a.json' with { type: 'json' }; value;")
                .expect("written");
            check_ends(&[], &format!("{start}{middle}{end} of {bytes}"), &file, &mut faults);
        }
    }
    none(&faults);
}

#[test]
fn fuel_pays_for_the_length_of_a_source() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("a.js");
    std::fs::write(&file, source(("", ";", ""), 1 << 20)).expect("written");
    let output = run(&["--heap-limit=1G", "--timeout=60", "--fuel=1000"], &file);
    assert_eq!(output.code, Some(120), "{}", output.stderr);
}
