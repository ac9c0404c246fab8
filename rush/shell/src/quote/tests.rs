//! Styles checked against bash 5.2.

use super::escape::dollar_single;
use super::*;

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn styles() {
    for (input, q, declaration_form, listing_form, trace_form) in [
        ("", "''", "\"\"", "", "''"),
        ("abc", "abc", "\"abc\"", "abc", "abc"),
        ("a b", "a\\ b", "\"a b\"", "'a b'", "'a b'"),
        ("it's", "it\\'s", "\"it's\"", "'it'\\''s'", "'it'\\''s'"),
        ("a\nb", "$'a\\nb'", "$'a\\nb'", "$'a\\nb'", "'a\nb'"),
        ("a$b`\"\\!", "a\\$b\\`\\\"\\\\\\!", "\"a\\$b\\`\\\"\\\\!\"", "'a$b`\"\\!'", "'a$b`\"\\!'"),
        ("a#~,=%+-@:", "a#~\\,=%+-@:", "\"a#~,=%+-@:\"", "a#~,=%+-@:", "a#~,=%+-@:"),
        ("~", "\\~", "\"~\"", "'~'", "'~'"),
        ("é", "é", "\"é\"", "é", "é"),
        ("\x01", "$'\\001'", "$'\\001'", "$'\\001'", "$'\\001'"),
    ] {
        let bytes = input.as_bytes();
        assert_eq!(text(printf_q(bytes)), q, "%q {input}");
        assert_eq!(text(declaration(bytes)), declaration_form, "declare -p {input}");
        assert_eq!(text(listing(bytes)), listing_form, "set {input}");
        assert_eq!(text(trace(bytes)), trace_form, "set -x {input}");
    }
    assert_eq!(text(printf_q(b"a:~b=~")), "a:\\~b=\\~");
    assert_eq!(text(printf_q(b"\xff")), "$'\\377'");
    assert_eq!(text(reusable(b"a\x01'b")), "$'a\\001\\'b'");
}

#[test]
fn every_style_reads_back() {
    let every: Vec<u8> = (1..=255).collect();
    let quoted = ansi_c_quote(&every);
    let inner = quoted.get(2..quoted.len() - 1).unwrap();
    assert_eq!(dollar_single(inner), every);
}

#[test]
fn dollar_single_escapes() {
    for (input, expect) in [
        ("a\\tb\\x41\\101\\u00e9", "a\tbAAé".as_bytes().to_vec()),
        ("\\cA\\c?\\e", vec![1, 127, 27]),
        ("\\q\\'\\\"", b"\\q'\"".to_vec()),
        ("a\\0b", b"a".to_vec()),
        ("\\xg\\", b"\\xg\\".to_vec()),
        ("\\x{263a}", vec![0x3a]),
    ] {
        assert_eq!(dollar_single(input.as_bytes()), expect, "{input}");
    }
}
