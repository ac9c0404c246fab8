//! While a foreground program runs whose output and errors go elsewhere than to the terminal, the front end may show that something is
//! being done. The terminal is nobody else's then, but for a program that opens it itself.

use std::os::fd::RawFd;

use crate::{Session, limits, sys};

/// Draws the `n`th frame at the cursor, or takes away what was drawn.
pub type Spinner = fn(Option<usize>);

impl Session {
    /// Shows the spinner until the child ends or stops, or one of `readers` has something to read.
    pub(crate) fn spin_while_silent(&mut self, pid: i32, readers: &[RawFd]) {
        let Some(spinner) = self.spinner.filter(|_| self.is_silent()) else { return };
        let Ok(handle) = sys::process_handle(pid) else { return };
        let watched = [readers, &[handle]].concat();
        let (mut frame, mut patience) = (0, limits::SPINNER_DELAY_MS);
        while sys::poll_readable(&watched, patience).is_empty() && !sys::child_changed(pid) {
            spinner(Some(frame));
            (frame, patience) = (frame + 1, limits::SPINNER_FRAME_MS);
        }
        if frame > 0 {
            spinner(None);
        }
        sys::close(handle);
    }

    /// Whether this is the shell at the terminal, and what it runs writes to none.
    fn is_silent(&mut self) -> bool {
        self.controls_jobs()
            && !self.background_process
            && !self.descriptor_is_terminal(1)
            && !self.descriptor_is_terminal(2)
            && self.get(b"RUSH_SPINNER").is_none_or(|value| *value != *b"0" && *value != *b"off")
    }
}
