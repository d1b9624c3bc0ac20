//! What a run did, as it stands in its folder and as the caller gets it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;

use nacre_core::base::redact::ExtraWords;
use nacre_core::memory::{Action, Band, MemoryId, Relation};
use nacre_core::transcript::Agent;
use serde::{Deserialize, Serialize};

use super::decided::Decided;
use crate::agents::LeadStep;
use crate::flows::candidate::{DropReason, Signal, Strategy};
use crate::flows::run::{RunId, RunMode};
use crate::tools::{ChecklistItem, ItemState};

/// What became of one candidate.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ActionReport {
    pub candidate: String,
    pub title: String,
    pub signal: Signal,
    pub action: Action,
    /// The memory that was made, changed or found to say it.
    pub target: Option<MemoryId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub supersedes: Option<MemoryId>,
    /// The memory that it was compared with.
    pub nearest: Option<MemoryId>,
    pub band: Band,
    pub relation: Option<Relation>,
    pub likelihood: Option<f32>,
    pub scores: Option<ActionScores>,
    pub reason: Cow<'static, str>,
    pub by: DecidedBy,
    /// The lead's own words, and those of the memory or candidate that it goes by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quote: Option<String>,
}

/// How likely each question about a candidate and its nearest memory is answered with yes, from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ActionScores {
    pub about: f32,
    pub against: f32,
    pub more: f32,
}

/// Who decided about a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DecidedBy {
    Rule,
    /// The numbers did not decide, and a lead did.
    Lead,
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
            signal: candidate.signal,
            action: decision.action,
            target: decision.target.clone(),
            supersedes: None,
            nearest: decision.target.clone(),
            band: decision.band,
            relation: judgement.map(|judgement| judgement.relation),
            likelihood: judgement.map(|judgement| rounded(judgement.likelihood)),
            scores: judgement.map(|judgement| ActionScores {
                about: rounded(judgement.scores.about),
                against: rounded(judgement.scores.against),
                more: rounded(judgement.scores.more),
            }),
            reason: decision.reason.into(),
            by: if ruling.is_some() { DecidedBy::Lead } else { DecidedBy::Rule },
            // What a model writes is kept like everything else: without secrets.
            note: ruling.as_ref().map(|ruling| words.redact(&ruling.reason).into_owned()),
            quote: ruling.as_ref().map(|ruling| words.redact(&ruling.quote).into_owned()),
        }
    }

    pub(super) fn done(&mut self, action: Action, target: Option<&MemoryId>) {
        self.action = action;
        self.target = target.cloned();
    }
}

/// How many candidates became what, counted from what was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    pub add: u64,
    pub update: u64,
    pub no_op: u64,
    pub supersede: u64,
}

impl Counts {
    pub(super) fn of(actions: &[ActionReport]) -> Self {
        let count =
            |action: Action| actions.iter().filter(|report| report.action == action).count() as u64;
        Self {
            add: count(Action::Add),
            update: count(Action::Update),
            no_op: count(Action::NoOp),
            supersede: count(Action::Supersede),
        }
    }
}

/// Whether a session had anything to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It was read and settled.
    Done,
    /// It was read to its end before.
    Unchanged,
}

/// What a run did: the return of a sync, and `memory_actions.json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RunReport {
    pub run_id: RunId,
    pub mode: RunMode,
    pub outcome: Outcome,
    pub trace_path: String,
    pub session: String,
    pub agent: Agent,
    pub memory_root: PathBuf,
    pub workspace_root: PathBuf,
    pub run_folder: String,
    pub finished_at: String,
    pub checklist: Vec<ChecklistStep>,
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
    pub limit: Option<Cow<'static, str>>,
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

/// One step of a run, and how far it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChecklistStep {
    pub step: String,
    pub state: StepState,
}

/// How far a step is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepState {
    Pending,
    InProgress,
    Done,
    Failed,
    /// The session was not worth a look.
    Gated,
    /// Nobody was asked to do it.
    Skipped,
}

impl From<ItemState> for StepState {
    fn from(state: ItemState) -> Self {
        match state {
            ItemState::Pending => Self::Pending,
            ItemState::InProgress => Self::InProgress,
            ItemState::Done => Self::Done,
            ItemState::Failed => Self::Failed,
        }
    }
}

/// The steps of a run, with their states. Those of the lead are skipped where none was asked.
pub(super) fn checklist(is_open: bool, lead: Option<&[ChecklistItem]>) -> Vec<ChecklistStep> {
    let extract = if is_open { StepState::Done } else { StepState::Gated };
    let step = |step: &str, state| ChecklistStep { step: step.to_owned(), state };
    let mut steps = vec![
        step("read", StepState::Done),
        step("extract", extract),
        step("summarize", StepState::Done),
        step("compare", StepState::Done),
    ];
    match lead {
        Some(items) => steps.extend(items.iter().map(|item| step(&item.id, item.state.into()))),
        None => {
            steps.extend(LeadStep::ALL.map(|of_lead| step(of_lead.as_str(), StepState::Skipped)));
        }
    }
    steps.extend([step("decide", StepState::Done), step("commit", StepState::Done)]);
    steps
}
