//! The state of a shell as a script that another shell is given: variables, functions, aliases, options, traps, the mask, positional parameters and the working
//! directory. Open descriptors, `$?` and background processes are not in it.

use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Duration;

use rush_session::Run;

use super::{Overlay, said};
use crate::error::Error;
use crate::limits::{SHELL_STATE_BYTES_MAX, SHELL_STATE_TIMEOUT_MS};
use crate::manager::{Manager, Session};
use crate::shell::{Ended, Shell};

/// Prints a shell's state as a script. By `builtin`, because functions may have any name.
const DESCRIBE: &str = "builtin shopt -p; builtin umask -p; builtin declare -p; builtin declare -f; builtin declare -Fx; builtin alias -p; builtin trap -p
if [[ $# -gt 0 ]]; then builtin printf 'builtin set --'; builtin printf ' %q' \"$@\"; builtin echo; fi
builtin shopt -po";

impl Manager {
    /// The state of a session's shell as a script.
    pub(super) async fn state_of(&self, session: &Session, overlay: &Overlay) -> Result<String, Error> {
        let path = overlay.folder().join("shell");
        let _ = std::fs::remove_file(&path);
        let file = std::fs::File::create_new(&path).map_err(said)?;
        let run = Run {
            id: 0,
            script: DESCRIBE.to_owned(),
            cwd: None,
            environment: Default::default(),
            terminal: false,
        };
        // Options that were set for the session would print or end what describes it.
        run_quietly(&session.shell(), run, file.into()).await?;
        let length = std::fs::metadata(&path).map_err(said)?.len();
        if length > SHELL_STATE_BYTES_MAX {
            return Err(Error::Overlay(format!(
                "the shell's variables and functions take {length} bytes as a script, and {SHELL_STATE_BYTES_MAX} is the limit"
            )));
        }
        let text = std::fs::read(&path).map_err(said)?;
        let _ = std::fs::remove_file(path);
        String::from_utf8(text).map_err(|_| {
            Error::Overlay(
                "a variable or a function of the shell is no UTF-8 text, and cannot be carried over"
                    .to_owned(),
            )
        })
    }
}

/// Gives a new shell the state of another. Variables that nobody can set say so, and nobody hears it.
pub(super) async fn restore_state(shell: &Shell, state: &str, cwd: Option<&Path>) -> Result<(), Error> {
    let cwd = cwd.map(|path| path.to_string_lossy().into_owned());
    let run =
        Run { id: 0, script: format!("{state}\n"), cwd, environment: Default::default(), terminal: false };
    let null = std::fs::OpenOptions::new().write(true).open("/dev/null").map_err(said)?;
    run_quietly(shell, run, null.into()).await
}

async fn run_quietly(shell: &Shell, run: Run, out: OwnedFd) -> Result<(), Error> {
    let null = || std::fs::OpenOptions::new().read(true).write(true).open("/dev/null").map(OwnedFd::from);
    let streams = [null().map_err(said)?, out, null().map_err(said)?];
    let mut running = shell.run(run, streams).map_err(Error::Shell)?;
    let patience = Duration::from_millis(SHELL_STATE_TIMEOUT_MS);
    match tokio::time::timeout(patience, running.ended()).await {
        Ok(Ended::Done(_)) => Ok(()),
        Ok(Ended::Failed(message)) => Err(Error::Overlay(message)),
        Ok(Ended::Lost) => Err(Error::Overlay("the session's process has ended".to_owned())),
        Err(_) => Err(Error::Overlay("the shell's state could not be read or restored in time".to_owned())),
    }
}
