//! Stages the decisions in a batch. No memory is changed more than once.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use nacre_base::redact::ExtraWords;
use nacre_engine::agents::{ExplorerReport, LeadReport, LeadStep, MergedText};
use nacre_engine::model::{SpentTotals, Usage};
use nacre_engine::proof::Sentences;
use nacre_memory::recall::claim_text as claimed;
use nacre_memory::{
    Action, Batch, Decision, Draft, LocalState, MemoryId, Profile, Quote, Relation, Result,
    Revision, Status, Store, Trust, hazards_of, unite,
};
use nacre_types::{
    ActionCounts, ActionScores, CandidateVerb, ChecklistStep, DecidedBy, ExplorerMetrics,
    LeadMetrics, SessionAction, SessionRun, Signal, StepState, SyncDurations, SyncMetrics,
    TokenCounts,
};
use serde::Serialize;
use serde_json::json;

use super::Session;
use super::decide::{DecidedCandidate, LeadRulings};
use super::repeats::{SESSIONS_TO_HOLD, is_reports_title};
use crate::run::folder::{ACTIONS_FILE, METRICS_FILE, pretty};
use crate::sync::candidate::{Candidate, fit_title};

/// Minimum likeness of the subjects of two rules for one to replace the other.
const SAME_SUBJECT: f32 = 0.9;

/// Maximum size of a body after an update. An update that would exceed this size counts as a
/// confirmation.
const MAX_BODY_BYTES: usize = 16 * 1024;

pub(super) struct Stager<'a> {
    store: &'a Store,
    /// The session's short id.
    session: &'a str,
    source: &'a str,
    when: Timestamp,
    overturned: BTreeSet<MemoryId>,
    updates: BTreeMap<MemoryId, Revision>,
    confirmed: BTreeSet<MemoryId>,
}

impl<'a> Stager<'a> {
    pub(super) fn new(
        store: &'a Store,
        session: &'a str,
        source: &'a str,
        when: Timestamp,
    ) -> Self {
        let (overturned, updates, confirmed) = Default::default();
        Self { store, session, source, when, overturned, updates, confirmed }
    }

    pub(super) fn stage_all(
        mut self,
        batch: &mut Batch<'_>,
        decided: Vec<DecidedCandidate>,
    ) -> Result<Vec<SessionAction>> {
        let reports = decided.into_iter().map(|one| self.stage(batch, one));
        let reports = reports.collect::<Result<Vec<_>, _>>()?;
        for (id, change) in &self.updates {
            batch.update(id.as_str(), change, self.when)?;
        }
        for id in &self.confirmed {
            // A session cannot confirm the memories that were created from it.
            let memory = self.store.get(id.as_str()).ok();
            if memory.is_none_or(|memory| memory.source.as_deref() != Some(self.source)) {
                batch.confirm(id, self.session, self.when)?;
            }
        }
        Ok(reports)
    }

    fn stage(&mut self, batch: &mut Batch<'_>, one: DecidedCandidate) -> Result<SessionAction> {
        let mut report = new_action(&one, self.store.words());
        let is_amendment = one.proposal.amends && one.decision.action == Action::Supersede;
        let DecidedCandidate { candidate, mut decision, ruling, is_linked, .. } = one;
        let is_taken =
            |id: &MemoryId| self.overturned.contains(id) || self.updates.contains_key(id);
        // A claim is sure if there is a ruling on it, because the lead compared it with existing
        // memories, or if a person said that it replaces an earlier claim. Claims that may not be
        // injected are an exception: they never change a memory.
        let is_trusted = self.trust_of(&candidate).is_offered();
        // Rules such as "always lint before you commit" and "never commit generated files" are both
        // right. They share a word and differ in "always" and "never".
        let is_rules = candidate.signal != Signal::Model && ruling.is_none() && !is_amendment;
        let is_same =
            decision.judgement.is_none_or(|judgement| judgement.scores.about >= SAME_SUBJECT);
        if is_rules && !is_same && decision.action == Action::Supersede {
            decision = Decision { action: Action::Add, target: None, ..decision };
        }
        // Scores alone do not replace what the user wrote or confirmed.
        let is_kept = ruling.is_none()
            && !is_amendment
            && !is_linked
            && decision.action == Action::Supersede
            && decision.target.as_ref().is_some_and(|id| self.is_humans(id));
        let is_active = candidate.status == Status::Active && !is_kept;
        let is_sure = is_trusted && (is_active || is_amendment || ruling.is_some());
        let merged = ruling.and_then(|ruling| ruling.merged);
        let is_refined = |id: &MemoryId| {
            let relation = decision.judgement.map(|judgement| judgement.relation);
            decision.action == Action::Update
                && relation == Some(Relation::Refines)
                && self.has_status(id, Status::Active)
        };
        let is_repeated = |id: &MemoryId| {
            let is_known = decision.action == Action::NoOp;
            !is_sure || is_known && self.has_status(id, Status::Candidate)
        };
        let may_confirm = |id: &MemoryId| is_repeated(id) && !is_taken(id) && !is_refined(id);
        match (decision.action, decision.target) {
            (Action::NoOp | Action::Update, Some(target)) if may_confirm(&target) => {
                let action = self.said_again(&target, &candidate)?;
                record_done(&mut report, action, Some(&target));
            }
            // A claim that is not sure does not change the memory. It is added separately and must
            // be reviewed.
            (action @ (Action::Add | Action::Update | Action::Supersede), target)
                if !is_sure || (action == Action::Add && decision.status == Status::Candidate) =>
            {
                let draft = self.draft(&candidate, target.as_ref());
                let id = batch.add_candidate(&draft, self.when)?;
                record_done(&mut report, Action::Add, Some(&id));
            }
            (Action::NoOp, target) => {
                self.confirmed.extend(target.filter(|_| decision.status == Status::Active));
            }
            (Action::Supersede, Some(target)) if !is_taken(&target) => {
                let draft = self.draft(&candidate, None);
                let id = batch.supersede(&target, &draft, self.when)?;
                self.overturned.insert(target.clone());
                record_done(&mut report, Action::Supersede, Some(&id));
                report.supersedes = Some(target.to_string());
            }
            (Action::Update, Some(target)) if !self.overturned.contains(&target) => {
                let before = self.updates.get(&target).cloned();
                // Text written by a lead must be free of instructions.
                let is_harmless =
                    |text: &MergedText| hazards_of(&text.title, &text.body).is_empty();
                let merged = merged.filter(|text| before.is_none() && is_harmless(text));
                let action = match merged {
                    Some(text) => self.rewrite(&target, &candidate, text)?,
                    None => self.update(&target, &candidate)?,
                };
                let memory = self.store.get(target.as_str())?;
                let change = self.updates.get(&target);
                if change.is_none_or(|change| batch.may_update(&memory, change)) {
                    record_done(&mut report, action, Some(&target));
                    return Ok(report);
                }
                // A claim that is less trusted than the memory is added separately and must be
                // reviewed.
                self.updates.remove(&target);
                self.updates.extend(before.map(|before| (target.clone(), before)));
                let draft = self.draft(&candidate, Some(&target));
                let id = batch.add_candidate(&draft, self.when)?;
                record_done(&mut report, Action::Add, Some(&id));
            }
            // Another candidate from this session has already superseded the memory, so add this
            // candidate separately.
            (Action::Add | Action::Update | Action::Supersede, target) => {
                let id = batch.add(&self.draft(&candidate, target.as_ref()), self.when)?;
                record_done(&mut report, Action::Add, Some(&id));
            }
        }
        Ok(report)
    }

    fn has_status(&self, id: &MemoryId, status: Status) -> bool {
        self.store.get(id.as_str()).is_ok_and(|memory| memory.status == status)
    }

    fn is_humans(&self, id: &MemoryId) -> bool {
        let memory = self.store.get(id.as_str());
        memory.is_ok_and(|memory| self.store.trust_of(&memory) == Trust::Human)
    }

    /// Records a repetition. After enough repetitions, a memory in review becomes active.
    fn said_again(&mut self, target: &MemoryId, candidate: &Candidate) -> Result<Action> {
        // Tools' reports wait in one memory until the user has reviewed it.
        if is_reports_title(&candidate.title) {
            return self.collect(target, candidate);
        }
        let memory = self.store.get(target.as_str())?;
        let state = self.store.state(target)?.unwrap_or_else(|| LocalState::new(target.clone()));
        let evidence = self.store.evidence(target).ok().flatten();
        let known = sessions_of(evidence.iter().flat_map(|evidence| &evidence.quotes));
        let own = sessions_of(&candidate.quotes);
        // A session that is read again says nothing new.
        if own.is_subset(&known) {
            return Ok(Action::NoOp);
        }
        let n_quoted = known.union(&own).count();
        let n_confirmed = state.confirmed_in.iter().filter(|key| *key != self.session).count();
        self.confirmed.insert(target.clone());
        // Repetitions in untrusted text do not count.
        let is_trusted =
            self.trust_of(candidate).is_offered() && self.store.trust_of(&memory).is_offered();
        if !is_trusted
            || memory.status != Status::Candidate
            || n_quoted + n_confirmed < SESSIONS_TO_HOLD
        {
            return Ok(Action::NoOp);
        }
        let change = self.updates.entry(target.clone()).or_default();
        change.status = Some(Status::Active);
        change.quotes.extend(candidate.quotes.iter().cloned());
        Ok(Action::Update)
    }

    /// Adds new reports to a memory in review. A memory that the user accepted does not change.
    fn collect(&mut self, target: &MemoryId, candidate: &Candidate) -> Result<Action> {
        if !self.has_status(target, Status::Candidate) {
            self.confirmed.insert(target.clone());
            return Ok(Action::NoOp);
        }
        let action = self.update(target, candidate)?;
        if let Some(change) = self.updates.get_mut(target) {
            change.status = None;
        }
        Ok(action)
    }

    /// Updates a memory. If the candidate contains no new information, records a confirmation
    /// instead.
    fn update(&mut self, target: &MemoryId, candidate: &Candidate) -> Result<Action> {
        let memory = self.store.get(target.as_str())?;
        let known = self.updates.get(target).and_then(|change| change.body.clone());
        let body = known.unwrap_or_else(|| memory.document.body().trim().to_owned());
        let added = beyond(&memory.title, &body, candidate);
        let is_long = added.as_ref().is_some_and(|added| body.len() + added.len() > MAX_BODY_BYTES);
        let is_same = added.is_none() && memory.status == Status::Active;
        if is_same || is_long {
            self.confirmed.insert(target.clone());
            return Ok(Action::NoOp);
        }
        let change = self.updates.entry(target.clone()).or_default();
        change.body = Some(match added {
            Some(added) if body.is_empty() => added,
            Some(added) => format!("{body}\n\n{added}"),
            None => body,
        });
        add_details(change, candidate, memory.tags, &memory.applies);
        Ok(Action::Update)
    }

    fn rewrite(
        &mut self,
        target: &MemoryId,
        candidate: &Candidate,
        text: MergedText,
    ) -> Result<Action> {
        let memory = self.store.get(target.as_str())?;
        let change = self.updates.entry(target.clone()).or_default();
        change.title = Some(fit_title(&text.title, &memory.title));
        change.body = Some(text.body);
        add_details(change, candidate, memory.tags, &memory.applies);
        Ok(Action::Update)
    }

    fn trust_of(&self, candidate: &Candidate) -> Trust {
        self.store.level_of(&self.draft(candidate, None))
    }

    fn draft(&self, candidate: &Candidate, near: Option<&MemoryId>) -> Draft {
        candidate.draft(self.source, near.cloned().into_iter().collect())
    }
}

fn sessions_of<'q>(quotes: impl IntoIterator<Item = &'q Quote>) -> BTreeSet<&'q str> {
    quotes.into_iter().filter_map(|quote| Some(quote.place.rsplit_once(':')?.0)).collect()
}

fn add_details(
    change: &mut Revision,
    candidate: &Candidate,
    tags: Vec<String>,
    applies: &[String],
) {
    change.status = Some(Status::Active);
    change.quotes.extend(candidate.quotes.iter().cloned());
    change.tags = Some(unite(&change.tags.take().unwrap_or(tags), &candidate.tags));
    let known = change.applies.as_deref().unwrap_or(applies);
    change.applies = Some(unite(known, &candidate.applies)).filter(|all| all != applies);
}

/// Returns the candidate's sentences that contain words missing from the memory, or `None` if there
/// are no such sentences.
fn beyond(title: &str, body: &str, candidate: &Candidate) -> Option<String> {
    let known = Profile::of(title, body);
    let is_new = |sentence: &String| !known.holds(&Profile::of(sentence, ""));
    let claimed = claimed(&candidate.body);
    let sentences = Sentences::of(&claimed).into_iter().map(|sentence| sentence.text);
    let new: Vec<String> = sentences.filter(is_new).collect();
    match new.as_slice() {
        [] if known.holds(&Profile::of(&candidate.title, "")) => None,
        [] => Some(candidate.title.clone()),
        new => Some(new.join(" ")),
    }
}

fn new_action(one: &DecidedCandidate, words: &ExtraWords) -> SessionAction {
    let DecidedCandidate { candidate, decision, ruling, .. } = one;
    let judgement = decision.judgement;
    let rounded = |number: f32| (number * 100.0).round() / 100.0;
    SessionAction {
        candidate: candidate.id.clone(),
        title: candidate.title.clone(),
        signal: candidate.signal,
        action: decision.action,
        target: decision.target.as_ref().map(ToString::to_string),
        supersedes: None,
        nearest: decision.target.as_ref().map(ToString::to_string),
        band: decision.band,
        relation: judgement.map(|judgement| judgement.relation),
        likelihood: judgement.map(|judgement| rounded(judgement.likelihood)),
        scores: judgement.map(|judgement| ActionScores {
            about: rounded(judgement.scores.about),
            against: rounded(judgement.scores.against),
            more: rounded(judgement.scores.more),
        }),
        reason: decision.reason.to_owned(),
        by: if ruling.is_some() { DecidedBy::Lead } else { DecidedBy::Rule },
        // A model can produce an excluded word even if its prompt did not contain it.
        note: ruling.as_ref().map(|ruling| words.redact(&ruling.reason).into_owned()),
        quote: ruling.as_ref().map(|ruling| words.redact(&ruling.quote).into_owned()),
    }
}

fn record_done(report: &mut SessionAction, action: CandidateVerb, target: Option<&MemoryId>) {
    report.action = action;
    report.target = target.map(ToString::to_string);
}

pub(super) fn count_actions(actions: &[SessionAction]) -> ActionCounts {
    let count =
        |verb: CandidateVerb| actions.iter().filter(|report| report.action == verb).count() as u64;
    ActionCounts {
        add: count(CandidateVerb::Add),
        update: count(CandidateVerb::Update),
        no_op: count(CandidateVerb::NoOp),
        supersede: count(CandidateVerb::Supersede),
    }
}

/// Returns a sync's checklist. If there is no lead, its steps are marked as skipped.
pub(super) fn checklist(is_open: bool, lead: Option<&[ChecklistStep]>) -> Vec<ChecklistStep> {
    let extract = if is_open { StepState::Done } else { StepState::Gated };
    let step = |step: &str, state| ChecklistStep { step: step.to_owned(), state };
    let mut steps = vec![
        step("read", StepState::Done),
        step("extract", extract),
        step("summarize", StepState::Done),
        step("compare", StepState::Done),
    ];
    match lead {
        Some(of_lead) => steps.extend_from_slice(of_lead),
        None => steps.extend(LeadStep::NAMES.iter().map(|name| step(name, StepState::Skipped))),
    }
    steps.extend([step("decide", StepState::Done), step("commit", StepState::Done)]);
    steps
}

fn input_tokens(usage: Usage) -> u64 {
    usage.total().saturating_sub(usage.output)
}

fn lead_metrics(report: &LeadReport) -> LeadMetrics {
    let usage = report.facts.usage;
    LeadMetrics {
        task: report.task.to_string(),
        state: report.state.to_string(),
        error: report.error.clone(),
        rulings: report.rulings.len(),
        ms: report.facts.wall_us / 1000,
        tool_calls: report.facts.tool_calls,
        tokens: TokenCounts { input: input_tokens(usage), output: usage.output },
        cost_usd: report.facts.cost.unwrap_or_default().dollars(),
    }
}

fn explorer_metrics(report: &ExplorerReport) -> ExplorerMetrics {
    ExplorerMetrics {
        task: report.task.to_string(),
        candidates: report.candidates.clone(),
        state: report.state.to_string(),
        findings: report.findings.clone(),
        ms: report.facts.wall_us / 1000,
        model_calls: report.facts.model_calls,
    }
}

impl Session<'_> {
    pub(super) fn artifacts(
        &self,
        report: &SessionRun,
        metrics: &SyncMetrics,
        asked: &LeadRulings,
        words: &ExtraWords,
    ) -> [(&'static str, Vec<u8>); 7] {
        let extraction = &self.reading.extraction;
        let session = json!({
            "run_id": report.run_id, "session": report.session, "agent": report.agent,
            "trace_path": report.trace_path, "repo": self.reading.facts.cwd, "at": report.finished_at,
        });
        let summary =
            json!({ "summary_path": report.summary_path, "summary": self.reading.summary });
        [
            ("extract.json", without_words(extraction, words)),
            ("summary.json", without_words(&summary, words)),
            (ACTIONS_FILE, pretty(report)),
            (METRICS_FILE, pretty(metrics)),
            ("agent.log", agent_log(report, self.sum_spending(), asked, words)),
            ("subagents.log", asked.log(words, false)),
            ("session.log", format!("{}\n", words.redact(&session.to_string())).into_bytes()),
        ]
    }

    pub(super) fn metrics(
        &self,
        report: &SessionRun,
        batch: &Batch<'_>,
        asked: &LeadRulings,
        durations_ms: SyncDurations,
    ) -> SyncMetrics {
        let (extraction, how, spent) =
            (&self.reading.extraction, &self.reading.how, self.sum_spending());
        let usages = || asked.facts().map(|facts| facts.usage).chain([spent.usage]);
        let model_calls: u32 = asked.facts().map(|facts| facts.model_calls).sum();
        SyncMetrics {
            run_id: report.run_id.clone(),
            strategy: extraction.strategy,
            gate: extraction.gate,
            windows: how.windows,
            unread_windows: how.unread_windows,
            unread_events: how.unread_events,
            fallback: how.fallback.clone(),
            candidates: extraction.candidates.len(),
            dropped: report.dropped.clone(),
            denied_writes: asked.reports.iter().map(LeadReport::count_denied_writes).sum(),
            leads: asked.reports.iter().map(lead_metrics).collect(),
            explorers: asked
                .reports
                .iter()
                .flat_map(|report| &report.explorers)
                .map(explorer_metrics)
                .collect(),
            model_calls: spent.calls + u64::from(model_calls),
            tokens: TokenCounts {
                input: usages().map(input_tokens).fold(0, u64::saturating_add),
                output: usages().map(|usage| usage.output).fold(0, u64::saturating_add),
            },
            cost_usd: report.cost_usd,
            unpriced_calls: spent.unpriced_calls,
            redactions: batch
                .redactions()
                .iter()
                .map(|(kind, n)| ((*kind).to_owned(), *n))
                .collect(),
            events: self.reading.next_sequence,
            durations_ms,
        }
    }
}

/// Serializes a value without excluded words. A model can produce an excluded word even if its
/// prompt did not contain it.
fn without_words(value: &impl Serialize, words: &ExtraWords) -> Vec<u8> {
    let bytes = pretty(value);
    if words.is_empty() {
        return bytes;
    }
    words.redact(&String::from_utf8_lossy(&bytes)).into_owned().into_bytes()
}

/// Returns the agent log: a notice about the reading strategy, followed by one event per line.
fn agent_log(
    report: &SessionRun,
    spent: SpentTotals,
    asked: &LeadRulings,
    words: &ExtraWords,
) -> Vec<u8> {
    let fallback = report.fallback.as_ref().map(|why| format!(" Fell back: {why}."));
    let text = match spent.calls {
        0 => "No model was used to read. The rules found all candidates.".to_owned(),
        calls => format!(
            "A model was called {calls} times to read: {} tokens, {}.",
            spent.usage.total(),
            spent.cost
        ),
    };
    let notice = json!({ "event": "notice", "text": text + &fallback.unwrap_or_default() });
    let notice = words.redact(&notice.to_string()).into_owned();
    [format!("{notice}\n").into_bytes(), asked.log(words, true)].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_title_fits() {
        for (title, expected) in [
            ("Use  SQLite\n", "Use SQLite".to_owned()),
            ("\u{200b} ", "nothing".to_owned()),
            (&"字".repeat(90), "字".repeat(66)),
        ] {
            assert_eq!(fit_title(title, "nothing"), expected);
        }
    }
}
