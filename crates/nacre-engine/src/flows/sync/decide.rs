//! Finds the memories nearest to each candidate, and decides what becomes of it.

use std::collections::BTreeSet;

use jiff::Timestamp;
use nacre_core::base::ContentHash;
use nacre_core::memory::{
    Likeness, Memory, MemoryId, MemoryType, Neighbour, Profile, Proposal, Relation, Status, Store,
    Trust, decide, ruled,
};
use nacre_core::search::{Builtin, Embedder as _, MemoryIndex, MemoryOptions, Mode, Query};

use super::SyncError;
use super::answers::decide_answer;
use super::asked::Asked;
use super::decided::{Beside, Decided, claimed};
use crate::agents::LeadAction;
use crate::flows::candidate::Candidate;

/// How many memories a candidate is compared with.
const MAX_NEAR: usize = 8;

/// Decides about every candidate, by what the store holds now and by what a lead found of it.
pub(super) fn decide_all(
    store: &Store,
    index: &MemoryIndex<'_>,
    embedder: &Builtin,
    candidates: &[Candidate],
    asked: &Asked,
) -> Result<Vec<Decided>, SyncError> {
    let mut decided = Vec::new();
    for candidate in candidates {
        let near = neighbours(store, index, embedder, (&candidate.title, &candidate.body))?;
        let proposal = Proposal {
            memory_type: candidate.claim.memory_type(),
            profile: Profile::of(&candidate.title, &claimed(&candidate.body)),
            said: candidate.quotes.iter().filter_map(|quote| quote.at.parse().ok()).max(),
        };
        let plain: Vec<Neighbour> = near.iter().map(|beside| beside.neighbour.clone()).collect();
        let answered = decide_answer(candidate, &proposal, &near);
        let decision = answered.unwrap_or_else(|| decide(&proposal, &plain));
        let candidate = candidate.clone();
        let one = Decided { candidate, decision, ruling: None, near, proposal };
        decided.push(settled(store, one, asked)?);
    }
    Ok(decided)
}

/// The memory that holds and says already what a new one is to say, by the rule that a sync goes by.
pub fn said_already(
    store: &Store,
    index: &MemoryIndex<'_>,
    embedder: &Builtin,
    (memory_type, title, body): (MemoryType, &str, &str),
) -> Result<Option<(MemoryId, String)>, SyncError> {
    let near = neighbours(store, index, embedder, (title, body))?;
    let profile = Profile::of(title, &claimed(body));
    let proposal = Proposal { memory_type, profile, said: None };
    let plain: Vec<Neighbour> = near.iter().map(|beside| beside.neighbour.clone()).collect();
    let decision = decide(&proposal, &plain);
    let is_same = decision.judgement.is_some_and(|judgement| judgement.relation == Relation::Same);
    let target = decision.target.filter(|_| is_same);
    // "The alpha service listens on port 4000" has the words of one about another service, and says something else.
    let names_more = |beside: &Beside| proposal.profile.names_beyond(&beside.neighbour.profile);
    let holds = |beside: &Beside| match beside.neighbour.status {
        Status::Active | Status::Candidate | Status::Stale => true,
        Status::Superseded | Status::Archived => false,
    };
    let mut known = near.into_iter().filter(|beside| Some(&beside.neighbour.id) == target.as_ref());
    Ok(known
        .find(|beside| holds(beside) && !names_more(beside))
        .map(|beside| (beside.neighbour.id, beside.title)))
}

/// The same as a lead ruled, where its ruling still holds.
fn settled(store: &Store, one: Decided, asked: &Asked) -> Result<Decided, SyncError> {
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
            // The lead found it by itself; it may be gone since.
            let Ok(memory) = store.get(id.as_str()) else { return Ok(one) };
            if ruling.seen != Some(hash_of(&memory)) {
                return Ok(one);
            }
            neighbour(store, &memory, Likeness { titles: 0.0, whole: 0.0 })?
        }
        (None, None) => return Ok(one),
    };
    let decision = ruled(&one.decision, &one.proposal, &target, relation);
    Ok(Decided { decision, ruling: Some(ruling.clone()), ..one })
}

fn hash_of(memory: &Memory) -> ContentHash {
    ContentHash::of(memory.document.as_str().as_bytes())
}

/// Whether a memory came from elsewhere and nobody looked at it: what the person says is not left out because a clone says it too.
fn is_strangers(store: &Store, memory: &Memory) -> bool {
    !store.was_trusted(&memory.at.id) && store.trust_of(memory) == Trust::Foreign
}

fn neighbours(
    store: &Store,
    index: &MemoryIndex<'_>,
    embedder: &Builtin,
    (title, body): (&str, &str),
) -> Result<Vec<Beside>, SyncError> {
    let whole = whole(title, &claimed(body));
    let query = Query::plain(&whole).with_facet("type", "decision").with_facet("type", "learning");
    let options = MemoryOptions { mode: Mode::Hybrid, limit: MAX_NEAR, archived: true };
    let found = index.search(&query, &options)?;
    let memories: Vec<Memory> = found
        .hits
        .into_iter()
        .flat_map(|hit| std::iter::once(hit.memory).chain(hit.history))
        .filter(|memory| {
            memory.at.memory_type != MemoryType::Summary && !is_strangers(store, memory)
        })
        .collect();
    let mut seen = BTreeSet::new();
    let memories: Vec<Memory> =
        memories.into_iter().filter(|memory| seen.insert(memory.at.id.clone())).collect();
    let wholes: Vec<String> = memories
        .iter()
        .map(|memory| self::whole(&memory.title, &claimed(memory.document.body())))
        .collect();
    let mut texts = vec![title, whole.as_str()];
    for (memory, whole) in memories.iter().zip(&wholes) {
        texts.extend([memory.title.as_str(), whole.as_str()]);
    }
    let vectors = embedder.embed(&texts)?;
    let mut near = Vec::with_capacity(memories.len());
    for (idx, memory) in memories.iter().enumerate() {
        let likeness = Likeness {
            titles: cosine(&vectors[0], &vectors[2 + 2 * idx]),
            whole: cosine(&vectors[1], &vectors[3 + 2 * idx]),
        };
        near.push(Beside {
            neighbour: neighbour(store, memory, likeness)?,
            at: memory.at.clone(),
            title: memory.title.clone(),
            body: claimed(memory.document.body()),
            seen: hash_of(memory),
        });
    }
    Ok(near)
}

fn neighbour(store: &Store, memory: &Memory, likeness: Likeness) -> Result<Neighbour, SyncError> {
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

fn whole(title: &str, body: &str) -> String {
    format!("{title}\n{body}")
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| x * y).sum::<f32>().clamp(0.0, 1.0)
}
