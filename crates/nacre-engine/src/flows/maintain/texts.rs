//! What a model wrote for one run of maintenance, as the plan takes it.

use std::collections::BTreeMap;

pub(super) use crate::agents::MergedText as Text;
use crate::model::SpentTotals;
use nacre_core::memory::MemoryId;

/// Short memories that a model made one of; the first is the one that stays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Consolidated {
    pub(super) members: Vec<MemoryId>,
    pub(super) text: Text,
}

/// Everything that a model wrote for one run.
#[derive(Clone, Debug, Default)]
pub(super) struct Texts {
    /// By the memory that stays.
    pub(super) merged: BTreeMap<MemoryId, Text>,
    pub(super) consolidated: Vec<Consolidated>,
    pub(super) n_asked: usize,
    pub(super) spent: SpentTotals,
    /// What was asked and what became of it, a line each.
    pub(super) log: String,
}
