//! `seq`: prints integers in steps. Flags: `-s STRING`, `-w`; fractions and `-f` are left to the external program.

use std::io;

use crate::decimal::Decimal;
use crate::limits::BLOCK_BYTES;
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
    if first >= 0 && step > 0 && width == 0 {
        upwards(context, first as u64, step as u64, last, separator)?;
        return Ok(Outcome::Status(0));
    }
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

/// OPTIMIZATION: counts in digits. Equals formatting each number.
fn upwards(context: &mut Context<'_>, first: u64, step: u64, last: i64, separator: &[u8]) -> io::Result<()> {
    let Some(span) = u64::try_from(last).ok().and_then(|last| last.checked_sub(first)) else { return Ok(()) };
    if let ([separator], 1) = (separator, step) {
        return by_one(context, first, span, *separator);
    }
    let mut digits = Decimal::new(first);
    let mut buffer = Vec::with_capacity(BLOCK_BYTES + 64 + separator.len());
    for left in (0..=span / step).rev() {
        buffer.extend_from_slice(digits.as_bytes());
        if left == 0 {
            buffer.push(b'\n');
        } else {
            buffer.extend_from_slice(separator);
            digits.add(step);
        }
        if buffer.len() >= BLOCK_BYTES {
            context.poll()?;
            context.output.write_all(&buffer)?;
            buffer.clear();
        }
    }
    context.output.write_all(&buffer)
}

/// The room of a number with its separator.
const LINE_BYTES: usize = 32;

/// OPTIMIZATION: a number stands in a block of fixed length, which is copied whole; counting changes its last digits.
fn by_one(context: &mut Context<'_>, first: u64, span: u64, separator: u8) -> io::Result<()> {
    let mut line = [0u8; LINE_BYTES];
    let text = first.to_string();
    let mut digits = text.len();
    line[..digits].copy_from_slice(text.as_bytes());
    line[digits] = separator;
    let mut buffer = vec![0u8; BLOCK_BYTES + LINE_BYTES];
    let mut filled = 0;
    for _ in 0..=span {
        buffer[filled..filled + LINE_BYTES].copy_from_slice(&line);
        filled += digits + 1;
        let mut at = digits;
        loop {
            if at == 0 {
                line[0] = b'1';
                line[1..=digits].fill(b'0');
                digits += 1;
                line[digits] = separator;
                break;
            }
            at -= 1;
            if line[at] != b'9' {
                line[at] += 1;
                break;
            }
            line[at] = b'0';
        }
        if filled >= BLOCK_BYTES {
            context.poll()?;
            // The last separator is a newline: that is seen at the end.
            context.output.write_all(&buffer[..filled - 1])?;
            buffer[0] = separator;
            filled = 1;
        }
    }
    buffer[filled - 1] = b'\n';
    context.output.write_all(&buffer[..filled])
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
