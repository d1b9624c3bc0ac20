//! What is known of a memory that holds, without its words: made once for a snapshot, asked for by every brief and every prompt.

use crate::memory::{LearningKind, MemoryType};

/// A row that is active.
#[derive(Clone, Copy, Debug)]
pub(super) struct HeldRow {
    pub(super) row: u32,
    pub(super) memory_type: MemoryType,
    pub(super) kind: Option<LearningKind>,
    pub(super) time_ms: i64,
    /// Of 255.
    pub(super) confidence: u8,
}
