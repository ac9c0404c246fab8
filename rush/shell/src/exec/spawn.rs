//! Starting programs and forking real subshells: descriptor mapping, environment block, vfork-style spawn, `exec`.

use super::subshell::read_into_capture;
use crate::expand::Expanded;
use crate::state::descriptors::{Capture, Entry, OpenFile};
use crate::state::options::SetOption;
use crate::state::value::{Attributes, Value};
use crate::{Bytes, Outcome, Session, Status, Unwind, sys};
use std::ffi::CString;
use std::os::fd::RawFd;
use std::rc::Rc;

/// The pipes through which the children of one foreground job write into captures of this process.
#[derive(Debug, Default)]
pub(crate) struct Launch {
    /// Level, read end, write end.
    pipes: Vec<(usize, RawFd, RawFd)>,
}

impl Launch {
    /// Pipes for every capture that children can reach through the descriptor table.
    pub(crate) fn new(session: &Session) -> Launch {
        let mut launch = Launch::default();
        if session.levels.is_empty() {
            return launch;
        }
        for index in session.buffered_levels() {
            if session.reaches_level(index)
                && let Ok((reader, writer)) = sys::pipe()
            {
                launch.pipes.push((index, reader, writer));
            }
        }
        launch
    }

    fn readers(&self) -> Vec<RawFd> {
        self.pipes.iter().map(|(_, reader, _)| *reader).collect()
    }

    fn writers(&self) -> Vec<(usize, RawFd)> {
        self.pipes.iter().map(|(index, _, writer)| (*index, *writer)).collect()
    }

    /// In a child: the read ends are the parent's.
    fn close_readers(&self) {
        for (_, reader, _) in &self.pipes {
            sys::close(*reader);
        }
    }

    /// In the parent, once every child is started: collects their output to its end.
    pub(crate) fn collect(self, session: &Session) {
        for (_, _, writer) in &self.pipes {
            sys::close(*writer);
        }
        for (n, (index, reader, _)) in self.pipes.iter().enumerate() {
            if n == 0
                && self.pipes.len() == 1
                && let Some(file) = session.level_capture(*index)
            {
                read_into_capture(*reader, &file);
            }
        }
        if self.pipes.len() > 1 {
            self.collect_several(session);
        }
        for (_, reader, _) in &self.pipes {
            sys::close(*reader);
        }
    }

    fn collect_several(&self, session: &Session) {
        let mut open: Vec<(usize, RawFd)> = self.pipes.iter().map(|(i, r, _)| (*i, *r)).collect();
        let mut chunk = vec![0; crate::limits::READ_CHUNK_BYTES];
        while !open.is_empty() {
            let fds: Vec<RawFd> = open.iter().map(|(_, r)| *r).collect();
            let ready = sys::poll_readable(&fds, -1);
            open.retain(|(index, reader)| {
                if !ready.contains(reader) {
                    return true;
                }
                match sys::read(*reader, &mut chunk) {
                    Ok(0) => false,
                    Ok(n) => {
                        if let Some(file) = session.level_capture(*index) {
                            let _ = file.write_all(&chunk[..n]);
                        }
                        true
                    }
                    Err(libc::EINTR) => !sys::fatal_but_interrupt(),
                    Err(_) => false,
                }
            });
        }
    }
}

impl Session {
    fn level_capture(&self, index: usize) -> Option<Rc<OpenFile>> {
        self.levels.get(index).and_then(|level| level.capture_file())
    }

    /// Whether a descriptor of the table is the capture of the level `index`.
    fn reaches_level(&self, index: usize) -> bool {
        let Some(capture) = self.level_capture(index) else { return false };
        self.descriptors.entries().iter().any(|e| matches!(e, Entry::Open(f) if Rc::ptr_eq(f, &capture)))
    }

    /// What the numbers of the table are in a child, as (source, number); a source of -1 closes the number.
    fn descriptor_map(&self, launch: &Launch) -> Vec<(RawFd, RawFd)> {
        let mut map = Vec::new();
        for (number, entry) in self.descriptors.entries().iter().enumerate() {
            let number = number as RawFd;
            match entry {
                Entry::Inherited => {}
                Entry::Closed => map.push((-1, number)),
                Entry::Open(file) => map.push((self.process_descriptor(file, launch), number)),
            }
        }
        map
    }

    fn process_descriptor(&self, file: &Rc<OpenFile>, launch: &Launch) -> RawFd {
        match &**file {
            OpenFile::Os(_) => {
                file.settle();
                file.os_descriptor().unwrap_or(-1)
            }
            OpenFile::Memory(input) => input.borrow_mut().materialize().unwrap_or(-1),
            OpenFile::Capture(capture) => match &*capture.borrow() {
                Capture::Pipe(fd) => *fd,
                Capture::Buffer(_) => launch
                    .pipes
                    .iter()
                    .find(|(index, ..)| self.level_capture(*index).is_some_and(|c| Rc::ptr_eq(&c, file)))
                    .map_or(-1, |(_, _, writer)| *writer),
            },
        }
    }

    /// The process's own descriptors 0 to 2 become what the table says for good, so that nobody waits for the end of a pipe that this process does not use.
    pub(crate) fn let_go_of_standard_descriptors(&mut self) {
        let map = self.descriptor_map(&Launch::default());
        // A descriptor that the table still has under another number stays what it is.
        let elsewhere = |number: RawFd| {
            let others = self.descriptors.entries().iter().enumerate().filter(|(n, _)| *n != number as usize);
            others.into_iter().any(|(_, e)| matches!(e, Entry::Open(f) if f.os_descriptor() == Some(number)))
        };
        let replaced = |(source, number): &(RawFd, RawFd)| *source > 2 && *number <= 2 && !elsewhere(*number);
        let map: Vec<_> = map.into_iter().filter(replaced).collect();
        sys::apply_descriptors(&map);
    }

    /// The environment block for children.
    pub(crate) fn environment_block(&mut self) -> Rc<Vec<CString>> {
        let generation = self.variables.export_generation;
        if let Some((known, block)) = &self.environment
            && *known == generation
        {
            return block.clone();
        }
        let mut block = Vec::new();
        for id in self.variables.sorted_ids() {
            let slot = self.variables.slot(id);
            if !slot.attributes.has(Attributes::EXPORT) {
                continue;
            }
            if matches!(slot.value, Value::Indexed(_) | Value::Associative(_)) {
                continue;
            }
            let Some(value) = self.value(id).scalar().map(|v| v.into_owned()) else { continue };
            let mut text = self.variables.names.text(id).to_vec();
            text.push(b'=');
            text.extend(value);
            block.extend(CString::new(text).ok());
        }
        for text in self.exported_functions() {
            block.extend(CString::new(text).ok());
        }
        block.extend(self.foreign_environment.iter().cloned());
        let block = Rc::new(block);
        self.environment = Some((generation, block.clone()));
        block
    }

    fn exported_functions(&self) -> Vec<Bytes> {
        let mut out = Vec::new();
        for (name, function) in self.functions.iter().filter(|(_, f)| f.exported) {
            let mut text = b"BASH_FUNC_".to_vec();
            text.extend_from_slice(name);
            text.extend_from_slice(b"%%=");
            text.extend(crate::syntax::printer::function_body(&function.definition));
            out.push(text);
        }
        out.sort();
        out
    }

    /// Starts `path` in the foreground and waits for it.
    pub(crate) fn spawn_and_wait(&mut self, path: &[u8], args: &[Bytes]) -> Outcome {
        let launch = Launch::new(self);
        let held = self.hold_interrupts();
        let pid = match self.spawn(path, args, &launch) {
            Ok(pid) => pid,
            Err(error) => {
                self.settle_interrupts(held, libc::SIGINT);
                launch.collect(self);
                return Ok(self.spawn_failed(path, &args[0], error));
            }
        };
        self.pass_interrupt_on([pid]);
        if self.spinner.is_some() {
            self.spin_while_silent(pid, &launch.readers());
        }
        launch.collect(self);
        let status = self.wait_foreground(pid, args);
        self.settle_interrupts(held, if status == 128 + libc::SIGINT { libc::SIGINT } else { 0 });
        Ok(status)
    }

    /// Starts a program with the table's descriptors.
    pub(crate) fn spawn(&mut self, path: &[u8], args: &[Bytes], launch: &Launch) -> Result<i32, i32> {
        self.flush_output();
        sys::settle_streams();
        let map = self.descriptor_map(launch);
        let block = self.environment_block();
        let mut underscore = b"_=".to_vec();
        underscore.extend_from_slice(path);
        let argv = c_strings(args)?;
        let reset = self.traps.reset_in_children();
        let placement = self.placement();
        let program = sys::Program {
            path,
            arguments: &argv,
            environment: &block,
            underscore: &underscore,
            descriptors: &map,
            reset,
        };
        let start = |program: sys::Program<'_>| match placement {
            None => program.spawn(),
            Some(place) => program.spawn_in_group(place.group, place.terminal),
        };
        let started = match start(program) {
            Err(libc::ENOEXEC) => {
                self.check_script(path)?;
                let script = self.script_arguments(path, args)?;
                start(sys::Program { path: SHELL, arguments: &script, ..program })
            }
            result => result,
        };
        if let (Ok(pid), true) = (started, placement.is_some()) {
            self.place_child(pid);
        }
        started
    }

    /// A file that is not executable by the kernel is run as a script, unless it looks binary.
    fn check_script(&self, path: &[u8]) -> Result<(), i32> {
        let Ok(fd) = sys::open(path, libc::O_RDONLY, 0) else { return Ok(()) };
        let mut start = [0; 80];
        let n = sys::read(fd, &mut start).unwrap_or(0);
        sys::close(fd);
        let line = start[..n].split(|b| *b == b'\n').next().unwrap_or_default();
        if line.contains(&0) { Err(libc::ENOEXEC) } else { Ok(()) }
    }

    /// The name and arguments of the shell that runs the script `path`.
    fn script_arguments(&self, path: &[u8], args: &[Bytes]) -> Result<Vec<CString>, i32> {
        let role = self.script_role.map(<[u8]>::to_vec);
        let script: Vec<Bytes> = std::iter::once(args[0].clone())
            .chain(role)
            .chain([path.to_vec()])
            .chain(args[1..].iter().cloned())
            .collect();
        c_strings(&script)
    }

    /// Reports why a program could not be started; gives its status.
    pub(crate) fn spawn_failed(&mut self, path: &[u8], name: &[u8], error: i32) -> Status {
        // A remembered path that leads nowhere is named itself.
        let mut message = if error == libc::ENOENT { path.to_vec() } else { name.to_vec() };
        if error == libc::ENOEXEC {
            let mut text = path.to_vec();
            text.extend_from_slice(b": cannot execute binary file: Exec format error");
            self.error(text);
            return 126;
        }
        if error == libc::ENOENT && sys::exists(path) {
            message = path.to_vec();
            message.extend_from_slice(b": cannot execute: required file not found");
            self.error(message);
            return 127;
        }
        message.extend_from_slice(b": ");
        message.extend_from_slice(sys::strerror(error).as_bytes());
        self.error(message);
        if error == libc::ENOENT { 127 } else { 126 }
    }

    /// `exec`: this process becomes `path`. Returns only on failure.
    pub(crate) fn replace_process(&mut self, path: &[u8], args: &[Bytes]) -> Unwind {
        // In an in-process subshell only the subshell is replaced: the program runs, then the subshell ends. A host's session stays the same way: what
        // ends is the text that was run.
        let session_stays = self.interrupt_discards && !self.interactive;
        if self.in_process_subshell() || session_stays {
            self.traps.set(super::traps::EXIT, None);
            return match self.spawn_and_wait(path, args) {
                Ok(status) => Unwind::Exit(status),
                Err(unwind) => unwind,
            };
        }
        match self.exec_now(path, args) {
            Ok(()) => Unwind::Exit(0),
            Err(error) => Unwind::Exit(self.spawn_failed(path, &args[0], error)),
        }
    }

    fn exec_now(&mut self, path: &[u8], args: &[Bytes]) -> Result<(), i32> {
        self.flush_output();
        let launch = Launch::default();
        let map = self.descriptor_map(&launch);
        let block = self.environment_block();
        let mut underscore = b"_=".to_vec();
        underscore.extend_from_slice(path);
        let reset = self.traps.reset_in_children();
        let argv = c_strings(args)?;
        let program = sys::Program {
            path,
            arguments: &argv,
            environment: &block,
            underscore: &underscore,
            descriptors: &map,
            reset,
        };
        match program.exec() {
            libc::ENOEXEC => {
                self.check_script(path)?;
                let script = self.script_arguments(path, args)?;
                Err(sys::Program { path: SHELL, arguments: &script, ..program }.exec())
            }
            error => Err(error),
        }
    }

    /// Forks a real subshell. `Ok(0)` in the child, whose captures now lead to the parent.
    pub(crate) fn fork_child(&mut self, launch: &Launch) -> Expanded<i32> {
        self.flush_output();
        self.settle_input();
        let held = self.hold_caught_signals();
        match sys::fork() {
            Ok(0) => {
                launch.close_readers();
                self.detach_levels(&launch.writers());
                self.subshell_depth += 1;
                let copied = &mut self.copied;
                let options = copied.options;
                copied.random_begins = true;
                copied
                    .traps
                    .enter_subshell(options.is(SetOption::Errtrace), options.is(SetOption::Functrace));
                self.became_child();
                drop(held);
                self.loop_depth = 0;
                Ok(0)
            }
            Ok(pid) => Ok(pid),
            Err(error) => {
                self.error(format!("fork: {}", sys::strerror(error)));
                Err(Unwind::Exit(254))
            }
        }
    }

    /// Around a fork that the child leaves with [`Self::became_child`].
    pub(crate) fn hold_caught_signals(&self) -> Option<sys::HeldSignals> {
        let caught = self.traps.caught();
        (caught != 0).then(|| sys::hold_signals(caught))
    }

    /// Pipes for a background child: those of the levels, which stay open until the levels end.
    pub(crate) fn fork_background(&mut self) -> Expanded<i32> {
        let mut launch = Launch::default();
        for index in self.buffered_levels() {
            if self.reaches_level(index)
                && let Some(writer) = self.level_pipe(index)
            {
                launch.pipes.push((index, -1, writer));
            }
        }
        self.fork_child(&launch)
    }

    /// What a process just forked has to forget.
    pub(crate) fn became_child(&mut self) {
        self.jobs.for_subshell();
        self.interactive = false;
        self.terminal = None;
        if std::mem::take(&mut self.interrupt_discards) {
            sys::signal_default(libc::SIGINT);
        }
        self.options.put(SetOption::Monitor, false);
        self.traps.became_child();
        if self.traps.has_exit() {
            self.end_in_order();
        }
    }

    /// Copies the whole shell into a new process: 0 in the copy, which keeps everything but the jobs (they are its parent's
    /// children); the copy's process id in the original.
    pub fn fork_copy(&mut self) -> Result<i32, i32> {
        self.flush_output();
        self.settle_input();
        let pid = sys::fork()?;
        if pid == 0 {
            self.jobs = Default::default();
            self.pid = sys::process_id();
            self.random = self.random.wrapping_add(self.pid as u32);
        }
        Ok(pid)
    }

    /// Runs `body` to its end as the whole of this (child) process.
    pub(crate) fn finish_child(&mut self, body: impl FnOnce(&mut Session) -> Outcome) -> ! {
        let result = body(self);
        let status = match result {
            Ok(status) => status,
            Err(unwind) => super::subshell::unwind_status(&unwind),
        };
        if sys::fatal_pending().is_none() {
            self.status = status;
        }
        let status = match self.run_exit_trap() {
            Ok(()) => self.status,
            Err(unwind) => super::subshell::unwind_status(&unwind),
        };
        self.end_process(status)
    }
}

/// The program that runs scripts which the system does not.
const SHELL: &[u8] = b"/proc/self/exe";

fn c_strings(args: &[Bytes]) -> Result<Vec<CString>, i32> {
    args.iter().map(|a| CString::new(a.as_slice()).map_err(|_| libc::EINVAL)).collect()
}

impl Session {
    /// `exec -c`: an empty environment.
    pub(crate) fn clear_environment(&mut self) {
        self.foreign_environment = Rc::default();
        for id in self.variables.sorted_ids() {
            let slot = self.variables.slot(id);
            if slot.attributes.has(Attributes::EXPORT) {
                let slot = self.variables.slot_mut(id);
                slot.attributes = slot.attributes.without(Attributes::EXPORT);
            }
        }
        self.variables.export_generation += 1;
    }
}
