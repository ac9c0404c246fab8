//! The tokens of a program. What awks read in different ways gives `None`: the utility declines.

use std::rc::Rc;

use super::tree::{BUILTINS, Builtin};

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    Number(f64),
    Text(Vec<u8>),
    Pattern(Vec<u8>),
    Name(Rc<str>),
    /// A name with a parenthesis right behind it: a call of a function of the program's own.
    Callee(Rc<str>),
    Builtin(Builtin),
    Keyword(Keyword),
    /// An operator or a bracket.
    Sign(&'static str),
    Newline,
    End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keyword {
    Begin,
    Break,
    Continue,
    Delete,
    Do,
    Else,
    End,
    Exit,
    For,
    Function,
    Getline,
    If,
    In,
    Next,
    Nextfile,
    Print,
    Printf,
    Return,
    While,
}

static KEYWORDS: &[(&str, Keyword)] = &[
    ("BEGIN", Keyword::Begin),
    ("END", Keyword::End),
    ("break", Keyword::Break),
    ("continue", Keyword::Continue),
    ("delete", Keyword::Delete),
    ("do", Keyword::Do),
    ("else", Keyword::Else),
    ("exit", Keyword::Exit),
    ("for", Keyword::For),
    ("func", Keyword::Function),
    ("function", Keyword::Function),
    ("getline", Keyword::Getline),
    ("if", Keyword::If),
    ("in", Keyword::In),
    ("next", Keyword::Next),
    ("nextfile", Keyword::Nextfile),
    ("print", Keyword::Print),
    ("printf", Keyword::Printf),
    ("return", Keyword::Return),
    ("while", Keyword::While),
];

/// Names that are functions, patterns or variables with a meaning in some awks and not in this one.
static FOREIGN: &[&str] = &[
    "ARGIND",
    "BEGINFILE",
    "BINMODE",
    "ENDFILE",
    "ERRNO",
    "FIELDWIDTHS",
    "FPAT",
    "FUNCTAB",
    "IGNORECASE",
    "LINT",
    "PROCINFO",
    "RT",
    "SYMTAB",
    "TEXTDOMAIN",
    "and",
    "asort",
    "asorti",
    "bindtextdomain",
    "case",
    "compl",
    "dcgettext",
    "dcngettext",
    "default",
    "isarray",
    "lshift",
    "mkbool",
    "mktime",
    "or",
    "patsplit",
    "rshift",
    "strftime",
    "strtonum",
    "switch",
    "typeof",
    "xor",
];

/// Operators, longer ones first. Bars are pipes, which are the program's.
static SIGNS: &[&str] = &[
    "**=", "&&", "||", "++", "--", "+=", "-=", "*=", "/=", "%=", "^=", "**", "==", "<=", ">=", "!=", "!~",
    ">>", "{", "}", "(", ")", "[", "]", ";", ",", "+", "-", "*", "/", "%", "^", "!", ">", "<", "?", ":", "~",
    "$", "=",
];

/// All tokens of a program.
pub(super) fn tokens(text: &[u8]) -> Option<Vec<Token>> {
    let mut lexer = Lexer { text, at: 0, tokens: Vec::new() };
    while lexer.token()? {}
    lexer.tokens.push(Token::Newline);
    lexer.tokens.push(Token::End);
    Some(lexer.tokens)
}

struct Lexer<'a> {
    text: &'a [u8],
    at: usize,
    tokens: Vec<Token>,
}

impl Lexer<'_> {
    fn peek(&self, ahead: usize) -> u8 {
        self.text.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn rest(&self) -> &[u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Whether a slash here begins a pattern: where an operand is expected.
    fn wants_operand(&self) -> bool {
        match self.tokens.last() {
            Some(
                Token::Number(_) | Token::Text(_) | Token::Pattern(_) | Token::Name(_) | Token::Builtin(_),
            ) => false,
            Some(Token::Sign(sign)) => !matches!(*sign, ")" | "]" | "$" | "++" | "--"),
            _ => true,
        }
    }

    /// Reads one token; false at the end.
    fn token(&mut self) -> Option<bool> {
        while matches!(self.peek(0), b' ' | b'\t' | b'\r') || self.rest().starts_with(b"\\\n") {
            self.at += if self.peek(0) == b'\\' { 2 } else { 1 };
        }
        if self.at >= self.text.len() {
            return Some(false);
        }
        let token = match self.peek(0) {
            b'\n' => {
                self.at += 1;
                Token::Newline
            }
            b'#' => {
                while self.at < self.text.len() && self.peek(0) != b'\n' {
                    self.at += 1;
                }
                return Some(true);
            }
            b'"' => self.string()?,
            b'/' if self.wants_operand() => self.pattern()?,
            b'0'..=b'9' => self.number()?,
            b'.' if self.peek(1).is_ascii_digit() => self.number()?,
            c if c.is_ascii_alphabetic() || c == b'_' => self.name()?,
            _ => self.sign()?,
        };
        self.tokens.push(token);
        Some(true)
    }

    fn sign(&mut self) -> Option<Token> {
        let sign = SIGNS.iter().find(|sign| self.rest().starts_with(sign.as_bytes()))?;
        self.at += sign.len();
        Some(Token::Sign(sign))
    }

    fn name(&mut self) -> Option<Token> {
        let length = self.rest().iter().take_while(|c| c.is_ascii_alphanumeric() || **c == b'_').count();
        let name = std::str::from_utf8(self.rest().get(..length)?).ok()?.to_owned();
        self.at += length;
        if FOREIGN.contains(&name.as_str()) {
            return None;
        }
        if let Some((_, keyword)) = KEYWORDS.iter().find(|(known, _)| *known == name) {
            return Some(Token::Keyword(*keyword));
        }
        if let Some((_, builtin)) = BUILTINS.iter().find(|(known, _)| *known == name) {
            return Some(Token::Builtin(*builtin));
        }
        let name = Rc::from(name);
        Some(if self.peek(0) == b'(' { Token::Callee(name) } else { Token::Name(name) })
    }

    fn number(&mut self) -> Option<Token> {
        let digits = |from: usize| {
            self.text.get(from..).unwrap_or_default().iter().take_while(|c| c.is_ascii_digit()).count()
        };
        let start = self.at;
        let mut end = start + digits(start);
        // Hexadecimal ones, which not all awks know.
        if self.text.get(start) == Some(&b'0') && matches!(self.text.get(start + 1), Some(b'x' | b'X')) {
            return None;
        }
        if self.text.get(end) == Some(&b'.') {
            end += 1;
            end += digits(end);
        }
        if matches!(self.text.get(end), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(self.text.get(end + 1), Some(b'+' | b'-')));
            let exponent = digits(end + 1 + sign);
            if exponent > 0 {
                end += 1 + sign + exponent;
            }
        }
        let number = std::str::from_utf8(self.text.get(start..end)?).ok()?.parse().ok()?;
        self.at = end;
        Some(Token::Number(number))
    }

    fn string(&mut self) -> Option<Token> {
        self.at += 1;
        let mut out = Vec::new();
        loop {
            match *self.text.get(self.at)? {
                b'"' => {
                    self.at += 1;
                    return Some(Token::Text(out));
                }
                b'\n' => return None,
                b'\\' => self.at += escape(self.rest(), &mut out)?,
                c => {
                    out.push(c);
                    self.at += 1;
                }
            }
        }
    }

    fn pattern(&mut self) -> Option<Token> {
        self.at += 1;
        let mut out = Vec::new();
        loop {
            match *self.text.get(self.at)? {
                b'/' => {
                    self.at += 1;
                    return Some(Token::Pattern(out));
                }
                b'\n' => return None,
                // A slash in brackets ends the pattern in some awks.
                b'[' => self.bracket(&mut out)?,
                b'\\' => {
                    if self.peek(1) == b'/' {
                        out.push(b'/');
                    } else {
                        out.extend_from_slice(self.text.get(self.at..self.at + 2)?);
                    }
                    self.at += 2;
                }
                c => {
                    out.push(c);
                    self.at += 1;
                }
            }
        }
    }

    /// A bracket expression of a pattern.
    fn bracket(&mut self, out: &mut Vec<u8>) -> Option<()> {
        let rest = self.rest();
        let mut length = 1 + usize::from(rest.get(1) == Some(&b'^'));
        length += usize::from(rest.get(length) == Some(&b']'));
        loop {
            match *rest.get(length)? {
                b']' => break,
                b'\n' | b'/' => return None,
                b'[' if matches!(rest.get(length + 1), Some(b':' | b'.' | b'=')) => {
                    let kind = *rest.get(length + 1)?;
                    let end = rest.get(length + 2..)?.windows(2).position(|pair| pair == [kind, b']'])?;
                    length += end + 4;
                }
                b'\\' => length += 2,
                _ => length += 1,
            }
        }
        out.extend_from_slice(rest.get(..=length)?);
        self.at += length + 1;
        Some(())
    }
}

/// One escape of a string, at its backslash; its length. Those that awks read in different ways are declined.
pub(super) fn escape(text: &[u8], out: &mut Vec<u8>) -> Option<usize> {
    let c = *text.get(1)?;
    let plain = match c {
        b'"' => b'"',
        b'\\' => b'\\',
        b'a' => 7,
        b'b' => 8,
        b'f' => 12,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'v' => 11,
        b'\n' => return Some(2),
        b'0'..=b'7' => {
            let digits =
                text.get(1..).unwrap_or_default().iter().take(3).take_while(|c| (b'0'..=b'7').contains(c));
            let (mut value, mut length) = (0u32, 1);
            for digit in digits {
                value = value * 8 + u32::from(digit - b'0');
                length += 1;
            }
            out.push(u8::try_from(value).ok().filter(|value| *value != 0)?);
            return Some(length);
        }
        _ => return None,
    };
    out.push(plain);
    Some(2)
}
