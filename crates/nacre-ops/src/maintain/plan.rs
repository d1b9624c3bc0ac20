//! Plans the actions of a maintenance run. All changes to one memory are combined into one
//! revision.

use nacre_engine::agents::MergedText;
use nacre_engine::model::SpentTotals;
use nacre_memory::{Evidence, Kinship, Revision, Status, StoreArea, Trust, unite};
use nacre_types::{MaintainAction, MaintainVerb, OpenContradiction};

use super::gather::{CollectedMemory, Collection, Ledger, pair_key};
use super::pairs::{
    self, Compared, Contradiction, Merge, beyond, contradictions, merges, repair_links,
};
use crate::prelude::*;

/// Short memories that a model has combined into a single text. The first memory is kept and
/// receives the combined text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Consolidated {
    pub(super) members: Vec<MemoryId>,
    pub(super) text: MergedText,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Texts {
    pub(super) merged: BTreeMap<MemoryId, MergedText>,
    pub(super) consolidated: Vec<Consolidated>,
    pub(super) n_asked: usize,
    pub(super) spent: SpentTotals,
    pub(super) log: String,
}

#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) revisions: BTreeMap<usize, Revision>,
    pub(super) actions: Vec<MaintainAction>,
    pub(super) merges: Vec<Merge>,
    pub(super) removed: BTreeSet<usize>,
    pub(super) open: Vec<OpenContradiction>,
    /// The time at which the plan will change even if no file does.
    pub(super) next_change: Option<Timestamp>,
}

pub(super) struct Inputs<'a> {
    pub(super) collection: &'a Collection,
    pub(super) compared: &'a [Compared],
    pub(super) gone: &'a BTreeMap<usize, String>,
    pub(super) ledger: &'a Ledger,
    pub(super) texts: &'a Texts,
    pub(super) now: Timestamp,
}

/// The plan depends only on `inputs`.
pub(super) fn make_plan(inputs: &Inputs<'_>) -> Plan {
    let merges = merges(inputs.collection, inputs.compared, inputs.ledger);
    let mut work = Planner {
        inputs,
        held: inputs.collection.held.clone(),
        plan: Plan::default(),
        merged: BTreeMap::new(),
        superseded: BTreeSet::new(),
    };
    for merge in &merges {
        work.merge(merge);
    }
    work.consolidate();
    let merged: BTreeSet<usize> = work.merged.keys().copied().collect();
    let found = contradictions(inputs.collection, inputs.compared, &merged, inputs.ledger);
    for contradiction in &found {
        work.contradict(contradiction);
    }
    work.age();
    work.mend_links();
    work.plan.merges = merges;
    work.plan.removed = work.merged.keys().chain(&work.superseded).copied().collect();
    let held = &inputs.collection.held;
    work.plan.revisions.retain(|idx, revision| !is_idle(&held[*idx], revision));
    work.plan
}

struct Planner<'a> {
    inputs: &'a Inputs<'a>,
    held: Vec<CollectedMemory>,
    plan: Plan,
    merged: BTreeMap<usize, usize>,
    superseded: BTreeSet<usize>,
}

impl Planner<'_> {
    fn revision(&mut self, idx: usize) -> &mut Revision {
        self.plan.revisions.entry(idx).or_default()
    }

    fn merge(&mut self, merge: &Merge) {
        let Merge { kept, gone, kinship, likelihood } = *merge;
        let (reason, extra) = if kinship == Kinship::Exact {
            ("it says the same thing in the same words", Vec::new())
        } else {
            let extra = beyond(&self.held[kept], &self.held[gone]);
            ("it says the same thing in other words", extra)
        };
        self.take_over(kept, gone, &extra);
        self.record_action(MaintainVerb::Merge, gone, Some(kept), reason, Some(likelihood));
    }

    fn take_over(&mut self, kept: usize, gone: usize, extra: &[String]) {
        let leaving = self.held[gone].clone();
        let quotes =
            leaving.evidence.as_ref().map(|evidence| evidence.quotes.clone()).unwrap_or_default();
        let into = self.held[kept].id().clone();
        // Don't copy text from a memory that is shown only on request to one that may be shown
        // unprompted.
        let is_lower = !leaving.level.is_offered() && self.held[kept].level.is_offered();
        let text = self.inputs.texts.merged.get(&into).filter(|_| !is_lower).cloned();
        let extra = if is_lower { &[] } else { extra };
        let one = &mut self.held[kept];
        // Metadata from another machine is unverified, so its links to superseded memories, date,
        // confidence and quotes are not copied.
        let is_believed = leaving.is_own || !one.is_own;
        let quotes = if is_believed { quotes } else { Vec::new() };
        one.memory.tags = unite(&one.memory.tags, &leaving.memory.tags);
        // A memory that is shown only on request must not affect when another memory is shown.
        if !is_lower {
            one.memory.applies = unite(&one.memory.applies, &leaving.memory.applies);
        }
        add_missing(&mut one.memory.related, &leaving.memory.related);
        if is_believed {
            add_missing(&mut one.memory.supersedes, &leaving.memory.supersedes);
            let confidences = one.memory.confidence.into_iter().chain(leaving.memory.confidence);
            one.memory.confidence = confidences.reduce(f64::max);
            one.memory.updated = one.memory.updated.max(leaving.memory.updated);
            one.said = one.said.max(leaving.said);
            let mut state = one.state_or_new();
            state.unite(&leaving.state_or_new(), leaving.said);
            one.state = Some(state);
        }
        let evidence = one.evidence.get_or_insert_with(|| Evidence::new(into.clone(), Vec::new()));
        evidence.quotes.extend(quotes.iter().cloned());
        let united = one.clone();
        let revision = self.revision(kept);
        let known = revision
            .body
            .clone()
            .unwrap_or_else(|| united.memory.document.body().trim().to_owned());
        if text.is_some() || !extra.is_empty() {
            let level = revision.trust.unwrap_or(leaving.level).min(leaving.level);
            let is_models = text.is_some();
            revision.trust = Some(if is_models { level.min(Trust::Assistant) } else { level });
        }
        match text {
            Some(text) => (revision.title, revision.body) = (Some(text.title), Some(text.body)),
            None if extra.is_empty() => {}
            None => {
                revision.body = Some(format!("{known}\n\n{}", extra.join(" ")).trim().to_owned());
            }
        }
        revision.tags = Some(united.memory.tags);
        revision.applies = Some(united.memory.applies).filter(|applies| !applies.is_empty());
        revision.supersedes = Some(united.memory.supersedes).filter(|ids| !ids.is_empty());
        revision.confidence = united.memory.confidence;
        revision.said = united.memory.updated;
        revision.quotes.extend(quotes);
        self.put_away(gone, &into);
        self.merged.insert(gone, kept);
    }

    fn put_away(&mut self, gone: usize, into: &MemoryId) {
        let mut state = self.inputs.collection.held[gone].state_or_new();
        let status = self.inputs.collection.held[gone].vitals().status;
        state.status_before_archive = Some(status.as_str().to_owned());
        state.merged_into = Some(into.clone());
        state.life = None;
        let revision = self.revision(gone);
        revision.status = Some(Status::Archived);
        revision.area = Some(StoreArea::Archived);
        revision.state = Some(state);
    }

    fn consolidate(&mut self) {
        let places = &self.inputs.collection.places;
        for group in &self.inputs.texts.consolidated {
            let members: Vec<usize> =
                group.members.iter().filter_map(|id| places.get(id).copied()).collect();
            let is_free = |idx: &usize| {
                !self.merged.contains_key(idx) && !self.merged.values().any(|kept| kept == idx)
            };
            let [kept, others @ ..] = members.as_slice() else { continue };
            if members.len() != group.members.len() || !members.iter().all(is_free) {
                continue;
            }
            let level = members.iter().map(|idx| self.held[*idx].level).min();
            if level != members.iter().map(|idx| self.held[*idx].level).max()
                && level.is_some_and(|level| !level.is_offered())
            {
                continue;
            }
            for gone in others {
                self.take_over(*kept, *gone, &[]);
                let reason = "three or more short memories about one topic were combined";
                self.record_action(MaintainVerb::Consolidate, *gone, Some(*kept), reason, None);
            }
            let revision = self.revision(*kept);
            revision.title = Some(group.text.title.clone());
            revision.body = Some(group.text.body.clone());
            revision.trust = level.map(|level| level.min(Trust::Assistant));
        }
    }

    fn contradict(&mut self, contradiction: &Contradiction) {
        let Contradiction { newer, older, likelihood, open } = *contradiction;
        if let Some(reason) = open {
            let [newer, older] = [newer, older].map(|idx| self.held[idx].id().to_string());
            let (likelihood, reason) = (round(likelihood), reason.into());
            self.plan.open.push(OpenContradiction { newer, older, likelihood, reason });
            return;
        }
        let (newer_id, older_id) = (self.held[newer].id().clone(), self.held[older].id().clone());
        let said = self.held[newer].said;
        let supersedes = &mut self.held[newer].memory.supersedes;
        if !supersedes.contains(&older_id) {
            supersedes.push(older_id);
        }
        let supersedes = supersedes.clone();
        self.revision(newer).supersedes = Some(supersedes);
        let revision = self.revision(older);
        revision.status = Some(Status::Superseded);
        revision.superseded_by = Some(newer_id);
        revision.said = Some(said);
        self.superseded.insert(older);
        let reason = "a newer memory contradicts it";
        self.record_action(MaintainVerb::Supersede, older, Some(newer), reason, Some(likelihood));
    }

    fn age(&mut self) {
        for idx in 0..self.held.len() {
            if self.merged.contains_key(&idx) || self.superseded.contains(&idx) {
                continue;
            }
            let one = &self.held[idx];
            // Aging does not apply to memories that were superseded, or that were archived by hand
            // without being moved.
            let is_put_aside = one.memory.says_overturned()
                || (one.memory.status, one.memory.at.area) == (Status::Archived, StoreArea::Active);
            if is_put_aside {
                continue;
            }
            let mut vitals = one.vitals();
            if let Some(kept) = self.inputs.ledger.kept.get(one.id()) {
                vitals.last_confirmed = vitals.last_confirmed.max(*kept);
            }
            let next = vitals.next_change(self.inputs.now);
            self.plan.next_change = [self.plan.next_change, next].into_iter().flatten().min();
            let gone = self.inputs.gone.get(&idx);
            let gone = gone.filter(|reason| {
                !self.inputs.ledger.is_refused(&format!("stale {} {reason}", one.id()))
            });
            let aging = pairs::age(one, &vitals, gone, self.inputs.now);
            let mut state = one.state_or_new();
            aging.apply(self.plan.revisions.entry(idx).or_default(), &mut state);
            if let Some(verb) = aging.verb() {
                let effective = Some(aging.effective as f32);
                self.record_action(verb, idx, None, &aging.to.reason, effective);
            }
            if state != self.inputs.collection.held[idx].state_or_new() {
                self.revision(idx).state = Some(state);
            }
        }
    }

    fn mend_links(&mut self) {
        let ids = |idx: &usize| self.held[*idx].id().clone();
        let mut merged = self.inputs.collection.merged.clone();
        merged.extend(self.merged.iter().map(|(gone, kept)| (ids(gone), ids(kept))));
        for idx in 0..self.held.len() {
            let original = &self.inputs.collection.held[idx];
            if self.merged.contains_key(&idx) || original.memory.at.area == StoreArea::Archived {
                continue;
            }
            let mended = repair_links(&self.held[idx], self.inputs.collection, &merged);
            let links = mended.unwrap_or_else(|| self.held[idx].memory.related.clone());
            if links == original.memory.related {
                continue;
            }
            let is_only_more = original.memory.related.iter().all(|link| links.contains(link));
            self.revision(idx).related = Some(links);
            if !is_only_more {
                let reason = "a link was broken or referred to a merged memory";
                self.record_action(MaintainVerb::Relink, idx, None, reason, None);
            }
        }
    }

    fn record_action(
        &mut self,
        action: MaintainVerb,
        idx: usize,
        with: Option<usize>,
        reason: &str,
        likelihood: Option<f32>,
    ) {
        let one = &self.inputs.collection.held[idx];
        let with = with.map(|with| self.held[with].id().clone());
        let key = match &with {
            Some(with) => pair_key(action, one.id(), with),
            None => format!("{action} {} {reason}", one.id()),
        };
        self.plan.actions.push(MaintainAction {
            action,
            target: one.id().to_string(),
            title: one.memory.title.clone(),
            with: with.map(|id| id.to_string()),
            reason: reason.to_owned(),
            likelihood: likelihood.map(round),
            key,
        });
    }
}

fn is_idle(one: &CollectedMemory, revision: &Revision) -> bool {
    let is_new_quote = |quote: &nacre_memory::Quote| {
        !one.evidence
            .as_ref()
            .is_some_and(|evidence| evidence.quotes.iter().any(|known| known.text == quote.text))
    };
    revision.status.is_none_or(|status| status == one.memory.status)
        && revision.area.is_none_or(|area| area == one.memory.at.area)
        && revision.state.is_none()
        && revision.title.is_none()
        && revision.body.is_none()
        && revision.tags.as_ref().is_none_or(|tags| *tags == one.memory.tags)
        && revision.applies.as_ref().is_none_or(|applies| *applies == one.memory.applies)
        && revision.related.is_none()
        && revision.superseded_by.is_none()
        && revision.supersedes.as_ref().is_none_or(|ids| *ids == one.memory.supersedes)
        && revision.confidence.is_none_or(|confidence| Some(confidence) == one.memory.confidence)
        && !revision.quotes.iter().any(is_new_quote)
}

fn add_missing(ids: &mut Vec<MemoryId>, more: &[MemoryId]) {
    let missing: Vec<MemoryId> = more.iter().filter(|id| !ids.contains(id)).cloned().collect();
    ids.extend(missing);
}

fn round(number: f32) -> f32 {
    (number * 100.0).round() / 100.0
}
