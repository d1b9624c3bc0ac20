//! What a run did, as it stands in its folder and as the caller gets it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use nacre_core::base::redact::ExtraWords;
use nacre_core::memory::{Action, MemoryId};
use serde::Serialize;
use serde_json::{Value, json};

use super::decide::Decided;
use crate::agents::LeadStep;
use crate::flows::candidate::{DropReason, Strategy};
use crate::flows::run::{RunId, RunMode};
use crate::tools::ChecklistItem;

/// What became of one candidate.
#[derive(Clone, Debug, Serialize)]
pub struct ActionReport {
    pub candidate: String,
    pub title: String,
    pub signal: &'static str,
    pub action: &'static str,
    /// The memory that was made, changed or found to say it.
    pub target: Option<MemoryId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub supersedes: Option<MemoryId>,
    /// The memory that it was compared with.
    pub nearest: Option<MemoryId>,
    pub band: &'static str,
    pub relation: Option<&'static str>,
    pub likelihood: Option<f32>,
    pub scores: Option<BTreeMap<&'static str, f32>>,
    pub reason: &'static str,
    /// `rule`, or `lead` where the numbers did not decide and a lead did.
    pub by: &'static str,
    /// The lead's own words, and those of the memory or candidate that it goes by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quote: Option<String>,
}

impl ActionReport {
    pub(super) fn new(one: &Decided, words: &ExtraWords) -> Self {
        let Decided { candidate, decision, ruling, .. } = one;
        let judgement = decision.judgement;
        // Two digits are what the numbers are worth, and what a person can compare.
        let rounded = |number: f32| (number * 100.0).round() / 100.0;
        Self {
            candidate: candidate.id.as_str().to_owned(),
            title: candidate.title.clone(),
            signal: candidate.signal.as_str(),
            action: decision.action.as_str(),
            target: decision.target.clone(),
            supersedes: None,
            nearest: decision.target.clone(),
            band: decision.band.as_str(),
            relation: judgement.map(|judgement| judgement.relation.as_str()),
            likelihood: judgement.map(|judgement| rounded(judgement.likelihood)),
            scores: judgement.map(|judgement| {
                let scores = judgement.scores;
                BTreeMap::from([
                    ("about", rounded(scores.about)),
                    ("against", rounded(scores.against)),
                    ("more", rounded(scores.more)),
                ])
            }),
            reason: decision.reason,
            by: if ruling.is_some() { "lead" } else { "rule" },
            // What a model writes is kept like everything else: without secrets.
            note: ruling.as_ref().map(|ruling| words.redact(&ruling.reason).into_owned()),
            quote: ruling.as_ref().map(|ruling| words.redact(&ruling.quote).into_owned()),
        }
    }

    pub(super) fn done(&mut self, action: Action, target: Option<&MemoryId>) {
        self.action = action.as_str();
        self.target = target.cloned();
    }
}

/// How many candidates became what, counted from what was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    pub add: u64,
    pub update: u64,
    pub no_op: u64,
    pub supersede: u64,
}

impl Counts {
    pub(super) fn of(actions: &[ActionReport]) -> Self {
        let count = |action: Action| {
            actions.iter().filter(|report| report.action == action.as_str()).count() as u64
        };
        Self {
            add: count(Action::Add),
            update: count(Action::Update),
            no_op: count(Action::NoOp),
            supersede: count(Action::Supersede),
        }
    }
}

/// Whether a session had anything to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It was read and settled.
    Done,
    /// It was read to its end before.
    Unchanged,
}

/// What a run did: the return of a sync, and `memory_actions.json`.
#[derive(Clone, Debug, Serialize)]
pub struct RunReport {
    pub run_id: RunId,
    pub mode: RunMode,
    pub outcome: Outcome,
    pub trace_path: String,
    pub session: String,
    pub agent: &'static str,
    pub memory_root: PathBuf,
    pub workspace_root: PathBuf,
    pub run_folder: String,
    pub finished_at: String,
    pub checklist: Vec<Value>,
    pub actions: Vec<ActionReport>,
    pub counts: Counts,
    pub dropped: BTreeMap<DropReason, u64>,
    pub written_paths: Vec<String>,
    pub summary_path: Option<String>,
    /// In dollars; nothing is asked without a model.
    pub cost_usd: f64,
    pub strategy: Strategy,
    /// Why the session was not read as it should have been.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fallback: Option<String>,
    /// The limit that stood in the way, by its key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<&'static str>,
    /// Why the lead settled nothing, so that the rule did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lead_error: Option<String>,
}

impl RunReport {
    /// How many proposals were turned away.
    pub fn n_dropped(&self) -> u64 {
        self.dropped.values().sum()
    }
}

/// The steps of a run, with their states. Those of the lead are skipped where none was asked.
pub(super) fn checklist(is_open: bool, lead: Option<&[ChecklistItem]>) -> Vec<Value> {
    let extract = if is_open { "done" } else { "gated" };
    let step = |step: &str, state: &str| json!({ "step": step, "state": state });
    let mut steps = vec![
        step("read", "done"),
        step("extract", extract),
        step("summarize", "done"),
        step("compare", "done"),
    ];
    match lead {
        Some(items) => steps.extend(items.iter().map(|item| step(&item.id, item.state.as_str()))),
        None => steps.extend(LeadStep::ALL.map(|of_lead| step(of_lead.as_str(), "skipped"))),
    }
    steps.extend([step("decide", "done"), step("commit", "done")]);
    steps
}
