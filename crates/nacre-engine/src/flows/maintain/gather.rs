//! Everything that a maintenance looks at: memories with their evidence and counters, read once.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use jiff::Timestamp;
use nacre_core::base::ContentHash;
use nacre_core::memory::{
    self, Evidence, Memory, MemoryError, MemoryId, MemoryType, Profile, Speaker, Stage, State,
    Store, StoreArea, Unreadable, Verdict, Vitals,
};

use crate::flows::sync::decided::claimed;

/// What memories that are compared may take, roughly: fifteen thousand of the usual length.
const MAX_WEIGHT: usize = 192 << 20;

/// More memories that this machine did not write are not compared: pairs are looked at, and a clone brings as many as it likes.
const MAX_FOREIGN: usize = 4_000;

/// What a memory is compared by takes about so many bytes for each of its text.
const PROFILE_WEIGHT: usize = 10;

/// Hardly a memory is longer, and hardly all of them change at once.
const USUAL_BYTES: usize = 4 << 10;

/// A memory is compared by the words of its first page.
const MAX_PAGE_BYTES: usize = 16 << 10;

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
    /// How far this machine trusts its words.
    pub(super) level: memory::Trust,
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
        claim_of(&self.memory)
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
    /// Memories that were not looked at: there is more text than one run compares.
    pub(super) n_left_out: usize,
    fingerprint: ContentHash,
}

impl Collection {
    /// Reads a store. A memory that a person archived is theirs; one that was archived for its age may come back.
    ///
    /// A person's own memories are read first, and the newest of all others: where a clone brings more than one run can
    /// compare, it is the clone's that are left out.
    pub(super) fn read(store: &Store) -> Result<Self, MemoryError> {
        Self::read_within(store, &Bounds { weight: MAX_WEIGHT, foreign: MAX_FOREIGN })
    }

    pub(super) fn read_within(store: &Store, bounds: &Bounds) -> Result<Self, MemoryError> {
        let mut files = store.located()?;
        let known = files.iter().map(|at| at.id.clone()).collect();
        files.sort_by_cached_key(|at| {
            (!store.is_own(&at.id), std::cmp::Reverse(at.id.clone()), at.path.to_string())
        });
        let Bounds { weight, foreign } = *bounds;
        let mut gathered =
            Gathered { weight_left: weight, foreign_left: foreign, ..Gathered::default() };
        store.visit(&files, |_, memory| gathered.take(store, memory));
        let Gathered { mut held, merged, mut seen, n_broken, n_looked_at, .. } = gathered;
        held.sort_by(|a, b| a.id().cmp(b.id()));
        let places = held.iter().enumerate().map(|(idx, one)| (one.id().clone(), idx)).collect();
        seen.sort();
        let fingerprint = ContentHash::of(seen.concat().as_bytes());
        let n_left_out = files.len() - n_looked_at;
        Ok(Self { held, places, known, merged, n_broken, n_left_out, fingerprint })
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

/// How much one run looks at.
pub(super) struct Bounds {
    /// Bytes, roughly.
    pub(super) weight: usize,
    /// Memories that this machine did not write.
    pub(super) foreign: usize,
}

/// What was read so far.
#[derive(Default)]
struct Gathered {
    held: Vec<Held>,
    merged: BTreeMap<MemoryId, MemoryId>,
    /// Of each memory what tells whether it is different.
    seen: Vec<String>,
    n_broken: usize,
    n_looked_at: usize,
    /// About how much memory there is for more.
    weight_left: usize,
    /// How many more may be looked at that this machine did not write.
    foreign_left: usize,
}

impl Gathered {
    fn take(&mut self, store: &Store, memory: Result<Memory, Unreadable>) -> ControlFlow<()> {
        if self.foreign_left == 0 {
            return ControlFlow::Break(());
        }
        self.n_looked_at += 1;
        let Ok(memory) = memory else {
            self.n_broken += 1;
            return ControlFlow::Continue(());
        };
        if memory.at.memory_type == MemoryType::Summary {
            return ControlFlow::Continue(());
        }
        let id = memory.at.id.clone();
        let (Ok(evidence), Ok(state)) = (store.evidence(&id), store.state(&id)) else {
            self.n_broken += 1;
            return ControlFlow::Continue(());
        };
        let beside = serde_json::to_string(&(&evidence, &state)).unwrap_or_default();
        let text = memory.document.as_str();
        let weight = weight_of(&memory, beside.len());
        let Some(left) = self.weight_left.checked_sub(weight) else {
            self.n_looked_at -= 1;
            return ControlFlow::Break(());
        };
        let parts = [memory.at.path.as_str(), text, &beside];
        self.seen.push(parts.map(|part| ContentHash::of(part.as_bytes()).short()).concat());
        if let Some(into) = state.as_ref().and_then(|state| state.merged_into.clone()) {
            self.merged.insert(id, into);
        } else if memory.at.area == StoreArea::Active || is_aged_out(state.as_ref()) {
            self.foreign_left -= usize::from(!store.is_own(&id));
            let level = store.trust_of(&memory);
            self.held.push(one(memory, evidence, state, level));
            self.weight_left = left;
        }
        ControlFlow::Continue(())
    }
}

/// About how much memory it takes to compare a memory, and to change it: its text stands in the plan of the changes, in that of
/// an undo, and in what is shown, before and after.
fn weight_of(memory: &Memory, n_beside: usize) -> usize {
    let size = memory.document.as_str().len();
    let n_more = size.saturating_sub(USUAL_BYTES);
    page(memory).len() * PROFILE_WEIGHT + size * 2 + n_more * 8 + n_beside * 4 + 1024
}

/// The part of a memory's text that it is compared by: a memory is a page.
fn page(memory: &Memory) -> &str {
    let body = memory.document.body();
    &body[..body.floor_char_boundary(MAX_PAGE_BYTES)]
}

/// What a memory claims, without when it was said.
fn claim_of(memory: &Memory) -> String {
    claimed(page(memory))
}

/// Whether upkeep itself archived it for its age.
fn is_aged_out(state: Option<&State>) -> bool {
    let life = state.and_then(|state| state.life.as_ref());
    life.is_some_and(|life| life.stage == Stage::Archived)
}

fn one(
    memory: Memory,
    evidence: Option<Evidence>,
    state: Option<State>,
    level: memory::Trust,
) -> Held {
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
    let profile = Profile::of(&memory.title, &claim_of(&memory));
    let said = said.or(memory.updated).or(memory.created).unwrap_or_default();
    Held { memory, evidence, state, profile, said, trust, level, is_own }
}
