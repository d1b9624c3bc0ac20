//! Errors from model calls, and how each of them is handled.
//!
//! The server's message is stored as the error's source. Servers sometimes quote the API key, so
//! the message is shortened and the key is removed.

use std::fmt;
use std::time::Duration;

use crate::model::roles::ModelRef;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("Cannot get an answer from `{model}`: {kind}")]
pub struct ModelError {
    pub model: ModelRef,
    pub kind: ErrorKind,
    #[source]
    pub said: Option<Said>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Said(String);

impl Said {
    const MAX_CHARS: usize = 600;

    /// The caller must have removed the API key from the text.
    pub(super) fn new(scrubbed: &str) -> Self {
        let mut text: String = scrubbed.trim().chars().take(Self::MAX_CHARS).collect();
        if scrubbed.trim().chars().nth(Self::MAX_CHARS).is_some() {
            text.push('…');
        }
        Self(text)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ErrorKind {
    #[error("the key is missing or was rejected")]
    Auth,
    #[error("the agent program is not logged in")]
    NotLoggedIn,
    #[error("the account has no credit left")]
    Quota,
    #[error("too many requests{}", after(*retry_after))]
    RateLimited { retry_after: Option<Duration> },
    #[error("the provider is overloaded{}", after(*retry_after))]
    Overloaded { retry_after: Option<Duration> },
    #[error("{0} took too long")]
    Timeout(Wait),
    #[error("the response ended early")]
    CutStream,
    #[error("the request was rejected")]
    BadRequest,
    #[error("the model is unknown to the provider")]
    UnknownModel,
    #[error("the conversation is too long for the model")]
    ContextTooLong,
    #[error("the provider refused to answer")]
    Refused,
    #[error("the provider is unreachable or failed{}", detail("status", *status))]
    Unavailable { status: Option<u16> },
    #[error("the server redirects requests to another address, which must not receive the key")]
    Redirected,
    #[error("the program failed{}", detail("exit", *code))]
    ProgramFailed { code: Option<i32> },
    #[error("the response is malformed")]
    Protocol,
    #[error("the request does not match the script")]
    ScriptMismatch,
    #[error("a spending limit is reached")]
    OverLimit,
    #[error("the call was cancelled")]
    Cancelled,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    FirstToken,
    NextToken,
    Total,
}

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::FirstToken => "the first token",
            Self::NextToken => "the next token",
            Self::Total => "the complete answer",
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextStep {
    Retry,
    Fallback,
    Stop,
}

impl ErrorKind {
    pub fn next_step(&self) -> NextStep {
        match self {
            Self::RateLimited { .. }
            | Self::Overloaded { .. }
            | Self::Timeout(Wait::FirstToken | Wait::NextToken)
            | Self::CutStream
            | Self::Unavailable { .. } => NextStep::Retry,
            Self::Auth
            | Self::NotLoggedIn
            | Self::Quota
            | Self::UnknownModel
            | Self::Redirected
            | Self::ProgramFailed { .. }
            | Self::Protocol => NextStep::Fallback,
            Self::Timeout(Wait::Total)
            | Self::BadRequest
            | Self::ContextTooLong
            | Self::Refused
            | Self::ScriptMismatch
            | Self::OverLimit
            | Self::Cancelled => NextStep::Stop,
        }
    }

    pub fn retry_after(&self) -> Option<Duration> {
        if let Self::RateLimited { retry_after } | Self::Overloaded { retry_after } = self {
            return *retry_after;
        }
        None
    }

    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Auth => "auth",
            Self::NotLoggedIn => "not_logged_in",
            Self::Quota => "quota",
            Self::RateLimited { .. } => "rate_limited",
            Self::Overloaded { .. } => "overloaded",
            Self::Timeout(_) => "timeout",
            Self::CutStream => "cut_stream",
            Self::BadRequest => "bad_request",
            Self::UnknownModel => "unknown_model",
            Self::ContextTooLong => "context_too_long",
            Self::Refused => "refused",
            Self::Unavailable { .. } => "unavailable",
            Self::Redirected => "redirected",
            Self::ProgramFailed { .. } => "program_failed",
            Self::Protocol => "protocol",
            Self::ScriptMismatch => "script_mismatch",
            Self::OverLimit => "over_limit",
            Self::Cancelled => "cancelled",
        }
    }
}

pub(super) type Result<T, E = Fault> = std::result::Result<T, E>;

/// An error that is not yet assigned to a model and may still contain the API key.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) kind: ErrorKind,
    pub(super) said: Option<String>,
}

impl Fault {
    pub(super) fn new(kind: ErrorKind) -> Self {
        Self { kind, said: None }
    }

    pub(super) fn protocol(said: &str) -> Self {
        Self { kind: ErrorKind::Protocol, said: Some(said.to_owned()) }
    }
}

fn after(retry_after: Option<Duration>) -> String {
    let text = |wait: Duration| format!("; retry in {} s", wait.as_secs_f32().ceil());
    retry_after.map(text).unwrap_or_default()
}

fn detail(what: &str, number: Option<impl fmt::Display>) -> String {
    number.map(|number| format!(" ({what} {number})")).unwrap_or_default()
}
