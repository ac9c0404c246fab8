//! What readline's functions are in the line editor: a command of rustyline's, or an edit that is made outside it (`edits.rs`).

use rustyline::{Anchor, At, Cmd, KeyCode, KeyEvent, Movement, RepeatCount, Word};

/// Functions that are carried out when the line editor has been left, with the line in hand.
const OUTSIDE: [&str; 24] = [
    "alias-expand-line",
    "delete-horizontal-space",
    "display-shell-version",
    "edit-and-execute-command",
    "emacs-editing-mode",
    "history-and-alias-expand-line",
    "history-expand-line",
    "insert-comment",
    "insert-completions",
    "insert-last-argument",
    "magic-space",
    "operate-and-get-next",
    "re-read-init-file",
    "revert-line",
    "shell-backward-kill-word",
    "shell-kill-word",
    "tilde-expand",
    "unix-filename-rubout",
    "vi-edit-and-execute-command",
    "vi-editing-mode",
    "vi-tilde-expand",
    "vi-yank-arg",
    "yank-last-arg",
    "yank-nth-arg",
];

/// Whether the function is one of those.
pub(super) fn is_outside(name: &str) -> bool {
    OUTSIDE.binary_search(&name).is_ok()
}

/// Whether the line editor has the function at all.
pub(super) fn is_supported(name: &str) -> bool {
    is_outside(name) || command(name, 1, &KeyEvent::from('x'), true).is_some()
}

/// Whether the function has to do with completing word after word.
pub(super) fn cycles(name: &str) -> bool {
    matches!(name, "menu-complete" | "menu-complete-backward" | "old-menu-complete")
}

/// The command that the function is (never `SelfInsert`, which rustyline turns into what was typed last when a binding answers with it); `n` is the argument, `key` the last one of the sequence, `empty` says that nothing is typed yet.
pub(super) fn command(name: &str, n: RepeatCount, key: &KeyEvent, empty: bool) -> Option<Cmd> {
    let backward = |word| Movement::BackwardWord(n, word);
    let forward = |word| Movement::ForwardWord(n, At::AfterEnd, word);
    Some(match name {
        "abort" => Cmd::Abort,
        "accept-line" => Cmd::AcceptLine,
        "backward-char" | "backward-byte" => Cmd::Move(Movement::BackwardChar(n)),
        "backward-delete-char" | "vi-rubout" => Cmd::Kill(Movement::BackwardChar(n)),
        "backward-kill-line" | "unix-line-discard" => Cmd::Kill(Movement::BeginningOfLine),
        "backward-kill-word" => Cmd::Kill(backward(Word::Emacs)),
        "backward-word" => Cmd::Move(backward(Word::Emacs)),
        "beginning-of-history" => Cmd::BeginningOfHistory,
        "beginning-of-line" => Cmd::Move(Movement::BeginningOfLine),
        "capitalize-word" => Cmd::CapitalizeWord,
        "clear-display" | "clear-screen" => Cmd::ClearScreen,
        "complete" | "menu-complete" | "old-menu-complete" | "possible-completions" | "vi-complete" => {
            Cmd::Complete
        }
        "complete-command" | "complete-filename" | "complete-hostname" | "complete-username"
        | "complete-variable" => Cmd::Complete,
        "delete-char" | "delete-char-or-list" if empty && *key == KeyEvent::ctrl('D') => Cmd::EndOfFile,
        "delete-char" | "delete-char-or-list" | "vi-delete" => Cmd::Kill(Movement::ForwardChar(n)),
        "downcase-word" => Cmd::DowncaseWord,
        "end-of-history" => Cmd::EndOfHistory,
        "end-of-line" => Cmd::Move(Movement::EndOfLine),
        "forward-char" | "forward-byte" => Cmd::Move(Movement::ForwardChar(n)),
        "forward-search-history" => Cmd::ForwardSearchHistory,
        "forward-word" => Cmd::Move(forward(Word::Emacs)),
        "history-search-backward" => Cmd::HistorySearchBackward,
        "history-search-forward" => Cmd::HistorySearchForward,
        "kill-line" => Cmd::Kill(Movement::EndOfLine),
        "kill-whole-line" => Cmd::Kill(Movement::WholeLine),
        "kill-word" => Cmd::Kill(forward(Word::Emacs)),
        "menu-complete-backward" => Cmd::CompleteBackward,
        "next-history" => Cmd::NextHistory,
        "next-screen-line" => Cmd::LineDownOrNextHistory(n),
        "previous-history" => Cmd::PreviousHistory,
        "previous-screen-line" => Cmd::LineUpOrPreviousHistory(n),
        "quoted-insert" => Cmd::QuotedInsert,
        "redraw-current-line" => Cmd::Repaint,
        "reverse-search-history" => Cmd::ReverseSearchHistory,
        "self-insert" => match key.0 {
            KeyCode::Char(character) => Cmd::Insert(n, character.to_string()),
            KeyCode::Tab => Cmd::Insert(n, "\t".into()),
            _ => return None,
        },
        "shell-backward-word" => Cmd::Move(backward(Word::Big)),
        "shell-forward-word" => Cmd::Move(forward(Word::Big)),
        "tab-insert" => Cmd::Insert(n, "\t".into()),
        "transpose-chars" => Cmd::TransposeChars,
        "transpose-words" => Cmd::TransposeWords(n),
        "undo" | "vi-undo" => Cmd::Undo(n),
        "unix-word-rubout" | "vi-unix-word-rubout" => Cmd::Kill(backward(Word::Big)),
        "upcase-word" => Cmd::UpcaseWord,
        "yank" => Cmd::Yank(n, Anchor::Before),
        "yank-pop" => Cmd::YankPop,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::{OUTSIDE, is_supported};

    #[test]
    fn the_table_is_sorted() {
        assert!(OUTSIDE.is_sorted());
        assert!(is_supported("kill-line") && is_supported("yank-last-arg"));
        assert!(!is_supported("vi-movement-mode") && !is_supported("nope"));
    }
}
