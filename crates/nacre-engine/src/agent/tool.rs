//! What a tool is: a typed input with a schema, a footprint, and one function.
//!
//! A tool knows neither permissions nor budgets nor caches; the pipeline asks it for its footprint and decides.

use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use nacre_core::safefs::RelPath;
use schemars::{JsonSchema, schema_for};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::footprint::Footprint;
use crate::model::Cancel;

/// What is known of a tool without calling it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolSpec {
    /// `file_read`: toolkit and verb, the characters that every provider accepts.
    pub name: &'static str,
    pub toolkit: &'static str,
    pub category: Category,
    /// For the model: what it does, when to use it, what comes back.
    pub description: &'static str,
    /// The longest that a call may take.
    pub time_limit: Duration,
    /// How much of the text the model is shown; the rest lies in a spill file.
    pub shown_bytes: usize,
}

/// What kind of thing a tool does; counted and reported by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    Read,
    Search,
    Write,
    Execute,
    Network,
    Meta,
}

/// A tool with a typed input.
pub trait Tool: Send + Sync + 'static {
    type Input: DeserializeOwned + JsonSchema + Send;

    const SPEC: ToolSpec;

    /// Says what the call will touch; arguments that name no place in the workspace are refused here.
    fn footprint(&self, input: &Self::Input) -> Result<Footprint, ToolError>;

    /// Does it. Dropping the future must stop it: whatever was started dies with it.
    fn run(
        &self,
        input: Self::Input,
        desk: &Desk,
    ) -> impl Future<Output = Result<Output, ToolError>> + Send;
}

/// A call under way.
pub type Running<'a> = Pin<Box<dyn Future<Output = Result<Output, ToolError>> + Send + 'a>>;

/// A tool whose input type is forgotten, as the registry holds it.
pub trait AnyTool: Send + Sync {
    fn spec(&self) -> &ToolSpec;
    fn schema(&self) -> Value;
    fn footprint(&self, arguments: &Value) -> Result<Footprint, ToolError>;
    fn run<'a>(&'a self, arguments: Value, desk: &'a Desk) -> Running<'a>;
}

impl<T: Tool> AnyTool for T {
    fn spec(&self) -> &ToolSpec {
        &T::SPEC
    }

    fn schema(&self) -> Value {
        schema_for!(T::Input).to_value()
    }

    fn footprint(&self, arguments: &Value) -> Result<Footprint, ToolError> {
        Tool::footprint(self, &typed::<T>(arguments.clone())?)
    }

    fn run<'a>(&'a self, arguments: Value, desk: &'a Desk) -> Running<'a> {
        Box::pin(async move { Tool::run(self, typed::<T>(arguments)?, desk).await })
    }
}

fn typed<T: Tool>(arguments: Value) -> Result<T::Input, ToolError> {
    serde_json::from_value(arguments).map_err(|error| {
        let hint = format!("Call `{}` again with arguments that fit its schema.", T::SPEC.name);
        ToolError::new(Fault::Arguments, error.to_string(), hint)
    })
}

/// What a call may use while it runs.
#[derive(Clone, Debug)]
pub struct Desk {
    /// The root of the workspace; every path of a footprint is relative to it.
    pub workspace: Arc<PathBuf>,
    pub cancel: Cancel,
    pub now: Timestamp,
    /// Where long output is kept for `file_read`, relative to nothing: it lies outside the workspace.
    pub spill: Arc<PathBuf>,
}

/// What came of a call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Output {
    /// What the model reads.
    pub text: String,
    /// The same as data, for programs.
    pub value: Value,
    /// What really changed in the workspace.
    pub changed: Vec<Change>,
}

/// A file that a call changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    pub path: String,
    pub kind: ChangeKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    Created,
    Edited,
    Deleted,
}

impl Change {
    pub fn new(path: &RelPath, kind: ChangeKind) -> Self {
        Self { path: path.as_str().to_owned(), kind }
    }
}

/// A call that did not work. It goes back to the model; it never ends a run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct ToolError {
    pub fault: Fault,
    pub what: String,
    /// What to do next.
    pub hint: String,
}

impl ToolError {
    pub fn new(fault: Fault, what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { fault, what: what.into(), hint: hint.into() }
    }
}

/// Why a call did not work; closed, and never read out of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// The arguments do not fit the schema.
    Arguments,
    UnknownTool,
    /// The spec of the agent does not allow it.
    Denied,
    BudgetSpent,
    NotFound,
    /// The place is no file of the kind that the tool works on.
    WrongKind,
    TooLarge,
    TimedOut,
    Cancelled,
    /// The text to replace does not occur.
    NoMatch,
    /// The text to replace occurs more than once.
    ManyMatches,
    Overlap,
    /// The file is not what was read.
    Stale,
    Unsupported,
    /// A program could not be started, or ended badly.
    Exec,
    /// The confinement that the call needs cannot be had here.
    Unconfined,
    /// The address may not be reached.
    Blocked,
    Network,
    Io,
}

impl Fault {
    /// A stable word for logs, counters and the model.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Arguments => "arguments",
            Self::UnknownTool => "unknown_tool",
            Self::Denied => "denied",
            Self::BudgetSpent => "budget_spent",
            Self::NotFound => "not_found",
            Self::WrongKind => "wrong_kind",
            Self::TooLarge => "too_large",
            Self::TimedOut => "timed_out",
            Self::Cancelled => "cancelled",
            Self::NoMatch => "no_match",
            Self::ManyMatches => "many_matches",
            Self::Overlap => "overlap",
            Self::Stale => "stale",
            Self::Unsupported => "unsupported",
            Self::Exec => "exec",
            Self::Unconfined => "unconfined",
            Self::Blocked => "blocked",
            Self::Network => "network",
            Self::Io => "io",
        }
    }
}
