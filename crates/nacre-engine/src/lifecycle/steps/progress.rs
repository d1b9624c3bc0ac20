//! How far a run has come.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Job;
use super::outcome::{Ending, RunError};
use super::repeats::Repeats;
use crate::lifecycle::{Conversation, Item, TurnEnd};
use crate::model::{Cost, Usage};

/// Everything that a run adds up; what is here when it ends is what is reported.
#[derive(Debug, Default)]
pub(super) struct Progress {
    pub(super) steps: u32,
    pub(super) model_calls: u32,
    pub(super) usage: Option<Usage>,
    pub(super) cost: Bill,
    pub(super) model_us: u64,
    pub(super) tool_us: u64,
    pub(super) calls_are_spent: bool,
    /// The tools that active skills leave.
    pub(super) narrowing: Option<BTreeSet<String>>,
    pub(super) repeats: Repeats,
    pub(super) asking: Asking,
    pub(super) said_nothing: bool,
    /// Whether it was told that it made up the result of a tool.
    pub(super) made_up_result: bool,
    pub(super) was_cut_off: bool,
    pub(super) repairs: usize,
    pub(super) children: u32,
    pub(super) text: String,
    pub(super) answer: Option<Value>,
    pub(super) doubts: Vec<String>,
    /// The last answer that was not of the shape that was asked for.
    pub(super) rejected: Option<Value>,
    pub(super) conversation: Conversation,
    /// The step that the last exchange came of.
    pub(super) kept_step: u32,
    /// What the model was saying when its answer broke off.
    pub(super) partial: String,
    /// A summary was wanted and could not be made.
    pub(super) cannot_sum_up: bool,
    /// Items that were not handed to the checkpoint yet.
    pub(super) unsaved: Vec<Item>,
}

/// How the model is asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Asking {
    /// With its tools.
    #[default]
    Freely,
    /// For its answer, and with no tools any more.
    Finally,
}

/// What the answers cost together; unknown as soon as one of them is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Bill {
    #[default]
    Nothing,
    Known(Cost),
    Unknown,
}

impl Bill {
    pub(super) fn add(&mut self, cost: Option<Cost>) {
        *self = match (*self, cost) {
            (Self::Nothing, Some(cost)) => Self::Known(cost),
            (Self::Known(sum), Some(cost)) => Self::Known(sum.plus(cost)),
            (Self::Nothing | Self::Known(_) | Self::Unknown, _) => Self::Unknown,
        };
    }

    pub(super) fn total(self) -> Option<Cost> {
        match self {
            Self::Nothing => Some(Cost::default()),
            Self::Known(cost) => Some(cost),
            Self::Unknown => None,
        }
    }
}

impl Progress {
    /// Hands out what was not saved yet.
    pub(super) fn save(&mut self, job: &Job<'_>) -> Result<(), RunError> {
        let items = std::mem::take(&mut self.unsaved);
        match job.checkpoint {
            Some(checkpoint) if !items.is_empty() => {
                checkpoint(&items).map_err(RunError::Checkpoint)
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Writes the end of the turn down. A run whose end cannot be saved has failed.
    pub(super) fn close(&mut self, job: &Job<'_>, ending: Ending) -> Ending {
        let partial = std::mem::take(&mut self.partial);
        let was_stopped = matches!(ending, Ending::Cancelled(_)) || !partial.is_empty();
        let end = TurnEnd { state: ending.state(), text: ending.words() };
        if matches!(ending, Ending::Cancelled(_)) && !partial.is_empty() {
            self.text.clone_from(&partial);
        }
        if let Some(turn) = self.conversation.turns.last_mut() {
            turn.interrupted = was_stopped.then(|| partial.clone());
            turn.end = Some(end.clone());
        }
        if was_stopped {
            self.unsaved.push(Item::Interrupted { text: partial });
        }
        self.unsaved.push(Item::End(end));
        match self.save(job) {
            Ok(()) => ending,
            Err(error) => Ending::Failed(error),
        }
    }

    pub(super) fn count_usage(&mut self, usage: Usage) {
        self.usage = Some(self.usage.map_or(usage, |sum| sum.plus(usage)));
    }
}
