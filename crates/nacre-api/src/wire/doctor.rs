//! The check of every file of the stores.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Outcome, ProjectEntry, Report, Scope, StoreScope};

/// What to check.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DoctorRequest {
    pub scope: Option<Scope>,
    /// Warnings make it broken, too.
    pub strict: bool,
    /// Look up every quote in the transcript it is from.
    pub evidence: bool,
    /// Mend first what needs nobody's judgement: links that lead nowhere, and evidence of no memory.
    pub fix: bool,
}

/// What is wrong with the stores.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DoctorReport {
    pub health: Health,
    /// What is wrong with the settings of the repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<String>,
    pub stores: Vec<StoreCheck>,
    /// Registered projects whose store is gone; each is an error.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gone: Vec<ProjectEntry>,
    pub errors: usize,
    pub warnings: usize,
    /// What was mended before the check.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mended: Vec<MendedFile>,
    /// The id that `nacre undo` takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<String>,
}

/// A file that was mended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MendedFile {
    pub path: String,
    pub what: String,
}

impl Report for DoctorReport {
    fn outcome(&self) -> Outcome {
        match self.health {
            Health::Ok | Health::Unchecked => Outcome::Done,
            Health::Broken => Outcome::Failed,
        }
    }
}

/// Whether the stores can be used as they are. Only a completed check may say so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Health {
    Ok,
    Broken,
    /// Nobody looked.
    Unchecked,
}

impl Health {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Broken => "broken",
            Self::Unchecked => "unchecked",
        }
    }
}

/// What is wrong with one store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StoreCheck {
    pub scope: StoreScope,
    pub path: String,
    pub memories: usize,
    pub evidence: usize,
    /// Memories that came from elsewhere and wait for `nacre trust`.
    #[serde(default)]
    pub foreign: usize,
    /// Memories that give an order which the person did not give.
    #[serde(default)]
    pub quarantined: usize,
    /// Where quotes were looked up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quotes: Option<QuoteCheck>,
    pub findings: Vec<Finding>,
}

/// How many quotes were found where they are said to be from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QuoteCheck {
    pub verified: usize,
    /// Given by a person to Nacre itself.
    pub by_hand: usize,
    /// Their transcript is not on this machine.
    pub unchecked: usize,
    pub missing: usize,
    /// Files that could not be read.
    pub unreadable: usize,
}

/// Something that is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    pub severity: Severity,
    /// Below the store.
    pub path: String,
    pub line: Option<usize>,
    pub message: String,
    pub hint: Option<String>,
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// It cannot be used as it is.
    Error,
    /// It only looks wrong.
    Warning,
}

impl Severity {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }
}
