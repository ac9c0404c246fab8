//! Patterns that are rejected, with the text and the place of the error.

use cynic_regexp::{Flags, Input, Regex};

#[track_caller]
fn check(pattern: &str, flags: &str, expected: &str) {
    let flags = Flags::parse(flags.encode_utf16()).expect("flags");
    let units: Vec<u16> = pattern.encode_utf16().collect();
    let error = match Regex::compile(Input::Utf16(&units), flags) {
        Ok(_) => "accepted".to_owned(),
        Err(error) => error.to_string(),
    };
    assert_eq!(error, expected, "/{pattern}/");
}

#[test]
fn groups_and_quantifiers() {
    check("(", "", "unterminated group (at 0)");
    check("a(b", "", "unterminated group (at 1)");
    check(")", "", "unmatched ')' (at 0)");
    check("*", "", "nothing to repeat (at 0)");
    check("a**", "", "nothing to repeat (at 2)");
    check("^*", "", "nothing to repeat (at 1)");
    check("(?<=a)*", "", "nothing to repeat (at 6)");
    check("(?=a)*", "u", "nothing to repeat (at 5)");
    check("{1}", "", "nothing to repeat (at 0)");
    check("a{2,1}", "", "numbers out of order in a {} quantifier (at 1)");
    check("a{99999999999999999999,1}", "", "numbers out of order in a {} quantifier (at 1)");
    check("a{99999999999999999999,}", "", "accepted");
    check("\\p{space}", "u", "accepted");
    check("\\p{WSpace}", "u", "invalid property name (at 0)");
    check("a{", "u", "incomplete quantifier (at 1)");
    check("}", "u", "a lone quantifier bracket must be escaped in a unicode pattern (at 0)");
    check("(?a)", "", "invalid group (at 2)");
    check("(?ii:a)", "", "a modifier appears twice in a group (at 3)");
    check("(?i-i:a)", "", "a modifier appears twice in a group (at 4)");
    check("(?-:a)", "", "invalid modifiers of a group (at 3)");
    check(&"(".repeat(5000), "", "pattern is nested too deeply (at 400)");
    check("(?:(?:(?:(?:a{99}){99}b){99}c){99}d){99}", "", "accepted");
}

#[test]
fn escapes_and_names() {
    check("\\", "", "\\ at the end of the pattern (at 0)");
    check("\\1", "u", "invalid decimal escape or reference to a group that does not exist (at 0)");
    check("\\a", "u", "invalid escape (at 0)");
    check("\\-", "u", "invalid escape (at 0)");
    check("\\c1", "u", "invalid escape (at 0)");
    check("\\u{110000}", "u", "invalid Unicode escape (at 0)");
    check("\\u12", "u", "invalid Unicode escape (at 0)");
    check("\\k<a>", "u", "reference to a group name that does not exist (at 0)");
    check("(?<a>b)\\k", "", "invalid named reference (at 7)");
    check("(?<a>b)\\k<c>", "", "reference to a group name that does not exist (at 7)");
    check("(?<1a>b)", "", "invalid name of a capturing group (at 3)");
    check("(?<a>b)(?<a>c)", "", "duplicate name of a capturing group (at 10)");
    check("(?<a>b)|(?<a>c)", "", "accepted");
    check("(?:(?<a>b)|x)(?<a>c)", "", "duplicate name of a capturing group (at 16)");
    check("\\p{Foo}", "u", "invalid property name (at 0)");
    check("\\p{Script}", "u", "invalid property name (at 0)");
    check("\\p{RGI_Emoji}", "u", "invalid property name (at 0)");
    check("\\P{RGI_Emoji}", "v", "invalid property name (at 0)");
    check("\\p", "u", "invalid property name (at 0)");
}

#[test]
fn classes() {
    check("[a", "", "unterminated character class (at 0)");
    check("[b-a]", "", "range out of order in a character class (at 1)");
    check("[\\w-a]", "u", "a character class cannot be the end of a range (at 1)");
    check("[(]", "v", "character must be escaped in a character class with the v flag (at 1)");
    check("[a&&&b]", "v", "invalid set operation in a character class (at 4)");
    check("[a--b&&c]", "v", "invalid set operation in a character class (at 5)");
    check("[ab--c]", "v", "invalid set operation in a character class (at 3)");
    check("[a-z--b]", "v", "invalid set operation in a character class (at 4)");
    check("[^\\q{ab}]", "v", "a negated character class may not contain strings (at 0)");
    check("[^\\p{RGI_Emoji}]", "v", "a negated character class may not contain strings (at 0)");
    check("[^[\\q{ab|a}&&a]]", "v", "accepted");
    check("[a!!b]", "v", "character must be escaped in a character class with the v flag (at 2)");
    check("[\\q{a}-b]", "v", "invalid set operation in a character class (at 6)");
}

#[test]
fn what_sets_of_characters_may_cost() {
    let refused = |pattern: String, flags: &str| {
        let flags = Flags::parse(flags.encode_utf16()).expect("flags");
        let units: Vec<u16> = pattern.encode_utf16().collect();
        let compiled = Regex::compile(Input::Utf16(&units), flags);
        compiled.is_err_and(|error| error.to_string().starts_with("pattern is too large"))
    };
    assert!(!refused("\\p{L}".repeat(300), "u"));
    assert!(refused("\\p{L}".repeat(100_000), "u"));
    assert!(!refused("[\\p{L}--[a-z]]".repeat(100), "v"));
    assert!(refused(format!("[{}]", "[\\p{L}--[a-z]]".repeat(20_000)), "v"));
    assert!(!refused("\\p{RGI_Emoji}".repeat(10), "v"));
    assert!(refused("\\p{RGI_Emoji}".repeat(10_000), "v"));
    assert!(!refused("é".repeat(1_000_000), "iu"));
    let different = |count: u32| (0x100..0x100 + count).filter_map(char::from_u32).collect::<String>();
    assert!(!refused(different(10_000), "iu"));
    assert!(refused(different(50_000), "iu"));
}
