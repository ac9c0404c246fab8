//! What the engine knows about Unicode 17: case mappings, properties of characters and of strings. Knows nothing of patterns.

mod case_tables;
pub(crate) mod casing;
mod emoji_tables;
pub(crate) mod properties;
