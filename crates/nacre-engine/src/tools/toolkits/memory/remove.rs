//! `memory_remove`: puts a memory away.
//!
//! Into the archive, not out of the world: a model may be wrong, and `nacre memory restore` brings it back.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::super::super::footprint::{Footprint, MemoryUse};
use super::super::super::tool::{Output, Tool, ToolContext, ToolError, ToolSpec};
use super::handle::{MemoryHandle, memory_error};
use crate::record::Category;

/// Archives memories.
#[derive(Clone)]
pub struct MemoryRemove {
    pub memories: MemoryHandle,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemoryRemoveInput {
    /// The whole id, as `memory_search` shows it.
    id: String,
}

impl Tool for MemoryRemove {
    type Input = MemoryRemoveInput;

    const SPEC: ToolSpec = ToolSpec {
        name: "memory_remove",
        toolkit: "memory",
        category: Category::Write,
        description: "Puts a decision or learning that no longer holds into the archive, where no search finds it unasked. \
            A person can bring it back.",
        time_limit: Duration::from_secs(20),
        shown_bytes: 2_000,
    };

    fn footprint(&self, _: &MemoryRemoveInput) -> Result<Footprint, ToolError> {
        Ok(Footprint { memory: MemoryUse::Changes, ..Footprint::default() })
    }

    async fn run(&self, input: MemoryRemoveInput, ctx: &ToolContext) -> Result<Output, ToolError> {
        let now = ctx.now;
        self.memories
            .work(move |memories| {
                let failed = |error| memory_error(&error);
                let mut batch =
                    memories.store.begin(&memories.owner, memories.patience).map_err(failed)?;
                let id = batch.archive(&input.id, now).map_err(failed)?;
                batch.commit().map_err(failed)?;
                let text =
                    format!("{id} is in the archive; `nacre memory restore {id}` brings it back.");
                Ok(Output { text, value: json!({ "id": id.as_str() }), changed: Vec::new() })
            })
            .await
    }
}
