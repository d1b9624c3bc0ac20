//! How a process ends.

use nacre_api::wire::{ErrorCode, Outcome};

/// How a command ended; the process's exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// All of it was done.
    Done = 0,
    /// It could not be done.
    Failed = 1,
    /// It was not understood.
    Usage = 2,
    /// Some of it was done; the rest was reported.
    Partial = 3,
    /// Another process is writing.
    Busy = 4,
}

impl From<Outcome> for Exit {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Done => Self::Done,
            Outcome::Failed => Self::Failed,
            Outcome::Partial => Self::Partial,
            Outcome::Busy => Self::Busy,
        }
    }
}

impl From<ErrorCode> for Exit {
    fn from(code: ErrorCode) -> Self {
        match code.exit_code() {
            0 => Self::Done,
            2 => Self::Usage,
            3 => Self::Partial,
            4 => Self::Busy,
            _ => Self::Failed,
        }
    }
}
