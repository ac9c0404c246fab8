//! Making strings: from text and units, by concatenation, by slicing; flattening of ropes.
//!
//! Invariant: Latin-1 is chosen whenever the source is known to fit (text, builders, slices of Latin-1 strings).

#![allow(unsafe_code)]

use super::builder::write_u32;
use super::{FLAT_DATA, JsStr, Linked, StrView, StringCell, character, empty, flags};
use crate::gc::Gc;
use crate::limits;
use crate::mutator::{JsResult, Mutator};
use crate::value::Value;

/// Below this many units a substring is copied, above it is a slice of its parent.
const SLICE_MIN: usize = 32;
/// Below this many units a concatenation is copied, above it is a rope.
const ROPE_MIN: usize = 24;
/// Below this many units several strings are joined by copying.
const JOIN_MAX: usize = 256;
/// Pieces up to this many units are appended to a buffer; longer ones make ropes, which share them.
const APPEND_MAX: usize = 512;
/// A string that is looked at while it grows gets room at its end from this length on.
const ROOM_MIN: usize = 64;
/// A rope becomes a buffer once its left side is this deep, and deeper by one for each [`BUFFER_UNITS_PER_DEPTH`] of its length:
/// so that copying it costs no more than a constant for each concatenation.
const BUFFER_DEPTH: usize = 16;
const BUFFER_UNITS_PER_DEPTH: usize = 1024;

impl Mutator {
    /// The decimal digits of an array index.
    pub fn index_to_string(&mut self, i: u32) -> JsStr {
        if i < 10 {
            return character(b'0' + i as u8);
        }
        let mut buffer = [0u8; 10];
        let digits = write_u32(i, &mut buffer);
        self.new_string_latin1(digits)
    }

    /// A flat string cell of `len` units with uninitialised units.
    fn alloc_flat(&mut self, len: usize, wide: bool) -> JsStr {
        let bytes = FLAT_DATA + if wide { len * 2 } else { len };
        let a = if wide { flags::WIDE } else { 0 };
        let p = self.alloc_raw(bytes.max(size_of::<Linked>()), false) as *mut StringCell;
        // SAFETY: fresh memory of that size; the units are plain bytes that the caller fills at once.
        unsafe {
            p.write(StringCell::new_head(a, len as u32));
            Gc::from_addr(p)
        }
    }

    /// A string from Latin-1 units.
    pub fn new_string_latin1(&mut self, s: &[u8]) -> JsStr {
        match s {
            [] => return empty(),
            [c] => return character(*c),
            _ => {}
        }
        let cell = self.alloc_flat(s.len(), false);
        // SAFETY: the cell has room for the units; `s` is Rust memory or another cell's, which does not move.
        unsafe { copy_short(s, (cell.as_ptr() as *mut u8).add(FLAT_DATA)) };
        cell
    }

    /// A string from UTF-16 units; kept as Latin-1 if they all fit.
    pub fn new_string_utf16(&mut self, s: &[u16]) -> JsStr {
        if s.iter().all(|&u| u < 0x100) {
            if s.is_empty() {
                return empty();
            }
            if let [c] = s {
                return character(*c as u8);
            }
            let cell = self.alloc_flat(s.len(), false);
            // SAFETY: the cell has room for the units.
            unsafe {
                let to = (cell.as_ptr() as *mut u8).add(FLAT_DATA);
                for (i, &u) in s.iter().enumerate() {
                    *to.add(i) = u as u8;
                }
            }
            return cell;
        }
        let cell = self.alloc_flat(s.len(), true);
        // SAFETY: the cell has room for the units, which are aligned (the head is 16 bytes).
        unsafe {
            std::ptr::copy_nonoverlapping(
                s.as_ptr(),
                (cell.as_ptr() as *mut u8).add(FLAT_DATA) as *mut u16,
                s.len(),
            );
        }
        cell
    }

    /// A string from UTF-8 text.
    pub fn new_string(&mut self, s: &str) -> JsStr {
        if s.is_ascii() {
            return self.new_string_latin1(s.as_bytes());
        }
        let units: Vec<u16> = s.encode_utf16().collect();
        self.new_string_utf16(&units)
    }

    /// A string from a view (of another string, say).
    pub fn new_string_view(&mut self, v: StrView<'_>) -> JsStr {
        match v {
            StrView::Latin1(s) => self.new_string_latin1(s),
            StrView::Utf16(s) => self.new_string_utf16(s),
        }
    }

    /// The string of one code unit.
    pub fn new_string_unit(&mut self, u: u16) -> JsStr {
        if u < 0x100 { character(u as u8) } else { self.new_string_utf16(&[u]) }
    }

    /// `a` followed by `b`. A RangeError when the result would be too long.
    #[inline]
    pub fn concat(&mut self, a: JsStr, b: JsStr) -> JsResult<JsStr> {
        if a.is_empty() {
            return Ok(b);
        }
        if b.is_empty() {
            return Ok(a);
        }
        let len = a.len() + b.len();
        if len < ROPE_MIN
            && let (Some(x), Some(y)) = (a.flat_view(), b.flat_view())
        {
            return Ok(self.concat_flat(x, y, len));
        }
        self.concat_rope(a, b, len)
    }

    fn concat_flat(&mut self, x: StrView<'_>, y: StrView<'_>, len: usize) -> JsStr {
        if let (StrView::Latin1(x), StrView::Latin1(y)) = (x, y) {
            let cell = self.alloc_flat(len, false);
            // SAFETY: the cell has room for the units of both, which are cells' and do not move.
            unsafe {
                let to = (cell.as_ptr() as *mut u8).add(FLAT_DATA);
                copy_short(x, to);
                copy_short(y, to.add(x.len()));
            }
            return cell;
        }
        let mut buffer = [0u16; ROPE_MIN];
        for (to, u) in buffer.iter_mut().zip(x.units().chain(y.units())) {
            *to = u;
        }
        self.new_string_utf16(&buffer[..len])
    }

    /// All of these strings (nothing else is in `parts`), one after the other.
    pub fn concat_all(&mut self, parts: &[Value]) -> JsResult<JsStr> {
        let strings = || parts.iter().filter_map(|part| part.as_string());
        let len: usize = strings().map(|s| s.len()).sum();
        let short = (2..JOIN_MAX).contains(&len);
        if !short || strings().any(|s| !s.is_flat() || !s.is_latin1()) {
            return strings().try_fold(super::empty(), |all, s| self.concat(all, s));
        }
        let cell = self.alloc_flat(len, false);
        // SAFETY: the cell has room for the units of all.
        let mut to = unsafe { (cell.as_ptr() as *mut u8).add(FLAT_DATA) };
        for s in strings() {
            if let Some(StrView::Latin1(units)) = s.flat_view() {
                // SAFETY: as above.
                unsafe {
                    copy_short(units, to);
                    to = to.add(units.len());
                }
            }
        }
        Ok(cell)
    }

    fn concat_rope(&mut self, a: JsStr, b: JsStr, len: usize) -> JsResult<JsStr> {
        if len > limits::STRING_UNITS_MAX {
            return Err(self.range_error("Invalid string length"));
        }
        let wide = !a.is_latin1() || !b.is_latin1();
        if len > limits::LARGE_ALLOCATION_BYTES {
            // The rope is charged when it is flattened, which cannot fail; so make sure now that it will fit.
            self.check_heap_room(if wide { len * 2 } else { len })?;
        }
        if b.len() <= APPEND_MAX
            && let Some(joined) = self.append(a, b, wide)
        {
            return Ok(joined);
        }
        let p = self.alloc_raw(size_of::<Linked>(), false) as *mut Linked;
        // SAFETY: fresh memory of that size.
        unsafe {
            p.write(Linked::rope(len as u32, wide, a, b));
            Ok(Gc::from_addr(p as *mut StringCell))
        }
    }

    /// `a` followed by `b` as a slice of a buffer, if `a` ends one, or is a rope that has earned one.
    fn append(&mut self, a: JsStr, b: JsStr, wide: bool) -> Option<JsStr> {
        let units = b.flat_view()?;
        let len = a.len() + units.len();
        if a.flags() & flags::ROPE != 0 {
            let enough = BUFFER_DEPTH + a.len() / BUFFER_UNITS_PER_DEPTH;
            if (a.rope_depth() as usize) < enough || wide == a.is_latin1() {
                return None;
            }
            self.flatten_with_room(a, len * 2);
        }
        if a.flags() & flags::SLICE == 0 {
            return None;
        }
        let (mut buffer, mut first) = (a.linked().left.get(), a.linked().right.get());
        if buffer.buffer_capacity() == 0 || buffer.len() != first + a.len() || wide == buffer.is_latin1() {
            return None;
        }
        if buffer.len() + units.len() > buffer.buffer_capacity() {
            buffer = self.new_buffer(len * 2, wide);
            // SAFETY: the buffer has room for more than `a`, which is flat.
            unsafe {
                write_units((buffer.as_ptr() as *mut u8).add(FLAT_DATA), wide, 0, a.flat_view()?);
            }
            first = 0;
        }
        // SAFETY: the buffer has room for the units after those of `a`, and no string's window reaches there.
        unsafe {
            let data = (buffer.as_ptr() as *mut u8).add(FLAT_DATA);
            write_units(data, wide, first + a.len(), units);
        }
        buffer.header().c.set((first + len) as u32);
        Some(self.new_slice(len, buffer, first))
    }

    /// An empty buffer.
    fn new_buffer(&mut self, capacity: usize, wide: bool) -> JsStr {
        let capacity = capacity.min(limits::STRING_UNITS_MAX + APPEND_MAX);
        let buffer = self.alloc_flat(capacity, wide);
        buffer.extra.set(capacity as u32);
        buffer
    }

    fn new_slice(&mut self, len: usize, parent: JsStr, first: usize) -> JsStr {
        let p = self.alloc_raw(size_of::<Linked>(), false) as *mut Linked;
        // SAFETY: fresh memory of that size.
        unsafe {
            p.write(Linked::slice(len as u32, parent, first));
            Gc::from_addr(p as *mut StringCell)
        }
    }

    /// The units `from..to` of `s` (which must be in range and ordered).
    pub fn substring(&mut self, s: JsStr, from: usize, to: usize) -> JsStr {
        let len = to - from;
        if len == s.len() {
            return s;
        }
        let view = s.unmetered_view(self);
        if len < SLICE_MIN {
            return self.new_string_view(view.slice(from, to));
        }
        let (parent, first) = if s.flags() & flags::SLICE != 0 {
            let l = s.linked();
            (l.left.get(), l.right.get() + from)
        } else {
            (s, from)
        };
        self.new_slice(len, parent, first)
    }

    /// Makes the units of a rope contiguous, once.
    #[cold]
    #[inline(never)]
    pub(crate) fn flatten(&mut self, s: JsStr) {
        if s.is_flat() {
            return;
        }
        let (left, right) = s.rope_parts();
        if right.len() <= APPEND_MAX && left.len() >= ROOM_MIN && left.flags() & flags::SLICE != 0 {
            // The left side was a rope that was looked at: this string grows and is looked at in turn, so that the next piece finds room.
            return self.flatten_with_room(s, s.len() + s.len() / 2);
        }
        let flat = self.alloc_flat(s.len(), !s.is_latin1());
        fill_and_link(s, flat);
    }

    /// The same with a buffer for `capacity` units.
    fn flatten_with_room(&mut self, s: JsStr, capacity: usize) {
        let buffer = self.new_buffer(capacity, !s.is_latin1());
        buffer.header().c.set(s.len() as u32);
        fill_and_link(s, buffer);
    }
}

/// Copies the units of a rope to `flat`, which has room for them, and makes the rope a slice of it.
fn fill_and_link(s: JsStr, flat: JsStr) {
    let wide = !s.is_latin1();
    // SAFETY: the new cell has room for all the units of the rope; nothing allocates while it is filled.
    unsafe {
        let data = (flat.as_ptr() as *mut u8).add(FLAT_DATA);
        fill_from_rope(s, s.len(), |at, v| write_units(data, wide, at, v));
    }
    s.become_slice_of(flat);
}

/// Copies bytes, of which there are mostly few: without a call then.
///
/// # Safety
/// `to` has room for `s`, and does not overlap it.
#[inline(always)]
unsafe fn copy_short(s: &[u8], to: *mut u8) {
    let (from, len) = (s.as_ptr(), s.len());
    /// # Safety
    /// Both have at least `N` bytes at each of the two places.
    #[inline(always)]
    unsafe fn ends<const N: usize>(from: *const u8, to: *mut u8, len: usize) {
        // SAFETY: promised by the caller; the two copies may write some bytes twice.
        unsafe {
            std::ptr::copy_nonoverlapping(from, to, N);
            std::ptr::copy_nonoverlapping(from.add(len - N), to.add(len - N), N);
        }
    }
    // SAFETY: promised by the caller.
    unsafe {
        match len {
            0..4 => {
                for i in 0..len {
                    *to.add(i) = *from.add(i);
                }
            }
            4..8 => ends::<4>(from, to, len),
            8..16 => ends::<8>(from, to, len),
            16..=32 => ends::<16>(from, to, len),
            _ => std::ptr::copy_nonoverlapping(from, to, len),
        }
    }
}

/// Calls `put` with every flat part of the rope and its position. Goes from right to left, because ropes that were
/// built by appending lean to the left.
fn fill_from_rope(rope: JsStr, len: usize, mut put: impl FnMut(usize, StrView<'_>)) {
    let mut end = len;
    let mut pending = vec![rope];
    while let Some(s) = pending.pop() {
        match s.flat_view() {
            Some(v) => {
                end -= v.len();
                put(end, v);
            }
            None => {
                let (left, right) = s.rope_parts();
                pending.push(left);
                pending.push(right);
            }
        }
    }
}

/// # Safety
/// `data` has room for the view at unit `at`.
unsafe fn write_units(data: *mut u8, wide: bool, at: usize, v: StrView<'_>) {
    // SAFETY: promised by the caller.
    unsafe {
        match v {
            StrView::Latin1(s) if !wide => std::ptr::copy_nonoverlapping(s.as_ptr(), data.add(at), s.len()),
            StrView::Latin1(s) => {
                let to = (data as *mut u16).add(at);
                for (i, &b) in s.iter().enumerate() {
                    *to.add(i) = u16::from(b);
                }
            }
            StrView::Utf16(s) => {
                std::ptr::copy_nonoverlapping(s.as_ptr(), (data as *mut u16).add(at), s.len());
            }
        }
    }
}
