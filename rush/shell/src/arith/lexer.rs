//! Tokens of arithmetic expressions.
//!
//! Invariant: `token_start` is the offset of the last token that was not the end, because bash's
//! messages quote the expression from there. A few tokens depend on the ones before (`++` after a name
//! is postfix, `++` before a name is prefix, otherwise it is two plus signs), so the lexer keeps two.

use super::number::parse_constant;
use super::{ArithmeticError, Binary};

/// A half-open range of the expression's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) start: usize,
    pub(super) end: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token {
    End,
    Number(i64),
    Placeholder(u16),
    /// A variable, with the text between the brackets if there are any.
    Name(Span, Option<Span>),
    Binary(Binary),
    LogicalAnd,
    LogicalOr,
    LogicalNot,
    BitwiseNot,
    Question,
    Colon,
    Comma,
    Assign,
    AssignWith(Binary),
    LeftParen,
    RightParen,
    PreStep(i64),
    PostStep(i64),
}

impl Token {
    fn is_operand(self) -> bool {
        matches!(self, Self::Number(_) | Self::Placeholder(_) | Self::Name(..))
    }
}

pub(super) struct Lexer<'t> {
    pub(super) text: &'t [u8],
    pub(super) current: Token,
    pub(super) previous: Token,
    pub(super) token_start: usize,
    at: usize,
    placeholders: u16,
}

pub(super) fn is_name_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

pub(super) fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

fn is_constant_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'#' | b'@' | b'_')
}

impl<'t> Lexer<'t> {
    /// A lexer whose first placeholder has the number `placeholders`.
    pub(super) fn new(text: &'t [u8], placeholders: u16) -> Self {
        Self { text, current: Token::End, previous: Token::End, token_start: 0, at: 0, placeholders }
    }

    /// The number that the next placeholder will have.
    pub(super) fn placeholders(&self) -> u16 {
        self.placeholders
    }

    pub(super) fn error(&self, message: &'static str) -> ArithmeticError {
        ArithmeticError::at(self.text, message, self.token_start)
    }

    pub(super) fn slice(&self, span: Span) -> &'t [u8] {
        self.text.get(span.start..span.end).unwrap_or_default()
    }

    fn byte(&self, offset: usize) -> Option<u8> {
        self.text.get(offset).copied()
    }

    /// Moves to the next token.
    pub(super) fn advance(&mut self) -> Result<(), ArithmeticError> {
        while self.byte(self.at).is_some_and(is_blank) {
            self.at += 1;
        }
        let Some(byte) = self.byte(self.at) else {
            self.previous = self.current;
            self.current = Token::End;
            return Ok(());
        };
        self.token_start = self.at;
        let token = if is_name_start(byte) {
            self.name()?
        } else if byte.is_ascii_digit() {
            self.constant()?
        } else if byte == 0 {
            self.placeholder()?
        } else {
            self.operator(byte)?
        };
        self.previous = self.current;
        self.current = token;
        Ok(())
    }

    fn name(&mut self) -> Result<Token, ArithmeticError> {
        let start = self.at;
        while self.byte(self.at).is_some_and(is_name_byte) {
            self.at += 1;
        }
        let span = Span { start, end: self.at };
        if self.byte(self.at) != Some(b'[') {
            return Ok(Token::Name(span, None));
        }
        let close = skip_subscript(self.text, self.at).ok_or_else(|| self.error("bad array subscript"))?;
        let subscript = Span { start: self.at + 1, end: close };
        self.placeholders = self.placeholders.saturating_add(count_placeholders(self.slice(subscript)));
        self.at = close + 1;
        Ok(Token::Name(span, Some(subscript)))
    }

    fn constant(&mut self) -> Result<Token, ArithmeticError> {
        let start = self.at;
        while self.byte(self.at).is_some_and(is_constant_byte) {
            self.at += 1;
        }
        let digits = self.slice(Span { start, end: self.at });
        // bash has cut the text off behind the number when it reports it.
        let seen = self.text.get(..self.at).unwrap_or_default();
        parse_constant(digits)
            .map(Token::Number)
            .map_err(|message| ArithmeticError::at(seen, message, self.token_start))
    }

    /// A supplied integer must stand alone: glued to a name or a digit it would be a part of that token.
    fn placeholder(&mut self) -> Result<Token, ArithmeticError> {
        let before = self.at.checked_sub(1).and_then(|i| self.byte(i));
        let after = self.byte(self.at + 1);
        let glued = |b: Option<u8>| b.is_some_and(|b| is_constant_byte(b) || matches!(b, 0 | b'['));
        if before.is_some_and(|b| is_constant_byte(b) || matches!(b, 0 | b']')) || glued(after) {
            return Err(self.error("syntax error: operand expected"));
        }
        self.at += 1;
        let index = self.placeholders;
        self.placeholders = index.saturating_add(1);
        Ok(Token::Placeholder(index))
    }

    fn operator(&mut self, first: u8) -> Result<Token, ArithmeticError> {
        let second = self.byte(self.at + 1);
        let third = self.byte(self.at + 2);
        let (token, length) = match (first, second) {
            (b'=', Some(b'=')) => (Token::Binary(Binary::Equal), 2),
            (b'!', Some(b'=')) => (Token::Binary(Binary::NotEqual), 2),
            (b'>', Some(b'=')) => (Token::Binary(Binary::GreaterEqual), 2),
            (b'<', Some(b'=')) => (Token::Binary(Binary::LessEqual), 2),
            (b'<', Some(b'<')) if third == Some(b'=') => (Token::AssignWith(Binary::ShiftLeft), 3),
            (b'<', Some(b'<')) => (Token::Binary(Binary::ShiftLeft), 2),
            (b'>', Some(b'>')) if third == Some(b'=') => (Token::AssignWith(Binary::ShiftRight), 3),
            (b'>', Some(b'>')) => (Token::Binary(Binary::ShiftRight), 2),
            (b'&', Some(b'&')) => (Token::LogicalAnd, 2),
            (b'|', Some(b'|')) => (Token::LogicalOr, 2),
            (b'*', Some(b'*')) => (Token::Binary(Binary::Power), 2),
            (b'+' | b'-', Some(same)) if same == first => self.step_or_sign(first)?,
            (_, Some(b'=')) if arithmetic_assignment(first).is_some() => {
                (Token::AssignWith(arithmetic_assignment(first).unwrap_or(Binary::Add)), 2)
            }
            _ => (self.single(first)?, 1),
        };
        self.at += length;
        Ok(token)
    }

    fn step_or_sign(&mut self, sign: u8) -> Result<(Token, usize), ArithmeticError> {
        let (delta, binary) = if sign == b'+' { (1, Binary::Add) } else { (-1, Binary::Subtract) };
        if matches!(self.current, Token::Name(..)) {
            return Ok((Token::PostStep(delta), 2));
        }
        if matches!(self.previous, Token::PreStep(_)) && matches!(self.current, Token::Number(_)) {
            return Err(self.lvalue_required(delta));
        }
        let mut next = self.at + 2;
        while self.byte(next).is_some_and(is_blank) {
            next += 1;
        }
        if self.byte(next).is_some_and(is_name_start) {
            return Ok((Token::PreStep(delta), 2));
        }
        Ok((Token::Binary(binary), 1))
    }

    pub(super) fn lvalue_required(&self, delta: i64) -> ArithmeticError {
        self.error(if delta > 0 {
            "++: assignment requires lvalue"
        } else {
            "--: assignment requires lvalue"
        })
    }

    fn single(&self, byte: u8) -> Result<Token, ArithmeticError> {
        Ok(match byte {
            b'=' => Token::Assign,
            b'>' => Token::Binary(Binary::Greater),
            b'<' => Token::Binary(Binary::Less),
            b'+' => Token::Binary(Binary::Add),
            b'-' => Token::Binary(Binary::Subtract),
            b'*' => Token::Binary(Binary::Multiply),
            b'/' => Token::Binary(Binary::Divide),
            b'%' => Token::Binary(Binary::Remainder),
            b'&' => Token::Binary(Binary::And),
            b'|' => Token::Binary(Binary::Or),
            b'^' => Token::Binary(Binary::Xor),
            b'!' => Token::LogicalNot,
            b'~' => Token::BitwiseNot,
            b'?' => Token::Question,
            b':' => Token::Colon,
            b',' => Token::Comma,
            b'(' => Token::LeftParen,
            b')' => Token::RightParen,
            _ if self.current.is_operand() => {
                return Err(self.error("syntax error: invalid arithmetic operator"));
            }
            _ => return Err(self.error("syntax error: operand expected")),
        })
    }
}

pub(super) fn count_placeholders(text: &[u8]) -> u16 {
    u16::try_from(text.iter().filter(|&&b| b == 0).count()).unwrap_or(u16::MAX)
}

fn arithmetic_assignment(byte: u8) -> Option<Binary> {
    Some(match byte {
        b'*' => Binary::Multiply,
        b'/' => Binary::Divide,
        b'%' => Binary::Remainder,
        b'+' => Binary::Add,
        b'-' => Binary::Subtract,
        b'&' => Binary::And,
        b'^' => Binary::Xor,
        b'|' => Binary::Or,
        _ => return None,
    })
}

/// The offset of the `]` that closes the `[` at `open`, passing over quotes, backslashes and nested brackets.
pub(crate) fn skip_subscript(text: &[u8], open: usize) -> Option<usize> {
    let mut depth = 0usize;
    let mut at = open;
    while let Some(&byte) = text.get(at) {
        match byte {
            b'\\' => at += 1,
            b'\'' | b'"' => at = skip_quoted(text, at)?,
            b'[' => depth += 1,
            b']' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}

fn skip_quoted(text: &[u8], open: usize) -> Option<usize> {
    let quote = *text.get(open)?;
    let mut at = open + 1;
    while let Some(&byte) = text.get(at) {
        if byte == quote {
            return Some(at);
        }
        at += if byte == b'\\' && quote == b'"' { 2 } else { 1 };
    }
    None
}
