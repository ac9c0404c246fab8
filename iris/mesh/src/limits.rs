//! Every limit of this crate: its value and its reason.

/// Nesting of terms that are decoded or encoded; both recurse, and so does dropping a term.
pub const DEPTH_MAX: usize = 512;

/// Terms in one decoded value: a byte of input may become a term of 32 bytes, so that frames alone would not bound memory.
pub const TERMS_MAX: usize = 8 << 20;

/// Characters of an atom, as in Erlang.
pub const ATOM_CHARS_MAX: usize = 255;
