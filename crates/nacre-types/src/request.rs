//! Requests and reports that several operations share.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A request without arguments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EmptyRequest {}

/// A limit on the number of entries to list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LimitRequest {
    /// Maximum number of results; 0 means all. The default is 20 for tasks, otherwise the setting
    /// `memory.max_results`.
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
    /// The id of the item. For a run, the start or end of its id is enough.
    pub id: String,
}

/// A task.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskRef {
    /// The id of the task. Requests also accept a prefix of it.
    pub task: String,
}

/// A file or folder that was skipped, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PathProblem {
    pub path: String,
    pub why: String,
}

/// Numbers of input and output tokens used by models.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TokenCounts {
    pub input: u64,
    pub output: u64,
}
