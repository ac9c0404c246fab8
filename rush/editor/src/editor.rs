//! The editor: bytes of keys in, a line out. It follows key sequences, keeps what the last key did, and hands functions to the file
//! that has them: `edits.rs` (motions, kills, case), `recall.rs` (history and searches), `completing.rs` (completion and its menu),
//! `vi.rs` (vi's commands), `macros.rs` (keyboard macros). Nothing here draws or reads.

use std::collections::{HashMap, VecDeque};

use crate::completing::Menu;
use crate::history::HistoryIndex;
use crate::host::Host;
use crate::keys::{Action, Found, Keymap, Keys};
use crate::kills::KillRing;
use crate::limits;
use crate::line::Line;
use crate::macros::Macros;
use crate::recall::{Asking, Search};
use crate::vi::Vi;

/// What the user may set.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Whether keys are vi's.
    pub vi: bool,
    /// Whether the editor shows suggestions, menus and lists below the line; otherwise it keeps to one row.
    pub rich: bool,
    /// Whether the rest of a line is suggested.
    pub suggestions: bool,
    /// Whether the first Tab already shows all candidates.
    pub show_all: bool,
    /// What a comment begins with.
    pub comment: String,
    /// Whether the cursor stays in its column from one entry of the history to the next.
    pub preserve_point: bool,
    /// The mode that the prompt shows: emacs, vi inserting, vi command.
    pub mode_strings: Option<[String; 3]>,
    /// The byte that gives the line up.
    pub interrupt: u8,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            vi: false,
            rich: true,
            suggestions: true,
            show_all: false,
            comment: "#".into(),
            preserve_point: false,
            mode_strings: None,
            interrupt: 3,
        }
    }
}

/// What the last key led to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// The line goes on being edited.
    Edit,
    /// The line is whole.
    Accept,
    /// The line was given up.
    Interrupted,
    /// The end of the input.
    End,
    /// Something is to be done outside the editor, which then goes on.
    Outside(Request),
}

/// What is to be done outside the editor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// A command that is bound to a key.
    Command(Vec<u8>),
    /// A function that needs the whole terminal, or changes the bindings.
    Function(&'static str),
    /// A list to be shown above the prompt.
    List(Vec<String>),
    /// The screen is to be cleared; with what was scrolled off it, too.
    Clear(bool),
}

/// A key that must be followed by others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Waiting {
    /// For nothing.
    Nothing,
    /// The next character is inserted.
    Quoted,
    /// The next character is searched for in the line.
    Character { back: bool, till: bool },
    /// The next character takes the place of the one at the cursor.
    Replacement,
    /// The name of a mark, which is set or gone to.
    Mark { set: bool },
    /// The name of a text object.
    Object { around: bool },
    /// The end of a paste.
    Paste(Vec<u8>),
    /// The end of a control sequence that nobody has bound.
    Sequence,
}

/// The line editor.
pub struct Editor {
    pub(crate) line: Line,
    pub(crate) kills: KillRing,
    pub(crate) keys: Keys,
    pub(crate) settings: Settings,
    pub(crate) keymap: Keymap,
    /// The bytes of a key sequence that has begun.
    pub(crate) sequence: Vec<u8>,
    /// The bytes of a character that has begun.
    character: Vec<u8>,
    /// Keys that macros type.
    pub(crate) queue: VecDeque<u8>,
    /// How many of them have been taken since the last key.
    typed: usize,
    /// The numeric argument, as far as it was typed: its digits, and whether it is negative.
    pub(crate) argument: Option<(Option<i64>, bool)>,
    /// The last function.
    pub(crate) last: &'static str,
    pub(crate) waiting: Waiting,
    pub(crate) search: Option<Search>,
    pub(crate) asking: Option<Asking>,
    pub(crate) menu: Option<Menu>,
    /// Where in the history the line is, and the lines that were changed there.
    pub(crate) place: usize,
    pub(crate) edits: HashMap<usize, Line>,
    /// Where the next line begins in the history (`operate-and-get-next`).
    pub(crate) next_place: Option<usize>,
    pub(crate) index: HistoryIndex,
    /// What is searched for by `history-search-backward` and its kin.
    pub(crate) wanted: String,
    /// The last character search.
    pub(crate) sought: Option<(String, bool, bool)>,
    /// How far back the last argument was taken from, and where it was put.
    pub(crate) last_argument: (usize, std::ops::Range<usize>),
    pub(crate) macros: Macros,
    pub(crate) vi: Vi,
    pub(crate) overwrite: bool,
    pub(crate) suggestion: String,
    pub(crate) message: String,
    bell: bool,
}

impl Default for Editor {
    fn default() -> Editor {
        Editor::new(Keys::default(), Settings::default())
    }
}

impl Editor {
    /// An editor with these bindings and settings.
    #[must_use]
    pub fn new(keys: Keys, settings: Settings) -> Editor {
        Editor {
            line: Line::default(),
            kills: KillRing::default(),
            keys,
            settings,
            keymap: Keymap::Emacs,
            sequence: Vec::new(),
            character: Vec::new(),
            queue: VecDeque::new(),
            typed: 0,
            argument: None,
            last: "",
            waiting: Waiting::Nothing,
            search: None,
            asking: None,
            menu: None,
            place: 0,
            edits: HashMap::new(),
            next_place: None,
            index: HistoryIndex::default(),
            wanted: String::new(),
            sought: None,
            last_argument: (0, 0..0),
            macros: Macros::default(),
            vi: Vi::default(),
            overwrite: false,
            suggestion: String::new(),
            message: String::new(),
            bell: false,
        }
    }

    /// Takes other bindings and settings.
    pub fn configure(&mut self, keys: Keys, settings: Settings) {
        let changed = settings.vi != self.settings.vi;
        self.keys = keys;
        self.settings = settings;
        if changed {
            self.keymap = self.first_keymap();
        }
    }

    pub(crate) fn first_keymap(&self) -> Keymap {
        if self.settings.vi { Keymap::ViInsert } else { Keymap::Emacs }
    }

    /// Begins a new line.
    pub fn begin(&mut self, host: &dyn Host) {
        self.index.follow(host);
        self.keymap = self.first_keymap();
        self.edits.clear();
        self.place = host.count();
        self.line = Line::default();
        self.close();
        self.sequence.clear();
        self.argument = None;
        self.waiting = Waiting::Nothing;
        self.overwrite = false;
        self.suggestion.clear();
        self.last = "";
        self.vi.begin();
        if let Some(place) = self.next_place.take().filter(|place| *place < host.count()) {
            self.line = Line::new(String::from_utf8_lossy(host.entry(place)).into_owned(), usize::MAX);
            self.place = place;
        }
    }

    /// The text and where the cursor is in it, in bytes.
    #[must_use]
    pub fn text(&self) -> (&str, usize) {
        (self.line.text(), self.line.point())
    }

    /// Makes this the line.
    pub fn set_text(&mut self, text: String, point: usize) {
        self.line.set(text, point);
    }

    /// What stands before the line on a terminal with one row: what is searched for, or asked.
    pub(crate) fn asked(&self) -> Option<String> {
        let search = self.search.as_ref().map(|search| {
            let name = if search.forward { "i-search" } else { "reverse-i-search" };
            format!("({name})`{}': ", search.query)
        });
        search.or_else(|| self.asking.as_ref().map(|asking| format!("{}{} ", asking.prompt, asking.text)))
    }

    /// Whether the bell was rung since the last question.
    pub fn take_bell(&mut self) -> bool {
        std::mem::take(&mut self.bell)
    }

    pub(crate) fn ring(&mut self) -> Step {
        self.bell = true;
        Step::Edit
    }

    /// Whether a key sequence has begun that a pause could end.
    #[must_use]
    pub fn is_pending(&self) -> bool {
        let open = self.search.is_some() || self.menu.is_some() || self.asking.is_some();
        !self.sequence.is_empty()
            && (open || matches!(self.keys.find(self.keymap, &self.sequence), Found::Prefix(Some(_))))
    }

    /// A pause: what has begun means itself.
    pub fn pause(&mut self, host: &mut dyn Host) -> Step {
        if !self.is_pending() {
            return Step::Edit;
        }
        let sequence = std::mem::take(&mut self.sequence);
        let step = match self.keys.find(self.keymap, &sequence) {
            Found::Prefix(Some(action)) => self.act(&action, &sequence, host),
            _ => {
                self.close();
                Step::Edit
            }
        };
        self.settle(step, host)
    }

    /// Answers one byte from the terminal.
    pub fn feed(&mut self, byte: u8, host: &mut dyn Host) -> Step {
        self.typed = 0;
        self.message.clear();
        self.macros.record(byte);
        let step = self.take(byte, host);
        self.settle(step, host)
    }

    /// Goes on with what macros typed behind the last line.
    pub fn resume(&mut self, host: &mut dyn Host) -> Step {
        self.typed = 0;
        self.settle(Step::Edit, host)
    }

    fn settle(&mut self, mut step: Step, host: &mut dyn Host) -> Step {
        while step == Step::Edit {
            let Some(byte) = self.queue.pop_front() else { break };
            self.typed += 1;
            if self.typed > limits::MACRO_BYTES_MAX {
                self.queue.clear();
                return self.ring();
            }
            step = self.take(byte, host);
        }
        if step == Step::Accept || step == Step::Interrupted {
            self.close();
            self.suggestion.clear();
        }
        step
    }

    fn take(&mut self, byte: u8, host: &mut dyn Host) -> Step {
        self.vi.record(byte);
        let step = self.interpret(byte, host);
        self.after_vi_command();
        step
    }

    fn interpret(&mut self, byte: u8, host: &mut dyn Host) -> Step {
        if let Waiting::Paste(_) | Waiting::Sequence = self.waiting {
            return self.collect(byte);
        }
        if self.waiting != Waiting::Nothing || self.asking.is_some() {
            let Some(text) = self.whole_character(byte) else { return Step::Edit };
            return if self.asking.is_some() { self.answer(&text, host) } else { self.supply(&text, host) };
        }
        if byte == self.settings.interrupt && self.sequence.is_empty() {
            return Step::Interrupted;
        }
        if self.sequence.is_empty() && self.takes_digit(byte) {
            return Step::Edit;
        }
        let begins_text = byte >= 0x80 && self.sequence.is_empty();
        if begins_text || !self.character.is_empty() {
            let bound = self.character.is_empty()
                && !matches!(
                    self.keys.find(self.keymap, &[byte]),
                    Found::Nothing | Found::Action(Action::Function("self-insert"))
                );
            if !bound {
                let Some(text) = self.whole_character(byte) else { return Step::Edit };
                return self.run("self-insert", text.as_bytes(), host);
            }
        }
        self.sequence.push(byte);
        self.follow(host)
    }

    /// Goes one byte on in a sequence.
    fn follow(&mut self, host: &mut dyn Host) -> Step {
        match self.keys.find(self.keymap, &self.sequence) {
            Found::Prefix(_) => Step::Edit,
            Found::Action(action) => {
                let sequence = std::mem::take(&mut self.sequence);
                self.act(&action, &sequence, host)
            }
            Found::Nothing => self.lost(host),
        }
    }

    /// A sequence leads nowhere: what a beginning of it means is done, and the rest is typed anew.
    fn lost(&mut self, host: &mut dyn Host) -> Step {
        let sequence = std::mem::take(&mut self.sequence);
        for length in (1..sequence.len()).rev() {
            let (begun, rest) = sequence.split_at(length);
            if let Found::Prefix(Some(action)) = self.keys.find(self.keymap, begun) {
                for byte in rest.iter().rev() {
                    self.queue.push_front(*byte);
                }
                return self.act(&action, begun, host);
            }
        }
        if sequence.starts_with(b"\x1b[")
            && !sequence.last().is_some_and(|byte| (0x40..0x7f).contains(byte) && sequence.len() > 2)
        {
            self.waiting = Waiting::Sequence;
            return Step::Edit;
        }
        if let [0x1b, rest @ ..] = &sequence[..]
            && (self.search.is_some() || self.menu.is_some())
        {
            self.close();
            self.queue.extend(rest);
            return Step::Edit;
        }
        self.argument = None;
        self.ring()
    }

    /// A character, when its last byte has come.
    fn whole_character(&mut self, byte: u8) -> Option<String> {
        self.character.push(byte);
        match std::str::from_utf8(&self.character) {
            Ok(text) => {
                let text = text.to_string();
                self.character.clear();
                Some(text)
            }
            Err(error) if error.error_len().is_none() => None,
            Err(_) => {
                self.character.clear();
                Some(char::REPLACEMENT_CHARACTER.to_string())
            }
        }
    }

    /// More of a paste or of an unknown sequence.
    fn collect(&mut self, byte: u8) -> Step {
        match &mut self.waiting {
            Waiting::Paste(bytes) => {
                bytes.push(byte);
                if bytes.ends_with(b"\x1b[201~") {
                    let text = String::from_utf8_lossy(&bytes[..bytes.len() - 6]).into_owned();
                    self.waiting = Waiting::Nothing;
                    self.paste(&text.replace("\r\n", "\n").replace('\r', "\n"));
                } else if bytes.len() > limits::LINE_BYTES_MAX {
                    self.waiting = Waiting::Nothing;
                    return self.ring();
                }
            }
            _ if (0x40..0x7f).contains(&byte) => self.waiting = Waiting::Nothing,
            _ => {}
        }
        Step::Edit
    }

    fn paste(&mut self, text: &str) {
        if let Some(search) = &mut self.search {
            search.query.push_str(text.lines().next().unwrap_or_default());
            search.stale = true;
            return;
        }
        self.close_menu();
        let start = self.line.point();
        self.line.insert(text);
        self.line.mark = start;
    }

    /// A digit of the numeric argument.
    fn takes_digit(&mut self, byte: u8) -> bool {
        match (&mut self.argument, byte) {
            (Some((digits, _)), b'0'..=b'9') => {
                let digit = i64::from(byte - b'0');
                *digits = Some((digits.unwrap_or(0) * 10 + digit).min(limits::ARGUMENT_MAX));
                true
            }
            (Some((None, negative)), b'-') if self.keymap == Keymap::Emacs && !*negative => {
                *negative = true;
                true
            }
            _ => false,
        }
    }

    /// The numeric argument, 1 without one.
    pub(crate) fn count(&self) -> i64 {
        let count: i64 = match self.argument {
            None => 1,
            Some((digits, negative)) => digits.unwrap_or(1) * if negative { -1 } else { 1 },
        };
        count.saturating_mul(self.vi.multiplier())
    }

    fn act(&mut self, action: &Action, keys: &[u8], host: &mut dyn Host) -> Step {
        match action {
            Action::None => Step::Edit,
            Action::Function(name) => self.run(name, keys, host),
            Action::Macro(text) => {
                for byte in text.iter().rev() {
                    self.queue.push_front(*byte);
                }
                self.argument = None;
                Step::Edit
            }
            Action::Command(command) => {
                self.close();
                self.last = "";
                Step::Outside(Request::Command(command.clone()))
            }
        }
    }

    /// Carries a function out.
    pub(crate) fn run(&mut self, name: &'static str, keys: &[u8], host: &mut dyn Host) -> Step {
        let key = String::from_utf8_lossy(keys).chars().next_back().unwrap_or('\0');
        if matches!(name, "digit-argument" | "vi-arg-digit" | "universal-argument") {
            self.begin_argument(name, key);
            return Step::Edit;
        }
        if let Some(step) = self.in_search(name, key, keys, host) {
            return step;
        }
        if let Some(step) = self.in_menu(name, keys, host) {
            return step;
        }
        let start = self.line.point();
        let step = self.function(name, key, keys, host).unwrap_or(Step::Edit);
        self.last = name;
        if self.waiting == Waiting::Nothing {
            self.end_motion(name, start);
            self.argument = None;
        }
        step
    }

    fn begin_argument(&mut self, name: &str, key: char) {
        let digit = key.to_digit(10).map(i64::from);
        self.argument = Some(match (name, digit) {
            ("universal-argument", _) => (Some(self.argument.map_or(4, |_| self.count() * 4)), false),
            (_, Some(digit)) => (
                Some(self.argument.and_then(|(digits, _)| digits).unwrap_or(0) * 10 + digit),
                self.argument.is_some_and(|(_, negative)| negative),
            ),
            _ => (None, true),
        });
    }

    /// The function of this name, in whichever file it is.
    fn function(&mut self, name: &'static str, key: char, keys: &[u8], host: &mut dyn Host) -> Option<Step> {
        if self.motion(name, key) || self.edit(name, key, host) {
            return Some(Step::Edit);
        }
        self.recalling(name, key, host)
            .or_else(|| self.completion(name, host))
            .or_else(|| self.vi_function(name, key, host))
            .or_else(|| self.macro_function(name, keys))
            .or_else(|| self.other(name, key, keys, host))
    }

    /// Whether some file answers to the name.
    #[cfg(test)]
    pub(crate) fn knows(&mut self, name: &'static str, host: &mut dyn Host) -> bool {
        self.function(name, 'x', b"x", host).is_some()
    }

    fn other(&mut self, name: &'static str, key: char, keys: &[u8], host: &mut dyn Host) -> Option<Step> {
        Some(match name {
            "abort" => {
                self.line.region = false;
                self.queue.clear();
                self.ring()
            }
            "accept-line" => self.accept(host),
            "bracketed-paste-begin" => {
                self.waiting = Waiting::Paste(Vec::new());
                Step::Edit
            }
            "clear-screen" => Step::Outside(Request::Clear(false)),
            "clear-display" => Step::Outside(Request::Clear(true)),
            "do-lowercase-version" => {
                let lower: Vec<u8> = keys.iter().map(u8::to_ascii_lowercase).collect();
                if lower != keys {
                    self.queue.extend(lower);
                }
                Step::Edit
            }
            "insert-comment" => {
                let (comment, text) = (self.settings.comment.clone(), self.line.text().to_string());
                let text = match text.strip_prefix(comment.as_str()).filter(|_| self.argument.is_some()) {
                    Some(rest) => rest.to_string(),
                    None => comment + &text,
                };
                self.line.set(text, usize::MAX);
                Step::Accept
            }
            "quoted-insert" => {
                self.waiting = Waiting::Quoted;
                Step::Edit
            }
            "redraw-current-line" | "tty-status" | "arrow-key-prefix" => Step::Edit,
            "skip-csi-sequence" => {
                self.waiting = Waiting::Sequence;
                Step::Edit
            }
            "vi-eof-maybe" if self.line.is_empty() => Step::End,
            "vi-eof-maybe" => self.accept(host),
            "delete-char" | "delete-char-or-list" if key == '\u{4}' && self.at_end_of_input() => Step::End,
            "delete-char-or-list" if self.line.point() == self.line.len() => {
                return self.completion("possible-completions", host);
            }
            "delete-char" | "delete-char-or-list" => {
                if !self.delete_forward() {
                    self.ring();
                }
                Step::Edit
            }
            "display-shell-version"
            | "dump-functions"
            | "dump-macros"
            | "dump-variables"
            | "edit-and-execute-command"
            | "emacs-editing-mode"
            | "re-read-init-file"
            | "vi-editing-mode"
            | "vi-edit-and-execute-command" => Step::Outside(Request::Function(name)),
            _ => return None,
        })
    }

    /// Whether Ctrl-D here is the end of the input: nothing has been typed, or nothing in the row where a command goes on.
    fn at_end_of_input(&self) -> bool {
        self.last != "delete-char"
            && (self.line.is_empty() || self.line.after().is_empty() && self.line.before().ends_with('\n'))
    }

    /// Return: the line is whole, or goes on in another row.
    fn accept(&mut self, host: &mut dyn Host) -> Step {
        if let Some(insertion) = host.abbreviation(self.line.text(), self.line.point()) {
            self.line.replace(insertion.range, &insertion.text);
        }
        if host.needs_more(self.line.text()) {
            if !self.line.text().contains('\n') {
                self.line.move_to(usize::MAX);
            }
            self.line.insert("\n");
            return Step::Edit;
        }
        Step::Accept
    }

    /// The character that a function waits for.
    fn supply(&mut self, text: &str, host: &mut dyn Host) -> Step {
        let start = self.line.point();
        match std::mem::replace(&mut self.waiting, Waiting::Nothing) {
            Waiting::Quoted => {
                let count = self.count().clamp(0, limits::ARGUMENT_MAX) as usize;
                self.line.insert(&text.repeat(count.min(limits::LINE_BYTES_MAX / text.len().max(1))));
            }
            _ if text == "\u{1b}" => self.vi.forget_operator(),
            Waiting::Character { back, till } => {
                self.sought = Some((text.to_string(), back, till));
                self.seek(text, back, till);
                self.end_motion("vi-char-search", start);
            }
            Waiting::Replacement => self.replace_characters(text),
            Waiting::Mark { set } => {
                self.use_mark(text, set);
                self.end_motion("vi-goto-mark", start);
            }
            Waiting::Object { around } => self.take_object(text, around, host),
            Waiting::Nothing | Waiting::Paste(_) | Waiting::Sequence => {}
        }
        self.argument = None;
        Step::Edit
    }

    /// Ends searches and menus; the line stays as they left it.
    pub(crate) fn close(&mut self) {
        self.search = None;
        self.asking = None;
        self.close_menu();
    }
}
