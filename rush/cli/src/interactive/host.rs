//! The session as the line editor sees it: history, completion, colours, and the functions that need a shell.

use std::collections::HashMap;
use std::io::Write;

use pithos_rush_editor as edit;
use rush::builtins::completion::LineCompletion;
use rush::history::expansion::{self, Expansion};
use rush::interactive::EntryState;
use rush::state::options::SetOption;
use rush::{Bytes, Session, sys};

use super::editor::{keys, settings};
use super::highlight;

/// How many columns the value of a variable has in the menu.
const VALUE_SHOWN_MAX: usize = 40;

/// The session, while a line is edited.
pub(super) struct ShellHost<'a> {
    pub(super) session: &'a mut Session,
    view: edit::View,
    followed: &'a mut Option<(u64, bool)>,
    /// The last completion, of which candidates are put into the line.
    found: LineCompletion,
    /// Whether words are commands, and whether they are files: asked once for each line.
    pub(super) commands: HashMap<String, bool>,
    pub(super) paths: HashMap<String, bool>,
    /// Whether the text is commands, asked once for each text.
    state: Option<(String, EntryState)>,
}

impl<'a> ShellHost<'a> {
    pub(super) fn new(
        session: &'a mut Session,
        view: edit::View,
        followed: &'a mut Option<(u64, bool)>,
    ) -> ShellHost<'a> {
        ShellHost {
            session,
            view,
            followed,
            found: LineCompletion::default(),
            commands: HashMap::new(),
            paths: HashMap::new(),
            state: None,
        }
    }

    /// What the parser says of a text.
    pub(super) fn entry_state(&mut self, text: &str) -> EntryState {
        if let Some((known, state)) = &self.state
            && known == text
        {
            return *state;
        }
        let state = self.session.entry_state(&[text.as_bytes(), b"\n"].concat());
        self.state = Some((text.to_string(), state));
        state
    }

    /// What a candidate is, in a few words.
    fn describe(&mut self, kind: edit::Kind, name: &[u8], at_command: bool) -> String {
        let variable = name.strip_prefix(b"$").map(|name| name.strip_prefix(b"{").unwrap_or(name));
        if let Some(variable) = variable.or_else(|| (kind == edit::Kind::Variable).then_some(name)) {
            let variable = variable.strip_suffix(b"}").unwrap_or(variable).to_vec();
            let value = self.session.get(&variable).map(|value| String::from_utf8_lossy(&value).into_owned());
            return value.unwrap_or_default().chars().take(VALUE_SHOWN_MAX).collect();
        }
        if kind != edit::Kind::Command && !at_command {
            return String::new();
        }
        self.session.describe_command(name)
    }

    fn expand_history(&self, text: &[u8]) -> Option<Bytes> {
        match expansion::expand(text, &self.session.history_entries()) {
            Ok(Expansion::Changed(text) | Expansion::Shown(text)) => {
                Some(text.strip_suffix(b"\n").map(<[u8]>::to_vec).unwrap_or(text))
            }
            _ => None,
        }
    }

    /// The first word, if it is an alias.
    fn expand_alias(&self, line: &str) -> Option<String> {
        let start = line.len() - line.trim_start().len();
        let end = line[start..].find(char::is_whitespace).map_or(line.len(), |at| start + at);
        let value = self.session.aliases.get(&line.as_bytes()[start..end])?;
        Some([&line[..start], &String::from_utf8_lossy(value), &line[end..]].concat())
    }

    /// `~` at the beginning of the word at the cursor.
    fn expand_tilde(&mut self, line: &str, point: usize) -> Option<(String, usize)> {
        let before = line[..point].trim_end();
        let start = before.rfind(char::is_whitespace).map_or(0, |at| at + 1);
        let end = line[start..].find(['/', ' ', '\t', '\n']).map_or(line.len(), |at| start + at);
        let name = line[start..end].strip_prefix('~')?;
        let home = if name.is_empty() {
            self.session.get(b"HOME").map(|home| home.into_owned())
        } else {
            sys::home_directory(Some(name.as_bytes()))
        };
        let home = String::from_utf8_lossy(&home?).into_owned();
        let text = [&line[..start], &home, &line[end..]].concat();
        let moved = if point > end { point + home.len() - (end - start) } else { start + home.len() };
        Some((text, moved))
    }
}

impl edit::History for ShellHost<'_> {
    fn count(&self) -> usize {
        self.session.history_entries().list.len()
    }

    fn entry(&self, index: usize) -> &[u8] {
        self.session.history_entries().list.get(index).map_or(&[], |entry| &entry.text)
    }

    fn generation(&self) -> u64 {
        self.session.history_generation()
    }
}

impl edit::Host for ShellHost<'_> {
    fn complete(&mut self, line: &str, point: usize, kind: edit::Kind) -> Vec<edit::Candidate> {
        let bytes = line.as_bytes();
        self.found = match kind {
            edit::Kind::Any => self.session.complete_line(bytes, point),
            edit::Kind::Command => self.session.complete_word(bytes, point, "command"),
            edit::Kind::File => self.session.complete_word(bytes, point, "file"),
            edit::Kind::Host => self.session.complete_word(bytes, point, "hostname"),
            edit::Kind::User => self.session.complete_word(bytes, point, "user"),
            edit::Kind::Variable => self.session.complete_word(bytes, point, "variable"),
            edit::Kind::Pattern => self.session.complete_word(bytes, point, "glob"),
            edit::Kind::History => history_words(self.session, line, point),
        };
        let at_command = kind == edit::Kind::Any && highlight::at_command(&line[..point]);
        let candidates = self.found.candidates.clone();
        let shown = candidates.iter().map(|candidate| {
            let text = String::from_utf8_lossy(candidate).into_owned();
            let name = if self.found.files {
                let name = text.trim_end_matches('/').rsplit('/').next().unwrap_or(&text);
                let folder = std::path::Path::new(&text).is_dir();
                if folder { format!("{name}/") } else { name.to_string() }
            } else {
                text
            };
            let description = self.describe(kind, candidate, at_command && !self.found.files);
            edit::Candidate { name, description }
        });
        shown.collect()
    }

    fn insertion(&mut self, line: &str, point: usize, choice: edit::Choice) -> Option<edit::Insertion> {
        let bytes = line.as_bytes();
        let found = self.found.clone();
        let many =
            |text: Bytes| rush::builtins::completion::Insertion { start: found.start, end: point, text };
        let insertion = match choice {
            edit::Choice::Common => self.session.completion_insertion(&found, bytes, point)?,
            edit::Choice::One(at) => {
                self.session.candidate_insertion(&found, bytes, point, found.candidates.get(at)?)
            }
            edit::Choice::All => {
                let words = found.candidates.iter().map(|word| found.beginning(bytes, point, word).text);
                many([words.collect::<Vec<_>>().join(&b' '), b" ".to_vec()].concat())
            }
            edit::Choice::Braces => {
                let common = found.common();
                let rests: Vec<&[u8]> = found
                    .candidates
                    .iter()
                    .map(|word| word.get(common.len()..).unwrap_or_default())
                    .collect();
                many([&common[..], b"{", &rests.join(&b','), b"}"].concat())
            }
        };
        let text = String::from_utf8_lossy(&insertion.text).into_owned();
        Some(edit::Insertion { range: insertion.start..insertion.end, text })
    }

    /// The rest of the only candidate; functions of the user's are not run for what nobody asked for.
    fn suggest(&mut self, line: &str) -> Option<String> {
        if line.ends_with(char::is_whitespace) {
            return None;
        }
        let word = line
            .rsplit(char::is_whitespace)
            .next()
            .filter(|word| word.contains('/') && !word.contains(['\'', '"', '$', '\\']))?;
        let found = self.session.complete_word(line.as_bytes(), line.len(), "file");
        let [only] = &found.candidates[..] else { return None };
        let only = String::from_utf8_lossy(only).into_owned();
        only.strip_prefix(word).filter(|rest| !rest.contains([' ', '\n'])).map(str::to_string)
    }

    fn highlight(&mut self, line: &str) -> Vec<edit::Span> {
        if self.view.colours { highlight::spans(self, line) } else { Vec::new() }
    }

    fn transform(&mut self, function: &str, line: &str, point: usize) -> Option<(String, usize)> {
        let text = |bytes: Bytes| String::from_utf8_lossy(&bytes).into_owned();
        let changed = match function {
            "alias-expand-line" => self.expand_alias(line)?,
            "history-expand-line" => text(self.expand_history(line.as_bytes())?),
            "magic-space" => {
                let before = text(self.expand_history(&line.as_bytes()[..point])?);
                let moved = before.len();
                return Some((before + &line[point..], moved));
            }
            "history-and-alias-expand-line" | "shell-expand-line" => {
                let expanded = self.expand_history(line.as_bytes()).map_or_else(|| line.to_string(), text);
                let expanded = self.expand_alias(&expanded).unwrap_or(expanded);
                if function == "shell-expand-line" {
                    text(self.session.expand_line(expanded.as_bytes())?)
                } else {
                    expanded
                }
            }
            "spell-correct-word" => {
                let start = line[..point].rfind(char::is_whitespace).map_or(0, |at| at + 1);
                let right = text(self.session.nearest_path(&line.as_bytes()[start..point])?);
                let moved = start + right.len();
                return Some(([&line[..start], &right, &line[point..]].concat(), moved));
            }
            _ => return self.expand_tilde(line, point),
        };
        let end = changed.len();
        Some((changed, end))
    }

    fn abbreviation(&mut self, line: &str, point: usize) -> Option<edit::Insertion> {
        if !self.session.has_abbreviations() {
            return None;
        }
        let before = line.get(..point)?;
        let start = before.rfind(|c: char| c.is_whitespace() || ";|&(".contains(c)).map_or(0, |at| at + 1);
        let word = &before[start..];
        let text = self.session.abbreviation(word.as_bytes(), highlight::at_command(&before[..start]))?;
        Some(edit::Insertion { range: start..point, text: String::from_utf8_lossy(text).into_owned() })
    }

    fn needs_more(&mut self, text: &str) -> bool {
        !text.trim().is_empty() && self.entry_state(text) == EntryState::Unfinished
    }
}

impl edit::Outside for ShellHost<'_> {
    fn carry_out(&mut self, request: &edit::Request, text: &mut String, point: &mut usize) -> edit::Step {
        self.commands.clear();
        self.paths.clear();
        let name = match request {
            edit::Request::Command(command) => {
                run_command(self.session, command, text, point);
                return edit::Step::Edit;
            }
            edit::Request::List(names) => {
                list(names);
                return edit::Step::Edit;
            }
            edit::Request::Clear(_) => return edit::Step::Edit,
            edit::Request::Function(name) => *name,
        };
        match name {
            "display-shell-version" => {
                let line = format!("rush, compatible with GNU bash, version {}\n", rush::VERSION);
                self.session.write_err(line.as_bytes());
            }
            "edit-and-execute-command" | "vi-edit-and-execute-command" => {
                let editor = self.session.visual_editor();
                if let Ok(Some(edited)) = self.session.edit_text(&editor, &[text.as_bytes(), b"\n"].concat())
                {
                    *text = String::from_utf8_lossy(&edited).trim_end_matches('\n').to_string();
                    *point = text.len();
                    return edit::Step::Accept;
                }
            }
            "emacs-editing-mode" => self.session.change_option(SetOption::Emacs, true),
            "vi-editing-mode" => self.session.change_option(SetOption::Vi, true),
            "re-read-init-file" => self.session.read_init_file_again(),
            "dump-functions" => drop(self.session.run_entry(b"bind -P")),
            "dump-macros" => drop(self.session.run_entry(b"bind -S")),
            "dump-variables" => drop(self.session.run_entry(b"bind -V")),
            _ => {}
        }
        edit::Step::Edit
    }

    fn configuration(&mut self) -> Option<(edit::Keys, edit::Settings)> {
        let now = (self.session.bindings().generation, self.session.is(SetOption::Vi));
        if *self.followed == Some(now) {
            return None;
        }
        *self.followed = Some(now);
        let settings = settings(self.session, self.view.moves, self.view.colours);
        Some((keys(self.session.bindings()), settings))
    }

    fn view(&mut self) -> edit::View {
        self.view.clone()
    }

    fn interrupts(&mut self) -> bool {
        sys::interrupt_pending() || sys::fatal_pending().is_some()
    }
}

/// Words of the history that begin like the one at the cursor.
fn history_words(session: &Session, line: &str, point: usize) -> LineCompletion {
    let start = line[..point].rfind(char::is_whitespace).map_or(0, |at| at + 1);
    let word = &line.as_bytes()[start..point];
    let mut found = LineCompletion { start, ..LineCompletion::default() };
    let mut seen = std::collections::HashSet::new();
    for entry in session.history_entries().list.iter().rev() {
        let words =
            entry.text.split(u8::is_ascii_whitespace).filter(|w| w.len() > word.len() && w.starts_with(word));
        found.candidates.extend(words.filter(|w| seen.insert(*w)).map(<[u8]>::to_vec));
    }
    found
}

/// Runs a command that is bound to a key, which can see and change the line.
fn run_command(session: &mut Session, command: &[u8], text: &mut String, point: &mut usize) {
    let characters = text.get(..*point).unwrap_or(text).chars().count();
    let _ = session.set(b"READLINE_LINE", text.clone().into_bytes());
    let _ = session.set(b"READLINE_POINT", characters.to_string().into_bytes());
    let status = session.status;
    let _ = session.run_entry(command);
    session.status = status;
    let mut value = |name: &[u8]| session.get(name).map(|value| String::from_utf8_lossy(&value).into_owned());
    *text = value(b"READLINE_LINE").unwrap_or_default();
    let characters = value(b"READLINE_POINT").and_then(|point| point.parse().ok()).unwrap_or(0);
    *point = text.char_indices().nth(characters).map_or(text.len(), |(at, _)| at);
    for name in [&b"READLINE_LINE"[..], b"READLINE_POINT"] {
        let id = session.variables.intern(name);
        session.variables.unset(id, None);
    }
}

/// Candidates in columns, for a terminal that has no menu.
fn list(names: &[String]) {
    let widest = names.iter().map(|name| name.chars().count()).max().unwrap_or(0) + 2;
    let columns = (80 / widest).max(1);
    let rows = names.len().div_ceil(columns);
    let mut out = String::new();
    for row in 0..rows {
        for name in names.iter().skip(row).step_by(rows) {
            out.push_str(name);
            out.push_str(&" ".repeat(widest - name.chars().count()));
        }
        out.truncate(out.trim_end().len());
        out.push('\n');
    }
    let _ = std::io::stderr().write_all(out.as_bytes());
}
