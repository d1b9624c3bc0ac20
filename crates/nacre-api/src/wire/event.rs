//! What an operation emits while it runs, in order. Progress bars, `nacre events` and streams of the server read these.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// It runs as a task of this id from here on.
    Started { task: String, agent: String, title: String },
    /// Something a person should know.
    Warning(Warning),
    /// What is being done now, in a few words.
    Step { text: String },
    /// How far it is.
    Progress { done: u64, total: u64, bytes: u64 },
    /// What an agent does.
    Note { text: String },
    /// A piece of what a model says. Nothing of it was checked.
    Words { text: String },
    /// A sentence of an answer, with everything that it cites looked up. The gap before it is part of the text: one after
    /// the other they are the answer.
    Sentence { text: String, starts_line: bool },
}

/// Something a person should know, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Warning {
    pub message: String,
    pub hint: Option<String>,
}
