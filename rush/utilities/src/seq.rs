//! `seq`: prints integers in steps. Flags: `-s STRING`, `-w`; fractions and `-f` are left to the external program.

use std::io;

use crate::options::parse_until_operand;
use crate::{Context, Outcome};

pub(crate) fn run(context: &mut Context<'_>) -> io::Result<Outcome> {
    // A negative number looks like an option: let the words be examined without it.
    let mut args = context.args.to_vec();
    if let Some(at) = args.iter().skip(1).position(|w| integer(w).is_some()) {
        args.insert(at + 1, b"--".to_vec());
    }
    let long = [("separator=", b's'), ("equal-width", b'w')];
    let Some(parsed) = parse_until_operand(&args, "s:w", &long) else { return Ok(Outcome::Fallthrough) };
    let numbers: Option<Vec<i64>> = parsed.operands.iter().map(|o| integer(o)).collect();
    let (first, step, last) = match numbers.as_deref() {
        Some([last]) => (1, 1, *last),
        Some([first, last]) => (*first, 1, *last),
        Some([first, step, last]) if *step != 0 => (*first, *step, *last),
        _ => return Ok(Outcome::Fallthrough),
    };
    let separator = parsed.value(b's').unwrap_or(b"\n");
    let width = if parsed.has(b'w') { width(first, step, last) } else { 0 };
    let mut value = first;
    let mut buffer = Vec::with_capacity(8192);
    let mut any = false;
    while if step > 0 { value <= last } else { value >= last } {
        if any {
            buffer.extend_from_slice(separator);
        }
        any = true;
        buffer.extend_from_slice(format!("{value:0width$}").as_bytes());
        if buffer.len() > 8000 {
            context.poll()?;
            context.output.write_all(&buffer)?;
            buffer.clear();
        }
        let Some(next) = value.checked_add(step) else { break };
        value = next;
    }
    if any {
        buffer.push(b'\n');
    }
    context.output.write_all(&buffer)?;
    Ok(Outcome::Status(0))
}

/// A plain decimal integer without leading zeros or plus sign, which would change how it is printed.
fn integer(text: &[u8]) -> Option<i64> {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let plain = !digits.is_empty() && digits.len() < 18 && digits.iter().all(u8::is_ascii_digit);
    let padded = digits.len() > 1 && digits.first() == Some(&b'0');
    if !plain || padded || text == b"-0" {
        return None;
    }
    std::str::from_utf8(text).ok()?.parse().ok()
}

fn width(first: i64, step: i64, last: i64) -> usize {
    let reached = first + (last - first) / step * step;
    first.to_string().len().max(last.to_string().len()).max(reached.to_string().len())
}
