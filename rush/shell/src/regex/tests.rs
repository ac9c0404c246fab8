//! Matches and submatches checked against bash 5.2 with glibc.

use super::{Regex, escape_into};

fn check(pattern: &str, text: &str, expect: Option<&[Option<&str>]>) {
    let regex = Regex::new(pattern.as_bytes(), false).unwrap();
    let got = regex.captures(text.as_bytes());
    let got: Option<Vec<Option<&str>>> =
        got.map(|spans| spans.iter().map(|s| s.map(|(a, b)| text.get(a..b).unwrap())).collect());
    assert_eq!(got.as_deref(), expect, "{pattern} on {text}");
}

#[test]
fn matches() {
    check("b", "abc", Some(&[Some("b")]));
    check("^b", "abc", None);
    check("a|ab", "ab", Some(&[Some("ab")]));
    check("(a|ab)(c|bcd)(d*)", "abcd", Some(&[Some("abcd"), Some("a"), Some("bcd"), Some("")]));
    check("(a*)(ab)*(b*)", "abb", Some(&[Some("abb"), Some("a"), None, Some("bb")]));
    check("a?(ab)?", "ab", Some(&[Some("ab"), Some("ab")]));
    check("^([a-z]+):(.*)$", "key: a:b", Some(&[Some("key: a:b"), Some("key"), Some(" a:b")]));
    check("(.)(.)?", "x", Some(&[Some("x"), Some("x"), None]));
    check("([0-9]+)\\.([0-9]+)", "v1.22.3", Some(&[Some("1.22"), Some("1"), Some("22")]));
    check("x*", "aaa", Some(&[Some("")]));
    check("(a|b)*", "abab", Some(&[Some("abab"), Some("b")]));
    check("a{2,3}", "aaaa", Some(&[Some("aaa")]));
    check("a{,2}b", "aab", Some(&[Some("aab")]));
    check("^(a{2}){2}$", "aaaa", Some(&[Some("aaaa"), Some("aa")]));
    check("[[:alpha:]_][[:alnum:]_]*", "1 ab_2", Some(&[Some("ab_2")]));
    check("[]a]+", "x]a]", Some(&[Some("]a]")]));
    check("[^]a]+", "x]", Some(&[Some("x")]));
    check("[\\.]+", "a\\.", Some(&[Some("\\.")]));
    check("()", "a", Some(&[Some(""), Some("")]));
    check("a)", "a)", Some(&[Some("a)")]));
    check("é.", "éü", Some(&[Some("éü")]));
    check("\\bfoo\\b", "a foo b", Some(&[Some("foo")]));
    check("\\<w\\w+", "a wide", Some(&[Some("wide")]));
    check("a\\.b", "axb a.b", Some(&[Some("a.b")]));
    check("^$", "", Some(&[Some("")]));
    check("(a|(b))*", "ba", Some(&[Some("ba"), Some("a"), Some("b")]));
    check("((a)|b)*", "ab", Some(&[Some("ab"), Some("b"), Some("a")]));
    check("(^a|b)*", "ab", Some(&[Some("ab"), Some("b")]));
    check("(a*)*", "b", Some(&[Some(""), Some("")]));
    check("(a*)+", "b", Some(&[Some(""), Some("")]));
    check("(a|b)?c", "c", Some(&[Some("c"), None]));
    check("a.c", "a\nc", Some(&[Some("a\nc")]));
}

#[test]
fn without_case() {
    let regex = Regex::new("^AB[c-d]É$".as_bytes(), true).unwrap();
    assert!(regex.captures("abCé".as_bytes()).is_some());
}

#[test]
fn invalid_patterns() {
    for pattern in ["*a", "a|*b", "(", "[a", "a{2", "a{3,2}", "\\", "(*a)", "[[:nope:]]", "[z-a]", "+", "{1}"]
    {
        assert!(Regex::new(pattern.as_bytes(), false).is_err(), "{pattern}");
    }
}

#[test]
fn hostile_expressions_stay_polynomial() {
    let text = "a".repeat(2_000);
    let regex = Regex::new(b"^(a*)*(a|aa)*b$", false).unwrap();
    assert!(regex.captures(text.as_bytes()).is_none());
    assert!(Regex::new("(".repeat(100_000).as_bytes(), false).is_err());
    assert!(Regex::new(format!("a{}", "*".repeat(100_000)).as_bytes(), false).is_ok());
}

#[test]
fn escaping() {
    let mut out = Vec::new();
    escape_into(&mut out, b"a.b[c]*$w");
    let regex = Regex::new(&out, false).unwrap();
    assert_eq!(regex.captures(b"xa.b[c]*$w"), Some(vec![Some((1, 10))]));
}
