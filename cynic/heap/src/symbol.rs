//! Symbols and private names; the well-known symbols are static and shared by all realms and isolates.
//!
//! A private name (`#x`) is a symbol with a flag: shapes and inline caches treat it as any key, reflection skips it.

#![allow(unsafe_code)]

use std::cell::Cell;

use crate::atoms;
use crate::gc::{CellHeader, CellKind, Gc, Tracer};
use crate::mutator::Mutator;
use crate::property_key::PropertyKey;
use crate::string::JsStr;

/// A pointer to a symbol cell.
pub type Symbol = Gc<SymbolCell>;

const PRIVATE: u8 = 1;
const REGISTERED: u8 = 2;

/// A symbol or private name.
#[repr(C)]
pub struct SymbolCell {
    header: CellHeader,
    description: Cell<Option<JsStr>>,
}

/// A well-known symbol in static memory.
pub(crate) struct StaticSymbol(SymbolCell);

// SAFETY: immortal cells are never written.
unsafe impl Sync for StaticSymbol {}

impl StaticSymbol {
    pub(crate) const fn new(description: JsStr) -> Self {
        StaticSymbol(SymbolCell {
            header: CellHeader::immortal(CellKind::Symbol, 0, 0),
            description: Cell::new(Some(description)),
        })
    }
    pub(crate) const fn key(&'static self) -> PropertyKey {
        PropertyKey::from_static(&self.0)
    }
}

impl SymbolCell {
    /// The description.
    pub fn description(&self) -> Option<JsStr> {
        self.description.get()
    }
    /// Whether this is a private name.
    #[inline(always)]
    pub fn is_private(&self) -> bool {
        self.header.a.get() & PRIVATE != 0
    }
    /// Whether `Symbol.for` made it.
    pub fn is_registered(&self) -> bool {
        self.header.a.get() & REGISTERED != 0
    }
    pub(crate) fn trace(&self, tracer: &mut Tracer<'_>) {
        if let Some(d) = self.description.get() {
            tracer.cell(d);
        }
    }
}

impl Mutator {
    /// A new symbol.
    pub fn new_symbol(&mut self, description: Option<JsStr>) -> Symbol {
        self.alloc_symbol(0, description)
    }
    /// A new private name; `description` includes the `#`.
    pub fn new_private_name(&mut self, description: JsStr) -> Symbol {
        self.alloc_symbol(PRIVATE, Some(description))
    }
    /// A new symbol of the registry (`Symbol.for`).
    pub fn new_registered_symbol(&mut self, key: JsStr) -> Symbol {
        self.alloc_symbol(REGISTERED, Some(key))
    }

    fn alloc_symbol(&mut self, flags: u8, description: Option<JsStr>) -> Symbol {
        let p = self.alloc_raw(size_of::<SymbolCell>(), false) as *mut SymbolCell;
        // SAFETY: fresh memory of that size.
        unsafe {
            p.write(SymbolCell {
                header: CellHeader::new(CellKind::Symbol, flags, 0, 0),
                description: Cell::new(description),
            });
            Gc::from_addr(p)
        }
    }
}

macro_rules! well_known {
    ($($name:ident $text:ident;)*) => {
        mod cells {
            use super::*;
            $(pub(super) static $name: StaticSymbol = StaticSymbol::new(atoms::cells_str::$text());)*
        }
        $(
            #[doc = concat!("The well-known symbol `", stringify!($text), "`, as a property key.")]
            pub const $name: PropertyKey = cells::$name.key();
        )*
    };
}

well_known! {
    ASYNC_DISPOSE SYM_ASYNC_DISPOSE;
    ASYNC_ITERATOR SYM_ASYNC_ITERATOR;
    DISPOSE SYM_DISPOSE;
    HAS_INSTANCE SYM_HAS_INSTANCE;
    IS_CONCAT_SPREADABLE SYM_IS_CONCAT_SPREADABLE;
    ITERATOR SYM_ITERATOR;
    MATCH SYM_MATCH;
    MATCH_ALL SYM_MATCH_ALL;
    REPLACE SYM_REPLACE;
    SEARCH SYM_SEARCH;
    SPECIES SYM_SPECIES;
    SPLIT SYM_SPLIT;
    TO_PRIMITIVE SYM_TO_PRIMITIVE;
    TO_STRING_TAG SYM_TO_STRING_TAG;
    UNSCOPABLES SYM_UNSCOPABLES;
}
