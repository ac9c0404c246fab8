//! What can go wrong: a guest's exception, a termination, a mistake of the host's.

use super::handle::Handle;
use cynic_engine::object::ObjectKind;
use cynic_engine::preview;
use cynic_engine::syntax::SyntaxError;
use cynic_engine::value::Value;
use cynic_engine::vm::{Abrupt, Termination, Vm};

/// A value that the guest threw and did not catch.
#[derive(Clone, Debug)]
pub struct Exception {
    /// The thrown value.
    pub value: Handle,
    /// `Name: message` of an error, else the value as text.
    pub message: String,
    /// The stack of an error: its message and one line per call.
    pub stack: Option<String>,
}

/// A mistake of the host's, or something it asked for that cannot be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostError {
    /// A value is not what the host asked for; the text says what was found. Thrown to a guest it is a TypeError.
    Conversion(String),
    /// A host function failed; thrown to a guest it is an Error.
    Failed(String),
    /// Something is larger than the host allows; thrown to a guest it is a RangeError.
    Range(String),
    /// The source text does not parse.
    Syntax(Box<SyntaxError>),
    /// A handle of another isolate.
    ForeignHandle,
    /// The global object was sealed by the first evaluation.
    GlobalSealed,
    /// Nothing is left to run that could settle the promise.
    NeverSettles,
}

/// Why an operation did not give a value.
#[derive(Clone, Debug)]
pub enum Error {
    /// The guest threw.
    Thrown(Box<Exception>),
    /// A limit ended the guest.
    Terminated(Termination),
    /// The host's own error.
    Host(HostError),
}

/// The result of an operation of the embedding API.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl std::fmt::Display for HostError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            HostError::Conversion(why) | HostError::Failed(why) | HostError::Range(why) => f.write_str(why),
            HostError::Syntax(error) => write!(f, "SyntaxError: {error}"),
            HostError::ForeignHandle => f.write_str("the handle belongs to another isolate"),
            HostError::GlobalSealed => f.write_str("the global object is sealed once guest code has run"),
            HostError::NeverSettles => f.write_str("nothing is left to run that could settle the promise"),
        }
    }
}

impl std::fmt::Display for Exception {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.stack.as_deref().unwrap_or(&self.message))
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Error::Thrown(exception) => exception.fmt(f),
            Error::Terminated(why) => write!(f, "terminated: {why}"),
            Error::Host(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for HostError {}
impl std::error::Error for Error {}

impl From<HostError> for Error {
    fn from(error: HostError) -> Self {
        Error::Host(error)
    }
}

/// What a host function says when it fails with a text.
impl From<String> for Error {
    fn from(why: String) -> Self {
        Error::Host(HostError::Failed(why))
    }
}

impl From<&str> for Error {
    fn from(why: &str) -> Self {
        Error::Host(HostError::Failed(why.to_owned()))
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        Error::Host(HostError::Failed(error.to_string()))
    }
}

impl Error {
    /// The error of a completion that the isolate has just reported.
    pub(super) fn of(vm: &mut Vm, abrupt: Abrupt) -> Self {
        match abrupt {
            Abrupt::Throw => {
                let value = vm.take_exception();
                Error::Thrown(Box::new(Exception::of(vm, value)))
            }
            Abrupt::Terminate => Error::Terminated(vm.termination().unwrap_or(Termination::Host)),
        }
    }

    /// The same error as a completion of guest code that called the host.
    pub(super) fn into_abrupt(self, vm: &mut Vm) -> Abrupt {
        match self {
            Error::Thrown(exception) => match exception.value.value_in(vm) {
                Ok(value) => vm.throw(value),
                Err(error) => vm.throw_type_error(&error.to_string()),
            },
            Error::Terminated(why) => vm.terminate(why),
            Error::Host(HostError::Syntax(error)) => vm.throw_syntax(&error),
            Error::Host(HostError::Failed(why)) => {
                vm.throw_error(cynic_engine::realm::Intrinsic::ErrorPrototype, &why)
            }
            Error::Host(HostError::Range(why)) => vm.throw_range_error(&why),
            Error::Host(error) => vm.throw_type_error(&error.to_string()),
        }
    }
}

impl Exception {
    pub(super) fn of(vm: &mut Vm, value: Value) -> Self {
        let handle = Handle::new(vm, value);
        let Some(error) = value.as_object().filter(|object| object.is(ObjectKind::Error)) else {
            let message = match value.as_string() {
                Some(text) => text.to_rust_string(),
                None => vm.describe(value),
            };
            return Exception { value: handle, message, stack: None };
        };
        let message = vm.error_header(error);
        Exception { value: handle, message, stack: preview::error_stack(vm, error) }
    }
}
