//! How far a run has come.

use std::collections::BTreeSet;

use serde_json::Value;

use super::repeats::Repeats;
use crate::lifecycle::Conversation;
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
    pub(super) was_cut_off: bool,
    pub(super) repairs: usize,
    pub(super) children: u32,
    pub(super) text: String,
    pub(super) answer: Option<Value>,
    pub(super) doubts: Vec<String>,
    /// The last answer that was not of the shape that was asked for.
    pub(super) rejected: Option<Value>,
    pub(super) conversation: Conversation,
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
    pub(super) fn count_usage(&mut self, usage: Usage) {
        self.usage = Some(self.usage.map_or(usage, |sum| sum.plus(usage)));
    }
}
