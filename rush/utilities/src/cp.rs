//! `cp`: copies files and trees. Flags: `-r -R -f -n -v -p -T -t DIR`; devices, hard links to keep, and anything
//! about the target that is unusual are left to the external program.

use std::fs::{self, File, FileTimes, Metadata, OpenOptions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use crate::basename::base_name;
use crate::context::reason;
use crate::limits::DIRECTORY_DEPTH_MAX;
use crate::options::parse;
use crate::{Context, Outcome};

struct Style {
    recursive: bool,
    force: bool,
    no_clobber: bool,
    verbose: bool,
    preserve: bool,
}

/// Where each source goes, or that the external program shall decide.
pub(crate) fn destinations(
    context: &Context<'_>,
    operands: &[&[u8]],
    directory: Option<&[u8]>,
    not_directory: bool,
) -> Option<Vec<(Vec<u8>, Vec<u8>)>> {
    let (sources, target) = match directory {
        Some(directory) => (operands, directory),
        None => {
            let (target, sources) = operands.split_last()?;
            (sources, *target)
        }
    };
    if target.is_empty()
        || sources.is_empty()
        || (directory.is_some() && not_directory)
        || sources.iter().any(|s| s.is_empty())
    {
        return None;
    }
    let found = fs::metadata(context.path(target));
    if found.as_ref().is_err_and(|error| error.kind() != io::ErrorKind::NotFound) {
        return None;
    }
    let is_directory = found.is_ok_and(|m| m.is_dir());
    if !is_directory || not_directory {
        let lone = sources.len() == 1 && directory.is_none() && (!is_directory || not_directory);
        let slash = target.last() == Some(&b'/');
        return (lone && !slash)
            .then(|| vec![(sources.first().map_or(Vec::new(), |s| s.to_vec()), target.to_vec())]);
    }
    let slash: &[u8] = if target.last() == Some(&b'/') { b"" } else { b"/" };
    let into = |s: &&[u8]| {
        let base = base_name(s);
        (!matches!(base, b".." | b"." | b"/")).then(|| (s.to_vec(), [target, slash, base].concat()))
    };
    let pairs: Vec<(Vec<u8>, Vec<u8>)> = sources.iter().map(into).collect::<Option<_>>()?;
    // Two sources of one name: a warning, or a refusal to overwrite what was just made.
    let targets: std::collections::HashSet<&[u8]> = pairs.iter().map(|(_, to)| to.as_slice()).collect();
    (targets.len() == pairs.len()).then_some(pairs)
}

pub(crate) fn run(context: &mut Context<'_>) -> io::Result<Outcome> {
    let long = [
        ("recursive", b'r'),
        ("force", b'f'),
        ("no-clobber", b'n'),
        ("verbose", b'v'),
        ("no-target-directory", b'T'),
        ("target-directory=", b't'),
    ];
    let Some(parsed) = parse(context.args, "rRfnvpTt:", &long) else { return Ok(Outcome::Fallthrough) };
    let style = Style {
        recursive: parsed.has(b'r') || parsed.has(b'R'),
        force: parsed.has(b'f'),
        no_clobber: parsed.has(b'n'),
        verbose: parsed.has(b'v'),
        preserve: parsed.has(b'p'),
    };
    if parsed.given.iter().filter(|(letter, _)| *letter == b't').count() > 1 {
        return Ok(Outcome::Fallthrough);
    }
    let pairs = destinations(context, &parsed.operands, parsed.value(b't'), parsed.has(b'T'));
    let Some(pairs) = pairs else { return Ok(Outcome::Fallthrough) };
    // The order in which a tree is announced is GNU's own.
    if style.recursive && style.verbose {
        return Ok(Outcome::Fallthrough);
    }
    if !pairs.iter().all(|(from, to)| is_ordinary(context, from, to, &style)) {
        return Ok(Outcome::Fallthrough);
    }
    let mut status = 0;
    for (from, to) in &pairs {
        if !copy(context, from, to, &style, 0)? {
            status = 1;
        }
    }
    Ok(Outcome::Status(status))
}

/// Whether copying needs nothing that only the external program does.
fn is_ordinary(context: &Context<'_>, from: &[u8], to: &[u8], style: &Style) -> bool {
    let source = context.path(from).into_owned();
    let target = context.path(to).into_owned();
    // A link that is copied as one may be the same file.
    let is_link = |path: &Path| fs::symlink_metadata(path).is_ok_and(|m| m.is_symlink());
    if style.recursive && is_link(&source) && fs::symlink_metadata(&target).is_ok() {
        return false;
    }
    let Ok(metadata) = fs::metadata(&source) else { return true };
    // Nothing is written through a link that leads nowhere.
    if fs::symlink_metadata(&target).is_ok_and(|m| m.is_symlink()) && !target.exists() {
        return false;
    }
    if !metadata.is_dir() {
        return metadata.is_file();
    }
    if !style.recursive {
        return true;
    }
    let parent = target.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let inside = match (fs::canonicalize(&source), fs::canonicalize(parent)) {
        (Ok(source), Ok(parent)) => {
            parent.starts_with(&source) || fs::canonicalize(&target).is_ok_and(|target| target == source)
        }
        _ => true,
    };
    !inside && has_ordinary_files(&source, 0)
}

fn has_ordinary_files(directory: &Path, depth: usize) -> bool {
    if depth > DIRECTORY_DEPTH_MAX {
        return false;
    }
    let Ok(reader) = fs::read_dir(directory) else { return true };
    reader.flatten().all(|entry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => has_ordinary_files(&entry.path(), depth + 1),
        Ok(kind) => kind.is_file() || kind.is_symlink(),
        Err(_) => true,
    })
}

/// Copies one file or tree; `false` if something failed and was reported.
fn copy(context: &mut Context<'_>, from: &[u8], to: &[u8], style: &Style, depth: usize) -> io::Result<bool> {
    let source = context.path(from).into_owned();
    let follow = depth == 0 && !style.recursive;
    let found = if follow { fs::metadata(&source) } else { fs::symlink_metadata(&source) };
    let metadata = match found {
        Ok(metadata) => metadata,
        Err(error) => {
            context.complain(&[b"cannot stat ", &context.quoted(from), b": ", reason(&error).as_bytes()]);
            return Ok(false);
        }
    };
    if metadata.is_dir() {
        if !style.recursive {
            context.complain(&[b"-r not specified; omitting directory ", &context.quoted(from)]);
            return Ok(false);
        }
        return copy_directory(context, from, to, style, depth, &metadata);
    }
    let target = context.path(to).into_owned();
    let existing = fs::metadata(&target).ok();
    if let Some(existing) = &existing {
        if style.no_clobber {
            return Ok(true);
        }
        if existing.dev() == metadata.dev() && existing.ino() == metadata.ino() {
            context.complain(&[&context.quoted(from), b" and ", &context.quoted(to), b" are the same file"]);
            return Ok(false);
        }
        if existing.is_dir() {
            context.complain(&[b"cannot overwrite directory ", &context.quoted(to), b" with non-directory"]);
            return Ok(false);
        }
    }
    if style.verbose {
        announce(context, from, to)?;
    }
    let result = if metadata.is_symlink() {
        copy_link(&source, &target)
    } else {
        copy_file(&source, &target, &metadata, style)
    };
    match result {
        Ok(()) => Ok(true),
        Err((what, error)) => {
            let (name, tail) = if what == SOURCE { (from, " for reading: ") } else { (to, ": ") };
            context.complain(&[
                what.as_bytes(),
                &context.quoted(name),
                tail.as_bytes(),
                reason(&error).as_bytes(),
            ]);
            Ok(false)
        }
    }
}

const SOURCE: &str = "cannot open ";
const CREATE: &str = "cannot create regular file ";
const WRITE: &str = "error writing ";
const LINK: &str = "cannot create symbolic link ";

fn announce(context: &mut Context<'_>, from: &[u8], to: &[u8]) -> io::Result<()> {
    context
        .output
        .write_all(&[&context.quoted(from), b" -> ".as_slice(), &context.quoted(to), b"\n"].concat())
}

fn copy_link(source: &Path, target: &Path) -> Result<(), (&'static str, io::Error)> {
    let link = fs::read_link(source).map_err(|e| (SOURCE, e))?;
    if fs::symlink_metadata(target).is_ok() {
        fs::remove_file(target).map_err(|e| (LINK, e))?;
    }
    symlink(link, target).map_err(|e| (LINK, e))
}

fn copy_file(
    source: &Path,
    target: &Path,
    metadata: &Metadata,
    style: &Style,
) -> Result<(), (&'static str, io::Error)> {
    let mut input = File::open(source).map_err(|e| (SOURCE, e))?;
    let open = || {
        let mode = metadata.mode() & 0o777;
        OpenOptions::new().write(true).create(true).truncate(true).mode(mode).open(target)
    };
    let mut output = match open() {
        Err(_) if style.force && fs::symlink_metadata(target).is_ok() => {
            fs::remove_file(target).and_then(|()| open()).map_err(|e| (CREATE, e))?
        }
        opened => opened.map_err(|e| (CREATE, e))?,
    };
    io::copy(&mut input, &mut output).map_err(|e| (WRITE, e))?;
    if style.preserve {
        preserve(&output, target, metadata).map_err(|e| (WRITE, e))?;
    }
    Ok(())
}

fn preserve(file: &File, target: &Path, metadata: &Metadata) -> io::Result<()> {
    file.set_times(FileTimes::new().set_accessed(metadata.accessed()?).set_modified(metadata.modified()?))?;
    let _ = std::os::unix::fs::chown(target, Some(metadata.uid()), Some(metadata.gid()));
    file.set_permissions(fs::Permissions::from_mode(metadata.mode() & 0o7777))
}

fn copy_directory(
    context: &mut Context<'_>,
    from: &[u8],
    to: &[u8],
    style: &Style,
    depth: usize,
    metadata: &Metadata,
) -> io::Result<bool> {
    let (source, target): (PathBuf, PathBuf) =
        (context.path(from).into_owned(), context.path(to).into_owned());
    let mut made = false;
    match fs::metadata(&target) {
        Ok(existing) if existing.is_dir() => {}
        Ok(_) => {
            context.complain(&[
                b"cannot overwrite non-directory ",
                &context.quoted(to),
                b" with directory ",
                &context.quoted(from),
            ]);
            return Ok(false);
        }
        Err(_) => {
            // Writable for us until it is filled.
            let mode = metadata.mode() & 0o777 | 0o700;
            if let Err(error) = fs::DirBuilder::new().mode(mode).create(&target) {
                context.complain(&[
                    b"cannot create directory ",
                    &context.quoted(to),
                    b": ",
                    reason(&error).as_bytes(),
                ]);
                return Ok(false);
            }
            made = true;
            if style.verbose {
                announce(context, from, to)?;
            }
        }
    }
    let reader = match fs::read_dir(&source) {
        Ok(reader) => reader,
        Err(error) => {
            context.complain(&[b"cannot access ", &context.quoted(from), b": ", reason(&error).as_bytes()]);
            return Ok(false);
        }
    };
    let mut all = true;
    for entry in reader.flatten() {
        context.poll()?;
        let name = entry.file_name();
        let join = |base: &[u8]| {
            let slash: &[u8] = if base.last() == Some(&b'/') { b"" } else { b"/" };
            [base, slash, name.as_bytes()].concat()
        };
        all &= copy(context, &join(from), &join(to), style, depth + 1)?;
    }
    if style.preserve {
        let _ = File::open(&target).and_then(|file| preserve(&file, &target, metadata));
    } else if made {
        let umask = context.host.umask();
        let _ = fs::set_permissions(&target, fs::Permissions::from_mode(metadata.mode() & 0o777 & !umask));
    }
    Ok(all)
}
