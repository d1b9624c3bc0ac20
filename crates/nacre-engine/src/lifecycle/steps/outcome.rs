//! What came of a run.

use serde_json::Value;

use super::CheckpointError;
use crate::lifecycle::{Conversation, TooLong};
use crate::model::{ModelError, RolesError, SchemaError, StopReason};
use crate::record::RunEffects;
use crate::record::RunFacts;
use crate::record::{CancelledBy, Failure, Signal, TaskState};

/// Everything that is known of a run that is over.
#[derive(Debug)]
pub struct Outcome {
    pub ending: Ending,
    /// The agent's last words, also where it did not come to an end.
    pub text: String,
    /// What it handed in, of the shape that was asked for.
    pub answer: Option<Value>,
    /// What a validator still doubts about the answer.
    pub doubts: Vec<String>,
    /// What it handed in last where that was not of the shape: parts of it may be.
    pub rejected: Option<Value>,
    pub effects: RunEffects,
    pub facts: RunFacts,
    /// The conversation with this run in it, for the next one.
    pub conversation: Conversation,
    /// What a person said meanwhile and the agent was not told any more.
    pub unheard: Vec<String>,
}

/// How a run ended.
#[derive(Debug)]
pub enum Ending {
    Completed { signal: Signal, reason: Option<String> },
    Failed(RunError),
    Cancelled(CancelledBy),
}

impl Ending {
    pub(super) fn done() -> Self {
        Self::Completed { signal: Signal::Done, reason: None }
    }

    /// What the agent said about its end, or why there was none.
    pub(super) fn words(&self) -> Option<String> {
        match self {
            Self::Completed { signal: _, reason } => reason.clone(),
            Self::Failed(error) => Some(error.to_string()),
            Self::Cancelled(_) => None,
        }
    }

    pub fn state(&self) -> TaskState {
        match self {
            Self::Completed { signal, reason: _ } => TaskState::Completed { signal: *signal },
            Self::Failed(error) => TaskState::Failed { why: error.failure() },
            Self::Cancelled(by) => TaskState::Cancelled { by: *by },
        }
    }
}

/// Why a run could not be brought to its end.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error(transparent)]
    Roles(#[from] RolesError),
    #[error("The shape that the agent is to answer in is no schema")]
    Schema(#[from] SchemaError),
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error("The model refused to answer")]
    Refused,
    #[error("The provider held the answer back")]
    Filtered,
    #[error("The model stopped for a reason we do not know: {0}")]
    Stopped(String),
    #[error("The model said nothing, twice")]
    Empty,
    #[error("The model made up the result of a tool, twice")]
    MadeUpResult,
    #[error("The answer was longer than {max_tokens} tokens, twice")]
    CutOff { max_tokens: u32 },
    #[error("The answer was not accepted: {}", faults.join("; "))]
    Invalid { faults: Vec<String> },
    #[error("No answer came within {steps} steps")]
    OutOfSteps { steps: u32 },
    #[error("The time for the run was over")]
    OutOfTime,
    #[error("The conversation is too long for the model")]
    TooLong(#[source] TooLong),
    #[error("The conversation could not be saved")]
    Checkpoint(#[source] CheckpointError),
}

impl RunError {
    /// The reason with which its task failed.
    pub fn failure(&self) -> Failure {
        match self {
            Self::Roles(_) | Self::Schema(_) => Failure::Unusable,
            Self::Model(_) | Self::Stopped(_) => Failure::Model,
            Self::Refused | Self::Filtered => Failure::Refused,
            Self::Empty | Self::MadeUpResult | Self::CutOff { .. } | Self::Invalid { .. } => {
                Failure::Output
            }
            Self::OutOfSteps { .. } | Self::TooLong(_) => Failure::Budget,
            Self::OutOfTime => Failure::Deadline,
            Self::Checkpoint(_) => Failure::Internal,
        }
    }

    /// What a stop that is no end of an answer means.
    pub(super) fn of_stop(stop: &StopReason) -> Option<Self> {
        match stop {
            StopReason::Refusal => Some(Self::Refused),
            StopReason::ContentFilter => Some(Self::Filtered),
            StopReason::End
            | StopReason::ToolUse
            | StopReason::MaxTokens
            | StopReason::ContextFull
            | StopReason::Other(_) => None,
        }
    }
}
