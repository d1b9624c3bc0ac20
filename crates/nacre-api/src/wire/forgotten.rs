//! Where copies of a forgotten memory may lie, and what was found there.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A place that was looked into after a memory was forgotten.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckedCopy {
    pub place: CopyPlace,
    pub state: CopyState,
    /// Why it waits, or which server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// A place that may hold a copy of a memory.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum CopyPlace {
    /// Its file, its evidence and its counters.
    Files,
    /// What runs noted, and what would undo them.
    Runs,
    /// The search index of this machine.
    Index,
    /// What hooks noted of sessions, and drafts of edits.
    Notes,
    /// The index that servers share.
    SharedIndex,
    /// A server that it was sent to.
    Server,
}

impl CopyPlace {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Files => "files",
            Self::Runs => "runs",
            Self::Index => "search index",
            Self::Notes => "notes",
            Self::SharedIndex => "shared index",
            Self::Server => "server",
        }
    }
}

/// What was found in a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CopyState {
    /// Nothing of it is there: it was looked for.
    Gone,
    /// It may still be there.
    Waits,
}
