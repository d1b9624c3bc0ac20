//! What a model wrote for one run of maintenance, as the plan takes it.

use std::collections::BTreeMap;

use nacre_core::memory::MemoryId;
use serde::Deserialize;

use crate::model::SpentTotals;

/// A title and a body.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(super) struct Text {
    pub(super) title: String,
    pub(super) body: String,
}

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
