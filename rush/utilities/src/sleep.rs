//! `sleep`: waits. Numbers may have fractions and the suffixes `s m h d`; several are added.

use std::io;
use std::time::Duration;

use crate::{Context, Outcome};

/// The longest wait, in seconds; longer is the same for any purpose.
const SECONDS_MAX: f64 = 1e9;

pub(crate) fn run(context: &mut Context<'_>) -> io::Result<Outcome> {
    let words = context.args.get(1..).unwrap_or_default();
    let total: Option<f64> = words.iter().map(|w| seconds(w)).sum();
    let Some(total) = total.filter(|_| !words.is_empty()) else { return Ok(Outcome::Fallthrough) };
    context.output.flush()?;
    context.host.sleep(Duration::from_secs_f64(total.min(SECONDS_MAX)));
    Ok(Outcome::Status(0))
}

fn seconds(word: &[u8]) -> Option<f64> {
    let (digits, factor) = match word.split_last()? {
        (b's', rest) => (rest, 1.0),
        (b'm', rest) => (rest, 60.0),
        (b'h', rest) => (rest, 3_600.0),
        (b'd', rest) => (rest, 86_400.0),
        _ => (word, 1.0),
    };
    let plain =
        digits.iter().all(|b| b.is_ascii_digit() || *b == b'.') && digits.iter().any(u8::is_ascii_digit);
    let value: f64 = plain.then(|| std::str::from_utf8(digits).ok()?.parse().ok())??;
    Some(value * factor)
}
