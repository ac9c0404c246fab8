//! The limits of the line editor.

/// How many states of a line can be gone back to: more than anyone goes back, and a bound on memory.
pub(crate) const UNDO_STATES_MAX: usize = 500;

/// How many characters typed one after the other are one change (readline has the same).
pub(crate) const TYPED_TOGETHER_MAX: usize = 20;

/// How many killed texts are kept.
pub(crate) const KILLS_MAX: usize = 60;

/// The largest numeric argument.
pub(crate) const ARGUMENT_MAX: i64 = 1_000_000;

/// How many bytes a macro may bring forth while one key is answered: a macro that calls itself ends there.
pub(crate) const MACRO_BYTES_MAX: usize = 1 << 16;

/// How long a line may become.
pub(crate) const LINE_BYTES_MAX: usize = 1 << 24;

/// How much of a text is laid out: more than any screen shows.
pub(crate) const SHOWN_BYTES_MAX: usize = 1 << 15;

/// How many rows the list of a history search has.
pub(crate) const SEARCH_ROWS: usize = 10;

/// How many rows the menu of completions has at most.
pub(crate) const MENU_ROWS_MAX: usize = 12;

/// Bytes of states that a line can be taken back to.
pub(crate) const UNDO_BYTES_MAX: usize = 8 << 20;

/// A drawing that took at least this long is put off for as long as it took, in case more comes: bytes that arrive in
/// small pieces do not have a long line drawn for each piece.
pub(crate) const DRAWING_MS_MIN: u64 = 4;

/// How long it is put off at most: what is typed shows before anyone wonders.
pub(crate) const DRAWING_MS_MAX: u64 = 100;
