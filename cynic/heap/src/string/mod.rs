//! Strings: cells of Latin-1 or UTF-16 code units, as flat text, ropes or slices.
//!
//! A flat string carries its units inline. A rope joins two strings and becomes a slice of a flat string when its
//! units are first needed ([`JsStr::view`]). A slice is a window on a flat string. A string that grows piece by piece is
//! soon a slice of a *buffer*, a flat string with room at its end: appending writes there, and gives a longer slice. Static strings (the names of
//! `atoms`, single Latin-1 characters) are immortal and shared by all isolates.
//!
//! Invariants: `hash` is 0 or the isolate's hash of the units (of a static string, the plain hash; see `hash`); an interned string is flat, is not
//! an array index, and is the only interned one with its units; a slice's parent is flat and not itself a slice.
//! Left to others: interning (`intern`), building (`builder`), creation and concatenation (`alloc`).

#![allow(unsafe_code)]

pub mod alloc;
pub mod builder;
pub mod hash;
pub mod intern;

use std::cell::Cell;

use crate::gc::{CellHeader, CellKind, Gc, Tracer, color};
use crate::limits;
use crate::mutator::{JsResult, Mutator};
pub(crate) use hash::plain_hash;

/// A pointer to a string cell.
pub type JsStr = Gc<StringCell>;

pub(crate) mod flags {
    /// The units are 16 bits wide.
    pub(crate) const WIDE: u8 = 1;
    /// Two strings joined, not yet flattened.
    pub(crate) const ROPE: u8 = 2;
    /// A window on a flat string.
    pub(crate) const SLICE: u8 = 4;
    /// In the intern table (or static): identity is equality.
    pub(crate) const INTERNED: u8 = 8;
}

/// A string cell; what follows the head depends on the flags.
#[repr(C)]
pub struct StringCell {
    header: CellHeader,
    hash: Cell<u32>,
    /// A buffer (a flat string that only slices refer to): for how many units it has room. A rope: how many concatenations
    /// deep its left side is. Else 0.
    extra: Cell<u32>,
}

/// The tail of a rope or a slice.
#[repr(C)]
pub(crate) struct Linked {
    head: StringCell,
    /// Rope: left. Slice: the flat parent.
    left: Cell<JsStr>,
    /// Rope: the address of right. Slice: the first unit.
    right: Cell<usize>,
}

/// A string in static memory, laid out like a flat Latin-1 [`StringCell`].
#[repr(C)]
pub(crate) struct StaticStr<const N: usize> {
    head: StringCell,
    data: [u8; N],
}

// SAFETY: immortal cells are never written: the collector skips them, and their hash is set from the start.
unsafe impl<const N: usize> Sync for StaticStr<N> {}

impl StaticStr<8> {
    /// The decimal digits of `n`. Never interned: they spell an array index.
    const fn integer(n: u8) -> Self {
        let digits = [b'0' + n / 100, b'0' + n / 10 % 10, b'0' + n % 10];
        let first = if n >= 100 {
            0
        } else if n >= 10 {
            1
        } else {
            2
        };
        let mut data = [0u8; 8];
        let mut i = first;
        while i < 3 {
            data[i - first] = digits[i];
            i += 1;
        }
        let (_, text) = digits.split_at(first);
        StaticStr { head: StringCell::static_head(plain_hash(text), 3 - first, false), data }
    }
}

impl<const N: usize> StaticStr<N> {
    /// The static string for `s`, whose length must be `N`.
    pub(crate) const fn new(s: &str) -> Self {
        let bytes = s.as_bytes();
        let mut data = [0u8; N];
        let mut i = 0;
        while i < N {
            assert!(bytes[i] < 0x80);
            data[i] = bytes[i];
            i += 1;
        }
        StaticStr { head: StringCell::static_head(plain_hash(bytes), N, true), data }
    }

    const fn character(c: u8) -> Self {
        let bytes = [c];
        let interned = !c.is_ascii_digit();
        StaticStr { head: StringCell::static_head(plain_hash(&bytes), 1, interned), data: [c; N] }
    }
}

/// Bytes before the units of a flat string.
pub(crate) const FLAT_DATA: usize = size_of::<StringCell>();

/// The units of a flat string.
#[derive(Copy, Clone, Debug)]
pub enum StrView<'a> {
    /// One byte per unit.
    Latin1(&'a [u8]),
    /// Two bytes per unit.
    Utf16(&'a [u16]),
}

impl StrView<'_> {
    /// Units.
    #[inline]
    pub fn len(&self) -> usize {
        match self {
            StrView::Latin1(s) => s.len(),
            StrView::Utf16(s) => s.len(),
        }
    }
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The unit at `i` (which must be in range).
    #[inline]
    pub fn at(&self, i: usize) -> u16 {
        match self {
            StrView::Latin1(s) => u16::from(s[i]),
            StrView::Utf16(s) => s[i],
        }
    }
    /// The unit at `i`.
    #[inline]
    pub fn get(&self, i: usize) -> Option<u16> {
        match self {
            StrView::Latin1(s) => s.get(i).map(|&b| u16::from(b)),
            StrView::Utf16(s) => s.get(i).copied(),
        }
    }
    /// The code point at `i` and how many units it takes; a lone surrogate is itself.
    #[inline]
    pub fn code_point_at(&self, i: usize) -> Option<(u32, usize)> {
        let first = u32::from(self.get(i)?);
        if first & 0xfc00 == 0xd800
            && let Some(second) = self.get(i + 1)
            && second & 0xfc00 == 0xdc00
        {
            return Some((0x10000 + ((first & 0x3ff) << 10) + (u32::from(second) & 0x3ff), 2));
        }
        Some((first, 1))
    }
    /// All units in order.
    pub fn units(&self) -> impl Iterator<Item = u16> + '_ {
        (0..self.len()).map(move |i| self.at(i))
    }
    /// The part `from..to`.
    pub fn slice(&self, from: usize, to: usize) -> StrView<'_> {
        match self {
            StrView::Latin1(s) => StrView::Latin1(&s[from..to]),
            StrView::Utf16(s) => StrView::Utf16(&s[from..to]),
        }
    }
    /// The text, lone surrogates replaced by U+FFFD.
    pub fn to_rust_string(&self) -> String {
        match self {
            StrView::Latin1(s) if s.is_ascii() => String::from_utf8_lossy(s).into_owned(),
            StrView::Latin1(s) => s.iter().map(|&b| b as char).collect(),
            StrView::Utf16(s) => String::from_utf16_lossy(s),
        }
    }
    /// Whether the first `units` units are the same (or all, if one has fewer).
    pub fn begins_like(&self, other: &StrView<'_>, units: usize) -> bool {
        let units = units.min(self.len()).min(other.len());
        self.slice(0, units) == other.slice(0, units)
    }
    /// Whether the units are exactly those of the ASCII text `s`.
    pub fn equals_ascii(&self, s: &str) -> bool {
        match self {
            StrView::Latin1(v) => *v == s.as_bytes(),
            StrView::Utf16(v) => {
                v.len() == s.len() && v.iter().zip(s.bytes()).all(|(&a, b)| a == u16::from(b))
            }
        }
    }
}

impl PartialEq for StrView<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (StrView::Latin1(a), StrView::Latin1(b)) => a == b,
            (StrView::Utf16(a), StrView::Utf16(b)) => a == b,
            (StrView::Latin1(a), StrView::Utf16(b)) | (StrView::Utf16(b), StrView::Latin1(a)) => {
                a.len() == b.len() && a.iter().zip(*b).all(|(&x, &y)| u16::from(x) == y)
            }
        }
    }
}
impl Eq for StrView<'_> {}

impl Ord for StrView<'_> {
    /// By code units, as the language compares strings.
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        match (self, other) {
            (StrView::Latin1(a), StrView::Latin1(b)) => a.cmp(b),
            (StrView::Utf16(a), StrView::Utf16(b)) => a.cmp(b),
            _ => self.units().cmp(other.units()),
        }
    }
}
impl PartialOrd for StrView<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl StringCell {
    const fn static_head(hash: u32, len: usize, interned: bool) -> Self {
        let a = if interned { flags::INTERNED } else { 0 };
        StringCell {
            header: CellHeader::immortal(CellKind::String, a, len as u32),
            hash: Cell::new(hash),
            extra: Cell::new(0),
        }
    }

    pub(crate) fn new_head(a: u8, len: u32) -> Self {
        StringCell {
            header: CellHeader::new(CellKind::String, a, 0, len),
            hash: Cell::new(0),
            extra: Cell::new(0),
        }
    }

    /// Code units.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.header.c.get() as usize
    }
    /// For how many units a buffer has room; 0 if this is none.
    fn buffer_capacity(&self) -> usize {
        if self.flags() & (flags::ROPE | flags::SLICE) == 0 { self.extra.get() as usize } else { 0 }
    }
    /// How many concatenations deep the left side of a rope is.
    fn rope_depth(&self) -> u32 {
        if self.flags() & flags::ROPE != 0 { self.extra.get() } else { 0 }
    }
    /// Whether there are none.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.header.c.get() == 0
    }
    #[inline(always)]
    pub(crate) fn flags(&self) -> u8 {
        self.header.a.get()
    }
    /// Whether the units are kept as Latin-1.
    #[inline(always)]
    pub fn is_latin1(&self) -> bool {
        self.flags() & flags::WIDE == 0
    }
    /// Whether the units are at hand.
    #[inline(always)]
    pub fn is_flat(&self) -> bool {
        self.flags() & flags::ROPE == 0
    }
    /// Whether this is *the* string with its units.
    #[inline(always)]
    pub fn is_interned(&self) -> bool {
        self.flags() & flags::INTERNED != 0
    }
    pub(crate) fn set_interned(&self) {
        self.header.a.set(self.flags() | flags::INTERNED);
    }

    fn linked(&self) -> &Linked {
        debug_assert!(self.flags() & (flags::ROPE | flags::SLICE) != 0);
        // SAFETY: ropes and slices are allocated with the linked tail.
        unsafe { &*(self as *const StringCell as *const Linked) }
    }

    pub(crate) fn rope_parts(&self) -> (JsStr, JsStr) {
        let l = self.linked();
        // SAFETY: a rope's right word is the address of a live string cell.
        (l.left.get(), unsafe { Gc::from_addr(l.right.get() as *mut StringCell) })
    }

    /// The flat string that holds the units, and the first unit in it.
    fn base(&self) -> (*const u8, usize) {
        if self.flags() & flags::SLICE != 0 {
            let l = self.linked();
            (l.left.get().as_ptr() as *const u8, l.right.get())
        } else {
            (self as *const StringCell as *const u8, 0)
        }
    }

    /// The units of a string that is flat already (a slice counts).
    #[inline]
    pub fn flat_view(&self) -> Option<StrView<'_>> {
        if !self.is_flat() {
            return None;
        }
        let (base, first) = self.base();
        // SAFETY: a flat string's units follow its head; a slice's window lies inside its parent.
        unsafe {
            let data = base.add(FLAT_DATA);
            Some(if self.is_latin1() {
                StrView::Latin1(std::slice::from_raw_parts(data.add(first), self.len()))
            } else {
                StrView::Utf16(std::slice::from_raw_parts((data as *const u16).add(first), self.len()))
            })
        }
    }

    /// The cached hash, or 0.
    pub(crate) fn cached_hash(&self) -> u32 {
        self.hash.get()
    }
    pub(crate) fn set_hash(&self, h: u32) {
        self.hash.set(h);
    }

    /// The text without touching the heap, lone surrogates replaced; for messages and tests.
    pub fn to_rust_string(&self) -> String {
        match self.flat_view() {
            Some(v) => v.to_rust_string(),
            None => String::from_utf16_lossy(&self.to_units()),
        }
    }

    /// The text that the first `units` units make, without touching the heap.
    pub fn first_units(&self, units: usize) -> String {
        let mut out = Vec::new();
        let mut pending: Vec<&StringCell> = vec![self];
        while let Some(s) = pending.pop().filter(|_| out.len() < units) {
            match s.flat_view() {
                Some(v) => out.extend(v.units().take(units - out.len())),
                None => {
                    let (left, right) = s.rope_parts();
                    for part in [right, left] {
                        // SAFETY: the parts live as long as the rope.
                        pending.push(unsafe { &*part.as_ptr() });
                    }
                }
            }
        }
        String::from_utf16_lossy(&out)
    }

    /// The units, copied, without touching the heap.
    pub fn to_units(&self) -> Vec<u16> {
        let mut out = Vec::with_capacity(self.len());
        let mut pending: Vec<&StringCell> = vec![self];
        while let Some(s) = pending.pop() {
            match s.flat_view() {
                Some(v) => out.extend(v.units()),
                None => {
                    let (left, right) = s.rope_parts();
                    for part in [right, left] {
                        // SAFETY: the parts live as long as the rope.
                        pending.push(unsafe { &*part.as_ptr() });
                    }
                }
            }
        }
        out
    }

    /// Turns a rope into a slice of `flat`, which has the same units.
    pub(crate) fn become_slice_of(&self, flat: JsStr) {
        let l = self.linked();
        let wide = flat.flags() & flags::WIDE;
        self.header.a.set(flags::SLICE | wide);
        l.left.set(flat);
        l.right.set(0);
        self.header.write_barrier();
    }

    pub(crate) fn trace(&self, tracer: &mut Tracer<'_>) {
        if self.flags() & (flags::ROPE | flags::SLICE) != 0 {
            let l = self.linked();
            tracer.cell(l.left.get());
            if self.flags() & flags::ROPE != 0 {
                tracer.cell(self.rope_parts().1);
            }
        }
    }
}

impl Linked {
    pub(crate) fn rope(len: u32, wide: bool, left: JsStr, right: JsStr) -> Self {
        let a = flags::ROPE | if wide { flags::WIDE } else { 0 };
        let head = StringCell::new_head(a, len);
        head.extra.set(left.rope_depth().saturating_add(1));
        Linked { head, left: Cell::new(left), right: Cell::new(right.addr()) }
    }
    pub(crate) fn slice(len: u32, parent: JsStr, first: usize) -> Self {
        let a = flags::SLICE | parent.flags() & flags::WIDE;
        Linked { head: StringCell::new_head(a, len), left: Cell::new(parent), right: Cell::new(first) }
    }
}

static CHARACTERS: [StaticStr<8>; 256] = {
    let mut table = [const { StaticStr::<8>::character(0) }; 256];
    let mut i = 0;
    while i < 256 {
        table[i] = StaticStr::character(i as u8);
        i += 1;
    }
    table
};

/// How many small integers have static strings.
const SMALL_INTEGERS: usize = 256;

static INTEGERS: [StaticStr<8>; SMALL_INTEGERS] = {
    let mut table = [const { StaticStr::<8>::integer(0) }; SMALL_INTEGERS];
    let mut i = 0;
    while i < SMALL_INTEGERS {
        table[i] = StaticStr::integer(i as u8);
        i += 1;
    }
    table
};

static EMPTY: StaticStr<0> = StaticStr::new("");

/// The string cell behind a static string.
pub(crate) const fn static_cell<const N: usize>(s: &'static StaticStr<N>) -> JsStr {
    Gc::from_static(&s.head)
}

/// The empty string.
#[inline(always)]
pub fn empty() -> JsStr {
    static_cell(&EMPTY)
}

/// The decimal digits of a small integer.
#[inline]
pub fn small_integer(i: i32) -> Option<JsStr> {
    INTEGERS.get(usize::try_from(i).ok()?).map(|s| Gc::from_static(&s.head))
}

/// The one-character string for a Latin-1 character.
#[inline(always)]
pub fn character(c: u8) -> JsStr {
    Gc::from_static(&CHARACTERS[c as usize].head)
}

impl Gc<StringCell> {
    /// All the units, charged as work over all of them; flattens a rope first. The view stays valid as long as `self` is on the stack.
    #[inline]
    pub fn view<'a>(&'a self, vm: &mut Mutator) -> StrView<'a> {
        vm.charge_bytes(self.byte_len());
        self.unmetered_view(vm)
    }

    /// The units, for a caller that looks at few of them, or charges for what it looks at.
    #[inline]
    pub fn unmetered_view<'a>(&'a self, vm: &mut Mutator) -> StrView<'a> {
        if !self.is_flat() {
            vm.flatten(*self);
        }
        match self.flat_view() {
            Some(v) => v,
            None => StrView::Latin1(&[]),
        }
    }

    /// The units `from..to`, which must be in range; only they are charged.
    #[inline]
    pub fn view_of<'a>(&'a self, vm: &mut Mutator, from: usize, to: usize) -> StrView<'a> {
        vm.charge_bytes(to - from);
        match self.unmetered_view(vm) {
            StrView::Latin1(units) => StrView::Latin1(&units[from..to]),
            StrView::Utf16(units) => StrView::Utf16(&units[from..to]),
        }
    }

    /// The text, lone surrogates replaced by U+FFFD; charged as [`Self::view`] is. The copy must fit the heap, though it is not in it.
    pub fn text(&self, vm: &mut Mutator) -> JsResult<String> {
        if self.len() > limits::LARGE_ALLOCATION_BYTES {
            let flat = if self.is_flat() { 0 } else { self.byte_len() };
            vm.check_heap_room(flat + self.len() * limits::TEXT_BYTES_PER_UNIT)?;
        }
        Ok(self.view(vm).to_rust_string())
    }

    /// Bytes that the units take.
    #[inline]
    pub(crate) fn byte_len(&self) -> usize {
        if self.is_latin1() { self.len() } else { self.len() * 2 }
    }

    /// The hash of the units, cached.
    pub fn hash(&self, vm: &mut Mutator) -> u32 {
        // The cells of static strings are shared by all isolates, and hold their plain hash.
        let is_static = self.header().color() == color::IMMORTAL;
        let h = self.cached_hash();
        if h != 0 && !is_static {
            return h;
        }
        let seed = vm.hash_seed;
        let h = seed.view(self.view(vm));
        if !is_static {
            self.set_hash(h);
        }
        h
    }
}
