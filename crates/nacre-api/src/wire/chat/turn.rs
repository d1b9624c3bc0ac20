//! A turn as a whole, for scripts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::{Failure, Outcome, Report, TaskState};
use super::TurnUsage;

/// What came of one turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChatTurnReport {
    pub session: String,
    pub task: String,
    pub state: TaskState,
    /// `done`, `no_op`, `blocked` or `yielded`.
    pub signal: Option<String>,
    /// Why it ended so.
    pub reason: Option<String>,
    /// What the agent said last.
    pub text: String,
    /// Files that changed.
    pub changed: Vec<String>,
    /// What it wanted to do and was not allowed.
    pub denied: Vec<String>,
    pub usage: TurnUsage,
    pub failure: Option<Failure>,
}

impl ChatTurnReport {
    /// A turn that has just begun.
    pub fn new(session: String, task: String) -> Self {
        Self {
            session,
            task,
            state: TaskState::Accepted,
            signal: None,
            reason: None,
            text: String::new(),
            changed: Vec::new(),
            denied: Vec::new(),
            usage: TurnUsage::default(),
            failure: None,
        }
    }
}

impl Report for ChatTurnReport {
    fn outcome(&self) -> Outcome {
        match self.state {
            TaskState::Completed if self.signal.as_deref() == Some("blocked") => Outcome::Partial,
            TaskState::Completed if !self.denied.is_empty() => Outcome::Partial,
            TaskState::Completed => Outcome::Done,
            TaskState::Accepted
            | TaskState::Queued
            | TaskState::Running
            | TaskState::Failed
            | TaskState::Cancelled => Outcome::Failed,
        }
    }
}
