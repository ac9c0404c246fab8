//! Shell arithmetic: `$(( ))`, `(( ))`, `let`, array subscripts, integer attributes.
//!
//! Owns the expression language (C's operators over 64-bit wrapping integers), its parsed form and its
//! messages, which are bash's word for word. An expression is compiled once to a flat postfix [`Program`]
//! that loops may keep and run again; running never recurses on the length of an expression.
//!
//! Leaves to others: what a variable is ([`Variables`] is implemented by the session), the expansion of
//! `$x` and `$(cmd)` inside the text, and printing.

mod eval;
mod lexer;
mod number;
mod parser;
#[cfg(test)]
mod tests;

pub use eval::{evaluate, run};
pub use parser::parse;

use std::borrow::Cow;
use std::fmt;

/// The most nested parentheses, unary operators and right-hand sides one expression may have: 10,000, and what stands around
/// them.
pub const NESTING_MAX: usize = 10_100;
/// How deep a variable's value may name further variables (`x=y y=z ...`); bash's own bound.
pub const RECURSION_MAX: usize = 1_024;

/// The value of a variable as arithmetic sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value<'s> {
    /// Not set, or set to nothing: zero.
    Unset,
    /// A variable that already holds a number.
    Integer(i64),
    /// Text, evaluated as an expression in its turn.
    Text(&'s [u8]),
}

/// The door to the shell's variables.
pub trait Variables {
    /// An interned variable name.
    type Name: Clone;
    /// What the shell reports for a failed access (unbound variable, read-only variable ...).
    type Error;

    /// Interns `name`, which is a valid identifier.
    fn intern(&mut self, name: &[u8]) -> Self::Name;
    /// The value of a scalar, or of element 0 of an array.
    fn get(&mut self, name: &Self::Name) -> Result<Value<'_>, Self::Error>;
    /// Assigns to a scalar, or to element 0 of an array.
    fn set(&mut self, name: &Self::Name, value: i64) -> Result<(), Self::Error>;
    /// Whether subscripts of `name` are keys rather than expressions.
    fn is_associative(&mut self, name: &Self::Name) -> bool;
    /// What it means that the expression in a subscript is at fault: more than that the expression around it is.
    fn subscript_failed(&mut self, error: ArithmeticError) -> Failure<Self::Error> {
        Failure::Expression(error)
    }
    /// Performs the shell's expansions on the text of a subscript.
    fn expand_subscript(&mut self, text: &[u8]) -> Result<Vec<u8>, Self::Error>;
    /// The value of an indexed element; `index` may be negative.
    fn get_index(&mut self, name: &Self::Name, index: i64) -> Result<Value<'_>, Self::Error>;
    /// Assigns to an indexed element; `index` may be negative.
    fn set_index(&mut self, name: &Self::Name, index: i64, value: i64) -> Result<(), Self::Error>;
    /// The value of an associative element.
    fn get_key(&mut self, name: &Self::Name, key: &[u8]) -> Result<Value<'_>, Self::Error>;
    /// Assigns to an associative element.
    fn set_key(&mut self, name: &Self::Name, key: &[u8], value: i64) -> Result<(), Self::Error>;
}

/// An error in an expression. `Display` is bash's text, without the shell's and the command's prefix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArithmeticError {
    /// The expression in which it happened (a variable's value, if that was being evaluated).
    pub expression: Vec<u8>,
    /// What is wrong.
    pub message: Cow<'static, str>,
    /// The rest of the expression from the offending token on; `None` where bash names no token.
    pub token: Option<Vec<u8>>,
}

impl ArithmeticError {
    pub(crate) fn at(text: &[u8], message: &'static str, offset: usize) -> Self {
        let token = text.get(offset..).unwrap_or_default().to_vec();
        Self { expression: text.to_vec(), message: Cow::Borrowed(message), token: Some(token) }
    }

    /// The message as bytes, for the shell's standard error.
    pub fn to_bytes(&self) -> Vec<u8> {
        let start =
            self.expression.iter().position(|b| !b.is_ascii_whitespace()).unwrap_or(self.expression.len());
        let mut out = self.expression.get(start..).unwrap_or_default().to_vec();
        out.extend_from_slice(b": ");
        out.extend_from_slice(self.message.as_bytes());
        if let Some(token) = &self.token {
            out.extend_from_slice(b" (error token is \"");
            out.extend_from_slice(token);
            out.extend_from_slice(b"\")");
        }
        out
    }
}

impl fmt::Display for ArithmeticError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.to_bytes()))
    }
}

/// Why an evaluation gave no number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure<E> {
    /// The expression is at fault.
    Expression(ArithmeticError),
    /// A variable access failed; the shell knows how.
    Variable(E),
    /// A subscript is at fault, which gives up more than the expression.
    Subscript(E),
}

impl<E> From<ArithmeticError> for Failure<E> {
    fn from(error: ArithmeticError) -> Self {
        Self::Expression(error)
    }
}

/// A parsed expression: postfix operations and the text they came from (for messages).
///
/// The text may hold NUL bytes, each standing for an integer that the caller supplies when it runs the
/// program ([`run`]'s `placeholders`): so `$((a + $n))` need not be parsed again for each value of `n`.
#[derive(Debug, Clone)]
pub struct Program<N> {
    pub(crate) text: Box<[u8]>,
    pub(crate) operations: Box<[Operation<N>]>,
}

impl<N> Program<N> {
    /// The number, if the expression is a single literal.
    pub fn as_constant(&self) -> Option<i64> {
        match &*self.operations {
            [] => Some(0),
            [Operation::Constant(n)] => Some(*n),
            _ => None,
        }
    }

    /// The text that was parsed.
    pub fn text(&self) -> &[u8] {
        &self.text
    }
}

/// A subscript: its text for associative arrays, its program for indexed ones.
#[derive(Debug, Clone)]
pub(crate) struct Subscript<N> {
    pub(crate) text: Box<[u8]>,
    /// The number of the first placeholder in the text.
    pub(crate) first_placeholder: u16,
    /// `None` where the text does not parse as it stands (a key, or it needs expansion first).
    pub(crate) program: Option<Program<N>>,
}

/// Deep programs are taken apart with room for it.
impl<N> Drop for Subscript<N> {
    fn drop(&mut self) {
        if let Some(program) = self.program.take() {
            crate::sys::stack::with_room(|| drop(program));
        }
    }
}

/// A place that can be assigned to.
#[derive(Debug, Clone)]
pub(crate) enum Place<N> {
    Scalar(N),
    Element(N, Box<Subscript<N>>),
}

/// The side effect and result of `++` and `--`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) delta: i64,
    /// The result is the value before the step (postfix).
    pub(crate) yields_old: bool,
}

/// A binary operator that needs both sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Power,
    ShiftLeft,
    ShiftRight,
    Less,
    Greater,
    LessEqual,
    GreaterEqual,
    Equal,
    NotEqual,
    And,
    Xor,
    Or,
}

/// One postfix operation on the operand stack.
#[derive(Debug, Clone)]
pub(crate) enum Operation<N> {
    Constant(i64),
    Placeholder(u16),
    Load(Place<N>),
    Store(Place<N>),
    /// `place op= top`; the offset names the error token.
    Update(Place<N>, Binary, u32),
    Step(Place<N>, Step),
    Binary(Binary, u32),
    Negate,
    LogicalNot,
    BitwiseNot,
    /// Drops the left side of a comma.
    Pop,
    /// Turns the top into 0 or 1.
    Truth,
    /// `&&`: pops; if zero, pushes 0 and jumps.
    AndJump(u32),
    /// `||`: pops; if not zero, pushes 1 and jumps.
    OrJump(u32),
    JumpIfZero(u32),
    Jump(u32),
}
