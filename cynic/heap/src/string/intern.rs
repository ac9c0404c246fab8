//! Interning: one string cell per property name.
//!
//! Static names are found in a table made at compile time; the others in this isolate's table, whose entries are weak
//! (purged after each collection). Array indices are never interned: they are keys of their own.

use super::{JsStr, StrView};
use crate::atoms;
use crate::gc::Tracer;
use crate::mutator::Mutator;
use crate::property_key::PropertyKey;
use crate::value::Value;

/// The isolate's own interned strings: open addressing, linear probing.
#[derive(Default)]
pub(crate) struct InternTable {
    slots: Vec<Option<JsStr>>,
    count: usize,
    /// Those added since the last collection: only they can be found dead by a young one.
    young: Vec<JsStr>,
}

impl InternTable {
    fn find(&self, hash: u32, view: StrView<'_>) -> Option<JsStr> {
        let mask = self.slots.len().checked_sub(1)?;
        let mut i = hash as usize & mask;
        while let Some(s) = self.slots[i] {
            if s.cached_hash() == hash && s.flat_view() == Some(view) {
                return Some(s);
            }
            i = (i + 1) & mask;
        }
        None
    }

    fn insert(&mut self, s: JsStr) {
        if (self.count + 1) * 2 > self.slots.len() {
            let size = (self.slots.len() * 2).max(64);
            self.rebuild(size, |_| true);
        }
        self.place(s);
        self.count += 1;
        self.young.push(s);
    }

    fn place(&mut self, s: JsStr) {
        let mask = self.slots.len() - 1;
        let mut i = s.cached_hash() as usize & mask;
        while self.slots[i].is_some() {
            i = (i + 1) & mask;
        }
        self.slots[i] = Some(s);
    }

    fn rebuild(&mut self, size: usize, keep: impl Fn(JsStr) -> bool) {
        let old = std::mem::replace(&mut self.slots, vec![None; size]);
        self.count = 0;
        for s in old.into_iter().flatten() {
            if keep(s) {
                self.place(s);
                self.count += 1;
            }
        }
    }

    /// Takes out a string that is in the table, and closes the gap in the runs of probes that went over it.
    fn remove(&mut self, s: JsStr) {
        let mask = self.slots.len() - 1;
        let mut gap = s.cached_hash() as usize & mask;
        while self.slots[gap] != Some(s) {
            gap = (gap + 1) & mask;
        }
        self.slots[gap] = None;
        self.count -= 1;
        let mut at = (gap + 1) & mask;
        while let Some(next) = self.slots[at] {
            let home = next.cached_hash() as usize & mask;
            if at.wrapping_sub(home) & mask >= at.wrapping_sub(gap) & mask {
                self.slots.swap(gap, at);
                gap = at;
            }
            at = (at + 1) & mask;
        }
    }

    /// Drops the strings that nothing else refers to.
    pub(crate) fn purge(&mut self, tracer: &Tracer<'_>) {
        let young = std::mem::take(&mut self.young);
        if !tracer.is_full() {
            young.into_iter().filter(|s| !tracer.is_marked(Value::string(*s))).for_each(|s| self.remove(s));
            return;
        }
        let dead = self.slots.iter().flatten().any(|s| !tracer.is_marked(Value::string(*s)));
        if dead {
            self.rebuild(self.slots.len(), |s| tracer.is_marked(Value::string(s)));
        }
    }
}

/// The array index (0 to 2^32 - 2) that these units spell canonically.
pub fn parse_array_index(v: StrView<'_>) -> Option<u32> {
    let len = v.len();
    if len == 0 || len > 10 {
        return None;
    }
    let first = v.at(0);
    if first == u16::from(b'0') {
        return (len == 1).then_some(0);
    }
    let mut n: u64 = 0;
    for u in v.units() {
        if !(0x30..=0x39).contains(&u) {
            return None;
        }
        n = n * 10 + u64::from(u - 0x30);
    }
    (n < u64::from(u32::MAX)).then_some(n as u32)
}

impl Mutator {
    /// The interned string with the units of `s`, which must not be an array index.
    fn intern_flat(&mut self, s: JsStr) -> JsStr {
        let view = s.view(self);
        if let Some(found) = atoms::lookup(view) {
            return found;
        }
        let hash = s.hash(self);
        if let Some(found) = self.interned.find(hash, view) {
            return found;
        }
        // A small flat string becomes the interned one itself; a slice would keep its parent alive, so it is copied.
        let own = if s.is_whole() { s } else { self.new_string_view(view) };
        own.set_hash(hash);
        own.set_interned();
        self.interned.insert(own);
        own
    }

    fn intern_view(&mut self, view: StrView<'_>) -> JsStr {
        if let Some(found) = atoms::lookup(view) {
            return found;
        }
        let hash = self.hash_seed.view(view);
        if let Some(found) = self.interned.find(hash, view) {
            return found;
        }
        let own = self.new_string_view(view);
        if own.is_interned() {
            return own;
        }
        own.set_hash(hash);
        own.set_interned();
        self.interned.insert(own);
        own
    }

    /// The property key that a string names: an array index or an interned string.
    #[inline]
    pub fn key_from_string(&mut self, s: JsStr) -> PropertyKey {
        if s.is_interned() {
            return PropertyKey::from_interned(s);
        }
        if let Some(i) = parse_array_index(s.unmetered_view(self)) {
            return PropertyKey::index(i);
        }
        PropertyKey::from_interned(self.intern_flat(s))
    }

    /// The property key that these units spell.
    pub fn key_from_view(&mut self, view: StrView<'_>) -> PropertyKey {
        match parse_array_index(view) {
            Some(i) => PropertyKey::index(i),
            None => PropertyKey::from_interned(self.intern_view(view)),
        }
    }

    /// The property key for text.
    pub fn key_from_str(&mut self, s: &str) -> PropertyKey {
        if s.is_ascii() {
            let view = StrView::Latin1(s.as_bytes());
            return match parse_array_index(view) {
                Some(i) => PropertyKey::index(i),
                None => PropertyKey::from_interned(self.intern_view(view)),
            };
        }
        let s = self.new_string(s);
        self.key_from_string(s)
    }

    /// The string with the text `s`, interned when it is a name (so that equal names share a cell).
    pub fn intern_str(&mut self, s: &str) -> JsStr {
        let key = self.key_from_str(s);
        match key.as_string() {
            Some(s) => s,
            None => self.new_string(s),
        }
    }
}

impl crate::string::StringCell {
    /// Flat, with its units inline.
    fn is_whole(&self) -> bool {
        self.flags() & (super::flags::ROPE | super::flags::SLICE) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn array_indices_are_canonical() {
        for (s, want) in [
            ("0", Some(0)),
            ("00", None),
            ("1", Some(1)),
            ("01", None),
            ("4294967294", Some(4294967294)),
            ("4294967295", None),
            ("-0", None),
            ("", None),
            ("1e3", None),
            ("99999999999", None),
        ] {
            assert_eq!(parse_array_index(StrView::Latin1(s.as_bytes())), want, "{s}");
        }
    }
}
