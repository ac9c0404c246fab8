//! The history in the line: going through it, searching it as one types with a list of what was found, and asking for a text first.

use crate::editor::{Editor, Step};
use crate::history::Hit;
use crate::host::Host;
use crate::limits;
use crate::line::Line;
use crate::words;

/// A search through the history as one types.
#[derive(Debug, Clone)]
pub(crate) struct Search {
    pub(crate) query: String,
    /// What was found, the newest first.
    pub(crate) hits: Vec<Hit>,
    pub(crate) chosen: usize,
    /// Whether what was found is that of an earlier query.
    pub(crate) stale: bool,
    /// Whether it was begun towards newer entries.
    pub(crate) forward: bool,
    /// What was there before.
    before: (Line, usize),
}

/// A text that is asked for below the line.
#[derive(Debug, Clone)]
pub(crate) struct Asking {
    pub(crate) text: String,
    /// What it is shown behind.
    pub(crate) prompt: char,
    /// Whether older entries are searched.
    back: bool,
}

impl Editor {
    /// Functions of the history; `None` if the function is none.
    pub(crate) fn recalling(&mut self, name: &'static str, key: char, host: &mut dyn Host) -> Option<Step> {
        let last = host.count();
        Some(match name {
            "previous-history" | "next-history" => {
                let above = (name == "previous-history") == (self.count() >= 0);
                if let Some(target) = self.other_row(above).filter(|_| self.argument.is_none()) {
                    self.line.move_to(target);
                    return Some(Step::Edit);
                }
                let distance = self.count().unsigned_abs() as usize;
                let to = if above { self.place.checked_sub(distance) } else { Some(self.place + distance) };
                match to.filter(|to| *to <= last && *to != self.place) {
                    Some(to) => self.go_to(to, host),
                    None => return Some(self.ring()),
                }
                Step::Edit
            }
            "beginning-of-history" => self.went(0, host),
            "end-of-history" => self.went(last, host),
            "fetch-history" | "vi-fetch-history" => {
                let number = self.argument.map(|_| self.count());
                let oldest = if name == "fetch-history" { 0 } else { last.saturating_sub(1) };
                let to = number.map_or(oldest, |number| (number.max(1) - 1) as usize);
                self.went(to.min(last), host)
            }
            "operate-and-get-next" => {
                self.next_place = Some(self.place + 1);
                Step::Accept
            }
            "history-search-backward"
            | "history-search-forward"
            | "history-substring-search-backward"
            | "history-substring-search-forward" => self.search_for_line(name, host),
            "reverse-search-history" | "forward-search-history" => {
                self.search = Some(Search {
                    query: String::new(),
                    hits: Vec::new(),
                    chosen: 0,
                    stale: false,
                    forward: name == "forward-search-history",
                    before: (self.line.clone(), self.place),
                });
                self.close_menu();
                self.search_again(host);
                Step::Edit
            }
            "non-incremental-reverse-search-history"
            | "non-incremental-forward-search-history"
            | "vi-search" => {
                let back = if name == "vi-search" { key == '/' } else { name.contains("reverse") };
                let prompt = if name == "vi-search" { key } else { ':' };
                self.asking = Some(Asking { text: String::new(), prompt, back });
                Step::Edit
            }
            "non-incremental-reverse-search-history-again" => self.find_wanted(true, host),
            "non-incremental-forward-search-history-again" => self.find_wanted(false, host),
            "vi-search-again" => {
                let back = self.vi.search_back != (key == 'N');
                self.find_wanted(back, host)
            }
            "yank-last-arg" | "insert-last-argument" | "vi-yank-arg" => self.yank_last_argument(host),
            "yank-nth-arg" => {
                let wanted = if self.argument.is_some() { self.count() } else { 1 };
                match argument(host, self.place.checked_sub(1), wanted) {
                    Some(text) => self.line.insert(&text),
                    None => return Some(self.ring()),
                }
                Step::Edit
            }
            _ => return None,
        })
    }

    fn went(&mut self, to: usize, host: &mut dyn Host) -> Step {
        self.go_to(to, host);
        Step::Edit
    }

    /// Makes an entry the line; the line that was there is kept until the next one is whole.
    pub(crate) fn go_to(&mut self, to: usize, host: &dyn Host) {
        if to == self.place {
            return;
        }
        let column = self.line.point();
        let stored = self.edits.remove(&to);
        let line = stored.unwrap_or_else(|| {
            let text = if to < host.count() {
                String::from_utf8_lossy(host.entry(to)).into_owned()
            } else {
                String::new()
            };
            Line::new(text, usize::MAX)
        });
        let left = std::mem::replace(&mut self.line, line);
        self.edits.insert(self.place, left);
        self.place = to;
        self.line.move_to(if self.settings.preserve_point { column } else { usize::MAX });
    }

    /// The entries that begin with, or hold, what stands before the cursor.
    fn search_for_line(&mut self, name: &'static str, host: &mut dyn Host) -> Step {
        let again = matches!(
            self.last,
            "history-search-backward"
                | "history-search-forward"
                | "history-substring-search-backward"
                | "history-substring-search-forward"
        );
        if !again {
            self.wanted = self.line.before().to_string();
        }
        let wanted = self.wanted.clone();
        let anywhere = name.contains("substring");
        let shown = self.line.text().to_string();
        let fits = |text: &str| {
            text != shown && if anywhere { text.contains(&wanted) } else { text.starts_with(&wanted) }
        };
        match self.find_entry(name.ends_with("backward"), host, fits) {
            Some(to) => {
                self.go_to(to, host);
                if !anywhere {
                    self.line.move_to(if wanted.is_empty() { usize::MAX } else { wanted.len() });
                }
                Step::Edit
            }
            None => self.ring(),
        }
    }

    /// The nearest entry that `fits`, older or newer than the one that is shown; the new line is the newest.
    fn find_entry(&self, back: bool, host: &dyn Host, fits: impl Fn(&str) -> bool) -> Option<usize> {
        let fits = |at: &usize| fits(&String::from_utf8_lossy(host.entry(*at)));
        if back {
            (0..self.place.min(host.count())).rev().find(fits)
        } else {
            (self.place + 1..host.count()).find(fits)
        }
    }

    /// A character for the text that is asked for.
    pub(crate) fn answer(&mut self, text: &str, host: &mut dyn Host) -> Step {
        let Some(asking) = &mut self.asking else { return Step::Edit };
        match text {
            "\r" | "\n" => {
                let (wanted, back) = (std::mem::take(&mut asking.text), asking.back);
                self.vi.search_back = back;
                self.asking = None;
                if !wanted.is_empty() {
                    self.wanted = wanted;
                }
                return self.find_wanted(back, host);
            }
            "\u{7f}" | "\u{8}" if asking.text.pop().is_none() => self.asking = None,
            "\u{7f}" | "\u{8}" => {}
            "\u{15}" => asking.text.clear(),
            "\u{3}" | "\u{7}" | "\u{1b}" => self.asking = None,
            _ => asking.text.push_str(text),
        }
        Step::Edit
    }

    fn find_wanted(&mut self, back: bool, host: &mut dyn Host) -> Step {
        let wanted = self.wanted.clone();
        if wanted.is_empty() {
            return self.ring();
        }
        let prefix = wanted.strip_prefix('^');
        let found = self.find_entry(back, host, |text| match prefix {
            Some(prefix) => text.starts_with(prefix),
            None => text.contains(&wanted),
        });
        match found {
            Some(to) => {
                self.go_to(to, host);
                if self.settings.vi {
                    self.line.move_to(0);
                }
                Step::Edit
            }
            None => self.ring(),
        }
    }

    /// The last argument of the command before; again, of the one before that.
    fn yank_last_argument(&mut self, host: &mut dyn Host) -> Step {
        let again = matches!(self.last, "yank-last-arg" | "insert-last-argument" | "vi-yank-arg");
        let (mut back, place) = if again { self.last_argument.clone() } else { (0, 0..0) };
        let wanted = if self.argument.is_some() && !again { self.count() } else { -1 };
        back += 1;
        let Some(text) = argument(host, self.place.checked_sub(back), wanted) else { return self.ring() };
        if again {
            self.line.replace(place.clone(), &text);
        } else {
            if self.settings.vi && self.line.point() < self.line.len() {
                self.line.move_to(self.line.next(self.line.point()));
            }
            let joined =
                if self.keymap == crate::keys::Keymap::ViCommand { format!(" {text}") } else { text.clone() };
            self.line.insert(&joined);
            if self.keymap == crate::keys::Keymap::ViCommand {
                self.keymap = crate::keys::Keymap::ViInsert;
            }
        }
        let end = self.line.point();
        self.last_argument = (back, end - text.len()..end);
        Step::Edit
    }

    /// What a function does while a search is going on; `None` when there is none, or when the function ends it.
    pub(crate) fn in_search(
        &mut self,
        name: &'static str,
        key: char,
        keys: &[u8],
        host: &mut dyn Host,
    ) -> Option<Step> {
        let search = self.search.as_mut()?;
        let shown = search.hits.len();
        let mut again = false;
        match name {
            "self-insert" | "magic-space" if key >= ' ' => {
                search.query.push(key);
                search.chosen = 0;
                again = true;
            }
            "backward-delete-char" | "vi-rubout" => {
                search.query.pop();
                search.chosen = 0;
                again = true;
            }
            "unix-line-discard" | "unix-word-rubout" => {
                search.query.clear();
                again = true;
            }
            "reverse-search-history"
            | "previous-history"
            | "forward-search-history"
            | "next-history"
            | "history-search-backward"
            | "history-search-forward" => {
                let older =
                    name.contains("reverse") || name.contains("previous") || name.ends_with("backward");
                // A search without a text takes the last one's.
                if search.query.is_empty() && name.ends_with("search-history") && !self.wanted.is_empty() {
                    search.query = self.wanted.clone();
                    again = true;
                } else if older {
                    search.chosen += 1;
                    if search.chosen >= shown {
                        again = true;
                    }
                } else if search.chosen == 0 {
                    return Some(self.ring());
                } else {
                    search.chosen -= 1;
                }
            }
            "abort" => {
                if let Some(search) = self.search.take() {
                    (self.line, self.place) = search.before;
                }
                return Some(self.ring());
            }
            _ => {
                self.end_search();
                // Ctrl-J and Escape only end the search.
                let only = keys == b"\n" || name == "vi-movement-mode";
                return only.then_some(Step::Edit);
            }
        }
        if again {
            self.search_again(host);
        } else {
            self.show_hit(host);
        }
        Some(Step::Edit)
    }

    fn end_search(&mut self) {
        if let Some(search) = self.search.take()
            && !search.query.is_empty()
        {
            self.wanted = search.query;
        }
    }

    /// Looks for the query anew.
    pub(crate) fn search_again(&mut self, host: &dyn Host) {
        let Some(search) = &mut self.search else { return };
        let limit = (search.chosen + 1).max(limits::SEARCH_ROWS);
        search.hits = self.index.search(host, &search.query, limit);
        search.stale = false;
        let failed = !search.query.is_empty() && search.chosen >= search.hits.len();
        search.chosen = search.chosen.min(search.hits.len().saturating_sub(1));
        if failed {
            self.ring();
        }
        self.show_hit(host);
    }

    /// Makes the chosen entry the line.
    fn show_hit(&mut self, host: &dyn Host) {
        let Some(search) = &self.search else { return };
        let hit = search.hits.get(search.chosen).filter(|_| !search.query.is_empty());
        match hit {
            Some(hit) => {
                let point = hit.parts.first().map_or(0, |part| part.start);
                let text = String::from_utf8_lossy(host.entry(hit.index)).into_owned();
                self.place = hit.index;
                self.line = Line::new(text, point);
            }
            None if search.query.is_empty() => (self.line, self.place) = search.before.clone(),
            None => {}
        }
    }
}

/// A word of an entry; negative numbers count from the end.
fn argument(host: &dyn Host, entry: Option<usize>, number: i64) -> Option<String> {
    let text = String::from_utf8_lossy(host.entry(entry?)).into_owned();
    let spans = words::shell_words(&text);
    let at = if number < 0 { spans.len() as i64 + number } else { number };
    let (start, end) = *spans.get(usize::try_from(at).ok()?)?;
    text.get(start..end).map(str::to_string)
}
