//! [`StringBuilder`]: collects units and picks the width; the way builtins make long strings.
//!
//! Invariant: the buffer is Latin-1 until a wider unit arrives. The length is checked against the limit as it grows,
//! so that a builder never holds more than a string may.

use super::{JsStr, StrView};
use crate::limits;
use crate::mutator::{JsResult, Mutator};

enum Buffer {
    Latin1(Vec<u8>),
    Utf16(Vec<u16>),
}

/// Collects the units of a string.
pub struct StringBuilder {
    buffer: Buffer,
}

impl Default for StringBuilder {
    fn default() -> Self {
        Self::new()
    }
}

impl StringBuilder {
    /// An empty builder.
    pub fn new() -> Self {
        StringBuilder { buffer: Buffer::Latin1(Vec::new()) }
    }

    /// An empty builder with room for some Latin-1 units.
    pub fn with_capacity(units: usize) -> Self {
        StringBuilder { buffer: Buffer::Latin1(Vec::with_capacity(units)) }
    }

    /// Units so far.
    pub fn len(&self) -> usize {
        match &self.buffer {
            Buffer::Latin1(b) => b.len(),
            Buffer::Utf16(b) => b.len(),
        }
    }
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn widen(&mut self) -> &mut Vec<u16> {
        if let Buffer::Latin1(b) = &self.buffer {
            self.buffer = Buffer::Utf16(b.iter().map(|&b| u16::from(b)).collect());
        }
        match &mut self.buffer {
            Buffer::Utf16(b) => b,
            Buffer::Latin1(_) => unreachable!("just widened"),
        }
    }

    /// Appends a code unit.
    #[inline]
    pub fn push_unit(&mut self, u: u16) {
        match &mut self.buffer {
            Buffer::Latin1(b) if u < 0x100 => b.push(u as u8),
            Buffer::Utf16(b) => b.push(u),
            Buffer::Latin1(_) => self.widen().push(u),
        }
    }

    /// Appends a code point (a lone surrogate is one unit).
    pub fn push_code_point(&mut self, cp: u32) {
        if cp < 0x10000 {
            self.push_unit(cp as u16);
        } else {
            self.push_unit((0xd7c0 + (cp >> 10)) as u16);
            self.push_unit((0xdc00 + (cp & 0x3ff)) as u16);
        }
    }

    /// Appends Latin-1 units.
    #[inline]
    pub fn push_latin1(&mut self, s: &[u8]) {
        match &mut self.buffer {
            Buffer::Latin1(b) => b.extend_from_slice(s),
            Buffer::Utf16(b) => b.extend(s.iter().map(|&b| u16::from(b))),
        }
    }

    /// Appends the decimal digits of an integer.
    pub fn push_int32(&mut self, i: i32) {
        if i < 0 {
            self.push_latin1(b"-");
        }
        let mut digits = [0; 10];
        self.push_latin1(write_u32(i.unsigned_abs(), &mut digits));
    }

    /// Appends one Latin-1 unit.
    #[inline]
    pub fn push_byte(&mut self, unit: u8) {
        match &mut self.buffer {
            Buffer::Latin1(b) => b.push(unit),
            Buffer::Utf16(b) => b.push(u16::from(unit)),
        }
    }

    /// Appends Latin-1 units between two quotation marks.
    #[inline]
    pub fn push_quoted(&mut self, s: &[u8]) {
        if let Buffer::Latin1(b) = &mut self.buffer {
            b.reserve(s.len() + 2);
        }
        self.push_byte(b'"');
        self.push_latin1(s);
        self.push_byte(b'"');
    }

    /// Appends a comma if asked to, Latin-1 units between two quotation marks, and a colon. Always inlined: it has one caller, the loop over
    /// the names of a serialised object, which is in another crate.
    #[inline(always)]
    pub fn push_quoted_name(&mut self, comma: bool, s: &[u8]) {
        if let Buffer::Latin1(b) = &mut self.buffer {
            b.reserve(s.len() + 4);
        }
        if comma {
            self.push_byte(b',');
        }
        self.push_quoted(s);
        self.push_byte(b':');
    }

    /// Appends text.
    pub fn push_str(&mut self, s: &str) {
        match &mut self.buffer {
            Buffer::Latin1(b) if s.is_ascii() => b.extend_from_slice(s.as_bytes()),
            _ => s.encode_utf16().for_each(|u| self.push_unit(u)),
        }
    }

    /// Appends the units of a view.
    pub fn push_view(&mut self, v: StrView<'_>) {
        match (&mut self.buffer, v) {
            (Buffer::Latin1(b), StrView::Latin1(s)) => b.extend_from_slice(s),
            (Buffer::Utf16(b), StrView::Utf16(s)) => b.extend_from_slice(s),
            (Buffer::Utf16(b), StrView::Latin1(s)) => b.extend(s.iter().map(|&b| u16::from(b))),
            (Buffer::Latin1(b), StrView::Utf16(s)) => {
                if s.iter().all(|&u| u < 0x100) {
                    b.extend(s.iter().map(|&u| u as u8));
                } else {
                    self.widen().extend_from_slice(s);
                }
            }
        }
    }

    /// Appends a string.
    pub fn push_string(&mut self, vm: &mut Mutator, s: JsStr) {
        let view = s.view(vm);
        self.push_view(view);
    }

    /// Fails when the string has become too long, or too large for the heap; call it in loops.
    #[inline]
    pub fn check(&self, vm: &mut Mutator) -> JsResult<()> {
        let len = self.len();
        if len > limits::STRING_UNITS_MAX {
            return Err(vm.range_error("Invalid string length"));
        }
        if len > limits::LARGE_ALLOCATION_BYTES { vm.check_heap_room(len * 2) } else { Ok(()) }
    }

    /// The units so far.
    pub fn view(&self) -> StrView<'_> {
        match &self.buffer {
            Buffer::Latin1(b) => StrView::Latin1(b),
            Buffer::Utf16(b) => StrView::Utf16(b),
        }
    }

    /// The string.
    pub fn finish(self, vm: &mut Mutator) -> JsResult<JsStr> {
        self.check(vm)?;
        Ok(match &self.buffer {
            Buffer::Latin1(b) => vm.new_string_latin1(b),
            Buffer::Utf16(b) => vm.new_string_utf16(b),
        })
    }
}

/// The integers whose string is made without the general algorithm.
pub fn write_u32(n: u32, buffer: &mut [u8; 10]) -> &[u8] {
    let mut n = n;
    let mut at = 10;
    loop {
        at -= 1;
        buffer[at] = b'0' + (n % 10) as u8;
        n /= 10;
        if n == 0 {
            return &buffer[at..];
        }
    }
}
