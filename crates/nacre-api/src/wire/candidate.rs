//! How a session is read for candidates, and why proposals are turned away.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a session was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Strategy {
    Offline,
    Windows,
    Rlm,
}

/// Whether a session is worth reading at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Gate {
    Open,
    /// An agent worked for another agent: no person spoke.
    NotAPersons,
    /// All that has the role of the user was put there by programs.
    NoWords,
    /// It ended before anything happened.
    Abandoned,
    /// The person only gave orders that leave nothing behind.
    Mechanical,
}

impl Gate {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::NotAPersons => "not_a_persons",
            Self::NoWords => "no_words",
            Self::Abandoned => "abandoned",
            Self::Mechanical => "mechanical",
        }
    }
}

/// What in a session gave a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Signal {
    Remember,
    Correction,
    Preference,
    Decision,
    Choice,
    Convention,
    Context,
    Failure,
    Procedure,
    Model,
}

impl Signal {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Remember => "remember",
            Self::Correction => "correction",
            Self::Preference => "preference",
            Self::Decision => "decision",
            Self::Choice => "choice",
            Self::Convention => "convention",
            Self::Context => "context",
            Self::Failure => "failure",
            Self::Procedure => "procedure",
            Self::Model => "model",
        }
    }
}

/// Why a proposal did not become a candidate.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum DropReason {
    NoEvidence,
    Secret,
    TooShort,
    TooLong,
    Tautology,
    Derivable,
    AboutNacre,
    Injected,
    Recalled,
    Forgotten,
    NotDurable,
    Revoked,
    Repeated,
    Weak,
    OverCap,
}

impl DropReason {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NoEvidence => "no_evidence",
            Self::Secret => "secret",
            Self::TooShort => "too_short",
            Self::TooLong => "too_long",
            Self::Tautology => "tautology",
            Self::Derivable => "derivable",
            Self::AboutNacre => "about_nacre",
            Self::Injected => "injected",
            Self::Recalled => "recalled",
            Self::Forgotten => "forgotten",
            Self::NotDurable => "not_durable",
            Self::Revoked => "revoked",
            Self::Repeated => "repeated",
            Self::Weak => "weak",
            Self::OverCap => "over_cap",
        }
    }
}
