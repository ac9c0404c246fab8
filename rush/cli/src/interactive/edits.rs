//! Edits of a line outside the line editor: what macros type, and functions that rustyline does not have. Pure: a line and a cursor in,
//! a line and a cursor out.

/// A line being edited, and where the cursor is in it, in bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Buffer {
    pub(super) text: String,
    pub(super) point: usize,
    /// What was killed last.
    pub(super) killed: String,
}

impl Buffer {
    pub(super) fn new(text: String, point: usize) -> Buffer {
        let mut point = point.min(text.len());
        while !text.is_char_boundary(point) {
            point -= 1;
        }
        Buffer { text, point, killed: String::new() }
    }

    /// Puts `text` before the cursor.
    pub(super) fn insert(&mut self, text: &str) {
        self.text.insert_str(self.point, text);
        self.point += text.len();
    }

    /// Makes `text` the line, with the cursor at its end.
    pub(super) fn replace(&mut self, text: String) {
        self.point = text.len();
        self.text = text;
    }

    /// Carries out a function of readline's; false if there is no such edit.
    pub(super) fn edit(&mut self, name: &str) -> bool {
        match name {
            "backward-char" => self.point = self.before(),
            "backward-delete-char" => drop(self.remove(self.before(), self.point)),
            "backward-kill-line" | "unix-line-discard" => self.kill(0, self.point),
            "backward-kill-word" => self.kill(self.word_before(is_word), self.point),
            "backward-word" => self.point = self.word_before(is_word),
            "beginning-of-line" => self.point = 0,
            "capitalize-word" => self.change_word(|word| {
                let mut characters = word.chars();
                let first = characters.next().map(|first| first.to_uppercase().collect::<String>());
                first.unwrap_or_default() + &characters.as_str().to_lowercase()
            }),
            "delete-char" => drop(self.remove(self.point, self.after())),
            "delete-horizontal-space" => {
                let start = self.text[..self.point].trim_end_matches([' ', '\t']).len();
                let blanks = self.text[self.point..].len()
                    - self.text[self.point..].trim_start_matches([' ', '\t']).len();
                drop(self.remove(start, self.point + blanks));
            }
            "downcase-word" => self.change_word(str::to_lowercase),
            "end-of-line" => self.point = self.text.len(),
            "forward-char" => self.point = self.after(),
            "forward-word" => self.point = self.word_after(is_word),
            "kill-line" => self.kill(self.point, self.text.len()),
            "kill-whole-line" => self.kill(0, self.text.len()),
            "kill-word" => self.kill(self.point, self.word_after(is_word)),
            "revert-line" => self.replace(String::new()),
            "shell-backward-kill-word" | "unix-word-rubout" => {
                self.kill(self.word_before(|character| !character.is_whitespace()), self.point);
            }
            "shell-kill-word" => {
                self.kill(self.point, self.word_after(|character| !character.is_whitespace()))
            }
            "tab-insert" => self.insert("\t"),
            "unix-filename-rubout" => {
                self.kill(
                    self.word_before(|character| !character.is_whitespace() && character != '/'),
                    self.point,
                );
            }
            "upcase-word" => self.change_word(str::to_uppercase),
            "yank" => {
                let killed = self.killed.clone();
                self.insert(&killed);
            }
            _ => return false,
        }
        true
    }

    fn before(&self) -> usize {
        self.text[..self.point].char_indices().next_back().map_or(0, |(at, _)| at)
    }

    fn after(&self) -> usize {
        self.point + self.text[self.point..].chars().next().map_or(0, char::len_utf8)
    }

    fn word_before(&self, belongs: impl Fn(char) -> bool) -> usize {
        let text = self.text[..self.point].trim_end_matches(|character| !belongs(character));
        text.trim_end_matches(belongs).len()
    }

    fn word_after(&self, belongs: impl Fn(char) -> bool) -> usize {
        let text = self.text[self.point..].trim_start_matches(|character| !belongs(character));
        self.text.len() - text.trim_start_matches(belongs).len()
    }

    fn remove(&mut self, start: usize, end: usize) -> String {
        self.point = start;
        self.text.drain(start..end).collect()
    }

    fn kill(&mut self, start: usize, end: usize) {
        self.killed = self.remove(start, end);
    }

    fn change_word(&mut self, change: impl Fn(&str) -> String) {
        let (start, end) = (self.point, self.word_after(is_word));
        let blanks = self.text[start..end].find(is_word).unwrap_or(end - start);
        let changed = change(&self.text[start + blanks..end]);
        self.text.replace_range(start + blanks..end, &changed);
        self.point = start + blanks + changed.len();
    }
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric()
}

#[cfg(test)]
mod tests {
    use super::Buffer;

    fn check(line: &str, name: &str, expect: &str) {
        let point = line.find('|').expect("a cursor");
        let mut buffer = Buffer::new(line.replace('|', ""), point);
        assert!(buffer.edit(name), "{name}");
        let mut shown = buffer.text.clone();
        shown.insert(buffer.point, '|');
        assert_eq!(shown, expect, "{name} of {line}");
    }

    #[test]
    fn edits() {
        check("one two| three", "backward-word", "one |two three");
        check("one| two three", "forward-word", "one two| three");
        check("one two| three", "backward-kill-word", "one | three");
        check("a/b c/d|", "unix-filename-rubout", "a/b c/|");
        check("a/b c/d|", "unix-word-rubout", "a/b |");
        check("ab|cd", "kill-line", "ab|");
        check("ab|cd", "unix-line-discard", "|cd");
        check("a é|b", "backward-delete-char", "a |b");
        check("a |éb", "delete-char", "a |b");
        check("a  |  b", "delete-horizontal-space", "a|b");
        check("|one two", "capitalize-word", "One| two");
        check("one| two", "upcase-word", "one TWO|");
        check("one|", "forward-char", "one|");
        check("|one", "backward-char", "|one");
    }

    #[test]
    fn what_was_killed_comes_back() {
        let mut buffer = Buffer::new("one two".into(), 3);
        buffer.edit("kill-line");
        buffer.edit("beginning-of-line");
        buffer.edit("yank");
        assert_eq!((buffer.text.as_str(), buffer.point), (" twoone", 4));
        assert!(!buffer.edit("vi-redo"));
        assert_eq!(Buffer::new("é".into(), 1).point, 0);
    }
}
