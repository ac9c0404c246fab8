//! The world that tests give a utility: variables of their own, no terminal, programs that do
//! nothing.

use std::io::{self, Cursor, Read};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rush_utilities::{Ended, Host, Input};

/// Standard input from memory.
pub struct Bytes(Cursor<Vec<u8>>);

impl Bytes {
    /// Reads `bytes`.
    pub fn new(bytes: &[u8]) -> Bytes {
        Bytes(Cursor::new(bytes.to_vec()))
    }
}

impl Read for Bytes {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl Input for Bytes {
    fn unread(&mut self, count: usize) -> bool {
        self.0.set_position(self.0.position() - count as u64);
        true
    }
    fn extent(&self) -> Option<(u64, u64)> {
        None
    }
}

/// A host with these variables.
pub struct Machine {
    /// The whole environment.
    pub variables: Vec<(&'static str, String)>,
}

impl Host for Machine {
    fn variable(&self, name: &str) -> Option<Vec<u8>> {
        self.variables.iter().find(|(n, _)| *n == name).map(|(_, v)| v.as_bytes().to_vec())
    }
    fn environment(&self) -> Vec<(Vec<u8>, Vec<u8>)> {
        self.variables.iter().map(|(n, v)| (n.as_bytes().to_vec(), v.as_bytes().to_vec())).collect()
    }
    fn now(&self) -> (i64, u32) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        (now.as_secs() as i64, now.subsec_nanos())
    }
    fn sleep(&mut self, _: Duration) -> bool {
        true
    }
    fn run(&mut self, _: &[Vec<u8>], _: Option<&[(Vec<u8>, Vec<u8>)]>, _: bool) -> io::Result<Ended> {
        Ok(Ended::Status(0))
    }
    fn output_is_terminal(&self) -> bool {
        false
    }
    fn umask(&self) -> u32 {
        0o022
    }
    fn user_id(&self) -> u32 {
        use std::os::unix::fs::MetadataExt;
        std::fs::metadata("/proc/self").map_or(0, |m| m.uid())
    }
}
