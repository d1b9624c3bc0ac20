//! Memories, as far as an agent may work with them.
//!
//! A model says what is to be remembered; ids, times, source and the rest are filled in by the store, and every change
//! goes through one `memory::Batch`.

mod add;
mod claims;
mod handle;
mod passage;
mod recall;
mod record;
mod remove;
mod search;

pub use add::MemoryAdd;
pub use claims::ClaimSearch;
pub use handle::MemoryHandle;
pub(crate) use passage::marked;
pub use passage::{OverturnedPassage, Passage, QUOTE_MARK, Recalled, recall, speaker};
pub use recall::{MemoryRecall, note};
pub use record::{AgentRecord, MemoryRecord, RecordClaim, RecordingClaim};
pub use remove::MemoryRemove;
pub use search::MemorySearch;

/// The schemas of what a model writes for these, from their types.
#[cfg(test)]
pub(crate) fn derived_schemas() -> Vec<(String, serde_json::Value)> {
    use crate::schemas::derived;
    vec![
        derived::<add::MemoryAddInput>(),
        derived::<recall::MemoryRecallInput>(),
        derived::<record::MemoryRecordInput>(),
        derived::<remove::MemoryRemoveInput>(),
        derived::<search::MemorySearchInput>(),
    ]
}
