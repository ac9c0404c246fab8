//! Readers that are called directly: frames of a session, terms of the Erlang distribution, policies, patterns, zone files.

use std::ops::ControlFlow;

use cynic_regexp::{Flags, Input, Regex, Scratch};
use iris_mesh::etf;
use iris_mesh::term::{Atom, Term};
use pithos_sandbox::Policy;
use rush_session::{Decoder, ToShell, encode};
use rush_utilities::calendar::zone::TimeZone;

pub(super) const JSON_WORDS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    "\"",
    "\\u",
    "\\ud800",
    "1e999",
    "-0",
    "null",
    "\"id\":",
    "\"type\":\"run\"",
    "\"script\":",
];
pub(super) const POLICY_WORDS: &[&str] = &[
    "read = [",
    "]",
    "\"$workspace\"",
    "\"~\"",
    "network = \"loopback\"",
    "hosts = [\"*.a:1\"]",
    "[limits]",
    "memory_mb = -1",
    "cpu_seconds = 99999999999999999999",
    "\n",
    "\"",
    "\u{0}",
];
/// Steps that one match may take.
const STEPS_MAX: u64 = 200_000;
/// Moments that each zone is asked about: around now, and where numbers end.
const MOMENTS: [i64; 8] = [0, 1, -1, 1_800_000_000, -9_000_000_000, 1 << 33, i64::MIN / 4, i64::MAX / 4];
/// No value of `TZ` gives more: 24:59:59, and an hour of daylight saving.
const OFFSET_MAX: i64 = 26 * 3_600;

/// The frames in a text do not depend on how it is cut into pieces.
pub(super) fn wire(bytes: &[u8]) -> Result<(), String> {
    let whole = frames(bytes, bytes.len().max(1));
    for piece in [1, 3, 64] {
        let cut = frames(bytes, piece);
        if cut != whole {
            return Err(format!("in pieces of {piece}: {cut:?}\nin one: {whole:?}"));
        }
    }
    Ok(())
}

/// What is decoded until nothing is, or the stream is of no use.
fn frames(bytes: &[u8], piece: usize) -> Vec<String> {
    let mut decoder = Decoder::default();
    let mut found = Vec::new();
    for part in bytes.chunks(piece) {
        decoder.push(part);
        loop {
            match decoder.next_frame::<ToShell>() {
                Ok(None) => break,
                Ok(Some(Ok((message, _)))) => found.push(format!("{message:?}")),
                Ok(Some(Err(bad))) => found.push(format!("{bad:?}")),
                Err(error) => {
                    found.push(error.to_string());
                    return found;
                }
            }
        }
    }
    found
}

pub(super) fn wire_valid() -> Vec<Vec<u8>> {
    let run = |script: &str| {
        encode(&serde_json::json!({"type": "run", "id": 7, "script": script, "environment": {"A": "b"}}), 0)
    };
    let exit = encode(&ToShell::Exit, 0);
    let both = [run("echo hi"), exit].into_iter().flatten().flatten().collect::<Vec<u8>>();
    [run(""), run("é\u{1f600}\"\\\n")].into_iter().flatten().chain([both]).collect()
}

/// A term that was read is written and read again as the same.
pub(super) fn terms(bytes: &[u8]) -> Result<(), String> {
    let Ok((term, rest)) = etf::decode(bytes) else { return Ok(()) };
    if rest.len() > bytes.len() {
        return Err("more is left than there was".to_string());
    }
    let mut written = Vec::new();
    if etf::encode(&mut written, &term).is_err() {
        return Ok(());
    }
    match etf::decode(&written) {
        Ok((again, [])) if same(&again, &term) => Ok(()),
        other => Err(format!("{term:?}\nwas written and read as\n{other:?}")),
    }
}

/// Numbers that are none are not equal to themselves.
fn same(one: &Term, other: &Term) -> bool {
    one == other || format!("{one:?}") == format!("{other:?}")
}

pub(super) fn terms_valid() -> Vec<Vec<u8>> {
    let list = Term::List(vec![Term::Int(1), Term::Int(-70_000), Term::Float(1.5)]);
    let terms = [
        Term::Int(255),
        Term::Atom(Atom::new("gen_server")),
        Term::Tuple(vec![Term::atom("$gen_call"), Term::Binary(b"bytes".to_vec()), list]),
        etf::integer(true, &[1, 2, 3, 4, 5, 6, 7, 8, 9]),
    ];
    terms
        .iter()
        .filter_map(|term| {
            let mut out = Vec::new();
            etf::encode(&mut out, term).ok().map(|()| out)
        })
        .collect()
}

/// A policy is taken or refused; what is taken can be taken again.
pub(super) fn policy(bytes: &[u8]) -> Result<(), String> {
    let Ok(text) = std::str::from_utf8(bytes) else { return Ok(()) };
    let (first, second) = (Policy::from_toml(text), Policy::from_toml(text));
    if format!("{first:?}") == format!("{second:?}") {
        Ok(())
    } else {
        Err("read twice, it is two policies".to_string())
    }
}

pub(super) fn policy_valid() -> Vec<Vec<u8>> {
    let texts = [
        "name = \"a\"\nread = [\"/usr\", \"~/.x\"]\nwrite = [\"$workspace\", \"$tmp\"]\nnetwork = \"off\"\n",
        "network = \"loopback\"\nhosts = [\"npm\", \"*.example.org:8443\", \"ask\"]\nunix_sockets = \"own\"\ndenials = \"changes\"\n",
        "protect = [\"$workspace/.envrc\"]\nenvironment = [\"LC_*\"]\n[limits]\ncpu_seconds = 600\nmemory_mb = 4096\n",
    ];
    texts.map(|text| text.as_bytes().to_vec()).to_vec()
}

/// A pattern matches or not in a bounded number of steps, and its captures lie in the text.
pub(super) fn pattern(bytes: &[u8]) -> Result<(), String> {
    let split = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len());
    let (pattern, text) = bytes.split_at(split);
    let units: Vec<u16> = String::from_utf8_lossy(pattern).encode_utf16().collect();
    for flags in ["", "iu", "vms", "y"] {
        let Some(flags) = Flags::parse(flags.encode_utf16()) else { continue };
        let Ok(regex) = Regex::compile(Input::Utf16(&units), flags) else { continue };
        let (mut steps, mut scratch) = (0_u64, Scratch::default());
        let mut budget = |more: u32| {
            steps += u64::from(more);
            if steps > STEPS_MAX { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        if regex.exec(Input::Latin1(text), 0, false, &mut scratch, &mut budget).ok() != Some(true) {
            continue;
        }
        for group in 0..regex.group_count() {
            if let Some(range) = scratch.capture(group)
                && (range.start > range.end || range.end > text.len())
            {
                return Err(format!("group {group} is {range:?} in {} bytes", text.len()));
            }
        }
    }
    Ok(())
}

pub(super) fn pattern_valid() -> Vec<Vec<u8>> {
    let texts = [
        "^(?<year>\\d{4})-(\\d\\d)$\n2026-01-31",
        "(a+)+b|[^\\w-]*?\\1\naaaab",
        "(?<=x)y(?!z)\\bé\\u{1f600}\nxy yz",
        "[\\p{Lu}--[A-C]]{2,5}\nABCDEF",
    ];
    texts.map(|text| text.as_bytes().to_vec()).to_vec()
}

/// A zone file, or the text of `TZ`, gives offsets that exist, there and back.
pub(super) fn zone(bytes: &[u8]) -> Result<(), String> {
    let file = std::env::temp_dir().join(format!("pithos-fuzz-zone-{}", std::process::id()));
    std::fs::write(&file, bytes).map_err(|error| format!("{}: {error}", file.display()))?;
    let by_file = file.to_string_lossy().into_owned();
    let by_text = String::from_utf8_lossy(bytes).into_owned();
    for (value, offset_max) in [(by_file, i64::MAX), (by_text, OFFSET_MAX)] {
        let zone = TimeZone::from_variable(Some(&value));
        for moment in MOMENTS {
            let (offset, _) = zone.offset_at(moment);
            if offset.abs() > offset_max {
                return Err(format!("an offset of {offset} s at {moment}"));
            }
            let _ = zone.to_epoch(moment);
        }
    }
    let _ = std::fs::remove_file(file);
    Ok(())
}

pub(super) fn zone_valid() -> Vec<Vec<u8>> {
    let files = ["Europe/Berlin", "America/New_York", "Asia/Kolkata", "UTC"];
    let installed = files.iter().filter_map(|name| std::fs::read(format!("/usr/share/zoneinfo/{name}")).ok());
    let texts = ["CET-1CEST,M3.5.0,M10.5.0/3", "<-03>3<-02>,J1/0,365/25", "EST5"]
        .map(|text| text.as_bytes().to_vec());
    installed.chain(texts).collect()
}
