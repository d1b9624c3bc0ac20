//! How an operation ended that did not fail.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How much of what was asked for was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// All of it.
    #[default]
    Done,
    /// It was done, and what it found is bad.
    Failed,
    /// Some of it; the report says what is missing.
    Partial,
    /// The rest waits for another process.
    Busy,
}

impl Outcome {
    /// What a process ends with.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Partial => 3,
            Self::Busy => 4,
        }
    }

    /// `Partial` where something is missing.
    pub fn partial_if(is_partial: bool) -> Self {
        if is_partial { Self::Partial } else { Self::Done }
    }
}

/// What an operation answers.
pub trait Report: Serialize {
    /// How it ended.
    fn outcome(&self) -> Outcome {
        Outcome::Done
    }
}
