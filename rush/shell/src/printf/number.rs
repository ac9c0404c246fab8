//! Integer arguments, as C's `strtoimax` and `strtoumax` with base 0 read them.

/// What is wrong with a numeric argument. The value is still used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Problem {
    Invalid,
    InvalidOctal,
    InvalidHex,
    /// Out of range: a warning only.
    Range,
}

struct Scanned {
    negative: bool,
    magnitude: Option<u64>,
    problem: Option<Problem>,
}

fn scan(text: &[u8]) -> Scanned {
    let empty = text.is_empty();
    let blank = text.iter().take_while(|b| b.is_ascii_whitespace() || **b == 0x0b).count();
    let text = text.get(blank..).unwrap_or_default();
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    let (base, digits) = match digits {
        [b'0', b'x' | b'X', rest @ ..] if rest.first().is_some_and(u8::is_ascii_hexdigit) => (16, rest),
        [b'0', ..] => (8, digits),
        _ => (10, digits),
    };
    let mut magnitude = Some(0u64);
    let mut count = 0;
    for &byte in digits {
        let Some(digit) = (byte as char).to_digit(base) else { break };
        magnitude = magnitude.and_then(|m| m.checked_mul(u64::from(base))?.checked_add(u64::from(digit)));
        count += 1;
    }
    let problem = if count == digits.len() && (count > 0 || empty) {
        None
    } else {
        Some(match base {
            // What is said depends on how the whole word begins: a sign hides the base.
            _ if text.first() != Some(&b'0') => Problem::Invalid,
            8 if digits.get(1).is_some_and(u8::is_ascii_digit) => Problem::InvalidOctal,
            16 => Problem::InvalidHex,
            _ if matches!(digits, [b'0', b'x', ..]) => Problem::InvalidHex,
            _ => Problem::Invalid,
        })
    };
    Scanned { negative, magnitude, problem }
}

pub(super) fn signed(text: &[u8]) -> (i64, Option<Problem>) {
    let scanned = scan(text);
    let limit = i64::MAX as u64 + u64::from(scanned.negative);
    match scanned.magnitude {
        Some(magnitude) if magnitude <= limit => {
            let value = magnitude as i64;
            (if scanned.negative { value.wrapping_neg() } else { value }, scanned.problem)
        }
        _ => {
            let value = if scanned.negative { i64::MIN } else { i64::MAX };
            (value, scanned.problem.or(Some(Problem::Range)))
        }
    }
}

pub(super) fn unsigned(text: &[u8]) -> (u64, Option<Problem>) {
    let scanned = scan(text);
    match scanned.magnitude {
        Some(value) if scanned.negative => (value.wrapping_neg(), scanned.problem),
        Some(value) => (value, scanned.problem),
        None => (u64::MAX, scanned.problem.or(Some(Problem::Range))),
    }
}
