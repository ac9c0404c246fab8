//! What can go wrong: patterns that are not in the grammar, and matches that were stopped. All texts of this crate stand here.

use std::fmt;

/// An early error of the pattern (22.2.1.1) or a limit of this engine that the pattern exceeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// Code units before the place of the error.
    pub offset: usize,
    /// What is wrong there.
    pub kind: SyntaxErrorKind,
}

impl SyntaxError {
    /// The text for people, without the pattern.
    pub fn message(&self) -> &'static str {
        self.kind.message()
    }
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at {})", self.message(), self.offset)
    }
}

impl std::error::Error for SyntaxError {}

macro_rules! kinds {
    ($($name:ident = $text:literal,)*) => {
        /// The reasons for rejecting a pattern.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum SyntaxErrorKind {
            $(#[doc = $text] $name,)*
        }

        impl SyntaxErrorKind {
            /// The text for people.
            pub fn message(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)*
                }
            }
        }
    };
}

kinds! {
    UnterminatedGroup = "unterminated group",
    UnmatchedParenthesis = "unmatched ')'",
    InvalidGroup = "invalid group",
    InvalidModifiers = "invalid modifiers of a group",
    RepeatedModifier = "a modifier appears twice in a group",
    NothingToRepeat = "nothing to repeat",
    IncompleteQuantifier = "incomplete quantifier",
    QuantifierOrder = "numbers out of order in a {} quantifier",
    LoneQuantifierBracket = "a lone quantifier bracket must be escaped in a unicode pattern",
    TrailingBackslash = "\\ at the end of the pattern",
    InvalidEscape = "invalid escape",
    InvalidUnicodeEscape = "invalid Unicode escape",
    InvalidClassEscape = "invalid escape in a character class",
    InvalidDecimalEscape = "invalid decimal escape or reference to a group that does not exist",
    InvalidNamedReference = "invalid named reference",
    UnknownGroupName = "reference to a group name that does not exist",
    InvalidGroupName = "invalid name of a capturing group",
    DuplicateGroupName = "duplicate name of a capturing group",
    UnterminatedClass = "unterminated character class",
    ClassRangeOrder = "range out of order in a character class",
    ClassRangeOfClass = "a character class cannot be the end of a range",
    InvalidPropertyName = "invalid property name",
    NegatedClassWithStrings = "a negated character class may not contain strings",
    InvalidSetOperation = "invalid set operation in a character class",
    InvalidSetCharacter = "character must be escaped in a character class with the v flag",
    TooManyGroups = "too many capturing groups",
    TooDeep = "pattern is nested too deeply",
    TooLarge = "pattern is too large when compiled",
    Interrupted = "compilation was stopped by its budget",
}

/// Why a match was stopped before it had an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interrupted {
    /// The budget callback asked for it.
    Budget,
    /// The backtrack stack reached its limit.
    BacktrackLimit,
}
