//! The line editor of rush.
//!
//! A pure core (`Editor`: bytes of keys in, a line out; no input, no output, no shell) and a thin layer that reads and draws on a
//! terminal (`Reader`). What a line means to a shell is asked of a `Host`: history, completion, colours. Start reading at `editor.rs`,
//! then `layout.rs` (what the screen is to look like) and `screen.rs` (the shortest way there).
#![forbid(unsafe_code)]

mod completing;
mod editor;
mod edits;
mod functions;
mod history;
mod host;
mod keys;
mod kills;
mod layout;
mod limits;
mod line;
mod macros;
mod reader;
mod recall;
mod screen;
mod style;
mod terminal;
mod vi;
mod words;

pub use editor::{Editor, Request, Settings, Step};
pub use functions::is_function;
pub use history::History;
pub use host::{Candidate, Choice, Host, Insertion, Kind, Span};
pub use keys::{Action, Keymap, Keys};
pub use layout::{Prompt, Size};
pub use reader::{Line, Outside, Reader, View};
pub use style::Style;
pub use terminal::is_terminal;

#[cfg(test)]
mod tests;
