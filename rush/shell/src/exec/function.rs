//! Function definition and calls, sourced files, and the call stack.

use crate::state::names;
use crate::state::options::{SetOption, Shopt};
use crate::state::session::{Call, Function};
use crate::state::variables::FrameKind;
use crate::syntax::ast::{CompoundCommand, FunctionDefinition};
use crate::{Bytes, Outcome, Session, Unwind, limits};
use std::rc::Rc;

/// Why POSIX mode has no function of this name.
pub(crate) fn refused_name(name: &[u8]) -> Option<&'static [u8]> {
    if !names::is_name(name) {
        return Some(b"not a valid identifier");
    }
    let special = crate::builtins::find(name).is_some_and(|builtin| builtin.special);
    special.then_some(b"is a special builtin")
}

impl Session {
    /// Defines a function.
    pub(crate) fn define_function(&mut self, definition: &Rc<FunctionDefinition>) -> Outcome {
        if self.is(SetOption::Posix)
            && let Some(reason) = refused_name(&definition.name)
        {
            self.line = definition.line;
            self.error([b"`", &definition.name[..], b"': ", reason].concat());
            return if self.interactive { Ok(2) } else { Err(Unwind::Exit(2)) };
        }
        if let Some(old) = self.functions.get(&definition.name[..])
            && old.readonly
        {
            self.error([&definition.name[..], b": readonly function"].concat());
            return Ok(1);
        }
        let exported = self.functions.get(&definition.name[..]).is_some_and(|f| f.exported);
        let function = Function {
            definition: definition.clone(),
            source: self.source.clone(),
            exported: exported || self.is(SetOption::Allexport),
            readonly: false,
            traced: false,
        };
        if function.exported {
            self.variables.export_generation += 1;
        }
        Rc::make_mut(&mut self.functions).insert(definition.name.to_vec(), function);
        Ok(0)
    }

    /// Calls `function` with `args` (the name first).
    pub(crate) fn call_function(&mut self, function: &Function, args: Vec<Bytes>) -> Outcome {
        let adopts = std::mem::take(&mut self.call_adopts_frame);
        if let Some(status) = self.refuse_call(&args[0]) {
            return status;
        }
        let mut args = args.into_iter();
        let name: Rc<[u8]> = Rc::from(args.next().unwrap_or_default());
        let arguments: Rc<Vec<Bytes>> = Rc::new(args.collect());
        self.last_argument = arguments.last().cloned().unwrap_or_else(|| name.to_vec());
        let underscore = self.last_argument.clone();
        let call = Call {
            name,
            source: function.source.clone(),
            line: self.line,
            is_function: true,
            arguments: arguments.clone(),
        };
        let positional = std::mem::replace(&mut self.positional, arguments.into());
        let loop_depth = std::mem::take(&mut self.loop_depth);
        let source = std::mem::replace(&mut self.source, function.source.clone());
        let direct = std::mem::take(&mut self.exec_directly);
        let line = self.line;
        self.calls.push(call);
        if adopts {
            self.variables.adopt_frame();
        } else {
            self.variables.push_frame(FrameKind::Function);
        }
        let functrace = self.is(SetOption::Functrace) || function.traced;
        let errtrace = self.is(SetOption::Errtrace);
        let traps = self.traps.enter_function(functrace, errtrace);
        let getopts = self.builtin_state.getopts;
        let options = std::mem::take(&mut self.local_options);
        if self.wants_text() {
            self.line = function.definition.body.line;
            self.run_debug_trap()?;
        }
        let result = crate::sys::stack::with_room(|| self.run_body(&function.definition.body));
        let result = self.end_call(result);
        if let Some(saved) = std::mem::replace(&mut self.local_options, options) {
            self.options.put_set_options(saved);
        }
        self.traps.leave_function(traps);
        let own_optind = self.variables.slot(names::OPTIND).scope() == self.variables.depth();
        if !adopts {
            self.variables.pop_frame();
        }
        if own_optind {
            self.resume_options(getopts);
        }
        self.calls.pop();
        self.last_argument = underscore;
        self.line = line;
        self.exec_directly = direct;
        self.source = source;
        self.loop_depth = loop_depth;
        self.positional = positional;
        result
    }

    /// A body that is one checked command fails inside the function, where the caller's ERR trap does not count.
    fn run_body(&mut self, body: &CompoundCommand) -> Outcome {
        let status = self.run_compound(body)?;
        if body.kind.is_checked() && !super::compound::is_checked_inside(body) {
            return self.check_compound(body, status);
        }
        Ok(status)
    }

    /// Turns `return` into a status and runs the RETURN trap.
    pub(crate) fn end_call(&mut self, result: Outcome) -> Outcome {
        let result = match result {
            Err(Unwind::Return(status)) => Ok(status),
            Err(Unwind::Break(_) | Unwind::Continue(_)) => Ok(self.status),
            other => other,
        };
        if let Ok(status) = result {
            self.status = status;
            self.run_return_trap()?;
            return Ok(status);
        }
        result
    }

    /// FUNCNEST and the native stack bound the depth of calls.
    fn refuse_call(&mut self, name: &[u8]) -> Option<Outcome> {
        let depth = self.calls.len();
        let mut limit = limits::CALL_DEPTH_MAX;
        if self.variables.slot(names::FUNCNEST).is_set() {
            let text = self.get_id(names::FUNCNEST).map(|v| v.into_owned()).unwrap_or_default();
            if let Some(n) = std::str::from_utf8(&text).ok().and_then(|t| t.parse().ok()).filter(|n| *n > 0) {
                limit = n;
            }
        }
        if depth < limit && !self.stack_is_low() {
            return None;
        }
        let mut message = name.to_vec();
        message.extend_from_slice(format!(": maximum function nesting level exceeded ({depth})").as_bytes());
        self.error(message);
        self.status = 1;
        Some(Err(Unwind::Discard(1)))
    }

    /// Runs the text of a sourced file. `arguments` replace the positional parameters if there are any.
    pub(crate) fn run_sourced(&mut self, path: &[u8], text: &[u8], arguments: Vec<Bytes>) -> Outcome {
        if self.stack_is_low() {
            self.error("source: maximum source nesting level exceeded");
            return Ok(1);
        }
        let file: Rc<[u8]> = Rc::from(path);
        let call = Call {
            name: Rc::from(&b"source"[..]),
            source: file.clone(),
            line: self.line,
            is_function: false,
            arguments: Rc::new(arguments.clone()),
        };
        let replaces = !arguments.is_empty();
        let old =
            if replaces { Some(std::mem::replace(&mut self.positional, arguments.into())) } else { None };
        let source = std::mem::replace(&mut self.source, file);
        let line = self.line;
        let loop_depth = self.loop_depth;
        let direct = std::mem::take(&mut self.exec_directly);
        self.calls.push(call);
        let (eval_depth, trace_depth) = (std::mem::take(&mut self.eval_depth), self.trace_depth);
        self.trace_depth += 1;
        let result = self.run_text(text, 1);
        (self.eval_depth, self.trace_depth) = (eval_depth, trace_depth);
        let result = match result {
            Err(Unwind::Return(status)) => {
                self.status = status;
                Ok(status)
            }
            other => other,
        };
        let result = match result {
            Ok(status) => self.run_return_trap().map(|()| status),
            other => other,
        };
        self.calls.pop();
        self.exec_directly = direct;
        self.loop_depth = loop_depth;
        self.line = line;
        self.source = source;
        if let Some(old) = old {
            self.positional = old;
        }
        result
    }

    /// Whether `return` is allowed here.
    pub(crate) fn can_return(&self) -> bool {
        !self.calls.is_empty() || self.unnamed_functions > 0
    }

    /// Whether extended debugging is on.
    pub(crate) fn extdebug(&self) -> bool {
        self.shopt(Shopt::Extdebug)
    }
}
