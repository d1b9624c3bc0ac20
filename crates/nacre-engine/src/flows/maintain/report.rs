//! What a maintenance did, as it stands in its folder and as the caller gets it.

use std::collections::BTreeMap;

use nacre_core::memory::MemoryId;
use serde::Serialize;

use crate::flows::run::RunId;

/// One thing that was done to a memory, and why.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MaintainAction {
    pub action: &'static str,
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
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OpenContradiction {
    pub newer: MemoryId,
    pub older: MemoryId,
    pub likelihood: f32,
    pub reason: &'static str,
}

/// How a maintenance ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MaintainOutcome {
    Done,
    /// It was looked at, and there was nothing to do.
    Clean,
    /// Nothing changed since the last run, so it was not looked at.
    Skipped,
}

/// What a maintenance of one store did.
#[derive(Clone, Debug, Serialize)]
pub struct MaintainReport {
    pub outcome: MaintainOutcome,
    pub mode: &'static str,
    /// Where something was done, the run that did it.
    pub run_id: Option<RunId>,
    pub finished_at: String,
    pub memories: usize,
    /// Files that could not be read; they were left alone.
    pub broken: usize,
    pub counts: BTreeMap<&'static str, usize>,
    pub actions: Vec<MaintainAction>,
    pub contradictions: Vec<OpenContradiction>,
    pub written_paths: Vec<String>,
    pub model_calls: u64,
    pub tokens: u64,
    pub cost_usd: f64,
}

/// Every verb, so that a count of nothing is told as well.
pub const VERBS: &[&str] = &[
    "merge",
    "consolidate",
    "supersede",
    "archive",
    "stale",
    "restore",
    "freshen",
    "establish",
    "validate",
    "doubt",
    "relink",
];

/// How often each thing was done.
pub(super) fn counts(actions: &[MaintainAction]) -> BTreeMap<&'static str, usize> {
    let count = |verb: &&'static str| {
        (*verb, actions.iter().filter(|action| action.action == *verb).count())
    };
    VERBS.iter().map(count).collect()
}
