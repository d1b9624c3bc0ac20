//! The queue of sessions: as it is listed, and what is put back or taken out.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Report;

/// Where a session stands.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum JobState {
    /// Waits for a run, maybe for a retry.
    Pending,
    Running,
    /// A run kept what was worth keeping.
    Done,
    /// There was nothing in it to keep.
    Empty,
    /// It is not to be run, for a reason that can change.
    Skipped,
    /// It failed too often.
    Dead,
}

impl JobState {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Running => "running",
            Self::Done => "done",
            Self::Empty => "empty",
            Self::Skipped => "skipped",
            Self::Dead => "dead",
        }
    }
}

/// Which sessions of the queue to list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct QueueListRequest {
    pub status: Option<JobState>,
    /// At most this many; 0 for all. Without it, the setting `memory.max_results`.
    pub limit: Option<usize>,
}

/// Sessions of the queue, the latest change first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QueueListReport {
    pub jobs: Vec<QueueJob>,
    /// How many there are, listed or not.
    pub total: usize,
}

impl Report for QueueListReport {}

/// A session's place in the queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QueueJob {
    /// The session's id.
    pub id: String,
    pub state: JobState,
    pub reason: Option<String>,
    pub attempts: u32,
    /// It is not tried again before this time.
    pub not_before: Option<String>,
    /// The run that it became part of.
    pub run: Option<String>,
    pub changed: String,
    pub agent: String,
    pub title: Option<String>,
    pub project: Option<String>,
}

/// Which sessions to put back or to take out: one by its id, or all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct QueueChangeRequest {
    /// The start of a session's id.
    pub id: Option<String>,
    /// All that are dead (retry) or pending (skip).
    pub all: bool,
}

/// What was done to sessions of the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum QueueChange {
    /// They were put back into the queue.
    Queued,
    /// They were taken out of it.
    Skipped,
}

impl QueueChange {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Skipped => "skipped",
        }
    }
}

/// The sessions that were changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QueueChangeReport {
    pub done: QueueChange,
    pub ids: Vec<String>,
}

impl Report for QueueChangeReport {}
