//! The files that a program writes.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Every file that is open, by the name that the program has for it.
#[derive(Default)]
pub(super) struct Outputs {
    open: HashMap<Vec<u8>, BufWriter<File>>,
}

impl Outputs {
    pub(super) fn write(&mut self, name: &[u8], path: &Path, append: bool, text: &[u8]) -> io::Result<()> {
        if let Some(file) = self.open.get_mut(name) {
            return file.write_all(text);
        }
        let file = File::options().create(true).write(true).append(append).truncate(!append).open(path)?;
        let mut file = BufWriter::new(file);
        file.write_all(text)?;
        self.open.insert(name.to_vec(), file);
        Ok(())
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.open.values_mut().try_for_each(Write::flush)
    }

    /// Closes one; none if there is no such file.
    pub(super) fn close(&mut self, name: &[u8]) -> Option<io::Result<()>> {
        self.open.remove(name).map(|mut file| file.flush())
    }

    /// Closes all; the first that could not be written.
    pub(super) fn close_all(&mut self) -> Result<(), (Vec<u8>, io::Error)> {
        let mut failed = Ok(());
        for (name, mut file) in self.open.drain() {
            if let Err(error) = file.flush()
                && failed.is_ok()
            {
                failed = Err((name, error));
            }
        }
        failed
    }
}
