//! Integer constants: decimal, `0` octal, `0x` hexadecimal and `base#digits` up to base 64.
//!
//! Values wrap at 64 bits as bash's do. Leaves to the lexer where a constant ends.

/// Reads one constant, or says in bash's words what is wrong with it.
pub(super) fn parse_constant(digits: &[u8]) -> Result<i64, &'static str> {
    match digits {
        [b'0'] => Ok(0),
        [b'0', b'x' | b'X', rest @ ..] => digits_in_base(rest, 16, false),
        [b'0', rest @ ..] => digits_in_base(rest, 8, false),
        _ => match digits.iter().position(|&b| b == b'#') {
            None => digits_in_base(digits, 10, false),
            Some(at) => based_constant(digits, at),
        },
    }
}

fn based_constant(digits: &[u8], hash: usize) -> Result<i64, &'static str> {
    let base = digits_in_base(digits.get(..hash).unwrap_or_default(), 10, false)?;
    let base = u32::try_from(base).ok().filter(|b| (2..=64).contains(b)).ok_or("invalid arithmetic base")?;
    let rest = digits.get(hash + 1..).unwrap_or_default();
    match rest.first() {
        None => Err("invalid integer constant"),
        Some(b'#') => Err("invalid integer constant"),
        Some(_) => digits_in_base(rest, base, true),
    }
}

fn digits_in_base(digits: &[u8], base: u32, based: bool) -> Result<i64, &'static str> {
    let mut value: i64 = 0;
    for &byte in digits {
        let digit = match byte {
            b'0'..=b'9' => u32::from(byte - b'0'),
            b'a'..=b'z' => u32::from(byte - b'a') + 10,
            b'A'..=b'Z' if base <= 36 => u32::from(byte - b'A') + 10,
            b'A'..=b'Z' => u32::from(byte - b'A') + 36,
            b'@' => 62,
            b'_' => 63,
            b'#' if based || base != 10 => return Err("invalid number"),
            _ => return Err("invalid number"),
        };
        if digit >= base {
            return Err("value too great for base");
        }
        value = value.wrapping_mul(i64::from(base)).wrapping_add(i64::from(digit));
    }
    Ok(value)
}

/// Reads a plain decimal number with an optional sign and surrounding blanks: what most variables hold.
/// `None` sends the text through the parser (so `010` and `0x1f` are left to it).
#[inline]
pub(super) fn parse_plain(text: &[u8]) -> Option<i64> {
    let text = text.trim_ascii();
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    match digits {
        [] => return None,
        [b'0', _, ..] => return None,
        _ => {}
    }
    if digits.len() > 18 {
        return None;
    }
    let mut value: i64 = 0;
    for &byte in digits {
        if !byte.is_ascii_digit() {
            return None;
        }
        value = value * 10 + i64::from(byte - b'0');
    }
    Some(if negative { -value } else { value })
}
