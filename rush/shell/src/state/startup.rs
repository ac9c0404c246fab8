//! What a session gets from its environment and what it runs before the user's commands.

use super::options::{SetOption, Shopt};
use super::session::Session;
use super::value::{Attributes, Value, decimal};
use super::{import, names};
use crate::{Bytes, Outcome, sys};
use std::ffi::CString;
use std::rc::Rc;

/// From here on a level is taken for a mistake.
const SHELL_LEVELS_MAX: i32 = 1000;

impl Session {
    /// Takes over the environment and sets the variables every shell has.
    pub fn import_environment(&mut self, environment: impl Iterator<Item = (Bytes, Bytes)>) {
        let trusted = self.trusts_environment();
        let imports = trusted && !self.is(SetOption::Noexec);
        let mut functions = Vec::new();
        for (name, value) in environment {
            if !names::is_name(&name) {
                match import::function_name(&name, &value) {
                    Some(_) if imports => functions.push((name, value)),
                    _ => self.keep_foreign(name, &value),
                }
                continue;
            }
            let id = self.variables.intern(&name);
            if !trusted && import::is_withheld(id) {
                continue;
            }
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
        for (name, value) in functions {
            let imported = import::function_name(&name, &value)
                .is_some_and(|function| self.import_function(function, &value));
            if !imported {
                self.keep_foreign(name, &value);
            }
        }
    }

    /// What is no variable here is handed on to the programs that the shell starts.
    fn keep_foreign(&mut self, mut text: Bytes, value: &[u8]) {
        text.push(b'=');
        text.extend_from_slice(value);
        Rc::make_mut(&mut self.foreign_environment).extend(CString::new(text).ok());
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
        let level = self.shell_level();
        self.set_internal(names::SHLVL, decimal(level));
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

    /// One more than the level of the shell around this one, as far as that is sensible.
    fn shell_level(&mut self) -> i64 {
        let text = self.get_id(names::SHLVL).map(|value| value.into_owned()).unwrap_or_default();
        let outer = std::str::from_utf8(&text).ok().and_then(|text| text.trim().parse::<i64>().ok());
        // The arithmetic of an `int`, as every shell in between has it.
        let level = (outer.unwrap_or(0) as i32).wrapping_add(1);
        if level >= SHELL_LEVELS_MAX {
            let name = String::from_utf8_lossy(&self.name).into_owned();
            let text = format!("{name}: warning: shell level ({level}) too high, resetting to 1\n");
            self.write_err(text.as_bytes());
            return 1;
        }
        i64::from(level.max(0))
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
        if !self.trusts_environment() {
            return Ok(0);
        }
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
