//! The file of a journal: opened without following a link, only if it is this user's alone, and never where sessions may write. It is bounded:
//! when it is full it becomes `FILE.1`, `FILE.1` becomes `FILE.2`, and the oldest goes. Several servers may share one: each line is one
//! write at the end, and a file that another server has put aside is noticed before the next.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use pithos_sandbox::Context;
use pithos_sessions::{Confinement, errln};
use rustix::fs::{AtFlags, FileType, FlockOperation, Mode, OFlags};

use crate::limits::{JOURNAL_FILES, JOURNAL_SPACE, JOURNAL_SPACE_MIN};

/// Where a journal is written.
pub(crate) struct JournalFile {
    folder: OwnedFd,
    name: OsString,
    shown: PathBuf,
    /// Bytes of one of the files.
    bytes_max: u64,
    open: Open,
}

struct Open {
    file: File,
    identity: (u64, u64),
    /// Of a file that grows; none for a device.
    bytes: Option<u64>,
    /// The last write left half a line.
    torn: bool,
}

impl JournalFile {
    /// Opens the journal; `space` is what all its files may have together.
    pub(crate) fn open(path: &Path, space: Option<u64>, confinement: &Confinement) -> Result<Self, String> {
        let said = |error: io::Error| format!("the journal {}: {error}", path.display());
        let space = space.unwrap_or(JOURNAL_SPACE);
        if space < JOURNAL_SPACE_MIN {
            return Err(format!("--audit-space: a journal has {JOURNAL_SPACE_MIN} bytes at least"));
        }
        let name =
            path.file_name().ok_or_else(|| format!("the journal {}: no name of a file", path.display()))?;
        let above = path.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let above = above.canonicalize().map_err(said)?;
        let shown = above.join(name);
        if writable_by_sessions(&shown, confinement)? {
            return Err(format!(
                "the journal {}: sessions may write there, and could change what is written of them; put it elsewhere, \
                 for example into ~/.local/state",
                shown.display()
            ));
        }
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::RDONLY;
        let folder = rustix::fs::open(&above, flags, Mode::empty()).map_err(|error| said(error.into()))?;
        let open = open_in(&folder, name, &shown).map_err(said)?;
        Ok(Self { folder, name: name.to_owned(), shown, bytes_max: space / JOURNAL_FILES, open })
    }

    /// Appends whole lines, as many to a file as fit into it.
    pub(crate) fn append(&mut self, lines: &[u8]) -> io::Result<()> {
        let mut rest = lines;
        while !rest.is_empty() {
            let room = usize::try_from(self.bytes_max).unwrap_or(usize::MAX);
            let end = |at: usize| at + 1;
            let piece = match rest.get(..room) {
                None => rest.len(),
                Some(fitting) => fitting
                    .iter()
                    .rposition(|byte| *byte == b'\n')
                    .map_or_else(|| rest.iter().position(|byte| *byte == b'\n').map_or(rest.len(), end), end),
            };
            let (piece, after) = rest.split_at(piece);
            self.append_piece(piece)?;
            rest = after;
        }
        Ok(())
    }

    fn append_piece(&mut self, lines: &[u8]) -> io::Result<()> {
        if self.open.bytes.is_some() {
            self.follow()?;
            let grown = self.open.bytes.unwrap_or(0).saturating_add(lines.len() as u64);
            if grown > self.bytes_max && self.open.bytes != Some(0) {
                self.rotate()?;
            }
        }
        if self.open.torn {
            (&self.open.file).write_all(b"\n")?;
            self.open.torn = false;
        }
        if let Err(error) = (&self.open.file).write_all(lines) {
            self.open.torn = self.open.bytes.is_some();
            return Err(error);
        }
        Ok(())
    }

    /// Goes on with the file of our name when another server has put ours aside, or somebody has removed it.
    fn follow(&mut self) -> io::Result<()> {
        let there = rustix::fs::statat(&self.folder, self.name.as_os_str(), AtFlags::SYMLINK_NOFOLLOW);
        match there {
            Ok(stat) if (stat.st_dev, stat.st_ino) == self.open.identity => {
                self.open.bytes = Some(u64::try_from(stat.st_size).unwrap_or(0));
            }
            _ => self.open = open_in(&self.folder, &self.name, &self.shown)?,
        }
        Ok(())
    }

    fn rotate(&mut self) -> io::Result<()> {
        // Of two servers that find it full one waits here, and then finds that it was put aside.
        rustix::fs::flock(&self.open.file, FlockOperation::LockExclusive)?;
        let before = self.open.identity;
        self.follow()?;
        if self.open.identity != before {
            return Ok(());
        }
        let numbered = |number: u64| {
            let mut name = self.name.clone();
            if number > 0 {
                name.push(format!(".{number}"));
            }
            name
        };
        for number in (1..JOURNAL_FILES).rev() {
            let moved =
                rustix::fs::renameat(&self.folder, numbered(number - 1), &self.folder, numbered(number));
            match moved {
                Err(error) if error != rustix::io::Errno::NOENT => return Err(error.into()),
                _ => {}
            }
        }
        self.open = open_in(&self.folder, &self.name, &self.shown)?;
        Ok(())
    }
}

fn open_in(folder: &OwnedFd, name: &OsStr, shown: &Path) -> io::Result<Open> {
    let refused = |why: String| io::Error::new(io::ErrorKind::PermissionDenied, why);
    // Not waiting: a pipe that nobody reads would hold the server up here.
    let flags = OFlags::RDWR
        | OFlags::APPEND
        | OFlags::CREATE
        | OFlags::CLOEXEC
        | OFlags::NOFOLLOW
        | OFlags::NONBLOCK
        | OFlags::NOCTTY;
    let opened = rustix::fs::openat(folder, name, flags, Mode::RUSR | Mode::WUSR);
    let file = match opened {
        Err(rustix::io::Errno::LOOP) => {
            return Err(refused("it is a link, which is not followed".to_string()));
        }
        opened => opened?,
    };
    let stat = rustix::fs::fstat(&file)?;
    let bytes = match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Some(u64::try_from(stat.st_size).unwrap_or(0)),
        FileType::CharacterDevice => None,
        _ => return Err(refused("it is neither a file nor a device".to_string())),
    };
    if bytes.is_some() {
        let mode = stat.st_mode & 0o7777;
        if stat.st_uid != rustix::process::geteuid().as_raw() {
            return Err(refused("it belongs to another user".to_string()));
        }
        if mode & 0o177 != 0 {
            return Err(refused(format!(
                "its mode is {mode:o}, and a journal is for its owner alone: chmod 600 {}",
                shown.display()
            )));
        }
        if stat.st_nlink > 1 {
            return Err(refused("it has several names, and perhaps one that sessions may write".to_string()));
        }
    } else {
        rustix::fs::fcntl_setfl(&file, OFlags::APPEND)?;
    }
    let file = File::from(file);
    let mut last = [b'\n'];
    if let Some(end) = bytes.and_then(|bytes| bytes.checked_sub(1)) {
        file.read_exact_at(&mut last, end)?;
    }
    Ok(Open { file, identity: (stat.st_dev, stat.st_ino), bytes, torn: last != [b'\n'] })
}

/// Whether the sandbox lets sessions write at a path of the host. A policy that confines nothing lets them write everywhere, which its name says.
fn writable_by_sessions(path: &Path, confinement: &Confinement) -> Result<bool, String> {
    let context = Context {
        workspace: confinement.workspace.clone(),
        home: confinement.home.clone(),
        private_tmp: confinement.private_tmp.clone(),
        environment: confinement.environment.clone(),
    };
    let policy = confinement.policy.resolve(&context).map_err(|error| error.to_string())?;
    if !policy.policy.confine {
        errln!("pithos: nothing is confined: sessions may change the journal {}", path.display());
        return Ok(false);
    }
    let below = |list: &[PathBuf]| list.iter().any(|folder| path.starts_with(folder));
    Ok(below(&policy.write) && !below(&policy.protect) && !below(&policy.hide))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn journal(place: &Path, name: &str, bytes_max: u64) -> io::Result<JournalFile> {
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = rustix::fs::open(place, flags, Mode::empty())?;
        let open = open_in(&folder, OsStr::new(name), &place.join(name))?;
        Ok(JournalFile { folder, name: name.into(), shown: place.join(name), bytes_max, open })
    }

    #[test]
    fn only_a_private_file_of_one_name_is_taken() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        for mode in 0..0o10000 {
            // Every mode that others have a part in, and every one that makes a program of it.
            if mode & 0o600 != 0o600 {
                continue;
            }
            std::fs::write(at("m"), "").unwrap();
            std::fs::set_permissions(at("m"), PermissionsExt::from_mode(mode)).unwrap();
            assert_eq!(journal(place.path(), "m", 100).is_ok(), mode & 0o177 == 0, "{mode:o}");
            std::fs::remove_file(at("m")).unwrap();
        }
        std::fs::write(at("real"), "").unwrap();
        std::fs::set_permissions(at("real"), PermissionsExt::from_mode(0o600)).unwrap();
        symlink(at("real"), at("link")).unwrap();
        symlink(at("nowhere"), at("dangling")).unwrap();
        std::fs::create_dir(at("folder")).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, at("pipe"), FileType::Fifo, Mode::from(0o600), 0).unwrap();
        for name in ["link", "dangling", "folder", "pipe"] {
            assert!(journal(place.path(), name, 100).is_err(), "{name}");
        }
        std::fs::hard_link(at("real"), at("second")).unwrap();
        assert!(journal(place.path(), "real", 100).is_err());
        assert!(journal(Path::new("/dev"), "null", 100).is_ok());
        journal(place.path(), "new", 100).unwrap();
        assert_eq!(at("new").metadata().unwrap().permissions().mode() & 0o7777, 0o600);
    }

    #[test]
    fn it_is_bounded_and_keeps_the_newest_whole() {
        let place = tempfile::tempdir().unwrap();
        let (mut one, mut other) =
            (journal(place.path(), "j", 200).unwrap(), journal(place.path(), "j", 200).unwrap());
        for number in 0..400 {
            let line = format!("{number:0width$}\n", width = 4 + number % 40);
            // Two servers share it.
            if number % 3 == 0 { &mut other } else { &mut one }.append(line.as_bytes()).unwrap();
        }
        let mut names: Vec<String> = std::fs::read_dir(place.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert_eq!(names, ["j", "j.1", "j.2", "j.3"]);
        let mut numbers: Vec<u32> = Vec::new();
        for name in names.iter().rev() {
            let text = std::fs::read_to_string(place.path().join(name)).unwrap();
            assert!(text.len() <= 200 && text.ends_with('\n'), "{name}");
            numbers.extend(text.lines().map(|line| line.parse::<u32>().unwrap()));
        }
        let first = numbers[0];
        assert_eq!(numbers, (first..400).collect::<Vec<_>>(), "none is missing and none is mixed");
    }

    #[test]
    fn half_a_line_of_before_and_a_file_that_goes_do_no_harm() {
        let place = tempfile::tempdir().unwrap();
        journal(place.path(), "j", 1000).unwrap().append(b"half").unwrap();
        let mut again = journal(place.path(), "j", 1000).unwrap();
        again.append(b"whole\n").unwrap();
        assert_eq!(std::fs::read_to_string(place.path().join("j")).unwrap(), "half\nwhole\n");
        std::fs::remove_file(place.path().join("j")).unwrap();
        again.append(b"new\n").unwrap();
        assert_eq!(std::fs::read_to_string(place.path().join("j")).unwrap(), "new\n");
        std::fs::remove_file(place.path().join("j")).unwrap();
        symlink("/etc/passwd", place.path().join("j")).unwrap();
        assert!(again.append(b"trap\n").is_err());
    }
}
