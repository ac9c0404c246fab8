//! Colours of inspected values, as node's REPL has them; nothing when the output is no terminal.

/// What kind of text is painted.
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub(super) enum Style {
    Boolean,
    Date,
    Null,
    Number,
    Regexp,
    Special,
    String,
    Symbol,
    Undefined,
}

/// Whether texts are painted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Styles {
    /// As they are.
    Plain,
    /// With terminal colour codes.
    Coloured,
}

impl Styles {
    pub(super) fn paint(self, style: Style, text: &str) -> String {
        if self == Styles::Plain {
            return text.to_owned();
        }
        let (on, off) = match style {
            Style::Number | Style::Boolean => (33, 39),
            Style::String | Style::Symbol => (32, 39),
            Style::Undefined => (90, 39),
            Style::Null => (1, 22),
            Style::Special => (36, 39),
            Style::Date => (35, 39),
            Style::Regexp => (31, 39),
        };
        format!("\u{1b}[{on}m{text}\u{1b}[{off}m")
    }
}
