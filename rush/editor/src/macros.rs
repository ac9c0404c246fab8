//! Keyboard macros: keys that were recorded and are typed again.

use crate::editor::{Editor, Step};

#[derive(Debug, Clone, Default)]
pub(crate) struct Macros {
    recording: Option<Vec<u8>>,
    last: Vec<u8>,
}

impl Macros {
    /// A key of the user's.
    pub(crate) fn record(&mut self, byte: u8) {
        if let Some(keys) = &mut self.recording {
            keys.push(byte);
        }
    }
}

impl Editor {
    pub(crate) fn macro_function(&mut self, name: &str, keys: &[u8]) -> Option<Step> {
        Some(match name {
            "start-kbd-macro" if self.macros.recording.is_none() => {
                // With an argument, the last one goes on.
                let begun = if self.argument.is_some() { self.macros.last.clone() } else { Vec::new() };
                self.macros.recording = Some(begun);
                Step::Edit
            }
            "end-kbd-macro" => {
                let Some(mut recorded) = self.macros.recording.take() else { return Some(self.ring()) };
                recorded.truncate(recorded.len().saturating_sub(keys.len()));
                self.macros.last = recorded;
                Step::Edit
            }
            "call-last-kbd-macro" if self.macros.recording.is_none() => {
                for _ in 0..self.count().clamp(0, 1000) {
                    self.queue.extend(&self.macros.last);
                }
                Step::Edit
            }
            "start-kbd-macro" | "call-last-kbd-macro" => self.ring(),
            "print-last-kbd-macro" => {
                let shown: String = self
                    .macros
                    .last
                    .iter()
                    .map(|byte| std::ascii::escape_default(*byte).to_string())
                    .collect();
                self.message = format!("macro: \"{shown}\"");
                Step::Edit
            }
            _ => return None,
        })
    }
}
