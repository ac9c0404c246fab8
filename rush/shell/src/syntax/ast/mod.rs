//! The syntax tree. Words are pre-split into constant and expanding parts; names are interned; arithmetic is compiled
//! at first use and kept. Trees are immutable once built (but for those caches) and shared by `Rc` where a function,
//! a trap or a subshell keeps them. No behaviour here.
//!
//! Nodes are small, because making and clearing their memory is most of what parsing costs: lists have no room to grow,
//! what a node seldom has is one pointer in it, and what it mostly has once lies in it.

mod sparse;
mod word;

pub use sparse::{Rare, Stages};
pub use word::{BraceCell, Parts, Word, WordKind};

use super::Text;
use crate::Bytes;
use crate::arith;
use crate::state::names::NameId;
use std::cell::OnceCell;
use std::rc::Rc;

/// A sequence of and-or lists separated by `;`, `&` or newlines.
#[derive(Debug, Clone, Default)]
pub struct List {
    /// The members in order.
    pub items: Box<[Item]>,
}

impl List {
    /// The simple command in which a subshell that runs this list ends, if its process could become that program.
    pub(crate) fn tail(&self) -> Option<&SimpleCommand> {
        let item = self.items.last().filter(|item| !item.background)?;
        let pipeline = item.and_or.rest.last().map_or(&item.and_or.first, |(_, pipeline)| pipeline);
        match pipeline.stages.first() {
            _ if self.items.len() > 1 && !item.and_or.rest.is_empty() => None,
            _ if pipeline.negated || pipeline.timed.is_some() || pipeline.stages.len() != 1 => None,
            Some(Command::Simple(simple)) => {
                let alone = self.items.len() == 1 && item.and_or.rest.is_empty();
                Some(&**simple).filter(|simple| alone || simple.redirects().is_empty())
            }
            Some(Command::Compound(compound)) if compound.redirects.is_empty() => match &compound.kind {
                Compound::Subshell(list) => list.tail(),
                _ => None,
            },
            _ => None,
        }
    }
}

/// Deep trees are taken apart with room for it.
impl Drop for List {
    fn drop(&mut self) {
        let items = std::mem::take(&mut self.items);
        if !items.is_empty() {
            crate::sys::stack::with_room(|| drop(items));
        }
    }
}

/// One and-or list and how it is run.
#[derive(Debug, Clone)]
pub struct Item {
    /// What to run.
    pub and_or: AndOr,
    /// Whether `&` follows.
    pub background: bool,
}

/// Pipelines joined by `&&` and `||`.
#[derive(Debug, Clone)]
pub struct AndOr {
    /// The first pipeline.
    pub first: Pipeline,
    /// The others, each with the operator before it.
    pub rest: Rare<(Connector, Pipeline)>,
}

/// `&&` or `||`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Connector {
    /// `&&`
    And,
    /// `||`
    Or,
}

/// Commands joined by `|`.
#[derive(Debug, Clone)]
pub struct Pipeline {
    /// Whether an odd number of `!` precedes it.
    pub negated: bool,
    /// `time` or `time -p` before it.
    pub timed: Option<TimeStyle>,
    /// The stages; empty for a bare `!` or `time`.
    pub stages: Stages,
    /// The line it starts on.
    pub line: u32,
}

/// How `time` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeStyle {
    /// By `TIMEFORMAT`.
    Bash,
    /// `time -p`.
    Posix,
}

/// A command of a pipeline.
#[derive(Debug, Clone)]
pub enum Command {
    /// Assignments, words, redirections.
    Simple(Box<SimpleCommand>),
    /// A compound command with its redirections.
    Compound(Box<CompoundCommand>),
    /// A function definition.
    Function(Rc<FunctionDefinition>),
    /// `coproc [NAME] command`.
    Coprocess(Box<Coprocess>),
}

/// A simple command.
#[derive(Debug, Clone, Default)]
pub struct SimpleCommand {
    /// The command's words.
    pub words: Box<[Word]>,
    attached: Option<Box<Attached>>,
    /// The line of the first word.
    pub line: u32,
}

/// What stands around the words of a simple command, if anything does.
#[derive(Debug, Clone, Default)]
struct Attached {
    assignments: Box<[Assignment]>,
    redirects: Box<[Redirect]>,
}

impl SimpleCommand {
    /// A command that starts on `line`.
    pub fn new(
        assignments: Box<[Assignment]>,
        words: Box<[Word]>,
        redirects: Box<[Redirect]>,
        line: u32,
    ) -> SimpleCommand {
        let bare = assignments.is_empty() && redirects.is_empty();
        let attached = Attached { assignments, redirects };
        SimpleCommand { words, attached: (!bare).then(|| Box::new(attached)), line }
    }

    /// Leading assignments.
    pub fn assignments(&self) -> &[Assignment] {
        self.attached.as_ref().map_or(&[], |attached| &attached.assignments)
    }

    /// The redirections, in order.
    pub fn redirects(&self) -> &[Redirect] {
        self.attached.as_ref().map_or(&[], |attached| &attached.redirects)
    }

    /// Adds a redirection after the others.
    pub fn add_redirect(&mut self, redirect: Redirect) {
        let attached = self.attached.get_or_insert_default();
        let mut redirects = std::mem::take(&mut attached.redirects).into_vec();
        redirects.push(redirect);
        attached.redirects = redirects.into();
    }
}

/// A compound command.
#[derive(Debug, Clone)]
pub struct CompoundCommand {
    /// Which one.
    pub kind: Compound,
    /// The redirections after it.
    pub redirects: Rare<Redirect>,
    /// The line it starts on.
    pub line: u32,
}

/// The kinds of compound command.
#[derive(Debug, Clone)]
pub enum Compound {
    /// `{ list; }`
    Group(Rc<List>),
    /// `( list )`
    Subshell(Rc<List>),
    /// `for name [in words]; do list; done`
    For(Box<ForLoop>),
    /// `select name [in words]; do list; done`
    Select(Box<ForLoop>),
    /// `for ((init; condition; step)); do list; done`
    ArithmeticFor(Box<ArithmeticFor>),
    /// `while` or `until`
    While {
        /// Whether it is `until`.
        until: bool,
        /// The condition.
        condition: List,
        /// The body.
        body: List,
    },
    /// `if`, `elif` ..., `else`
    If {
        /// Conditions and their bodies.
        branches: Box<[(List, List)]>,
        /// The `else` body.
        otherwise: Option<List>,
    },
    /// `case word in ... esac`
    Case {
        /// The subject.
        word: Word,
        /// The arms.
        arms: Box<[CaseArm]>,
    },
    /// `(( expression ))`
    Arithmetic(Box<Expression>),
    /// `[[ condition ]]`
    Conditional(Box<Condition>),
}

impl Compound {
    /// Whether its status counts for `set -e` by itself, rather than that of a command inside it.
    pub fn is_checked(&self) -> bool {
        matches!(self, Compound::Subshell(_) | Compound::Arithmetic(_) | Compound::Conditional(_))
    }
}

/// The head and body of `for` and `select`.
#[derive(Debug, Clone)]
pub struct ForLoop {
    /// The loop variable's text; checked when run, as bash does.
    pub variable: Text,
    /// Its interned id.
    pub id: NameId,
    /// The words; `None` means `"$@"`.
    pub words: Option<Box<[Word]>>,
    /// The body.
    pub body: List,
}

/// A C-style loop.
#[derive(Debug, Clone)]
pub struct ArithmeticFor {
    /// Run once.
    pub init: Expression,
    /// Tested before each round; empty is true.
    pub condition: Expression,
    /// Run after each round.
    pub step: Expression,
    /// The body.
    pub body: List,
}

/// An arm of `case`.
#[derive(Debug, Clone)]
pub struct CaseArm {
    /// Its patterns.
    pub patterns: Box<[CasePattern]>,
    /// Its body.
    pub body: List,
    /// What follows the body.
    pub end: CaseEnd,
}

/// A pattern of `case`.
#[derive(Debug, Clone)]
pub struct CasePattern {
    /// The word.
    pub word: Word,
    /// The compiled pattern and the options it was compiled with, if the word needs no expansion.
    pub compiled: OnceCell<Rc<crate::pattern::Pattern>>,
}

/// How an arm ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaseEnd {
    /// `;;`: leave.
    Break,
    /// `;&`: run the next arm's body.
    FallThrough,
    /// `;;&`: go on testing.
    Continue,
}

/// `coproc`.
#[derive(Debug, Clone)]
pub struct Coprocess {
    /// Its name (`COPROC` by default).
    pub name: Word,
    /// What runs.
    pub command: Rc<Command>,
    /// The line.
    pub line: u32,
}

/// A function as defined.
#[derive(Debug)]
pub struct FunctionDefinition {
    /// The name.
    pub name: Text,
    /// The body, a compound command with redirections.
    pub body: Rc<CompoundCommand>,
    /// The line of the definition.
    pub line: u32,
}

/// The expression language of `[[ ]]`.
#[derive(Debug, Clone)]
pub enum Condition {
    /// A word alone: true if not empty.
    Word(Word),
    /// `-x word`; the letter of the operator.
    Unary(u8, Word),
    /// `left op right`
    Binary(Word, ConditionOperator, Word),
    /// `! c`
    Not(Box<Condition>),
    /// `a && b && c`
    And(Box<[Condition]>),
    /// `a || b || c`
    Or(Box<[Condition]>),
    /// `( c )`
    Group(Box<Condition>),
}

/// Deep trees are taken apart with room for it.
impl Drop for Condition {
    fn drop(&mut self) {
        if let Condition::Not(inner) | Condition::Group(inner) = self {
            let inner = std::mem::replace(&mut **inner, Condition::Word(Word::default()));
            crate::sys::stack::with_room(|| drop(inner));
        }
    }
}

macro_rules! condition_operators {
    ($($name:ident $text:literal)*) => {
        /// Binary operators of `[[ ]]`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[allow(missing_docs)]
        pub enum ConditionOperator {
            $($name),*
        }

        impl ConditionOperator {
            const ALL: &[ConditionOperator] = &[$(ConditionOperator::$name),*];

            /// The operator's source text.
            pub fn text(self) -> &'static str {
                match self {
                    $(ConditionOperator::$name => $text),*
                }
            }
        }
    };
}

condition_operators! {
    Match "=="
    MatchSingle "="
    NotMatch "!="
    Regex "=~"
    Before "<"
    After ">"
    Equal "-eq"
    NotEqual "-ne"
    Less "-lt"
    LessEqual "-le"
    Greater "-gt"
    GreaterEqual "-ge"
    NewerThan "-nt"
    OlderThan "-ot"
    SameFile "-ef"

}

impl ConditionOperator {
    /// The operator of `text`.
    pub fn from_text(text: &[u8]) -> Option<Self> {
        Self::ALL.iter().copied().find(|operator| operator.text().as_bytes() == text)
    }
}

/// `name=value`, `name[i]=value`, `name+=value`, `name=(...)`.
#[derive(Debug, Clone)]
pub struct Assignment {
    /// The variable.
    pub id: NameId,
    /// Its name.
    pub name: Text,
    /// The subscript, if any.
    pub subscript: Option<Box<Expression>>,
    /// Whether it is `+=`.
    pub append: bool,
    /// The value.
    pub value: AssignmentValue,
}

/// The right-hand side of an assignment.
#[derive(Debug, Clone)]
pub enum AssignmentValue {
    /// A word, expanded without splitting.
    Scalar(Word),
    /// `( ... )`
    Array(Box<[ArrayElement]>),
}

/// An element of a compound array assignment.
#[derive(Debug, Clone)]
pub struct ArrayElement {
    /// `[subscript]=`; absent for a plain word.
    pub subscript: Option<Expression>,
    /// Whether it is `[subscript]+=`.
    pub append: bool,
    /// The value; a plain word expands to any number of elements.
    pub value: Word,
}

/// A redirection.
#[derive(Debug, Clone)]
pub struct Redirect {
    /// The descriptor before the operator.
    pub number: RedirectNumber,
    /// The operator.
    pub operator: RedirectOperator,
    /// The word after it.
    pub target: Word,
    /// The here-document's body.
    pub here: Option<Rc<HereDocument>>,
}

impl Redirect {
    /// Whether it is descriptor 0 that becomes another.
    pub(crate) fn changes_standard_input(&self) -> bool {
        use RedirectOperator::*;
        match self.number {
            RedirectNumber::Number(number) => number == 0,
            RedirectNumber::Variable(_) => false,
            RedirectNumber::Default => matches!(
                self.operator,
                Input | ReadWrite | DuplicateInput | HereDocument | HereDocumentStripped | HereString
            ),
        }
    }
}

/// What stands before a redirection operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RedirectNumber {
    /// Nothing: 0 or 1 by the operator.
    Default,
    /// `2>`
    Number(u32),
    /// `{name}>`
    Variable(Text),
}

/// Redirection operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum RedirectOperator {
    Input,
    Output,
    Append,
    Clobber,
    ReadWrite,
    DuplicateInput,
    DuplicateOutput,
    OutputAndError,
    AppendOutputAndError,
    HereDocument,
    HereDocumentStripped,
    HereString,
}

impl RedirectOperator {
    /// The operator's source text.
    pub fn text(self) -> &'static str {
        use RedirectOperator::*;
        match self {
            Input => "<",
            Output => ">",
            Append => ">>",
            Clobber => ">|",
            ReadWrite => "<>",
            DuplicateInput => "<&",
            DuplicateOutput => ">&",
            OutputAndError => "&>",
            AppendOutputAndError => "&>>",
            HereDocument => "<<",
            HereDocumentStripped => "<<-",
            HereString => "<<<",
        }
    }
}

/// A here-document.
#[derive(Debug, Default)]
pub struct HereDocument {
    /// The delimiter after quote removal.
    pub delimiter: Bytes,
    /// Whether the delimiter was quoted: the body is literal.
    pub quoted: bool,
    /// The body, set once the line with the operator has been read.
    pub body: OnceCell<HereBody>,
}

/// The body of a here-document.
#[derive(Debug)]
pub struct HereBody {
    /// The body as written (tabs stripped for `<<-`).
    pub text: Bytes,
    /// The parsed body; a constant if there is nothing to expand.
    pub word: Word,
}

/// A part of a word.
#[derive(Debug, Clone)]
pub enum Part {
    /// Unquoted text; pattern characters in it are active.
    Literal(Text),
    /// Quoted text.
    Quoted(Text),
    /// `" ... "`: literals inside are quoted text.
    DoubleQuoted(Box<[Part]>),
    /// `"$name"`, which is what is most often double-quoted.
    QuotedVariable(NameId),
    /// `~`, `~user`, `~+`, `~-`: the text after the tilde.
    Tilde(Text),
    /// `$name`
    Variable(NameId),
    /// `$1`, `$?`, `${...}`
    Parameter(Box<Parameter>),
    /// `$( )` or backquotes.
    Command(Rc<CommandSubstitution>),
    /// `$(( ))`
    Arithmetic(Box<Expression>),
    /// `<( )`, `>( )`
    Process(Rc<ProcessSubstitution>),
}

/// A command substitution.
#[derive(Debug)]
pub struct CommandSubstitution {
    /// The commands; a backquoted text that does not parse is reported when run.
    pub body: Result<Rc<List>, Box<super::SyntaxError>>,
    /// `$(< file)`: the redirection alone.
    pub read_file: bool,
    /// Where the commands run, and what they give.
    pub kind: SubstitutionKind,
    /// The line it starts on.
    pub line: u32,
}

/// Where the commands of a substitution run, and what they give.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SubstitutionKind {
    /// `$( )` and backquotes: what they write, in a subshell.
    Subshell,
    /// `${ cmd; }`: what they write, in the shell itself.
    Output,
    /// `${| cmd; }`: the value that they leave in `REPLY`, in the shell itself.
    Reply,
}

/// A process substitution.
#[derive(Debug)]
pub struct ProcessSubstitution {
    /// Whether it is `<( )`: the commands' output is read through the name.
    pub input: bool,
    /// The commands.
    pub body: Rc<List>,
}

/// Text evaluated as arithmetic after expansion, and its compiled form where the text is constant.
#[derive(Debug, Clone, Default)]
pub struct Expression {
    /// The text as a double-quoted word.
    pub word: Word,
    /// The compiled expression, once parsed; `None` if it must be parsed each time.
    pub compiled: OnceCell<Option<Rc<arith::Program<NameId>>>>,
}

impl Expression {
    /// An expression over `word`.
    pub fn new(word: Word) -> Expression {
        Expression { word, compiled: OnceCell::new() }
    }
}

/// A parameter expansion.
#[derive(Debug, Clone)]
pub struct Parameter {
    /// What is expanded.
    pub name: ParameterName,
    /// Its subscript.
    pub subscript: Option<Subscript>,
    /// `${!...}`: the value names the parameter.
    pub indirect: bool,
    /// The operation.
    pub operation: Operation,
}

impl Parameter {
    /// `$name`.
    pub fn variable(id: NameId) -> Parameter {
        Parameter {
            name: ParameterName::Variable(id),
            subscript: None,
            indirect: false,
            operation: Operation::Value,
        }
    }
}

/// The parameter's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ParameterName {
    /// A variable.
    Variable(NameId),
    /// `$1` and up.
    Positional(usize),
    /// One of `@ * # ? - $ ! 0`.
    Special(u8),
}

/// A subscript in a parameter expansion.
#[derive(Debug, Clone)]
pub enum Subscript {
    /// `[@]`
    At,
    /// `[*]`
    Star,
    /// Anything else.
    Index(Box<Expression>),
}

/// What a parameter expansion does with the value.
#[derive(Debug, Clone)]
pub enum Operation {
    /// Nothing.
    Value,
    /// `${#x}`
    Length,
    /// `${x-w} ${x=w} ${x?w} ${x+w}`, with `colon` also for the empty value.
    Test {
        /// `-`, `=`, `?` or `+`.
        operator: u8,
        /// Whether a colon precedes it.
        colon: bool,
        /// The word.
        word: Box<Word>,
    },
    /// `# ## % %%`
    Remove {
        /// Whether at the end.
        suffix: bool,
        /// Whether the longest match.
        longest: bool,
        /// The pattern.
        pattern: Box<Word>,
    },
    /// `${x/p/r}` and variants.
    Replace {
        /// Where and how often.
        mode: ReplaceMode,
        /// The pattern.
        pattern: Box<Word>,
        /// The replacement.
        replacement: Option<Box<Word>>,
    },
    /// `${x:offset:length}`
    Substring {
        /// The offset.
        offset: Box<Expression>,
        /// The length.
        length: Option<Box<Expression>>,
    },
    /// `^ ^^ , ,, ~ ~~`
    Case {
        /// The operator's character.
        operator: u8,
        /// Whether doubled.
        all: bool,
        /// Which characters.
        pattern: Option<Box<Word>>,
    },
    /// `@Q` and so on.
    Transform(u8),
    /// `${!prefix*}` or `${!prefix@}`: names with this prefix.
    Names {
        /// The prefix.
        prefix: Text,
        /// Whether `@`.
        at: bool,
    },
    /// `${!a[@]}`: the subscripts.
    Keys,
    /// Not valid; the text between the braces, reported when expanded.
    Bad(Text),
}

/// How `${x/p/r}` replaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplaceMode {
    /// `/`: the first match.
    First,
    /// `//`: all matches.
    All,
    /// `/#`: at the start.
    Prefix,
    /// `/%`: at the end.
    Suffix,
}

impl CommandSubstitution {
    /// A substitution of `list`; a lone input redirection is `$(< file)`.
    pub fn new(list: List, line: u32) -> CommandSubstitution {
        let read_file = lone_redirect(&list).is_some();
        CommandSubstitution { body: Ok(Rc::new(list)), read_file, kind: SubstitutionKind::Subshell, line }
    }
}

/// The only redirection of a list that is nothing but `< file`.
pub fn lone_redirect(list: &List) -> Option<&Redirect> {
    let [item] = &list.items[..] else { return None };
    if item.background || !item.and_or.rest.is_empty() || item.and_or.first.negated {
        return None;
    }
    let [Command::Simple(simple)] = &item.and_or.first.stages[..] else { return None };
    let [redirect] = simple.redirects() else { return None };
    let plain = simple.words.is_empty() && simple.assignments().is_empty();
    let input = redirect.operator == RedirectOperator::Input && redirect.number == RedirectNumber::Default;
    (plain && input).then_some(redirect)
}
