//! Errors and outcomes. One table defines the exit code and HTTP status of each error code.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Machine-readable reason for a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// The request is invalid.
    Usage,
    /// The requested item does not exist.
    NotFound,
    /// The name matches more than one item.
    Ambiguous,
    /// No project was found, or the project has no store.
    NoProject,
    /// The item was changed concurrently.
    Conflict,
    /// Another process is writing.
    Busy,
    /// The action is not allowed.
    Refused,
    /// A setting, a key or a program is missing.
    NotSet,
    /// A file or response is malformed.
    Invalid,
    /// A size limit is exceeded.
    TooLarge,
    /// A model or service did not respond.
    Unavailable,
    /// The shared database does not respond; a retry may succeed.
    DatabaseAway,
    /// A limit on tokens or money is reached.
    LimitReached,
    /// The operation was cancelled by the user or by a program.
    Cancelled,
    /// The reader of the output closed the pipe.
    OutputClosed,
    /// Any other error.
    Failed,
}

/// The name, exit code and HTTP status of each error code.
pub const CODES: &[(ErrorCode, &str, u8, u16)] = &[
    (ErrorCode::Usage, "usage", 2, 400),
    (ErrorCode::NotFound, "not_found", 1, 404),
    (ErrorCode::Ambiguous, "ambiguous", 1, 409),
    (ErrorCode::NoProject, "no_project", 1, 404),
    (ErrorCode::Conflict, "conflict", 1, 409),
    (ErrorCode::Busy, "busy", 4, 423),
    (ErrorCode::Refused, "refused", 1, 403),
    (ErrorCode::NotSet, "not_set", 1, 412),
    (ErrorCode::Invalid, "invalid", 1, 422),
    (ErrorCode::TooLarge, "too_large", 1, 413),
    (ErrorCode::Unavailable, "unavailable", 1, 502),
    (ErrorCode::DatabaseAway, "database_away", 4, 503),
    (ErrorCode::LimitReached, "limit_reached", 3, 429),
    (ErrorCode::Cancelled, "cancelled", 1, 499),
    (ErrorCode::OutputClosed, "output_closed", 0, 499),
    (ErrorCode::Failed, "failed", 1, 500),
];

impl ErrorCode {
    fn row(self) -> &'static (Self, &'static str, u8, u16) {
        // A test checks that the table is complete. The last row is only a fallback.
        CODES.iter().find(|(code, ..)| *code == self).unwrap_or(&CODES[CODES.len() - 1])
    }

    pub fn as_str(self) -> &'static str {
        self.row().1
    }

    pub fn exit_code(self) -> u8 {
        self.row().2
    }

    pub fn http_status(self) -> u16 {
        self.row().3
    }
}

/// An operation that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Failure {
    pub code: ErrorCode,
    /// The error message.
    pub message: String,
    /// The causes, outermost first.
    pub causes: Vec<String>,
    /// What the user can do, with commands to run.
    pub hints: Vec<String>,
}

/// The JSON object returned instead of a report when an operation fails.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorReport {
    pub error: Failure,
}

names! {
    /// How completely an operation succeeded.
    #[derive(Default)]
    pub enum Outcome {
        /// The operation succeeded completely.
        #[default]
        Done = "done",
        /// The operation completed and found problems.
        Failed = "failed",
        /// The operation succeeded partially; the report lists what is missing.
        Partial = "partial",
        /// Part of the operation was blocked by another process.
        Busy = "busy",
    }
}

impl Outcome {
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Partial => 3,
            Self::Busy => 4,
        }
    }

    pub fn partial_if(is_partial: bool) -> Self {
        if is_partial { Self::Partial } else { Self::Done }
    }
}

/// The result of an operation.
pub trait Report: Serialize {
    fn outcome(&self) -> Outcome {
        Outcome::Done
    }
}

/// Implements `Report` for types that have a list field; the outcome is partial unless that list is
/// empty.
macro_rules! partial_reports {
    ($($report:ident: $left:ident)+) => { $(
        impl Report for crate::$report {
            fn outcome(&self) -> Outcome {
                Outcome::partial_if(!self.$left.is_empty())
            }
        }
    )+ };
}

partial_reports! {
    BriefReport: broken
    ConnectReport: left_out
    MemoryAddLinesReport: skipped
    MemoryListReport: broken
    MemoryResetReport: left
    MemorySearchReport: broken
    ReviewListReport: broken
    SkillListReport: problems
    UndoReport: kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_one_row_and_the_name_that_serde_writes() {
        for (number, (code, name, _, status)) in CODES.iter().enumerate() {
            assert_eq!(CODES.iter().position(|(other, ..)| other == code), Some(number));
            let named: ErrorCode = Deserialize::deserialize(serde::de::value::StrDeserializer::<
                serde::de::value::Error,
            >::new(name))
            .unwrap();
            assert_eq!(named, *code);
            assert!((400..600).contains(status), "{name}: {status}");
        }
        assert_eq!(CODES.len(), ErrorCode::Failed as usize + 1, "every error code needs a row");
    }
}
