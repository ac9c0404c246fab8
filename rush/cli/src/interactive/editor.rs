//! Lines from a terminal, edited by `rush/editor`: this file carries bindings, variables and prompts over to it.

use std::time::Duration;

use pithos_rush_editor as edit;
use rush::builtins::bind::{Action, Bindings, Keymap};
use rush::state::options::SetOption;
use rush::{Bytes, Session, sys};

use super::host::ShellHost;
use super::{Line, is_styled};

/// The variable that the right prompt is in.
const RIGHT_PROMPT: &[u8] = b"RUSH_RIGHT_PROMPT";
/// The variable of the prompt that stays when a line is whole.
const TRANSIENT_PROMPT: &[u8] = b"RUSH_TRANSIENT_PROMPT";

/// The line editor, and what it knows of the session.
pub(super) struct TerminalEditor {
    reader: edit::Reader,
    /// The generation of the session's bindings that the editor follows, and whether keys are vi's.
    pub(super) followed: Option<(u64, bool)>,
}

impl TerminalEditor {
    /// `None` if the terminal is none that can be edited on.
    pub(super) fn new(session: &mut Session) -> Option<TerminalEditor> {
        if !edit::is_terminal() {
            return None;
        }
        session.read_init_file();
        Some(TerminalEditor { reader: edit::Reader::default(), followed: None })
    }

    /// Reads a whole command.
    pub(super) fn read_line(&mut self, session: &mut Session, prompt: &[u8]) -> Line {
        session.watch_terminal_size(true);
        let view = view(session, prompt);
        let mut host = ShellHost::new(session, view, &mut self.followed);
        let line = self.reader.read_line(&mut host);
        session.watch_terminal_size(false);
        match line {
            Some(edit::Line::Text(text)) => Line::Text(text.into_bytes()),
            Some(edit::Line::End(text)) if !text.is_empty() => Line::Unfinished(text.into_bytes()),
            Some(edit::Line::Interrupted) if sys::fatal_pending().is_some() => Line::End,
            Some(edit::Line::Interrupted) => {
                // What interrupted the editor is no command's business; after a whole line, a ^C is meant for the command that begins.
                sys::clear_pending_signals();
                Line::Interrupted
            }
            _ => Line::End,
        }
    }
}

/// What the user wants to see.
fn view(session: &mut Session, prompt: &[u8]) -> edit::View {
    let text = |bytes: Bytes| String::from_utf8_lossy(&bytes).into_owned();
    let moves = !session.get(b"TERM").is_none_or(|term| *term == *b"dumb" || term.is_empty());
    let continuation = text(session.prompt(b"PS2"));
    let right = text(session.prompt(RIGHT_PROMPT));
    let transient = session.get(TRANSIENT_PROMPT).is_some().then(|| text(session.prompt(TRANSIENT_PROMPT)));
    let colours = is_styled(session);
    let bindings = session.bindings();
    let pause = String::from_utf8_lossy(&bindings.variable("keyseq-timeout")).parse().unwrap_or(500);
    edit::View {
        prompt: edit::Prompt { left: text(prompt.to_vec()), right, continuation },
        transient,
        moves,
        colours,
        marks_pastes: bindings.is_on("enable-bracketed-paste"),
        bell: !matches!(&bindings.variable("bell-style")[..], b"none" | b"off"),
        pause: Duration::from_millis(pause),
    }
}

/// The bindings of the session, for the editor.
pub(super) fn keys(bindings: &Bindings) -> edit::Keys {
    let mut keys = edit::Keys::default();
    for (from, to) in [
        (Keymap::Emacs, edit::Keymap::Emacs),
        (Keymap::ViInsert, edit::Keymap::ViInsert),
        (Keymap::ViCommand, edit::Keymap::ViCommand),
    ] {
        // Shift and Tab go back in a menu.
        keys.bind(to, b"\x1b[Z".to_vec(), edit::Action::Function("menu-complete-backward"));
        for (sequence, name) in bindings.defaults(from) {
            keys.bind(to, sequence.to_vec(), edit::Action::Function(name));
        }
        for (sequence, action) in bindings.changes(from) {
            let action = match action {
                Action::Function(name) => edit::Action::Function(name),
                Action::Macro(text) => edit::Action::Macro(text.clone()),
                Action::Command(command) => edit::Action::Command(command.clone()),
                Action::None => edit::Action::None,
            };
            keys.bind(to, sequence.to_vec(), action);
        }
    }
    keys
}

/// The variables of the session that the editor obeys.
pub(super) fn settings(session: &mut Session, moves: bool, colours: bool) -> edit::Settings {
    let vi = session.is(SetOption::Vi);
    let bindings = session.bindings();
    let text = |name: &str| String::from_utf8_lossy(&bindings.variable(name)).into_owned();
    let modes = ["emacs-mode-string", "vi-ins-mode-string", "vi-cmd-mode-string"].map(text);
    edit::Settings {
        vi,
        rich: moves,
        suggestions: moves && colours,
        show_all: bindings.is_on("show-all-if-ambiguous") || bindings.is_on("show-all-if-unmodified"),
        comment: text("comment-begin"),
        preserve_point: bindings.is_on("history-preserve-point"),
        mode_strings: bindings.is_on("show-mode-in-prompt").then_some(modes),
        ..edit::Settings::default()
    }
}
