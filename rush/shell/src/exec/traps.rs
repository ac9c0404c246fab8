//! Traps: the table, signal dispositions, and running the actions at the points where bash does.

use crate::{Bytes, Outcome, Session, Status, Unwind, signals, sys};
use std::rc::Rc;

/// Pseudo-signals and real ones, as trap numbers.
pub const EXIT: usize = 0;
/// One above the highest signal.
pub const DEBUG: usize = 65;
/// The ERR trap.
pub const ERR: usize = 66;
/// The RETURN trap.
pub const RETURN: usize = 67;
/// How many trap numbers there are.
pub const COUNT: usize = 68;

/// What a trap does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// `trap '' SIG`
    Ignore,
    /// `trap 'text' SIG`
    Run(Rc<[u8]>),
}

/// The table of traps.
#[derive(Debug, Clone)]
pub struct Traps {
    actions: Rc<Vec<Option<Action>>>,
    /// What a parent shell had set, shown by `trap` in a subshell until the subshell changes a trap.
    inherited: Option<Rc<Vec<Option<Action>>>>,
    /// DEBUG, ERR and RETURN are not inherited by functions and subshells without options.
    debug_off: bool,
    error_off: bool,
    return_off: bool,
    /// Whether DEBUG, ERR or EXIT has an action: every command asks.
    may_want_text: bool,
    /// Actions being run, innermost last. A trap does not run inside its own action.
    running: Vec<usize>,
    /// Signals that an interactive shell ignores for itself; a bit set.
    pub(crate) shell_signals: u64,
    /// Signals that end this process and leave it time for what it still has to do (its EXIT trap, the history); a bit set.
    in_order: u64,
}

impl Default for Traps {
    fn default() -> Self {
        Traps {
            actions: Rc::new(vec![None; COUNT]),
            inherited: None,
            debug_off: false,
            error_off: false,
            return_off: false,
            may_want_text: false,
            running: Vec::new(),
            shell_signals: 0,
            in_order: 0,
        }
    }
}

/// The signals that end a shell in order when it has an EXIT trap.
const ENDING: [i32; 10] = [
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGUSR1,
    libc::SIGUSR2,
    libc::SIGPIPE,
    libc::SIGALRM,
    libc::SIGTERM,
    libc::SIGXCPU,
    libc::SIGXFSZ,
    libc::SIGVTALRM,
];

/// Which traps a function call hides.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hidden {
    debug: bool,
    error: bool,
    returns: bool,
    actions_before: usize,
}

impl Traps {
    /// The action of a trap number.
    pub fn get(&self, number: usize) -> Option<&Action> {
        self.actions.get(number).and_then(Option::as_ref)
    }

    /// The actions that `trap` lists.
    pub fn listed(&self) -> &[Option<Action>] {
        self.inherited.as_ref().unwrap_or(&self.actions)
    }

    /// Whether a signal has arrived that ends this process or has a trap here.
    pub(crate) fn has_arrived(&self) -> bool {
        let pending = sys::pending_signals();
        let is_ours = |number: usize| {
            pending >> (number - 1) & 1 != 0 && matches!(self.get(number), Some(Action::Run(_)))
        };
        pending != 0 && (sys::fatal_pending().is_some() || (1..DEBUG).any(is_ours))
    }

    fn is_trapped_outside(&self, number: usize) -> bool {
        let outside = self.inherited.as_ref().and_then(|actions| actions[number].as_ref());
        matches!(outside, Some(Action::Run(_)))
    }

    /// Sets or resets a trap and the signal's disposition.
    pub fn set(&mut self, number: usize, action: Option<Action>) {
        self.inherited = None;
        match number {
            DEBUG => self.debug_off = false,
            ERR => self.error_off = false,
            RETURN => self.return_off = false,
            _ => {}
        }
        if number > EXIT && number < DEBUG {
            dispose(number, action.as_ref(), self.in_order);
        }
        if let Some(slot) = Rc::make_mut(&mut self.actions).get_mut(number) {
            *slot = action;
        }
        self.note_pseudo_signals();
    }

    fn note_pseudo_signals(&mut self) {
        self.may_want_text = [DEBUG, ERR, EXIT].iter().any(|number| self.actions[*number].is_some());
    }

    pub(crate) fn has_exit(&self) -> bool {
        self.actions[EXIT].is_some()
    }

    /// Whether there is a trap at all that runs something.
    pub(crate) fn any(&self) -> bool {
        self.actions.iter().any(|action| matches!(action, Some(Action::Run(_))))
    }

    #[inline]
    pub(crate) fn has_error(&self) -> bool {
        self.actions[ERR].is_some() && !self.error_off
    }

    /// Whether a trap may ask for BASH_COMMAND.
    #[inline]
    fn wants_text(&self) -> bool {
        self.may_want_text && self.wants_text_now()
    }

    fn wants_text_now(&self) -> bool {
        let debug = self.actions[DEBUG].is_some() && !self.debug_off && !self.running.contains(&DEBUG);
        let others = self.actions[ERR].is_some() || self.actions[EXIT].is_some();
        debug || others && self.running.is_empty()
    }

    /// Subshells keep ignored signals and lose the other traps.
    pub(crate) fn enter_subshell(&mut self, errtrace: bool, functrace: bool) {
        if self.actions.iter().all(Option::is_none) {
            return;
        }
        self.inherited.get_or_insert_with(|| self.actions.clone());
        self.running.clear();
        let actions = Rc::make_mut(&mut self.actions);
        for (number, action) in actions.iter_mut().enumerate() {
            let keeps = matches!(action, Some(Action::Ignore))
                || number == ERR && errtrace
                || matches!(number, DEBUG | RETURN) && functrace;
            if !keeps {
                *action = None;
            }
        }
        self.note_pseudo_signals();
    }

    /// Back from an in-process subshell with the traps `inner`: the process's dispositions follow.
    pub(crate) fn restore_dispositions(&self, inner: &Traps) {
        if Rc::ptr_eq(&self.actions, &inner.actions) {
            return;
        }
        let entered = |n: usize| match &self.actions[n] {
            Some(Action::Ignore) => Some(Action::Ignore),
            _ => None,
        };
        for number in 1..DEBUG {
            if inner.actions[number] != entered(number) {
                dispose(number, self.actions[number].as_ref(), self.in_order);
            }
        }
    }

    /// The signals that are caught for a trap, of this shell or of one around it; a bit set. A fork holds them back until the child has them reset: what
    /// arrives in between is the child's, and its copy of the handler would only note it.
    pub(crate) fn caught(&self) -> u64 {
        let runs =
            |actions: &[Option<Action>], number: usize| matches!(actions[number], Some(Action::Run(_)));
        (1..DEBUG)
            .filter(|number| {
                runs(&self.actions, *number) || self.inherited.as_ref().is_some_and(|all| runs(all, *number))
            })
            .fold(sys::fatal_signals(), |set, number| set | 1 << (number - 1))
    }

    /// In a real child: handlers are reset to the default.
    pub(crate) fn became_child(&mut self) {
        sys::release_fatal();
        self.in_order = 0;
        if let Some(inherited) = &self.inherited {
            for number in 1..DEBUG {
                if matches!(inherited[number], Some(Action::Run(_))) && self.actions[number].is_none() {
                    sys::signal_default(number as i32);
                }
            }
        }
        for number in (1..=64).filter(|number| self.reset_in_children() >> (number - 1) & 1 != 0) {
            sys::signal_default(number);
        }
        sys::clear_pending_signals();
    }

    /// Signals the shell itself ignores, to be reset in programs; a bit set.
    pub(crate) fn reset_in_children(&self) -> u64 {
        let ignored = |number: usize| matches!(self.actions.get(number), Some(Some(Action::Ignore)));
        let all = self.shell_signals;
        let wanted = |number: &usize| all >> (number - 1) & 1 != 0 && !ignored(*number);
        (1..=64).filter(wanted).fold(0, |set, number| set | 1 << (number - 1))
    }

    pub(crate) fn enter_function(&mut self, functrace: bool, errtrace: bool) -> Hidden {
        let hidden = Hidden {
            debug: self.debug_off,
            error: self.error_off,
            returns: self.return_off,
            actions_before: Rc::as_ptr(&self.actions) as usize,
        };
        if !functrace {
            self.debug_off = true;
            self.return_off = true;
        }
        if !errtrace {
            self.error_off = true;
        }
        hidden
    }

    pub(crate) fn leave_function(&mut self, hidden: Hidden) {
        let _ = hidden.actions_before;
        self.debug_off = hidden.debug;
        self.error_off = hidden.error;
        self.return_off = hidden.returns;
    }
}

/// Makes the process treat a signal as its trap says.
fn dispose(number: usize, action: Option<&Action>, in_order: u64) {
    let signal = number as i32;
    match action {
        None => {
            sys::signal_default(signal);
            if in_order >> (signal - 1) & 1 != 0 {
                sys::catch_fatal(signal);
            }
        }
        Some(Action::Ignore) => sys::signal_ignore(signal),
        Some(Action::Run(_)) => sys::signal_catch(signal),
    }
}

impl Session {
    /// Whether BASH_COMMAND may be asked for, so that its text has to be kept.
    #[inline]
    pub(crate) fn wants_text(&self) -> bool {
        self.traps.wants_text() || self.variables.names.asks_command
    }

    /// Keeps the text of the command that is about to run for BASH_COMMAND, which in a trap is still the command that
    /// the trap interrupted.
    pub(crate) fn note_command(&mut self, text: Bytes) {
        if self.traps.running.is_empty() {
            self.command_text = text;
        }
    }

    /// Whether the signal `number` was ignored when the shell started. Looked at when it is first asked for, which is
    /// before the shell itself can have changed it.
    pub(crate) fn ignored_on_entry(&mut self, number: usize) -> bool {
        if !(1..DEBUG).contains(&number) {
            return false;
        }
        let bit = 1u64 << (number - 1);
        if self.signals_examined & bit == 0 {
            self.signals_examined |= bit;
            let own = self.traps.get(number).is_some() || self.traps.shell_signals & bit != 0;
            if !own && number as i32 != libc::SIGCHLD && sys::signal_is_ignored(number as i32) {
                self.signals_ignored_on_entry |= bit;
            }
        }
        self.signals_ignored_on_entry & bit != 0
    }

    /// Runs the text of the trap `number`; `$?` is what it was before, unless the action exits.
    fn run_action(&mut self, number: usize, text: &[u8]) -> Result<(), Unwind> {
        let status = self.status;
        let pipeline = self.pipeline_status.clone();
        let line = self.line;
        self.traps.running.push(number);
        self.trap_depth += 1;
        let deeper = u32::from(number != EXIT || self.subshell_depth > 0);
        self.trace_depth += deeper;
        // The text of a signal's trap is a script of its own; those of DEBUG, ERR and RETURN belong to the line they interrupt.
        let result = self.run_text(text, if number < DEBUG { 1 } else { line });
        self.trap_depth = self.trap_depth.saturating_sub(1);
        self.trace_depth = self.trace_depth.saturating_sub(deeper);
        self.traps.running.pop();
        self.line = line;
        match result {
            Ok(_) => {
                self.status = status;
                self.pipeline_status = pipeline;
                Ok(())
            }
            Err(unwind) => Err(unwind),
        }
    }

    /// From now on the signals that end this process leave it time to run its EXIT trap. (An interactive shell and that of a
    /// host wait for input in ways that such a signal must end at once.)
    pub(crate) fn end_in_order(&mut self) {
        if self.interactive || self.interrupt_discards {
            return;
        }
        self.end_in_order_at(&ENDING);
    }

    /// The same for the terminal's end, which an interactive shell survives for as long as it takes to keep its history.
    pub fn hang_up_in_order(&mut self) {
        self.end_in_order_at(&[libc::SIGHUP]);
    }

    fn end_in_order_at(&mut self, signals: &[i32]) {
        for &signal in signals {
            self.traps.in_order |= 1 << (signal - 1);
            if self.traps.get(signal as usize).is_none() {
                sys::catch_fatal(signal);
            }
        }
    }

    /// SIGPIPE as it is when no utility is shielded from it.
    pub(crate) fn unshield(&self) {
        dispose(libc::SIGPIPE as usize, None, self.traps.in_order);
    }

    /// Whether a signal has arrived that gives up what runs, without a trap for it.
    pub(crate) fn is_given_up(&self) -> bool {
        sys::fatal_pending().is_some() || self.stops_at_interrupts() && sys::interrupt_pending()
    }

    /// While a program is waited for, SIGINT does not end the shell: it does so afterwards if it has ended the program. What a
    /// program makes of its keys is its own business. Says whether this is undone by [`Self::settle_interrupts`].
    pub(crate) fn hold_interrupts(&mut self) -> bool {
        let own =
            self.interactive || self.interrupt_discards || self.traps.get(libc::SIGINT as usize).is_some();
        !own && sys::catch_fatal(libc::SIGINT)
    }

    /// Programs have just been started that [`Self::hold_interrupts`] was for. An interrupt that came before one of them was there was for it too, and
    /// went to the shell alone, which waits for them now: it is handed on.
    pub(crate) fn pass_interrupt_on(&self, pids: impl IntoIterator<Item = i32>) {
        if sys::ends_at(libc::SIGINT) && sys::interrupt_pending() {
            for pid in pids {
                // One that has ended already needs none.
                let _ = sys::send_signal(pid, libc::SIGINT);
            }
        }
    }

    /// The program has ended with `status`.
    pub(crate) fn settle_interrupts(&mut self, held: bool, status: i32) {
        let killed = sys::term_signal(status) == Some(libc::SIGINT);
        if sys::ends_at(libc::SIGINT) && !killed {
            sys::clear_pending(libc::SIGINT);
        }
        if !held {
            return;
        }
        if sys::interrupt_pending() {
            self.flush_output();
            self.settle_input();
            sys::die_of(libc::SIGINT);
        }
        sys::signal_default(libc::SIGINT);
    }

    /// Ends this process, which is a subshell, after its EXIT trap: with `status`, or by the signal that asked it to.
    pub(crate) fn end_process(&mut self, status: Status) -> ! {
        self.flush_output();
        // What ended the program that this process would have become ends it.
        let tail = self.killed.and_then(|(_, raw)| sys::term_signal(raw));
        match self.killed_by.or(tail) {
            Some(signal) => sys::die_of(signal),
            None => sys::exit_now(status),
        }
    }

    /// Runs the traps of signals that have arrived.
    pub(crate) fn run_pending_traps(&mut self) -> Result<(), Unwind> {
        if let Some(signal) = sys::fatal_pending() {
            return Err(Unwind::Exit(128 + signal));
        }
        let pending = sys::take_pending_signals();
        for number in 1..DEBUG {
            if pending >> (number - 1) & 1 == 0 {
                continue;
            }
            match self.traps.get(number).cloned() {
                Some(Action::Run(text)) => self.run_action(number, &text)?,
                Some(Action::Ignore) => {}
                // It is for the shell around this subshell.
                None if self.traps.is_trapped_outside(number) => sys::raise_pending(number as i32),
                None if number as i32 == libc::SIGINT && (self.interactive || self.interrupt_discards) => {
                    return Err(Unwind::Discard(130));
                }
                None => {}
            }
        }
        Ok(())
    }

    /// The EXIT trap, once.
    pub(crate) fn run_exit_trap(&mut self) -> Result<(), Unwind> {
        if let Some(signal) = sys::fatal_pending() {
            self.killed_by = Some(signal);
            // The next one does not wait.
            sys::release_fatal();
            self.traps.in_order = 0;
        }
        let Some(Action::Run(text)) = self.traps.get(EXIT).cloned() else { return Ok(()) };
        self.traps.set(EXIT, None);
        // Its text is a script of its own, of which this is the first line.
        self.line = 1;
        self.run_action(EXIT, &text)
    }

    /// The DEBUG trap; true if (with `extdebug`) the command is to be skipped.
    pub(crate) fn run_debug_trap(&mut self) -> Result<bool, Unwind> {
        if self.traps.running.contains(&DEBUG) || self.traps.debug_off {
            return Ok(false);
        }
        let Some(Action::Run(text)) = self.traps.get(DEBUG).cloned() else { return Ok(false) };
        let status = self.status;
        let pipeline = self.pipeline_status.clone();
        let line = self.line;
        self.traps.running.push(DEBUG);
        self.trace_depth += 1;
        let result = self.run_text(&text, line);
        self.trace_depth -= 1;
        self.traps.running.pop();
        self.line = line;
        let skip = matches!(result, Ok(s) if s != 0) && self.extdebug();
        self.status = status;
        self.pipeline_status = pipeline;
        result.map(|_| skip)
    }

    /// The ERR trap.
    pub(crate) fn run_error_trap(&mut self) -> Result<(), Unwind> {
        if self.traps.running.contains(&ERR) {
            return Ok(());
        }
        match self.traps.get(ERR).cloned() {
            Some(Action::Run(text)) => self.run_action(ERR, &text),
            _ => Ok(()),
        }
    }

    /// The RETURN trap, after a function or sourced file.
    pub(crate) fn run_return_trap(&mut self) -> Result<(), Unwind> {
        if self.traps.return_off || self.traps.running.contains(&RETURN) {
            return Ok(());
        }
        match self.traps.get(RETURN).cloned() {
            Some(Action::Run(text)) => self.run_action(RETURN, &text),
            _ => Ok(()),
        }
    }

    /// Ends the shell: runs the EXIT trap and gives the final status.
    pub fn finish(&mut self, result: Outcome) -> Status {
        self.status = match result {
            Ok(status) => status,
            // What was interrupted has no status.
            Err(_) if sys::fatal_pending().is_some() => self.status,
            Err(unwind) => super::subshell::unwind_status(&unwind),
        };
        let status = match self.run_exit_trap() {
            Ok(()) => self.status,
            Err(unwind) => super::subshell::unwind_status(&unwind),
        };
        self.flush_output();
        self.settle_input();
        if let Some(signal) = self.killed_by {
            sys::die_of(signal);
        }
        status
    }
}

/// The name of a trap number, as `trap -p` shows it.
pub fn trap_name(number: usize) -> Bytes {
    match number {
        EXIT => b"EXIT".to_vec(),
        DEBUG => b"DEBUG".to_vec(),
        ERR => b"ERR".to_vec(),
        RETURN => b"RETURN".to_vec(),
        _ => format!("SIG{}", signals::name(number as i32).unwrap_or_default()).into_bytes(),
    }
}

/// The trap number that `text` names.
pub fn trap_number(text: &[u8]) -> Option<usize> {
    let upper = text.to_ascii_uppercase();
    let name = upper.strip_prefix(b"SIG").unwrap_or(&upper);
    match name {
        b"EXIT" => return Some(EXIT),
        b"DEBUG" => return Some(DEBUG),
        b"ERR" => return Some(ERR),
        b"RETURN" => return Some(RETURN),
        _ => {}
    }
    if !text.is_empty() && text.iter().all(u8::is_ascii_digit) {
        let number: usize = std::str::from_utf8(text).ok()?.parse().ok()?;
        return (number < DEBUG).then_some(number);
    }
    signals::number_of(name).map(|n| n as usize)
}
