//! Puts one value into a JSON text and leaves every other byte as it is: order, numbers, spaces. The text is known to be JSON.

use std::ops::Range;

use serde_json::Value;

/// A member of an object, by where its key and its value stand.
struct Member {
    key: Range<usize>,
    value: Range<usize>,
}

/// `text` with `value` at `outer.inner` of its object. None when the text is no object, or its `outer` is none.
pub(crate) fn set(text: &str, outer: &str, inner: &str, value: &Value) -> Option<String> {
    let root = skip_space(text, 0);
    let members = members(text, root)?;
    let Some(at) = find(text, &members, outer) else {
        let object = serde_json::json!({ inner: value });
        return Some(insert(text, root, &members, outer, &object));
    };
    let below = self::members(text, at.start)?;
    Some(match find(text, &below, inner) {
        Some(old) => {
            // What stands there already may stay as somebody has written it.
            if serde_json::from_str::<Value>(&text[old.clone()]).is_ok_and(|old| old == *value) {
                return Some(text.to_string());
            }
            let margin = margin_at(text, old.start);
            let fresh = render(value, &unit(text), &margin, newline(text));
            format!("{}{fresh}{}", &text[..old.start], &text[old.end..])
        }
        None => insert(text, at.start, &below, inner, value),
    })
}

/// The members of the object that begins at `at`.
fn members(text: &str, at: usize) -> Option<Vec<Member>> {
    let bytes = text.as_bytes();
    if bytes.get(at) != Some(&b'{') {
        return None;
    }
    let mut found = Vec::new();
    let mut next = skip_space(text, at + 1);
    while bytes.get(next) == Some(&b'"') {
        let key = next..value_end(text, next);
        let colon = skip_space(text, key.end);
        let start = skip_space(text, colon + 1);
        let value = start..value_end(text, start);
        next = skip_space(text, value.end);
        found.push(Member { key, value });
        if bytes.get(next) == Some(&b',') {
            next = skip_space(text, next + 1);
        }
    }
    Some(found)
}

/// Where the value of a key stands; of several, the last one counts.
fn find(text: &str, members: &[Member], key: &str) -> Option<Range<usize>> {
    let is_it =
        |member: &&Member| serde_json::from_str::<String>(&text[member.key.clone()]).is_ok_and(|k| k == key);
    members.iter().rev().find(is_it).map(|member| member.value.clone())
}

/// `text` with a new last member of the object that begins at `object`.
fn insert(text: &str, object: usize, members: &[Member], key: &str, value: &Value) -> String {
    let (unit, line) = (unit(text), newline(text));
    let key = Value::from(key);
    let Some(last) = members.last() else {
        let outer = margin_at(text, object);
        let inner = format!("{outer}{unit}");
        let value = render(value, &unit, &inner, line);
        let close = skip_space(text, object + 1);
        return format!("{}{{{line}{inner}{key}: {value}{line}{outer}{}", &text[..object], &text[close..]);
    };
    let before = text[..last.key.start].trim_end_matches([' ', '\t', '\r', '\n']).len();
    let gap = &text[before..last.key.start];
    let own_lines = gap.contains('\n');
    let value = if own_lines {
        render(value, &unit, &margin_at(text, last.key.start), line)
    } else {
        value.to_string()
    };
    let gap = if gap.is_empty() && members.len() == 1 { " " } else { gap };
    format!("{},{gap}{key}: {value}{}", &text[..last.value.end], &text[last.value.end..])
}

/// A value over several lines, the first of which has begun.
fn render(value: &Value, unit: &str, margin: &str, line: &str) -> String {
    let pretty = serde_json::to_string_pretty(value).unwrap_or_default();
    let mut lines = pretty.lines();
    let mut text = lines.next().unwrap_or_default().to_string();
    for next in lines {
        let plain = next.trim_start_matches(' ');
        // The renderer indents by two.
        text.push_str(line);
        text.push_str(margin);
        text.push_str(&unit.repeat((next.len() - plain.len()) / 2));
        text.push_str(plain);
    }
    text
}

/// The white space at the beginning of the line of `at`.
fn margin_at(text: &str, at: usize) -> String {
    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    text[start..at].chars().take_while(|c| matches!(c, ' ' | '\t')).collect()
}

/// What one level is indented by: as the first line that is.
fn unit(text: &str) -> String {
    let margins = text.lines().map(|line| &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]);
    margins.into_iter().find(|margin| !margin.is_empty()).unwrap_or("  ").to_string()
}

fn newline(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

fn skip_space(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    text.len().min(at) + rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len()
}

/// Where the value that begins at `at` ends.
fn value_end(text: &str, at: usize) -> usize {
    let bytes = text.as_bytes();
    let (mut next, mut depth) = (at, 0_usize);
    while let Some(byte) = bytes.get(next) {
        match byte {
            b'"' => {
                next += 1;
                while let Some(byte) = bytes.get(next).filter(|byte| **byte != b'"') {
                    next += if *byte == b'\\' { 2 } else { 1 };
                }
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth > 0 => depth -= 1,
            // The end of a number or a word.
            b'}' | b']' | b',' | b' ' | b'\t' | b'\r' | b'\n' if depth == 0 => return next,
            _ => {}
        }
        next += 1;
        if depth == 0 && matches!(byte, b'"' | b'}' | b']') {
            return next;
        }
    }
    next.min(bytes.len())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::set;

    /// Every byte of the old text is in the new one, in order, and what is new is in one place.
    fn check(old: &str) -> String {
        let value = json!({"command": "/opt/pithos", "args": ["serve"]});
        let new = set(old, "servers", "pithos", &value).unwrap_or_else(|| panic!("{old}"));
        let parsed: Value =
            serde_json::from_str(&new).unwrap_or_else(|error| panic!("{old} gave {new}: {error}"));
        assert_eq!(parsed["servers"]["pithos"], value, "{new}");
        let head = old.bytes().zip(new.bytes()).take_while(|(left, right)| left == right).count();
        let tail = old.bytes().rev().zip(new.bytes().rev()).take_while(|(left, right)| left == right).count();
        let white = |byte: u8| byte.is_ascii_whitespace();
        let lost = &old.as_bytes()[head.min(old.len() - tail)..old.len() - tail];
        assert!(lost.iter().all(|byte| white(*byte)), "{old} lost {lost:?} in {new}");
        assert_eq!(set(&new, "servers", "pithos", &value).as_deref(), Some(new.as_str()), "twice is once");
        new
    }

    #[test]
    fn everything_else_stays_byte_by_byte() {
        let others = [
            "{}",
            "{ }\n",
            "{\n}\n",
            r#"{"z": 1, "a": 12345678901234567890123456789.000}"#,
            "{\n    \"z\": 1e300,\n    \"a\": [1,\t2 , 3],\n    \"s\": \"}\\\"{\"\n}",
            "{\r\n\t\"z\": null\r\n}\r\n",
            r#"{"servers": {}}"#,
            r#"{"servers": {"other": {"command": "x"}}, "y": -0.0}"#,
            "{\n  \"servers\": {\n    \"other\": {\n      \"command\": \"ü\\u00fc\"\n    }\n  },\n  \"z\": true\n}\n",
            "{\n \"servers\": {\n }\n}",
            r#"{"\u0073ervers":{"a":1},"b":2}"#,
        ];
        for old in others {
            check(old);
        }
        assert_eq!(
            check("{\n  \"servers\": {\n    \"other\": 1\n  }\n}\n"),
            "{\n  \"servers\": {\n    \"other\": 1,\n    \"pithos\": {\n      \"args\": [\n        \"serve\"\n      ],\n      \"command\": \"/opt/pithos\"\n    }\n  }\n}\n"
        );
    }

    #[test]
    fn one_that_is_there_is_replaced_and_no_other_place_is_taken_for_it() {
        let value = json!({"command": "new"});
        let old = "{\"servers\": {\"pithos\": {\"command\": \"old\"}, \"z\": 7.50}, \"pithos\": 1}";
        let new = set(old, "servers", "pithos", &value).expect("an object");
        assert!(new.ends_with(", \"z\": 7.50}, \"pithos\": 1}") && new.contains("\"new\""), "{new}");
        assert_eq!(set("[]", "servers", "pithos", &value), None);
        assert_eq!(set("{\"servers\": 7}", "servers", "pithos", &value), None);
    }
}
