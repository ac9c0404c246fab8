//! What a session gets from its environment and what it runs before the user's commands.

use super::names;
use super::options::{SetOption, Shopt};
use super::session::Session;
use super::value::{Attributes, Value, decimal};
use crate::{Bytes, Outcome, sys};
use std::ffi::CString;
use std::rc::Rc;

impl Session {
    /// Takes over the environment and sets the variables every shell has.
    pub fn import_environment(&mut self, environment: impl Iterator<Item = (Bytes, Bytes)>) {
        let mut functions = Vec::new();
        for (name, value) in environment {
            if !names::is_name(&name) {
                match name.strip_prefix(b"BASH_FUNC_").and_then(|n| n.strip_suffix(b"%%")) {
                    Some(function) => functions.push((function.to_vec(), value)),
                    None => {
                        let mut text = name;
                        text.push(b'=');
                        text.extend(value);
                        std::rc::Rc::make_mut(&mut self.foreign_environment).extend(CString::new(text).ok());
                    }
                }
                continue;
            }
            let id = self.variables.intern(&name);
            if matches!(id, names::SHELLOPTS | names::BASHOPTS) {
                self.import_options(&value);
                continue;
            }
            let slot = self.variables.slot_mut(id);
            if slot.attributes.has(Attributes::DYNAMIC) {
                continue;
            }
            slot.value = Value::Scalar(value);
            slot.attributes = Attributes::DECLARED.with(Attributes::EXPORT);
        }
        self.variables.export_generation += 1;
        self.set_initial_variables();
        for (name, body) in functions {
            self.import_function(&name, &body);
        }
    }

    fn import_options(&mut self, value: &[u8]) {
        for name in value.split(|b| *b == b':') {
            if let Some(option) = SetOption::from_name(name) {
                self.options.put(option, true);
            } else if let Some(option) = Shopt::from_name(name).filter(|o| *o != Shopt::RestrictedShell) {
                self.options.put_shopt(option, true);
            }
        }
    }

    fn import_function(&mut self, name: &[u8], body: &[u8]) {
        let mut text = name.to_vec();
        text.push(b' ');
        text.extend_from_slice(body);
        if !body.starts_with(b"() {") {
            return;
        }
        let _ = self.run_text(&text, 1);
        if let Some(function) = Rc::make_mut(&mut self.functions).get_mut(name) {
            function.exported = true;
        }
    }

    fn set_default(&mut self, id: names::NameId, value: &[u8]) {
        if !self.variables.slot(id).is_set() {
            self.set_internal(id, value.to_vec());
        }
    }

    fn set_initial_variables(&mut self) {
        self.set_internal(names::IFS, b" \t\n".to_vec());
        self.set_internal(names::OPTIND, b"1".to_vec());
        self.set_internal(names::OPTERR, b"1".to_vec());
        self.set_internal(names::PS4, b"+ ".to_vec());
        self.set_default(names::PATH, b"/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
        self.set_internal(names::PPID, decimal(i64::from(sys::parent_id())));
        self.set_internal(names::UID, decimal(i64::from(sys::user_id())));
        self.set_internal(names::EUID, decimal(i64::from(sys::effective_user_id())));
        for id in [names::PPID, names::UID, names::EUID] {
            let slot = self.variables.slot_mut(id);
            slot.attributes = slot.attributes.with(Attributes::READONLY).with(Attributes::INTEGER);
        }
        self.set_internal(names::BASH_VERSION, crate::VERSION.as_bytes().to_vec());
        let version = ["5", "2", "15", "1", "release", "x86_64-pc-linux-gnu"];
        let _ =
            self.set_array_id(names::BASH_VERSINFO, version.iter().map(|s| s.as_bytes().to_vec()).collect());
        let slot = self.variables.slot_mut(names::BASH_VERSINFO);
        slot.attributes = slot.attributes.with(Attributes::READONLY);
        self.set_default(names::HOSTNAME, &sys::host_name());
        if self.get(b"SHELL").is_none() {
            let shell = sys::login_shell().unwrap_or_else(|| b"/bin/sh".to_vec());
            let _ = self.set(b"SHELL", shell);
        }
        self.set_default(names::HOSTTYPE, b"x86_64");
        self.set_default(names::MACHTYPE, b"x86_64-pc-linux-gnu");
        self.set_default(names::OSTYPE, b"linux-gnu");
        self.set_default(names::TERM, b"dumb");
        self.set_default(names::COMP_WORDBREAKS, b" \t\n\"'@><=;|&(:");
        let level = self.get_id(names::SHLVL).and_then(|v| std::str::from_utf8(&v).ok()?.parse::<i64>().ok());
        self.set_internal(names::SHLVL, decimal(level.unwrap_or(0) + 1));
        let slot = self.variables.slot_mut(names::SHLVL);
        slot.attributes = slot.attributes.with(Attributes::EXPORT);
        if self.variables.slot(names::POSIXLY_CORRECT).is_set() {
            self.options.put(SetOption::Posix, true);
        }
        self.set_working_directory();
        self.set_executable_name();
        self.random = sys::random_u32();
        self.builtin_state.started = self.seconds_base;
        self.separators();
    }

    fn set_executable_name(&mut self) {
        let name = self.name.clone();
        let path = if name.contains(&b'/') {
            name
        } else {
            self.search_path(&name, true).into_iter().next().unwrap_or(name)
        };
        self.set_internal(names::BASH, path);
    }

    /// PWD is kept if it names the working directory, else replaced by the physical path.
    fn set_working_directory(&mut self) {
        let inherited = self.get_id(names::PWD).map(|v| v.into_owned());
        let good = inherited.as_ref().is_some_and(|p| p.starts_with(b"/") && sys::same_file(p, b"."));
        if !good && let Ok(path) = sys::current_directory() {
            self.set_internal(names::PWD, path);
        }
        for id in [names::PWD, names::OLDPWD] {
            let slot = self.variables.slot_mut(id);
            slot.attributes = slot.attributes.with(Attributes::EXPORT).with(Attributes::DECLARED);
        }
    }

    /// Sets `$0` and the name of the script.
    pub fn set_name(&mut self, name: Bytes) {
        self.source = Rc::from(&name[..]);
        self.name = name;
    }

    /// Makes the session interactive: aliases, prompts, job control.
    pub fn become_interactive(&mut self) {
        self.interactive = true;
        self.options.put_shopt(Shopt::ExpandAliases, true);
        self.options.put(SetOption::History, true);
        self.options.put(SetOption::Histexpand, true);
        self.options.put(SetOption::Emacs, true);
        self.set_default(names::PS1, crate::PROMPT);
        self.set_default(names::PS2, b"> ");
        self.set_history_variables();
    }

    /// Runs the start-up file of interactive shells.
    pub fn run_rc_file(&mut self, file: Option<Bytes>) -> Outcome {
        if let Some(file) = file {
            return self.source_if_there(&file);
        }
        let Some(home) = self.get_id(names::HOME).map(|v| v.into_owned()) else { return Ok(0) };
        for name in [&b"/.rushrc"[..], b"/.bashrc"] {
            let mut path = home.clone();
            path.extend_from_slice(name);
            if sys::exists(&path) {
                return self.source_if_there(&path);
            }
        }
        Ok(0)
    }

    /// Runs the start-up files of login shells.
    pub fn run_profile(&mut self) -> Outcome {
        self.source_if_there(b"/etc/profile")?;
        let Some(home) = self.get_id(names::HOME).map(|v| v.into_owned()) else { return Ok(0) };
        for name in [&b"/.bash_profile"[..], b"/.bash_login", b"/.profile"] {
            let mut path = home.clone();
            path.extend_from_slice(name);
            if sys::exists(&path) {
                return self.source_if_there(&path);
            }
        }
        Ok(0)
    }

    /// Runs the file that BASH_ENV (or ENV, for an interactive POSIX shell) names.
    pub fn run_environment_file(&mut self) -> Outcome {
        let id = match (self.interactive, self.is(SetOption::Posix)) {
            (false, false) => names::BASH_ENV,
            (true, true) => names::ENV,
            _ => return Ok(0),
        };
        let Some(text) = self.get_id(id).map(|v| v.into_owned()) else { return Ok(0) };
        match self.expand_text(&text) {
            Ok(path) => self.source_if_there(&path),
            Err(_) => Ok(1),
        }
    }

    fn source_if_there(&mut self, path: &[u8]) -> Outcome {
        let Ok(file) = self.open_shell_path(path, libc::O_RDONLY) else { return Ok(0) };
        let text = self.read_all(&file);
        self.run_sourced(path, &text, Vec::new())
    }
}
