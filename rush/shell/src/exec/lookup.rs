//! Finding programs in PATH, with the hash table of `hash`.

use crate::state::names;
use crate::state::options::SetOption;
use crate::state::session::Hashed;
use crate::{Bytes, Session, Status, quote, sys};

impl Session {
    /// The path to run for the command `name`; otherwise the reported error's status.
    pub(crate) fn find_program(&mut self, name: &[u8]) -> Result<Bytes, Status> {
        if self.refused_command(name) {
            return Err(1);
        }
        if name.contains(&b'/') {
            return self.check_program_path(name);
        }
        if let Some(path) = self.search_hashed(name) {
            return Ok(path);
        }
        if let Some(path) = self.search_path(name, false).into_iter().next() {
            let mut message = path.clone();
            message.extend_from_slice(b": Permission denied");
            self.error(message);
            return Err(126);
        }
        if !self.functions.contains_key(&b"command_not_found_handle"[..]) {
            let mut message =
                if quote::needs_ansi_c(name) { quote::ansi_c_quote(name) } else { name.to_vec() };
            message.extend_from_slice(b": command not found");
            self.error(message);
            self.suggest_command(name);
        }
        Err(127)
    }

    fn check_program_path(&mut self, name: &[u8]) -> Result<Bytes, Status> {
        let mut message = name.to_vec();
        if sys::is_directory(name) {
            message.extend_from_slice(b": Is a directory");
            self.error(message);
            return Err(126);
        }
        match sys::access_error(name, libc::X_OK) {
            None => Ok(name.to_vec()),
            Some(error) => {
                message.extend_from_slice(b": ");
                message.extend_from_slice(sys::strerror(error).as_bytes());
                self.error(message);
                Err(if error == libc::ENOENT { 127 } else { 126 })
            }
        }
    }

    /// Forgets remembered paths if PATH has changed.
    pub(crate) fn check_hash(&mut self) {
        let generation = self.variables.watch_generation;
        if self.hash_generation == generation {
            return;
        }
        self.hash_generation = generation;
        let path = self.get_id(names::PATH).map(|v| v.into_owned()).unwrap_or_default();
        if path != self.hash_path {
            self.hash_path = path;
            std::rc::Rc::make_mut(&mut self.hashed).clear();
        }
    }

    /// The remembered path of `name`. One below the working directory counts only while it still leads to a program.
    pub(crate) fn remembered(&mut self, name: &[u8]) -> Option<&Hashed> {
        self.check_hash();
        let path = &self.hashed.get(name)?.path;
        if path.starts_with(b"./") && sys::access_error(path, libc::X_OK).is_some() {
            std::rc::Rc::make_mut(&mut self.hashed).remove(name);
        }
        self.hashed.get(name)
    }

    fn search_hashed(&mut self, name: &[u8]) -> Option<Bytes> {
        if self.remembered(name).is_some()
            && let Some(known) = std::rc::Rc::make_mut(&mut self.hashed).get_mut(name)
        {
            known.hits += 1;
            let path = known.path.clone();
            return Some(self.nearer_program(name, &path).unwrap_or(path));
        }
        let path = self.search_path(name, true).into_iter().next()?;
        if self.is(SetOption::Hashall) {
            std::rc::Rc::make_mut(&mut self.hashed)
                .insert(name.to_vec(), Hashed { path: path.clone(), hits: 1 });
        }
        Some(path)
    }

    /// The program in the working directory, if PATH leads there before it leads to the remembered one.
    fn nearer_program(&self, name: &[u8], path: &[u8]) -> Option<Bytes> {
        let here = |directory: &[u8]| matches!(directory, b"" | b".");
        let there = |directory: &[u8]| {
            let rest = path.strip_prefix(directory).and_then(|rest| rest.strip_suffix(name));
            matches!(rest, Some(b"" | b"/"))
        };
        let first = self.hash_path.split(|b| *b == b':').find(|d| here(d) || there(d))?;
        let candidate = [b"./".as_slice(), name].concat();
        let found =
            here(first) && sys::is_file(&candidate) && sys::access_error(&candidate, libc::X_OK).is_none();
        found.then_some(candidate)
    }

    /// Every file called `name` in PATH, executable ones or all.
    pub(crate) fn search_path(&mut self, name: &[u8], executable: bool) -> Vec<Bytes> {
        let path = match self.get_id(names::PATH) {
            Some(path) => path.into_owned(),
            None => return Vec::new(),
        };
        self.search_directories(&path, name, executable)
    }

    pub(crate) fn search_directories(&self, path: &[u8], name: &[u8], executable: bool) -> Vec<Bytes> {
        let mut found = Vec::new();
        for directory in path.split(|b| *b == b':') {
            let mut candidate = if directory.is_empty() { b".".to_vec() } else { directory.to_vec() };
            if !candidate.ends_with(b"/") {
                candidate.push(b'/');
            }
            candidate.extend_from_slice(name);
            if sys::is_file(&candidate)
                && (!executable || sys::access_error(&candidate, libc::X_OK).is_none())
            {
                found.push(candidate);
                if executable && found.len() > 64 {
                    break;
                }
            }
        }
        found
    }
}
