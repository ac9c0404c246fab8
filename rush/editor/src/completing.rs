//! Completion: what Tab inserts, and the menu of candidates, in which one is chosen while the line shows it.

use crate::editor::{Editor, Request, Step};
use crate::host::{Candidate, Choice, Host, Kind};
use crate::limits;

/// The candidates of the word at the cursor.
#[derive(Debug, Clone)]
pub(crate) struct Menu {
    pub(crate) candidates: Vec<Candidate>,
    pub(crate) chosen: Option<usize>,
    /// How many columns of candidates were drawn last, for the arrows.
    pub(crate) columns: usize,
    /// The line that choices are put into.
    base: (String, usize),
}

/// What a function completes, and whether it only shows candidates.
fn kind(name: &str) -> Option<(Kind, bool)> {
    Some(match name {
        "complete"
        | "menu-complete"
        | "menu-complete-backward"
        | "old-menu-complete"
        | "vi-complete"
        | "insert-completions"
        | "complete-into-braces" => (Kind::Any, false),
        "possible-completions" => (Kind::Any, true),
        "complete-command" => (Kind::Command, false),
        "possible-command-completions" => (Kind::Command, true),
        "complete-filename" => (Kind::File, false),
        "possible-filename-completions" => (Kind::File, true),
        "complete-hostname" => (Kind::Host, false),
        "possible-hostname-completions" => (Kind::Host, true),
        "complete-username" => (Kind::User, false),
        "possible-username-completions" => (Kind::User, true),
        "complete-variable" => (Kind::Variable, false),
        "possible-variable-completions" => (Kind::Variable, true),
        "glob-complete-word" | "glob-expand-word" => (Kind::Pattern, false),
        "glob-list-expansions" => (Kind::Pattern, true),
        "dynamic-complete-history" | "dabbrev-expand" => (Kind::History, false),
        _ => return None,
    })
}

impl Editor {
    /// Functions that complete; `None` if the function is none.
    pub(crate) fn completion(&mut self, name: &'static str, host: &mut dyn Host) -> Option<Step> {
        if matches!(
            name,
            "alias-expand-line"
                | "history-and-alias-expand-line"
                | "history-expand-line"
                | "magic-space"
                | "shell-expand-line"
                | "spell-correct-word"
                | "tilde-expand"
                | "vi-tilde-expand"
        ) {
            if let Some((text, point)) = host.transform(name, self.line.text(), self.line.point()) {
                self.line.set(text, point);
            }
            if name == "magic-space" {
                self.line.type_text(" ");
            }
            return Some(Step::Edit);
        }
        let (kind, only_shows) = kind(name)?;
        let point = self.line.point();
        let candidates = host.complete(self.line.text(), point, kind);
        if candidates.is_empty() {
            return Some(self.ring());
        }
        let choice = match name {
            "insert-completions" | "glob-expand-word" => Choice::All,
            "complete-into-braces" => Choice::Braces,
            _ => Choice::Common,
        };
        let cycles = name.contains("menu") || name == "dabbrev-expand";
        if !(only_shows || cycles && candidates.len() > 1) {
            let before = self.line.text().to_string();
            if let Some(insertion) = host.insertion(self.line.text(), point, choice) {
                let changes = self.line.text().get(insertion.range.clone()) != Some(insertion.text.as_str());
                if changes {
                    self.line.replace(insertion.range, &insertion.text);
                }
            }
            if candidates.len() == 1 || choice != Choice::Common {
                return Some(Step::Edit);
            }
            let twice = self.last == name;
            if !self.settings.show_all && (before != self.line.text() || !twice) {
                return Some(self.ring());
            }
        }
        if !self.settings.rich && !cycles {
            return Some(Step::Outside(Request::List(candidates.into_iter().map(|c| c.name).collect())));
        }
        let base = (self.line.text().to_string(), self.line.point());
        // The candidates are those of the line as it is now.
        let candidates =
            if base.0.len() == point { candidates } else { host.complete(&base.0, base.1, kind) };
        self.menu = Some(Menu { candidates, chosen: None, columns: 1, base });
        if cycles {
            self.choose(|_, count| if name.ends_with("backward") { count - 1 } else { 0 }, host);
        }
        Some(Step::Edit)
    }

    /// What a function does while the menu is open; `None` when there is none, or when the function closes it.
    pub(crate) fn in_menu(&mut self, name: &'static str, keys: &[u8], host: &mut dyn Host) -> Option<Step> {
        let menu = self.menu.as_ref()?;
        let columns = menu.columns.max(1);
        let rows = menu.candidates.len().div_ceil(columns);
        let begun = menu.chosen.is_some();
        match name {
            _ if keys == b"\x1b[Z" => self.choose(back_by(1), host),
            "complete" | "menu-complete" | "old-menu-complete" | "vi-complete" | "dabbrev-expand" => {
                self.choose(|at, count| at.map_or(0, |at| (at + 1) % count), host);
            }
            "menu-complete-backward" => self.choose(back_by(1), host),
            "next-history" | "next-screen-line" => {
                self.choose(|at, count| at.map_or(0, |at| if at + 1 < count { at + 1 } else { 0 }), host);
            }
            "previous-history" | "previous-screen-line" if begun => self.choose(back_by(1), host),
            // Candidates run down the columns.
            "forward-char" if begun => {
                self.choose(
                    |at, count| at.map_or(0, |at| if at + rows < count { at + rows } else { at % rows }),
                    host,
                );
            }
            "backward-char" if begun => self.choose(back_by(rows), host),
            "beginning-of-line" if begun => self.choose(|_, _| 0, host),
            "end-of-line" if begun => self.choose(|_, count| count - 1, host),
            "accept-line" if begun => {
                self.close_menu();
                return Some(Step::Edit);
            }
            "abort" | "vi-movement-mode" => {
                if let Some(menu) = self.menu.take() {
                    self.line.set(menu.base.0, menu.base.1);
                }
                return Some(Step::Edit);
            }
            _ => {
                self.close_menu();
                return None;
            }
        }
        self.last = name;
        Some(Step::Edit)
    }

    /// Chooses another candidate, and shows it in the line.
    fn choose(&mut self, which: impl Fn(Option<usize>, usize) -> usize, host: &mut dyn Host) {
        let Some(menu) = &mut self.menu else { return };
        let count = menu.candidates.len();
        if count == 0 {
            return;
        }
        let chosen = which(menu.chosen, count).min(count - 1);
        menu.chosen = Some(chosen);
        let (text, point) = menu.base.clone();
        if let Some(insertion) = host.insertion(&text, point, Choice::One(chosen)) {
            let mut shown = text;
            let point = insertion.range.start + insertion.text.len();
            if shown.get(insertion.range.clone()).is_some() {
                shown.replace_range(insertion.range, &insertion.text);
                self.line.set(shown, point);
            }
        }
    }

    pub(crate) fn close_menu(&mut self) {
        self.menu = None;
    }
}

/// So many candidates back; from the first to the last.
fn back_by(steps: usize) -> impl Fn(Option<usize>, usize) -> usize {
    move |at, count| match at {
        Some(at) if at >= steps => at - steps,
        _ => count - 1,
    }
}

/// How the menu is laid out in so many columns of the screen: columns of candidates, their width, and rows.
pub(crate) fn arrangement(candidates: &[Candidate], width: usize) -> (usize, usize, usize) {
    use unicode_width::UnicodeWidthStr;
    let described = candidates.iter().any(|candidate| !candidate.description.is_empty());
    let name = candidates.iter().map(|candidate| candidate.name.width()).max().unwrap_or(0);
    let whole = candidates.iter().map(|candidate| match candidate.description.width() {
        0 => candidate.name.width(),
        length => name + 3 + length,
    });
    let cell = whole.max().unwrap_or(0).clamp(1, width.saturating_sub(2).max(1)) + 2;
    let fits = (width / cell).max(1);
    let columns = if described { fits.min(2) } else { fits };
    let rows = candidates.len().div_ceil(columns);
    // Fewer columns where a few rows hold all.
    let columns = if rows <= 1 { candidates.len().clamp(1, columns) } else { columns };
    (columns, cell, rows.min(limits::MENU_ROWS_MAX))
}
