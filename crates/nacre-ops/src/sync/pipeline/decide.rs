//! Decides what to do with each candidate, either by rule or by the lead agent's rulings. Because
//! the store is not locked while the lead is working, each ruling lists the files on which it is
//! based, and is dropped if one of them has changed.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use jiff::Timestamp;
use nacre_base::ContentHash;
use nacre_base::redact::ExtraWords;
use nacre_engine::agents::{
    Case, LeadAction, LeadReport, LeadRequest, LeadRuling, LeadStep, NearMemory,
};
use nacre_engine::model::Cost;
use nacre_engine::record::RunFacts;
use nacre_memory::recall::claim_text as claimed;
use nacre_memory::search::{Builtin, MemoryIndex, MemoryOptions, Mode, Query, cosine};
use nacre_memory::{
    Action, Band, Basis, Decision, Draft, Judgement, Likeness, Memory, MemoryId, MemoryType,
    Neighbour, Profile, Proposal, Quote, Relation, Speaker, Status, Store, StoreArea, Trust,
    decide, is_amendment, judge, leave_recorded, may_repeat, settle_with_ruling,
};
use nacre_types::{ChecklistStep, Signal};

use super::repeats::is_reports_title;
use super::{Result, is_open};
use crate::sync::candidate::Candidate;
use crate::sync::extract::{overlap, plain_words};

const MAX_NEAR: usize = 8;

/// Minimum share of a title's terms that a memory contains if the claim restates it.
const MIN_RESTATED: f32 = 0.9;

/// Minimum likelihood that a clear rule is about a memory for an unclear case to be reviewed.
const MIN_ABOUT: f32 = 0.5;

pub(super) fn decide_all(
    store: &Store,
    index: &MemoryIndex<'_>,
    candidates: &[Candidate],
    asked: &LeadRulings,
) -> Result<Vec<DecidedCandidate>> {
    let mut decided = Vec::new();
    for candidate in candidates {
        let near = neighbours(store, index, &candidate.title, &candidate.body)?;
        let proposal = Proposal {
            memory_type: candidate.claim.memory_type(),
            profile: Profile::of(&candidate.title, &claimed(&candidate.body)),
            said: candidate.quotes.iter().filter_map(|quote| quote.at.parse().ok()).max(),
            amends: candidate.quotes.iter().any(|quote| {
                let is_persons = matches!(quote.speaker, Speaker::Human | Speaker::User);
                is_persons && is_amendment(&quote.text)
            }),
        };
        let plain: Vec<Neighbour> = near.iter().map(|beside| beside.neighbour.clone()).collect();
        let reported = decide_reports(candidate, &near);
        let known = near.iter().find(|beside| {
            reported.is_none() && is_recorded(store, candidate, &beside.neighbour.id)
        });
        let mut decision = match known {
            Some(known) => leave_recorded(&known.neighbour),
            None => reported
                .or_else(|| decide_answer(candidate, &proposal, &near))
                .unwrap_or_else(|| decide(&proposal, &plain)),
        };
        // A clear rule need not be reviewed if the memory is more likely about something else.
        let is_clear = candidate.basis == Basis::Stated && candidate.status == Status::Active;
        let is_apart = |judgement: Judgement| is_clear && judgement.scores.about < MIN_ABOUT;
        if decision.action == Action::Add && decision.judgement.is_some_and(is_apart) {
            decision.status = Status::Active;
        }
        let linked = match known {
            Some(_) => None,
            None => decide_link(store, candidate, &proposal, &decision)?,
        };
        let is_linked = linked.is_some();
        let (candidate, decision) = (candidate.clone(), linked.unwrap_or(decision));
        let one = DecidedCandidate { candidate, decision, ruling: None, is_linked, near, proposal };
        decided.push(apply_ruling(store, one, asked)?);
    }
    Ok(decided)
}

/// Returns whether a memory's evidence quotes the same words from the same message. The agent may
/// have recorded them during the session, usually better than a rule can.
fn is_recorded(store: &Store, candidate: &Candidate, id: &MemoryId) -> bool {
    let Ok(Some(evidence)) = store.evidence(id) else { return false };
    let is_same = |known: &Quote, quote: &Quote| {
        let is_part = known.text.contains(&quote.text) || quote.text.contains(&known.text);
        known.place == quote.place && is_part
    };
    let mut quotes = candidate.quotes.iter();
    quotes.any(|quote| evidence.quotes.iter().any(|known| is_same(known, quote)))
}

/// Returns the active memory that already contains the claim, using the same rule as a sync.
pub fn said_already(
    store: &Store,
    index: &MemoryIndex<'_>,
    draft: &Draft,
) -> Result<Option<(MemoryId, String)>> {
    let near = neighbours(store, index, &draft.title, &draft.body)?;
    let profile = Profile::of(&draft.title, &claimed(&draft.body));
    let memory_type = draft.claim.memory_type();
    let proposal = Proposal { memory_type, profile, said: None, amends: false };
    let plain: Vec<Neighbour> = near.iter().map(|beside| beside.neighbour.clone()).collect();
    let decision = decide(&proposal, &plain);
    let is_same = decision.judgement.is_some_and(|judgement| judgement.relation == Relation::Same);
    let target = decision.target.filter(|_| is_same);
    // "The alpha service listens on port 4000" has nearly the same words as a memory about another
    // service, but it is a different claim.
    let is_repeated = |Neighbour { id, status, profile, .. }: &Neighbour| {
        Some(id) == target.as_ref() && is_open(*status) && may_repeat(&proposal.profile, profile)
    };
    let known = near.into_iter().find(|beside| is_repeated(&beside.neighbour));
    Ok(known.map(|beside| (beside.neighbour.id, beside.memory.title)))
}

/// Applies a ruling. A ruling is valid only while its memory is unchanged.
fn apply_ruling(
    store: &Store,
    one: DecidedCandidate,
    asked: &LeadRulings,
) -> Result<DecidedCandidate> {
    let Some(ruling) = asked.ruling(&one) else { return Ok(one) };
    let relation = match ruling.action {
        LeadAction::Add => Relation::Different,
        LeadAction::Update => Relation::Refines,
        LeadAction::NoOp => Relation::Same,
        LeadAction::Supersede => Relation::Contradicts,
    };
    let meant = ruling.target.as_ref().or(one.decision.target.as_ref());
    let near = one.near.iter().find(|beside| Some(&beside.neighbour.id) == meant);
    let target = match (near, meant) {
        (Some(near), _) => near.neighbour.clone(),
        (None, Some(id)) => {
            // The lead found this memory by searching, and it may have been removed since then.
            let Ok(memory) = store.get(id.as_str()) else { return Ok(one) };
            if ruling.seen != Some(hash_of(&memory)) {
                return Ok(one);
            }
            neighbour(store, &memory, Likeness { titles: 0.0, whole: 0.0 })?
        }
        (None, None) => return Ok(one),
    };
    let decision = settle_with_ruling(&one.decision, &one.proposal, &target, relation);
    Ok(DecidedCandidate { decision, ruling: Some(ruling.clone()), ..one })
}

fn hash_of(memory: &Memory) -> ContentHash {
    ContentHash::of(memory.document.as_str().as_bytes())
}

fn neighbours(
    store: &Store,
    index: &MemoryIndex<'_>,
    title: &str,
    body: &str,
) -> Result<Vec<NearbyMemory>> {
    let whole = format!("{title}\n{}", claimed(body));
    let query = Query::plain(&whole).with_facet("type", "decision").with_facet("type", "learning");
    let options = MemoryOptions { mode: Mode::Hybrid, limit: MAX_NEAR, archived: true };
    let found = index.search(&query, &options);
    // A memory from another machine that was never trusted must not make the user's own statement
    // redundant.
    let is_strangers = |memory: &Memory| {
        !store.was_trusted(&memory.at.id) && store.trust_of(memory) == Trust::Foreign
    };
    let mut seen = BTreeSet::new();
    let memories: Vec<Memory> = found
        .hits
        .into_iter()
        .flat_map(|hit| std::iter::once(hit.memory).chain(hit.history))
        .filter(|memory| memory.at.memory_type != MemoryType::Summary && !is_strangers(memory))
        .filter(|memory| seen.insert(memory.at.id.clone()))
        .collect();
    let model = Builtin::shipped();
    let (own_title, own_whole) = (model.embed(title), model.embed(&whole));
    let mut near = Vec::with_capacity(memories.len());
    for memory in memories {
        let whole = format!("{}\n{}", memory.title, claimed(memory.document.body()));
        let likeness = Likeness {
            titles: cosine(&own_title, &model.embed(&memory.title)),
            whole: cosine(&own_whole, &model.embed(&whole)),
        };
        near.push(NearbyMemory { neighbour: neighbour(store, &memory, likeness)?, memory });
    }
    Ok(near)
}

fn neighbour(store: &Store, memory: &Memory, likeness: Likeness) -> Result<Neighbour> {
    let id = memory.at.id.clone();
    let evidence = store.evidence(&id).ok().flatten();
    let said = evidence.iter().flat_map(|evidence| &evidence.quotes);
    let said: Option<Timestamp> = said.filter_map(|quote| quote.at.parse().ok()).max();
    let state = store.state(&id).ok().flatten();
    Ok(Neighbour {
        memory_type: memory.at.memory_type,
        status: memory.status,
        confidence: memory.confidence.unwrap_or(0.5),
        is_rejected: state.is_some_and(|state| state.is_rejected()),
        said: said.or(memory.updated),
        profile: Profile::of(&memory.title, &claimed(memory.document.body())),
        likeness,
        id,
    })
}

/// Decides about a claim that replaces or confirms a memory according to the model that read the
/// session. Returns `None` if this cannot be verified.
fn decide_link(
    store: &Store,
    candidate: &Candidate,
    proposal: &Proposal,
    otherwise: &Decision,
) -> Result<Option<Decision>> {
    let Some(link) = &candidate.link else { return Ok(None) };
    let memory = store.get(link.id.as_str()).ok().filter(|memory| memory.at.id == link.id);
    let is_usable = |memory: &Memory| {
        memory.at.area == StoreArea::Active
            && is_open(memory.status)
            && store.trust_of(memory).is_offered()
    };
    let Some(memory) = memory.filter(is_usable) else { return Ok(None) };
    let target = neighbour(store, &memory, Likeness::default())?;
    let title = Profile::of(&candidate.title, "");
    let claim = if link.is_replaced { &proposal.profile } else { &title };
    let is_restated =
        may_repeat(claim, &target.profile) && MIN_RESTATED <= title.share_held_by(&target.profile);
    let is_newer = proposal.said.zip(target.said).is_some_and(|(said, known)| known < said);
    let relation = if is_restated {
        Relation::Same
    } else if link.is_replaced && is_newer && are_for_replacement(store, candidate, &memory) {
        Relation::Contradicts
    } else {
        return Ok(None);
    };
    let decision = settle_with_ruling(otherwise, proposal, &target, relation);
    Ok(Some(Decision { band: Band::Clear, ..decision }))
}

/// Returns whether a quote is about the memory. To replace what the user wrote or confirmed, the
/// user must also say in that quote that something changes.
fn are_for_replacement(store: &Store, candidate: &Candidate, memory: &Memory) -> bool {
    let known = Profile::of(&memory.title, memory.document.body());
    let is_users = store.trust_of(memory) == Trust::Human;
    candidate.quotes.iter().any(|Quote { text, speaker, .. }| {
        let quote = Profile::of(text, "");
        let is_about = quote.topics().any(|topic| known.topics().any(|known| known == topic));
        let is_change = is_amendment(text) || quote.announces_change();
        is_about && (!is_users || (*speaker <= Speaker::User && is_change))
    })
}

/// Adds what a command reports to the memory that collects this command's reports.
fn decide_reports(candidate: &Candidate, near: &[NearbyMemory]) -> Option<Decision> {
    let is_collected = |beside: &&NearbyMemory| {
        beside.memory.title == candidate.title
            && is_open(beside.neighbour.status)
            && !beside.neighbour.is_rejected
    };
    let known = near.iter().filter(|_| is_reports_title(&candidate.title)).find(is_collected)?;
    Some(Decision {
        action: Action::Update,
        band: Band::Clear,
        target: Some(known.neighbour.id.clone()),
        status: Status::Active,
        judgement: None,
        reason: "it collects what this command reports",
    })
}

const SAME_TOPIC: f64 = 0.7;

/// Decides what to do with an answer to a question. Returns `None` if there is no earlier answer to
/// the same question. Answers to the same question have nearly the same words, so they are compared
/// by topic and then by the chosen option. The later answer wins, regardless of the order in which
/// sessions are read.
fn decide_answer(
    candidate: &Candidate,
    proposal: &Proposal,
    near: &[NearbyMemory],
) -> Option<Decision> {
    if candidate.signal != Signal::Choice {
        return None;
    }
    let (topic, chosen) = topic_and_answer(&candidate.title)?;
    let (beside, known) =
        near.iter().filter(|beside| is_open(beside.neighbour.status)).find_map(|beside| {
            let (known_topic, known) = topic_and_answer(&beside.memory.title)?;
            (SAME_TOPIC <= overlap(&topic, &known_topic)).then_some((beside, known))
        })?;
    let is_older =
        proposal.said.zip(beside.neighbour.said).is_some_and(|(said, known)| said < known);
    let (action, status, reason) = if beside.neighbour.is_rejected {
        (Action::NoOp, beside.neighbour.status, "a person said that this is wrong")
    } else if chosen == known {
        (Action::NoOp, beside.neighbour.status, "it is the same answer to the same question")
    } else if is_older {
        (Action::NoOp, beside.neighbour.status, "a later session answered this question")
    } else {
        (Action::Supersede, Status::Active, "it is a later answer to the same question")
    };
    // An earlier answer does not confirm another one that was given later.
    let is_overtaken = is_older && chosen != known;
    let target = (!is_overtaken).then(|| beside.neighbour.id.clone());
    Some(Decision { action, band: Band::Clear, target, status, judgement: None, reason })
}

/// Returns the words of the topic, and the answer, from a title in the form "topic: chosen, not
/// other".
fn topic_and_answer(title: &str) -> Option<(BTreeSet<String>, String)> {
    let (topic, answer) = title.split_once(": ")?;
    let chosen = answer.split_once(", not ").map_or(answer, |(chosen, _)| chosen).to_lowercase();
    let topic = topic.to_lowercase();
    let topic: BTreeSet<String> = plain_words(&topic).map(str::to_owned).collect();
    (!topic.is_empty()).then(|| (topic, plain_words(&chosen).collect::<Vec<_>>().join(" ")))
}

pub type AskLead<'a> = dyn Fn(&LeadRequest, &mut dyn FnMut(LeadStep)) -> LeadReport + 'a;

const MAX_ASKED: usize = 2;

const MAX_SHOWN: usize = 5;

const MAX_LOGGED: usize = 2_000;

#[derive(Default)]
pub(super) struct LeadRulings {
    ruled: BTreeMap<String, StoredRuling>,
    pub(super) reports: Vec<LeadReport>,
    pub(super) took: Duration,
}

/// A ruling, and the nearest memory at the time of the ruling.
struct StoredRuling {
    ruling: LeadRuling,
    nearest: MemoryId,
    seen: ContentHash,
}

impl LeadRulings {
    /// Returns whether the lead may be called. After a failure, it is not called again.
    pub(super) fn may_ask(&self) -> bool {
        let has_failed = self.reports.last().is_some_and(|report| report.error.is_some());
        self.reports.len() < MAX_ASKED && !has_failed
    }

    /// Returns the ruling on a candidate, or `None` if any file on which the ruling is based has
    /// changed.
    pub(super) fn ruling(&self, one: &DecidedCandidate) -> Option<&LeadRuling> {
        if !one.is_open() {
            return None;
        }
        let ruled = self.ruled.get(&one.candidate.id)?;
        let nearest = nearest(one)?;
        let is_same =
            nearest.neighbour.id == ruled.nearest && hash_of(&nearest.memory) == ruled.seen;
        let target = ruled.ruling.target.as_ref();
        let mut shown = one.near.iter().filter(|beside| Some(&beside.neighbour.id) == target);
        let is_target_same =
            shown.next().is_none_or(|beside| Some(hash_of(&beside.memory)) == ruled.ruling.seen);
        (is_same && is_target_same).then_some(&ruled.ruling)
    }

    pub(super) fn take(&mut self, open: &[DecidedCandidate], report: LeadReport, took: Duration) {
        for ruling in &report.rulings {
            let one = open.iter().find(|one| one.candidate.id == ruling.candidate_id);
            let Some(nearest) = one.and_then(nearest) else { continue };
            let ruled = StoredRuling {
                ruling: ruling.clone(),
                nearest: nearest.neighbour.id.clone(),
                seen: hash_of(&nearest.memory),
            };
            self.ruled.insert(ruling.candidate_id.clone(), ruled);
        }
        self.reports.push(report);
        self.took += took;
    }

    pub(super) fn facts(&self) -> impl Iterator<Item = &RunFacts> {
        self.reports.iter().flat_map(LeadReport::all_facts)
    }

    /// The cost in dollars. Models without a known price count as free.
    pub(super) fn cost_usd(&self) -> f64 {
        let costs = self.facts().filter_map(|facts| facts.cost);
        costs.fold(Cost::default(), Cost::plus).dollars()
    }

    pub(super) fn error(&self) -> Option<String> {
        self.reports.last().and_then(|report| report.error.clone())
    }

    pub(super) fn checklist(&self) -> Option<&[ChecklistStep]> {
        self.reports.last().map(|report| report.checklist.as_slice())
    }

    /// Returns the stored events of the leads or, if `is_leads` is false, of their explorers.
    pub(super) fn log(&self, words: &ExtraWords, is_leads: bool) -> Vec<u8> {
        let mut lines = String::new();
        let told = self.reports.iter().flat_map(|report| {
            let of_report = report.records.iter().filter(|record| record.event.is_stored());
            of_report.filter(move |record| (record.task == report.task) == is_leads)
        });
        for record in told.take(MAX_LOGGED) {
            // Serializing an event cannot fail.
            let line = serde_json::to_string(&**record).unwrap_or_default();
            lines.push_str(&words.redact(&line));
            lines.push('\n');
        }
        lines.into_bytes()
    }
}

fn nearest(one: &DecidedCandidate) -> Option<&NearbyMemory> {
    let target = one.decision.target.as_ref();
    one.near.iter().find(|beside| Some(&beside.neighbour.id) == target)
}

pub(super) fn case(one: &DecidedCandidate) -> Case {
    let candidate = &one.candidate;
    let mut near: Vec<NearMemory> = one
        .near
        .iter()
        .filter(|beside| beside.memory.at.area == StoreArea::Active)
        .map(|beside| {
            let neighbour = &beside.neighbour;
            let judgement = judge(&one.proposal.profile, &neighbour.profile, neighbour.likeness);
            NearMemory {
                at: beside.memory.at.clone(),
                title: beside.memory.title.clone(),
                body: claimed(beside.memory.document.body()),
                said: neighbour.said,
                status: neighbour.status,
                overlap: judgement.scores.about,
                seen: hash_of(&beside.memory),
            }
        })
        .collect();
    near.sort_by(|a, b| b.overlap.total_cmp(&a.overlap));
    near.truncate(MAX_SHOWN);
    Case {
        candidate_id: candidate.id.clone(),
        claim: candidate.claim,
        title: candidate.title.clone(),
        // Context that is repeated in the body is not part of the claim.
        body: claimed(&candidate.body),
        said: one.proposal.said,
        quotes: candidate.quotes.iter().map(|quote| quote.text.clone()).collect(),
        near,
    }
}

pub(super) struct DecidedCandidate {
    pub(super) candidate: Candidate,
    pub(super) decision: Decision,
    pub(super) ruling: Option<LeadRuling>,
    /// Whether the model that read the session named the memory, and the answer was verified.
    pub(super) is_linked: bool,
    pub(super) near: Vec<NearbyMemory>,
    pub(super) proposal: Proposal,
}

impl DecidedCandidate {
    /// Returns whether the lead must decide, because the scores are inconclusive or because a
    /// memory would be changed based only on scores.
    pub(super) fn is_open(&self) -> bool {
        let is_settled = self.is_linked || self.ruling.is_some();
        !is_settled && (self.decision.band == Band::Grey || self.changes_by_numbers())
    }

    /// Returns whether only the scores support a change. If two texts share most words, the scores
    /// sometimes mistake an exception or a repetition for a new value.
    fn changes_by_numbers(&self) -> bool {
        let relation = self.decision.judgement.map(|judgement| judgement.relation);
        matches!(self.decision.action, Action::Update | Action::Supersede)
            && !self.proposal.amends
            && matches!(relation, Some(Relation::Refines | Relation::Contradicts))
    }
}

pub(super) struct NearbyMemory {
    neighbour: Neighbour,
    memory: Memory,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_answers_to_one_question_are_about_the_same() {
        let answer = |title: &str| topic_and_answer(title).unwrap();
        let (topic, chosen) = answer("Queue store: SQLite, not Redis");
        let (same, other) = answer("Queue store: Redis, not SQLite");
        assert!(SAME_TOPIC <= overlap(&topic, &same) && chosen != other);
        assert_eq!(chosen, answer("The queue: sqlite").1);
        assert!(overlap(&topic, &answer("Log format: JSON, not text").0) < SAME_TOPIC);
        assert!(topic_and_answer("Use SQLite").is_none());
    }
}
