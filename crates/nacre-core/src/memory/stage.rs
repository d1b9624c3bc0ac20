//! Where a memory is in its life, as it is stored.

use serde::{Deserialize, Serialize};

use super::kinds::Status;

/// Why a memory is put away that a person said is wrong.
pub(super) const SAID_WRONG: &str = "a person said that this is wrong";

/// Where a memory is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    Candidate,
    /// Proved, not yet used much.
    Validated,
    /// Used again and again.
    Established,
    Stale,
    Archived,
}

impl Stage {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Candidate => "candidate",
            Self::Validated => "validated",
            Self::Established => "established",
            Self::Stale => "stale",
            Self::Archived => "archived",
        }
    }

    /// The stage that a status alone tells of.
    pub fn of_status(status: Status) -> Self {
        match status {
            Status::Active => Self::Validated,
            Status::Candidate => Self::Candidate,
            Status::Stale | Status::Superseded => Self::Stale,
            Status::Archived => Self::Archived,
        }
    }
}

/// A stage that the status alone does not tell, as it stands in the local state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Life {
    pub stage: Stage,
    pub reason: String,
    /// The status to give back when the reason is gone; where the stage did not change the status, nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status_before: Option<String>,
}
