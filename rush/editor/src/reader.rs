//! Reads a line from the terminal: takes bytes, lets the editor answer them, and draws when nothing more waits to be read.

use std::time::{Duration, Instant};

use crate::editor::{Editor, Request, Settings, Step};
use crate::host::Host;
use crate::keys::Keys;
use crate::layout::{self, Prompt, Size};
use crate::limits;
use crate::screen::{OneRow, Screen};
use crate::terminal::{self, Input, RawMode};

/// A line that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// A whole one.
    Text(String),
    /// The end of the input, behind the beginning of a command or behind nothing.
    End(String),
    /// It was given up.
    Interrupted,
}

/// What the user wants to see.
#[derive(Debug, Clone, Default)]
pub struct View {
    /// The prompts.
    pub prompt: Prompt,
    /// What takes the prompt's place when the line is whole.
    pub transient: Option<String>,
    /// Whether the terminal can move its cursor.
    pub moves: bool,
    /// Whether colours are wanted.
    pub colours: bool,
    /// Whether the terminal is asked to mark what is pasted.
    pub marks_pastes: bool,
    /// Whether the bell is rung.
    pub bell: bool,
    /// How long a pause ends a key sequence.
    pub pause: Duration,
}

/// A host that also does what is done outside the editor.
pub trait Outside: Host {
    /// Carries a request out, with the terminal as commands have it; the line may be changed.
    fn carry_out(&mut self, request: &Request, text: &mut String, point: &mut usize) -> Step;
    /// The bindings and settings, if they have changed since the last time.
    fn configuration(&mut self) -> Option<(Keys, Settings)>;
    /// What is to be seen now.
    fn view(&mut self) -> View;
    /// Whether the signal that came gives the line up.
    fn interrupts(&mut self) -> bool;
}

/// Reads lines.
#[derive(Default)]
pub struct Reader {
    editor: Editor,
    screen: Screen,
    row: OneRow,
    /// How long the last drawing took.
    drawing: Duration,
}

const PASTES: (&str, &str) = ("\x1b[?2004h", "\x1b[?2004l");

impl Reader {
    /// Reads a line; `None` if the terminal cannot be set up.
    pub fn read_line(&mut self, host: &mut dyn Outside) -> Option<Line> {
        let mut view = host.view();
        let mut raw = Raw::enter(&view)?;
        self.configure(host, raw.mode.interrupt);
        self.editor.begin(as_host(host));
        self.screen.begin();
        self.row = OneRow::default();
        if !view.moves {
            let left = &view.prompt.left;
            terminal::write(&left[..left.rfind('\n').map_or(0, |at| at + 1)]);
        }
        let mut step = self.editor.resume(as_host(host));
        loop {
            match step {
                Step::Edit => {}
                Step::Accept => {
                    self.finish(host, &view, &mut raw, true);
                    return Some(Line::Text(self.editor.text().0.to_string()));
                }
                Step::Interrupted => {
                    self.finish(host, &view, &mut raw, false);
                    return Some(Line::Interrupted);
                }
                Step::End => {
                    let text = self.editor.text().0.to_string();
                    if !text.is_empty() {
                        self.finish(host, &view, &mut raw, false);
                    }
                    return Some(Line::End(text));
                }
                Step::Outside(request) => {
                    step = self.outside(host, &mut view, &mut raw, &request)?;
                    continue;
                }
            }
            step = self.answer(host, &view);
        }
    }

    fn configure(&mut self, host: &mut dyn Outside, interrupt: u8) {
        if let Some((keys, settings)) = host.configuration() {
            self.editor.configure(keys, Settings { interrupt, ..settings });
        }
    }

    /// Waits for a byte and answers it; what is on the screen is brought up to date first, unless a byte waits already.
    fn answer(&mut self, host: &mut dyn Outside, view: &View) -> Step {
        let mut input = terminal::read(Some(Duration::ZERO));
        if input == Input::Pause && self.drawing >= Duration::from_millis(limits::DRAWING_MS_MIN) {
            input = terminal::read(Some(self.drawing.min(Duration::from_millis(limits::DRAWING_MS_MAX))));
        }
        if input == Input::Pause {
            let begun = Instant::now();
            self.draw(host, view, false);
            self.drawing = begun.elapsed();
            let wait = self.editor.is_pending().then_some(view.pause);
            input = terminal::read(wait);
        }
        match input {
            Input::Byte(byte) => self.editor.feed(byte, as_host(host)),
            Input::Pause => self.editor.pause(as_host(host)),
            Input::Signal if host.interrupts() => Step::Interrupted,
            Input::Signal => Step::Edit,
            Input::End => Step::End,
        }
    }

    fn draw(&mut self, host: &mut dyn Outside, view: &View, last: bool) {
        if self.editor.take_bell() && view.bell {
            terminal::write("\x07");
        }
        let (columns, rows) = terminal::size();
        if !view.moves {
            return self.draw_row(view, columns);
        }
        let size = Size { columns, rows, colours: view.colours };
        if !last {
            layout::suggest(&mut self.editor, as_host(host));
        }
        let transient = view.transient.as_ref().filter(|_| last);
        let prompt = match transient {
            Some(left) => &Prompt { left: left.clone(), ..view.prompt.clone() },
            None => &view.prompt,
        };
        let frame = layout::frame(&mut self.editor, as_host(host), prompt, size, last);
        let out = self.screen.draw(frame, size);
        terminal::write(&out);
    }

    fn draw_row(&mut self, view: &View, columns: usize) {
        let (text, point) = self.editor.text();
        let start = text[..point].rfind('\n').map_or(0, |at| at + 1);
        let end = text[point..].find('\n').map_or(text.len(), |at| point + at);
        let prompt = match self.editor.asked() {
            Some(asked) => asked,
            None => layout::bare(if start > 0 { &view.prompt.continuation } else { &view.prompt.left }),
        };
        let cursor = prompt.chars().count() + text[start..point].chars().count();
        let shown = format!("{prompt}{}", &text[start..end]);
        terminal::write(&self.row.draw(&shown, cursor, columns));
    }

    /// The last look of a line, and the cursor behind it. The line break comes when the terminal is the command's: whoever sees it may type.
    fn finish(&mut self, host: &mut dyn Outside, view: &View, raw: &mut Raw, whole: bool) {
        self.draw(host, view, true);
        if !whole {
            terminal::write("^C");
        }
        let out = if view.moves { self.screen.leave() } else { "\r\n".into() };
        let behind = out.strip_suffix("\r\n").unwrap_or(&out);
        terminal::write(behind);
        raw.leave();
        terminal::write(&out[behind.len()..]);
    }

    /// Does something outside the editor: the line is taken from the screen meanwhile.
    fn outside(
        &mut self,
        host: &mut dyn Outside,
        view: &mut View,
        raw: &mut Raw,
        request: &Request,
    ) -> Option<Step> {
        if let Request::Clear(all) = request {
            terminal::write(if *all { "\x1b[H\x1b[2J\x1b[3J" } else { "\x1b[H\x1b[2J" });
            self.screen.begin();
            self.row = OneRow::default();
            return Some(Step::Edit);
        }
        self.draw(host, view, true);
        let erased = match (view.moves, request) {
            (true, Request::List(_)) => self.screen.leave(),
            (true, _) => self.screen.erase(),
            _ => "\r\n".into(),
        };
        terminal::write(&erased);
        raw.leave();
        let (text, mut point) = self.editor.text();
        let mut text = text.to_string();
        let before = text.clone();
        let step = host.carry_out(request, &mut text, &mut point);
        if before != text || point != self.editor.text().1 {
            self.editor.set_text(text, point);
        }
        *view = host.view();
        *raw = Raw::enter(view)?;
        self.configure(host, raw.mode.interrupt);
        self.screen.begin();
        self.row = OneRow::default();
        Some(step)
    }
}

fn as_host(host: &mut dyn Outside) -> &mut dyn Host {
    host
}

/// Raw mode, with the marks of pastes on.
struct Raw {
    mode: Mode,
    marks: bool,
}

struct Mode {
    interrupt: u8,
    raw: Option<RawMode>,
}

impl Raw {
    fn enter(view: &View) -> Option<Raw> {
        let raw = RawMode::enter()?;
        let marks = view.marks_pastes && view.moves;
        if marks {
            terminal::write(PASTES.0);
        }
        Some(Raw { mode: Mode { interrupt: raw.interrupt, raw: Some(raw) }, marks })
    }

    fn leave(&mut self) {
        if std::mem::take(&mut self.marks) {
            terminal::write(PASTES.1);
        }
        self.mode.raw = None;
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        self.leave();
    }
}
