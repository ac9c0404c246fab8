//! What compiling costs: told to the caller piece by piece, in proportion to the pattern, and no further once the caller has said stop.

use std::ops::ControlFlow;

use cynic_regexp::{Flags, Input, Regex, SyntaxErrorKind};

/// Kinds of patterns that can be made long: what they begin with, what is repeated (with `%` for a number, and `@` for a character that differs each time),
/// what they end with.
const KINDS: &[(&str, &str, &str)] = &[
    ("", "a", ""),
    ("", "@", ""),
    ("", ".", ""),
    ("", "\\w", ""),
    ("", "\\W\\s", ""),
    ("", "[^a]", ""),
    ("", "[@b]", ""),
    ("", "[a-@]", ""),
    ("[", "\\w\\s", "]"),
    ("[", "@", "]"),
    ("[", "@-@", "]"),
    ("", "a?", ""),
    ("", "@?", ""),
    ("", "\\s*", ""),
    ("", "\\S*?", ""),
    ("", "(?:a|@)?", ""),
    ("(?:", "a?", ")*b"),
    ("(?:", "a{0}", ")*b"),
    ("", "a|", "b"),
    ("", "@|", "b"),
    ("", "ab|", "b"),
    ("", "\\s|", "b"),
    ("", "a+b|", "b"),
    ("x?y?z?(?:", "a@|", "b)"),
    ("", "(?:a{2}){2}", ""),
    ("", "(?=a)", ""),
    ("", "(?<!a)", ""),
    ("(?<=", "@a?", ")"),
    ("", "()", ""),
    ("", "(?<a%>)", ""),
    ("", "(?<a>)|", "\\k<a>"),
    ("(?<a>)", "\\k<a>", ""),
    ("(?:(?<a>)|(?<a>)|(?<a>)|(?<a>))", "\\k<a>", ""),
    ("()", "\\1", ""),
    ("", "(?i:@)", ""),
    ("", "\\b", ""),
    ("", "^|$|", ""),
    ("", "\\u0100", ""),
];

/// The same with the flag `v` alone.
const SET_KINDS: &[(&str, &str, &str)] = &[
    ("[", "[@]", "]"),
    ("[\\q{", "ab@|", "c}]"),
    ("[\\q{", "@", "}]"),
    ("", "[\\q{a|b@}]", ""),
    ("", "[\\w--@]", ""),
    ("", "[^\\W]", ""),
];

fn pattern((start, middle, end): (&str, &str, &str), times: u32) -> Vec<u16> {
    let mut text = String::from(start);
    for number in 0..times {
        // Every other character, in an order that does not jump: neither neighbours that join nor ranges out of order.
        let c = char::from_u32(0x1_0000 + number * 2).unwrap_or('x');
        text.push_str(&middle.replace('%', &number.to_string()).replace('@', &c.to_string()));
    }
    text.push_str(end);
    text.encode_utf16().collect()
}

/// The steps of compiling, the most bytes held, and whether it ended by itself.
fn cost(units: &[u16], flags: &str, stop_after: u64) -> (u64, u64, Option<SyntaxErrorKind>) {
    let flags = Flags::parse(flags.encode_utf16()).expect("flags");
    let (mut all, mut held, mut most) = (0_u64, 0_i64, 0_i64);
    let mut budget = |steps: u32, bytes: isize| {
        all += u64::from(steps);
        held += bytes as i64;
        most = most.max(held);
        if all > stop_after { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let result = Regex::compile_metered(Input::Utf16(units), flags, &mut budget);
    (all, most.max(0) as u64, result.err().map(|error| error.kind))
}

fn for_each_kind(mut check: impl FnMut((&str, &str, &str), &str)) {
    for &kind in KINDS {
        for flags in ["", "i", "u", "iv"] {
            check(kind, flags);
        }
    }
    for &kind in SET_KINDS {
        check(kind, "v");
        check(kind, "iv");
    }
}

/// Whether this kind is allowed to cost the square of its length, until the limit for classes ends it: each different character that is folded looks at the
/// table of foldings, and each operand of a set at all before it.
fn is_class_work(kind: &str, flags: &str) -> bool {
    kind.contains('@') && (flags.contains('i') || flags.contains('v') || kind.contains("?i"))
}

/// Nothing is more than linear, in time or in memory.
#[test]
fn compiling_costs_in_proportion() {
    for_each_kind(|kind, flags| {
        let (few, many) = (pattern(kind, 1000), pattern(kind, 4000));
        let (few_steps, few_bytes, _) = cost(&few, flags, u64::MAX);
        let (many_steps, many_bytes, _) = cost(&many, flags, u64::MAX);
        assert!(many_bytes <= few_bytes * 6 + (1 << 20), "{kind:?}/{flags}: bytes {few_bytes}, {many_bytes}");
        if !is_class_work(kind.1, flags) {
            assert!(
                many_steps <= few_steps * 6 + (1 << 18),
                "{kind:?}/{flags}: steps {few_steps}, {many_steps}"
            );
        }
    });
}

/// However long the pattern: once the budget says stop, little more is done.
#[test]
fn compiling_can_be_stopped() {
    for_each_kind(|kind, flags| {
        let units = pattern(kind, 6000);
        let (whole, _, _) = cost(&units, flags, u64::MAX);
        if whole > 1 << 18 {
            let (done, _, error) = cost(&units, flags, 1 << 16);
            assert_eq!(error, Some(SyntaxErrorKind::Interrupted), "{kind:?}/{flags}");
            assert!(done < 1 << 18, "{kind:?}/{flags}: {done} steps");
        }
    });
}

/// The order of the tests for names: of all pairs of places in which two groups can stand, only those in different alternatives may share a name.
#[test]
fn names_are_shared_between_alternatives_alone() {
    let accepted = |text: &str| {
        let units: Vec<u16> = text.encode_utf16().collect();
        Regex::compile(Input::Utf16(&units), Flags::default()).is_ok()
    };
    for good in [
        "(?<a>)|(?<a>)|(?<a>)",
        "(?:(?<a>)|(?<a>))|(?<a>)",
        "(?:(?<a>)|(?:x|(?<a>)))",
        "(?:(?:(?<a>)|b)(?<c>)|(?<a>)(?<c>))",
        "(?<b>(?<a>)|(?<a>)(?<c>)|(?<c>))",
    ] {
        assert!(accepted(good), "{good}");
    }
    for bad in [
        "(?<a>)(?<a>)",
        "(?<a>(?<a>))",
        "(?:(?<a>)|b)(?<a>)",
        "(?<a>)(?:b|(?<a>))",
        "(?:(?<a>)|(?<a>))(?<a>)",
        "(?:(?:(?<a>)|b)|c)(?:x|(?<a>))",
        "(?=(?<a>)|x)(?<a>)",
        "x|(?<a>)y(?:(?<a>)|z)",
    ] {
        assert!(!accepted(bad), "{bad}");
    }
}
