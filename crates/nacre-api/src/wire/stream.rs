//! What the server streams: the events of its tasks, and what changed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Event, Failure, TaskState, Warning};

/// What an operation that is asked for as lines answers with.
pub const LINES_TYPE: &str = "application/x-ndjson";

/// A line of an operation: what happens, and at the end what came of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "line", rename_all = "snake_case")]
pub enum CallLine {
    Event {
        event: Event,
    },
    /// The last line of one that was carried out.
    Report {
        report: Value,
    },
    /// The last line of one that could not be.
    Error {
        error: Failure,
    },
}

/// One event of the stream.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StreamEvent {
    pub at: String,
    /// The task that it belongs to.
    pub task: Option<String>,
    /// The project's name, where one was named.
    pub project: Option<String>,
    /// Who did it; nobody is named for the person whose machine it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    #[serde(flatten)]
    pub event: StreamedEvent,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum StreamedEvent {
    /// A task has another state.
    Task { state: TaskState, agent: String, title: String },
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
    /// A sentence of an answer, with everything that it cites looked up.
    Sentence { text: String, starts_line: bool },
    /// Something is not what it was: ask for it again.
    Changed { what: ChangedThing },
    /// Events were lost: ask for everything again.
    Missed {},
}

/// What changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChangedThing {
    Memories,
    Queue,
    Projects,
    Config,
    Map,
    Service,
}
