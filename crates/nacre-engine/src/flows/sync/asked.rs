//! The lead in the grey band: what it is asked, what it said, and whether that still holds.
//!
//! The store is not locked while a lead thinks, for that takes minutes. So each ruling remembers the files that it was
//! made about; where one of them is another one now, the lead is asked again, and in the end the rule decides.

use std::collections::BTreeMap;
use std::time::Duration;

use nacre_core::base::ContentHash;
use nacre_core::base::redact::ExtraWords;
use nacre_core::memory::{MemoryId, StoreArea, judge};

use super::decided::{Beside, Decided, claimed};
use super::metrics::{ExplorerMetrics, LeadMetrics};
use crate::agents::{Case, LeadReport, LeadRequest, LeadRuling, LeadStep, NearMemory};
use crate::model::Cost;
use crate::record::{Record, RunFacts};
use crate::tools::ChecklistItem;

/// Asks a lead, and waits for it.
pub type AskLead<'a> = dyn Fn(&LeadRequest, &mut dyn FnMut(LeadStep)) -> LeadReport + 'a;

/// How often a lead is asked about one session.
const MAX_ASKED: usize = 2;

/// How many of the nearest memories a lead is shown.
const MAX_SHOWN: usize = 5;

/// No log of a run is longer, in events.
const MAX_LOGGED: usize = 2_000;

/// All that a lead was asked about one session.
#[derive(Default)]
pub(super) struct Asked {
    ruled: BTreeMap<String, Ruled>,
    pub(super) reports: Vec<LeadReport>,
    pub(super) took: Duration,
}

/// A ruling, and the memory that was nearest when it was made.
struct Ruled {
    ruling: LeadRuling,
    nearest: MemoryId,
    seen: ContentHash,
}

impl Asked {
    /// Whether it is worth asking: one that failed would fail again.
    pub(super) fn may_ask(&self) -> bool {
        let has_failed = self.reports.last().is_some_and(|report| report.error.is_some());
        self.reports.len() < MAX_ASKED && !has_failed
    }

    /// The ruling about a candidate, if everything that it was made about is still the same.
    pub(super) fn ruling(&self, one: &Decided) -> Option<&LeadRuling> {
        if !one.is_open() {
            return None;
        }
        let ruled = self.ruled.get(one.candidate.id.as_str())?;
        let nearest = nearest(one)?;
        let is_same = nearest.neighbour.id == ruled.nearest && nearest.seen == ruled.seen;
        let target = ruled.ruling.target.as_ref();
        let mut shown = one.near.iter().filter(|beside| Some(&beside.neighbour.id) == target);
        let is_target_same =
            shown.next().is_none_or(|beside| Some(beside.seen) == ruled.ruling.seen);
        (is_same && is_target_same).then_some(&ruled.ruling)
    }

    /// Keeps what a lead said about the cases that were open.
    pub(super) fn take(&mut self, open: &[Decided], report: LeadReport, took: Duration) {
        for ruling in &report.rulings {
            let one = open.iter().find(|one| one.candidate.id.as_str() == ruling.candidate_id);
            let Some(nearest) = one.and_then(nearest) else { continue };
            let ruled = Ruled {
                ruling: ruling.clone(),
                nearest: nearest.neighbour.id.clone(),
                seen: nearest.seen,
            };
            self.ruled.insert(ruling.candidate_id.clone(), ruled);
        }
        self.reports.push(report);
        self.took += took;
    }

    fn facts(&self) -> impl Iterator<Item = &RunFacts> {
        self.reports.iter().flat_map(LeadReport::all_facts)
    }

    /// In dollars; a model without a price adds nothing.
    pub(super) fn cost_usd(&self) -> f64 {
        let costs = self.facts().filter_map(|facts| facts.cost);
        costs.fold(Cost::default(), Cost::plus).dollars()
    }

    pub(super) fn model_calls(&self) -> u32 {
        self.facts().map(|facts| facts.model_calls).sum()
    }

    pub(super) fn input_tokens(&self) -> u64 {
        let input = |facts: &RunFacts| facts.usage.total().saturating_sub(facts.usage.output);
        self.facts().map(input).fold(0, u64::saturating_add)
    }

    pub(super) fn output_tokens(&self) -> u64 {
        self.facts().map(|facts| facts.usage.output).fold(0, u64::saturating_add)
    }

    /// Why the last lead settled nothing.
    pub(super) fn error(&self) -> Option<String> {
        self.reports.last().and_then(|report| report.error.clone())
    }

    pub(super) fn denied_writes(&self) -> usize {
        self.reports.iter().map(LeadReport::denied_writes).sum()
    }

    pub(super) fn explorers(&self) -> Vec<ExplorerMetrics> {
        let explorers = self.reports.iter().flat_map(|report| &report.explorers);
        explorers.map(ExplorerMetrics::of).collect()
    }

    /// How each time ended that a lead was asked.
    pub(super) fn leads(&self) -> Vec<LeadMetrics> {
        self.reports.iter().map(LeadMetrics::of).collect()
    }

    /// The checklist of the last lead.
    pub(super) fn checklist(&self) -> Option<&[ChecklistItem]> {
        self.reports.last().map(|report| report.checklist.as_slice())
    }

    /// What leads told, an event a line.
    pub(super) fn lead_log(&self, words: &ExtraWords) -> Vec<u8> {
        self.log(words, |report, record| record.task == report.task)
    }

    /// What their explorers told.
    pub(super) fn explorer_log(&self, words: &ExtraWords) -> Vec<u8> {
        self.log(words, |report, record| record.task != report.task)
    }

    /// The sessions of another program that ran leads, an event a line, where they are kept.
    pub(super) fn session(&self, words: &ExtraWords) -> Option<Vec<u8>> {
        let kept = || self.reports.iter().filter_map(|report| report.session.as_deref());
        kept().next()?;
        // Line by line, so that one with a secret in it is still JSON.
        let lines = kept().flat_map(str::lines).map(|line| format!("{}\n", words.redact(line)));
        Some(lines.collect::<String>().into_bytes())
    }

    fn log(&self, words: &ExtraWords, is_meant: impl Fn(&LeadReport, &Record) -> bool) -> Vec<u8> {
        let mut lines = String::new();
        let told = self.reports.iter().flat_map(|report| {
            let of_report = report.records.iter().filter(|record| record.event.is_stored());
            of_report.filter(|record| is_meant(report, record))
        });
        for record in told.take(MAX_LOGGED) {
            // An event is plain data, which always has a JSON form.
            let line = serde_json::to_string(&**record).unwrap_or_default();
            lines.push_str(&words.redact(&line));
            lines.push('\n');
        }
        lines.into_bytes()
    }
}

/// The memory that a decision of the grey band is about.
fn nearest(one: &Decided) -> Option<&Beside> {
    let target = one.decision.target.as_ref();
    one.near.iter().find(|beside| Some(&beside.neighbour.id) == target)
}

/// An open candidate as a lead is asked about it.
pub(super) fn case(one: &Decided) -> Case {
    let candidate = &one.candidate;
    let mut near: Vec<NearMemory> = one
        .near
        .iter()
        .filter(|beside| beside.at.area == StoreArea::Active)
        .map(|beside| shown(one, beside))
        .collect();
    near.sort_by(|a, b| b.overlap.total_cmp(&a.overlap));
    near.truncate(MAX_SHOWN);
    Case {
        candidate_id: candidate.id.as_str().to_owned(),
        claim: candidate.claim,
        title: candidate.title.clone(),
        // What the agent had said before it is the transcript's, and not part of the claim.
        body: claimed(&candidate.body),
        said: one.proposal.said,
        quotes: candidate.quotes.iter().map(|quote| quote.text.clone()).collect(),
        near,
    }
}

fn shown(one: &Decided, beside: &Beside) -> NearMemory {
    let neighbour = &beside.neighbour;
    let judgement = judge(&one.proposal.profile, &neighbour.profile, neighbour.likeness);
    NearMemory {
        at: beside.at.clone(),
        title: beside.title.clone(),
        body: beside.body.clone(),
        said: neighbour.said,
        status: neighbour.status,
        overlap: judgement.scores.about,
        seen: beside.seen,
    }
}
