//! Where lines go: standard output, the file that takes an edited one's place, files of `w`.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use crate::Context;
use crate::context::reason;
use crate::limits::BLOCK_BYTES;

enum Target {
    Standard,
    Errors,
    File(BufWriter<File>),
}

/// A stream of lines. A line that had no end gets one only when another follows.
pub(super) struct Output {
    target: Target,
    missing_end: bool,
}

impl Output {
    pub(super) fn standard() -> Self {
        Self { target: Target::Standard, missing_end: false }
    }

    /// The file of a `w`.
    pub(super) fn file(context: &mut Context<'_>, name: &[u8]) -> Result<Self, i32> {
        let target = match name {
            b"/dev/stdout" => Target::Standard,
            b"/dev/stderr" => Target::Errors,
            _ => match File::create(context.path(name)) {
                Ok(file) => Target::File(BufWriter::with_capacity(BLOCK_BYTES, file)),
                Err(error) => {
                    context.complain(&[b"couldn't open file ", name, b": ", reason(&error).as_bytes()]);
                    return Err(4);
                }
            },
        };
        Ok(Self { target, missing_end: false })
    }

    fn raw(&mut self, context: &mut Context<'_>, bytes: &[u8]) -> io::Result<()> {
        match &mut self.target {
            Target::Standard => context.output.write_all(bytes),
            Target::Errors => context.errors.write_all(bytes),
            Target::File(file) => file.write_all(bytes),
        }
    }

    fn settle(&mut self, context: &mut Context<'_>, end: u8) -> io::Result<()> {
        if std::mem::take(&mut self.missing_end) { self.raw(context, &[end]) } else { Ok(()) }
    }

    /// A line and, if it had one, its end.
    pub(super) fn line(
        &mut self,
        context: &mut Context<'_>,
        line: &[u8],
        ended: bool,
        end: u8,
    ) -> io::Result<()> {
        self.settle(context, end)?;
        self.raw(context, line)?;
        if ended { self.raw(context, &[end]) } else { Ok(self.missing_end = true) }
    }

    /// Text as it is.
    pub(super) fn text(&mut self, context: &mut Context<'_>, text: &[u8], end: u8) -> io::Result<()> {
        self.settle(context, end)?;
        self.raw(context, text)
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        if let Target::File(file) = &mut self.target { file.flush() } else { Ok(()) }
    }
}

/// A file that will take another's place; it goes away if it does not.
pub(super) struct Replacement {
    pub(super) output: Output,
    temporary: PathBuf,
    target: PathBuf,
    done: bool,
}

impl Drop for Replacement {
    fn drop(&mut self) {
        if !self.done {
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

impl Replacement {
    /// A new file beside `name`, with the mode and owner of `original`.
    pub(super) fn new(context: &Context<'_>, name: &[u8], original: &File) -> io::Result<Self> {
        let target = context.path(name).into_owned();
        let metadata = original.metadata()?;
        let folder = match target.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder.to_path_buf(),
            _ => PathBuf::from("."),
        };
        let mut tries = 0;
        let (temporary, file) = loop {
            let stamp = context.host.now();
            let path = folder.join(format!("sed{}-{}-{tries}", std::process::id(), stamp.1));
            match File::options().write(true).create_new(true).mode(0o600).open(&path) {
                Ok(file) => break (path, file),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && tries < 100 => tries += 1,
                Err(error) => return Err(error),
            }
        };
        // Who may not give files away keeps them.
        let _ = fchown(&file, Some(metadata.uid()), Some(metadata.gid()));
        let _ = file.set_permissions(fs::Permissions::from_mode(metadata.mode() & 0o7777));
        let output =
            Output { target: Target::File(BufWriter::with_capacity(BLOCK_BYTES, file)), missing_end: false };
        Ok(Self { output, temporary, target, done: false })
    }

    /// Puts it in its place; the old file stays under the backup's name if there is a suffix.
    pub(super) fn finish(mut self, suffix: &[u8]) -> io::Result<()> {
        self.output.flush()?;
        if !suffix.is_empty() {
            fs::rename(&self.target, backup_name(&self.target, suffix))?;
        }
        fs::rename(&self.temporary, &self.target)?;
        self.done = true;
        Ok(())
    }
}

/// `name` with a suffix; stars in the suffix stand for the name, slashes lead to another folder.
fn backup_name(target: &Path, suffix: &[u8]) -> PathBuf {
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    let base = target.file_name().map_or(&b""[..], |name| name.as_bytes());
    let name = if suffix.contains(&b'*') {
        suffix.split(|b| *b == b'*').collect::<Vec<_>>().join(base)
    } else {
        [base, suffix].concat()
    };
    let name = PathBuf::from(std::ffi::OsString::from_vec(name.clone()));
    if name.components().count() > 1 { name } else { target.with_file_name(name) }
}
