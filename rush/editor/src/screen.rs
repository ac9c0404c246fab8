//! What is on the screen, and the shortest way from there to what is to be: only cells that differ are written, and the cursor moves
//! relative to where it is, because nobody knows on which row of the terminal the prompt stands. A terminal without cursor movement has
//! one row, which is written anew behind a carriage return.

use crate::layout::{Cell, Frame, Row, Size, width};
use crate::style::Style;

/// What was drawn.
#[derive(Debug, Clone, Default)]
pub(crate) struct Screen {
    drawn: Frame,
    columns: usize,
    out: String,
    /// Where the cursor is while something is written.
    at: (usize, usize),
}

impl Screen {
    /// Nothing is drawn: the cursor is where the prompt begins.
    pub(crate) fn begin(&mut self) {
        *self = Screen { drawn: Frame { rows: vec![Row::new()], cursor: (0, 0) }, ..Screen::default() };
    }

    /// The bytes that make the screen look like `frame`.
    pub(crate) fn draw(&mut self, frame: Frame, size: Size) -> String {
        self.at = self.drawn.cursor;
        if self.columns != 0 && self.columns != size.columns {
            self.rewrapped(size.columns);
        }
        self.columns = size.columns;
        if self.drawn == frame {
            return std::mem::take(&mut self.out);
        }
        let drawn = std::mem::take(&mut self.drawn);
        let mut rows = drawn.rows.len();
        for (number, row) in frame.rows.iter().enumerate() {
            let old = drawn.rows.get(number);
            if old == Some(row) {
                continue;
            }
            self.go(number, 0, rows, old.is_none());
            rows = rows.max(number + 1);
            self.write_row(old.map_or(&[], Vec::as_slice), row, size);
        }
        if drawn.rows.len() > frame.rows.len() {
            self.go(frame.rows.len(), 0, rows, false);
            self.out.push_str("\x1b[J");
        }
        let (row, column) = frame.cursor;
        self.go(row, column, rows, true);
        self.drawn = frame;
        std::mem::take(&mut self.out)
    }

    /// The terminal has become narrower or wider: rows that were longer than it is now are several.
    fn rewrapped(&mut self, columns: usize) {
        let height = |cells: usize| cells.div_ceil(columns.max(1)).max(1);
        let (row, column) = self.drawn.cursor;
        let above: usize = self.drawn.rows.iter().take(row).map(|cells| height(width(cells))).sum();
        let up = above + column / columns.max(1);
        if up > 0 {
            self.out.push_str(&format!("\x1b[{up}A"));
        }
        self.out.push_str("\r\x1b[J");
        self.drawn = Frame { rows: vec![Row::new()], cursor: (0, 0) };
        self.at = (0, 0);
    }

    /// Moves the cursor; below the `rows` that there are by line breaks.
    fn go(&mut self, row: usize, column: usize, rows: usize, exactly: bool) {
        let bottom = rows.saturating_sub(1);
        if row < self.at.0 {
            self.out.push_str(&format!("\x1b[{}A", self.at.0 - row));
        } else if row > self.at.0 {
            let down = row.min(bottom).saturating_sub(self.at.0);
            if down > 0 {
                self.out.push_str(&format!("\x1b[{down}B"));
            }
            for _ in bottom.max(self.at.0 + down)..row {
                self.out.push_str("\r\n");
                self.at.1 = 0;
            }
        }
        self.at.0 = row;
        if self.at.1 != column || self.at.1 >= self.columns || exactly && column == 0 && self.at.1 != 0 {
            if column == 0 || self.at.1 >= self.columns || column < self.at.1 {
                self.out.push('\r');
                self.at.1 = 0;
            }
            if column > self.at.1 {
                self.out.push_str(&format!("\x1b[{}C", column - self.at.1));
            }
            self.at.1 = column;
        }
    }

    /// Writes the cells of a row that differ; the cursor is in its row.
    fn write_row(&mut self, old: &[Cell], row: &[Cell], size: Size) {
        let mut same = old.iter().zip(row).take_while(|(old, new)| old == new).count();
        let inside_prompt = |cells: &[Cell]| cells.iter().skip(same).any(|cell| cell.prompt);
        if inside_prompt(old) || inside_prompt(row) {
            same = 0;
        }
        let (kept, new) = row.split_at(same);
        let start = width(kept);
        self.go(self.at.0, start, self.at.0 + 1, true);
        let mut style = Style::Plain;
        for cell in new {
            if cell.style != style || !cell.before.is_empty() {
                if !style.sequence(size.colours).is_empty() {
                    self.out.push_str("\x1b[0m");
                }
                self.out.push_str(&cell.before);
                self.out.push_str(cell.style.sequence(size.colours));
                style = cell.style;
            }
            self.out.push_str(&cell.text);
            self.at.1 += cell.width;
        }
        if !style.sequence(size.colours).is_empty() {
            self.out.push_str("\x1b[0m");
        }
        if width(old) > width(row) && self.at.1 < size.columns {
            self.out.push_str("\x1b[K");
        }
    }

    /// The bytes that put the cursor behind everything, in a row of its own.
    pub(crate) fn leave(&mut self) -> String {
        let rows = self.drawn.rows.len();
        self.at = self.drawn.cursor;
        self.go(rows.saturating_sub(1), 0, rows, true);
        self.out.push_str("\r\n");
        std::mem::take(&mut self.out)
    }

    /// The bytes that take everything away; the cursor is where the prompt began.
    pub(crate) fn erase(&mut self) -> String {
        self.at = self.drawn.cursor;
        self.go(0, 0, self.drawn.rows.len(), true);
        self.out.push_str("\r\x1b[J");
        let out = std::mem::take(&mut self.out);
        self.begin();
        out
    }
}

/// The one row of a terminal without cursor movement.
#[derive(Debug, Clone, Default)]
pub(crate) struct OneRow {
    shown: String,
    cursor: usize,
}

impl OneRow {
    /// The bytes that show `text`, of which the cursor is at the character `cursor`.
    pub(crate) fn draw(&mut self, text: &str, cursor: usize, columns: usize) -> String {
        let room = columns.max(20) - 1;
        let left = cursor.saturating_sub(room.saturating_sub(1));
        let shown: String = text.chars().skip(left).take(room).collect();
        let cursor = cursor - left;
        let length = shown.chars().count();
        if shown == self.shown && cursor == self.cursor {
            return String::new();
        }
        let mut out = String::new();
        let appended =
            shown.strip_prefix(self.shown.as_str()).filter(|_| self.cursor == self.shown.chars().count());
        match appended {
            Some(more) => out.push_str(more),
            None => {
                out.push('\r');
                out.push_str(&shown);
                let blanks = self.shown.chars().count().saturating_sub(length);
                out.push_str(&" ".repeat(blanks));
                out.push_str(&"\u{8}".repeat(blanks));
            }
        }
        out.push_str(&"\u{8}".repeat(length - cursor.min(length)));
        (self.shown, self.cursor) = (shown, cursor);
        out
    }
}
