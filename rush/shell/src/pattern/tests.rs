//! Verdicts checked against bash 5.2 (`LC_ALL=C.UTF-8`).

use std::fs;

use super::pathname::{GlobOptions, expand};
use super::{Extent, Options, Pattern, escape_into, has_magic, unescape};

const OPTIONS: Options = Options { utf8: true, ignore_case: false, extended: true };

fn compile(pattern: &str) -> Pattern {
    Pattern::compile(pattern.as_bytes(), OPTIONS)
}

#[test]
fn whole_matches() {
    for (pattern, text, expect) in [
        ("", "", true),
        ("", "a", false),
        ("abc", "abc", true),
        ("a*c", "abbc", true),
        ("a*c", "ac", true),
        ("a*b*c", "axbxbxc", true),
        ("a*b*c", "axc", false),
        ("*ab*ab", "abab", true),
        ("*ab*ab", "xab", false),
        ("?", "é", true),
        ("??", "é", false),
        ("a?c", "abc", true),
        ("[a-c]x", "bx", true),
        ("[!a-c]x", "bx", false),
        ("[^a-c]x", "dx", true),
        ("[]a]", "]", true),
        ("[a-]", "-", true),
        ("[[:digit:][:upper:]]", "Q", true),
        ("[[:alpha:]]", "é", true),
        ("[[=a=]b]", "a", true),
        ("[[.hyphen.]]", "-", true),
        ("[[.a.]-c]", "b", true),
        ("[\\]]", "]", true),
        ("[à-é]", "è", true),
        ("[abc", "[abc", true),
        ("a\\*", "a*", true),
        ("a\\*", "ab", false),
        ("\\", "\\", true),
        ("@(a|b)c", "bc", true),
        ("?(a)b", "b", true),
        ("*(ab|c)d", "abcabd", true),
        ("+(ab)", "", false),
        ("+(ab)", "abab", true),
        ("!(a|b)", "c", true),
        ("!(a|b)", "a", false),
        ("!(a|b)", "", true),
        ("*!(x)", "x", true),
        ("a!(b)c", "abc", false),
        ("a!(b)c", "abbc", true),
        ("@(a|@(b|c))d", "cd", true),
        ("@(a\\|b)", "a|b", true),
        ("@([|)]|x)", "|", true),
        ("+(a|b", "+(a|b", true),
        ("*(a*(b))c", "aabbabc", true),
        ("!(*.c|*.h)", "x.rs", true),
        ("!(*.c|*.h)", "x.c", false),
    ] {
        assert_eq!(compile(pattern).matches(text.as_bytes()), expect, "{pattern} against {text}");
    }
}

#[test]
fn without_case_and_without_utf8() {
    let fold = Options { ignore_case: true, ..OPTIONS };
    for (pattern, text) in
        [("aBc*", "AbCd"), ("É", "é"), ("[a-c]", "B"), ("[[:upper:]]", "a"), ("?(É)x", "éX")]
    {
        assert!(Pattern::compile(pattern.as_bytes(), fold).matches(text.as_bytes()), "{pattern}");
    }
    let bytes = Options { utf8: false, ..OPTIONS };
    assert!(Pattern::compile(b"??", bytes).matches("é".as_bytes()));
    assert!(compile("?").matches(b"\xff") && compile("[!a]").matches(b"\xff"));
}

#[test]
fn prefixes_and_suffixes() {
    for (pattern, text, shortest, longest) in [
        ("*/", "a/b/c", Some(2), Some(4)),
        ("*", "abc", Some(0), Some(3)),
        ("a*", "abc", Some(1), Some(3)),
        ("?", "éb", Some(2), Some(2)),
        ("x", "abc", None, None),
        ("*b*c", "abcbc", Some(3), Some(5)),
        ("+(a|b)", "abac", Some(1), Some(3)),
        ("*(a)", "aab", Some(0), Some(2)),
    ] {
        assert_eq!(compile(pattern).prefix(text.as_bytes(), Extent::Shortest), shortest, "{pattern}");
        assert_eq!(compile(pattern).prefix(text.as_bytes(), Extent::Longest), longest, "{pattern}");
    }
    for (pattern, text, shortest, longest) in [
        ("/*", "a/b/c", Some(3), Some(1)),
        (".*", "x.tar.gz", Some(5), Some(1)),
        ("*", "abc", Some(3), Some(0)),
        ("?", "bé", Some(1), Some(1)),
        ("b*c", "abcbc", Some(3), Some(1)),
        ("b*a", "ba_ab", None, None),
        ("x", "abc", None, None),
        ("+(a|b)", "cab", Some(2), Some(1)),
    ] {
        assert_eq!(compile(pattern).suffix(text.as_bytes(), Extent::Shortest), shortest, "{pattern}");
        assert_eq!(compile(pattern).suffix(text.as_bytes(), Extent::Longest), longest, "{pattern}");
    }
}

#[test]
fn replacements() {
    for (pattern, text, expect) in [
        ("b", "abcabc", vec![(1, 2), (4, 5)]),
        ("*", "abc", vec![(0, 3)]),
        ("b*", "abcb", vec![(1, 4)]),
        ("", "abc", vec![]),
        ("?(z)", "abc", vec![(0, 0), (1, 1), (2, 2)]),
        ("X*(y)", "aXbXyy", vec![(1, 2), (3, 6)]),
        ("[ac]", "abc", vec![(0, 1), (2, 3)]),
        ("?", "é.", vec![(0, 2), (2, 3)]),
    ] {
        assert_eq!(compile(pattern).find_all(text.as_bytes()), expect, "{pattern} in {text}");
    }
    assert_eq!(compile("*").find_all(b""), vec![(0, 0)]);
}

#[test]
fn hostile_patterns_stay_polynomial() {
    let text = "a".repeat(3_000);
    assert!(!compile(&format!("{}b", "*a".repeat(50))).matches(text.as_bytes()));
    assert!(!compile("*(*(*(a)))b").matches(text.get(..200).unwrap().as_bytes()));
    let deep = format!("{}a{}", "@(".repeat(10_000), ")".repeat(10_000));
    assert!(compile(&deep).matches(b"a"));
}

#[test]
fn escaping() {
    let mut out = Vec::new();
    escape_into(&mut out, b"a*[b]\\-\xffc");
    assert_eq!(unescape(&out), b"a*[b]\\-\xffc");
    assert!(compile("a").as_literal().is_some() && !has_magic(&out, true));
    assert!(Pattern::compile(&out, OPTIONS).matches(b"a*[b]\\-\xffc"));
    assert!(has_magic(b"a[b]", false) && !has_magic(b"a[b", false) && !has_magic(b"@(a)", false));
}

#[test]
fn pathnames() {
    let root = std::env::temp_dir().join(format!("rush-pathname-{}", std::process::id()));
    fs::create_dir_all(root.join("d/e")).unwrap();
    for file in ["a.c", "b.c", ".hidden", "d/x.c", "d/e/y.c", "Z.c"] {
        fs::write(root.join(file), "").unwrap();
    }
    let check = |pattern: &str, options: GlobOptions<'_>, expect: &[&str]| {
        let found = expand(pattern.as_bytes(), &root, &options);
        let found: Vec<_> = found.iter().map(|f| String::from_utf8_lossy(f).into_owned()).collect();
        assert_eq!(found, expect, "{pattern}");
    };
    let plain = GlobOptions { pattern: OPTIONS, ..GlobOptions::default() };
    let star = GlobOptions { globstar: true, ..plain };
    check("*.c", plain, &["Z.c", "a.c", "b.c"]);
    check("*", plain, &["Z.c", "a.c", "b.c", "d"]);
    check(".*", plain, &[".hidden"]);
    check("*", GlobOptions { dotglob: true, ..plain }, &[".hidden", "Z.c", "a.c", "b.c", "d"]);
    check("*/", plain, &["d/"]);
    check("d/*.c", plain, &["d/x.c"]);
    check("d//*.c", plain, &["d//x.c"]);
    check("*/x.c", plain, &["d/x.c"]);
    check("*/nope", plain, &[]);
    check("**/*.c", star, &["Z.c", "a.c", "b.c", "d/e/y.c", "d/x.c"]);
    check("d/**", star, &["d/", "d/e", "d/e/y.c", "d/x.c"]);
    check("**/", star, &["d/", "d/e/"]);
    check("**", star, &["Z.c", "a.c", "b.c", "d", "d/e", "d/e/y.c", "d/x.c"]);
    check("!(*.c)", plain, &["d"]);
    check("@(.h*|a*)", plain, &[".hidden", "a.c"]);
    let ignore = [compile("*.c")];
    check("*", GlobOptions { ignore: &ignore, ..plain }, &["d"]);
    check("d/*", GlobOptions { ignore: &ignore, ..plain }, &["d/e", "d/x.c"]);
    let fold = GlobOptions { pattern: Options { ignore_case: true, ..OPTIONS }, ..plain };
    check("z*", fold, &["Z.c"]);
    fs::remove_dir_all(&root).unwrap();
}

#[test]
fn deep_groups_match_as_shallow_ones() {
    let nest =
        |open: &str, inner: &str, depth: usize| format!("{}{inner}{}", open.repeat(depth), ")".repeat(depth));
    for depth in [1, 199, 200, 201, 10_000] {
        for (open, text, expect) in [
            ("@(", "ab", true),
            ("?(", "", true),
            ("*(", "abab", true),
            ("+(", "x", false),
            ("@(c|", "ab", true),
        ] {
            assert_eq!(compile(&nest(open, "ab", depth)).matches(text.as_bytes()), expect, "{open} {depth}");
        }
        let even = depth % 2 == 0;
        assert_eq!(compile(&nest("!(", "ab", depth)).matches(b"ab"), even, "! {depth}");
        // Without an end they are text.
        let open = "@(".repeat(depth);
        assert!(compile(&open).matches(open.as_bytes()), "{depth}");
        let split = "@(a|@(b)".repeat(depth);
        let text = "@(a|b".repeat(depth);
        assert!(compile(&split).matches(text.as_bytes()), "{depth}");
    }
    let limit = crate::limits::PATTERN_DEPTH_MAX;
    assert!(compile(&nest("@(", "ab", limit)).matches(b"ab"));
    assert!(compile(&nest("@(", "ab", limit + 1)).too_deep);
}
