//! What a program of awk says: rules, functions, statements, expressions.

use std::rc::Rc;

/// The builtin functions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Builtin {
    Atan2,
    Close,
    Cos,
    Exp,
    Fflush,
    Gensub,
    Gsub,
    Index,
    Int,
    Length,
    Log,
    Match,
    Rand,
    Sin,
    Split,
    Sprintf,
    Sqrt,
    Srand,
    Sub,
    Substr,
    System,
    Systime,
    Tolower,
    Toupper,
}

/// By name, sorted.
pub(super) static BUILTINS: &[(&str, Builtin)] = &[
    ("atan2", Builtin::Atan2),
    ("close", Builtin::Close),
    ("cos", Builtin::Cos),
    ("exp", Builtin::Exp),
    ("fflush", Builtin::Fflush),
    ("gensub", Builtin::Gensub),
    ("gsub", Builtin::Gsub),
    ("index", Builtin::Index),
    ("int", Builtin::Int),
    ("length", Builtin::Length),
    ("log", Builtin::Log),
    ("match", Builtin::Match),
    ("rand", Builtin::Rand),
    ("sin", Builtin::Sin),
    ("split", Builtin::Split),
    ("sprintf", Builtin::Sprintf),
    ("sqrt", Builtin::Sqrt),
    ("srand", Builtin::Srand),
    ("sub", Builtin::Sub),
    ("substr", Builtin::Substr),
    ("system", Builtin::System),
    ("systime", Builtin::Systime),
    ("tolower", Builtin::Tolower),
    ("toupper", Builtin::Toupper),
];

/// What two operands give.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
    Power,
    Less,
    LessEqual,
    Equal,
    NotEqual,
    Greater,
    GreaterEqual,
    Concatenate,
}

/// What can be assigned to.
#[derive(Debug, Clone)]
pub(super) enum Place {
    Variable(Rc<str>),
    Field(Box<Expression>),
    Element(Rc<str>, Vec<Expression>),
}

/// Where `getline` reads.
#[derive(Debug, Clone)]
pub(super) enum Source {
    Main,
    File(Box<Expression>),
}

#[derive(Debug, Clone)]
pub(super) enum Expression {
    Number(f64),
    Text(Vec<u8>),
    /// A regular expression: by itself a match of `$0`.
    Pattern(Vec<u8>),
    Place(Place),
    Assign(Place, Option<Binary>, Box<Expression>),
    /// The place, what is added, and whether the value is that of before.
    Step(Place, f64, bool),
    Binary(Binary, Box<Expression>, Box<Expression>),
    Not(Box<Expression>),
    Negate(Box<Expression>),
    Plus(Box<Expression>),
    And(Box<Expression>, Box<Expression>),
    Or(Box<Expression>, Box<Expression>),
    Conditional(Box<Expression>, Box<Expression>, Box<Expression>),
    /// Text, expression, and whether it is `!~`.
    Match(Box<Expression>, Box<Expression>, bool),
    In(Vec<Expression>, Rc<str>),
    /// `(a, b)`: before `in`, or all that `print` prints.
    List(Vec<Expression>),
    /// In parentheses, which matter to `print` and to what could be read in two ways.
    Group(Box<Expression>),
    Call(Rc<str>, Vec<Expression>),
    Builtin(Builtin, Vec<Expression>),
    Getline(Option<Place>, Source),
}

/// Where `print` writes.
#[derive(Debug, Clone)]
pub(super) enum Target {
    Standard,
    File(Expression),
    Append(Expression),
}

#[derive(Debug, Clone)]
pub(super) enum Statement {
    Expression(Expression),
    Print(Vec<Expression>, Target),
    Printf(Vec<Expression>, Target),
    If(Expression, Box<Statement>, Option<Box<Statement>>),
    While(Expression, Box<Statement>),
    Do(Box<Statement>, Expression),
    For(Option<Box<Statement>>, Option<Expression>, Option<Box<Statement>>, Box<Statement>),
    ForIn(Rc<str>, Rc<str>, Box<Statement>),
    Block(Vec<Statement>),
    Next,
    NextFile,
    Exit(Option<Expression>),
    Return(Option<Expression>),
    Break,
    Continue,
    Delete(Rc<str>, Vec<Expression>),
}

#[derive(Debug, Clone)]
pub(super) enum Guard {
    Begin,
    End,
    Always,
    When(Expression),
    Range(Expression, Expression),
}

/// A rule; without statements it prints the record.
#[derive(Debug, Clone)]
pub(super) struct Rule {
    pub(super) guard: Guard,
    pub(super) body: Option<Vec<Statement>>,
}

#[derive(Debug, Clone)]
pub(super) struct Function {
    pub(super) name: Rc<str>,
    pub(super) parameters: Vec<Rc<str>>,
    pub(super) body: Vec<Statement>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Program {
    pub(super) rules: Vec<Rule>,
    pub(super) functions: Vec<Function>,
}
