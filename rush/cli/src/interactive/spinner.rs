//! The spinner: one character at the cursor on standard error, which the cursor stays on, so that whatever is written next takes its
//! place. While a program has the terminal in raw mode or without echo (a full screen, a password) nothing is drawn.

use std::io::Write;

use rustix::termios::{LocalModes, tcgetattr};

const FRAMES: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// Draws a frame, or takes it away.
pub(super) fn draw(frame: Option<usize>) {
    let modes = tcgetattr(rustix::stdio::stderr()).map(|terminal| terminal.local_modes);
    if !modes.is_ok_and(|modes| modes.contains(LocalModes::ICANON | LocalModes::ECHO)) {
        return;
    }
    let shown = frame.map_or(" ", |frame| FRAMES[frame % FRAMES.len()]);
    // One write, so that nothing comes between the character and the way back.
    let _ = std::io::stderr().write_all(format!("{shown}\x08").as_bytes());
}
