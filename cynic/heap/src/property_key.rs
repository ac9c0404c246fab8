//! [`PropertyKey`]: one word that is an interned string, a symbol (or private name), or an array index.
//!
//! Invariant: two keys are the same property exactly when the words are equal. A string key is interned and never
//! spells an array index.

#![allow(unsafe_code)]

use std::ptr::NonNull;

use crate::gc::{CellHeader, CellKind, Gc};
use crate::mutator::Mutator;
use crate::string::{JsStr, StringCell};
use crate::symbol::{Symbol, SymbolCell};
use crate::value::Value;

/// Where the loader puts this is nobody's business.
static SECRET_ADDRESS: u8 = 0;

/// A property key (or a private name).
#[repr(transparent)]
#[derive(Copy, Clone, PartialEq, Eq, Hash)]
pub struct PropertyKey(NonNull<u8>);

// SAFETY: constants of this type point to immortal, immutable cells; others never leave their isolate's thread,
// because nothing that holds them is `Send`.
unsafe impl Sync for PropertyKey {}

impl PropertyKey {
    /// The key of an array index (0 to 2^32 - 2).
    #[inline(always)]
    pub const fn index(i: u32) -> PropertyKey {
        let word = (i as usize) << 3 | 1;
        match NonNull::new(std::ptr::without_provenance_mut(word)) {
            Some(p) => PropertyKey(p),
            None => unreachable!(),
        }
    }

    /// The key of an interned string that is not an array index.
    #[inline(always)]
    pub(crate) fn from_interned(s: JsStr) -> PropertyKey {
        debug_assert!(s.is_interned());
        // SAFETY: a `Gc` is never null.
        PropertyKey(unsafe { NonNull::new_unchecked(s.as_ptr() as *mut u8) })
    }

    /// The key of a static cell.
    pub(crate) const fn from_static<T>(cell: &'static T) -> PropertyKey {
        PropertyKey(NonNull::from_ref(cell).cast())
    }

    /// The key of a symbol or private name.
    #[inline(always)]
    pub fn symbol(s: Symbol) -> PropertyKey {
        // SAFETY: a `Gc` is never null.
        PropertyKey(unsafe { NonNull::new_unchecked(s.as_ptr() as *mut u8) })
    }

    #[inline(always)]
    fn addr(self) -> usize {
        self.0.as_ptr() as usize
    }

    /// Whether this is an array index.
    #[inline(always)]
    pub fn is_index(self) -> bool {
        self.addr() & 1 != 0
    }
    /// The array index.
    #[inline(always)]
    pub fn as_index(self) -> Option<u32> {
        if self.is_index() { Some((self.addr() >> 3) as u32) } else { None }
    }
    /// The address of the cell, if the key is not an index.
    #[inline(always)]
    pub fn cell_addr(self) -> Option<usize> {
        if self.is_index() { None } else { Some(self.addr()) }
    }

    #[inline(always)]
    fn kind(self) -> Option<CellKind> {
        // SAFETY: a key that is not an index is the address of a live (or static) cell.
        self.cell_addr().map(|a| unsafe { (*(a as *const CellHeader)).kind() })
    }

    /// Whether this is a string key other than an index.
    #[inline]
    pub fn is_string(self) -> bool {
        self.kind() == Some(CellKind::String)
    }
    /// Whether this is a symbol (or private name).
    #[inline]
    pub fn is_symbol(self) -> bool {
        self.kind() == Some(CellKind::Symbol)
    }
    /// The interned string.
    #[inline]
    pub fn as_string(self) -> Option<JsStr> {
        // SAFETY: the kind has been tested.
        self.is_string().then(|| unsafe { Gc::from_addr(self.0.as_ptr() as *mut StringCell) })
    }
    /// The symbol or private name.
    #[inline]
    pub fn as_symbol(self) -> Option<Symbol> {
        // SAFETY: the kind has been tested.
        self.is_symbol().then(|| unsafe { Gc::from_addr(self.0.as_ptr() as *mut SymbolCell) })
    }
    /// Whether this is a private name, which no reflection shows.
    #[inline]
    pub fn is_private(self) -> bool {
        self.as_symbol().is_some_and(|s| s.is_private())
    }

    /// The string behind a constant of `atoms`.
    pub fn static_str(self) -> JsStr {
        debug_assert!(self.is_string());
        // SAFETY: constants of `atoms` are strings.
        unsafe { Gc::from_addr(self.0.as_ptr() as *mut StringCell) }
    }

    /// The key as a language value: a string or a symbol.
    pub fn to_value(self, vm: &mut Mutator) -> Value {
        if let Some(i) = self.as_index() {
            return Value::string(vm.index_to_string(i));
        }
        if self.is_symbol() {
            // SAFETY: a symbol key is the address of a symbol cell.
            return Value::symbol(unsafe { Gc::from_addr(self.0.as_ptr() as *mut SymbolCell) });
        }
        Value::string(self.static_str())
    }

    /// The key as a function name shows it: `[description]` for a symbol.
    pub fn to_display(self) -> String {
        if let Some(i) = self.as_index() {
            return i.to_string();
        }
        if let Some(s) = self.as_symbol() {
            return match s.description() {
                Some(d) if s.is_private() => d.to_rust_string(),
                Some(d) => format!("Symbol({})", d.to_rust_string()),
                None => "Symbol()".to_owned(),
            };
        }
        self.static_str().to_rust_string()
    }

    /// A hash for property tables: keys are compared by identity, so the address will do. Indices, which the guest chooses,
    /// are mixed with an address that it does not know (address space layout randomisation), so that it cannot
    /// choose them to collide.
    #[inline(always)]
    pub(crate) fn table_hash(self) -> u32 {
        let secret = (&raw const SECRET_ADDRESS) as u64;
        let x = (self.addr() >> 3) as u64 ^ secret << 16;
        let product = u128::from(x) * 0x9e37_79b9_7f4a_7c15;
        let folded = product as u64 ^ (product >> 64) as u64;
        (folded ^ folded >> 32) as u32
    }
}

impl std::fmt::Debug for PropertyKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.to_display())
    }
}
