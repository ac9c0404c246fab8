//! `stat`: file status. Flags: `-L -c FORMAT --printf=FORMAT`, the default format, `--json`.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::time::UNIX_EPOCH;

use crate::calendar::zone::TimeZone;
use crate::calendar::{Civil, strftime};
use crate::context::reason;
use crate::json::Json;
use crate::mode::{symbolic, type_name};
use crate::options::parse;
use crate::owners::Owners;
use crate::quoting::always;
use crate::{Context, Outcome};

const DIRECTIVES: &[u8] = b"aAbBdDfFgGhinNosStTuUwWxXyYzZ%";

pub(crate) fn run(context: &mut Context<'_>) -> io::Result<Outcome> {
    let long = [("dereference", b'L'), ("format=", b'c'), ("printf=", b'P'), ("json", b'J')];
    let Some(parsed) = parse(context.args, "Lc:", &long) else { return Ok(Outcome::Fallthrough) };
    let escapes = parsed.last_of(b"cP") == Some(b'P');
    let format = if escapes { parsed.value(b'P') } else { parsed.value(b'c') };
    let unsupported = format.is_some_and(|f| !is_supported(f, escapes));
    if parsed.operands.is_empty() || unsupported || parsed.operands.contains(&b"-".as_slice()) {
        return Ok(Outcome::Fallthrough);
    }
    let shower = Shower { owners: Owners::load(), zone: context.time_zone(), utf8: context.is_utf8() };
    let mut status = 0;
    let mut rows = Vec::new();
    for word in &parsed.operands {
        let path = context.path(word);
        let found = if parsed.has(b'L') { fs::metadata(&path) } else { fs::symlink_metadata(&path) };
        let metadata = match found {
            Ok(metadata) => metadata,
            Err(error) => {
                context.complain(&[
                    b"cannot statx ",
                    &context.quoted(word),
                    b": ",
                    reason(&error).as_bytes(),
                ]);
                status = 1;
                continue;
            }
        };
        let target = fs::read_link(&path).ok().map(|t| t.as_os_str().as_bytes().to_vec());
        let target = target.filter(|_| !parsed.has(b'L'));
        let file = File { name: word, metadata: &metadata, target: target.as_deref() };
        if parsed.has(b'J') {
            rows.push(shower.json_row(&file));
        } else if let Some(format) = format {
            let mut out = shower.expand(format, &file, escapes);
            if !escapes {
                out.push(b'\n');
            }
            context.output.write_all(&out)?;
        } else {
            context.output.write_all(&shower.default(&file))?;
        }
    }
    if parsed.has(b'J') {
        context.output.write_all(format!("[{}]\n", rows.join(",")).as_bytes())?;
    }
    Ok(Outcome::Status(status))
}

/// Whether every directive is a plain one that we know.
fn is_supported(format: &[u8], escapes: bool) -> bool {
    let mut bytes = format.iter();
    while let Some(&byte) = bytes.next() {
        match byte {
            b'%' => match bytes.next() {
                Some(letter) if DIRECTIVES.contains(letter) => {}
                _ => return false,
            },
            b'\\' if escapes => match bytes.next() {
                Some(b'n' | b't' | b'\\' | b'"') => {}
                _ => return false,
            },
            _ => {}
        }
    }
    true
}

struct File<'a> {
    name: &'a [u8],
    metadata: &'a Metadata,
    target: Option<&'a [u8]>,
}

struct Shower {
    owners: Owners,
    zone: TimeZone,
    utf8: bool,
}

impl Shower {
    fn time(&self, seconds: i64, nanoseconds: i64) -> String {
        let civil = Civil::new(seconds, &self.zone);
        let text = strftime(b"%Y-%m-%d %H:%M:%S.%N %z", &civil, nanoseconds as u32);
        String::from_utf8_lossy(&text).into_owned()
    }

    fn birth(&self, metadata: &Metadata) -> Option<(i64, i64)> {
        let since = metadata.created().ok()?.duration_since(UNIX_EPOCH).ok()?;
        Some((since.as_secs() as i64, i64::from(since.subsec_nanos())))
    }

    fn quoted_name(&self, file: &File<'_>) -> Vec<u8> {
        match file.target {
            Some(target) => {
                [always(file.name, self.utf8).as_slice(), b" -> ", &always(target, self.utf8)].concat()
            }
            None => always(file.name, self.utf8),
        }
    }

    fn expand(&self, format: &[u8], file: &File<'_>, escapes: bool) -> Vec<u8> {
        let mut out = Vec::new();
        let mut bytes = format.iter().copied();
        while let Some(byte) = bytes.next() {
            match byte {
                b'%' => out.extend(self.directive(bytes.next().unwrap_or(b'%'), file)),
                b'\\' if escapes => out.push(match bytes.next() {
                    Some(b'n') => b'\n',
                    Some(b't') => b'\t',
                    Some(other) => other,
                    None => b'\\',
                }),
                _ => out.push(byte),
            }
        }
        out
    }

    fn directive(&self, letter: u8, file: &File<'_>) -> Vec<u8> {
        let m = file.metadata;
        let (major, minor) = device_numbers(m.rdev());
        let text = match letter {
            b'%' => "%".into(),
            b'a' => format!("{:o}", m.mode() & 0o7777),
            b'A' => symbolic(m),
            b'b' => m.blocks().to_string(),
            b'B' => "512".into(),
            b'd' => m.dev().to_string(),
            b'D' => format!("{:x}", m.dev()),
            b'f' => format!("{:x}", m.mode()),
            b'F' => type_name(m).into(),
            b'g' => m.gid().to_string(),
            b'G' => self.owners.group_or_unknown(m.gid()),
            b'h' => m.nlink().to_string(),
            b'i' => m.ino().to_string(),
            b'n' => return file.name.to_vec(),
            b'N' => return self.quoted_name(file),
            b'o' => m.blksize().to_string(),
            b's' => m.len().to_string(),
            b't' => format!("{major:x}"),
            b'T' => format!("{minor:x}"),
            b'u' => m.uid().to_string(),
            b'U' => self.owners.user_or_unknown(m.uid()),
            b'w' => self.birth(m).map_or("-".into(), |(s, n)| self.time(s, n)),
            b'W' => self.birth(m).map_or("0".into(), |(s, _)| s.to_string()),
            b'x' => self.time(m.atime(), m.atime_nsec()),
            b'X' => m.atime().to_string(),
            b'y' => self.time(m.mtime(), m.mtime_nsec()),
            b'Y' => m.mtime().to_string(),
            b'z' => self.time(m.ctime(), m.ctime_nsec()),
            _ => m.ctime().to_string(),
        };
        text.into_bytes()
    }

    fn default(&self, file: &File<'_>) -> Vec<u8> {
        let m = file.metadata;
        let name = match file.target {
            Some(target) => [file.name, b" -> ", target].concat(),
            None => file.name.to_vec(),
        };
        let (major, minor) = device_numbers(m.dev());
        let mut out = b"  File: ".to_vec();
        out.extend(name);
        out.extend_from_slice(
            format!(
                "\n  Size: {:<10}\tBlocks: {:<10} IO Block: {:<6} {}\n",
                m.len(),
                m.blocks(),
                m.blksize(),
                type_name(m)
            )
            .as_bytes(),
        );
        let special = matches!(type_name(m), "block special file" | "character special file");
        let device = format!("{major},{minor}");
        let links = if special {
            let (major, minor) = device_numbers(m.rdev());
            format!("{:<5} Device type: {major},{minor}", m.nlink())
        } else {
            m.nlink().to_string()
        };
        out.extend_from_slice(
            format!("Device: {device}\tInode: {:<11} Links: {links}\n", m.ino()).as_bytes(),
        );
        out.extend_from_slice(
            format!(
                "Access: ({:04o}/{:>10})  Uid: ({:>5}/{:>8})   Gid: ({:>5}/{:>8})\n",
                m.mode() & 0o7777,
                symbolic(m),
                m.uid(),
                self.owners.user_or_unknown(m.uid()),
                m.gid(),
                self.owners.group_or_unknown(m.gid())
            )
            .as_bytes(),
        );
        let birth = self.birth(m).map_or("-".into(), |(s, n)| self.time(s, n));
        out.extend_from_slice(
            format!(
                "Access: {}\nModify: {}\nChange: {}\n Birth: {birth}\n",
                self.time(m.atime(), m.atime_nsec()),
                self.time(m.mtime(), m.mtime_nsec()),
                self.time(m.ctime(), m.ctime_nsec()),
            )
            .as_bytes(),
        );
        out
    }

    fn json_row(&self, file: &File<'_>) -> String {
        let mut json = Json::default();
        json.open('{');
        json.field("name", file.name);
        file_fields(&mut json, file.metadata, &self.owners);
        if let Some(target) = file.target {
            json.field("target", target);
        }
        json.close('}');
        String::from_utf8_lossy(&json.finish()).trim_end().to_owned()
    }
}

/// The fields that describe a file in `--json` results.
pub(crate) fn file_fields(json: &mut Json, m: &Metadata, owners: &Owners) {
    let kind = match crate::mode::type_letter(m.file_type()) {
        b'd' => "directory",
        b'l' => "symlink",
        b'p' => "fifo",
        b's' => "socket",
        b'b' => "block_device",
        b'c' => "character_device",
        _ => "file",
    };
    json.field("type", kind.as_bytes());
    json.plain_field("size", m.len());
    json.field("mode", format!("{:04o}", m.mode() & 0o7777).as_bytes());
    json.field("user", owners.user(m.uid()).as_bytes());
    json.field("group", owners.group(m.gid()).as_bytes());
    json.plain_field("links", m.nlink());
    json.plain_field("inode", m.ino());
    json.plain_field("modified", format!("{}.{:09}", m.mtime(), m.mtime_nsec()));
}

/// The major and minor number of a device.
pub(crate) fn device_numbers(device: u64) -> (u64, u64) {
    let major = (device >> 8 & 0xfff) | (device >> 32 & !0xfff);
    let minor = (device & 0xff) | (device >> 12 & !0xff);
    (major, minor)
}
