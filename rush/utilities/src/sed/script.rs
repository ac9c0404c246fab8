//! Reading scripts. `None` for what GNU refuses, and for the few things that are left to it.

use std::rc::Rc;

use super::Settings;
use super::arguments::{Cursor, Transliteration};
use super::substitute::Substitution;

/// Braces inside each other.
const NESTING_MAX: usize = 200;

/// A line, or lines.
#[derive(Debug, Clone)]
pub(super) enum Address {
    /// `0`, only before a comma and an expression.
    Zero,
    Line(u64),
    /// `FIRST~STEP`
    Step(u64, u64),
    Last,
    /// An expression; `None` is the last that was used.
    Pattern(Option<usize>),
}

/// Where a range ends.
#[derive(Debug, Clone)]
pub(super) enum End {
    Line(u64),
    Last,
    Pattern(Option<usize>),
    /// `+N`
    More(u64),
    /// `~N`
    Multiple(u64),
}

#[derive(Debug, Clone)]
pub(super) enum Action {
    /// `{`: where the block ends.
    Block(usize),
    BlockEnd,
    /// `:`
    Label,
    LineNumber,
    Append(Rc<Vec<u8>>),
    Insert(Rc<Vec<u8>>),
    Change(Rc<Vec<u8>>),
    /// `b t T` with the place they go to.
    Branch(u8, usize),
    Delete,
    DeleteLine,
    FileName,
    CopyFromHold,
    AppendFromHold,
    CopyToHold,
    AppendToHold,
    List(Option<usize>),
    Next,
    AppendNext,
    Print,
    PrintLine,
    Quit(i32),
    QuitSilently(i32),
    ReadFile(Rc<Vec<u8>>),
    /// `R`: the place in [`Script::readers`].
    ReadLine(usize),
    Substitute(Rc<Substitution>),
    /// `w` and `W`: the place in [`Script::writers`].
    Write(usize),
    WriteLine(usize),
    Exchange,
    Transliterate(Rc<Transliteration>),
    Zap,
}

#[derive(Debug)]
pub(super) struct Command {
    pub(super) from: Option<Address>,
    pub(super) to: Option<End>,
    pub(super) negated: bool,
    pub(super) action: Action,
}

/// An expression as it stands in the script.
#[derive(Debug, Clone)]
pub(super) struct Expression {
    pub(super) text: Vec<u8>,
    pub(super) ignore_case: bool,
    pub(super) multiline: bool,
}

pub(super) struct Script {
    pub(super) commands: Vec<Command>,
    pub(super) patterns: Vec<crate::posix::Pattern>,
    /// Files that are written, in order of appearance.
    pub(super) writers: Vec<Vec<u8>>,
    /// Files that `R` reads.
    pub(super) readers: Vec<Vec<u8>>,
}

struct Parser<'s> {
    cursor: Cursor<'s>,
    settings: &'s Settings,
    script: Script,
    labels: Vec<(Vec<u8>, usize)>,
    /// Branches with the names of their labels.
    jumps: Vec<(usize, Vec<u8>)>,
    blocks: Vec<usize>,
}

pub(super) fn parse(text: &[u8], settings: &Settings) -> Option<Script> {
    let script =
        Script { commands: Vec::new(), patterns: Vec::new(), writers: Vec::new(), readers: Vec::new() };
    let mut parser = Parser {
        cursor: Cursor::new(text),
        settings,
        script,
        labels: Vec::new(),
        jumps: Vec::new(),
        blocks: Vec::new(),
    };
    while parser.command()? {}
    parser.resolve()?;
    Some(parser.script)
}

impl Parser<'_> {
    /// Reads one command; false at the end.
    fn command(&mut self) -> Option<bool> {
        self.cursor.skip(|b| b == b';' || b.is_ascii_whitespace());
        if self.cursor.peek().is_none() {
            return Some(false);
        }
        let from = self.address()?;
        let mut to = None;
        self.cursor.skip_blanks();
        if from.is_some() && self.cursor.eat(b',') {
            self.cursor.skip_blanks();
            to = Some(self.end()?);
            self.cursor.skip_blanks();
        }
        if matches!(from, Some(Address::Zero)) && !matches!(to, Some(End::Pattern(_))) {
            return None;
        }
        let mut negated = false;
        while self.cursor.eat(b'!') {
            if negated {
                return None;
            }
            negated = true;
            self.cursor.skip_blanks();
        }
        let name = self.cursor.next()?;
        let addressed = from.is_some();
        let index = self.script.commands.len();
        let action = self.action(name, addressed, to.is_some(), index)?;
        if let Some(action) = action {
            self.script.commands.push(Command { from, to, negated, action });
        }
        Some(true)
    }

    fn address(&mut self) -> Option<Option<Address>> {
        Some(match self.cursor.peek() {
            Some(b'0'..=b'9') => {
                let first = self.cursor.number()?;
                self.cursor.skip_blanks();
                if self.cursor.eat(b'~') {
                    self.cursor.skip_blanks();
                    let step = self.cursor.number().unwrap_or(0);
                    Some(match (first, step) {
                        (0, 0) => Address::Zero,
                        (first, 0) => Address::Line(first),
                        (first, step) => Address::Step(first, step),
                    })
                } else if first == 0 {
                    Some(Address::Zero)
                } else {
                    Some(Address::Line(first))
                }
            }
            Some(b'$') => {
                self.cursor.next();
                Some(Address::Last)
            }
            Some(b'/' | b'\\') => Some(Address::Pattern(self.pattern()?)),
            _ => None,
        })
    }

    fn end(&mut self) -> Option<End> {
        Some(match self.cursor.peek()? {
            b'+' => {
                self.cursor.next();
                End::More(self.cursor.number()?)
            }
            b'~' => {
                self.cursor.next();
                End::Multiple(self.cursor.number()?)
            }
            _ => match self.address()?? {
                Address::Line(line) => End::Line(line),
                Address::Zero => End::Line(0),
                Address::Last => End::Last,
                Address::Pattern(pattern) => End::Pattern(pattern),
                Address::Step(..) => return None,
            },
        })
    }

    /// `/expression/flags` or `\cexpressionc`.
    fn pattern(&mut self) -> Option<Option<usize>> {
        if self.cursor.next()? == b'\\' {
            // The next character delimits.
        } else {
            self.cursor.back();
        }
        let delimiter = self.cursor.next()?;
        let text = self.cursor.delimited(delimiter, true)?;
        let (mut ignore_case, mut multiline) = (false, false);
        loop {
            match self.cursor.peek() {
                Some(b'I') => ignore_case = true,
                Some(b'M') => multiline = true,
                _ => break,
            }
            self.cursor.next();
        }
        self.compile(Expression { text, ignore_case, multiline })
    }

    /// The place of a compiled expression; the inner `None` for the empty one.
    fn compile(&mut self, expression: Expression) -> Option<Option<usize>> {
        if expression.text.is_empty() {
            // The first one cannot mean another.
            let flags = expression.ignore_case || expression.multiline;
            return (!flags && !self.script.patterns.is_empty()).then_some(None);
        }
        let dialect = crate::posix::Dialect {
            extended: self.settings.extended,
            ignore_case: expression.ignore_case,
            multiline: expression.multiline,
            utf8: self.settings.utf8,
            escapes: crate::posix::Escapes::Sed,
        };
        // What lines are with other ends is GNU's own.
        if self.settings.end != b'\n' && expression.multiline {
            return None;
        }
        self.script.patterns.push(crate::posix::Pattern::new(&expression.text, dialect)?);
        Some(Some(self.script.patterns.len() - 1))
    }

    fn action(&mut self, name: u8, addressed: bool, ranged: bool, index: usize) -> Option<Option<Action>> {
        let action = match name {
            b'#' if !addressed => {
                self.cursor.rest_of_line();
                return Some(None);
            }
            b'{' => {
                self.blocks.push(index);
                return (self.blocks.len() <= NESTING_MAX).then_some(Some(Action::Block(0)));
            }
            b'}' if !addressed => {
                let start = self.blocks.pop()?;
                if let Some(Command { action: Action::Block(end), .. }) = self.script.commands.get_mut(start)
                {
                    *end = index;
                }
                Action::BlockEnd
            }
            b':' if !addressed => {
                let label = self.cursor.label()?;
                if label.is_empty() || self.labels.iter().any(|(known, _)| *known == label) {
                    return None;
                }
                self.labels.push((label, index));
                return Some(Some(Action::Label));
            }
            // With other ends of lines these end in them, or not.
            b'a' | b'i' | b'c' | b'l' | b'=' | b'F' if self.settings.end != b'\n' => return None,
            b'=' => Action::LineNumber,
            b'a' | b'i' | b'c' => {
                let text = Rc::new(self.cursor.text()?);
                return Some(Some(match name {
                    b'a' => Action::Append(text),
                    b'i' => Action::Insert(text),
                    _ => Action::Change(text),
                }));
            }
            b'b' | b't' | b'T' => {
                let label = self.cursor.label()?;
                self.jumps.push((index, label));
                return Some(Some(Action::Branch(name, 0)));
            }
            b'd' => Action::Delete,
            b'D' => Action::DeleteLine,
            b'F' => Action::FileName,
            b'g' => Action::CopyFromHold,
            b'G' => Action::AppendFromHold,
            b'h' => Action::CopyToHold,
            b'H' => Action::AppendToHold,
            b'l' => {
                self.cursor.skip_blanks();
                let width = self.cursor.number().map(|width| usize::try_from(width).unwrap_or(usize::MAX));
                // One column is not what the manual says.
                if width.unwrap_or(self.settings.width) == 1 {
                    return None;
                }
                Action::List(width)
            }
            b'n' => Action::Next,
            b'N' => Action::AppendNext,
            b'p' => Action::Print,
            b'P' => Action::PrintLine,
            b'q' | b'Q' => {
                if ranged {
                    return None;
                }
                self.cursor.skip_blanks();
                let status = self.cursor.number().unwrap_or(0);
                let status = i32::try_from(status).ok().filter(|status| *status < 256)?;
                if name == b'q' { Action::Quit(status) } else { Action::QuitSilently(status) }
            }
            b'r' | b'R' | b'w' | b'W' => {
                let file = self.cursor.file_name()?;
                return Some(Some(match name {
                    b'r' if file == b"/dev/stdin" => return None,
                    b'r' => Action::ReadFile(Rc::new(file)),
                    // What ends a line of the file is GNU's own choice with `-z`.
                    b'R' if file.starts_with(b"/dev/") || self.settings.end != b'\n' => return None,
                    b'R' => Action::ReadLine(place(&mut self.script.readers, file)),
                    b'w' => Action::Write(place(&mut self.script.writers, file)),
                    _ => Action::WriteLine(place(&mut self.script.writers, file)),
                }));
            }
            b's' => return self.substitute().map(Some),
            b'x' => Action::Exchange,
            b'y' => {
                let delimiter = self.cursor.next()?;
                let (from, to) =
                    (self.cursor.delimited(delimiter, false)?, self.cursor.delimited(delimiter, false)?);
                Action::Transliterate(Rc::new(Transliteration::new(&from, &to, self.settings.utf8)?))
            }
            b'z' => Action::Zap,
            _ => return None,
        };
        self.cursor.end_of_command()?;
        Some(Some(action))
    }

    fn substitute(&mut self) -> Option<Action> {
        let delimiter = self.cursor.next()?;
        let text = self.cursor.delimited(delimiter, true)?;
        let replacement = self.cursor.delimited(delimiter, false)?;
        let mut expression = Expression { text, ignore_case: false, multiline: false };
        let (mut global, mut print, mut number, mut writer) = (false, 0, None, None);
        loop {
            match self.cursor.peek() {
                Some(b'g') if !global => global = true,
                Some(b'p') if print == 0 => print = 1,
                Some(b'i' | b'I') => expression.ignore_case = true,
                Some(b'm' | b'M') => expression.multiline = true,
                Some(b'0'..=b'9') if number.is_none() => {
                    number = Some(self.cursor.number().filter(|n| *n > 0)?);
                    continue;
                }
                Some(b'w') => {
                    self.cursor.next();
                    let file = self.cursor.file_name()?;
                    writer = Some(place(&mut self.script.writers, file));
                    break;
                }
                // Those that are given twice, `e`, and unknown ones.
                Some(b'g' | b'p' | b'e' | b'0'..=b'9') => return None,
                _ => {
                    self.cursor.end_of_command()?;
                    break;
                }
            }
            self.cursor.next();
        }
        let pattern = self.compile(expression)?;
        let groups = pattern.and_then(|at| self.script.patterns.get(at)).map_or(9, |pattern| pattern.groups);
        let substitution = Substitution {
            pattern,
            pieces: super::substitute::parse(&replacement, groups, self.settings.utf8)?,
            global,
            print: print > 0,
            number: number.unwrap_or(1),
            writer,
        };
        // Which groups the last expression has is only known when it runs.
        if pattern.is_none() && substitution.pieces.iter().any(|piece| piece.group.is_some_and(|g| g > 0)) {
            return None;
        }
        Some(Action::Substitute(Rc::new(substitution)))
    }

    /// Gives branches their places.
    fn resolve(&mut self) -> Option<()> {
        if !self.blocks.is_empty() {
            return None;
        }
        let end = self.script.commands.len();
        for (at, label) in std::mem::take(&mut self.jumps) {
            let target = if label.is_empty() {
                end
            } else {
                self.labels.iter().find(|(known, _)| *known == label).map(|(_, place)| *place)?
            };
            if let Some(Command { action: Action::Branch(_, place), .. }) = self.script.commands.get_mut(at) {
                *place = target;
            }
        }
        Some(())
    }
}

/// The place of a name in a list, where it is added if it is new.
fn place(list: &mut Vec<Vec<u8>>, name: Vec<u8>) -> usize {
    list.iter().position(|known| *known == name).unwrap_or_else(|| {
        list.push(name);
        list.len() - 1
    })
}
