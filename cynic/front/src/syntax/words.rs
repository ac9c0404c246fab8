//! The reserved words, by what they do to a chain of nested constructs.
//!
//! Owns the classification that the nesting scan needs, and no other knowledge of the grammar.

/// What a word is to the scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    /// A name, or a keyword that stands for a value.
    Name,
    /// A keyword in some places and a name in others: what follows may be an operand or an operator.
    Contextual,
    /// `else`: goes on with a statement that seemed to have ended.
    Else,
    /// An operator between operands, or what goes on with a declaration or a block.
    Infix,
    /// An operator before its operand, or the beginning of a declaration, a function or a class.
    Prefix,
    /// Ends whatever statement was under way (`case`).
    Clause,
    /// Begins a statement whose body follows at once (`do`).
    Body,
    /// Begins a statement with a parenthesis of its own.
    Head,
}

/// Classifies a word.
pub(super) fn word(text: &[u8]) -> Word {
    match text {
        b"if" | b"for" | b"while" | b"with" => Word::Head,
        b"else" => Word::Else,
        b"do" | b"try" => Word::Body,
        b"in" | b"instanceof" | b"catch" | b"finally" | b"extends" => Word::Infix,
        b"of" | b"as" | b"await" | b"async" | b"using" => Word::Contextual,
        b"typeof" | b"void" | b"delete" | b"new" | b"yield" | b"throw" | b"return" | b"switch"
        | b"function" | b"class" | b"var" | b"const" | b"let" | b"import" | b"export" => Word::Prefix,
        b"case" | b"default" => Word::Clause,
        _ => Word::Name,
    }
}
