//! The expression of `find`.

use std::cmp::Ordering;
use std::fs;
use std::os::unix::fs::MetadataExt;

use crate::Context;
use crate::mode::octal;
use crate::options::number;

const SECOND_NS: i128 = 1_000_000_000;
const DAY_NS: i128 = 86_400 * SECOND_NS;

/// How a number is compared: `+n`, `-n` or `n`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Compared {
    sign: Ordering,
    value: i64,
}

impl Compared {
    fn parse(text: &[u8]) -> Option<Self> {
        let (sign, digits) = match text {
            [b'+', digits @ ..] => (Ordering::Greater, digits),
            [b'-', digits @ ..] => (Ordering::Less, digits),
            digits => (Ordering::Equal, digits),
        };
        Some(Self { sign, value: i64::try_from(number(digits)?).ok()? })
    }

    pub(super) fn holds(self, value: i64) -> bool {
        value.cmp(&self.value) == self.sign
    }

    /// `-mtime`: whole days, but `-n` is a second longer than that.
    pub(super) fn holds_days(self, age_ns: i128) -> bool {
        let days = i128::from(self.value);
        match self.sign {
            Ordering::Less => age_ns < days * DAY_NS + SECOND_NS,
            Ordering::Equal => (days * DAY_NS..(days + 1) * DAY_NS).contains(&age_ns),
            Ordering::Greater => age_ns > (days + 1) * DAY_NS,
        }
    }

    /// `-mmin`: not whole minutes, but before or after that instant.
    pub(super) fn holds_minutes(self, age_ns: i128) -> bool {
        age_ns.cmp(&(i128::from(self.value) * 60 * SECOND_NS)) == self.sign
    }
}

#[derive(Debug, Clone)]
pub(super) enum Node {
    True,
    False,
    Not(Box<Node>),
    And(Box<Node>, Box<Node>),
    Or(Box<Node>, Box<Node>),
    Name {
        pattern: Vec<u8>,
        ignore_case: bool,
    },
    Path {
        pattern: Vec<u8>,
        ignore_case: bool,
    },
    Type(Vec<u8>),
    Size(Compared, u64),
    /// Age in days.
    Days(Compared),
    /// Age in minutes.
    Minutes(Compared),
    Newer((i64, i64)),
    Empty,
    /// `-perm`: exactly, all of (`-`), any of (`/`).
    Permissions(u8, u32),
    Print(u8),
    Prune,
    Delete,
    Quit,
    Execute(Vec<Vec<u8>>),
    /// `-exec ... +`: the command; its batch is kept under this number.
    ExecuteBatch(usize),
}

/// A parsed command line.
pub(super) struct Command {
    pub(super) root: Node,
    pub(super) has_action: bool,
    pub(super) minimum_depth: usize,
    pub(super) maximum_depth: usize,
    pub(super) contents_first: bool,
    pub(super) one_file_system: bool,
    pub(super) batches: Vec<Vec<Vec<u8>>>,
    /// The clock when the search began.
    pub(super) now: (i64, u32),
}

struct Parser<'c, 'a, 'w> {
    context: &'c Context<'a>,
    words: &'w [&'w [u8]],
    at: usize,
    command: Command,
    nesting: usize,
}

/// Nested parentheses and negations.
const NESTING_MAX: usize = 500;

/// Parses the expression; `None` for anything that is not supported or not correct.
pub(super) fn parse(context: &Context<'_>, words: &[&[u8]]) -> Option<Command> {
    let command = Command {
        root: Node::True,
        has_action: false,
        minimum_depth: 0,
        maximum_depth: usize::MAX,
        contents_first: false,
        one_file_system: false,
        batches: Vec::new(),
        now: context.host.now(),
    };
    let mut parser = Parser { context, words, at: 0, command, nesting: 0 };
    let root = if words.is_empty() { Node::True } else { parser.comma()? };
    if parser.at < words.len() {
        return None;
    }
    let mut command = parser.command;
    command.root =
        if command.has_action { root } else { Node::And(Box::new(root), Box::new(Node::Print(b'\n'))) };
    Some(command)
}

impl<'w> Parser<'_, '_, 'w> {
    fn peek(&self) -> Option<&'w [u8]> {
        self.words.get(self.at).copied()
    }

    fn take(&mut self) -> Option<&'w [u8]> {
        let word = self.peek()?;
        self.at += 1;
        Some(word)
    }

    fn comma(&mut self) -> Option<Node> {
        let node = self.or()?;
        // GNU reorders what stands around a comma, with other results.
        if self.peek() == Some(b",") {
            return None;
        }
        Some(node)
    }

    fn or(&mut self) -> Option<Node> {
        let mut node = self.and()?;
        while matches!(self.peek(), Some(b"-o" | b"-or")) {
            self.at += 1;
            node = Node::Or(Box::new(node), Box::new(self.and()?));
        }
        Some(node)
    }

    fn and(&mut self) -> Option<Node> {
        let mut node = self.not()?;
        loop {
            match self.peek() {
                None | Some(b")" | b"-o" | b"-or" | b",") => return Some(node),
                Some(b"-a" | b"-and") => self.at += 1,
                Some(_) => {}
            }
            node = Node::And(Box::new(node), Box::new(self.not()?));
        }
    }

    fn not(&mut self) -> Option<Node> {
        self.nesting += 1;
        if self.nesting > NESTING_MAX {
            return None;
        }
        let node = match self.take()? {
            b"!" | b"-not" => Node::Not(Box::new(self.not()?)),
            b"(" => {
                let node = self.comma()?;
                if self.take()? != b")" {
                    return None;
                }
                node
            }
            word => self.primary(word)?,
        };
        self.nesting -= 1;
        Some(node)
    }

    fn action(&mut self, node: Node) -> Option<Node> {
        self.command.has_action = true;
        Some(node)
    }

    fn primary(&mut self, word: &[u8]) -> Option<Node> {
        Some(match word {
            b"-true" => Node::True,
            b"-false" => Node::False,
            b"-name" | b"-iname" => {
                let pattern = self.take()?.to_vec();
                if pattern.contains(&b'/') {
                    return None;
                }
                Node::Name { pattern, ignore_case: word == b"-iname" }
            }
            b"-path" | b"-wholename" => Node::Path { pattern: self.take()?.to_vec(), ignore_case: false },
            b"-ipath" | b"-iwholename" => Node::Path { pattern: self.take()?.to_vec(), ignore_case: true },
            b"-type" => Node::Type(types(self.take()?)?),
            b"-size" => self.size()?,
            b"-mtime" => Node::Days(Compared::parse(self.take()?)?),
            b"-mmin" => {
                // Just so many minutes is a window whose place is GNU's own.
                let minutes = Compared::parse(self.take()?)?;
                (minutes.sign != Ordering::Equal).then_some(Node::Minutes(minutes))?
            }
            b"-newer" => {
                // Links are not followed, here neither.
                let reference = fs::symlink_metadata(self.context.path(self.take()?)).ok()?;
                Node::Newer((reference.mtime(), reference.mtime_nsec()))
            }
            b"-empty" => Node::Empty,
            b"-perm" => {
                let text = self.take()?;
                match text {
                    [sign @ (b'-' | b'/'), digits @ ..] => Node::Permissions(*sign, octal(digits)?),
                    digits => Node::Permissions(b'=', octal(digits)?),
                }
            }
            b"-maxdepth" => {
                self.command.maximum_depth = usize::try_from(number(self.take()?)?).ok()?;
                Node::True
            }
            b"-mindepth" => {
                self.command.minimum_depth = usize::try_from(number(self.take()?)?).ok()?;
                Node::True
            }
            b"-depth" | b"-d" => {
                self.command.contents_first = true;
                Node::True
            }
            b"-xdev" | b"-mount" => {
                self.command.one_file_system = true;
                Node::True
            }
            b"-print" => return self.action(Node::Print(b'\n')),
            b"-print0" => return self.action(Node::Print(0)),
            b"-prune" => Node::Prune,
            b"-delete" => {
                self.command.contents_first = true;
                return self.action(Node::Delete);
            }
            // It is no action: what it does not cut off is printed.
            b"-quit" => Node::Quit,
            b"-exec" => return self.execute(),
            _ => return None,
        })
    }

    fn size(&mut self) -> Option<Node> {
        let text = self.take()?;
        let (digits, unit) = match text.split_last()? {
            (b'c', digits) => (digits, 1),
            (b'w', digits) => (digits, 2),
            (b'b', digits) => (digits, 512),
            (b'k', digits) => (digits, 1 << 10),
            (b'M', digits) => (digits, 1 << 20),
            (b'G', digits) => (digits, 1 << 30),
            _ => (text, 512),
        };
        Some(Node::Size(Compared::parse(digits)?, unit))
    }

    fn execute(&mut self) -> Option<Node> {
        let mut words = Vec::new();
        loop {
            let word = self.take()?;
            if word == b";" {
                if words.is_empty() {
                    return None;
                }
                return self.action(Node::Execute(words));
            }
            let holds_braces = |w: &Vec<u8>| memchr::memmem::find(w, b"{}").is_some();
            if word == b"+" && words.last().is_some_and(|w| w.as_slice() != b"{}" && holds_braces(w)) {
                return None;
            }
            if word == b"+" && words.last().is_some_and(|w: &Vec<u8>| w.as_slice() == b"{}") {
                words.pop();
                if words.is_empty() || words.iter().any(|w| memchr::memmem::find(w, b"{}").is_some()) {
                    return None;
                }
                self.command.batches.push(words);
                let index = self.command.batches.len() - 1;
                return self.action(Node::ExecuteBatch(index));
            }
            words.push(word.to_vec());
        }
    }
}

/// `-type d,f`
fn types(text: &[u8]) -> Option<Vec<u8>> {
    let letters: Vec<u8> =
        text.split(|&b| b == b',').filter_map(|p| if let [l] = p { Some(*l) } else { None }).collect();
    let commas = text.iter().filter(|&&b| b == b',').count();
    let known = letters.iter().all(|l| b"bcdpfls".contains(l));
    (known && letters.len() == commas + 1).then_some(letters)
}
