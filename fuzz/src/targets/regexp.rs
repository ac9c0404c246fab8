//! Regular expressions: garbage must give an error, and well-formed patterns the same matches as node's.

use std::ops::ControlFlow;
use std::time::Duration;

use cynic_regexp::{Flags, Input, Interrupted, Regex, Scratch};
use serde_json::{Value, json};

use super::Failure;
use crate::peer::{self, PeerError};
use crate::random::Random;

/// Cases of one round; a node start is paid once for all of them.
const CASES: usize = 2000;
/// Steps that one match may take before it counts as too long for a comparison.
const STEPS_MAX: u64 = 2_000_000;

/// What a case gives: the captures of the match as text, no match, a syntax error, or no verdict.
fn ours(pattern: &str, flags: &str, text: &str) -> Option<Value> {
    let units: Vec<u16> = pattern.encode_utf16().collect();
    let flags = Flags::parse(flags.encode_utf16())?;
    let regex = match Regex::compile(Input::Utf16(&units), flags) {
        Ok(regex) => regex,
        Err(_) => return Some(json!("error")),
    };
    let text: Vec<u16> = text.encode_utf16().collect();
    let latin: Option<Vec<u8>> = text.iter().map(|unit| u8::try_from(*unit).ok()).collect();
    let mut results = Vec::new();
    let mut inputs = vec![Input::Utf16(&text)];
    inputs.extend(latin.as_deref().map(Input::Latin1));
    for input in inputs {
        let mut steps = 0_u64;
        let mut scratch = Scratch::default();
        let mut budget = |more: u32| {
            steps += u64::from(more);
            if steps > STEPS_MAX { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        results.push(match regex.exec(input, 0, false, &mut scratch, &mut budget) {
            Ok(false) => json!(null),
            Ok(true) => (0..regex.group_count())
                .map(|group| {
                    scratch.capture(group).map_or(json!(null), |range| json!([range.start, range.end]))
                })
                .collect(),
            Err(Interrupted::BacktrackLimit | Interrupted::Budget) => return None,
        });
    }
    match results.as_slice() {
        [wide, narrow] if wide != narrow => Some(json!({"utf16": wide, "latin1": narrow})),
        _ => results.pop(),
    }
}

/// Random characters of the grammar in random order.
pub(super) fn robust(random: &mut Random) -> Result<u64, Failure> {
    const PIECES: &[&str] = &[
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "*",
        "+",
        "?",
        "|",
        "^",
        "$",
        ".",
        "\\",
        "-",
        "a",
        "b",
        "1",
        "9",
        ",",
        "(?:",
        "(?=",
        "(?<!",
        "(?<n>",
        "\\k<n>",
        "\\1",
        "\\u{1F600}",
        "\\u",
        "\\x4",
        "\\p{L}",
        "\\p{",
        "\\b",
        "\\B",
        "[^",
        "--",
        "&&",
        "\\q{ab|c}",
        "{2}",
        "{1,3}",
        "{9999999999}",
        "(?i:",
        "(?-i:",
        "\u{e9}",
        "\u{1F600}",
        "\\c",
        "\\d",
    ];
    for _ in 0..CASES {
        let pattern: String = (0..1 + random.below(24)).map(|_| random.pick(PIECES)).collect();
        let flags = random.pick(&["", "u", "v", "i", "iu", "iv", "ms", "y"]);
        // The answer does not matter: that there is one does. A panic or a hang ends the program.
        let _ = ours(&pattern, flags, "aab b19\u{e9}ab");
    }
    Ok(CASES as u64)
}

/// A pattern that is well formed, of the kinds that both engines know.
fn pattern(random: &mut Random, depth: usize, groups: &mut usize) -> String {
    let mut text = String::new();
    for _ in 0..1 + random.below(4) {
        let atom = atom(random, depth, groups);
        text.push_str(&atom);
        let assertion = ["^", "$", "\\b", "\\B"].contains(&atom.as_str())
            || atom.starts_with("(?=")
            || atom.starts_with("(?!")
            || atom.starts_with("(?<");
        if !assertion && random.chance(35) {
            text.push_str(random.pick(&["*", "+", "?", "*?", "+?", "??", "{2}", "{1,3}", "{0,2}?", "{2,}"]));
        }
    }
    if depth > 0 && random.chance(25) {
        text.push('|');
        text.push_str(&pattern(random, depth - 1, groups));
    }
    text
}

fn atom(random: &mut Random, depth: usize, groups: &mut usize) -> String {
    const SIMPLE: &[&str] = &[
        "a", "b", "c", "A", ".", "\\d", "\\w", "\\s", "\\W", "[ab]", "[^a]", "[a-c1]", "\u{e9}", "\u{130}",
        "k", "s", "^", "$", "\\b", "\\B", "x", " ",
    ];
    let choice = random.below(100);
    if depth == 0 || choice < 60 {
        return random.pick(SIMPLE).to_string();
    }
    let inner = pattern(random, depth - 1, groups);
    match choice {
        60..80 => {
            *groups += 1;
            format!("({inner})")
        }
        80..87 => format!("(?:{inner})"),
        87..90 => format!("(?={inner})"),
        90..93 => format!("(?!{inner})"),
        93..95 => format!("(?<={inner})"),
        95..97 => format!("(?<!{inner})"),
        _ => format!("\\{}", 1 + random.below((*groups).max(1))),
    }
}

fn text(random: &mut Random) -> String {
    const PIECES: &[&str] = &[
        "a",
        "b",
        "c",
        "A",
        "B",
        "1",
        "2",
        " ",
        "\n",
        "_",
        "\u{e9}",
        "\u{c9}",
        "K",
        "\u{212a}",
        "\u{17f}",
        "x",
        "\u{1F600}",
    ];
    (0..random.below(14)).map(|_| random.pick(PIECES)).collect()
}

const NODE: &str = "const cases = JSON.parse(require('fs').readFileSync(0, 'utf8'));
console.log(JSON.stringify(cases.map(([p, f, t]) => {
  let r; try { r = new RegExp(p, f + 'd'); } catch { return 'error'; }
  const m = r.exec(t);
  return m && m.indices.map(i => i ?? null);
})));";

/// A batch through both engines.
pub(super) fn against_node(random: &mut Random) -> Result<u64, Failure> {
    let cases: Vec<(String, &str, String)> = (0..CASES)
        .map(|_| {
            let pattern = pattern(random, 3, &mut 0);
            let flags = random.pick(&["", "i", "u", "iu", "s", "m", "v", "iv", "y"]);
            let mut text = text(random);
            if flags.contains(['u', 'v']) {
                // node begins matches inside a surrogate pair, which AdvanceStringIndex (ECMA-262, 22.2.7.3) steps over.
                text = text.replace('\u{1F600}', "-");
            }
            (pattern, flags, text)
        })
        .collect();
    // A case that we find too long could keep a matcher without a budget for hours.
    let judged: Vec<_> =
        cases.iter().filter_map(|case| Some((case, ours(&case.0, case.1, &case.2)?))).collect();
    let asked: Vec<_> = judged.iter().map(|(case, _)| case).collect();
    let input = serde_json::to_vec(&asked).map_err(|error| Failure::Found(error.to_string()))?;
    let output =
        peer::ask("node", &["-e", NODE], &input, Duration::from_secs(60)).map_err(|error| match error {
            PeerError::Absent(what) => Failure::Absent(what),
            PeerError::Failed(what) => Failure::Found(what),
        })?;
    let theirs: Vec<Value> =
        serde_json::from_slice(&output).map_err(|error| Failure::Found(format!("node's answer: {error}")))?;
    let mut differences = String::new();
    for ((case, ours), theirs) in judged.iter().zip(&theirs) {
        if ours != theirs {
            differences.push_str(&format!(
                "/{}/{} on {:?}\n  ours  {ours}\n  node  {theirs}\n",
                case.0, case.1, case.2
            ));
        }
    }
    if differences.is_empty() { Ok(judged.len() as u64) } else { Err(Failure::Found(differences)) }
}
