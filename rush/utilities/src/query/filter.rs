//! The language of queries: a small part of jq's.

use serde_json::Number;

use super::value::Value;
use crate::limits::JSON_FILTER_DEPTH_MAX;

/// A parsed query.
#[derive(Clone, Debug)]
pub(super) enum Filter {
    /// `.`
    Identity,
    Literal(Value),
    /// `.key`, `.[N]`, `.[N:M]`, `.[]` of what another filter gives.
    Step(Box<Filter>, Step),
    /// `a | b`
    Pipe(Box<Filter>, Box<Filter>),
    /// `a, b`
    Comma(Box<Filter>, Box<Filter>),
    Compare(Box<Filter>, Comparison, Box<Filter>),
    And(Box<Filter>, Box<Filter>),
    Or(Box<Filter>, Box<Filter>),
    /// `[a]`
    Collect(Box<Filter>),
    /// A function with at most one argument.
    Call(Function, Option<Box<Filter>>),
}

/// One step of a path. The flag says whether a wrong type is passed over (`?`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Key(String, bool),
    Index(i64, bool),
    Slice(Option<i64>, Option<i64>, bool),
    Each(bool),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    Different,
    Less,
    AtMost,
    Greater,
    AtLeast,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Function {
    Add,
    Empty,
    First,
    Has,
    Join,
    Keys,
    Last,
    Length,
    Map,
    Not,
    Reverse,
    Select,
    Sort,
    ToNumber,
    ToString,
    Type,
}

/// Names, functions, and whether they take an argument; sorted.
const FUNCTIONS: [(&str, Function, bool); 16] = [
    ("add", Function::Add, false),
    ("empty", Function::Empty, false),
    ("first", Function::First, false),
    ("has", Function::Has, true),
    ("join", Function::Join, true),
    ("keys", Function::Keys, false),
    ("last", Function::Last, false),
    ("length", Function::Length, false),
    ("map", Function::Map, true),
    ("not", Function::Not, false),
    ("reverse", Function::Reverse, false),
    ("select", Function::Select, true),
    ("sort", Function::Sort, false),
    ("tonumber", Function::ToNumber, false),
    ("tostring", Function::ToString, false),
    ("type", Function::Type, false),
];

const COMPARISONS: [(&str, Comparison); 6] = [
    ("==", Comparison::Equal),
    ("!=", Comparison::Different),
    ("<=", Comparison::AtMost),
    (">=", Comparison::AtLeast),
    ("<", Comparison::Less),
    (">", Comparison::Greater),
];

/// Parses a query; the message of an error says where.
pub(super) fn parse(text: &str) -> Result<Filter, String> {
    let mut parser = Parser { text, at: 0, depth: 0 };
    let filter = parser.pipe()?;
    parser.blanks();
    if parser.at < text.len() { Err(parser.unexpected()) } else { Ok(filter) }
}

/// Parses a path of keys and indexes: what `get` and `set` take.
pub(super) fn path(text: &str) -> Result<Vec<Step>, String> {
    let mut steps = Vec::new();
    let mut filter = parse(text)?;
    loop {
        match filter {
            Filter::Identity => break,
            Filter::Step(inner, step @ (Step::Key(_, false) | Step::Index(_, false))) => {
                steps.push(step);
                filter = *inner;
            }
            _ => return Err("not a path of keys and indexes".to_owned()),
        }
    }
    steps.reverse();
    Ok(steps)
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
}

impl Parser<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn blanks(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    /// Takes `token` if it comes next.
    fn take(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        self.at += if found { token.len() } else { 0 };
        found
    }

    fn expect(&mut self, token: &str) -> Result<(), String> {
        self.blanks();
        if self.take(token) { Ok(()) } else { Err(format!("{} (expected `{token}')", self.unexpected())) }
    }

    fn unexpected(&self) -> String {
        match self.rest().chars().next() {
            Some(character) => format!("unexpected `{character}' at character {}", self.at + 1),
            None => "unexpected end".to_owned(),
        }
    }

    fn word(&mut self) -> Option<String> {
        let rest = self.rest();
        let length = rest.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
        let word = rest.get(..length).filter(|w| w.starts_with(|c: char| !c.is_ascii_digit()))?.to_owned();
        self.at += length;
        Some(word)
    }

    /// Takes `word` if it is the whole next word.
    fn keyword(&mut self, word: &str) -> bool {
        self.blanks();
        let before = self.at;
        if self.word().as_deref() == Some(word) {
            return true;
        }
        self.at = before;
        false
    }

    fn pipe(&mut self) -> Result<Filter, String> {
        self.depth += 1;
        if self.depth > JSON_FILTER_DEPTH_MAX {
            return Err("too deeply nested".to_owned());
        }
        let mut filter = self.comma()?;
        loop {
            self.blanks();
            if !self.take("|") {
                self.depth -= 1;
                return Ok(filter);
            }
            filter = Filter::Pipe(Box::new(filter), Box::new(self.comma()?));
        }
    }

    fn comma(&mut self) -> Result<Filter, String> {
        let mut filter = self.or()?;
        loop {
            self.blanks();
            if !self.take(",") {
                return Ok(filter);
            }
            filter = Filter::Comma(Box::new(filter), Box::new(self.or()?));
        }
    }

    fn or(&mut self) -> Result<Filter, String> {
        let mut filter = self.and()?;
        while self.keyword("or") {
            filter = Filter::Or(Box::new(filter), Box::new(self.and()?));
        }
        Ok(filter)
    }

    fn and(&mut self) -> Result<Filter, String> {
        let mut filter = self.comparison()?;
        while self.keyword("and") {
            filter = Filter::And(Box::new(filter), Box::new(self.comparison()?));
        }
        Ok(filter)
    }

    fn comparison(&mut self) -> Result<Filter, String> {
        let left = self.term()?;
        self.blanks();
        for (sign, comparison) in COMPARISONS {
            if self.take(sign) {
                return Ok(Filter::Compare(Box::new(left), comparison, Box::new(self.term()?)));
            }
        }
        Ok(left)
    }

    fn term(&mut self) -> Result<Filter, String> {
        self.blanks();
        let filter = match self.rest().bytes().next() {
            Some(b'.') => {
                self.at += 1;
                match self.key()? {
                    Some(key) => self.step(Filter::Identity, |skip| Step::Key(key, skip))?,
                    None => Filter::Identity,
                }
            }
            Some(b'(') => {
                self.at += 1;
                let inner = self.pipe()?;
                self.expect(")")?;
                inner
            }
            Some(b'[') => {
                self.at += 1;
                let inner = self.pipe()?;
                self.expect("]")?;
                Filter::Collect(Box::new(inner))
            }
            Some(b'"' | b'-' | b'0'..=b'9') => Filter::Literal(self.literal()?),
            _ => self.named()?,
        };
        self.suffixes(filter)
    }

    /// The key behind a dot, bare or in quotes.
    fn key(&mut self) -> Result<Option<String>, String> {
        if self.rest().starts_with('"') {
            return match self.literal()? {
                Value::String(key) => Ok(Some(key)),
                _ => Err(self.unexpected()),
            };
        }
        Ok(self.word())
    }

    fn step(&mut self, filter: Filter, step: impl FnOnce(bool) -> Step) -> Result<Filter, String> {
        let skips = self.take("?");
        Ok(Filter::Step(Box::new(filter), step(skips)))
    }

    fn suffixes(&mut self, mut filter: Filter) -> Result<Filter, String> {
        loop {
            if self.take("[") || self.take(".[") {
                filter = self.bracket(filter)?;
            } else if self.rest().starts_with('.') {
                self.at += 1;
                let key = self.key()?.ok_or_else(|| self.unexpected())?;
                filter = self.step(filter, |skip| Step::Key(key, skip))?;
            } else {
                return Ok(filter);
            }
        }
    }

    /// What stands in brackets behind a filter.
    fn bracket(&mut self, filter: Filter) -> Result<Filter, String> {
        self.blanks();
        if self.take("]") {
            return self.step(filter, Step::Each);
        }
        if self.rest().starts_with('"') {
            let key = self.key()?.ok_or_else(|| self.unexpected())?;
            self.expect("]")?;
            return self.step(filter, |skip| Step::Key(key, skip));
        }
        let from = self.integer()?;
        self.blanks();
        if self.take(":") {
            self.blanks();
            let to = self.integer()?;
            self.expect("]")?;
            return match (from, to) {
                (None, None) => Err(self.unexpected()),
                _ => self.step(filter, |skip| Step::Slice(from, to, skip)),
            };
        }
        let index = from.ok_or_else(|| self.unexpected())?;
        self.expect("]")?;
        self.step(filter, |skip| Step::Index(index, skip))
    }

    fn integer(&mut self) -> Result<Option<i64>, String> {
        let rest = self.rest();
        let length = rest.bytes().take_while(|b| b.is_ascii_digit() || *b == b'-').count();
        if length == 0 {
            return Ok(None);
        }
        let number = rest.get(..length).unwrap_or_default().parse().map_err(|_| self.unexpected())?;
        self.at += length;
        Ok(Some(number))
    }

    /// A string or a number.
    fn literal(&mut self) -> Result<Value, String> {
        let rest = self.rest();
        // What follows a number need not be the end of a JSON value.
        let digits = rest.bytes().take_while(|b| b.is_ascii_digit() || b"+-.eE".contains(b)).count();
        let text = if rest.starts_with('"') { rest } else { rest.get(..digits).unwrap_or_default() };
        let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
        let value = values.next().and_then(Result::ok);
        let length = values.byte_offset();
        let value = value.ok_or_else(|| self.unexpected())?;
        self.at += length;
        Ok(value)
    }

    fn named(&mut self) -> Result<Filter, String> {
        let start = self.at;
        let word = self.word().ok_or_else(|| self.unexpected())?;
        match word.as_str() {
            "true" => return Ok(Filter::Literal(Value::Bool(true))),
            "false" => return Ok(Filter::Literal(Value::Bool(false))),
            "null" => return Ok(Filter::Literal(Value::Null)),
            _ => {}
        }
        let found = FUNCTIONS.iter().find(|(name, ..)| *name == word);
        let Some((_, function, takes_argument)) = found else {
            return Err(format!("unknown function `{word}' at character {}", start + 1));
        };
        if !takes_argument {
            return Ok(Filter::Call(*function, None));
        }
        self.expect("(")?;
        let argument = self.pipe()?;
        self.expect(")")?;
        Ok(Filter::Call(*function, Some(Box::new(argument))))
    }
}

/// A whole number as a value.
pub(super) fn integer(number: usize) -> Value {
    Value::Number(Number::from(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths() {
        let key = |name: &str| Step::Key(name.to_owned(), false);
        assert_eq!(path(".").unwrap(), []);
        assert_eq!(
            path(".a.\"b c\"[0].d[-1]").unwrap(),
            [key("a"), key("b c"), Step::Index(0, false), key("d"), Step::Index(-1, false)]
        );
        assert_eq!(path(".[\"x\"].[2]").unwrap(), [key("x"), Step::Index(2, false)]);
        for bad in ["", "a", ".[]", ".a | .b", ".a,", ".[", ".a?", ".[1:]", "..", ".a b", ".[x]"] {
            assert!(path(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn nesting_has_a_limit() {
        assert!(parse(&"(".repeat(100_000)).is_err());
        assert!(parse(&"[".repeat(100_000)).is_err());
    }
}
