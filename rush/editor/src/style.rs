//! How parts of the screen look, and the sequences that terminals take for it.

/// How a part of the line or of a menu looks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Style {
    /// As the terminal has it.
    #[default]
    Plain,
    /// A command that exists.
    Command,
    /// A command that does not.
    Missing,
    /// A word of the grammar.
    Keyword,
    /// A string in quotes.
    String,
    /// A comment.
    Comment,
    /// A variable or another expansion.
    Variable,
    /// A separator or a redirection.
    Operator,
    /// An option of a command.
    Option,
    /// A file that exists.
    Path,
    /// What the grammar forbids.
    Error,
    /// What could come next.
    Suggestion,
    /// What is chosen in a menu, or the region.
    Selected,
    /// What a candidate is.
    Description,
    /// The part of a text that was searched for.
    Match,
}

impl Style {
    /// The sequence that begins the style; without colours only what must be told apart is.
    pub(crate) fn sequence(self, colours: bool) -> &'static str {
        match self {
            Style::Plain => "",
            Style::Selected => "\x1b[7m",
            Style::Match if !colours => "\x1b[4m",
            _ if !colours => "",
            Style::Command => "\x1b[32m",
            Style::Missing => "\x1b[31m",
            Style::Keyword => "\x1b[34m",
            Style::String => "\x1b[33m",
            Style::Comment | Style::Suggestion | Style::Description => "\x1b[2m",
            Style::Variable => "\x1b[35m",
            Style::Operator => "\x1b[36m",
            Style::Option => "\x1b[36m",
            Style::Path => "\x1b[4m",
            Style::Error => "\x1b[1;31m",
            Style::Match => "\x1b[1;4m",
        }
    }
}
