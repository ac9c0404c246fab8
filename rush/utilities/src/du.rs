//! `du`: what files take. Flags: `-a -b -c -d N -h -k -l -m -s -S -x -0 --apparent-size`.
//!
//! A file of several names counts once; with several operands everything does. Folders are listed in the order in which they are
//! found, as GNU does below ten thousand entries, and by their numbers above.

use std::collections::HashSet;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{DirEntryExt, MetadataExt};

use crate::context::reason;
use crate::limits::DIRECTORY_DEPTH_MAX;
use crate::options::{number, parse};
use crate::{Context, Outcome};

/// Entries of a folder up to which they are taken as they come.
const UNSORTED_MAX: usize = 10_000;

/// How sizes are written.
#[derive(Clone, Copy)]
enum Unit {
    Bytes(u64),
    Human,
}

struct Walk {
    all: bool,
    apparent: bool,
    /// Count every name of a file.
    links: bool,
    /// Whether folders and files of one name are remembered, too.
    everything: bool,
    separate: bool,
    one_file_system: bool,
    depth_max: u64,
    unit: Unit,
    end: u8,
    seen: HashSet<(u64, u64)>,
    device: u64,
    failed: bool,
}

pub(crate) fn run(context: &mut Context<'_>) -> io::Result<Outcome> {
    let long = [
        ("all", b'a'),
        ("apparent-size", b'A'),
        ("bytes", b'b'),
        ("total", b'c'),
        ("max-depth=", b'd'),
        ("human-readable", b'h'),
        ("count-links", b'l'),
        ("summarize", b's'),
        ("separate-dirs", b'S'),
        ("one-file-system", b'x'),
        ("null", b'0'),
    ];
    let Some(parsed) = parse(context.args, "abcd:hklmsSx0", &long) else { return Ok(Outcome::Fallthrough) };
    let set = |name: &&str| context.host.variable(name).is_some();
    let named = ["DU_BLOCK_SIZE", "BLOCK_SIZE", "BLOCKSIZE", "POSIXLY_CORRECT"].iter().any(set);
    let contradicts = parsed.has(b's') && (parsed.has(b'a') || parsed.has(b'd'));
    if named || contradicts || !parsed.every(b"d", |_, value| number(value).is_some()) {
        return Ok(Outcome::Fallthrough);
    }
    let operands = if parsed.operands.is_empty() { vec![b".".as_slice()] } else { parsed.operands.clone() };
    // The empty name has its own message.
    if operands.iter().any(|operand| operand.is_empty()) {
        return Ok(Outcome::Fallthrough);
    }
    let unit = match parsed.last_of(b"bhkm") {
        Some(b'b') => Unit::Bytes(1),
        Some(b'h') => Unit::Human,
        Some(b'm') => Unit::Bytes(1 << 20),
        _ => Unit::Bytes(1 << 10),
    };
    let depth_max =
        if parsed.has(b's') { 0 } else { parsed.value(b'd').and_then(number).unwrap_or(u64::MAX) };
    let mut walk = Walk {
        all: parsed.has(b'a'),
        apparent: parsed.has(b'A') || parsed.has(b'b'),
        links: parsed.has(b'l'),
        everything: operands.len() > 1,
        separate: parsed.has(b'S'),
        one_file_system: parsed.has(b'x'),
        depth_max,
        unit,
        end: if parsed.has(b'0') { 0 } else { b'\n' },
        seen: HashSet::new(),
        device: 0,
        failed: false,
    };
    let mut total = 0;
    for operand in operands {
        match fs::symlink_metadata(context.path(operand)) {
            Ok(metadata) => {
                walk.device = metadata.dev();
                let (own, below) = walk.visit(context, operand, &metadata, 0)?.unwrap_or((0, 0));
                total += own + below;
            }
            Err(error) => {
                walk.failed = true;
                context.complain(&[
                    b"cannot access ",
                    &context.quoted(operand),
                    b": ",
                    reason(&error).as_bytes(),
                ]);
            }
        }
    }
    if parsed.has(b'c') {
        walk.print(context, total, b"total")?;
    }
    Ok(Outcome::Status(i32::from(walk.failed)))
}

impl Walk {
    /// The bytes of a file or folder itself with its files, and of the folders below; `None` for what counted already.
    fn visit(
        &mut self,
        context: &mut Context<'_>,
        path: &[u8],
        metadata: &Metadata,
        depth: u64,
    ) -> io::Result<Option<(u64, u64)>> {
        context.poll()?;
        let folder = metadata.is_dir();
        let remembered = self.everything || (!folder && metadata.nlink() > 1);
        if remembered && !self.links && !self.seen.insert((metadata.dev(), metadata.ino())) {
            return Ok(None);
        }
        let mut own = if self.apparent { metadata.size() } else { metadata.blocks() * 512 };
        let mut below = 0;
        if folder {
            if depth as usize >= DIRECTORY_DEPTH_MAX {
                self.refuse(context, path, &io::Error::from_raw_os_error(ENAMETOOLONG));
            } else {
                self.enter(context, path, depth, &mut own, &mut below)?;
            }
        }
        if depth == 0 || (depth <= self.depth_max && (folder || self.all)) {
            let size = if self.separate { own } else { own + below };
            self.print(context, size, path)?;
        }
        Ok(Some((own, below)))
    }

    fn enter(
        &mut self,
        context: &mut Context<'_>,
        path: &[u8],
        depth: u64,
        own: &mut u64,
        below: &mut u64,
    ) -> io::Result<()> {
        let reader = match fs::read_dir(context.path(path)) {
            Ok(reader) => reader,
            Err(error) => {
                self.refuse(context, path, &error);
                return Ok(());
            }
        };
        let mut entries: Vec<_> =
            reader.flatten().map(|entry| (entry.ino(), entry.file_name().into_vec())).collect();
        if entries.len() > UNSORTED_MAX {
            entries.sort_unstable();
        }
        for (_, name) in entries {
            let slash: &[u8] = if path.ends_with(b"/") { b"" } else { b"/" };
            let inner = [path, slash, &name].concat();
            let metadata = match fs::symlink_metadata(context.path(&inner)) {
                Ok(metadata) => metadata,
                Err(error) => {
                    self.failed = true;
                    let name = context.quoted(&inner);
                    context.complain(&[b"cannot access ", &name, b": ", reason(&error).as_bytes()]);
                    continue;
                }
            };
            if self.one_file_system && metadata.dev() != self.device {
                continue;
            }
            let Some((size, deeper)) = self.visit(context, &inner, &metadata, depth + 1)? else { continue };
            if metadata.is_dir() {
                *below += size + deeper;
            } else {
                *own += size;
            }
        }
        Ok(())
    }

    fn refuse(&mut self, context: &mut Context<'_>, path: &[u8], error: &io::Error) {
        self.failed = true;
        let name = context.quoted(path);
        context.complain(&[b"cannot read directory ", &name, b": ", reason(error).as_bytes()]);
    }

    fn print(&self, context: &mut Context<'_>, size: u64, name: &[u8]) -> io::Result<()> {
        let text = match self.unit {
            Unit::Bytes(unit) => size.div_ceil(unit).to_string(),
            Unit::Human => crate::ls::human_size(size),
        };
        context.output.write_all(&[text.as_bytes(), b"\t", name, &[self.end]].concat())?;
        // Lines come as they are made; what fails then is said at the end.
        let _ = context.output.flush();
        Ok(())
    }
}

/// A path that is too long.
const ENAMETOOLONG: i32 = 36;
