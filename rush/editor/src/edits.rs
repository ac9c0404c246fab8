//! Motions, insertions, kills and changes of case: readline's functions on the line itself.

use unicode_segmentation::UnicodeSegmentation;

use crate::editor::{Editor, Waiting};
use crate::host::Host;
use crate::limits;
use crate::words::{self, is_word};

/// The functions that kill, and whether what they kill is before the cursor.
fn kills_before(name: &str) -> Option<bool> {
    match name {
        "backward-kill-line"
        | "backward-kill-word"
        | "shell-backward-kill-word"
        | "unix-filename-rubout"
        | "unix-line-discard"
        | "unix-word-rubout"
        | "vi-unix-word-rubout" => Some(true),
        "kill-line"
        | "kill-whole-line"
        | "kill-word"
        | "shell-kill-word"
        | "kill-region"
        | "copy-region-as-kill"
        | "copy-backward-word"
        | "copy-forward-word" => Some(false),
        _ => None,
    }
}

fn is_filename(character: char) -> bool {
    !character.is_whitespace() && character != '/'
}

fn is_nonblank(character: char) -> bool {
    !character.is_whitespace()
}

impl Editor {
    /// A motion of the cursor; false if the function is none.
    pub(crate) fn motion(&mut self, name: &str, key: char) -> bool {
        let (count, point) = (self.count(), self.line.point());
        let times = |back: bool| if back { -count } else { count };
        let target = match name {
            "backward-char" | "backward-byte" => self.line.moved(point, -count),
            "forward-char" | "forward-byte" => {
                if point == self.line.len() && self.accept_suggestion(usize::MAX) {
                    return true;
                }
                self.line.moved(point, count)
            }
            "backward-word" => self.by_words(times(true), is_word),
            "forward-word" | "shell-forward-word"
                if point == self.line.len() && self.accept_suggested_word() =>
            {
                return true;
            }
            "forward-word" => self.by_words(count, is_word),
            "shell-backward-word" => self.by_shell_words(times(true)),
            "shell-forward-word" => self.by_shell_words(count),
            "beginning-of-line" => self.line.row_start(point),
            "end-of-line" if point == self.line.len() && self.accept_suggestion(usize::MAX) => return true,
            "end-of-line" => self.line.row_end(point),
            "previous-screen-line" => self.other_row(true).unwrap_or(point),
            "next-screen-line" => self.other_row(false).unwrap_or(point),
            "character-search" | "character-search-backward" => {
                let back = (name == "character-search-backward") != (count < 0);
                self.waiting = Waiting::Character { back, till: false };
                return true;
            }
            "exchange-point-and-mark" => {
                let mark = self.line.boundary(self.line.mark);
                self.line.mark = point;
                self.line.region = true;
                mark
            }
            "set-mark" => {
                self.line.mark = if self.argument.is_some() { count.unsigned_abs() as usize } else { point };
                self.line.region = true;
                point
            }
            _ => match self.vi_motion(name, key) {
                Some(target) => target,
                None => return false,
            },
        };
        self.line.move_to(target);
        true
    }

    /// `count` words on; negative is back.
    fn by_words(&self, count: i64, belongs: fn(char) -> bool) -> usize {
        let mut at = self.line.point();
        for _ in 0..count.unsigned_abs().min(self.line.len() as u64 + 1) {
            at = if count < 0 {
                words::back(self.line.text(), at, belongs)
            } else {
                words::forward(self.line.text(), at, belongs)
            };
        }
        at
    }

    fn by_shell_words(&self, count: i64) -> usize {
        let mut at = self.line.point();
        for _ in 0..count.unsigned_abs().min(self.line.len() as u64 + 1) {
            at = if count < 0 {
                words::shell_back(self.line.text(), at)
            } else {
                words::shell_forward(self.line.text(), at)
            };
        }
        at
    }

    /// The same column in the row of text above or below.
    pub(crate) fn other_row(&self, above: bool) -> Option<usize> {
        let point = self.line.point();
        let start = self.line.row_start(point);
        let column = self.line.text()[start..point].graphemes(true).count();
        let other = if above {
            self.line.row_start(start.checked_sub(1)?)
        } else {
            Some(self.line.row_end(point) + 1).filter(|start| *start <= self.line.len())?
        };
        let row = &self.line.text()[other..self.line.row_end(other)];
        Some(other + row.grapheme_indices(true).nth(column).map_or(row.len(), |(at, _)| at))
    }

    /// Searches the line for a character.
    pub(crate) fn seek(&mut self, text: &str, back: bool, till: bool) {
        let (back, count) = if self.count() < 0 { (!back, -self.count()) } else { (back, self.count()) };
        let mut at = self.line.point();
        for turn in 0..count {
            // A search up to a character that is repeated goes past the one it stands at.
            let found = if back {
                let end = if till && turn > 0 { self.line.previous(at) } else { at };
                self.line.text()[..end].rfind(text)
            } else {
                let mut start = self.line.next(at);
                if till && turn > 0 {
                    start = self.line.next(start);
                }
                self.line.text().get(start..).and_then(|rest| rest.find(text)).map(|offset| start + offset)
            };
            let Some(found) = found else {
                self.vi.forget_operator();
                self.ring();
                return;
            };
            at = found;
        }
        if till {
            at = if back { self.line.next(at) } else { self.line.previous(at) };
        }
        self.line.move_to(at);
    }

    /// A change of the line; false if the function is none of these.
    pub(crate) fn edit(&mut self, name: &'static str, key: char, host: &mut dyn Host) -> bool {
        if let Some(before) = kills_before(name) {
            self.kill(name, before);
            return true;
        }
        match name {
            "self-insert" => self.insert_typed(key, host),
            "tab-insert" => self.insert_times("\t"),
            "backward-delete-char" | "vi-rubout" => self.delete_back(),
            "forward-backward-delete-char" => {
                if !self.delete_forward() {
                    self.delete_back();
                }
            }
            "capitalize-word" => self.change_words(|word| {
                let mut rest = word.chars();
                let first: String = rest.next().map(|c| c.to_uppercase().collect()).unwrap_or_default();
                first + &rest.as_str().to_lowercase()
            }),
            "downcase-word" => self.change_words(str::to_lowercase),
            "upcase-word" => self.change_words(str::to_uppercase),
            "delete-horizontal-space" => {
                let blank: &[char] = &[' ', '\t'];
                let start = self.line.before().trim_end_matches(blank).len();
                let after = self.line.after();
                let end = self.line.len() - after.trim_start_matches(blank).len();
                self.line.remove(start..end);
            }
            "transpose-chars" => self.transpose_characters(),
            "transpose-words" => self.transpose_words(false),
            "shell-transpose-words" => self.transpose_words(true),
            "overwrite-mode" => self.overwrite = !self.overwrite,
            "undo" | "vi-undo" => {
                for _ in 0..self.count() {
                    if !self.line.undo() {
                        self.ring();
                        break;
                    }
                }
            }
            "redo" => {
                if !self.line.redo() {
                    self.ring();
                }
            }
            "revert-line" => self.line.revert(),
            "yank" => {
                if let Some(text) = self.kills.current().map(str::to_string) {
                    self.line.insert(&text);
                    self.line.mark = self.line.point() - text.len();
                }
            }
            "yank-pop" | "vi-yank-pop" => self.yank_pop(),
            _ => return false,
        }
        true
    }

    fn insert_times(&mut self, text: &str) {
        let count = self.count().max(0) as usize;
        let room = limits::LINE_BYTES_MAX.saturating_sub(self.line.len()) / text.len().max(1);
        if count == 1 && room > 0 {
            self.line.type_text(text);
        } else {
            self.line.insert(&text.repeat(count.min(room)));
        }
    }

    fn insert_typed(&mut self, key: char, host: &mut dyn Host) {
        if self.overwrite {
            let end = self.line.next(self.line.point());
            let at_end_of_row = self.line.after().starts_with('\n');
            if !at_end_of_row {
                self.line.remove(self.line.point()..end);
            }
        }
        if key == ' '
            && let Some(insertion) = host.abbreviation(self.line.text(), self.line.point())
        {
            self.line.replace(insertion.range, &insertion.text);
        }
        self.insert_times(key.encode_utf8(&mut [0; 4]));
    }

    fn delete_back(&mut self) {
        let (point, count) = (self.line.point(), self.count());
        let start = self.line.moved(point, -count);
        if start == point {
            self.ring();
            return;
        }
        let text = self.line.remove(start.min(point)..start.max(point));
        if self.argument.is_some() {
            self.kills.push(text);
        }
    }

    /// False if there is nothing behind the cursor.
    pub(crate) fn delete_forward(&mut self) -> bool {
        let (point, count) = (self.line.point(), self.count());
        let end = self.line.moved(point, count);
        if end == point {
            return false;
        }
        let text = self.line.remove(point.min(end)..point.max(end));
        if self.argument.is_some() {
            self.kills.push(text);
        }
        true
    }

    fn kill(&mut self, name: &str, before: bool) {
        let point = self.line.point();
        let count = self.count();
        let row = (self.line.row_start(point), self.line.row_end(point));
        let other = match name {
            "backward-kill-line" | "unix-line-discard" if row.0 == point => point.saturating_sub(1),
            "backward-kill-line" | "unix-line-discard" => row.0,
            "backward-kill-word" | "copy-backward-word" => self.by_words(-count, is_word),
            "shell-backward-kill-word" => self.by_shell_words(-count),
            "unix-filename-rubout" => self.by_words(-count, is_filename),
            "unix-word-rubout" | "vi-unix-word-rubout" => self.by_words(-count, is_nonblank),
            "kill-line" if count < 0 => row.0,
            "kill-line" if row.1 == point => (point + 1).min(self.line.len()),
            "kill-line" => row.1,
            "kill-word" | "copy-forward-word" => self.by_words(count, is_word),
            "shell-kill-word" => self.by_shell_words(count),
            "kill-region" | "copy-region-as-kill" => self.line.boundary(self.line.mark),
            _ => 0,
        };
        let range =
            if name == "kill-whole-line" { 0..self.line.len() } else { point.min(other)..point.max(other) };
        let text = if name.starts_with("copy") {
            self.line.region = false;
            self.line.text()[range].to_string()
        } else {
            self.line.remove(range)
        };
        if kills_before(self.last).is_some() {
            self.kills.extend(&text, before);
        } else {
            self.kills.push(text);
        }
    }

    fn yank_pop(&mut self) {
        let start = self.line.boundary(self.line.mark);
        if !matches!(self.last, "yank" | "yank-pop" | "vi-yank-pop" | "vi-put") || start > self.line.point() {
            self.ring();
            return;
        }
        if let Some(text) = self.kills.turn().map(str::to_string) {
            self.line.replace(start..self.line.point(), &text);
            self.line.mark = start;
        }
    }

    fn change_words(&mut self, change: impl Fn(&str) -> String) {
        let (point, end) = (self.line.point(), self.by_words(self.count(), is_word));
        let (start, stop) = (point.min(end), point.max(end));
        let text = &self.line.text()[start..stop];
        let mut changed = String::with_capacity(text.len());
        let mut rest = text;
        while !rest.is_empty() {
            let blank = rest.find(is_word).unwrap_or(rest.len());
            let word = rest[blank..].find(|c| !is_word(c)).map_or(rest.len(), |length| blank + length);
            changed.push_str(&rest[..blank]);
            changed.push_str(&change(&rest[blank..word]));
            rest = &rest[word..];
        }
        self.line.replace(start..stop, &changed);
        if end < point {
            self.line.move_to(point);
        }
    }

    fn transpose_characters(&mut self) {
        let mut point = self.line.point();
        if point == self.line.row_end(point) {
            point = self.line.previous(point);
        }
        let (start, end) = (self.line.previous(point), self.line.next(point));
        if start == point || end == point {
            self.ring();
            return;
        }
        let text = [&self.line.text()[point..end], &self.line.text()[start..point]].concat();
        self.line.replace(start..end, &text);
    }

    fn transpose_words(&mut self, shell: bool) {
        let (text, point) = (self.line.text(), self.line.point());
        let spans: Vec<(usize, usize)> = if shell {
            words::shell_words(text)
        } else {
            let starts = text.char_indices().filter(|(at, c)| is_word(*c) && !text[..*at].ends_with(is_word));
            starts.map(|(at, _)| (at, words::forward(text, at, is_word))).collect()
        };
        // The word behind the cursor, or the last one, changes places with the one before it.
        let second = spans.iter().position(|(_, end)| *end > point).unwrap_or(spans.len().saturating_sub(1));
        let pair = second.checked_sub(1).and_then(|first| Some((*spans.get(first)?, *spans.get(second)?)));
        let Some((first, second)) = pair else {
            self.ring();
            return;
        };
        let changed = [&text[second.0..second.1], &text[first.1..second.0], &text[first.0..first.1]].concat();
        self.line.replace(first.0..second.1, &changed);
    }

    /// Takes the suggestion, up to so many bytes; false if there is none.
    pub(crate) fn accept_suggestion(&mut self, bytes: usize) -> bool {
        let length = bytes.min(self.suggestion.len());
        let Some(text) = self.suggestion.get(..length).filter(|text| !text.is_empty()) else { return false };
        let text = text.to_string();
        self.line.move_to(usize::MAX);
        self.line.insert(&text);
        self.suggestion.clear();
        true
    }

    fn accept_suggested_word(&mut self) -> bool {
        let skipped = self.suggestion.len() - self.suggestion.trim_start().len();
        let rest = &self.suggestion[skipped..];
        let word = rest
            .find(|c: char| c.is_whitespace() || c == '/')
            .map_or(rest.len(), |at| at + usize::from(rest[at..].starts_with('/')));
        self.accept_suggestion(skipped + word.max(1))
    }
}
