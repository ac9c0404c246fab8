//! `json get`, `json set` and `json query`: JSON on the command line, with a small part of jq's language.
//!
//! Invariant: this is the one utility that stands for no program, so that it never declines; a wrong use is its own error.
//! Status 0, 1 where nothing is at the path of `get` (or, with `-e`, the last result of `query` is null or false), 2 for errors.

mod evaluate;
mod filter;
mod value;

use std::io::{self, Read};

use evaluate::{evaluate, place, text_of};
use filter::Step;
use value::Value;

use crate::limits::{JSON_BYTES_MAX, JSON_PADDING_MAX};
use crate::options::parse;
use crate::{Context, Outcome};

/// What is said about wrong use.
pub(crate) const SYNOPSIS: &str =
    "get [-j] PATH [FILE] | set [-c] [-i] [-s] PATH VALUE [FILE] | query [-c] [-e] [-r] FILTER [FILE]";

/// What went wrong, for people.
enum Failure {
    /// The command line.
    Usage,
    Message(String),
    Output(io::Error),
}

impl From<String> for Failure {
    fn from(message: String) -> Failure {
        Failure::Message(message)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::Output(error)
    }
}

/// `json get|set|query ...`.
pub(crate) fn run(context: &mut Context<'_>) -> io::Result<Outcome> {
    let words = context.args.get(1..).unwrap_or_default().to_vec();
    let result = match words.first().map(Vec::as_slice) {
        Some(b"get") => get(context, &words),
        Some(b"set") => set(context, &words),
        Some(b"query") => query(context, &words),
        _ => Err(Failure::Usage),
    };
    let status = match result {
        Ok(status) => status,
        Err(Failure::Output(error)) => return Err(error),
        Err(Failure::Message(message)) => {
            context.complain(&[message.as_bytes()]);
            2
        }
        Err(Failure::Usage) => {
            context.complain(&[b"usage: json ", SYNOPSIS.as_bytes()]);
            2
        }
    };
    Ok(Outcome::Status(status))
}

/// The operands: two or three words, the last being the file.
fn operands<'w>(given: &[&'w [u8]], fixed: usize) -> Result<(Vec<&'w str>, Option<&'w [u8]>), Failure> {
    if given.len() < fixed || given.len() > fixed + 1 {
        return Err(Failure::Usage);
    }
    let texts: Result<Vec<&str>, _> =
        given.iter().take(fixed).map(|word| std::str::from_utf8(word)).collect();
    let texts = texts.map_err(|_| "an argument is not UTF-8".to_owned())?;
    Ok((texts, given.get(fixed).copied().filter(|file| *file != b"-")))
}

/// The documents of a file or of standard input.
fn documents(context: &mut Context<'_>, file: Option<&[u8]>) -> Result<Vec<Value>, Failure> {
    let name = file.map_or_else(|| "standard input".to_owned(), |f| String::from_utf8_lossy(f).into_owned());
    let mut text = Vec::new();
    let read = match file {
        None => (&mut *context.input).take(JSON_BYTES_MAX + 1).read_to_end(&mut text),
        Some(file) => std::fs::File::open(context.path(file))
            .and_then(|opened| context.polled(opened).take(JSON_BYTES_MAX + 1).read_to_end(&mut text)),
    };
    read.map_err(|error| format!("{name}: {}", crate::context::reason(&error)))?;
    if text.len() as u64 > JSON_BYTES_MAX {
        return Err(format!("{name}: more than {} MiB", JSON_BYTES_MAX >> 20).into());
    }
    let documents = serde_json::Deserializer::from_slice(&text).into_iter::<Value>();
    let documents: Result<Vec<Value>, _> = documents.collect();
    let documents = documents.map_err(|error| format!("{name}: {error}"))?;
    if documents.is_empty() { Err(format!("{name}: no JSON in it").into()) } else { Ok(documents) }
}

/// `json get [-j] PATH [FILE]`: strings without quotes, anything else as JSON on one line.
fn get(context: &mut Context<'_>, words: &[Vec<u8>]) -> Result<i32, Failure> {
    let parsed = parse(words, "j", &[("json", b'j')]).ok_or(Failure::Usage)?;
    let (texts, file) = operands(&parsed.operands, 1)?;
    let text = texts.first().copied().unwrap_or_default();
    let steps = filter::path(text).map_err(|error| format!("path {text}: {error}"))?;
    let mut status = 0;
    for document in documents(context, file)? {
        match at(&document, &steps) {
            Some(value) => {
                let mut line = String::new();
                if parsed.has(b'j') {
                    value.write(None, &mut line)
                } else {
                    line = text_of(value)
                }
                line.push('\n');
                context.output.write_all(line.as_bytes())?;
            }
            None => status = 1,
        }
    }
    Ok(status)
}

fn at<'v>(value: &'v Value, steps: &[Step]) -> Option<&'v Value> {
    steps.iter().try_fold(value, |value, step| match (step, value) {
        (Step::Key(key, _), _) => value.field(key),
        (Step::Index(index, _), Value::Array(items)) => items.get(place(*index, items.len())?),
        _ => None,
    })
}

/// `json set [-c] [-i] [-s] PATH VALUE [FILE]`.
fn set(context: &mut Context<'_>, words: &[Vec<u8>]) -> Result<i32, Failure> {
    let long = [("compact", b'c'), ("in-place", b'i'), ("string", b's')];
    // A value may look like an option: they end at the path.
    let parsed = crate::options::parse_until_operand(words, "cis", &long).ok_or(Failure::Usage)?;
    let (texts, file) = operands(&parsed.operands, 2)?;
    let [path, value] = texts.as_slice() else { return Err(Failure::Usage) };
    let steps = filter::path(path).map_err(|error| format!("path {path}: {error}"))?;
    let value = if parsed.has(b's') {
        Value::String((*value).to_owned())
    } else {
        let hint = "(for a string: -s)";
        serde_json::from_str(value).map_err(|error| format!("value {value}: {error} {hint}"))?
    };
    let mut text = String::new();
    for mut document in documents(context, file)? {
        put(&mut document, &steps, value.clone()).map_err(|error| format!("path {path}: {error}"))?;
        document.write((!parsed.has(b'c')).then_some(0), &mut text);
        text.push('\n');
    }
    match file {
        Some(file) if parsed.has(b'i') => {
            let name = String::from_utf8_lossy(file).into_owned();
            let written = std::fs::write(context.path(file), text);
            written.map_err(|error| format!("{name}: {}", crate::context::reason(&error)))?;
        }
        None if parsed.has(b'i') => return Err("-i needs a file".to_owned().into()),
        _ => context.output.write_all(text.as_bytes())?,
    }
    Ok(0)
}

/// Sets what is at a path. Objects and arrays on the way are made where there is nothing.
fn put(target: &mut Value, steps: &[Step], value: Value) -> Result<(), String> {
    let Some((step, rest)) = steps.split_first() else {
        *target = value;
        return Ok(());
    };
    if matches!(target, Value::Null) {
        *target =
            if matches!(step, Step::Key(..)) { Value::Object(Vec::new()) } else { Value::Array(Vec::new()) };
    }
    let kind = target.kind();
    match (step, target) {
        (Step::Key(key, _), Value::Object(fields)) => {
            if !fields.iter().any(|(name, _)| name == key) {
                fields.push((key.clone(), Value::Null));
            }
            let field = fields.iter_mut().find(|(name, _)| name == key);
            field.map_or(Ok(()), |(_, inner)| put(inner, rest, value))
        }
        (Step::Index(index, _), Value::Array(items)) => {
            let at = place(*index, items.len()).ok_or_else(|| format!("no item {index}"))?;
            if at > items.len() + JSON_PADDING_MAX {
                return Err(format!("item {index} is too far behind the end"));
            }
            if at >= items.len() {
                items.resize(at + 1, Value::Null);
            }
            items.get_mut(at).map_or(Ok(()), |inner| put(inner, rest, value))
        }
        (Step::Key(key, _), _) => Err(format!("cannot set \"{key}\" of {kind}")),
        _ => Err(format!("cannot set an item of {kind}")),
    }
}

/// `json query [-c] [-e] [-r] FILTER [FILE]`.
fn query(context: &mut Context<'_>, words: &[Vec<u8>]) -> Result<i32, Failure> {
    let long = [("compact-output", b'c'), ("exit-status", b'e'), ("raw-output", b'r')];
    let parsed = parse(words, "cer", &long).ok_or(Failure::Usage)?;
    let (texts, file) = operands(&parsed.operands, 1)?;
    let text = texts.first().copied().unwrap_or_default();
    let filter = filter::parse(text).map_err(|error| format!("filter {text}: {error}"))?;
    let mut status = i32::from(parsed.has(b'e'));
    for document in documents(context, file)? {
        context.poll()?;
        for value in evaluate(&filter, &document).map_err(|error| format!("filter {text}: {error}"))? {
            let mut line = String::new();
            match &value {
                Value::String(text) if parsed.has(b'r') => line.push_str(text),
                value => value.write((!parsed.has(b'c')).then_some(0), &mut line),
            }
            line.push('\n');
            context.output.write_all(line.as_bytes())?;
            status = i32::from(parsed.has(b'e') && !value.is_true());
        }
    }
    Ok(status)
}
