//! Errors: what could not be done, why, and what to type. One table says what each code means to a shell and to HTTP.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Why an operation failed, for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// The request makes no sense.
    Usage,
    /// There is nothing of that name.
    NotFound,
    /// The name fits several things.
    Ambiguous,
    /// There is no project, or it has no store.
    NoProject,
    /// Somebody changed the same thing meanwhile.
    Conflict,
    /// Another process is writing.
    Busy,
    /// It belongs to somebody else, or is not allowed here.
    Refused,
    /// A setting, a key or a program is missing.
    NotSet,
    /// A file or an answer is broken.
    Invalid,
    /// It is larger than it may be.
    TooLarge,
    /// A model or a service did not answer.
    Unavailable,
    /// The database that servers share does not answer; it may come back.
    DatabaseAway,
    /// A limit on tokens or money is reached.
    LimitReached,
    /// A person or a program stopped it.
    Cancelled,
    /// Nobody reads the output any more.
    OutputClosed,
    /// Anything else.
    Failed,
}

/// What each code means: its name, the exit code of a process, and the HTTP status.
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
        // A test holds the table complete; the last row is what an unlisted code would mean.
        CODES.iter().find(|(code, ..)| *code == self).unwrap_or(&CODES[CODES.len() - 1])
    }

    /// Its name on the wire.
    pub fn as_str(self) -> &'static str {
        self.row().1
    }

    /// What a process that failed with it ends with.
    pub fn exit_code(self) -> u8 {
        self.row().2
    }

    /// What an HTTP response that carries it says.
    pub fn http_status(self) -> u16 {
        self.row().3
    }
}

/// An operation that could not be carried out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Failure {
    pub code: ErrorCode,
    /// What could not be done.
    pub message: String,
    /// Why, outermost first.
    pub causes: Vec<String>,
    /// What the person can do, with the command to type.
    pub hints: Vec<String>,
}

/// The object that stands in the place of a report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorReport {
    pub error: Failure,
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
        assert_eq!(CODES.len(), ErrorCode::Failed as usize + 1, "a code without a row");
    }
}
