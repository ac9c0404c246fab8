//! `printf`'s formatting: the format language, conversions of arguments, bash's messages and statuses.
//!
//! Owns text in, text out. Leaves to the builtin: options (`-v`), where output and messages go, and what the
//! clock says ([`Host`]).

mod float;
mod format;
mod number;
#[cfg(test)]
mod tests;

use crate::quote;
use crate::quote::escape::{Dialect, Escape, decode, push_character};
use float::Extended;
use format::{Directive, Piece, Size, parse_piece};

/// The widest field and the highest precision: a field is made in memory, and a larger one is an error.
const WIDTH_MAX: i64 = 1 << 28;

/// What formatting needs from the shell.
pub trait Host {
    /// Reports `message` as the builtin's error, after `written`, which it may take.
    fn error(&mut self, written: &mut Vec<u8>, message: &[u8]);
    /// Seconds since the epoch.
    fn now(&mut self) -> i64;
    /// When the shell started, in seconds since the epoch.
    fn started(&mut self) -> i64;
    /// Formats a time in the local time zone.
    fn format_time(&mut self, format: &[u8], seconds: i64) -> Vec<u8>;
    /// Whether characters may have several bytes.
    fn is_utf8(&mut self) -> bool;
    /// `%n`: assigns the number of bytes written so far.
    fn assign(&mut self, name: &[u8], count: i64);
}

/// Formats `arguments` by `format` into `out`, using the format again while arguments are left, and returns
/// the status.
pub fn printf(format: &[u8], arguments: &[impl AsRef<[u8]>], out: &mut Vec<u8>, host: &mut dyn Host) -> i32 {
    let arguments: Vec<&[u8]> = arguments.iter().map(AsRef::as_ref).collect();
    let mut run = Run { arguments: &arguments, next: 0, out, host, status: 0, taken: 0 };
    loop {
        let before = run.next;
        if run.once(format).is_none() {
            break;
        }
        if run.next >= run.arguments.len() || run.next == before {
            break;
        }
    }
    run.status
}

struct Run<'a> {
    arguments: &'a [&'a [u8]],
    next: usize,
    out: &'a mut Vec<u8>,
    host: &'a mut dyn Host,
    status: i32,
    /// Bytes of the output that the host has taken already.
    taken: usize,
}

impl<'a> Run<'a> {
    /// Goes through the format once; `None` means that output ends here.
    fn once(&mut self, format: &[u8]) -> Option<()> {
        let mut at = 0;
        while let Some(&byte) = format.get(at) {
            let rest = format.get(at + 1..).unwrap_or_default();
            at += 1;
            at += match byte {
                b'\\' => {
                    let (escape, length) = decode(rest, Dialect::PrintfFormat);
                    self.escape(escape);
                    length
                }
                b'%' => {
                    let (piece, length) = parse_piece(rest);
                    self.piece(piece)?;
                    length
                }
                _ => {
                    self.out.push(byte);
                    0
                }
            };
        }
        Some(())
    }

    fn escape(&mut self, escape: Escape) {
        match escape {
            Escape::Byte(byte) => self.out.push(byte),
            Escape::Character(code) => push_character(self.out, code),
            Escape::Stop => {}
            Escape::Backslash => self.out.push(b'\\'),
            Escape::MissingHex => {
                self.report(b"missing hex digit for \\x");
                self.out.push(b'\\');
            }
            Escape::MissingUnicode(letter) => {
                self.report(&[b"missing unicode digit for \\".as_slice(), &[letter]].concat());
                self.out.push(b'\\');
            }
        }
    }

    fn report(&mut self, message: &[u8]) {
        let before = self.out.len();
        self.host.error(self.out, message);
        self.taken += before - self.out.len();
    }

    fn fail(&mut self, message: &[&[u8]]) {
        self.report(&message.concat());
        self.status = 1;
    }

    fn piece(&mut self, piece: Piece<'_>) -> Option<()> {
        match piece {
            Piece::Percent => self.out.push(b'%'),
            Piece::Directive(directive) => return self.directive(&directive),
            Piece::Time(directive, format) => self.time(&directive, format),
            Piece::Missing(text) => {
                self.fail(&[b"`%", text, b"': missing format character"]);
                return None;
            }
            Piece::Invalid(text) => {
                self.fail(&[b"`", text, b"': invalid format character"]);
                return None;
            }
        }
        Some(())
    }

    fn argument(&mut self) -> Option<&'a [u8]> {
        let argument = self.arguments.get(self.next).copied();
        self.next += 1;
        argument
    }

    /// Settles `*` widths and precisions from the arguments.
    fn layout(&mut self, directive: &Directive) -> Option<format::Layout> {
        let mut layout = format::Layout { flags: directive.flags, width: 0, precision: None };
        let width = match directive.width {
            Size::None => 0,
            Size::Fixed(width) => width,
            Size::Argument => self.integer(),
        };
        if width < 0 {
            layout.flags.left = true;
        }
        layout.width = width.saturating_abs().min(WIDTH_MAX) as usize;
        let too_wide = width.saturating_abs() > WIDTH_MAX;
        let precision = match directive.precision {
            Size::None => -1,
            Size::Fixed(precision) => precision,
            Size::Argument => self.integer(),
        };
        layout.precision = usize::try_from(precision.min(WIDTH_MAX)).ok();
        if too_wide || precision > WIDTH_MAX {
            let message = format!("a field of more than {WIDTH_MAX} characters");
            self.host.error(self.out, message.as_bytes());
            self.status = 1;
            return None;
        }
        Some(layout)
    }

    fn directive(&mut self, directive: &Directive) -> Option<()> {
        let layout = self.layout(directive)?;
        match directive.conversion {
            b's' => {
                let text = self.argument().unwrap_or_default();
                layout.string(self.out, text);
            }
            b'c' => {
                let text = self.argument().unwrap_or_default();
                layout.string(self.out, text.get(..1).unwrap_or(&[0]));
            }
            b'b' => return self.escaped_argument(&layout),
            b'q' => {
                let text = self.argument().unwrap_or_default();
                let quoted =
                    if self.host.is_utf8() { quote::printf_q(text) } else { quote::printf_q_bytes(text) };
                layout.string(self.out, &quoted);
            }
            b'Q' => {
                let text = self.argument().unwrap_or_default();
                let cut = text.get(..layout.precision.unwrap_or(text.len())).unwrap_or(text);
                let layout = format::Layout { precision: None, ..layout };
                layout.string(self.out, &quote::printf_q(cut));
            }
            b'n' => {
                let count = (self.taken + self.out.len()) as i64;
                if let Some(name) = self.argument() {
                    self.host.assign(name, count);
                }
            }
            b'd' | b'i' => {
                let value = self.integer();
                layout.signed(self.out, value);
            }
            b'o' | b'u' | b'x' | b'X' => {
                let value = self.unsigned();
                layout.unsigned(self.out, value, directive.conversion);
            }
            conversion => {
                let value = self.float();
                layout.float(self.out, &value, conversion);
            }
        }
        Some(())
    }

    fn escaped_argument(&mut self, layout: &format::Layout) -> Option<()> {
        let text = self.argument().unwrap_or_default();
        let mut decoded = Vec::with_capacity(text.len());
        let stop = self.decode_escapes(text, &mut decoded);
        layout.string(self.out, &decoded);
        if stop { None } else { Some(()) }
    }

    fn decode_escapes(&mut self, text: &[u8], decoded: &mut Vec<u8>) -> bool {
        let mut at = 0;
        while let Some(&byte) = text.get(at) {
            at += 1;
            if byte != b'\\' {
                decoded.push(byte);
                continue;
            }
            let (escape, length) = decode(text.get(at..).unwrap_or_default(), Dialect::PrintfArgument);
            at += length;
            match escape {
                Escape::Stop => return true,
                Escape::Byte(byte) => decoded.push(byte),
                Escape::Character(code) => push_character(decoded, code),
                Escape::Backslash => decoded.push(b'\\'),
                Escape::MissingHex => {
                    self.report(b"missing hex digit for \\x");
                    decoded.push(b'\\');
                }
                Escape::MissingUnicode(letter) => {
                    self.report(&[b"missing unicode digit for \\".as_slice(), &[letter]].concat());
                    decoded.push(b'\\');
                }
            }
        }
        false
    }

    fn time(&mut self, directive: &Directive, format: &[u8]) {
        let Some(layout) = self.layout(directive) else { return };
        let seconds = if self.next < self.arguments.len() { self.integer() } else { -1 };
        let seconds = match seconds {
            -1 => self.host.now(),
            -2 => self.host.started(),
            other => other,
        };
        let format = if format.is_empty() { b"%X" } else { format };
        let text = self.host.format_time(format, seconds);
        layout.string(self.out, &text);
    }

    /// A number's argument: `'c` is the code of a character.
    fn number_argument(&mut self) -> Option<Result<u32, &'a [u8]>> {
        let text = self.argument()?;
        Some(match text.first() {
            Some(b'\'' | b'"') => Ok(character_code(text.get(1..).unwrap_or_default())),
            _ => Err(text),
        })
    }

    fn check(&mut self, text: &[u8], problem: Option<number::Problem>) {
        match problem {
            None => {}
            Some(number::Problem::Invalid) => self.fail(&[text, b": invalid number"]),
            Some(number::Problem::InvalidOctal) => self.fail(&[text, b": invalid octal number"]),
            Some(number::Problem::InvalidHex) => self.fail(&[text, b": invalid hex number"]),
            Some(number::Problem::Range) => {
                self.report(&[b"warning: ", text, b": Numerical result out of range"].concat());
            }
        }
    }

    fn integer(&mut self) -> i64 {
        match self.number_argument() {
            None => 0,
            Some(Ok(code)) => i64::from(code),
            Some(Err(text)) => {
                let (value, problem) = number::signed(text);
                self.check(text, problem);
                value
            }
        }
    }

    fn unsigned(&mut self) -> u64 {
        match self.number_argument() {
            None => 0,
            Some(Ok(code)) => u64::from(code),
            Some(Err(text)) => {
                let (value, problem) = number::unsigned(text);
                self.check(text, problem);
                value
            }
        }
    }

    fn float(&mut self) -> Extended {
        match self.number_argument() {
            None => Extended::ZERO,
            Some(Ok(code)) => Extended::from_integer(u64::from(code)),
            Some(Err(text)) => {
                let (value, problem) = float::parse(text);
                self.check(text, problem);
                value
            }
        }
    }
}

fn character_code(text: &[u8]) -> u32 {
    let (code, length) = crate::pattern::character_at(text, 0);
    match (length, char::from_u32(code)) {
        (0, _) => 0,
        (_, Some(_)) => code,
        (_, None) => u32::from(text.first().copied().unwrap_or(0)),
    }
}
