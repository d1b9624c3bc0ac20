//! What whoever ran a lead came to.

use serde_json::Value;

use crate::record::{RunFacts, TaskState};

/// What a runner came to.
pub(super) struct Told {
    pub(super) state: TaskState,
    /// Why it did not come to an end of its own.
    pub(super) error: Option<String>,
    /// What was handed in; parts of it may not hold.
    pub(super) answer: Option<Value>,
    pub(super) facts: RunFacts,
    /// The session as another program printed it, where it is to be kept.
    pub(super) session: Option<String>,
}
