//! `memory_search` for those who compare claims: decisions and learnings, never what a session was about.

use std::time::Duration;

use nacre_core::memory::MemoryType;

use super::super::super::footprint::Footprint;
use super::super::super::tool::{Output, Tool, ToolContext, ToolError, ToolSpec};
use super::handle::MemoryHandle;
use super::search::{MemorySearch, MemorySearchInput, search};
use crate::record::Category;

/// Finds decisions and learnings.
#[derive(Clone)]
pub struct ClaimSearch {
    pub memories: MemoryHandle,
}

impl Tool for ClaimSearch {
    type Input = MemorySearchInput;

    const SPEC: ToolSpec = ToolSpec {
        name: "memory_search",
        toolkit: "memory",
        category: Category::Search,
        description: "Finds decisions and learnings of this project by words and by meaning, best first: id, type, title, \
            state and the words around what was asked for.",
        time_limit: Duration::from_secs(20),
        shown_bytes: 12_000,
    };

    fn footprint(&self, input: &MemorySearchInput) -> Result<Footprint, ToolError> {
        Tool::footprint(&MemorySearch { memories: self.memories.clone() }, input)
    }

    async fn run(&self, input: MemorySearchInput, ctx: &ToolContext) -> Result<Output, ToolError> {
        let (limit, now) = (input.limit()?, ctx.now);
        let is_wanted = |memory_type: MemoryType| memory_type != MemoryType::Summary;
        self.memories
            .work(move |memories| search(memories, &input.query, limit, (now, is_wanted)))
            .await
    }
}
