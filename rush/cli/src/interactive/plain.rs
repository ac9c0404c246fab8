//! Lines for an interactive shell whose input is no terminal: the prompt and what was read are shown on standard error, as bash does.

use rush::exec::script::StandardInputLines;
use rush::state::descriptors::OpenFile;
use rush::syntax::LineSource;
use rush::{Bytes, Session};

use super::{Line, without_marks};

pub(super) struct PlainReader {
    lines: StandardInputLines,
}

impl PlainReader {
    pub(super) fn new() -> PlainReader {
        PlainReader { lines: StandardInputLines::new(OpenFile::borrowed(0)) }
    }

    pub(super) fn read_line(&mut self, session: &mut Session, prompt: &[u8]) -> Line {
        session.write_err(&without_marks(prompt));
        let mut line = Bytes::new();
        if !self.lines.read_line(&mut line) {
            return Line::End;
        }
        let line = line.strip_suffix(b"\n").unwrap_or(&line).to_vec();
        session.write_err(&[&line[..], b"\n"].concat());
        Line::Text(line)
    }
}
