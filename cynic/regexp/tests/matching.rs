//! What matches what: pattern, flags, input and the expected groups, one case per line. Each case runs over both string
//! representations when the input fits.

use cynic_regexp::{Flags, Input, Interrupted, Regex, Scratch};
use std::ops::ControlFlow;

fn units(text: &str) -> Vec<u16> {
    text.encode_utf16().collect()
}

/// `^` instead of a group that took no part.
fn show(regex: &Regex, scratch: &Scratch, input: &[u16]) -> String {
    let groups = (0..regex.group_count()).map(|group| match scratch.capture(group) {
        Some(range) => String::from_utf16_lossy(&input[range]),
        None => "^".into(),
    });
    groups.collect::<Vec<_>>().join(",")
}

fn run(regex: &Regex, input: Input<'_>, wide: &[u16]) -> String {
    let mut scratch = Scratch::default();
    match regex.exec(input, 0, false, &mut scratch, &mut |_| ControlFlow::Continue(())) {
        Ok(true) => {
            format!("{}:{}", scratch.capture(0).map_or(0, |range| range.start), show(regex, &scratch, wide))
        }
        Ok(false) => "no".into(),
        Err(error) => format!("{error:?}"),
    }
}

#[track_caller]
fn check(pattern: &str, flags: &str, input: &str, expected: &str) {
    let flags = Flags::parse(flags.encode_utf16()).expect("flags");
    let regex =
        Regex::compile(Input::Utf16(&units(pattern)), flags).unwrap_or_else(|e| panic!("/{pattern}/: {e}"));
    let wide = units(input);
    assert_eq!(run(&regex, Input::Utf16(&wide), &wide), expected, "/{pattern}/ on {input:?} as UTF-16");
    if let Some(narrow) = wide.iter().map(|&unit| u8::try_from(unit).ok()).collect::<Option<Vec<u8>>>() {
        assert_eq!(
            run(&regex, Input::Latin1(&narrow), &wide),
            expected,
            "/{pattern}/ on {input:?} as Latin-1"
        );
    }
}

#[test]
fn basics() {
    check("abc", "", "xxabc", "2:abc");
    check("a|ab", "", "abc", "0:a");
    check("((a)|(ab))((c)|(bc))", "", "abc", "0:abc,a,a,^,bc,^,bc");
    check("a[a-z]{2,4}", "", "abcdefghi", "0:abcde");
    check("a[a-z]{2,4}?", "", "abcdefghi", "0:abc");
    check("(aa|aabaac|ba|b|c)*", "", "aabaac", "0:aaba,ba");
    check("(z)((a+)?(b+)?(c))*", "", "zaacbbbcac", "0:zaacbbbcac,z,ac,a,^,c");
    check("(a*)*", "", "b", "0:,^");
    check("(a*)b\\1+", "", "baaaac", "0:b,");
    check("(?=(a+))", "", "baaabac", "1:,aaa");
    check("(?=(a+))a*b\\1", "", "baaabac", "3:aba,a");
    check("(.*?)a(?!(a+)b\\2c)\\2(.*)", "", "baaabaac", "0:baaabaac,ba,^,abaac");
    check("(?:(?=(a))a)+b", "", "aaab", "0:aaab,a");
    check("^$", "", "", "0:");
    check("", "", "abc", "0:");
    check("[]", "", "abc", "no");
    check("[^]", "", "abc", "0:a");
    check("x*", "", "aaa", "0:");
    check("\\bfoo\\b", "", "a foo b", "2:foo");
    check("\\Boo\\b", "", "a foo b", "3:oo");
    check("^b", "m", "a\nb", "2:b");
    check("a$", "m", "a\nb", "0:a");
    check("a.b", "", "a\nb", "no");
    check("a.b", "s", "a\nb", "0:a\nb");
    check("(?:a|b|[cd])+e", "", "xabcde", "1:abcde");
}

#[test]
fn loops() {
    check("\"[^\"]*\"", "", "say \"hi\" now", "4:\"hi\"");
    check("\".*\"", "", "say \"hi\" \"ho\" now", "4:\"hi\" \"ho\"");
    check("\".*?\"", "", "say \"hi\" \"ho\" now", "4:\"hi\"");
    check("a*a", "", "aaa", "0:aaa");
    check("a*?a", "", "aaa", "0:a");
    check("a+?b", "", "aaab", "0:aaab");
    check("(?:ab){2,3}c", "", "ababababc", "2:abababc");
    check("(?:ab){2,3}?", "", "abababab", "0:abab");
    check("(?:a{0,2}){3}b", "", "aaaaaaab", "1:aaaaaab");
    check("(?:(a)|(b)){2}", "", "ab", "0:ab,^,b");
    check("(?:(a)|b)*", "", "ab", "0:ab,^");
    check("(?:a?){50}a{50}", "", &"a".repeat(50), &format!("0:{}", "a".repeat(50)));
    check(
        "(?:(?:ab|c)d?){40,60}e",
        "",
        &format!("{}e", "abd".repeat(45)),
        &format!("0:{}e", "abd".repeat(45)),
    );
    check("(?:[ab][cd]){30,}?x", "", &format!("{}x", "ad".repeat(33)), &format!("0:{}x", "ad".repeat(33)));
    check("(?:){4294967295}", "", "a", "0:");
    check("(?:a|){3,}b", "", "aab", "0:aab");
    check("(?:a*?)*?b", "", "aab", "0:aab");
    check("(\\2a)(\\1)", "", "aaa", "0:aa,a,a");
    check("x{0}y", "", "xy", "1:y");
    check("(x){0}y\\1", "", "xy", "1:y,^");
    check("a{2}", "", "aaa", "0:aa");
    check("[a-c]{2,}d", "", "abcabd", "0:abcabd");
    check("\\s*\\w+\\s*=", "", "  key  = 1", "0:  key  =");
}

#[test]
fn lookbehind() {
    check("(?<=\\$)\\d+(?:\\.\\d*)?", "", "cost $10.53", "6:10.53");
    check("(?<!\\$)\\b\\d+", "", "$10 20", "4:20");
    check("(?<=(\\d+)(\\d+))$", "", "1053", "4:,1,053");
    check("(?<=\\1(a))b", "", "aab", "2:b,a");
    check("(?<=([abc]+)([abc]+))$", "", "abc", "3:,a,bc");
    check("(?<=^ab{2,3})c", "", "abbbc", "4:c");
    check("(?<=a(?=bc))b", "", "abc", "1:b");
    check("(?<=(?<a>\\w){3})f", "", "abcdef", "5:f,c");
    check("(?<!abc)\\w\\w\\w", "", "abcdef", "0:abc");
    check("(?<=\\n)^", "m", "a\nb", "2:");
}

#[test]
fn names_and_modifiers() {
    check("(?<year>\\d{4})-(?<m>\\d\\d)", "", "on 2026-11", "3:2026-11,2026,11");
    check("(?<a>.)(?<b>.)\\k<b>\\k<a>", "u", "abba", "0:abba,a,b");
    check("(?:(?<x>a)|(?<x>b))\\k<x>", "", "bb", "0:bb,^,b");
    check("(?:(?:(?<x>a)|(?<x>b))\\k<x>){2}", "", "aabb", "0:aabb,^,b");
    check("\\k<x>(?<x>a)", "", "a", "0:a,a");
    check("(?i:a)b", "", "Ab", "0:Ab");
    check("(?i:a)b", "", "AB", "no");
    check("(?-i:a)b", "i", "aB", "0:aB");
    check("(?-i:a)b", "i", "AB", "no");
    check("(?s:.)(?m-s:^.)", "", "\na", "0:\na");
    check("\\k", "", "k", "0:k");
}

#[test]
fn case() {
    check("abc", "i", "xABC", "1:ABC");
    check("[a-z]+", "i", "ABCdef1", "0:ABCdef");
    check("[^x]", "i", "Xa", "1:a");
    check("\\u212a", "i", "k", "no");
    check("\\u212a", "iu", "k", "0:k");
    check("\\w", "iu", "\u{17f}", "0:\u{17f}");
    check("\\W", "iu", "\u{17f}", "no");
    check("\\w", "i", "\u{17f}", "no");
    check("\u{3c3}", "i", "\u{3c2}", "0:\u{3c2}");
    check("\u{df}", "i", "\u{1e9e}", "no");
    check("\u{df}", "iu", "\u{1e9e}", "0:\u{1e9e}");
    check("\u{10400}", "iu", "\u{10428}", "0:\u{10428}");
    check("(\u{e4}b)\\1", "i", "\u{c4}b\u{e4}B", "0:\u{c4}b\u{e4}B,\u{c4}b");
    check("\\P{Lu}", "iu", "A", "0:A");
    check("\\P{Lu}", "iv", "A", "no");
    check("[^\\P{Lu}]", "iv", "a", "0:a");
    check("\u{390}", "iu", "\u{1fd3}", "0:\u{1fd3}");
}

#[test]
fn unicode() {
    check("^.$", "", "\u{1f600}", "no");
    check("^.$", "u", "\u{1f600}", "0:\u{1f600}");
    check("[\u{1f600}-\u{1f610}]+", "u", "a\u{1f601}\u{1f602}", "1:\u{1f601}\u{1f602}");
    check("\\u{1F600}", "u", "\u{1f600}", "0:\u{1f600}");
    check("\\ud83d\\ude00", "u", "\u{1f600}", "0:\u{1f600}");
    check("\\ud83d", "u", "\u{1f600}", "no");
    check("\\ude00", "u", "\u{1f600}", "no");
    check("\\ude00", "", "\u{1f600}", "1:\u{fffd}");
    check("\\p{Script=Greek}+", "u", "abc\u{3b1}\u{3b2}", "3:\u{3b1}\u{3b2}");
    check("[^\\d\\p{L}]", "u", "a1 ", "2: ");
    check(".*\u{1f600}", "u", "\u{1f601}\u{1f600}\u{1f602}", "0:\u{1f601}\u{1f600}");
    check("[^a]*b", "u", "\u{1f600}b", "0:\u{1f600}b");
    check("(?<=\u{1f600})a", "u", "\u{1f600}a", "2:a");
    check("(?<=^.)a", "u", "\u{1f600}a", "2:a");
}

#[test]
fn unicode_sets() {
    check("[\\w--[aeiou]]+", "v", "aebcd", "2:bcd");
    check("[[a-z]&&[aeiou]]+", "v", "bcae", "2:ae");
    check("[\\q{abc|a|}x]", "v", "abcd", "0:abc");
    check("^[\\q{abc|a|}x]$", "v", "", "0:");
    check("[\\q{abc|ab}]c", "v", "abc", "0:abc");
    check("(?<=[\\q{ab|b}])c", "v", "abc", "2:c");
    check(
        "^\\p{RGI_Emoji}$",
        "v",
        "\u{1f468}\u{1f3fb}\u{200d}\u{1f680}",
        "0:\u{1f468}\u{1f3fb}\u{200d}\u{1f680}",
    );
    check("^\\p{Emoji_Keycap_Sequence}", "v", "1\u{fe0f}\u{20e3}", "0:1\u{fe0f}\u{20e3}");
    check("^[^\\q{a|b}]", "v", "cb", "0:c");
    check("[\\q{KM|x}]", "vi", "km", "0:km");
    check("^[\\p{L}\\q{a1}]+$", "v", "a1b", "0:a1b");
}

#[test]
fn annex_b() {
    check("[\\w-.]+", "", "a-.", "0:a-.");
    check("]", "", "a]", "1:]");
    check("}", "", "a}", "1:}");
    check("{", "", "a{", "1:{");
    check("a{", "", "a{", "0:a{");
    check("a{1", "", "a{1", "0:a{1");
    check("a{,2}", "", "a{,2}", "0:a{,2}");
    check("\\-", "", "-", "0:-");
    check("\\c", "", "\\c", "0:\\c");
    check("\\cA", "", "\u{1}", "0:\u{1}");
    check("[\\c]+", "", "c\\", "0:c\\");
    check("[\\c1]", "", "\u{11}", "0:\u{11}");
    check("\\8", "", "8", "0:8");
    check("\\101", "", "A", "0:A");
    check("\\400", "", " 0", "0: 0");
    check("\\0", "", "\0", "0:\0");
    check("(?=a)*b", "", "b", "0:b");
    check("(?=a){2}a", "", "a", "0:a");
    check("\\u12", "", "u12", "0:u12");
    check("\\x1", "", "x1", "0:x1");
    check("\\p{L}", "", "p{L}", "0:p{L}");
    check("(a)\\2", "", "a\u{2}", "0:a\u{2},a");
    check("[\\b]", "", "\u{8}", "0:\u{8}");
}

#[test]
fn sticky_and_last_index() {
    let regex = Regex::compile(Input::Latin1(b"a"), Flags::default()).expect("pattern");
    let mut scratch = Scratch::default();
    let mut at = |input: Input<'_>, index, sticky| {
        let found = regex.exec(input, index, sticky, &mut scratch, &mut |_| ControlFlow::Continue(()));
        found.expect("no limit").then(|| scratch.capture(0).expect("whole").start)
    };
    assert_eq!(at(Input::Latin1(b"ba"), 0, true), None);
    assert_eq!(at(Input::Latin1(b"ba"), 1, true), Some(1));
    assert_eq!(at(Input::Latin1(b"ba"), 2, false), None);
    assert_eq!(at(Input::Latin1(b"ba"), 3, false), None);
    assert_eq!(at(Input::Utf16(&[0x62, 0x61]), 0, false), Some(1));
}

#[test]
fn a_last_index_inside_a_pair_steps_back_in_unicode_patterns() {
    let regex =
        Regex::compile(Input::Latin1(b"."), Flags::parse("u".encode_utf16()).expect("u")).expect("pattern");
    let mut scratch = Scratch::default();
    let found = regex
        .exec(Input::Utf16(&[0xD83D, 0xDE00]), 1, true, &mut scratch, &mut |_| ControlFlow::Continue(()));
    assert_eq!((found, scratch.capture(0)), (Ok(true), Some(0..2)));
}

/// Steps used by a search, stopped at a hundred million.
fn steps(pattern: &str, flags: &str, input: &[u8]) -> Result<(bool, u64), Interrupted> {
    let flags = Flags::parse(flags.encode_utf16()).expect("flags");
    let regex = Regex::compile(Input::Utf16(&units(pattern)), flags).expect("pattern");
    let mut used = 0_u64;
    let found = regex.exec(Input::Latin1(input), 0, false, &mut Scratch::default(), &mut |steps| {
        used += u64::from(steps);
        if used > 100_000_000 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    found.map(|found| (found, used))
}

#[test]
fn catastrophic_patterns_become_linear() {
    let long = [b"a".repeat(5_000), b"!".to_vec()].concat();
    for pattern in [
        "(a+)+$",
        "(a*)*$",
        "(a|a)*$",
        "(a|aa)+$",
        "(?:a?a?)*$",
        "(.*)*x",
        "^(?:(?:a*)*)*$",
        "x*y|(?:a+b?)+$",
    ] {
        let (_, used) = steps(pattern, "", &long).unwrap_or_else(|e| panic!("{pattern}: {e:?}"));
        assert!(used < 8_000_000, "{pattern}: {used} steps");
    }
}

#[test]
fn remembered_failures_do_not_change_results() {
    let text = [b"ab".repeat(3_000), b"aabc!".to_vec()].concat();
    for (pattern, expected) in
        [("(?:a|ab|b)*c!", true), ("(?:(?:a|b)+)+c\\b!", true), ("(?:(?=a)a|b)*c\\B!", false)]
    {
        assert_eq!(steps(pattern, "", &text).map(|found| found.0), Ok(expected), "{pattern}");
    }
}

#[test]
fn the_budget_stops_what_cannot_be_remembered() {
    let long = [b"a".repeat(200), b"!".to_vec()].concat();
    for pattern in ["(a+)+\\1$", "(?:(a+)+){100,200}$", "(?=(a+)+$)"] {
        assert_eq!(steps(pattern, "", &long), Err(Interrupted::Budget), "{pattern}");
    }
}

#[test]
fn the_backtrack_stack_is_bounded() {
    let long = b"ab".repeat(5_000_000);
    assert_eq!(steps("(?:a|ab|b)*c", "", &long), Err(Interrupted::BacktrackLimit));
}
