//! Jobs: what runs when the stack is empty. <https://tc39.es/ecma262/#sec-jobs>
//!
//! The queue belongs to the interpreter; [`Vm::run_jobs`] empties it. Invariant: a job that throws does not stop the
//! others; a termination does.

use super::interpreter::coroutine::{self, Coroutine, Mode};
use super::{Abrupt, JsResult, Vm};
use crate::builtins::promise::{self, Capability};
use crate::gc::{Data, Gc, RootedVec, Trace, Tracer};
use crate::limits;
use crate::object::Object;
use crate::value::Value;

/// What a promise reaction does with the value.
#[derive(Clone, Copy)]
pub enum ReactionHandler {
    /// Passes the value on.
    Identity,
    /// Passes the reason on.
    Thrower,
    /// Calls a function.
    Function(Object),
    /// Resumes a coroutine that awaits.
    Resume(Gc<Data<Coroutine>>, Mode),
    /// Calls native code with two captured values.
    Native(fn(&mut Vm, Value, Value, Value) -> JsResult<Value>, Value, Value),
}

impl ReactionHandler {
    /// Reports what the handler holds.
    pub fn trace(&self, tracer: &mut Tracer<'_>) {
        match self {
            Self::Identity | Self::Thrower => {}
            Self::Function(function) => tracer.cell(*function),
            Self::Resume(coroutine, _) => tracer.cell(*coroutine),
            Self::Native(_, a, b) => {
                tracer.value(*a);
                tracer.value(*b);
            }
        }
    }
}

/// One job.
pub enum Job {
    /// NewPromiseReactionJob.
    Reaction {
        /// What to do.
        handler: ReactionHandler,
        /// With what.
        argument: Value,
        /// Whose promise settles with the result.
        capability: Option<Capability>,
    },
    /// NewPromiseResolveThenableJob.
    ResolveThenable {
        /// The promise to resolve.
        promise: Object,
        /// The thenable.
        thenable: Value,
        /// Its `then` method.
        then: Value,
    },
    /// A function of the host's or `queueMicrotask`.
    Call {
        /// The function.
        function: Value,
        /// Its arguments.
        arguments: Vec<Value>,
    },
    /// Native code with two values.
    Native(fn(&mut Vm, Value, Value) -> JsResult<()>, Value, Value),
}

impl Trace for Job {
    fn trace(&self, tracer: &mut Tracer<'_>) {
        match self {
            Self::Reaction { handler, argument, capability } => {
                handler.trace(tracer);
                tracer.value(*argument);
                if let Some(capability) = capability {
                    capability.trace(tracer);
                }
            }
            Self::ResolveThenable { promise, thenable, then } => {
                tracer.cell(*promise);
                tracer.value(*thenable);
                tracer.value(*then);
            }
            Self::Call { function, arguments } => {
                tracer.value(*function);
                tracer.values(arguments);
            }
            Self::Native(_, a, b) => {
                tracer.value(*a);
                tracer.value(*b);
            }
        }
    }
}

impl Vm {
    /// Adds a job. Collects nothing: callers may hold what nothing else keeps alive. A caller that adds jobs without allocating
    /// looks at the limit itself (`Vm::check_heap_room`).
    pub fn enqueue_job(&mut self, job: Job) {
        let grows = self.interpreter.jobs.len() == self.interpreter.jobs.capacity();
        self.interpreter.jobs.push_back(job);
        if grows {
            self.charge_jobs();
        }
    }

    fn charge_jobs(&mut self) {
        let bytes = self.interpreter.jobs.capacity() * size_of::<Job>();
        self.interpreter.jobs_charge.set_beyond_limit(&self.heap, bytes);
    }

    /// The reasons of the rejected promises that nothing handles, each once.
    pub fn take_unhandled_rejections(&mut self) -> RootedVec {
        let mut reasons = self.scratch();
        for promise in std::mem::take(&mut self.interpreter.rejections) {
            if let Some(data) = promise.as_object().and_then(promise::data) {
                reasons.push(data.result());
            }
        }
        reasons
    }

    /// Takes a promise off the list of unhandled rejections: the host has seen it.
    pub fn forget_rejection(&mut self, promise: Value) {
        self.interpreter.rejections.retain(|rejected| *rejected != promise);
    }

    /// Whether a job waits.
    pub fn has_jobs(&self) -> bool {
        !self.interpreter.jobs.is_empty()
    }

    /// Forgets the jobs that wait, for a host that has interrupted what goes on without end.
    pub fn clear_jobs(&mut self) {
        self.interpreter.jobs.clear();
        self.interpreter.rejections.clear();
    }

    /// Runs jobs until there are none. An exception of a host job is returned; the rest waits for the next call.
    pub fn run_jobs(&mut self) -> JsResult<()> {
        while let Some(job) = self.interpreter.jobs.pop_front() {
            self.poll()?;
            self.kept_alive.clear();
            self.run_job(job)?;
        }
        self.kept_alive.clear();
        if self.interpreter.jobs.capacity() > limits::JOBS_KEPT {
            self.interpreter.jobs.shrink_to(limits::JOBS_KEPT);
            self.charge_jobs();
        }
        Ok(())
    }

    fn run_job(&mut self, job: Job) -> JsResult<()> {
        match job {
            Job::Reaction { handler, argument, capability } => {
                self.run_reaction(handler, argument, capability)
            }
            Job::ResolveThenable { promise, thenable, then } => {
                promise::resolve_thenable(self, promise, thenable, then)
            }
            Job::Call { function, arguments } => {
                let mut rooted = self.scratch();
                rooted.extend(arguments);
                self.call(function, Value::UNDEFINED, &rooted).map(drop)
            }
            Job::Native(function, a, b) => function(self, a, b),
        }
    }

    fn run_reaction(
        &mut self,
        handler: ReactionHandler,
        argument: Value,
        capability: Option<Capability>,
    ) -> JsResult<()> {
        let result = match handler {
            ReactionHandler::Identity => Ok(argument),
            ReactionHandler::Thrower => Err(self.throw(argument)),
            ReactionHandler::Function(function) => {
                self.call(Value::object(function), Value::UNDEFINED, &[argument])
            }
            ReactionHandler::Resume(coroutine, mode) => coroutine::resume(self, coroutine, mode, argument),
            ReactionHandler::Native(function, a, b) => function(self, argument, a, b),
        };
        let Some(capability) = capability else {
            return match result {
                Err(Abrupt::Terminate) => Err(Abrupt::Terminate),
                _ => Ok(()),
            };
        };
        match result {
            Ok(value) => capability.resolve(self, value),
            Err(Abrupt::Throw) => {
                let reason = self.take_exception();
                capability.reject(self, reason)
            }
            Err(Abrupt::Terminate) => Err(Abrupt::Terminate),
        }
    }
}
