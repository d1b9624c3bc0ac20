//! Ids that begin with what a person typed, for a shell.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Report;

/// What was typed so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CompleteRequest {
    pub prefix: String,
}

/// Ids of memories, changes and sessions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CompleteReport {
    pub ids: Vec<String>,
}

impl Report for CompleteReport {}
