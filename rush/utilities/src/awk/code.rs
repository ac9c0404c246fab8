//! The instructions of the machine that runs programs, and what they refer to.

use std::rc::Rc;

use super::tree::{Binary, Builtin};
use super::value::Value;
use crate::posix::Pattern;

/// The variables with a meaning, by their slots.
pub(super) static SPECIAL: &[&str] = &[
    "NF", "NR", "FNR", "FS", "OFS", "ORS", "RS", "FILENAME", "SUBSEP", "CONVFMT", "OFMT", "RSTART",
    "RLENGTH", "ARGC",
];
pub(super) const NF: u32 = 0;
pub(super) const NR: u32 = 1;
pub(super) const FNR: u32 = 2;
pub(super) const FS: u32 = 3;
pub(super) const OFS: u32 = 4;
pub(super) const ORS: u32 = 5;
pub(super) const RS: u32 = 6;
pub(super) const FILENAME: u32 = 7;
pub(super) const SUBSEP: u32 = 8;
pub(super) const CONVFMT: u32 = 9;
pub(super) const OFMT: u32 = 10;
pub(super) const RSTART: u32 = 11;
pub(super) const RLENGTH: u32 = 12;
pub(super) const ARGC: u32 = 13;

/// The arrays with a meaning, by their slots.
pub(super) static SPECIAL_ARRAYS: &[&str] = &["ENVIRON", "ARGV"];
pub(super) const ENVIRON: usize = 0;
pub(super) const ARGV: usize = 1;

/// Where an array is.
#[derive(Debug, Clone, Copy)]
pub(super) enum Array {
    Global(u32),
    /// Of the running function.
    Local(u32),
}

/// An argument of a function of the program's own.
#[derive(Debug, Clone, Copy)]
pub(super) enum Argument {
    /// The next of those on the stack.
    Scalar,
    Array(Array),
}

/// Where output goes; the name of a file is on top of the stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sink {
    Standard,
    File,
    Append,
}

/// What separates the fields of a `split`.
#[derive(Debug, Clone, Copy)]
pub(super) enum Separator {
    /// FS.
    Fields,
    Pattern(u32),
    /// On top of the stack.
    Text,
}

/// One instruction. Those that assign leave the value on the stack.
#[derive(Debug, Clone)]
pub(super) enum Op {
    Constant(u32),
    Number(f64),
    Global(u32),
    SetGlobal(u32),
    Special(u32),
    SetSpecial(u32),
    Local(u32),
    SetLocal(u32),
    /// The field of a number that is known.
    FieldAt(u32),
    /// The same where only its number matters.
    FieldNumber(u32),
    Field,
    SetField,
    Element(Array),
    SetElement(Array),
    /// Joins subscripts.
    Join(u32),
    In(Array),
    Delete(Array),
    Clear(Array),
    StepGlobal(u32, f64, bool),
    StepLocal(u32, f64, bool),
    StepElement(Array, f64, bool),
    /// `s = s x`, of what is on the stack.
    AppendGlobal(u32),
    AppendLocal(u32),
    Binary(Binary),
    Not,
    Negate,
    Plus,
    Truth,
    MatchRecord(u32),
    Match(u32, bool),
    MatchText(bool),
    Jump(u32),
    JumpIfFalse(u32),
    JumpIfTrue(u32),
    Pop,
    Double,
    /// Pushes what is below the top once more.
    Under,
    Swap,
    Print(u32, Sink),
    Printf(u32, Sink),
    PrintRecord,
    /// Fields and nothing else, to standard output.
    PrintFields(Rc<[u32]>),
    Call(u32, Rc<[Argument]>),
    Return,
    Builtin(Builtin, u32),
    /// `length(array)`.
    Count(Array),
    MatchAt(Option<u32>),
    Split(Array, Separator),
    /// Text, pattern unless it is known, replacement: all, or the first.
    Substitute(Option<u32>, bool),
    JumpUnlessSubstituted(u32),
    Gensub(Option<u32>, bool),
    /// What the last `getline` read or substitution made.
    Got,
    Substitutions,
    GetlineMain(bool),
    GetlineFile,
    /// Unless something was read: the state of `getline` stays on the stack.
    JumpUnlessRead(u32),
    SetRecord,
    Loop(Array),
    /// Pushes the next key, or jumps.
    LoopNext(u32),
    LoopEnd,
    RangeBegun(u32, u32),
    SetRange(u32, bool),
    Next,
    NextFile,
    Exit(bool),
    End,
}

/// A function of the program's own.
#[derive(Debug, Clone)]
pub(super) struct Routine {
    pub(super) entry: u32,
    /// Whether each parameter is an array.
    pub(super) arrays: Rc<[bool]>,
}

/// A program that can run.
#[derive(Default)]
pub(super) struct Code {
    pub(super) ops: Vec<Op>,
    pub(super) constants: Vec<Value>,
    pub(super) patterns: Vec<Pattern>,
    pub(super) routines: Vec<Routine>,
    /// Names of scalars, special ones first.
    pub(super) globals: Vec<Rc<str>>,
    /// Names of arrays, special ones first.
    pub(super) arrays: Vec<Rc<str>>,
    pub(super) ranges: u32,
    pub(super) begin: u32,
    pub(super) main: Option<u32>,
    pub(super) end: Option<u32>,
}
