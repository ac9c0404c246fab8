//! String and RegExp methods called through `Vm`, hardened (fast paths) and not (general paths), each also with a collection at every
//! allocation. One case per line: receiver, method, arguments, result.

use cynic_engine::object::Object;
use cynic_engine::realm::Intrinsic;
use cynic_engine::symbol;
use cynic_engine::value::Value;
use cynic_engine::vm::{Options, Vm};

/// An argument or receiver.
#[derive(Clone, Copy)]
enum A {
    S(&'static str),
    N(f64),
    R(&'static str, &'static str),
    U,
}
use A::{N, R, S, U};

fn value(vm: &mut Vm, a: A) -> Value {
    match a {
        S(s) => Value::string(vm.new_string(s)),
        N(n) => Value::number(n),
        U => Value::UNDEFINED,
        R(pattern, flags) => {
            let (pattern, flags) = (vm.new_string(pattern), vm.new_string(flags));
            vm.regexp_literal(pattern, flags).map_or(Value::NULL, Value::object)
        }
    }
}

fn show(vm: &mut Vm, v: Value) -> String {
    match v.as_object() {
        Some(o) if o.is_array() => {
            let parts: Vec<String> = (0..o.elements().len()).map(|i| show(vm, o.element(i))).collect();
            format!("[{}]", parts.join("|"))
        }
        _ => vm.to_rust_string(v).unwrap_or_else(|_| "?".into()),
    }
}

fn call(vm: &mut Vm, receiver: A, method: &str, args: &[A]) -> String {
    let this = value(vm, receiver);
    let mut rooted = vm.scratch();
    rooted.push(this);
    for &a in args {
        let v = value(vm, a);
        rooted.push(v);
    }
    let key = match method {
        "@split" => symbol::SPLIT,
        name => vm.key_from_str(name),
    };
    let result = vm.invoke(this, key, &rooted[1..]);
    match result {
        Ok(v) => show(vm, v),
        Err(_) => {
            let e = vm.take_exception();
            e.as_object().map_or("terminated".into(), |o: Object| vm.error_header(o))
        }
    }
}

#[track_caller]
fn check(receiver: A, method: &str, args: &[A], expected: &str) {
    for hardened in [true, false] {
        for zeal in [false, true] {
            let mut vm = Vm::new(Options { hardened, ..Options::default() });
            vm.heap.set_zeal(zeal);
            vm.intrinsic(Intrinsic::RegExp);
            assert_eq!(
                call(&mut vm, receiver, method, args),
                expected,
                "{method}, hardened {hardened}, zeal {zeal}"
            );
        }
    }
}

#[test]
fn positions() {
    check(S("abc"), "at", &[N(-1.0)], "c");
    check(S("abc"), "charAt", &[N(5.0)], "");
    check(S("a\u{1f600}"), "codePointAt", &[N(1.0)], "128512");
    check(S("a\u{1f600}"), "charCodeAt", &[N(2.0)], "56832");
    check(S("abcdef"), "slice", &[N(-3.0), N(-1.0)], "de");
    check(S("abcdef"), "substring", &[N(4.0), N(1.0)], "bcd");
    check(S("abcdef"), "substr", &[N(-3.0), N(2.0)], "de");
    check(S("ab"), "repeat", &[N(3.0)], "ababab");
    check(S("ab"), "repeat", &[N(-1.0)], "RangeError: Invalid count value");
    check(S("ab"), "repeat", &[N(1e10)], "RangeError: Invalid string length");
    check(S("5"), "padStart", &[N(5.0), S("ab")], "abab5");
    check(S("5"), "padEnd", &[N(3.0)], "5  ");
    check(S("  x "), "trim", &[], "x");
    check(S("   "), "trimEnd", &[], "");
    check(S("  x "), "trimStart", &[], "x ");
}

#[test]
fn searching() {
    check(S("canal"), "indexOf", &[S("an")], "1");
    check(S("canal"), "indexOf", &[S(""), N(9.0)], "5");
    check(S("canal"), "lastIndexOf", &[S("a")], "3");
    check(S("canal"), "lastIndexOf", &[S("a"), N(2.0)], "1");
    check(S("can\u{3b1}l"), "lastIndexOf", &[S("\u{3b1}l")], "3");
    check(S("\u{3b1}\u{3b1}\u{3b1}\u{3b2}"), "indexOf", &[S("\u{3b1}\u{3b2}")], "2");
    check(S("canal"), "includes", &[S("nal")], "true");
    check(S("canal"), "startsWith", &[S("na"), N(2.0)], "true");
    check(S("canal"), "endsWith", &[S("can"), N(3.0)], "true");
    check(
        S("a"),
        "includes",
        &[R("a", "")],
        "TypeError: First argument to String.prototype.includes must not be a regular expression",
    );
    check(S("a-b-c"), "split", &[S("-")], "[a|b|c]");
    check(S("a-b-c"), "split", &[S("-"), N(2.0)], "[a|b]");
    check(S("abc"), "split", &[S("")], "[a|b|c]");
    check(S("abc"), "split", &[], "[abc]");
    check(S("aXbXc"), "replaceAll", &[S("X"), S("[$&$`$'$$]")], "a[XabXc$]b[XaXbc$]c");
    check(S("abc"), "replace", &[S("b"), S("$1$<x>")], "a$1$<x>c");
    check(S("ab"), "replaceAll", &[S(""), S("-")], "-a-b-");
}

#[test]
fn text() {
    check(S("Stra\u{df}e"), "toUpperCase", &[], "STRASSE");
    check(S("\u{391}\u{3a3}"), "toLowerCase", &[], "\u{3b1}\u{3c2}");
    check(S("\u{3a3}\u{391}"), "toLowerCase", &[], "\u{3c3}\u{3b1}");
    check(S("\u{130}"), "toLowerCase", &[], "i\u{307}");
    check(S("e\u{301}"), "normalize", &[], "\u{e9}");
    check(S("\u{e9}"), "normalize", &[S("NFD")], "e\u{301}");
    check(S("\u{fb01}"), "normalize", &[S("NFKC")], "fi");
    check(
        S("x"),
        "normalize",
        &[S("x")],
        "RangeError: The normalization form should be one of NFC, NFD, NFKC, NFKD.",
    );
    check(S("a"), "localeCompare", &[S("B")], "-1");
    check(S("e\u{301}"), "localeCompare", &[S("\u{e9}")], "0");
    check(S("resume"), "localeCompare", &[S("r\u{e9}sum\u{e9}")], "-1");
    check(S("a"), "localeCompare", &[S("A")], "-1");
}

#[test]
fn regular_expressions() {
    check(R("a(b)?", "g"), "exec", &[S("xab")], "[ab|b]");
    check(R("a(b)?", ""), "exec", &[S("ac")], "[a|undefined]");
    check(R("a/b[/]", "gi"), "toString", &[], "/a\\/b[/]/gi");
    check(R("(?<y>\\d+)-(\\d+)", ""), "test", &[S("on 12-34")], "true");
    check(S("on 12-34"), "match", &[R("(\\d)(\\d)", "g")], "[12|34]");
    check(S("on 12-34"), "match", &[R("(\\d)(\\d)", "")], "[12|1|2]");
    check(S("x"), "match", &[R("(\\d)(\\d)", "g")], "null");
    check(S("abc"), "match", &[R("", "g")], "[|||]");
    check(
        S("2026-11"),
        "replace",
        &[R("(?<y>\\d+)-(?<m>\\d+)", ""), S("$<m>/$<y> $2 $03 $10")],
        "11/2026 11 $03 20260",
    );
    check(S("aaa"), "replace", &[R("a", "g"), S("[$`]")], "[][a][aa]");
    check(S("abc"), "replace", &[R("(?:)", "g"), S("-")], "-a-b-c-");
    check(S("aaa"), "replace", &[R("a", "y"), S("b")], "baa");
    check(S("\u{1f600}b"), "replace", &[R("(?:)", "gu"), S("-")], "-\u{1f600}-b-");
    check(S("one  two"), "search", &[R("\\s+", "")], "3");
    check(S("one, two,three"), "split", &[R("\\s*,\\s*", "")], "[one|two|three]");
    check(
        S("A<B>bold</B>and<C>code</C>"),
        "split",
        &[R("<(\\/)?([^<>]+)>", "")],
        "[A|undefined|B|bold|/|B|and|undefined|C|code|/|C|]",
    );
    check(S("ab"), "split", &[R("(?:)", "")], "[a|b]");
    check(S(""), "split", &[R("(?:)", "")], "[]");
    check(S(""), "split", &[R("x", "")], "[]");
    check(S("abc"), "split", &[R("", "u"), N(2.0)], "[a|b]");
    check(S("test"), "split", &[R("(?:)", ""), N(-1.0)], "[t|e|s|t]");
    check(S("aba"), "split", &[R("b", "y")], "[a|a]");
    check(
        S("x"),
        "replaceAll",
        &[R("x", ""), S("y")],
        "TypeError: String.prototype.replaceAll called with a non-global RegExp argument",
    );
    check(S("x"), "match", &[S("(")], "SyntaxError: Invalid regular expression: /(/: unterminated group");
    check(S("x"), "match", &[U], "[]");
}

#[test]
fn escaping() {
    for hardened in [true, false] {
        let mut vm = Vm::new(Options { hardened, ..Options::default() });
        let regexp = vm.intrinsic(Intrinsic::RegExp);
        for (text, expected) in
            [("foo-bar", "\\x66oo\\x2dbar"), ("1+1", "\\x31\\+1"), ("\u{2028}\n", "\\u2028\\n"), ("_a", "_a")]
        {
            let key = vm.key_from_str("escape");
            let text = Value::string(vm.new_string(text));
            let result = vm.invoke(Value::object(regexp), key, &[text]).expect("escape");
            assert_eq!(show(&mut vm, result), expected);
        }
    }
}
