//! The compiled form of a function, before it meets a heap.
//!
//! A [`FunctionCode`] is immutable plain data: instructions, constants as text and numbers, exception table, source
//! positions and nested functions. The virtual machine links it into a heap template when it first needs it.

use std::sync::{Arc, OnceLock};

/// A string of the program: UTF-8 where possible, UTF-16 where it has lone surrogates.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Text {
    /// Well-formed text.
    Utf8(Box<str>),
    /// Text with lone surrogates.
    Utf16(Box<[u16]>),
}

impl Text {
    /// The text with lone surrogates replaced, for messages and listings.
    pub fn to_lossy(&self) -> String {
        match self {
            Self::Utf8(text) => text.to_string(),
            Self::Utf16(units) => String::from_utf16_lossy(units),
        }
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self::Utf8(text.into())
    }
}

/// An entry of a function's constant table.
#[derive(Clone, Debug, PartialEq)]
pub enum Constant {
    /// A number that does not fit an immediate.
    Number(f64),
    /// A string; interned when linked, so that it can serve as a property key.
    String(Text),
    /// A BigInt literal in decimal or with a radix prefix, without the `n`.
    BigInt(Box<str>),
}

/// What kind of code a function holds: decides how it is called and what it may be called for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeKind {
    /// `function f() {}`: callable and constructible.
    Normal,
    /// An arrow function.
    Arrow,
    /// A method, getter, setter or field initialiser: callable only.
    Method,
    /// The constructor of a class without heritage.
    ClassConstructor,
    /// The constructor of a class with heritage.
    DerivedConstructor,
    /// A script's body.
    Script,
    /// A module's body.
    Module,
    /// The body of eval code.
    Eval,
}

/// One region of the exception table; inner regions come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handler {
    /// First protected word.
    pub start: u32,
    /// One past the last protected word.
    pub end: u32,
    /// Where control goes.
    pub target: u32,
    /// The register that receives the exception.
    pub register: u8,
}

/// One element of a template literal site.
#[derive(Clone, Debug)]
pub struct TemplateSite {
    /// Cooked strings; `None` where the escape is invalid (tagged templates only).
    pub cooked: Vec<Option<Text>>,
    /// Raw strings.
    pub raw: Vec<Text>,
}

/// What `DefineClass` needs to know of a class.
#[derive(Clone, Debug)]
pub struct ClassSite {
    /// Index of the constructor among the nested functions.
    pub constructor: u32,
    /// Whether there is an `extends` clause.
    pub has_heritage: bool,
    /// The source text of the whole class, for `Function.prototype.toString`.
    pub span: (u32, u32),
}

/// How a name that direct eval may see is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EvalStorage {
    /// A scope slot.
    Slot,
    /// A module binding cell in a slot.
    Cell,
}

/// A variable visible to direct eval.
#[derive(Clone, Debug)]
pub struct EvalVariable {
    /// Its name (`this`, `new.target` and `%function` stand for themselves).
    pub name: Box<str>,
    /// Slot in the scope.
    pub slot: u32,
    /// How it is stored.
    pub storage: EvalStorage,
    /// Whether assignment throws.
    pub is_const: bool,
    /// Whether reading needs the initialisation check.
    pub needs_tdz: bool,
}

/// The compile-time environment of one direct eval call.
#[derive(Clone, Debug, Default)]
pub struct EvalSite {
    /// Scopes from the innermost outwards, one per heap scope.
    pub scopes: Vec<Vec<EvalVariable>>,
    /// `new.target` is allowed.
    pub in_function: bool,
    /// `super.x` is allowed.
    pub in_method: bool,
    /// `super()` is allowed.
    pub in_derived_constructor: bool,
    /// `arguments` is forbidden.
    pub in_field_initializer: bool,
    /// Whether the code is inside a module, where `import.meta` is still a syntax error for eval.
    pub in_module: bool,
}

/// Names that a script or eval declares, for GlobalDeclarationInstantiation.
#[derive(Clone, Debug, Default)]
pub struct GlobalDeclarations {
    /// `var` names that are not functions.
    pub vars: Vec<Box<str>>,
    /// Function names, in order.
    pub functions: Vec<Box<str>>,
    /// `let`, `const` and class names, with whether they are constant.
    pub lexicals: Vec<(Box<str>, bool)>,
}

/// The text a function was compiled from, kept for `toString` and stack traces.
#[derive(Debug)]
pub struct Source {
    /// Display name: path or `<eval>`.
    pub name: Box<str>,
    /// The whole text.
    pub text: Box<str>,
    /// Where the first line begins: what is before it is not the program's.
    hidden: u32,
    /// Start offset of every line, filled on demand.
    lines: OnceLock<Vec<u32>>,
}

impl Source {
    /// Keeps `text` under the display name `name`.
    pub fn new(name: &str, text: &str) -> Self {
        Self::with_hidden(name, text, 0)
    }

    /// The same where the first `hidden` bytes, a part of the first line, do not count for places.
    pub fn with_hidden(name: &str, text: &str, hidden: u32) -> Self {
        Self { name: name.into(), text: text.into(), hidden, lines: OnceLock::new() }
    }

    /// One-based line and column (in characters) of a byte offset.
    pub fn position(&self, offset: u32) -> (u32, u32) {
        let lines = self.lines.get_or_init(|| {
            let breaks = self.text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
            std::iter::once(self.hidden).chain(breaks.map(|(at, _)| at as u32 + 1)).collect()
        });
        let line = lines.partition_point(|start| *start <= offset).saturating_sub(1);
        let start = lines.get(line).copied().unwrap_or(0) as usize;
        let end = (offset as usize).min(self.text.len());
        let column = self.text.get(start..end).map_or(0, |text| text.chars().count());
        (line as u32 + 1, column as u32 + 1)
    }
}

/// Registers that the frame has no room for live in the slots of a scope, which only the function's own loads and stores see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spilled {
    /// The register of the scope.
    pub register: u8,
    /// Its slots.
    pub slots: u32,
}

/// A compiled function.
#[derive(Clone, Debug)]
pub struct FunctionCode {
    /// Name as in the source; empty for anonymous functions.
    pub name: Text,
    /// What kind of code it is.
    pub kind: CodeKind,
    /// `function*` or async generator.
    pub is_generator: bool,
    /// `async`.
    pub is_async: bool,
    /// Number of declared parameters held in registers 1..=parameters.
    pub parameters: u32,
    /// The `length` property.
    pub length: u32,
    /// Registers in the frame, `this` included.
    pub registers: u32,
    /// Where registers are that the frame has no room for.
    pub spilled: Option<Spilled>,
    /// The function reads its argument list beyond the declared parameters.
    pub needs_arguments: bool,
    /// Instructions.
    pub code: Box<[u32]>,
    /// Constants.
    pub constants: Vec<Constant>,
    /// Inline-cache sites: the constant index of each site's name (or `u32::MAX` for keyed access).
    pub ic_sites: Vec<u32>,
    /// Exception table, inner regions first.
    pub handlers: Vec<Handler>,
    /// `(word, source offset)` in ascending order.
    pub positions: Vec<(u32, u32)>,
    /// Nested functions.
    pub functions: Vec<Arc<FunctionCode>>,
    /// Key lists of object literals built in one step: constant indices.
    pub object_literals: Vec<Box<[u32]>>,
    /// Template literal sites.
    pub templates: Vec<TemplateSite>,
    /// Class definitions.
    pub classes: Vec<ClassSite>,
    /// Direct eval sites.
    pub eval_sites: Vec<EvalSite>,
    /// What a script declares globally.
    pub globals: GlobalDeclarations,
    /// Where the function stands in the source.
    pub span: (u32, u32),
    /// The source.
    pub source: Arc<Source>,
}

impl FunctionCode {
    /// The source offset of the instruction that contains word `pc`.
    pub fn source_offset(&self, pc: u32) -> u32 {
        let at = self.positions.partition_point(|(word, _)| *word <= pc);
        at.checked_sub(1).and_then(|at| self.positions.get(at)).map_or(self.span.0, |(_, offset)| *offset)
    }
}
