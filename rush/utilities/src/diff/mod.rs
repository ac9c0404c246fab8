//! `diff`: compares files and folders. Flags: `-a -b -B -c -C N -d -i -L NAME -N -p -q -r -s -u -U N -w -x PATTERN -Z --normal
//! --strip-trailing-cr`.
//!
//! The script of changes is the one that GNU's finds, step for step ([`script`]); a text is held in memory, as it is there.

mod options;
mod print;
mod script;
mod text;
mod tree;

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, MetadataExt};

use crate::calendar::{Civil, strftime};
use crate::limits::DIFF_BYTES_MAX;
use crate::{Context, Outcome};
use options::{Space, Style};

/// What the command line says.
pub(crate) struct DiffOptions {
    style: Style,
    /// Lines that are shown around a change.
    around: usize,
    labels: Vec<Vec<u8>>,
    space: Space,
    ignore_case: bool,
    ignore_blank: bool,
    strip_returns: bool,
    text: bool,
    minimal: bool,
    absent_is_empty: bool,
    recursive: bool,
    tells_identical: bool,
    function: bool,
    excluded: Vec<Vec<u8>>,
    /// The options as they were written, for the line before each difference of two folders.
    words: Vec<Vec<u8>>,
}

/// The status of a difference, and that of what could not be compared.
const DIFFERS: i32 = 1;
const TROUBLE: i32 = 2;

/// One of two files to compare.
struct Subject {
    name: Vec<u8>,
    /// `None` for one that is not there and counts as empty.
    metadata: Option<Metadata>,
    /// Whether it is standard input.
    standard: bool,
}

impl Subject {
    fn is_directory(&self) -> bool {
        self.metadata.as_ref().is_some_and(Metadata::is_dir)
    }

    /// Whether `-N` takes it for a file that is not there.
    fn counts_as_absent(&self) -> bool {
        self.metadata.as_ref().is_some_and(|m| m.is_file() && m.mode() & 0o777 == 0 && m.len() == 0)
    }

    fn is_absent(&self) -> bool {
        self.metadata.is_none() && !self.standard
    }

    /// What it is, in the words of messages.
    fn kind(&self, other: &Subject) -> &'static str {
        let Some(metadata) = self.metadata.as_ref().or(other.metadata.as_ref()) else { return "fifo" };
        let kind = metadata.file_type();
        match () {
            () if kind.is_dir() => "directory",
            () if kind.is_fifo() => "fifo",
            () if kind.is_socket() => "socket",
            () if kind.is_block_device() => "block special file",
            () if kind.is_char_device() => "character special file",
            () if metadata.len() == 0 => "regular empty file",
            () => "regular file",
        }
    }
}

/// A comparison under way.
struct Comparison<'c, 'w> {
    context: &'c mut Context<'w>,
    options: DiffOptions,
}

pub(crate) fn run(context: &mut Context<'_>) -> io::Result<Outcome> {
    let Some((options, operands)) = options::read(context) else { return Ok(Outcome::Fallthrough) };
    let operands = operands.map(<[u8]>::to_vec);
    let mut comparison = Comparison { context, options };
    comparison.operands(operands)
}

impl Comparison<'_, '_> {
    fn operands(&mut self, operands: [Vec<u8>; 2]) -> io::Result<Outcome> {
        let standard = operands.iter().filter(|name| name.as_slice() == b"-").count();
        let mut found = operands.each_ref().map(|name| self.look(name, false));
        // What is not there counts as empty only beside something that is.
        for index in 0..2 {
            let missing = matches!(&found[index], Err(error) if error.kind() == io::ErrorKind::NotFound);
            if self.options.absent_is_empty && missing && found[1 - index].is_ok() {
                found[index] = Ok(Subject { name: operands[index].clone(), metadata: None, standard: false });
            }
        }
        let mut status = 0;
        for (name, subject) in operands.iter().zip(&found) {
            if let Err(error) = subject {
                self.complain(name, error);
                status = TROUBLE;
            }
        }
        let [Ok(mut old), Ok(mut new)] = found else { return Ok(Outcome::Status(status)) };
        let directories = usize::from(old.is_directory()) + usize::from(new.is_directory());
        let absent = old.metadata.is_none() || new.metadata.is_none();
        // Messages about folders on standard input, and labels in folders, are the program's.
        if (directories > 0 && (standard > 0 || !self.options.labels.is_empty())) || standard > 1 {
            return Ok(Outcome::Fallthrough);
        }
        if directories > 0 && !self.options.words.iter().all(|word| is_plain(word)) {
            return Ok(Outcome::Fallthrough);
        }
        if directories == 1 && !absent {
            let (folder, file) = if old.is_directory() { (&mut old, &new) } else { (&mut new, &old) };
            let name = joined(&folder.name, last_component(&file.name));
            match self.look(&name, false) {
                Ok(subject) => *folder = subject,
                Err(error) => {
                    self.complain(&name, &error);
                    return Ok(Outcome::Status(TROUBLE));
                }
            }
        }
        let size = |subject: &Subject| subject.metadata.as_ref().map_or(0, Metadata::len);
        if size(&old).saturating_add(size(&new)) > DIFF_BYTES_MAX {
            return Ok(Outcome::Fallthrough);
        }
        if self.options.absent_is_empty {
            for subject in [&mut old, &mut new] {
                if subject.counts_as_absent() {
                    subject.metadata = None;
                }
            }
        }
        self.pair(&old, &new, false).map(Outcome::Status)
    }

    /// A file by its name; `-` is standard input unless it stands in a folder.
    fn look(&mut self, name: &[u8], inside: bool) -> io::Result<Subject> {
        if name == b"-" && !inside {
            return Ok(Subject { name: name.to_vec(), metadata: None, standard: true });
        }
        let metadata = std::fs::metadata(self.context.path(name))?;
        Ok(Subject { name: name.to_vec(), metadata: Some(metadata), standard: false })
    }

    fn complain(&mut self, name: &[u8], error: &io::Error) {
        self.context.complain(&[name, b": ", crate::context::reason(error).as_bytes()]);
    }

    /// Compares two files or folders; `in_folders` says whether they stand in two that are compared.
    fn pair(&mut self, old: &Subject, new: &Subject, in_folders: bool) -> io::Result<i32> {
        // What is not there is of the other's kind.
        let is_folder = |subject: &Subject, other: &Subject| {
            subject.is_directory() || (subject.is_absent() && other.is_directory())
        };
        let directories = (is_folder(old, new), is_folder(new, old));
        let same = match (&old.metadata, &new.metadata) {
            (Some(a), Some(b)) => (a.dev(), a.ino()) == (b.dev(), b.ino()),
            _ => false,
        };
        let status = match directories {
            _ if same => 0,
            (true, true) => {
                if in_folders && !self.options.recursive {
                    self.say(&[b"Common subdirectories: ", &old.name, b" and ", &new.name])?;
                    return Ok(0);
                }
                return self.folders([&old.name, &new.name], [!old.is_absent(), !new.is_absent()]);
            }
            _ if directories.0 || directories.1 || (in_folders && !(is_file(old) && is_file(new))) => {
                let (a, b) = (old.kind(new), new.kind(old));
                self.say(&[
                    b"File ",
                    &old.name,
                    b" is a ",
                    a.as_bytes(),
                    b" while file ",
                    &new.name,
                    b" is a ",
                    b.as_bytes(),
                ])?;
                return Ok(DIFFERS);
            }
            _ => self.files(old, new, in_folders)?,
        };
        if status == 0 && self.options.tells_identical && !directories.0 {
            let (a, b) = (self.label(0, &old.name), self.label(1, &new.name));
            self.say(&[b"Files ", &a, b" and ", &b, b" are identical"])?;
        }
        Ok(status)
    }

    fn say(&mut self, parts: &[&[u8]]) -> io::Result<()> {
        self.context.output.write_all(&[&parts.concat(), b"\n".as_slice()].concat())
    }

    fn label(&self, which: usize, name: &[u8]) -> Vec<u8> {
        self.options.labels.get(which).map_or(name, Vec::as_slice).to_vec()
    }

    /// Compares two files that are no folders.
    fn files(&mut self, old: &Subject, new: &Subject, in_folders: bool) -> io::Result<i32> {
        let mut texts = Vec::new();
        let mut status = 0;
        for subject in [old, new] {
            match self.content(subject) {
                Ok(text) => texts.push(text),
                Err(error) => {
                    self.context.poll()?;
                    self.complain(&subject.name, &error);
                    status = TROUBLE;
                }
            }
        }
        let [first, second] = texts.as_mut_slice() else { return Ok(status) };
        if first == second {
            return Ok(0);
        }
        if !self.options.text && [(old, &*first), (new, &*second)].iter().any(|(s, text)| is_binary(s, text))
        {
            self.differ(b"Binary files ", old, new)?;
            return Ok(DIFFERS);
        }
        if self.options.strip_returns {
            [first, second].into_iter().for_each(strip_returns);
        }
        let poll = || self.context.poll();
        let (mut sides, classes) = text::sides(&texts[0], &texts[1], &self.options, &poll)?;
        let changes = script::changes(&mut sides, classes, self.options.minimal, &poll)?;
        let counts = |change: &script::Change| !print::is_ignored(&[*change], &sides, &self.options);
        if !changes.iter().any(counts) {
            return Ok(0);
        }
        if self.options.style == Style::Brief {
            self.differ(b"Files ", old, new)?;
            return Ok(DIFFERS);
        }
        let mut out = Vec::new();
        if in_folders {
            out.extend_from_slice(b"diff");
            for word in self.options.words.iter().chain([&escaped(&old.name), &escaped(&new.name)]) {
                out.push(b' ');
                out.extend_from_slice(word);
            }
            out.push(b'\n');
        }
        let names = [self.title(0, old), self.title(1, new)];
        print::Printer::new(&self.options, &sides, names).all(&changes, &mut out);
        self.context.output.write_all(&out)?;
        Ok(DIFFERS)
    }

    fn differ(&mut self, what: &[u8], old: &Subject, new: &Subject) -> io::Result<()> {
        let (a, b) = (self.label(0, &old.name), self.label(1, &new.name));
        self.say(&[
            if self.options.style == Style::Brief { b"Files " } else { what },
            &a,
            b" and ",
            &b,
            b" differ",
        ])
    }

    fn content(&mut self, subject: &Subject) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        if subject.standard {
            self.context.input.read_to_end(&mut text)?;
        } else if let Some(metadata) = &subject.metadata {
            let file = File::open(self.context.path(&subject.name))?;
            if metadata.is_file() {
                text.reserve_exact(metadata.len() as usize + 1);
                self.context.regular(file).read_to_end(&mut text)?;
            } else {
                self.context.polled(file).read_to_end(&mut text)?;
            }
        }
        Ok(text)
    }

    /// A file's name, or its label, as the header shows it.
    fn title(&self, which: usize, subject: &Subject) -> Vec<u8> {
        if let Some(label) = self.options.labels.get(which) {
            return label.clone();
        }
        let (seconds, nanoseconds) = match &subject.metadata {
            Some(metadata) => (metadata.mtime(), metadata.mtime_nsec() as u32),
            None if subject.standard => self.context.host.now(),
            None => (0, 0),
        };
        let civil = Civil::new(seconds, &self.context.time_zone());
        let plain_locale = matches!(self.context.locale("LC_TIME").as_slice(), b"" | b"C" | b"POSIX");
        let format: &[u8] = if self.options.style == Style::Context && plain_locale {
            b"%a %b %e %H:%M:%S %Y"
        } else {
            b"%Y-%m-%d %H:%M:%S.%N %z"
        };
        let time = strftime(format, &civil, nanoseconds);
        [&escaped(&subject.name), b"\t".as_slice(), &time].concat()
    }
}

fn is_file(subject: &Subject) -> bool {
    subject.metadata.as_ref().is_none_or(Metadata::is_file)
}

/// Whether there is a zero in what GNU reads first.
fn is_binary(subject: &Subject, text: &[u8]) -> bool {
    let block = subject.metadata.as_ref().map_or(4096, |metadata| metadata.blksize() as usize);
    memchr::memchr(0, text.get(..block).unwrap_or(text)).is_some()
}

fn strip_returns(text: &mut Vec<u8>) {
    let mut kept = 0;
    for at in 0..text.len() {
        if text[at] == b'\r' && text.get(at + 1) == Some(&b'\n') {
            continue;
        }
        text[kept] = text[at];
        kept += 1;
    }
    text.truncate(kept);
}

/// A name as headers show it: like a string of C where it would be unclear.
fn escaped(name: &[u8]) -> Vec<u8> {
    let unclear = |&byte: &u8| byte <= b' ' || byte >= 0x80 || byte == b'"' || byte == b'\\';
    if !name.iter().any(unclear) {
        return name.to_vec();
    }
    let mut out = b"\"".to_vec();
    for &byte in name {
        let letter = match byte {
            0x07 => b'a',
            0x08 => b'b',
            b'\t' => b't',
            b'\n' => b'n',
            0x0b => b'v',
            0x0c => b'f',
            b'\r' => b'r',
            b'"' | b'\\' => byte,
            b' '..=0x7f => {
                out.push(byte);
                continue;
            }
            _ => {
                out.extend_from_slice(format!("\\{byte:03o}").as_bytes());
                continue;
            }
        };
        out.extend_from_slice(&[b'\\', letter]);
    }
    out.push(b'"');
    out
}

/// Whether a word needs no quotes in a shell.
fn is_plain(word: &[u8]) -> bool {
    !word.is_empty() && word.iter().all(|b| b.is_ascii_alphanumeric() || b"-_./+,:@%".contains(b))
}

/// A name in a folder.
fn joined(folder: &[u8], name: &[u8]) -> Vec<u8> {
    let slash: &[u8] = if folder.last() == Some(&b'/') { b"" } else { b"/" };
    [folder, slash, name].concat()
}

/// What of a path is behind the last slash that something follows.
fn last_component(path: &[u8]) -> &[u8] {
    let mut start = 0;
    for (at, pair) in path.windows(2).enumerate() {
        if pair[0] == b'/' && pair[1] != b'/' {
            start = at + 1;
        }
    }
    &path[start..]
}
