//! A session: everything a running shell knows. Single-threaded; several sessions can exist in a process, but only
//! one may run commands at a time, because the working directory and signal dispositions belong to the process.

use super::descriptors::{Descriptors, OpenFile};
use super::names;
use super::options::{Options, SetOption, Shopt};
use super::positional::Positional;
use super::scope::Scope;
use super::variables::Variables;
use crate::exec::job_control::Terminal;
use crate::exec::jobs::Jobs;
use crate::exec::record::PipelineRecord;
use crate::exec::subshell::Level;
use crate::exec::traps::Traps;
use crate::expand::fields::Separators;
use crate::perf::Perf;
use crate::syntax::ast::{FunctionDefinition, List};
use crate::{Bytes, Status, limits, sys};
use std::ffi::CString;
use std::rc::Rc;

/// Why an assignment was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AssignError {
    /// The variable is readonly.
    Readonly(Bytes),
    /// An arithmetic or subscript error; already reported.
    Reported,
    /// The command is given up for another reason.
    Unwind(crate::Unwind),
}

/// A defined function.
#[derive(Debug, Clone)]
pub struct Function {
    /// Its definition.
    pub definition: Rc<FunctionDefinition>,
    /// The file it was defined in.
    pub source: Rc<[u8]>,
    /// `-x`
    pub exported: bool,
    /// `-r`
    pub readonly: bool,
    /// `-t`
    pub traced: bool,
}

/// A function call or a sourced file on the call stack.
#[derive(Debug, Clone)]
pub struct Call {
    /// The function's name, or `source`.
    pub name: Rc<[u8]>,
    /// The file whose text runs.
    pub source: Rc<[u8]>,
    /// The line of the call.
    pub line: u32,
    /// Whether it is a function.
    pub is_function: bool,
    /// How many positional parameters it got (for `BASH_ARGC` under `extdebug`).
    pub arguments: Rc<Vec<Bytes>>,
}

/// A remembered command path.
#[derive(Debug, Clone)]
pub struct Hashed {
    /// Where it is.
    pub path: Bytes,
    /// How often it was used.
    pub hits: u32,
}

/// The state of a shell.
pub struct Session {
    /// What a subshell copies.
    pub copied: Scope,
    /// Variables, by interned name.
    pub variables: Variables,
    /// `$?`.
    pub status: Status,
    /// Jobs.
    pub jobs: Jobs,
    /// `$$`.
    pub pid: i32,
    /// Whether the shell is interactive.
    pub interactive: bool,
    /// What the line that runs has replaced, with `set -o undo`.
    pub(crate) undo: crate::exec::undo::UndoLine,
    /// Whether SIGINT without a trap gives up the running text, as in an interactive shell; for hosts that drive a session.
    pub interrupt_discards: bool,
    /// The signal that ends this process once its EXIT trap has run.
    pub(crate) killed_by: Option<i32>,
    /// The program that a signal has ended in the foreground, and its wait status, until it is told of.
    pub(crate) killed: Option<(i32, i32)>,
    /// The simple command that ends the subshell being run, by its address: bash becomes that program, so the subshell is told of instead.
    pub(crate) subshell_tail: usize,
    /// The place of the file that commands are read from, if that is standard input.
    pub commands_from: Option<crate::exec::script::StandardInput>,
    /// A foreground job has been stopped, and what ran it does not know yet.
    pub(crate) job_stopped: bool,
    /// The simple command that runs, as it is written, where jobs are shown.
    pub(crate) job_text: Bytes,
    /// The argument that makes this executable run a script as a shell would, for hosts whose executable is no shell.
    pub script_role: Option<&'static [u8]>,
    /// Shows that a silent program runs, if the front end wants to.
    pub spinner: Option<crate::exec::silence::Spinner>,
    /// How pipelines ended, when a host wants to know.
    pub pipeline_record: Option<Box<PipelineRecord>>,
    /// The clock of what time is spent on, when somebody wants to know.
    pub perf: Option<Rc<Perf>>,
    /// Whether it runs a `-c` string.
    pub runs_command_string: bool,
    /// Whether it reads commands from standard input.
    pub reads_standard_input: bool,
    /// Whether the locale's encoding is UTF-8.
    pub utf8: bool,
    pub(crate) levels: Vec<Level>,
    pub(crate) scratch: Bytes,
    /// The one file of which more was read than used, if any.
    pub(crate) read_ahead: std::rc::Weak<OpenFile>,
    pub(crate) separators_cache: Option<(u64, Rc<Separators>)>,
    pub(crate) environment: Option<(u64, Rc<Vec<CString>>)>,
    pub(crate) background_process: bool,
    pub(crate) terminal: Option<Terminal>,
    /// The process group of the foreground pipeline being started; 0 before its first process.
    pub(crate) job_group: i32,
    /// Whether prompts keep the marks around what takes no room.
    pub(crate) marks_prompts: bool,
    /// Words an error for a program instead of a person: its source, its line and its message.
    pub error_format: Option<fn(&[u8], u32, &[u8]) -> Bytes>,
    /// Signals of which it is known whether they were ignored when the shell started; bit sets.
    pub(crate) signals_examined: u64,
    pub(crate) signals_ignored_on_entry: u64,
    /// The last large command of a script, which has run.
    pub(crate) large_command: Option<List>,
    pub(crate) process_substitutions: Vec<usize>,
    output: Bytes,
    output_failed: Option<i32>,
}

impl std::ops::Deref for Session {
    type Target = Scope;

    fn deref(&self) -> &Scope {
        &self.copied
    }
}

impl std::ops::DerefMut for Session {
    fn deref_mut(&mut self) -> &mut Scope {
        &mut self.copied
    }
}

impl Session {
    /// A session without variables but those the shell sets itself.
    pub fn new(name: Bytes) -> Session {
        let source: Rc<[u8]> = Rc::from(&name[..]);
        let copied = Scope {
            options: Options::default(),
            descriptors: Descriptors::default(),
            name,
            positional: Positional::default(),
            pipeline_status: Vec::new(),
            line: 0,
            functions: Rc::default(),
            aliases: Rc::default(),
            hashed: Rc::default(),
            traps: Traps::default(),
            calls: Vec::new(),
            loop_depth: 0,
            spares_errexit: false,
            last_background: None,
            subshell_depth: 0,
            plain_stages: 0,
            directory_stack: Rc::default(),
            source,
            errexit_ignored: 0,
            last_argument: Bytes::new(),
            command_text: Bytes::new(),
            substitution_status: None,
            random: 0,
            random_begins: false,
            seconds_base: sys::start_seconds(),
            hash_path: Bytes::new(),
            hash_generation: u64::MAX,
            exec_directly: false,
            trap_depth: 0,
            error_context: None,
            builtin_state: Default::default(),
            call_adopts_frame: false,
            misuse: None,
            eval_depth: 0,
            keep_redirects: false,
            unnamed_functions: 0,
            disabled_builtins: Default::default(),
            foreign_environment: Rc::default(),
            local_options: None,
            condition_failed: false,
            condition_negated: false,
            trace_depth: 0,
            command_number: 1,
        };
        let mut session = Session {
            copied,
            variables: Variables::new(),
            status: 0,
            jobs: Jobs::default(),
            pid: sys::process_id(),
            interactive: false,
            interrupt_discards: false,
            killed_by: None,
            killed: None,
            subshell_tail: 0,
            commands_from: None,
            job_stopped: false,
            job_text: Bytes::new(),
            script_role: None,
            spinner: None,
            pipeline_record: None,
            perf: None,
            runs_command_string: false,
            reads_standard_input: false,
            utf8: false,
            levels: Vec::new(),
            scratch: Bytes::new(),
            read_ahead: std::rc::Weak::new(),
            separators_cache: None,
            environment: None,
            background_process: false,
            terminal: None,
            job_group: 0,
            marks_prompts: false,
            error_format: None,
            signals_examined: 0,
            signals_ignored_on_entry: 0,
            large_command: None,
            process_substitutions: Vec::new(),
            output: Bytes::new(),
            output_failed: None,
            undo: Default::default(),
        };
        session.define_dynamic();
        session
    }

    /// Puts back what was read ahead, before another process gets the same open file.
    pub(crate) fn settle_input(&mut self) {
        if let Some(file) = std::mem::take(&mut self.read_ahead).upgrade() {
            file.settle();
        }
    }

    /// Lets `file` be read ahead, and no other any more.
    pub(crate) fn read_ahead_of(&mut self, file: &Rc<OpenFile>) -> Result<(), i32> {
        if self.read_ahead.as_ptr() != Rc::as_ptr(file) {
            self.settle_input();
            self.read_ahead = Rc::downgrade(file);
        }
        file.read_ahead()
    }

    /// Whether a `set -o` option is on.
    pub fn is(&self, option: SetOption) -> bool {
        self.options.is(option)
    }

    /// Whether a `shopt` option is on.
    pub fn shopt(&self, option: Shopt) -> bool {
        self.options.shopt(option)
    }

    /// The prepared separators of IFS, and with them what else watched variables decide.
    pub(crate) fn separators(&mut self) -> Rc<Separators> {
        let generation = self.variables.watch_generation;
        if let Some((known, separators)) = &self.separators_cache
            && *known == generation
        {
            return separators.clone();
        }
        let ifs = self.get_id(names::IFS).map(|v| v.into_owned());
        self.utf8 = self.locale_is_utf8();
        let separators = Rc::new(Separators::new(ifs.as_deref(), self.utf8));
        self.separators_cache = Some((generation, separators.clone()));
        separators
    }

    fn locale_is_utf8(&mut self) -> bool {
        for id in [names::LC_ALL, names::LC_CTYPE, names::LANG] {
            if let Some(value) = self.get_id(id).filter(|v| !v.is_empty()) {
                let value = value.to_ascii_lowercase();
                return value.ends_with(b"utf-8") || value.ends_with(b"utf8");
            }
        }
        false
    }

    /// Writes to shell descriptor 1 through the output buffer. Errors surface when the builtin ends, as a message
    /// and status 1, so callers need not check.
    pub fn write_out(&mut self, bytes: &[u8]) {
        self.output.extend_from_slice(bytes);
        if self.output.len() >= limits::OUTPUT_BUFFER_BYTES {
            self.flush_output();
        }
    }

    /// Empties the output buffer into descriptor 1.
    pub fn flush_output(&mut self) {
        if self.output.is_empty() {
            return;
        }
        let result = match self.descriptors.get(1) {
            Some(file) => {
                if !self.levels.is_empty() {
                    self.drain_level_pipes();
                }
                file.write_all(&self.output)
            }
            None => Err(libc::EBADF),
        };
        self.output.clear();
        if let Err(error) = result {
            self.output_failed = Some(error);
        }
    }

    /// The error of a failed write since the last call, if any; for the dispatcher after a builtin ran.
    pub fn take_output_error(&mut self) -> Option<i32> {
        self.flush_output();
        self.output_failed.take()
    }

    /// Writes to shell descriptor 2 at once, after what is buffered for descriptor 1.
    pub fn write_err(&mut self, bytes: &[u8]) {
        self.flush_output();
        if let Some(file) = self.descriptors.get(2) {
            let _ = file.write_all(bytes);
        }
    }

    /// Reports an error as bash does: `NAME: line N: MESSAGE`.
    pub fn error(&mut self, message: impl AsRef<[u8]>) {
        let mut text = if self.calls.is_empty() { self.name.clone() } else { self.source.to_vec() };
        if self.calls.is_empty() && !self.runs_command_string && !self.source.is_empty() {
            text = self.source.to_vec();
        }
        if let Some(format) = self.error_format {
            let line = format(&text, self.line, message.as_ref());
            return self.write_err(&line);
        }
        if let Some(context) = self.error_context {
            text.extend_from_slice(b": ");
            text.extend_from_slice(context.as_bytes());
        }
        if !self.interactive {
            text.extend_from_slice(format!(": line {}", self.line).as_bytes());
        }
        text.extend_from_slice(b": ");
        text.extend_from_slice(message.as_ref());
        text.push(b'\n');
        self.write_err(&text);
    }

    /// Reports an error of a builtin: `NAME: line N: BUILTIN: MESSAGE`.
    pub fn builtin_error(&mut self, builtin: &[u8], message: impl AsRef<[u8]>) {
        let mut text = builtin.to_vec();
        text.extend_from_slice(b": ");
        text.extend_from_slice(message.as_ref());
        self.error(text);
    }

    /// Reports an error of a builtin about an operating-system error on `what`: `... BUILTIN: WHAT: strerror`.
    pub fn builtin_os_error(&mut self, builtin: &[u8], what: &[u8], error: i32) {
        let mut text = what.to_vec();
        text.extend_from_slice(b": ");
        text.extend_from_slice(sys::strerror(error).as_bytes());
        self.builtin_error(builtin, text);
    }

    /// Reports `invalid option` and the usage line; gives the status 2 of a usage error.
    pub fn builtin_usage(&mut self, builtin: &[u8], invalid: Option<&[u8]>) -> Status {
        if let Some(option) = invalid {
            let mut text = option.to_vec();
            text.extend_from_slice(b": invalid option");
            self.builtin_error(builtin, text);
        }
        if let Some(row) = crate::builtins::find(builtin) {
            let text = format!("{}: usage: {} {}\n", row.name, row.name, row.synopsis);
            self.write_err(text.as_bytes());
        }
        self.misuse = Some(2);
        2
    }

    /// Whether the native stack is nearly used up.
    pub(crate) fn stack_is_low(&self) -> bool {
        crate::sys::stack::is_exhausted()
    }

    /// `$-`.
    pub(crate) fn option_letters(&self) -> Bytes {
        let mut letters: Bytes = Bytes::new();
        for letter in b"abefhkmnprtuvxBCEHPT" {
            if SetOption::from_letter(*letter).is_some_and(|o| self.is(o)) {
                letters.push(*letter);
            }
            if *letter == b'r' && self.is_restricted() {
                letters.push(b'r');
            }
            if *letter == b'h' && self.interactive {
                letters.push(b'i');
            }
        }
        if self.runs_command_string {
            letters.push(b'c');
        }
        if self.reads_standard_input {
            letters.push(b's');
        }
        letters
    }
}
