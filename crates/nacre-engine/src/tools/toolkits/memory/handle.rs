//! A store and what is needed to use it, shared by the tools and effects of a run.

use std::sync::Arc;
use std::time::Duration;

use nacre_core::memory::{MemoryError, MemoryId, Store};
use nacre_core::safefs::{FsError, Owner};
use nacre_core::search::{Embedder, SearchError};

use super::super::super::tool::ToolError;
use crate::record::Fault;

/// The memories that an agent works with. Clones are the same store.
#[derive(Clone)]
pub struct MemoryHandle {
    pub store: Arc<Store>,
    pub embedder: Arc<dyn Embedder>,
    /// Who holds the lock while something is written.
    pub owner: Owner,
    /// How long to wait for another writer.
    pub patience: Duration,
    /// Who remembers, as it stands in a memory: the agent's name.
    pub source: String,
}

impl MemoryHandle {
    /// Works with the store on a thread where waiting for the disk and for a lock disturbs nobody.
    pub(crate) async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> Result<T, ToolError> + Send + 'static,
    ) -> Result<T, ToolError> {
        let memories = self.clone();
        let done = tokio::task::spawn_blocking(move || work(&memories)).await;
        done.unwrap_or_else(|error| {
            Err(ToolError::new(Fault::Io, error.to_string(), "Try once more."))
        })
    }
}

/// What went wrong in a store, in words for a model.
pub(crate) fn memory_error(error: &MemoryError) -> ToolError {
    let (fault, hint) = match error {
        MemoryError::Unknown { nearest, .. } | MemoryError::Ambiguous { nearest, .. } => {
            let ids: Vec<&str> = nearest.iter().map(MemoryId::as_str).collect();
            let hint = match ids.as_slice() {
                [] => "Find the id with `memory_search`.".to_owned(),
                ids => format!("Did you mean {}? Find ids with `memory_search`.", ids.join(", ")),
            };
            (Fault::NotFound, hint)
        }
        MemoryError::EmptyTitle | MemoryError::TooLong { .. } | MemoryError::InvalidText(_) => {
            (Fault::Arguments, "Shorten or complete the text.".to_owned())
        }
        MemoryError::AlreadyArchived { .. }
        | MemoryError::NotArchived { .. }
        | MemoryError::NotACandidate { .. }
        | MemoryError::NotSupersedable { .. } => {
            (Fault::Stale, "Look at it again with `memory_search`.".to_owned())
        }
        MemoryError::OwnerOnly { .. } | MemoryError::UsersWords { .. } => {
            (Fault::Denied, "Ask the user to do it.".to_owned())
        }
        MemoryError::SummaryNotArchivable { .. } | MemoryError::SummaryNotJudged { .. } => {
            (Fault::Unsupported, "Leave summaries as they are.".to_owned())
        }
        MemoryError::Fs(FsError::Busy { .. }) => {
            (Fault::Io, "Another process is writing; try once more.".to_owned())
        }
        MemoryError::Fs(_)
        | MemoryError::Unreadable(_)
        | MemoryError::Sidecar { .. }
        | MemoryError::NotARunFile { .. }
        | MemoryError::NotUndoable { .. }
        | MemoryError::NoLevel { .. } => {
            (Fault::Io, "Tell the person; `nacre doctor` shows what is wrong.".to_owned())
        }
    };
    ToolError::new(fault, error.to_string(), hint)
}

/// What went wrong in a search, in words for a model.
pub(crate) fn search_error(error: &SearchError) -> ToolError {
    match error {
        SearchError::Memory(error) => memory_error(error),
        SearchError::Index(error) => {
            let hint = "Tell the person; `nacre index rebuild` makes the index anew.";
            ToolError::new(Fault::Io, error.to_string(), hint)
        }
    }
}
