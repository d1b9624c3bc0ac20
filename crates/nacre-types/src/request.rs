//! Requests and reports shared by several operations.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A request without arguments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EmptyRequest {}

/// A limit on the number of listed entries.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LimitRequest {
    /// Maximum number of results; 0 means no limit. Defaults to 20 for tasks, and otherwise to the
    /// `memory.max_results` setting.
    pub limit: Option<usize>,
}

/// The period of a report.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SinceRequest {
    /// A date, a time or an age, such as `2026-01` or `30d`. The default depends on the operation.
    pub since: Option<String>,
}

/// An item such as a run or a transcript.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ItemId {
    /// The ID of the item. For a run, a prefix or suffix of the ID is enough.
    pub id: String,
}

/// A task.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskRef {
    /// The task ID. Requests also accept a prefix of the ID.
    pub task: String,
}

/// A file or directory that was skipped, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PathProblem {
    pub path: String,
    pub why: String,
}

/// Input and output token counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TokenCounts {
    pub input: u64,
    pub output: u64,
}
