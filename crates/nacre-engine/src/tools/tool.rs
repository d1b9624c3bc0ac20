//! The definition of a tool: typed arguments with a schema, a footprint, and a function that runs
//! it.
//!
//! Tools do not handle permissions, budgets or caching. The pipeline handles them based on the
//! footprint.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use nacre_base::fs::RelPath;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::confine::Program;
use crate::model::Cancel;
use crate::record::{Category, Fault, FileChange};
use crate::schemas;
use crate::tools::footprint::Footprint;

/// Prefix of a spill file's name in the arguments of `file_read`.
pub(super) const SPILL_PREFIX: &str = "spill:";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolSpec {
    /// Toolkit and verb, such as `file_read`. Uses only characters that every provider accepts.
    pub name: &'static str,
    pub category: Category,
    /// Tells the model what the tool does, when to use it, and what it returns.
    pub description: &'static str,
    pub time_limit: Duration,
    pub shown_bytes: usize,
}

pub trait Tool: DeserializeOwned + JsonSchema + Send + Sync + 'static {
    /// The resources that calls to this tool need, such as a workspace or a store.
    type With: Send + Sync + 'static;

    const SPEC: ToolSpec;

    /// Declares what the call will access. Returns an error for invalid paths.
    fn footprint(&self, with: &Self::With) -> Result<Footprint>;

    /// Describes the call for the user without changing anything. Fails if the call itself would
    /// reject the arguments. A call with an empty preview cannot be approved.
    fn preview(&self, _with: &Self::With) -> Result<Preview> {
        Ok(Preview::default())
    }

    /// Runs the call. Dropping the future must stop the call and everything that it started.
    fn run(
        self,
        with: &Self::With,
        ctx: &ToolContext,
    ) -> impl Future<Output = Result<Output>> + Send;
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preview {
    /// Files that the call would change, with their new text. `None` means that the file is
    /// removed.
    pub files: Vec<(RelPath, Option<String>)>,
    pub program: Option<Program>,
    pub memory: Option<String>,
    pub folder: Option<String>,
}

pub type Running<'a> = Pin<Box<dyn Future<Output = Result<Output>> + Send + 'a>>;

pub trait AnyTool: Send + Sync {
    fn spec(&self) -> &ToolSpec;
    fn schema(&self) -> Value;
    fn footprint(&self, arguments: &Value) -> Result<Footprint>;
    fn preview(&self, arguments: &Value) -> Result<Preview>;
    fn run<'a>(&'a self, arguments: Value, ctx: &'a ToolContext) -> Running<'a>;
}

struct Bound<T: Tool>(T::With);

pub fn tool<T: Tool>(with: T::With) -> Arc<dyn AnyTool> {
    Arc::new(Bound::<T>(with))
}

impl<T: Tool> AnyTool for Bound<T> {
    fn spec(&self) -> &ToolSpec {
        &T::SPEC
    }

    fn schema(&self) -> Value {
        schemas::of::<T>()
    }

    fn footprint(&self, arguments: &Value) -> Result<Footprint> {
        parse::<T>(arguments.clone())?.footprint(&self.0)
    }

    fn preview(&self, arguments: &Value) -> Result<Preview> {
        parse::<T>(arguments.clone())?.preview(&self.0)
    }

    fn run<'a>(&'a self, arguments: Value, ctx: &'a ToolContext) -> Running<'a> {
        Box::pin(async move { parse::<T>(arguments)?.run(&self.0, ctx).await })
    }
}

fn parse<T: Tool>(arguments: Value) -> Result<T> {
    serde_json::from_value(arguments).map_err(|error| {
        let hint = format!("Call `{}` again with arguments that match its schema.", T::SPEC.name);
        ToolError::new(Fault::Arguments, error.to_string(), hint)
    })
}

#[derive(Clone, Debug)]
pub struct ToolContext {
    /// Root of the workspace. Paths in a footprint are relative to this root.
    pub workspace: Arc<PathBuf>,
    pub cancel: Cancel,
    pub now: Timestamp,
    pub spill: Arc<PathBuf>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Output {
    pub text: String,
    pub changed: Vec<FileChange>,
}

impl Output {
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), changed: Vec::new() }
    }
}

pub type Result<T, E = ToolError> = std::result::Result<T, E>;

/// A failed call. The error is returned to the model and never ends a run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct ToolError {
    pub fault: Fault,
    pub what: String,
    pub hint: String,
}

impl ToolError {
    pub fn new(fault: Fault, what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { fault, what: what.into(), hint: hint.into() }
    }
}

const MAX_SEEN: usize = 10_000;

/// Everything that has been shown during a run, by ID. Clones share one list.
#[derive(Clone, Debug, Default)]
pub struct Seen(Arc<Mutex<BTreeMap<String, String>>>);

impl Seen {
    pub fn note(&self, id: &str, text: &str) {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.len() < MAX_SEEN {
            seen.insert(id.to_owned(), text.to_owned());
        }
    }

    pub fn text(&self, id: &str) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(id).cloned()
    }
}
