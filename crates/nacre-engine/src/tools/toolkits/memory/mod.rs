//! Tools for memories, and the store handle that these tools share.

mod add;
mod passage;
mod search;

use jiff::Timestamp;
use nacre_base::fs::{FsError, Owner};
use nacre_memory::recall::{self, RecallStore, Recalled};
use nacre_memory::{MemoryError, MemoryId, Store};

use crate::tools::toolkits::prelude::*;

pub use add::{MemoryRecord, MemoryRemove, RecordClaim, RecordingClaim};
pub use passage::QUOTE_MARK;
pub(crate) use passage::{quote_lines, quote_passage};
pub use search::{MemoryRecall, MemorySearch, note};

#[cfg(test)]
pub(crate) fn derive_schemas() -> Vec<(String, serde_json::Value)> {
    use crate::schemas::derive_schema;
    vec![
        derive_schema::<search::MemoryRecall>(),
        derive_schema::<add::MemoryRecord>(),
        derive_schema::<add::MemoryRemove>(),
        derive_schema::<search::MemorySearch>(),
    ]
}

#[derive(Clone)]
pub struct MemoryHandle {
    pub store: Arc<Store>,
    pub owner: Owner,
    pub patience: Duration,
    pub source: String,
    /// Whether searches exclude summaries.
    pub is_claims_only: bool,
}

pub fn recall(
    stores: &[MemoryHandle],
    question: &str,
    limit: usize,
    now: Timestamp,
) -> Result<Recalled, MemoryError> {
    let stores: Vec<RecallStore<'_>> = stores
        .iter()
        .map(|handle| RecallStore { store: &handle.store, owner: &handle.owner })
        .collect();
    recall::recall(&stores, question, limit, now)
}

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
        | MemoryError::Duplicate { .. }
        | MemoryError::NotSupersedable { .. } => {
            (Fault::Stale, "Look at it again with `memory_search`.".to_owned())
        }
        MemoryError::OwnerOnly { .. }
        | MemoryError::UsersWords { .. }
        | MemoryError::NotShown { .. } => (Fault::Denied, "Ask the user to do it.".to_owned()),
        MemoryError::SummaryNotArchivable { .. } | MemoryError::SummaryNotJudged { .. } => {
            (Fault::Unsupported, "Leave summaries as they are.".to_owned())
        }
        MemoryError::Fs(FsError::Busy { .. }) => {
            (Fault::Io, "Another process is writing; try again.".to_owned())
        }
        MemoryError::Fs(_)
        | MemoryError::Unreadable(_)
        | MemoryError::Sidecar { .. }
        | MemoryError::NotARunFile { .. }
        | MemoryError::NotUndoable { .. }
        | MemoryError::NoLevel { .. } => {
            (Fault::Io, "Tell the user; `nacre doctor` shows the problem.".to_owned())
        }
    };
    ToolError::new(fault, error.to_string(), hint)
}
