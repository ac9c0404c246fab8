//! The language's syntax: input, parser, tree and printer. Invariant: parsing never executes anything and never
//! panics; it gives a tree or a `SyntaxError` with the line and the message bash would print.

mod alias;
pub mod ast;
mod class;
mod compound;
mod condition;
mod dollar;
mod here_document;
mod input;
mod parser;
pub mod printer;
mod redirect;
mod simple;
mod text;
mod word;

pub use input::{Input, LineSource};
pub use parser::{Context, Next, Parser};
pub use text::Text;
pub use word::Mode;

use crate::Bytes;

/// A syntax error as bash words it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
    /// The line it is reported on.
    pub line: u32,
    /// The message after the line number.
    pub message: Bytes,
    /// The input line to show below the message.
    pub shown: Option<Bytes>,
    /// Whether the input ended too early (an interactive shell would read on).
    pub incomplete: bool,
}

/// What the parser's functions give. The error is boxed because they all return it and it is rarely made.
pub type Parsed<T> = Result<T, Box<SyntaxError>>;
