//! Syntax errors: where, what, and the line with a caret under the place.

use std::fmt;

use super::Input;

/// Longest piece of a source line that is shown; minified lines are cut around the place.
const EXCERPT_COLUMNS_MAX: usize = 100;

/// Why a text was rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// What is wrong.
    pub message: String,
    /// Display name of the source.
    pub source_name: String,
    /// One-based line.
    pub line: u32,
    /// One-based column, in characters.
    pub column: u32,
    /// The source line (or the part around the place) and the caret line.
    pub excerpt: String,
}

impl SyntaxError {
    /// An error at the byte `offset` of `input`.
    pub(crate) fn at(input: Input<'_>, offset: u32, message: String) -> Self {
        // Where the text ends too early, the last line that says something.
        let mut offset = (offset as usize).min(input.text.trim_end().len());
        while !input.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let (before, after) = input.text.split_at(offset);
        let line = before.matches('\n').count() as u32 + 1;
        let line_start = before.rfind('\n').map_or(offset.min(input.hidden as usize), |at| at + 1);
        let head = &before[line_start..];
        let tail = after.split(['\n', '\r']).next().unwrap_or("");
        Self {
            message,
            source_name: input.name.to_string(),
            line,
            column: head.chars().count() as u32 + 1,
            excerpt: excerpt(head, tail),
        }
    }
}

fn excerpt(head: &str, tail: &str) -> String {
    let head_columns = head.chars().count();
    let skipped = head_columns.saturating_sub(EXCERPT_COLUMNS_MAX / 2);
    let shown: String = head.chars().skip(skipped).map(|c| if c == '\t' { ' ' } else { c }).collect();
    let rest: String = tail.chars().take(EXCERPT_COLUMNS_MAX / 2).collect();
    format!("{shown}{rest}\n{}^", " ".repeat(head_columns - skipped))
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: {}\n{}", self.source_name, self.line, self.column, self.message, self.excerpt)
    }
}

impl std::error::Error for SyntaxError {}

#[cfg(test)]
mod tests {
    use super::super::{Goal, parse};
    use super::*;

    fn error(text: &str) -> SyntaxError {
        let allocator = oxc_allocator::Allocator::default();
        let input = Input { text, name: "t.js", dialect: crate::syntax::Dialect::JAVASCRIPT, hidden: 0 };
        parse(&allocator, input, Goal::Script)
            .err()
            .unwrap_or_else(|| SyntaxError::at(input, 0, String::new()))
    }

    #[test]
    fn errors_show_the_place() {
        let error = error("let a = 1;\nlet é = ;");
        assert_eq!((error.line, error.column), (2, 9));
        assert!(error.excerpt.ends_with("        ^"), "{}", error.excerpt);
    }

    #[test]
    fn scripts_are_strict() {
        assert!(error("with (a) {}").message.contains("with"));
        assert_ne!(error("x = 010").message, "");
        assert_ne!(error("let static = 1").message, "");
    }
}
