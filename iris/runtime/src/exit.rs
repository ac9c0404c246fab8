//! Why an actor ended. Owns the typed reasons and OTP's rule which of them count as abnormal.
//! Leaves to hosts what an exception is (`Exception` is implemented by the Python crate for its exceptions).

use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// A failure of a hosted language, kept as data: its type, its message, its traceback.
pub trait Exception: fmt::Debug + Send + Sync + 'static {
    /// The type's name, for example `ValueError`.
    fn kind(&self) -> String;
    /// The one word for logs and metrics.
    fn label(&self) -> &'static str {
        "exception"
    }
    /// The message.
    fn message(&self) -> String;
    /// The message as far as it is known without running the program's code, for those who must not wait for it.
    fn plain_message(&self) -> String {
        self.message()
    }
    /// The traceback as text, if the host has one.
    fn traceback(&self) -> Option<String>;
    /// For hosts that want their own type back.
    fn as_any(&self) -> &dyn Any;
}

/// Why an actor ended. Cheap to clone: it travels along links.
#[derive(Clone, Debug)]
pub enum ExitReason {
    /// The actor was done.
    Normal,
    /// It was asked to end in order (by its supervisor, its parent or `stop`).
    Shutdown,
    /// It was ended at once, without a chance to clean up.
    Killed,
    /// The pid named nobody.
    NoProcess,
    /// It did not end in the time it was given.
    Timeout,
    /// A supervisor saw more restarts than its intensity allows.
    RestartIntensity {
        /// Restarts counted in the window.
        restarts: u32,
        /// Length of the window.
        period_ms: u64,
    },
    /// The handler returned an error.
    Error(Arc<str>),
    /// The handler panicked.
    Panic(Arc<str>),
    /// The handler of a hosted language raised.
    Exception(Arc<dyn Exception>),
}

impl ExitReason {
    /// An error reason with the given text.
    pub fn error(message: impl AsRef<str>) -> Self {
        Self::Error(Arc::from(message.as_ref()))
    }

    /// OTP's rule for transient children and for links: `normal` and `shutdown` are not failures.
    #[must_use]
    pub fn is_abnormal(&self) -> bool {
        !matches!(self, Self::Normal | Self::Shutdown)
    }

    /// The text without running the program's code (see `Exception::plain_message`).
    #[must_use]
    pub fn plain(&self) -> String {
        match self {
            Self::Exception(exception) => format!("{}: {}", exception.kind(), exception.plain_message()),
            other => other.to_string(),
        }
    }

    /// One word for logs and metrics labels.
    #[must_use]
    pub fn label(&self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Shutdown => "shutdown",
            Self::Killed => "killed",
            Self::NoProcess => "noproc",
            Self::Timeout => "timeout",
            Self::RestartIntensity { .. } => "restart_intensity",
            Self::Error(_) => "error",
            Self::Panic(_) => "panic",
            Self::Exception(exception) => exception.label(),
        }
    }

    /// Turns the payload of a caught panic into a reason.
    pub(crate) fn from_panic(payload: Box<dyn Any + Send>) -> Self {
        let text = payload
            .downcast_ref::<&str>()
            .map(|text| (*text).to_owned())
            .or_else(|| payload.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "panic with a payload that is not text".to_owned());
        Self::Panic(Arc::from(text))
    }
}

impl fmt::Display for ExitReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RestartIntensity { restarts, period_ms } => {
                write!(f, "restart_intensity: {restarts} restarts within {period_ms} ms")
            }
            Self::Error(text) => write!(f, "error: {text}"),
            Self::Panic(text) => write!(f, "panic: {text}"),
            Self::Exception(exception) => write!(f, "{}: {}", exception.kind(), exception.message()),
            other => f.write_str(other.label()),
        }
    }
}
