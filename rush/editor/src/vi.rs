//! Vi's command mode: motions, operators with motions and text objects, puts, marks, replacements, and the repetition of the last change,
//! which types its keys again.

use crate::editor::{Editor, Step, Waiting};
use crate::host::Host;
use crate::keys::Keymap;
use crate::words;

/// What is done with the text that a motion goes over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Delete,
    Change,
    Yank,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Vi {
    /// The operator that waits for a motion, and its count.
    operator: Option<(Operator, i64)>,
    /// The keys since the last command.
    keys: Vec<u8>,
    /// The keys of the last change.
    change: Vec<u8>,
    /// The text after the last command.
    text: String,
    /// Whether the keys are those of a command, and not of a line's first insertion.
    commanded: bool,
    pub(crate) search_back: bool,
}

impl Vi {
    pub(crate) fn begin(&mut self) {
        *self = Vi { change: std::mem::take(&mut self.change), ..Vi::default() };
    }

    pub(crate) fn record(&mut self, byte: u8) {
        self.keys.push(byte);
    }

    pub(crate) fn forget_operator(&mut self) {
        self.operator = None;
    }

    /// The count of the operator that waits.
    pub(crate) fn multiplier(&self) -> i64 {
        self.operator.map_or(1, |(_, count)| count)
    }
}

fn operator(name: &str) -> Option<Operator> {
    match name {
        "vi-delete-to" => Some(Operator::Delete),
        "vi-change-to" => Some(Operator::Change),
        "vi-yank-to" => Some(Operator::Yank),
        _ => None,
    }
}

/// Motions whose last character belongs to what they go over.
fn is_inclusive(name: &str) -> bool {
    matches!(name, "vi-end-word" | "vi-eword" | "vi-eWord" | "vi-end-bigword" | "vi-match" | "vi-char-search")
}

fn is_motion(name: &str) -> bool {
    let named = matches!(
        name,
        "backward-char"
            | "forward-char"
            | "backward-word"
            | "forward-word"
            | "beginning-of-line"
            | "end-of-line"
            | "shell-backward-word"
            | "shell-forward-word"
    );
    named
        || WORDS.iter().any(|(motion, ..)| *motion == name)
        || is_inclusive(name)
        || matches!(name, "vi-column" | "vi-first-print" | "vi-back-to-indent" | "vi-goto-mark")
}

/// Motions by words: the name, which one it is (`w`, `e`, `b`), and whether words end at blanks only; a capital key says so, too.
const WORDS: [(&str, u8, bool); 14] = [
    ("vi-next-word", b'w', false),
    ("vi-fword", b'w', false),
    ("vi-forward-word", b'w', false),
    ("vi-fWord", b'w', true),
    ("vi-forward-bigword", b'w', true),
    ("vi-end-word", b'e', false),
    ("vi-eword", b'e', false),
    ("vi-eWord", b'e', true),
    ("vi-end-bigword", b'e', true),
    ("vi-prev-word", b'b', false),
    ("vi-bword", b'b', false),
    ("vi-backward-word", b'b', false),
    ("vi-bWord", b'b', true),
    ("vi-backward-bigword", b'b', true),
];

impl Editor {
    /// Where one of vi's motions leads.
    pub(crate) fn vi_motion(&mut self, name: &str, key: char) -> Option<usize> {
        let (count, point) = (self.count(), self.line.point());
        if let Some((_, kind, big)) = WORDS.iter().find(|(motion, ..)| *motion == name) {
            return Some(self.vi_words(*kind, *big || key.is_ascii_uppercase(), count));
        }
        Some(match name {
            "vi-column" => {
                let row = self.line.row_start(point);
                self.line.moved(row, count - 1).min(self.line.row_end(point))
            }
            "vi-first-print" | "vi-back-to-indent" => {
                let row = self.line.row_start(point);
                let text = &self.line.text()[row..self.line.row_end(point)];
                row + text.len() - text.trim_start().len()
            }
            "vi-match" => match words::matching(self.line.text(), point) {
                Some(place) => place,
                None => {
                    self.vi.forget_operator();
                    self.ring();
                    point
                }
            },
            "vi-goto-mark" => {
                self.waiting = Waiting::Mark { set: false };
                point
            }
            "vi-char-search" => {
                match (key, self.sought.clone()) {
                    ('f' | 'F' | 't' | 'T', _) => {
                        self.waiting =
                            Waiting::Character { back: key.is_uppercase(), till: matches!(key, 't' | 'T') };
                    }
                    (_, Some((text, back, till))) => self.seek(&text, back != (key == ','), till),
                    _ => drop(self.ring()),
                }
                self.line.point()
            }
            _ => return None,
        })
    }

    fn vi_words(&self, kind: u8, big: bool, count: i64) -> usize {
        let (text, mut at) = (self.line.text(), self.line.point());
        // `cw` changes the word and not the blanks behind it.
        let on_word = text[at..].chars().next().is_some_and(|c| !c.is_whitespace());
        let changing = matches!(self.vi.operator, Some((Operator::Change, _)));
        for turn in 0..count.max(0) {
            let next = match kind {
                b'w' if changing && on_word && turn + 1 == count => {
                    let ends = text[at..].chars().nth(1).is_none_or(char::is_whitespace) && turn == 0;
                    let last = if ends { at } else { words::vi_end(text, at, big) };
                    self.line.next(last)
                }
                b'w' => words::vi_next(text, at, big),
                b'e' => words::vi_end(text, at, big),
                _ => words::vi_previous(text, at, big),
            };
            if next == at {
                break;
            }
            at = next;
        }
        at
    }

    /// After a function: an operator that waited is carried out over the motion.
    pub(crate) fn end_motion(&mut self, name: &'static str, start: usize) {
        let Some((kind, _)) = self.vi.operator.filter(|_| operator(name).is_none()) else { return };
        if self.waiting != Waiting::Nothing {
            return;
        }
        self.vi.operator = None;
        if !is_motion(name) {
            self.ring();
            return;
        }
        let point = self.line.point();
        let (from, mut to) = (start.min(point), start.max(point));
        if is_inclusive(name) && (point > start || name == "vi-match") {
            to = self.line.next(to);
        }
        self.operate(kind, from, to);
    }

    fn operate(&mut self, kind: Operator, from: usize, to: usize) {
        if from == to && kind != Operator::Change {
            self.line.move_to(from);
            return;
        }
        if kind == Operator::Yank {
            self.kills.push(self.line.text()[from..to].to_string());
            self.line.move_to(from);
        } else {
            // Undone, the cursor is where the text begins.
            self.line.move_to(from);
            let text = self.line.remove(from..to);
            self.kills.push(text);
        }
        if kind == Operator::Change {
            self.keymap = Keymap::ViInsert;
        }
    }

    /// The functions of vi's command mode; `None` if the function is none.
    pub(crate) fn vi_function(&mut self, name: &'static str, key: char, _: &mut dyn Host) -> Option<Step> {
        if let Some(kind) = operator(name) {
            self.begin_operator(kind, key);
            return Some(Step::Edit);
        }
        let point = self.line.point();
        match name {
            "vi-insertion-mode" | "vi-append-mode" if self.vi.operator.is_some() => {
                self.waiting = Waiting::Object { around: name == "vi-append-mode" };
            }
            "vi-insertion-mode" => self.keymap = Keymap::ViInsert,
            "vi-append-mode" => {
                self.line.move_to(self.line.next(point).min(self.line.row_end(point)));
                self.keymap = Keymap::ViInsert;
            }
            "vi-append-eol" => {
                self.line.move_to(self.line.row_end(point));
                self.keymap = Keymap::ViInsert;
            }
            "vi-insert-beg" => {
                self.line.move_to(self.line.row_start(point));
                self.keymap = Keymap::ViInsert;
            }
            "vi-movement-mode" => {
                if self.keymap == Keymap::ViInsert && point > self.line.row_start(point) {
                    self.line.move_to(self.line.previous(point));
                }
                self.keymap = Keymap::ViCommand;
                self.overwrite = false;
                self.argument = None;
            }
            "vi-delete" => {
                let end = self.line.moved(point, self.count()).min(self.line.row_end(point));
                let text = self.line.remove(point..end);
                self.kills.push(text);
            }
            "vi-put" => self.vi_put(key == 'P'),
            "vi-replace" | "vi-overstrike" => {
                self.keymap = Keymap::ViInsert;
                self.overwrite = true;
            }
            "vi-overstrike-delete" => self.line.move_to(self.line.previous(point)),
            "vi-change-char" => self.waiting = Waiting::Replacement,
            "vi-subst" => {
                let (from, to) = if key == 'S' {
                    (self.line.row_start(point), self.line.row_end(point))
                } else {
                    (point, self.line.moved(point, self.count()).min(self.line.row_end(point)))
                };
                self.operate(Operator::Change, from, to);
            }
            "vi-change-case" => {
                let end = self.line.moved(point, self.count()).min(self.line.row_end(point));
                let other = |c: char| -> String {
                    if c.is_uppercase() { c.to_lowercase().collect() } else { c.to_uppercase().collect() }
                };
                let changed: String = self.line.text()[point..end].chars().map(other).collect();
                self.line.replace(point..end, &changed);
            }
            "vi-set-mark" => self.waiting = Waiting::Mark { set: true },
            "vi-redo" => self.repeat_change(),
            _ => return None,
        }
        Some(Step::Edit)
    }

    fn begin_operator(&mut self, kind: Operator, key: char) {
        let point = self.line.point();
        match self.vi.operator {
            Some((waiting, _)) if waiting == kind => {
                self.vi.operator = None;
                self.operate(kind, self.line.row_start(point), self.line.row_end(point));
            }
            Some(_) => {
                self.vi.operator = None;
                self.ring();
            }
            None if key.is_ascii_uppercase() => self.operate(kind, point, self.line.row_end(point)),
            None => self.vi.operator = Some((kind, self.count())),
        }
    }

    fn vi_put(&mut self, before: bool) {
        let Some(text) = self.kills.current().map(str::to_string) else {
            self.ring();
            return;
        };
        let point = self.line.point();
        if !before {
            self.line.move_to(self.line.next(point).min(self.line.row_end(point)));
        }
        let text = text.repeat(self.count().clamp(1, 1000) as usize);
        self.line.insert(&text);
        self.line.mark = self.line.point() - text.len();
        self.line.move_to(self.line.previous(self.line.point()));
    }

    /// `r`: the same character in the place of so many.
    pub(crate) fn replace_characters(&mut self, text: &str) {
        let point = self.line.point();
        let count = self.count().clamp(1, self.line.len() as i64 + 1);
        let end = self.line.moved(point, count);
        if end > self.line.row_end(point) || end == point {
            self.ring();
            return;
        }
        self.line.replace(point..end, &text.repeat(count as usize));
        self.line.move_to(self.line.previous(self.line.point()));
    }

    pub(crate) fn use_mark(&mut self, text: &str, set: bool) {
        let at = text.bytes().next().filter(u8::is_ascii_lowercase).map(|byte| usize::from(byte - b'a'));
        let slot = at.and_then(|at| self.line.marks.get(at).copied().map(|mark| (at, mark)));
        match slot {
            Some((at, _)) if set => self.line.marks[at] = Some(self.line.point()),
            Some((_, Some(mark))) => self.line.move_to(mark),
            _ => {
                self.vi.forget_operator();
                self.ring();
            }
        }
    }

    /// The text object that an operator waited for.
    pub(crate) fn take_object(&mut self, text: &str, around: bool, _: &mut dyn Host) {
        let Some((kind, _)) = self.vi.operator.take() else { return };
        let object = text
            .chars()
            .next()
            .and_then(|object| words::object(self.line.text(), self.line.point(), object, around));
        match object {
            Some((from, to)) => self.operate(kind, from, to),
            None => drop(self.ring()),
        }
    }

    fn repeat_change(&mut self) {
        let mut keys = self.vi.change.clone();
        if let Some((Some(count), _)) = self.argument {
            let digits = keys.iter().take_while(|byte| byte.is_ascii_digit()).count();
            keys.splice(..digits, count.to_string().into_bytes());
        }
        for byte in keys.iter().rev() {
            self.queue.push_front(*byte);
        }
    }

    /// When a command of vi's is whole: the cursor is on a character, and a change can be repeated.
    pub(crate) fn after_vi_command(&mut self) {
        if self.keymap != Keymap::ViCommand
            || self.waiting != Waiting::Nothing
            || self.vi.operator.is_some()
            || self.argument.is_some()
            || !self.sequence.is_empty()
        {
            return;
        }
        let point = self.line.point();
        if point > self.line.row_start(point) && point == self.line.row_end(point) {
            self.line.move_to(self.line.previous(point));
        }
        let keys = std::mem::take(&mut self.vi.keys);
        if self.vi.text == self.line.text() {
            self.vi.commanded = true;
            return;
        }
        let elsewhere = [
            "undo",
            "vi-undo",
            "redo",
            "revert-line",
            "vi-redo",
            "vi-search",
            "vi-search-again",
            "vi-fetch-history",
        ];
        let moved = self.last.contains("history") || elsewhere.contains(&self.last);
        if self.vi.commanded && !moved && self.search.is_none() {
            self.vi.change = keys;
        }
        self.vi.commanded = true;
        self.vi.text = self.line.text().to_string();
    }
}
