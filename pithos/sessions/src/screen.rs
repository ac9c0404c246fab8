//! What a full-screen program has drawn: a model of the terminal of a run, fed with everything that the run writes. Invariant: a model that fails on some
//! output is gone and says so; the run goes on.

use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::limits::SCREEN_CELLS_MAX;
use crate::stream::TerminalSize;

/// The screen of a terminal.
pub struct Screen {
    parser: Option<vt100::Parser>,
    missing: &'static str,
}

/// A look at a screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    /// The lines from top to bottom, without what is blank at their ends.
    pub text: String,
    /// The line of the cursor, from 0.
    pub row: u16,
    /// Its column, from 0.
    pub column: u16,
    /// Whether the program has switched to the screen that full-screen programs use.
    pub alternate: bool,
}

impl Screen {
    pub(crate) fn new(size: TerminalSize) -> Self {
        match modelled(size) {
            Some((rows, columns)) => Self { parser: Some(vt100::Parser::new(rows, columns, 0)), missing: "" },
            None => Self { parser: None, missing: "the terminal is too large for a model of its screen" },
        }
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) {
        self.attempt(|parser| {
            // Line ends come as from a pipe: the terminal adds no carriage returns, so the model has to.
            for line in bytes.split_inclusive(|byte| *byte == b'\n') {
                match line.strip_suffix(b"\n") {
                    Some(text) => {
                        parser.process(text);
                        parser.process(b"\r\n");
                    }
                    None => parser.process(line),
                }
            }
        });
    }

    pub(crate) fn resize(&mut self, size: TerminalSize) {
        match modelled(size) {
            Some((rows, columns)) => self.attempt(|parser| parser.screen_mut().set_size(rows, columns)),
            None => *self = Self::new(size),
        }
    }

    /// The screen as it is now.
    ///
    /// # Errors
    /// Why there is no model of it.
    pub fn view(&self) -> Result<View, &'static str> {
        let screen = self.parser.as_ref().ok_or(self.missing)?.screen();
        let (row, column) = screen.cursor_position();
        Ok(View { text: screen.contents(), row, column, alternate: screen.alternate_screen() })
    }

    /// Its lines with their colours, as control sequences; none when there is no model of it.
    pub(crate) fn painted(&self) -> Option<Vec<String>> {
        let screen = self.parser.as_ref()?.screen();
        let (rows, columns) = screen.size();
        Some((0..rows.get()).map(|row| line(screen, row, columns.get())).collect())
    }

    /// The model is somebody else's code over hostile bytes.
    fn attempt(&mut self, work: impl FnOnce(&mut vt100::Parser)) {
        let Some(parser) = &mut self.parser else { return };
        if catch_unwind(AssertUnwindSafe(|| work(parser))).is_err() {
            *self = Self {
                parser: None,
                missing: "the model of the screen failed on something that the run wrote",
            };
        }
    }
}

/// A line of a screen, each change of its look before the text that has it.
fn line(screen: &vt100::Screen, row: u16, columns: u16) -> String {
    let (mut text, mut look, mut blanks) = (String::new(), String::new(), 0);
    for cell in (0..columns).filter_map(|column| screen.cell(row, column)) {
        if cell.is_wide_continuation() {
            continue;
        }
        let new = look_of(cell);
        // What is blank at the end is left away.
        if !cell.has_contents() && new.is_empty() {
            blanks += 1;
            continue;
        }
        if blanks > 0 && !look.is_empty() {
            text.push_str("\x1b[0m");
            look.clear();
        }
        text.extend(std::iter::repeat_n(' ', std::mem::take(&mut blanks)));
        if new != look {
            text.push_str(&format!("\x1b[0{new}m"));
            look = new;
        }
        text.push_str(if cell.has_contents() { cell.contents() } else { " " });
    }
    text
}

/// The parameters of a cell's look, each after a semicolon; nothing for what is plain.
fn look_of(cell: &vt100::Cell) -> String {
    let flags =
        [(cell.bold(), 1), (cell.dim(), 2), (cell.italic(), 3), (cell.underline(), 4), (cell.inverse(), 7)];
    let mut look: String =
        flags.iter().filter(|(set, _)| *set).map(|(_, number)| format!(";{number}")).collect();
    for (colour, base) in [(cell.fgcolor(), 38), (cell.bgcolor(), 48)] {
        match colour {
            vt100::Color::Default => {}
            vt100::Color::Idx(index) => look.push_str(&format!(";{base};5;{index}")),
            vt100::Color::Rgb(red, green, blue) => {
                look.push_str(&format!(";{base};2;{red};{green};{blue}"));
            }
        }
    }
    look
}

/// Rows and columns of a terminal that can be modelled.
fn modelled(size: TerminalSize) -> Option<(NonZero<u16>, NonZero<u16>)> {
    let cells = usize::from(size.rows) * usize::from(size.columns);
    NonZero::new(size.rows).zip(NonZero::new(size.columns)).filter(|_| cells <= SCREEN_CELLS_MAX)
}

#[cfg(test)]
mod tests {
    use super::Screen;
    use crate::stream::TerminalSize;

    const SIZE: TerminalSize = TerminalSize { columns: 20, rows: 4 };

    #[test]
    fn what_was_drawn_is_what_is_shown() {
        let mut screen = Screen::new(SIZE);
        screen.write(b"one\ntwo\n\x1b[1;1HO\x1b[3;5Hhere");
        let view = screen.view().expect("a model");
        assert_eq!((view.text.as_str(), view.row, view.column), ("One\ntwo\n    here", 2, 8));
        screen.write(b"\x1b[?1049h\x1b[2Jfull");
        assert!(screen.view().expect("a model").alternate);
        screen.write(b"\x1b[?1049l");
        assert!(screen.view().expect("a model").text.starts_with("One"));
        screen.resize(TerminalSize { columns: 10, rows: 2 });
        assert!(screen.view().is_ok());
        assert!(Screen::new(TerminalSize { columns: 1000, rows: 1000 }).view().is_err());
    }

    #[test]
    fn colours_are_painted_and_nothing_else_is_a_sequence() {
        let mut screen = Screen::new(SIZE);
        screen.write(b"a \x1b[1;31mred\x1b[0m b\x1b[42mc\x1b[0m\x1b[2Cd\n\x1b[48;5;20m\xe4\xb8\xad\x1b]52;c;eA==\x07\x1b[5;5Hx");
        let painted = screen.painted().expect("a model");
        assert_eq!(painted[0], "a \x1b[0;1;38;5;1mred\x1b[0m b\x1b[0;48;5;2mc\x1b[0m  d");
        assert_eq!(painted[1], "\x1b[0;48;5;20m中");
        assert_eq!(painted.len(), 4);
    }

    /// Whatever is written, and however the size changes: the model works or says that it has failed.
    #[test]
    fn no_bytes_break_the_run() {
        let mut seed = 0x1234_5678_u32;
        let mut next = |below: u32| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 8) % below
        };
        let pieces: [&[u8]; 12] = [
            b"\x1b[",
            b"99999",
            b";",
            b"H",
            b"\xe4\xb8\xad",
            b"\x1b[?1049h",
            b"\x1b[2K",
            b"L",
            b"\n",
            b"\x1b[3r",
            b"P",
            b"\xf0\x9f",
        ];
        for _ in 0..200 {
            let mut screen = Screen::new(SIZE);
            for _ in 0..100 {
                screen.write(pieces[next(12) as usize]);
                if next(20) == 0 {
                    screen.resize(TerminalSize { columns: next(30) as u16, rows: next(10) as u16 });
                }
                let _ = screen.view();
            }
        }
    }
}
