//! Everything that a maintenance looks at: memories with their evidence and counters, read once.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use nacre_core::base::ContentHash;
use nacre_core::memory::{
    Evidence, Memory, MemoryError, MemoryId, MemoryType, Profile, Shelf, Speaker, Stage, State,
    Store, Verdict, Vitals,
};

use crate::flows::sync::decided::claimed;

/// A memory and what stands beside it.
#[derive(Clone, Debug)]
pub(super) struct Held {
    pub(super) memory: Memory,
    pub(super) evidence: Option<Evidence>,
    pub(super) state: Option<State>,
    pub(super) profile: Profile,
    /// When it was last said.
    pub(super) said: Timestamp,
    pub(super) trust: Trust,
    /// Whether this machine wrote it, as its local state says.
    pub(super) is_own: bool,
}

/// Whose word a memory rests on. What a page or a program said never takes the place of what a person said. Who spoke
/// counts only in memories that this machine wrote: in a file of a clone anybody can write `human`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Trust {
    /// Nobody's, or that of a program.
    None,
    /// Somebody's on another machine, as that file says.
    Foreign,
    Assistant,
    User,
    Human,
}

impl Held {
    pub(super) fn id(&self) -> &MemoryId {
        &self.memory.at.id
    }

    /// What it claims, without when it was said.
    pub(super) fn claimed(&self) -> String {
        claimed(self.memory.document.body())
    }

    pub(super) fn state_or_new(&self) -> State {
        self.state.clone().unwrap_or_else(|| State::new(self.id().clone()))
    }

    pub(super) fn vitals(&self) -> Vitals {
        Vitals::of(&self.memory, self.evidence.as_ref(), self.state.as_ref())
    }

    /// Whether a person said that it is wrong: it is no longer a claim that anything is compared with.
    pub(super) fn is_rejected(&self) -> bool {
        let last = self.state.as_ref().and_then(|state| state.feedback.last());
        last.is_some_and(|feedback| feedback.verdict == Verdict::Wrong)
    }

    /// Whether it holds, for all we know.
    pub(super) fn is_standing(&self) -> bool {
        !self.memory.says_overturned() && !self.is_rejected()
    }

    fn wants_apart(&self, other: &Self) -> bool {
        self.state.as_ref().is_some_and(|state| state.apart_from.contains(other.id()))
    }
}

/// Whether a person wants to keep two memories side by side.
pub(super) fn are_kept_apart(a: &Held, b: &Held) -> bool {
    a.wants_apart(b) || b.wants_apart(a)
}

/// The memories of a store that upkeep may change, and the names of all.
#[derive(Debug)]
pub(super) struct Collection {
    /// In the order of their ids.
    pub(super) held: Vec<Held>,
    pub(super) places: BTreeMap<MemoryId, usize>,
    /// Every id of the store: summaries, archived ones and broken files too.
    pub(super) known: BTreeSet<MemoryId>,
    /// Memories that were merged before, and what says it now.
    pub(super) merged: BTreeMap<MemoryId, MemoryId>,
    /// Files that could not be read, and were left alone.
    pub(super) n_broken: usize,
    fingerprint: ContentHash,
}

impl Collection {
    /// Reads a store. A memory that a person archived is theirs; one that was archived for its age may come back.
    pub(super) fn read(store: &Store) -> Result<Self, MemoryError> {
        let listing = store.list(|_| true)?;
        let broken = listing.broken.iter().filter_map(|file| {
            nacre_core::memory::Located::from_path(file.path.as_str()).map(|at| at.id)
        });
        let mut known: BTreeSet<MemoryId> = broken.collect();
        let mut n_broken = listing.broken.len();
        let (mut held, mut merged, mut seen) = (Vec::new(), BTreeMap::new(), String::new());
        for memory in listing.memories {
            known.insert(memory.at.id.clone());
            if memory.at.memory_type == MemoryType::Summary {
                continue;
            }
            let id = memory.at.id.clone();
            let (Ok(evidence), Ok(state)) = (store.evidence(&id), store.state(&id)) else {
                n_broken += 1;
                continue;
            };
            note(&mut seen, &memory, evidence.as_ref(), state.as_ref());
            if let Some(into) = state.as_ref().and_then(|state| state.merged_into.clone()) {
                merged.insert(id, into);
            } else if memory.at.shelf == Shelf::Active || is_aged_out(state.as_ref()) {
                held.push(one(memory, evidence, state));
            }
        }
        held.sort_by(|a, b| a.id().cmp(b.id()));
        let places = held.iter().enumerate().map(|(idx, one)| (one.id().clone(), idx)).collect();
        let fingerprint = ContentHash::of(seen.as_bytes());
        Ok(Self { held, places, known, merged, n_broken, fingerprint })
    }

    /// What was seen, with what the repository no longer holds.
    pub(super) fn fingerprint_with(&self, gone: &BTreeMap<usize, String>) -> ContentHash {
        let mut seen = self.fingerprint.short();
        for (idx, reason) in gone {
            seen.push_str(&format!("\n{idx} {reason}"));
        }
        ContentHash::of(seen.as_bytes())
    }
}

/// Whether upkeep itself archived it for its age.
fn is_aged_out(state: Option<&State>) -> bool {
    let life = state.and_then(|state| state.life.as_ref());
    life.is_some_and(|life| life.stage == Stage::Archived)
}

fn one(memory: Memory, evidence: Option<Evidence>, state: Option<State>) -> Held {
    let quotes = evidence.as_ref().map(|evidence| evidence.quotes.as_slice()).unwrap_or_default();
    let said = quotes.iter().filter_map(|quote| quote.at.parse().ok()).max();
    let is_own = state.as_ref().is_some_and(|state| state.own);
    let trust = quotes.iter().map(|quote| match (quote.speaker, is_own) {
        (Speaker::Tool, _) => Trust::None,
        (Speaker::Human | Speaker::User | Speaker::Assistant, false) => Trust::Foreign,
        (Speaker::Assistant, true) => Trust::Assistant,
        (Speaker::User, true) => Trust::User,
        (Speaker::Human, true) => Trust::Human,
    });
    let trust = trust.max().unwrap_or(Trust::None);
    let profile = Profile::of(&memory.title, &claimed(memory.document.body()));
    let said = said.or(memory.updated).or(memory.created).unwrap_or_default();
    Held { memory, evidence, state, profile, said, trust, is_own }
}

/// Notes what was seen, so that a later run can tell whether anything is different.
fn note(seen: &mut String, memory: &Memory, evidence: Option<&Evidence>, state: Option<&State>) {
    let beside = serde_json::to_string(&(evidence, state)).unwrap_or_default();
    for part in [memory.at.path.as_str(), memory.document.as_str(), &beside] {
        seen.push_str(&ContentHash::of(part.as_bytes()).short());
    }
}
