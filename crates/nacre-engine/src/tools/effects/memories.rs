//! Care for memories that were changed as files: their frontmatter in the form that Nacre writes, and the index.

use jiff::Timestamp;
use nacre_core::memory::Located;
use nacre_core::search::MemoryIndex;

use super::super::tool::ToolError;
use super::super::toolkits::memory::{MemoryHandle, memory_error, search_error};

/// Where memories lie in a workspace.
const STORE: &str = ".nacre/";

/// The memory whose file this is.
pub(super) fn memory_at(path: &str) -> Option<Located> {
    Located::from_path(path.strip_prefix(STORE)?)
}

/// Rewrites a memory through the one writer that memories have: redacted, checked, its time of change set. Returns
/// whether that made a difference.
pub(super) fn normalize(
    memories: &MemoryHandle,
    at: &Located,
    now: Timestamp,
) -> Result<bool, ToolError> {
    let failed = |error| memory_error(&error);
    let before = memories.store.read_file(&at.path).map_err(failed)?;
    let text = String::from_utf8_lossy(&before).into_owned();
    let mut batch = memories.store.begin(&memories.owner, memories.patience).map_err(failed)?;
    batch.rewrite(at, &before, &text, now).map_err(failed)?;
    batch.commit().map_err(failed)?;
    let after = memories.store.read_file(&at.path).map_err(failed)?;
    Ok(after != before)
}

/// Takes what changed into the index; opening it does.
pub(super) fn index(memories: &MemoryHandle, now: Timestamp) -> Result<(), ToolError> {
    MemoryIndex::open(&memories.store, memories.embedder.as_ref(), &memories.owner, now)
        .map(|_| ())
        .map_err(|error| search_error(&error))
}
