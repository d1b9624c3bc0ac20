//! What a tool is: a typed input with a schema, a footprint, and one function.
//!
//! A tool knows neither permissions nor budgets nor caches; the pipeline asks it for its footprint and decides.

use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use nacre_core::safefs::RelPath;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::footprint::Footprint;
use crate::model::Cancel;
use crate::record::{Category, Change, Fault};
use crate::schemas;

/// How a file with long output is named to `file_read`.
pub(super) const SPILL_PREFIX: &str = "spill:";

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

/// A tool with a typed input.
pub trait Tool: Send + Sync + 'static {
    /// Its schema is stored (`schemas.rs`): the kit's `derived_schemas` names it.
    type Input: DeserializeOwned + JsonSchema + Send;

    const SPEC: ToolSpec;

    /// Says what the call will touch; arguments that name no place in the workspace are refused here.
    fn footprint(&self, input: &Self::Input) -> Result<Footprint, ToolError>;

    /// Says what the call would do, for a person who is asked about it. It changes nothing. Arguments that the call
    /// would refuse are refused here already.
    fn preview(&self, _input: &Self::Input) -> Result<Preview, ToolError> {
        Ok(Preview::default())
    }

    /// Does it. Dropping the future must stop it: whatever was started dies with it.
    fn run(
        &self,
        input: Self::Input,
        ctx: &ToolContext,
    ) -> impl Future<Output = Result<Output, ToolError>> + Send;
}

/// What a call would do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preview {
    /// The files that it would change, each with the text that it would have; `None` where it would be gone.
    pub files: Vec<(RelPath, Option<String>)>,
    pub program: Option<PreviewProgram>,
    /// The folder that the program would run in, where that is not the workspace's root.
    pub folder: Option<String>,
}

/// A program that a call would start.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PreviewProgram {
    /// The program and its arguments; no shell reads them.
    Argv(Vec<String>),
    /// A text for the shell.
    Script(String),
}

/// A call under way.
pub type Running<'a> = Pin<Box<dyn Future<Output = Result<Output, ToolError>> + Send + 'a>>;

/// A tool whose input type is forgotten, as the registry holds it.
pub trait AnyTool: Send + Sync {
    fn spec(&self) -> &ToolSpec;
    fn schema(&self) -> Value;
    fn footprint(&self, arguments: &Value) -> Result<Footprint, ToolError>;
    fn preview(&self, arguments: &Value) -> Result<Preview, ToolError>;
    fn run<'a>(&'a self, arguments: Value, ctx: &'a ToolContext) -> Running<'a>;
}

impl<T: Tool> AnyTool for T {
    fn spec(&self) -> &ToolSpec {
        &T::SPEC
    }

    fn schema(&self) -> Value {
        schemas::of::<T::Input>()
    }

    fn footprint(&self, arguments: &Value) -> Result<Footprint, ToolError> {
        Tool::footprint(self, &typed::<T>(arguments.clone())?)
    }

    fn preview(&self, arguments: &Value) -> Result<Preview, ToolError> {
        Tool::preview(self, &typed::<T>(arguments.clone())?)
    }

    fn run<'a>(&'a self, arguments: Value, ctx: &'a ToolContext) -> Running<'a> {
        Box::pin(async move { Tool::run(self, typed::<T>(arguments)?, ctx).await })
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
pub struct ToolContext {
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
