//! `context`

use nacre_api::wire::{ContextRequest, MapFormat};
use nacre_ops::host::Tolerance;
use nacre_ops::{OpError, map};
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;

use super::super::text::{page, shown};
use super::{Effect, Output, ToolSpec, at_most, parse};
use crate::calls::Call;

/// About what one result holds.
const DEFAULT_BUDGET: usize = 2_000;
const MAX_BUDGET: usize = 20_000;

pub(super) const TOOL: ToolSpec = ToolSpec {
    name: "context",
    title: "Code for a task",
    description: "The files that a task is about and the code of them that it needs, found by words, meaning, imports and memory, within \
                  a budget of tokens: whole symbols where there is room, else signatures, else names; what did not fit is listed. Use it instead of \
                  searching and reading many files. Secrets are replaced.",
    effect: Effect::Reads,
    is_always_loaded: false,
    tolerance: Tolerance::None,
    call,
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// What is to be done, in words. Needed unless files are given.
    #[serde(default)]
    task: Option<String>,
    /// Files that are surely meant.
    #[serde(default)]
    files: Vec<String>,
    /// Tokens that it may have, at most 20000. Default 2000.
    #[serde(default)]
    budget: Option<usize>,
    /// List files alone, without their code.
    #[serde(default)]
    files_only: bool,
    /// The character to go on from, as the part before named it.
    #[serde(default)]
    offset: Option<usize>,
}

fn call(call: &Call, arguments: JsonObject) -> Result<Output, OpError> {
    let Arguments { task, files, budget, files_only, offset } = parse(arguments)?;
    let budget = at_most("budget", budget.unwrap_or(DEFAULT_BUDGET), MAX_BUDGET)?;
    if task.is_none() && files.is_empty() {
        return Err(OpError::usage("`task` or `files` is needed"));
    }
    let request = ContextRequest {
        format: MapFormat::Text,
        task,
        files,
        budget: Some(budget),
        files_only,
        ..ContextRequest::default()
    };
    let answer = map::context(&call.host, &request, &call.events)?;
    Ok(page(&shown(&answer.payload), offset.unwrap_or(0))?.into())
}
