//! `ls`: lists directories, one name per line or in long form. Flags: `-1 -a -A -d -F -g -h -i -l -n -o -p -r -R -S
//! -t -U --color=never|auto --full-time --json`; columns and colours on a terminal are left to the external program.

use std::cmp::Ordering;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};

use crate::calendar::zone::TimeZone;
use crate::calendar::{Civil, strftime};
use crate::context::reason;
use crate::json::Json;
use crate::limits::DIRECTORY_DEPTH_MAX;
use crate::mode::symbolic;
use crate::options::{Parsed, parse};
use crate::owners::Owners;
use crate::stat::{device_numbers, file_fields};
use crate::{Context, Outcome};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    Name,
    Time,
    Size,
    None,
}

struct Style {
    all: bool,
    almost_all: bool,
    directory_itself: bool,
    classify: bool,
    slash: bool,
    human: bool,
    inode: bool,
    long: bool,
    numeric: bool,
    no_owner: bool,
    no_group: bool,
    reverse: bool,
    recursive: bool,
    full_time: bool,
    order: Order,
    json: bool,
}

/// A listed file.
struct Entry {
    name: Vec<u8>,
    /// `None` if it could not be examined, or need not be.
    metadata: Option<Metadata>,
    target: Option<Vec<u8>>,
    is_directory: bool,
}

struct Listing<'s> {
    style: &'s Style,
    owners: Option<Owners>,
    zone: TimeZone,
    now: i64,
    status: i32,
}

const LONG: &[(&str, u8)] = &[
    ("all", b'a'),
    ("almost-all", b'A'),
    ("directory", b'd'),
    ("classify", b'F'),
    ("human-readable", b'h'),
    ("inode", b'i'),
    ("numeric-uid-gid", b'n'),
    ("no-group", b'G'),
    ("reverse", b'r'),
    ("recursive", b'R'),
    ("full-time", b'!'),
    ("color?", b'c'),
    ("json", b'J'),
];

pub(crate) fn run(context: &mut Context<'_>) -> io::Result<Outcome> {
    let Some(parsed) = parse(context.args, "1aAdFgGhilnoprRStU", LONG) else {
        return Ok(Outcome::Fallthrough);
    };
    let style = style(&parsed);
    // What a link leads to gets a mark of its own.
    if style.long && style.classify && !style.json {
        return Ok(Outcome::Fallthrough);
    }
    let colour = parsed.value(b'c').is_some_and(|c| !matches!(c, b"never" | b"auto"));
    let terminal = context.host.output_is_terminal() && !style.json;
    if colour || terminal || !context.collates_by_byte() || changes_quoting(context) {
        return Ok(Outcome::Fallthrough);
    }
    let mut listing = Listing {
        owners: (style.long && !style.numeric || style.json).then(Owners::load),
        zone: context.time_zone(),
        now: context.host.now().0,
        style: &style,
        status: 0,
    };
    let operands = if parsed.operands.is_empty() { vec![b".".as_slice()] } else { parsed.operands.clone() };
    let several = operands.len() > 1;
    let (mut files, mut directories, mut missing) = (Vec::new(), Vec::new(), Vec::new());
    for word in operands {
        let path = context.path(word);
        // A link to a directory on the command line is followed, except in long form.
        let found = if style.long || style.directory_itself || style.classify {
            fs::symlink_metadata(&path)
        } else {
            match fs::metadata(&path) {
                Ok(metadata) if metadata.is_dir() => Ok(metadata),
                _ => fs::symlink_metadata(&path),
            }
        };
        match found {
            Err(error) => missing.push((word, error)),
            Ok(metadata) if metadata.is_dir() && !style.directory_itself => {
                directories.push((word.to_vec(), metadata))
            }
            Ok(metadata) => {
                let target = link_target(&metadata, &path);
                let is_directory = metadata.is_dir();
                files.push(Entry { name: word.to_vec(), metadata: Some(metadata), target, is_directory });
            }
        }
    }
    // The columns of the files are as wide as those of the folders would be.
    let columns = style.long || parsed.has(b'i');
    if columns && !files.is_empty() && !directories.is_empty() && !style.json {
        return Ok(Outcome::Fallthrough);
    }
    for (word, error) in missing {
        context.complain(&[b"cannot access ", &context.quoted(word), b": ", reason(&error).as_bytes()]);
        listing.status = 2;
    }
    sort(&mut files, &style);
    directories.sort_by(|a, b| order(&style, (&a.0, Some(&a.1)), (&b.0, Some(&b.1))));
    if style.json {
        return json_listing(context, &mut listing, files, directories);
    }
    let mut out = Vec::new();
    listing.show(&files, &mut out);
    context.output.write_all(&out)?;
    let headers = several || style.recursive;
    let mut first = files.is_empty();
    for (word, _) in directories {
        listing.directory(context, &word, headers, &mut first, 0)?;
    }
    Ok(Outcome::Status(listing.status))
}

fn changes_quoting(context: &Context<'_>) -> bool {
    ["QUOTING_STYLE", "TIME_STYLE", "LS_BLOCK_SIZE", "BLOCK_SIZE", "BLOCKSIZE", "POSIXLY_CORRECT"]
        .iter()
        .any(|name| context.host.variable(name).is_some())
}

fn style(parsed: &Parsed<'_>) -> Style {
    let any = |letters: &[u8]| letters.iter().any(|l| parsed.has(*l));
    let order = match parsed.last_of(b"tSU") {
        Some(b't') => Order::Time,
        Some(b'S') => Order::Size,
        Some(_) => Order::None,
        None => Order::Name,
    };
    Style {
        all: parsed.last_of(b"aA") == Some(b'a'),
        almost_all: parsed.last_of(b"aA") == Some(b'A'),
        directory_itself: any(b"d"),
        classify: parsed.last_of(b"Fp") == Some(b'F'),
        slash: parsed.last_of(b"Fp") == Some(b'p'),
        human: any(b"h"),
        inode: any(b"i"),
        long: any(b"lngo!"),
        numeric: any(b"n"),
        no_owner: any(b"g"),
        no_group: any(b"oG"),
        reverse: any(b"r"),
        recursive: any(b"R") && !any(b"d"),
        full_time: any(b"!"),
        order,
        json: any(b"J"),
    }
}

fn link_target(metadata: &Metadata, path: &std::path::Path) -> Option<Vec<u8>> {
    if !metadata.is_symlink() {
        return None;
    }
    fs::read_link(path).ok().map(|t| t.into_os_string().into_vec())
}

fn order(style: &Style, a: (&[u8], Option<&Metadata>), b: (&[u8], Option<&Metadata>)) -> Ordering {
    let time = |m: Option<&Metadata>| m.map_or((0, 0), |m| (m.mtime(), m.mtime_nsec()));
    let size = |m: Option<&Metadata>| m.map_or(0, Metadata::len);
    let result = match style.order {
        Order::None => return Ordering::Equal,
        Order::Name => a.0.cmp(b.0),
        Order::Time => time(b.1).cmp(&time(a.1)).then_with(|| a.0.cmp(b.0)),
        Order::Size => size(b.1).cmp(&size(a.1)).then_with(|| a.0.cmp(b.0)),
    };
    if style.reverse { result.reverse() } else { result }
}

fn sort(entries: &mut [Entry], style: &Style) {
    entries.sort_by(|a, b| order(style, (&a.name, a.metadata.as_ref()), (&b.name, b.metadata.as_ref())));
}

impl Listing<'_> {
    fn needs_metadata(&self) -> bool {
        let style = self.style;
        style.long
            || style.classify
            || style.inode
            || style.json
            || matches!(style.order, Order::Time | Order::Size)
    }

    fn read(&mut self, context: &mut Context<'_>, word: &[u8]) -> Option<Vec<Entry>> {
        let path = context.path(word).into_owned();
        let reader = match fs::read_dir(&path) {
            Ok(reader) => reader,
            Err(error) => {
                context.complain(&[
                    b"cannot open directory ",
                    &context.quoted(word),
                    b": ",
                    reason(&error).as_bytes(),
                ]);
                self.status = 2;
                return None;
            }
        };
        let mut entries = Vec::new();
        if self.style.all {
            for name in [".", ".."] {
                let metadata = fs::symlink_metadata(path.join(name)).ok();
                entries.push(Entry { name: name.into(), metadata, target: None, is_directory: true });
            }
        }
        for entry in reader.flatten() {
            if (context.interrupted)() {
                break;
            }
            let name = entry.file_name().into_vec();
            if name.first() == Some(&b'.') && !self.style.all && !self.style.almost_all {
                continue;
            }
            let is_directory = entry.file_type().is_ok_and(|t| t.is_dir());
            let metadata = if self.needs_metadata() { entry.metadata().ok() } else { None };
            let target = metadata.as_ref().and_then(|m| link_target(m, &entry.path()));
            entries.push(Entry { name, metadata, target, is_directory });
        }
        sort(&mut entries, self.style);
        Some(entries)
    }

    fn directory(
        &mut self,
        context: &mut Context<'_>,
        word: &[u8],
        headers: bool,
        first: &mut bool,
        depth: usize,
    ) -> io::Result<()> {
        context.poll()?;
        let Some(entries) = self.read(context, word) else { return Ok(()) };
        let mut out = Vec::new();
        if headers {
            if !*first {
                out.push(b'\n');
            }
            out.extend_from_slice(word);
            out.extend_from_slice(b":\n");
        }
        *first = false;
        if self.style.long {
            let blocks: u64 =
                entries.iter().filter_map(|e| e.metadata.as_ref()).map(MetadataExt::blocks).sum();
            let total =
                if self.style.human { human_size(blocks * 512) } else { blocks.div_ceil(2).to_string() };
            out.extend_from_slice(format!("total {total}\n").as_bytes());
        }
        self.show(&entries, &mut out);
        context.output.write_all(&out)?;
        if self.style.recursive && depth < DIRECTORY_DEPTH_MAX {
            for entry in entries.iter().filter(|e| e.is_directory && e.name != b"." && e.name != b"..") {
                let slash: &[u8] = if word.last() == Some(&b'/') { b"" } else { b"/" };
                let inner = [word, slash, &entry.name].concat();
                self.directory(context, &inner, headers, first, depth + 1)?;
            }
        }
        Ok(())
    }

    fn show(&self, entries: &[Entry], out: &mut Vec<u8>) {
        let inode_width =
            entries.iter().filter_map(|e| e.metadata.as_ref()).map(|m| m.ino().to_string().len()).max();
        let rows = if self.style.long { self.long_rows(entries) } else { Vec::new() };
        for (index, entry) in entries.iter().enumerate() {
            if self.style.inode {
                let inode = entry.metadata.as_ref().map_or("?".into(), |m| m.ino().to_string());
                out.extend_from_slice(
                    format!("{inode:>width$} ", width = inode_width.unwrap_or(1)).as_bytes(),
                );
            }
            if let Some(row) = rows.get(index) {
                out.extend_from_slice(row.as_bytes());
            }
            out.extend_from_slice(&entry.name);
            if let Some(target) = entry.target.as_ref().filter(|_| self.style.long) {
                out.extend_from_slice(b" -> ");
                out.extend_from_slice(target);
            } else {
                out.extend(self.indicator(entry));
            }
            out.push(b'\n');
        }
    }

    fn indicator(&self, entry: &Entry) -> Option<u8> {
        if self.style.slash {
            return entry.is_directory.then_some(b'/');
        }
        let metadata = entry.metadata.as_ref().filter(|_| self.style.classify)?;
        let kind = metadata.file_type();
        if kind.is_dir() {
            Some(b'/')
        } else if kind.is_symlink() {
            Some(b'@')
        } else if kind.is_fifo() {
            Some(b'|')
        } else if kind.is_socket() {
            Some(b'=')
        } else {
            (kind.is_file() && metadata.mode() & 0o111 != 0).then_some(b'*')
        }
    }

    /// The columns before the names, aligned.
    fn long_rows(&self, entries: &[Entry]) -> Vec<String> {
        let columns: Vec<[String; 6]> = entries.iter().map(|e| self.columns(e)).collect();
        let width =
            |column: usize| columns.iter().filter_map(|c| c.get(column)).map(String::len).max().unwrap_or(0);
        let (links, user, group) = (width(1), width(2), width(3));
        let (mut size, major, minor) = device_widths(entries, width(4));
        if major > 0 {
            size = size.max(major + 2 + minor);
        }
        let row = |entry: &Entry, columns: &[String; 6]| {
            let [mode, link, owner, owner_group, length, time] = columns;
            let mut text = format!("{mode} {link:>links$} ");
            let align = |name: &str, width: usize| {
                if self.style.numeric { format!("{name:>width$} ") } else { format!("{name:<width$} ") }
            };
            if !self.style.no_owner {
                text += &align(owner, user);
            }
            if !self.style.no_group {
                text += &align(owner_group, group);
            }
            match entry.metadata.as_ref().filter(|m| is_device(m)) {
                Some(m) => {
                    let (high, low) = device_numbers(m.rdev());
                    let gap = size - (major + 2 + minor);
                    text += &format!("{:gap$}{high:>major$}, {low:>minor$} {time} ", "");
                }
                None => text += &format!("{length:>size$} {time} "),
            }
            text
        };
        entries.iter().zip(&columns).map(|(e, c)| row(e, c)).collect()
    }

    fn columns(&self, entry: &Entry) -> [String; 6] {
        let unknown = || String::from("?");
        let Some(m) = &entry.metadata else {
            return ["?????????".into(), unknown(), unknown(), unknown(), unknown(), "           ?".into()];
        };
        let (user, group) = match &self.owners {
            Some(owners) => (owners.user(m.uid()), owners.group(m.gid())),
            None => (m.uid().to_string(), m.gid().to_string()),
        };
        let size = if is_device(m) {
            String::new()
        } else if self.style.human {
            human_size(m.len())
        } else {
            m.len().to_string()
        };
        [symbolic(m), m.nlink().to_string(), user, group, size, self.time(m)]
    }

    fn time(&self, metadata: &Metadata) -> String {
        let seconds = metadata.mtime();
        let civil = Civil::new(seconds, &self.zone);
        // Half of a Gregorian year of 365.2425 days.
        let recent = seconds > self.now - 31_556_952 / 2 && seconds <= self.now;
        let format: &[u8] = match (self.style.full_time, recent) {
            (true, _) => b"%Y-%m-%d %H:%M:%S.%N %z",
            (_, true) => b"%b %e %H:%M",
            _ => b"%b %e  %Y",
        };
        String::from_utf8_lossy(&strftime(format, &civil, metadata.mtime_nsec() as u32)).into_owned()
    }
}

fn is_device(metadata: &Metadata) -> bool {
    let kind = metadata.file_type();
    kind.is_block_device() || kind.is_char_device()
}

/// The widths of sizes, and of major and minor numbers if there are devices.
fn device_widths(entries: &[Entry], size: usize) -> (usize, usize, usize) {
    let devices = entries.iter().filter_map(|e| e.metadata.as_ref()).filter(|m| is_device(m));
    let widths = devices.map(|m| {
        let (major, minor) = device_numbers(m.rdev());
        (major.to_string().len(), minor.to_string().len())
    });
    let (major, minor) = widths.fold((0, 0), |(a, b), (c, d)| (a.max(c), b.max(d)));
    (size, major, minor)
}

/// A size with one of `K M G ...`, rounded up, as `ls -h` shows it.
pub(crate) fn human_size(bytes: u64) -> String {
    if bytes < 1_024 {
        return bytes.to_string();
    }
    let mut unit = 1u128;
    let mut letter = 'K';
    let bytes = u128::from(bytes);
    for next in "KMGTPE".chars() {
        letter = next;
        unit *= 1_024;
        let tenths = (bytes * 10).div_ceil(unit);
        if tenths < 100 {
            return format!("{}.{}{letter}", tenths / 10, tenths % 10);
        }
        if bytes.div_ceil(unit) < 1_024 {
            break;
        }
    }
    format!("{}{letter}", bytes.div_ceil(unit))
}

fn json_listing(
    context: &mut Context<'_>,
    listing: &mut Listing<'_>,
    files: Vec<Entry>,
    directories: Vec<(Vec<u8>, Metadata)>,
) -> io::Result<Outcome> {
    let mut json = Json::default();
    let owners = Owners::load();
    json.open('[');
    let mut row = |directory: Option<&[u8]>, entry: &Entry| {
        json.open('{');
        json.field("name", &entry.name);
        if let Some(directory) = directory {
            json.field("directory", directory);
        }
        if let Some(metadata) = &entry.metadata {
            file_fields(&mut json, metadata, &owners);
        }
        if let Some(target) = &entry.target {
            json.field("target", target);
        }
        json.close('}');
    };
    for entry in &files {
        row(None, entry);
    }
    let mut pending: Vec<Vec<u8>> = directories.into_iter().rev().map(|(word, _)| word).collect();
    while let Some(word) = pending.pop() {
        let Some(entries) = listing.read(context, &word) else { continue };
        for entry in &entries {
            row(Some(&word), entry);
        }
        if listing.style.recursive {
            let inner = entries.iter().rev().filter(|e| e.is_directory && e.name != b"." && e.name != b"..");
            pending.extend(inner.map(|e| [word.as_slice(), b"/", &e.name].concat()));
        }
    }
    json.close(']');
    context.output.write_all(&json.finish())?;
    Ok(Outcome::Status(listing.status))
}
