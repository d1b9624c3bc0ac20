//! What a task is when it is accepted, and how it may run beside others.

use serde::{Deserialize, Serialize};

use super::id::{SessionId, TaskId};

/// How many tasks of one session may wait.
pub const QUEUE_CAP: usize = 25;

/// Which others a task has to wait for, besides those of its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskClass {
    /// Somebody waits for it.
    Interactive,
    /// One at a time for each project.
    Background,
}

impl TaskClass {
    pub const ALL: &[Self] = &[Self::Interactive, Self::Background];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Interactive => "interactive",
            Self::Background => "background",
        }
    }

    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|class| class.as_str() == word)
    }
}

/// A task that is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewTask {
    pub id: TaskId,
    pub session: SessionId,
    /// The task that started it; such a task takes no turn of its own.
    pub parent: Option<TaskId>,
    /// The root of the project.
    pub project: Option<String>,
    pub agent: String,
    pub class: TaskClass,
    /// What was asked, in a line.
    pub title: String,
}

/// Whether a task may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    Now,
    /// It waits; 1 is next in its session.
    Waits {
        position: usize,
    },
}
