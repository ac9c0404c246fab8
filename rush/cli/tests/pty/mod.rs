//! The interactive shell on a pseudo-terminal, for tests.
#![allow(dead_code)]

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use tempfile::TempDir;

/// How long something may take to appear before the test fails.
const PATIENCE: Duration = Duration::from_secs(20);

pub struct Terminal {
    pub child: Child,
    keys: File,
    screen: Receiver<Vec<u8>>,
    text: String,
    pub home: TempDir,
}

impl Terminal {
    pub fn start() -> Terminal {
        Terminal::start_in(tempfile::tempdir().expect("a folder"), &["--norc"])
    }

    pub fn start_in(home: TempDir, arguments: &[&str]) -> Terminal {
        let mut terminal = Terminal::launch(home, arguments, &[("PS1", "ready> ")]);
        terminal.wait("ready> ");
        terminal
    }

    /// The same with these variables besides, without waiting for a prompt.
    pub fn launch(home: TempDir, arguments: &[&str], variables: &[(&str, &str)]) -> Terminal {
        let mut all = vec![("NO_COLOR", "1")];
        all.extend_from_slice(variables);
        Terminal::launch_with(home, arguments, &all)
    }

    /// A shell whose terminal is one for colours.
    pub fn launch_styled(home: TempDir) -> Terminal {
        Terminal::launch_with(home, &["--norc"], &[("PS1", "ready> ")])
    }

    fn launch_with(home: TempDir, arguments: &[&str], variables: &[(&str, &str)]) -> Terminal {
        Terminal::launch_program(home, env!("CARGO_BIN_EXE_rush"), arguments, variables)
    }

    /// Another program, to compare with.
    pub fn launch_program(
        home: TempDir,
        program: &str,
        arguments: &[&str],
        variables: &[(&str, &str)],
    ) -> Terminal {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&master).expect("granted");
        unlockpt(&master).expect("unlocked");
        let name = ptsname(&master, Vec::new()).expect("a name");
        let slave = || -> OwnedFd {
            rustix::fs::open(&name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).expect("opened")
        };
        // `setsid -c` makes the terminal the controlling one.
        let child = Command::new("setsid")
            .args(["-c", program])
            .args(arguments)
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", home.path())
            .env("TERM", "xterm")
            .env("PS2", "more: ")
            .envs(variables.iter().copied())
            .stdin(slave())
            .stdout(slave())
            .stderr(slave())
            .spawn()
            .expect("setsid starts");
        let keys = File::from(master);
        let mut reader = keys.try_clone().expect("a copy");
        let (sender, screen) = channel();
        std::thread::spawn(move || {
            let mut chunk = [0; 4096];
            while let Ok(count @ 1..) = reader.read(&mut chunk) {
                if sender.send(chunk[..count].to_vec()).is_err() {
                    break;
                }
            }
        });
        Terminal { child, keys, screen, text: String::new(), home }
    }

    pub fn keys(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).expect("typed");
    }

    /// Waits until `text` appears; what came before it.
    pub fn wait(&mut self, text: &str) -> String {
        loop {
            if let Some(at) = self.text.find(text) {
                let before = self.text[..at].to_string();
                self.text.drain(..at + text.len());
                return before;
            }
            let chunk = self.screen.recv_timeout(PATIENCE);
            let chunk = chunk.unwrap_or_else(|_| panic!("no {text:?} in {:?}", self.text));
            self.text.push_str(&plain(&chunk));
        }
    }

    /// Makes the terminal this large.
    pub fn resize(&self, rows: u16, columns: u16) {
        let size = rustix::termios::Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        rustix::termios::tcsetwinsize(&self.keys, size).expect("resized");
    }

    /// Types a line; what it printed before the next prompt.
    pub fn line(&mut self, line: &str) -> String {
        self.keys(&format!("{line}; echo en''d\r"));
        self.wait("en''d\n");
        let text = self.wait("end\n");
        self.wait("ready> ");
        text
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The text without control sequences.
fn plain(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let (mut out, mut characters) = (String::new(), text.chars().peekable());
    while let Some(character) = characters.next() {
        match character {
            '\u{1b}' => {
                if characters.next() == Some('[') {
                    for next in characters.by_ref() {
                        if next.is_ascii_alphabetic() {
                            break;
                        }
                    }
                }
            }
            '\r' => {}
            other => out.push(other),
        }
    }
    out
}
