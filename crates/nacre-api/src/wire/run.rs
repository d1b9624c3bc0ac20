//! Runs: what they did, why, and what it took.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Report;

/// Which run to take back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UndoRequest {
    /// Its id, or the start or end of it.
    pub run: String,
}

/// What was put back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UndoReport {
    /// The run that did it, which can itself be undone.
    pub run: String,
    /// The run that was taken back.
    pub of: String,
    pub paths: Vec<String>,
}

impl Report for UndoReport {}
