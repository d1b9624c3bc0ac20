//! The toolkits, with one module per topic.

pub(crate) mod checklist;
pub mod code;
pub mod file;
pub mod git;
pub(crate) mod memory;
pub(crate) mod shell;
pub mod skill;
pub(crate) mod trace;
pub(crate) mod web;

use serde::de::DeserializeOwned;

use self::prelude::*;

/// Imports that all toolkits share.
mod prelude {
    pub(super) use std::sync::Arc;
    pub(super) use std::time::Duration;

    pub(super) use nacre_base::fs::RelPath;
    pub(super) use schemars::JsonSchema;
    pub(super) use serde::Deserialize;

    pub(super) use super::{WorkspaceTool, check_running, off_thread};
    pub(super) use crate::model::Cancel;
    pub(super) use crate::record::{Category, Fault};
    pub(super) use crate::tools::footprint::{Area, Exec, Footprint, MemoryUse};
    pub(super) use crate::tools::tool::{
        AnyTool, Output, Preview, Result, Tool, ToolContext, ToolError, ToolSpec, tool,
    };
    pub(super) use crate::tools::workspace::Workspace;
}

/// A tool that works on the files of a workspace. It runs on a blocking thread and must check
/// `ctx.cancel` frequently.
pub trait WorkspaceTool: DeserializeOwned + JsonSchema + Send + Sync + 'static {
    const SPEC: ToolSpec;

    fn footprint(&self, workspace: &Workspace) -> Result<Footprint>;

    fn preview(&self, _workspace: &Workspace) -> Result<Preview> {
        Ok(Preview::default())
    }

    fn run(&self, workspace: &Workspace, ctx: &ToolContext) -> Result<Output>;
}

impl<T: WorkspaceTool> Tool for T {
    type With = Arc<Workspace>;

    const SPEC: ToolSpec = T::SPEC;

    fn footprint(&self, workspace: &Arc<Workspace>) -> Result<Footprint> {
        WorkspaceTool::footprint(self, workspace)
    }

    fn preview(&self, workspace: &Arc<Workspace>) -> Result<Preview> {
        WorkspaceTool::preview(self, workspace)
    }

    async fn run(self, workspace: &Arc<Workspace>, ctx: &ToolContext) -> Result<Output> {
        let (workspace, ctx) = (Arc::clone(workspace), ctx.clone());
        off_thread(move || WorkspaceTool::run(&self, &workspace, &ctx)).await
    }
}

async fn off_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| {
        Err(ToolError::new(Fault::Io, "Internal error in the tool", "Try something else."))
    })
}

const MAX_RESULTS: usize = 20;

/// Returns the number of results for a search. Fails if the query is empty or too long.
fn search_limit(query: &str, limit: usize, max: usize) -> Result<usize> {
    const MAX_QUERY_BYTES: usize = 1_000;
    let is_question = !query.trim().is_empty() && query.len() <= MAX_QUERY_BYTES;
    if is_question && (1..=max).contains(&limit) {
        return Ok(limit);
    }
    let hint = format!("The query must be at most 1,000 bytes, and the limit between 1 and {max}.");
    Err(ToolError::new(Fault::Arguments, "Invalid search query", hint))
}

/// Shortens a matching line of code for display.
fn truncate_line(line: &str) -> String {
    const SHOWN_LINE_BYTES: usize = 240;
    let end = line.floor_char_boundary(SHOWN_LINE_BYTES);
    if end < line.len() { format!("{}…", &line[..end]) } else { line.to_owned() }
}

/// Fails if the call was cancelled. Call this before making any change.
fn check_running(cancel: &Cancel) -> Result<()> {
    match cancel.is_cancelled() {
        true => Err(ToolError::new(Fault::Cancelled, "The call was stopped", "Nothing changed.")),
        false => Ok(()),
    }
}
