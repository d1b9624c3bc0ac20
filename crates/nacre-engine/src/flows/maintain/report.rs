//! What a maintenance did, as it stands in its folder and as the caller gets it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use nacre_core::memory::MemoryId;
use serde::{Deserialize, Serialize};

use crate::flows::run::{RunId, RunMode};
use crate::flows::sync::ExplorerMetrics;

/// What is done to a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MaintainVerb {
    Merge,
    Consolidate,
    Supersede,
    Archive,
    Stale,
    Restore,
    Freshen,
    Establish,
    Validate,
    Doubt,
    Relink,
}

impl MaintainVerb {
    pub const ALL: [Self; 11] = [
        Self::Merge,
        Self::Consolidate,
        Self::Supersede,
        Self::Archive,
        Self::Stale,
        Self::Restore,
        Self::Freshen,
        Self::Establish,
        Self::Validate,
        Self::Doubt,
        Self::Relink,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Merge => "merge",
            Self::Consolidate => "consolidate",
            Self::Supersede => "supersede",
            Self::Archive => "archive",
            Self::Stale => "stale",
            Self::Restore => "restore",
            Self::Freshen => "freshen",
            Self::Establish => "establish",
            Self::Validate => "validate",
            Self::Doubt => "doubt",
            Self::Relink => "relink",
        }
    }

    /// Names what is done to two memories, whichever way round they are.
    pub(super) fn key(self, one: &MemoryId, other: &MemoryId) -> String {
        let (first, second) = if one <= other { (one, other) } else { (other, one) };
        format!("{self} {first} {second}")
    }
}

impl fmt::Display for MaintainVerb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One thing that was done to a memory, and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MaintainAction {
    pub action: MaintainVerb,
    /// The memory that it was done to.
    pub target: MemoryId,
    pub title: String,
    /// What it was done with: the memory it went into, or the one that overturned it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub with: Option<MemoryId>,
    pub reason: String,
    /// How sure it is, from 0 to 1, where that was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub likelihood: Option<f32>,
    /// Names this very action, so that what a person undoes is not done again.
    pub key: String,
}

/// Two memories that contradict each other, for a person to decide.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OpenContradiction {
    pub newer: MemoryId,
    pub older: MemoryId,
    pub likelihood: f32,
    pub reason: Cow<'static, str>,
}

/// How a maintenance ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MaintainOutcome {
    Done,
    /// It was looked at, and there was nothing to do.
    Clean,
    /// Nothing changed since the last run, so it was not looked at.
    Skipped,
}

/// What a maintenance of one store did: its return, and `maintain_actions.json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MaintainReport {
    pub outcome: MaintainOutcome,
    pub mode: RunMode,
    /// Where something was done, the run that did it.
    pub run_id: Option<RunId>,
    pub finished_at: String,
    pub memories: usize,
    /// Files that could not be read; they were left alone.
    pub broken: usize,
    /// Memories that were not looked at: there is more text than one run compares.
    #[serde(default, skip_serializing_if = "is_none")]
    pub left_out: usize,
    /// Of every verb, so that a count of nothing is told as well.
    pub counts: BTreeMap<MaintainVerb, usize>,
    pub actions: Vec<MaintainAction>,
    pub contradictions: Vec<OpenContradiction>,
    pub written_paths: Vec<String>,
    pub model_calls: u64,
    pub tokens: u64,
    pub cost_usd: f64,
}

/// What a maintenance took: `metrics.json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MaintainMetrics {
    pub run_id: RunId,
    pub memories: usize,
    pub broken: usize,
    /// Memories that were compared, two by two.
    pub pairs: usize,
    pub counts: BTreeMap<MaintainVerb, usize>,
    pub model_calls: u64,
    pub tokens: u64,
    pub cost_usd: f64,
    pub denied_writes: usize,
    /// A maintenance sends out none.
    pub explorers: Vec<ExplorerMetrics>,
    pub durations_ms: MaintainDurations,
}

/// How long each step took, in milliseconds.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct MaintainDurations {
    pub read: u64,
    pub compare: u64,
    pub whole: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants a reference")]
fn is_none(n: &usize) -> bool {
    *n == 0
}

/// How often each thing was done.
pub(super) fn counts(actions: &[MaintainAction]) -> BTreeMap<MaintainVerb, usize> {
    let count =
        |verb: MaintainVerb| (verb, actions.iter().filter(|action| action.action == verb).count());
    MaintainVerb::ALL.into_iter().map(count).collect()
}
