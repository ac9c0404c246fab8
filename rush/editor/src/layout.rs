//! What the screen is to look like: prompt, line, suggestion, and whatever stands below, as rows of cells, and where the cursor is.
//! Pure: sizes and texts in, rows out.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use crate::completing;
use crate::editor::{Editor, Settings};
use crate::host::{Host, Span};
use crate::keys::Keymap;
use crate::limits;
use crate::style::Style;

/// The prompts of a line. What stands between the bytes 1 and 2, and control sequences, take no room.
#[derive(Debug, Clone, Default)]
pub struct Prompt {
    /// Before the line.
    pub left: String,
    /// At the right end of its first row.
    pub right: String,
    /// Before each further row of text.
    pub continuation: String,
}

/// The size of the terminal, and whether it has colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Columns.
    pub columns: usize,
    /// Rows.
    pub rows: usize,
    /// Whether colours are wanted.
    pub colours: bool,
}

/// What stands at one place of a row.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Cell {
    /// Control sequences before it.
    pub(crate) before: String,
    pub(crate) text: String,
    pub(crate) width: usize,
    pub(crate) style: Style,
    /// Whether it is the prompt's, whose sequences are written only whole.
    pub(crate) prompt: bool,
}

pub(crate) type Row = Vec<Cell>;

/// What the screen is to look like.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) rows: Vec<Row>,
    /// The row and the column of the cursor.
    pub(crate) cursor: (usize, usize),
}

pub(crate) fn width(row: &[Cell]) -> usize {
    row.iter().map(|cell| cell.width).sum()
}

/// Rows that are being filled.
struct Writer {
    rows: Vec<Row>,
    column: usize,
    columns: usize,
    /// Sequences that wait for the next cell.
    waiting: String,
    /// The colours that the prompt has set.
    active: String,
}

impl Writer {
    fn new(columns: usize) -> Writer {
        Writer {
            rows: vec![Row::new()],
            column: 0,
            columns: columns.max(2),
            waiting: String::new(),
            active: String::new(),
        }
    }

    fn new_row(&mut self) {
        self.flush();
        self.rows.push(Row::new());
        self.column = 0;
        self.waiting = self.active.clone();
    }

    /// Sequences at the end of a row stand in a cell without width.
    fn flush(&mut self) {
        if !self.waiting.is_empty() {
            let before = std::mem::take(&mut self.waiting);
            self.put(Cell { before, prompt: true, ..Cell::default() });
        }
    }

    fn put(&mut self, mut cell: Cell) {
        if self.column + cell.width > self.columns {
            let waiting = std::mem::take(&mut self.waiting);
            self.new_row();
            self.waiting.push_str(&waiting);
        }
        cell.before.insert_str(0, &std::mem::take(&mut self.waiting));
        self.column += cell.width;
        if let Some(row) = self.rows.last_mut() {
            row.push(cell);
        }
    }

    /// Text that is shown as it is, but for control characters.
    fn text(&mut self, grapheme: &str, style: Style, prompt: bool) {
        if grapheme == "\t" {
            let next = (self.column / 8 + 1) * 8;
            for _ in self.column..next.min(self.columns) {
                self.put(Cell { text: " ".into(), width: 1, style, prompt, ..Cell::default() });
            }
            return;
        }
        let first = grapheme.chars().next().unwrap_or(' ');
        let shown = match first {
            '\0'..='\x1f' => format!("^{}", char::from(first as u8 + 64)),
            '\x7f' => "^?".to_string(),
            '\u{80}'..='\u{9f}' => format!("\\{:o}", first as u32),
            _ => grapheme.to_string(),
        };
        if shown.len() > 1 && shown.is_ascii() {
            for character in shown.chars() {
                self.put(Cell { text: character.to_string(), width: 1, style, prompt, ..Cell::default() });
            }
            return;
        }
        let width = shown.width().min(self.columns);
        self.put(Cell { text: shown, width, style, prompt, ..Cell::default() });
    }

    fn words(&mut self, text: &str, style: Style) {
        for grapheme in text.graphemes(true) {
            self.text(if grapheme == "\n" { "⏎" } else { grapheme }, style, false);
        }
    }

    /// A prompt: text, control sequences, marks.
    fn prompt(&mut self, prompt: &str) {
        let mut rest = prompt;
        let mut hidden = false;
        while let Some(first) = rest.chars().next() {
            let length = match first {
                '\u{1}' | '\u{2}' => {
                    hidden = first == '\u{1}';
                    1
                }
                '\u{1b}' => sequence_length(rest),
                _ => rest.graphemes(true).next().map_or(1, str::len),
            };
            let (part, after) = rest.split_at(length);
            rest = after;
            match first {
                '\u{1}' | '\u{2}' => {}
                '\u{1b}' => {
                    self.waiting.push_str(part);
                    if part == "\x1b[0m" || part == "\x1b[m" {
                        self.active.clear();
                    } else if part.starts_with("\x1b[") && part.ends_with('m') {
                        self.active.push_str(part);
                    }
                }
                _ if hidden => self.waiting.push_str(part),
                '\n' => self.new_row(),
                '\r' | '\u{7}' => {}
                _ => self.text(part, Style::Plain, true),
            }
        }
        if !self.active.is_empty() {
            self.waiting.push_str("\x1b[0m");
            self.active.clear();
        }
        self.flush();
    }

    /// Where the next character comes.
    fn place(&mut self) -> (usize, usize) {
        if self.column >= self.columns {
            self.new_row();
        }
        (self.rows.len() - 1, self.column)
    }
}

/// How long a control sequence is.
fn sequence_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let end = match bytes.get(1) {
        Some(b'[') => bytes.iter().skip(2).position(|byte| (0x40..0x7f).contains(byte)).map(|at| at + 3),
        Some(b']') => {
            let bell = text.find('\u{7}').map(|at| at + 1);
            let terminator = text.find("\x1b\\").map(|at| at + 2);
            bell.into_iter().chain(terminator).min()
        }
        Some(byte) if byte.is_ascii() => Some(2),
        _ => Some(1),
    };
    end.unwrap_or(bytes.len())
}

/// The prompt without what takes no room, for terminals that have one row only.
pub(crate) fn bare(prompt: &str) -> String {
    let mut writer = Writer::new(usize::MAX);
    writer.prompt(prompt);
    writer.rows.last().map(|row| row.iter().map(|cell| cell.text.as_str()).collect()).unwrap_or_default()
}

/// What the prompt says about the mode.
fn mode(settings: &Settings, keymap: Keymap) -> &str {
    settings.mode_strings.as_ref().and_then(|strings| strings.get(keymap as usize)).map_or("", String::as_str)
}

/// Asks for the rest of the line, if one is to be suggested.
pub(crate) fn suggest(editor: &mut Editor, host: &mut dyn Host) {
    let wanted = editor.settings.suggestions
        && !editor.line.is_empty()
        && editor.line.after().is_empty()
        && !editor.line.text().contains('\n')
        && editor.search.is_none()
        && editor.menu.is_none()
        && editor.asking.is_none()
        && editor.keymap != Keymap::ViCommand;
    editor.suggestion.clear();
    if !wanted {
        return;
    }
    let line = editor.line.text().to_string();
    editor.suggestion = match editor.index.suggestion(host, &line) {
        Some(index) => {
            String::from_utf8_lossy(host.entry(index).get(line.len()..).unwrap_or_default()).into_owned()
        }
        None => host.suggest(&line).unwrap_or_default(),
    };
}

/// The screen for a line that is edited; `last` for one that is whole.
pub(crate) fn frame(
    editor: &mut Editor,
    host: &mut dyn Host,
    prompt: &Prompt,
    size: Size,
    last: bool,
) -> Frame {
    let mut writer = Writer::new(size.columns);
    let split = prompt.left.rfind('\n').map_or(0, |at| at + 1);
    writer.prompt(&prompt.left[..split]);
    writer.prompt(mode(&editor.settings, editor.keymap));
    writer.prompt(&prompt.left[split..]);
    let first = writer.rows.len() - 1;
    let mut cursor = line(&mut writer, editor, host, &prompt.continuation, last);
    let text_rows = writer.rows.len();
    if !last {
        for grapheme in editor.suggestion.graphemes(true) {
            writer.text(grapheme, Style::Suggestion, false);
        }
        right_prompt(&mut writer, &prompt.right, first, size.columns);
        let room = size.rows.saturating_sub(text_rows.min(size.rows / 2)).max(2) - 1;
        if let Some(place) = below(&mut writer, editor, host, room) {
            cursor = place;
        }
    }
    crop(Frame { rows: writer.rows, cursor }, size.rows)
}

/// The text of the line; where the cursor is.
fn line(
    writer: &mut Writer,
    editor: &Editor,
    host: &mut dyn Host,
    continuation: &str,
    last: bool,
) -> (usize, usize) {
    let (text, point) = editor.text();
    // Of a text beyond all screens only what is around the cursor is looked at.
    let start = if text.len() > limits::SHOWN_BYTES_MAX {
        editor.line.boundary(point.saturating_sub(limits::SHOWN_BYTES_MAX / 2))
    } else {
        0
    };
    let end = editor.line.boundary((start + limits::SHOWN_BYTES_MAX).min(text.len()));
    let spans = if end - start == text.len() { host.highlight(text) } else { Vec::new() };
    let region = if editor.line.region && !last { editor.line.region() } else { 0..0 };
    let mut spans = spans.iter().peekable();
    let mut cursor = None;
    for (offset, grapheme) in text[start..end].grapheme_indices(true) {
        let at = start + offset;
        if at == point {
            cursor = Some(writer.place());
        }
        if grapheme == "\n" || grapheme == "\r\n" {
            writer.new_row();
            writer.prompt(continuation);
            continue;
        }
        let style = if region.contains(&at) { Style::Selected } else { style_at(&mut spans, at) };
        writer.text(grapheme, style, false);
    }
    cursor.unwrap_or_else(|| writer.place())
}

fn style_at<'a>(spans: &mut std::iter::Peekable<impl Iterator<Item = &'a Span>>, at: usize) -> Style {
    while spans.next_if(|span| span.range.end <= at).is_some() {}
    spans.peek().filter(|span| span.range.contains(&at)).map_or(Style::Plain, |span| span.style)
}

/// Puts the right prompt at the end of the row, if there is room.
fn right_prompt(writer: &mut Writer, prompt: &str, row: usize, columns: usize) {
    if prompt.is_empty() {
        return;
    }
    let mut right = Writer::new(columns);
    right.prompt(prompt);
    let Some(cells) = right.rows.into_iter().next() else { return };
    let Some(row) = writer.rows.get_mut(row) else { return };
    let used = width(row) + width(&cells);
    if used + 2 <= columns {
        let blank = Cell { text: " ".into(), width: 1, ..Cell::default() };
        row.extend(std::iter::repeat_n(blank, columns - 1 - used));
        row.extend(cells);
    }
}

/// What stands below the line; the cursor's place, if it is there.
fn below(writer: &mut Writer, editor: &mut Editor, host: &dyn Host, room: usize) -> Option<(usize, usize)> {
    if let Some(asking) = &editor.asking {
        writer.new_row();
        writer.words(&format!("{}{}", asking.prompt, asking.text), Style::Plain);
        return Some(writer.place());
    }
    if editor.search.is_some() {
        search_list(writer, editor, host, room);
    } else if editor.menu.is_some() {
        menu(writer, editor, room);
    } else if !editor.message.is_empty() {
        writer.new_row();
        writer.words(&editor.message, Style::Description);
    }
    None
}

/// The entries that a search found.
fn search_list(writer: &mut Writer, editor: &Editor, host: &dyn Host, room: usize) {
    let Some(search) = &editor.search else { return };
    let failed = search.hits.is_empty() && !search.query.is_empty();
    let name = match (failed, search.forward) {
        (true, _) => "failed search",
        (false, true) => "i-search",
        (false, false) => "reverse-i-search",
    };
    writer.new_row();
    writer.words(&format!("({name})`"), Style::Description);
    writer.words(&search.query, Style::Plain);
    writer.words("'", Style::Description);
    let rows = room.saturating_sub(1).clamp(1, limits::SEARCH_ROWS);
    let top = (search.chosen + 1).saturating_sub(rows);
    for (number, hit) in search.hits.iter().enumerate().skip(top).take(rows) {
        writer.new_row();
        let chosen = number == search.chosen && !search.query.is_empty();
        let text = String::from_utf8_lossy(host.entry(hit.index)).into_owned();
        for (at, grapheme) in text.grapheme_indices(true) {
            if writer.column + 2 >= writer.columns {
                break;
            }
            let style = match hit.parts.iter().any(|part| part.contains(&at)) {
                _ if chosen => Style::Selected,
                true => Style::Match,
                false => Style::Plain,
            };
            writer.text(if grapheme == "\n" { "⏎" } else { grapheme }, style, false);
        }
    }
}

/// The candidates of a completion.
fn menu(writer: &mut Writer, editor: &mut Editor, room: usize) {
    let Some(menu) = &mut editor.menu else { return };
    let (columns, cell, rows) = completing::arrangement(&menu.candidates, writer.columns);
    menu.columns = columns;
    let all = menu.candidates.len().div_ceil(columns);
    let mut rows = rows.min(room).max(1);
    if all > rows {
        rows = (rows - 1).max(1);
    }
    let chosen_row = menu.chosen.map_or(0, |chosen| chosen % all);
    let top = (chosen_row + 1).saturating_sub(rows).min(all - rows.min(all));
    let names = menu.candidates.iter().map(|candidate| candidate.name.width()).max().unwrap_or(0);
    for row in top..(top + rows).min(all) {
        writer.new_row();
        for column in 0..columns {
            let Some(candidate) = menu.candidates.get(column * all + row) else { break };
            let style = if menu.chosen == Some(column * all + row) { Style::Selected } else { Style::Plain };
            let start = column * cell;
            while writer.column < start {
                writer.text(" ", Style::Plain, false);
            }
            let end = (start + cell - 2).min(writer.columns - 1);
            words_up_to(writer, &candidate.name, style, end);
            if !candidate.description.is_empty() {
                while writer.column < (start + names + 2).min(end) {
                    writer.text(" ", Style::Plain, false);
                }
                words_up_to(writer, &format!("({})", candidate.description), Style::Description, end);
            }
        }
    }
    if all > rows {
        writer.new_row();
        let last = (top + rows).min(all);
        writer.words(&format!("rows {} to {last} of {all}", top + 1), Style::Description);
    }
}

/// As much of a text as fits before a column.
fn words_up_to(writer: &mut Writer, text: &str, style: Style, end: usize) {
    let fits = writer.column + text.width() <= end;
    for grapheme in text.graphemes(true) {
        let room = if fits { 0 } else { 1 };
        if writer.column + grapheme.width() + room > end {
            writer.text("…", style, false);
            break;
        }
        writer.text(if grapheme == "\n" { "⏎" } else { grapheme }, style, false);
    }
}

/// The rows that fit on the screen, with the cursor among them.
fn crop(frame: Frame, rows: usize) -> Frame {
    let rows = rows.max(1);
    if frame.rows.len() <= rows {
        return frame;
    }
    let (row, column) = frame.cursor;
    let top = (row + 1).saturating_sub(rows).max(row.saturating_sub(rows / 2)).min(frame.rows.len() - rows);
    let rows = frame.rows.into_iter().skip(top).take(rows).collect();
    Frame { rows, cursor: (row - top, column) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(prompt: &str, columns: usize) -> Vec<String> {
        let mut writer = Writer::new(columns);
        writer.prompt(prompt);
        writer
            .rows
            .iter()
            .map(|row| row.iter().map(|cell| format!("{}{}", cell.before, cell.text)).collect())
            .collect()
    }

    #[test]
    fn sequences_of_prompts_take_no_room() {
        let mut writer = Writer::new(20);
        writer.prompt("\u{1}\x1b]0;title\x07\u{2}me\x1b[32m>\x1b[0m ");
        assert_eq!(writer.column, 4);
        assert_eq!(shown("\x1b[1mab\ncd", 10), ["\x1b[1mab", "\x1b[1mcd\x1b[0m"]);
        assert_eq!(bare("x\n\u{1}\x1b[1m\u{2}y> "), "y> ");
    }

    #[test]
    fn wide_characters_are_never_split() {
        let mut writer = Writer::new(5);
        writer.words("abcd漢字", Style::Plain);
        let rows: Vec<usize> = writer.rows.iter().map(|row| width(row)).collect();
        assert_eq!(rows, [4, 4]);
        assert_eq!(writer.place(), (1, 4));
    }
}
