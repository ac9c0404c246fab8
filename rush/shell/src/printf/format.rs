//! The directives of a format, and laying out text in fields.

use super::float::{Extended, Shape};

/// The flag characters of a directive.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Flags {
    pub(super) left: bool,
    pub(super) plus: bool,
    pub(super) space: bool,
    pub(super) alternate: bool,
    pub(super) zero: bool,
}

/// A width or precision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Size {
    None,
    Fixed(i64),
    /// `*`: the next argument.
    Argument,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Directive {
    pub(super) flags: Flags,
    pub(super) width: Size,
    pub(super) precision: Size,
    pub(super) conversion: u8,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece<'f> {
    Percent,
    Directive(Directive),
    /// `%(format)T`
    Time(Directive, &'f [u8]),
    /// The format ends inside a directive; the text after the percent sign.
    Missing(&'f [u8]),
    /// Not a conversion: the offending character.
    Invalid(&'f [u8]),
}

/// Reads the directive after a percent sign, and its length.
pub(super) fn parse_piece(text: &[u8]) -> (Piece<'_>, usize) {
    if text.first() == Some(&b'%') {
        return (Piece::Percent, 1);
    }
    let mut at = 0;
    let mut flags = Flags::default();
    while let Some(&byte) = text.get(at) {
        match byte {
            b'-' => flags.left = true,
            b'+' => flags.plus = true,
            b' ' => flags.space = true,
            b'#' => flags.alternate = true,
            b'0' => flags.zero = true,
            b'\'' => {}
            _ => break,
        }
        at += 1;
    }
    let (width, length) = size(text.get(at..).unwrap_or_default());
    at += length;
    let mut precision = Size::None;
    if text.get(at) == Some(&b'.') {
        let (parsed, length) = size(text.get(at + 1..).unwrap_or_default());
        precision = if parsed == Size::None { Size::Fixed(0) } else { parsed };
        at += 1 + length;
    }
    if text.get(at) == Some(&b'(') {
        return time(text, at, Directive { flags, width, precision, conversion: b'T' });
    }
    while matches!(text.get(at), Some(b'h' | b'j' | b'l' | b'L' | b't' | b'z')) {
        at += 1;
    }
    let Some(&conversion) = text.get(at) else { return (Piece::Missing(text), text.len()) };
    match conversion {
        b's' | b'c' | b'b' | b'q' | b'Q' | b'n' | b'd' | b'i' | b'o' | b'u' | b'x' | b'X' | b'e' | b'E'
        | b'f' | b'F' | b'g' | b'G' | b'a' | b'A' => {
            (Piece::Directive(Directive { flags, width, precision, conversion }), at + 1)
        }
        _ => (Piece::Invalid(text.get(at..=at).unwrap_or_default()), at + 1),
    }
}

fn size(text: &[u8]) -> (Size, usize) {
    if text.first() == Some(&b'*') {
        return (Size::Argument, 1);
    }
    let length = text.iter().take_while(|b| b.is_ascii_digit()).count();
    if length == 0 {
        return (Size::None, 0);
    }
    let digits = text.iter().take(length);
    let value = digits.fold(0i64, |v, b| v.saturating_mul(10).saturating_add(i64::from(b - b'0')));
    (Size::Fixed(value), length)
}

fn time(text: &[u8], open: usize, directive: Directive) -> (Piece<'_>, usize) {
    let mut depth = 0usize;
    for (offset, &byte) in text.iter().enumerate().skip(open) {
        match byte {
            b'(' => depth += 1,
            b')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            let format = text.get(open + 1..offset).unwrap_or_default();
            return match text.get(offset + 1) {
                Some(b'T') => (Piece::Time(directive, format), offset + 2),
                Some(_) => (Piece::Invalid(text.get(offset + 1..offset + 2).unwrap_or_default()), offset + 2),
                None => (Piece::Missing(text), text.len()),
            };
        }
    }
    (Piece::Missing(text), text.len())
}

/// A directive with its sizes settled.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout {
    pub(super) flags: Flags,
    pub(super) width: usize,
    pub(super) precision: Option<usize>,
}

impl Layout {
    pub(super) fn string(&self, out: &mut Vec<u8>, text: &[u8]) {
        let text = text.get(..self.precision.unwrap_or(text.len())).unwrap_or(text);
        self.pad(out, b"", text, false);
    }

    /// Writes sign or base prefix and body, padded to the width.
    fn pad(&self, out: &mut Vec<u8>, prefix: &[u8], body: &[u8], zero: bool) {
        let missing = self.width.saturating_sub(prefix.len() + body.len());
        let fill = |out: &mut Vec<u8>, byte| out.resize(out.len() + missing, byte);
        if self.flags.left {
            out.extend_from_slice(prefix);
            out.extend_from_slice(body);
            fill(out, b' ');
        } else if zero {
            out.extend_from_slice(prefix);
            fill(out, b'0');
            out.extend_from_slice(body);
        } else {
            fill(out, b' ');
            out.extend_from_slice(prefix);
            out.extend_from_slice(body);
        }
    }

    fn sign(&self, negative: bool) -> &'static [u8] {
        match (negative, self.flags.plus, self.flags.space) {
            (true, ..) => b"-",
            (false, true, _) => b"+",
            (false, false, true) => b" ",
            _ => b"",
        }
    }

    fn digits(&self, digits: String) -> Vec<u8> {
        let mut digits = digits.into_bytes();
        match self.precision {
            Some(0) if digits == b"0" => digits.clear(),
            Some(precision) if digits.len() < precision => {
                let missing = precision - digits.len();
                digits.splice(0..0, std::iter::repeat_n(b'0', missing));
            }
            _ => {}
        }
        digits
    }

    pub(super) fn signed(&self, out: &mut Vec<u8>, value: i64) {
        let digits = self.digits(value.unsigned_abs().to_string());
        self.pad(out, self.sign(value < 0), &digits, self.flags.zero && self.precision.is_none());
    }

    pub(super) fn unsigned(&self, out: &mut Vec<u8>, value: u64, conversion: u8) {
        let (text, prefix) = match conversion {
            b'o' => (format!("{value:o}"), ""),
            b'x' => (format!("{value:x}"), "0x"),
            b'X' => (format!("{value:X}"), "0X"),
            _ => (value.to_string(), ""),
        };
        let mut digits = self.digits(text);
        if self.flags.alternate && conversion == b'o' && digits.first() != Some(&b'0') {
            digits.insert(0, b'0');
        }
        let prefix = if self.flags.alternate && value != 0 { prefix } else { "" };
        self.pad(out, prefix.as_bytes(), &digits, self.flags.zero && self.precision.is_none());
    }

    pub(super) fn float(&self, out: &mut Vec<u8>, value: &Extended, conversion: u8) {
        let shape = Shape {
            conversion: conversion.to_ascii_lowercase(),
            precision: self.precision,
            alternate: self.flags.alternate,
        };
        let mut body = value.format(&shape);
        if conversion.is_ascii_uppercase() {
            body.make_ascii_uppercase();
        }
        let mut prefix = self.sign(value.negative).to_vec();
        if value.is_finite() && shape.conversion == b'a' {
            prefix.extend(body.drain(..2));
        }
        self.pad(out, &prefix, &body, self.flags.zero && value.is_finite());
    }
}
