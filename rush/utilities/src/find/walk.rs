//! Walking the trees and carrying out the expression.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;

use super::expression::{Command, Node};
use crate::basename::base_name;
use crate::context::reason;
use crate::json::Json;
use crate::limits::{DIRECTORY_DEPTH_MAX, XARGS_BYTES_MAX};
use crate::mode::type_letter;
use crate::owners::Owners;
use crate::quoting::marked;
use crate::wildcard;
use crate::{Context, Ended};

/// Bytes of output collected before they are passed on.
const OUTPUT_BYTES: usize = 16 * 1024;

pub(super) struct Walk<'w, 'c> {
    context: &'w mut Context<'c>,
    command: &'w Command,
    out: Vec<u8>,
    status: i32,
    quit: bool,
    device: u64,
    batches: Vec<Vec<Vec<u8>>>,
    json: Option<(Json, Owners)>,
}

/// The file being tested.
struct Subject<'p> {
    path: &'p [u8],
    /// From the directory entry; saves examining the file.
    kind: Option<u8>,
    metadata: Option<Metadata>,
    pruned: bool,
}

impl<'w, 'c> Walk<'w, 'c> {
    pub(super) fn new(context: &'w mut Context<'c>, command: &'w Command, json: bool) -> Self {
        let json = json.then(|| {
            let mut json = Json::default();
            json.open('[');
            (json, Owners::load())
        });
        let batches = vec![Vec::new(); command.batches.len()];
        Self { context, command, out: Vec::new(), status: 0, quit: false, device: 0, batches, json }
    }

    /// Walks one tree; `false` after `-quit`.
    pub(super) fn start(&mut self, start: &[u8]) -> io::Result<bool> {
        match fs::symlink_metadata(self.context.path(start)) {
            Ok(metadata) => {
                self.device = metadata.dev();
                let kind = type_letter(metadata.file_type());
                self.visit(start, Some(kind), Some(metadata), 0)?;
            }
            Err(error) => self.complain(start, &error)?,
        }
        Ok(!self.quit)
    }

    /// Runs what is left of the batches and passes the output on.
    pub(super) fn finish(mut self) -> io::Result<i32> {
        for index in 0..self.batches.len() {
            self.run_batch(index)?;
        }
        if let Some((mut json, _)) = self.json.take() {
            json.close(']');
            self.out.extend(json.finish());
        }
        self.flush()?;
        Ok(self.status)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.context.output.write_all(&self.out)?;
        self.out.clear();
        Ok(())
    }

    fn complain(&mut self, path: &[u8], error: &io::Error) -> io::Result<()> {
        self.flush()?;
        let name = marked(path, self.context.is_utf8());
        self.context.complain(&[&name, b": ", reason(error).as_bytes()]);
        self.status = 1;
        Ok(())
    }

    fn visit(
        &mut self,
        path: &[u8],
        kind: Option<u8>,
        metadata: Option<Metadata>,
        depth: usize,
    ) -> io::Result<()> {
        self.context.poll()?;
        let mut subject = Subject { path, kind, metadata, pruned: false };
        let is_directory = kind == Some(b'd');
        let wanted = depth >= self.command.minimum_depth;
        if wanted && !self.command.contents_first {
            self.test(&self.command.root, &mut subject)?;
        }
        let crosses = self.command.one_file_system
            && is_directory
            && self.metadata(&mut subject).is_some_and(|m| m.dev() != self.device);
        let descends = is_directory && !subject.pruned && !crosses && depth < self.command.maximum_depth;
        if descends && !self.quit {
            self.children(path, depth)?;
        }
        if wanted && self.command.contents_first && !self.quit {
            self.test(&self.command.root, &mut subject)?;
        }
        if self.out.len() > OUTPUT_BYTES {
            self.flush()?;
        }
        Ok(())
    }

    fn children(&mut self, path: &[u8], depth: usize) -> io::Result<()> {
        if depth >= DIRECTORY_DEPTH_MAX {
            return self.complain(path, &io::Error::from(io::ErrorKind::InvalidFilename));
        }
        let reader = match fs::read_dir(self.context.path(path)) {
            Ok(reader) => reader,
            Err(error) => return self.complain(path, &error),
        };
        let slash: &[u8] = if path.last() == Some(&b'/') { b"" } else { b"/" };
        for entry in reader.flatten() {
            if self.quit {
                break;
            }
            let kind = entry.file_type().ok().map(type_letter);
            let kind = kind.map(|k| if k == b'-' { b'f' } else { k });
            let inner = [path, slash, &entry.file_name().into_vec()].concat();
            self.visit(&inner, kind, None, depth + 1)?;
        }
        Ok(())
    }

    fn metadata<'s>(&self, subject: &'s mut Subject<'_>) -> Option<&'s Metadata> {
        if subject.metadata.is_none() {
            subject.metadata = fs::symlink_metadata(self.context.path(subject.path)).ok();
        }
        subject.metadata.as_ref()
    }

    fn test(&mut self, node: &'w Node, subject: &mut Subject<'_>) -> io::Result<bool> {
        Ok(match node {
            Node::True => true,
            Node::False => false,
            Node::Not(inner) => !self.test(inner, subject)?,
            Node::And(left, right) => self.test(left, subject)? && !self.quit && self.test(right, subject)?,
            Node::Or(left, right) => self.test(left, subject)? || self.test(right, subject)?,
            Node::Name { pattern, ignore_case } => {
                wildcard::matches(pattern, base_name(subject.path), *ignore_case)
            }
            Node::Path { pattern, ignore_case } => wildcard::matches(pattern, subject.path, *ignore_case),
            Node::Type(letters) => {
                let kind = subject.kind.map(|k| if k == b'-' { b'f' } else { k });
                kind.is_some_and(|k| letters.contains(&k))
            }
            Node::Prune => {
                subject.pruned = !self.command.contents_first;
                true
            }
            Node::Quit => {
                self.quit = true;
                true
            }
            Node::Print(end) => {
                self.print(subject, *end);
                true
            }
            Node::Delete => self.delete(subject)?,
            Node::Execute(words) => self.execute(words, subject)?,
            Node::ExecuteBatch(index) => {
                self.add_to_batch(*index, subject.path)?;
                true
            }
            _ => self.examine(node, subject),
        })
    }

    /// The tests that need more than the name.
    fn examine(&mut self, node: &Node, subject: &mut Subject<'_>) -> bool {
        let path = subject.path;
        let now = self.command.now;
        let Some(metadata) = self.metadata(subject) else { return false };
        match node {
            Node::Size(compared, unit) => compared.holds(metadata.len().div_ceil(*unit) as i64),
            Node::Days(compared) | Node::Minutes(compared) => {
                let modified =
                    i128::from(metadata.mtime()) * 1_000_000_000 + i128::from(metadata.mtime_nsec());
                let now = i128::from(now.0) * 1_000_000_000 + i128::from(now.1);
                let age_ns = now - modified;
                match node {
                    Node::Days(_) => compared.holds_days(age_ns),
                    _ => compared.holds_minutes(age_ns),
                }
            }
            Node::Newer(reference) => (metadata.mtime(), metadata.mtime_nsec()) > *reference,
            Node::Empty if metadata.is_dir() => {
                fs::read_dir(self.context.path(path)).is_ok_and(|mut r| r.next().is_none())
            }
            Node::Empty => metadata.is_file() && metadata.len() == 0,
            Node::Permissions(how, wanted) => {
                let mode = metadata.mode() & 0o7777;
                match how {
                    b'-' => mode & wanted == *wanted,
                    b'/' => *wanted == 0 || mode & wanted != 0,
                    _ => mode == *wanted,
                }
            }
            _ => false,
        }
    }

    fn print(&mut self, subject: &mut Subject<'_>, end: u8) {
        if self.json.is_some() {
            let metadata = self.metadata(subject).cloned();
            if let Some((json, owners)) = &mut self.json {
                json.open('{');
                json.field("path", subject.path);
                if let Some(metadata) = &metadata {
                    crate::stat::file_fields(json, metadata, owners);
                }
                json.close('}');
            }
            return;
        }
        self.out.extend_from_slice(subject.path);
        self.out.push(end);
    }

    fn delete(&mut self, subject: &Subject<'_>) -> io::Result<bool> {
        if subject.path == b"." {
            return Ok(true);
        }
        let path = self.context.path(subject.path).into_owned();
        let result = if subject.kind == Some(b'd') { fs::remove_dir(&path) } else { fs::remove_file(&path) };
        let Err(error) = result else { return Ok(true) };
        self.flush()?;
        let name = marked(subject.path, self.context.is_utf8());
        self.context.complain(&[b"cannot delete ", &name, b": ", reason(&error).as_bytes()]);
        self.status = 1;
        Ok(false)
    }

    fn execute(&mut self, words: &[Vec<u8>], subject: &Subject<'_>) -> io::Result<bool> {
        let args: Vec<Vec<u8>> = words.iter().map(|w| substitute(w, subject.path)).collect();
        self.flush()?;
        self.context.output.flush()?;
        self.run_program(&args)
    }

    fn add_to_batch(&mut self, index: usize, path: &[u8]) -> io::Result<()> {
        let Some(batch) = self.batches.get_mut(index) else { return Ok(()) };
        batch.push(path.to_vec());
        if batch.iter().map(|p| p.len() + 1).sum::<usize>() > XARGS_BYTES_MAX / 2 {
            self.run_batch(index)?;
        }
        Ok(())
    }

    fn run_batch(&mut self, index: usize) -> io::Result<()> {
        let Some(batch) = self.batches.get_mut(index).map(std::mem::take) else { return Ok(()) };
        let Some(words) = self.command.batches.get(index).filter(|_| !batch.is_empty()) else {
            return Ok(());
        };
        let args: Vec<Vec<u8>> = words.iter().cloned().chain(batch).collect();
        self.flush()?;
        self.context.output.flush()?;
        if !self.run_program(&args)? {
            self.status = 1;
        }
        Ok(())
    }

    /// Runs a program; whether it succeeded.
    fn run_program(&mut self, args: &[Vec<u8>]) -> io::Result<bool> {
        match self.context.host.run(args, None, false) {
            Ok(Ended::Status(status)) => Ok(status == 0),
            Ok(Ended::Signal(signal)) => {
                let name = marked(args.first().map_or(b"", Vec::as_slice), self.context.is_utf8());
                self.flush()?;
                self.context.complain(&[&name, format!(" terminated by signal {signal}").as_bytes()]);
                Ok(false)
            }
            Err(error) => {
                let status = self.status;
                self.complain(args.first().map_or(b"", Vec::as_slice), &error)?;
                self.status = status;
                Ok(false)
            }
        }
    }
}

fn substitute(word: &[u8], path: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = word;
    while let Some(at) = memchr::memmem::find(rest, b"{}") {
        out.extend_from_slice(rest.get(..at).unwrap_or_default());
        out.extend_from_slice(path);
        rest = rest.get(at + 2..).unwrap_or_default();
    }
    out.extend_from_slice(rest);
    out
}
