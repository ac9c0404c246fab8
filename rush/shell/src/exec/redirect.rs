//! Redirections: applying them to the descriptor table and undoing them. Most cost one system call, because shell
//! descriptors are virtual.

use crate::expand::Expanded;
use crate::state::descriptors::{Entry, MemoryInput, OpenFile, Source};
use crate::state::options::SetOption;
use crate::syntax::ast::{Redirect, RedirectNumber, RedirectOperator};
use crate::{Bytes, Session, Status, limits, sys};
use std::cell::RefCell;
use std::rc::Rc;

/// What the table held before redirections, newest last.
#[derive(Debug, Default)]
pub(crate) struct Saved(Vec<(usize, Entry)>);

/// The first number given to `{name}>` redirections.
const VARIABLE_DESCRIPTOR_MIN: usize = 10;

impl Session {
    /// Applies `redirects`; on failure everything is undone, the error reported and its status given.
    pub(crate) fn redirect(&mut self, redirects: &[Redirect]) -> Expanded<Result<Saved, Status>> {
        let mut saved = Saved::default();
        for redirect in redirects {
            match self.redirect_one(redirect, &mut saved) {
                Ok(true) => {}
                Ok(false) => {
                    self.undo_redirects(saved);
                    return Ok(Err(1));
                }
                Err(unwind) => {
                    self.undo_redirects(saved);
                    return Err(unwind);
                }
            }
        }
        Ok(Ok(saved))
    }

    /// Puts the table back.
    pub(crate) fn undo_redirects(&mut self, saved: Saved) {
        for (number, entry) in saved.0.into_iter().rev() {
            self.descriptors.replace(number, entry);
        }
    }

    fn install(&mut self, number: usize, file: Rc<OpenFile>, saved: &mut Saved) {
        let old = self.descriptors.replace(number, Entry::Open(file));
        saved.0.push((number, old));
    }

    /// Applies one redirection; false if it failed and was reported.
    fn redirect_one(&mut self, redirect: &Redirect, saved: &mut Saved) -> Expanded<bool> {
        use RedirectOperator::*;
        match redirect.operator {
            HereDocument | HereDocumentStripped => {
                let text = match redirect.here.as_ref().and_then(|h| h.body.get()) {
                    Some(body) => self.expand_quoted(&body.word)?,
                    None => Bytes::new(),
                };
                self.install_input(redirect, text, saved)
            }
            HereString => {
                let mut text = self.expand_string(&redirect.target)?;
                text.push(b'\n');
                self.install_input(redirect, text, saved)
            }
            DuplicateInput | DuplicateOutput => self.duplicate(redirect, saved),
            OutputAndError | AppendOutputAndError => {
                let Some(path) = self.redirect_target(redirect)? else { return Ok(false) };
                self.output_and_error(&path, redirect.operator == AppendOutputAndError, saved)
            }
            _ => {
                let Some(path) = self.redirect_target(redirect)? else { return Ok(false) };
                let Some(file) = self.open_target(redirect.operator, &path) else { return Ok(false) };
                self.install_at(redirect, file, saved)
            }
        }
    }

    fn default_number(operator: RedirectOperator) -> usize {
        use RedirectOperator::*;
        match operator {
            Input | ReadWrite | DuplicateInput | HereDocument | HereDocumentStripped | HereString => 0,
            _ => 1,
        }
    }

    fn install_at(&mut self, redirect: &Redirect, file: Rc<OpenFile>, saved: &mut Saved) -> Expanded<bool> {
        match &redirect.number {
            RedirectNumber::Default => {
                self.install(Self::default_number(redirect.operator), file, saved);
                Ok(true)
            }
            RedirectNumber::Number(number) => {
                if *number as usize >= sys::descriptor_limit() {
                    self.error(format!("{number}: Bad file descriptor"));
                    return Ok(false);
                }
                self.install(*number as usize, file, saved);
                Ok(true)
            }
            RedirectNumber::Variable(name) => self.install_variable(name, file),
        }
    }

    /// `{name}>`: a fresh number that stays open and is assigned to the variable.
    fn install_variable(&mut self, name: &[u8], file: Rc<OpenFile>) -> Expanded<bool> {
        let mut number = VARIABLE_DESCRIPTOR_MIN;
        while self.descriptors.get(number).is_some() {
            number += 1;
        }
        let text = number.to_string().into_bytes();
        let result = match crate::expand::split_subscript(name) {
            Some((array, subscript)) => {
                let id = self.variables.intern(array);
                let index = self.index_from_text(id, subscript)?;
                self.assign(id, Some(index), text, false)
            }
            None => self.set(name, text),
        };
        if let Err(error) = result {
            self.report_assign_error(&error);
            let mut message = name.to_vec();
            message.extend_from_slice(b": cannot assign fd to variable");
            self.error(message);
            return Ok(false);
        }
        self.descriptors.replace(number, Entry::Open(file));
        Ok(true)
    }

    fn install_input(&mut self, redirect: &Redirect, bytes: Bytes, saved: &mut Saved) -> Expanded<bool> {
        let file = Rc::new(OpenFile::Memory(RefCell::new(MemoryInput::new(bytes, Source::HereDocument))));
        self.install_at(redirect, file, saved)
    }

    /// Expands the file name; must be one field.
    fn redirect_target(&mut self, redirect: &Redirect) -> Expanded<Option<Bytes>> {
        if self.is(SetOption::Posix) && !self.interactive {
            return self.expand_string(&redirect.target).map(Some);
        }
        let mut fields = Vec::new();
        self.expand_word(&redirect.target, &mut fields)?;
        if fields.len() != 1 {
            let mut message = redirect.target.source().to_vec();
            message.extend_from_slice(b": ambiguous redirect");
            self.error(message);
            return Ok(None);
        }
        Ok(fields.pop())
    }

    fn open_failed(&mut self, path: &[u8], error: i32) {
        // A signal ended the wait for the other end of a FIFO.
        if self.is_given_up() {
            return;
        }
        let mut message = path.to_vec();
        message.extend_from_slice(b": ");
        message.extend_from_slice(sys::strerror(error).as_bytes());
        self.error(message);
    }

    fn open_target(&mut self, operator: RedirectOperator, path: &[u8]) -> Option<Rc<OpenFile>> {
        use RedirectOperator::*;
        if self.refused_redirect(operator, path) {
            return None;
        }
        let noclobber = self.is(SetOption::Noclobber);
        let flags = match operator {
            Input => libc::O_RDONLY,
            ReadWrite => libc::O_RDWR | libc::O_CREAT,
            Append => libc::O_WRONLY | libc::O_CREAT | libc::O_APPEND,
            Output | OutputAndError if noclobber => return self.open_noclobber(path),
            _ => libc::O_WRONLY | libc::O_CREAT | libc::O_TRUNC,
        };
        if flags & libc::O_TRUNC != 0 && self.is(SetOption::Undo) && !self.keep_before_truncation(path) {
            return None;
        }
        self.open_path(path, flags)
    }

    fn open_path(&mut self, path: &[u8], flags: i32) -> Option<Rc<OpenFile>> {
        match self.open_shell_path(path, flags) {
            Ok(file) => Some(file),
            Err(error) => {
                self.open_failed(path, error);
                None
            }
        }
    }

    /// The path under which this process finds what the shell calls `path`: `/dev/fd/N` means the shell's own number.
    pub(crate) fn process_path<'p>(&self, path: &'p [u8]) -> std::borrow::Cow<'p, [u8]> {
        let file = shell_descriptor(path).and_then(|number| self.descriptors.get(number));
        match file.and_then(|file| file.visible_descriptor()) {
            Some(fd) => format!("/dev/fd/{fd}").into_bytes().into(),
            None => path.into(),
        }
    }

    /// Opens a path; `/dev/fd/N` and its kin name the shell's own descriptors.
    pub fn open_shell_path(&mut self, path: &[u8], flags: i32) -> Result<Rc<OpenFile>, i32> {
        if let Some(number) = shell_descriptor(path) {
            if let Some(file) = self.descriptors.get(number) {
                return Ok(file);
            }
            if !path.starts_with(b"/dev/fd/") || self.descriptors.entries().get(number).is_some() {
                return Err(libc::ENOENT);
            }
        }
        if path.starts_with(b"/dev/tcp/") || path.starts_with(b"/dev/udp/") {
            return crate::sys::network::open(path).map(OpenFile::owned);
        }
        if path.is_empty() {
            return Err(libc::ENOENT);
        }
        loop {
            match sys::open(path, flags, 0o666) {
                Ok(fd) => return Ok(OpenFile::owned(fd)),
                Err(libc::EINTR) if !self.is_given_up() => continue,
                Err(error) => return Err(error),
            }
        }
    }

    fn open_noclobber(&mut self, path: &[u8]) -> Option<Rc<OpenFile>> {
        let exclusive = libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL;
        match sys::open(path, exclusive, 0o666) {
            Ok(fd) => Some(OpenFile::owned(fd)),
            Err(libc::EEXIST) if sys::is_regular(path) => {
                let mut message = path.to_vec();
                message.extend_from_slice(b": cannot overwrite existing file");
                self.error(message);
                None
            }
            Err(libc::EEXIST) => self.open_path(path, libc::O_WRONLY),
            Err(error) => {
                self.open_failed(path, error);
                None
            }
        }
    }

    fn output_and_error(&mut self, path: &[u8], append: bool, saved: &mut Saved) -> Expanded<bool> {
        let operator = if append { RedirectOperator::Append } else { RedirectOperator::OutputAndError };
        let Some(file) = self.open_target(operator, path) else { return Ok(false) };
        self.install(1, file.clone(), saved);
        self.install(2, file, saved);
        Ok(true)
    }

    /// `<&` and `>&`.
    fn duplicate(&mut self, redirect: &Redirect, saved: &mut Saved) -> Expanded<bool> {
        let Some(text) = self.redirect_target(redirect)? else { return Ok(false) };
        let output = redirect.operator == RedirectOperator::DuplicateOutput;
        if text == b"-" {
            return self.close_number(redirect, saved);
        }
        let (digits, moves) = match text.strip_suffix(b"-") {
            Some(digits) if !digits.is_empty() => (digits, true),
            _ => (&text[..], false),
        };
        if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
            if output && redirect.number == RedirectNumber::Default {
                return self.output_and_error(&text, false, saved);
            }
            let mut message = redirect.target.source().to_vec();
            message.extend_from_slice(b": ambiguous redirect");
            self.error(message);
            return Ok(false);
        }
        let source = std::str::from_utf8(digits).ok().and_then(|d| d.parse::<usize>().ok());
        let Some((number, file)) = source.and_then(|n| Some((n, self.descriptors.get(n)?))) else {
            let mut message = if moves { digits.to_vec() } else { redirect.target.source().to_vec() };
            message.extend_from_slice(b": Bad file descriptor");
            self.error(message);
            return Ok(false);
        };
        let file = self.keep_alive(number, file);
        let target = match redirect.number {
            RedirectNumber::Number(n) => n as usize,
            _ => Self::default_number(redirect.operator),
        };
        let done = self.install_at(redirect, file, saved)?;
        if done && moves && number != target {
            // bash does not open the moved descriptor again when the command is over.
            self.descriptors.replace(number, Entry::Closed);
        }
        Ok(done)
    }

    /// An inherited descriptor is duplicated, because closing its number later must not close the copy.
    fn keep_alive(&mut self, _number: usize, file: Rc<OpenFile>) -> Rc<OpenFile> {
        file
    }

    fn close_number(&mut self, redirect: &Redirect, saved: &mut Saved) -> Expanded<bool> {
        let number = match &redirect.number {
            RedirectNumber::Default => Self::default_number(redirect.operator),
            RedirectNumber::Number(n) => *n as usize,
            RedirectNumber::Variable(name) => {
                // It may be an element of an array.
                let value = self.expand_text(&[b"${", &name[..], b"}"].concat())?;
                let Some(number) = std::str::from_utf8(&value).ok().and_then(|v| v.trim().parse().ok())
                else {
                    self.error([&name[..], b": ambiguous redirect"].concat());
                    return Ok(false);
                };
                self.descriptors.replace(number, Entry::Closed);
                return Ok(true);
            }
        };
        if number < sys::descriptor_limit() {
            let old = self.descriptors.replace(number, Entry::Closed);
            saved.0.push((number, old));
        }
        Ok(true)
    }

    /// The text of a here-document or file that is read whole: `$(< file)`.
    pub(crate) fn read_all(&mut self, file: &OpenFile) -> Bytes {
        let mut out = Bytes::new();
        let mut buffer = vec![0; limits::READ_CHUNK_BYTES];
        loop {
            if self.is_given_up() {
                return out;
            }
            match file.read(&mut buffer) {
                Ok(0) => return out,
                Ok(n) => out.extend_from_slice(&buffer[..n]),
                Err(libc::EINTR) if !self.is_given_up() => {}
                Err(_) => return out,
            }
        }
    }
}

/// The number that `/dev/fd/N`, `/dev/stdin` and so on name.
pub(crate) fn shell_descriptor(path: &[u8]) -> Option<usize> {
    match path {
        b"/dev/stdin" => Some(0),
        b"/dev/stdout" => Some(1),
        b"/dev/stderr" => Some(2),
        _ => {
            let digits = path.strip_prefix(b"/dev/fd/").or_else(|| path.strip_prefix(b"/proc/self/fd/"))?;
            let digits = std::str::from_utf8(digits).ok()?;
            digits.parse().ok()
        }
    }
}
