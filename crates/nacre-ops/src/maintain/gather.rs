//! Collects the input for maintenance: the memories, their evidence and state, and the ledger of
//! earlier runs.

use std::ops::ControlFlow;

use nacre_memory::recall::claim_text as claimed;
use nacre_memory::{
    Evidence, LocalState, Memory, MemoryType, Profile, Result, Speaker, Stage, StoreArea,
    UPKEEP_FILE, Unreadable, Verdict, Vitals,
};
use nacre_types::{MaintainAction, MaintainVerb};
use serde::{Deserialize, Serialize};

use crate::prelude::*;

/// In bytes of RAM. Enough to compare 15,000 memories of typical length.
const MAX_WEIGHT: usize = 192 << 20;

/// Maximum number of memories from other machines to compare. The number of pairs grows
/// quadratically, and a clone may contain any number of memories.
const MAX_FOREIGN: usize = 4_000;

const PROFILE_WEIGHT: usize = 10;

/// Typical size of a memory. Longer memories are rare, and they seldom all change at once.
const USUAL_BYTES: usize = 4 << 10;

/// Only this many bytes at the beginning of a memory are compared.
const MAX_PAGE_BYTES: usize = 16 << 10;

#[derive(Clone, Debug)]
pub(super) struct CollectedMemory {
    pub(super) memory: Memory,
    pub(super) evidence: Option<Evidence>,
    pub(super) state: Option<LocalState>,
    pub(super) profile: Profile,
    /// When the claim was last repeated.
    pub(super) said: Timestamp,
    pub(super) trust: Trust,
    pub(super) level: nacre_memory::Trust,
    /// Whether the local state proves that the memory was written on this machine.
    pub(super) is_own: bool,
}

/// The source of a memory. Text from a web page or a program never supersedes a user's statement.
/// The speaker is taken into account only for memories written on this machine, because a cloned
/// file can name any speaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Trust {
    /// No evidence, or only program output.
    None,
    /// The file names a speaker, but was written on another machine.
    Foreign,
    Assistant,
    User,
    Human,
}

impl CollectedMemory {
    pub(super) fn id(&self) -> &MemoryId {
        &self.memory.at.id
    }

    pub(super) fn claim(&self) -> String {
        claim_of(&self.memory)
    }

    pub(super) fn state_or_new(&self) -> LocalState {
        self.state.clone().unwrap_or_else(|| LocalState::new(self.id().clone()))
    }

    pub(super) fn vitals(&self) -> Vitals {
        Vitals::of(&self.memory, self.evidence.as_ref(), self.state.as_ref())
    }

    /// Returns whether the memory is compared with others. Superseded memories and memories that
    /// the user marked as wrong are excluded.
    pub(super) fn is_standing(&self) -> bool {
        let last = self.state.as_ref().and_then(|state| state.feedback.last());
        let is_rejected = last.is_some_and(|feedback| feedback.verdict == Verdict::Wrong);
        !self.memory.says_overturned() && !is_rejected
    }

    fn wants_apart(&self, other: &Self) -> bool {
        self.state.as_ref().is_some_and(|state| state.apart_from.contains(other.id()))
    }
}

pub(super) fn are_kept_apart(a: &CollectedMemory, b: &CollectedMemory) -> bool {
    a.wants_apart(b) || b.wants_apart(a)
}

/// The memories that maintenance may change, and the ids of all memories.
#[derive(Debug)]
pub(super) struct Collection {
    pub(super) held: Vec<CollectedMemory>,
    pub(super) places: BTreeMap<MemoryId, usize>,
    /// All ids, including those of summaries, archived memories and broken files.
    pub(super) known: BTreeSet<MemoryId>,
    pub(super) merged: BTreeMap<MemoryId, MemoryId>,
    pub(super) n_broken: usize,
    /// The number of memories skipped because of the limits.
    pub(super) n_left_out: usize,
    fingerprint: ContentHash,
}

impl Collection {
    /// Reads a store. Memories archived by the user are excluded. Memories archived because of
    /// their age are included, because they may be restored.
    ///
    /// The user's own memories are read first, from newest to oldest, so that memories from other
    /// machines are the first to be skipped when a limit is reached.
    pub(super) fn read(store: &Store) -> Result<Self> {
        Self::read_within(store, MAX_WEIGHT, MAX_FOREIGN)
    }

    /// Like `read`, but reads at most `weight` bytes and at most `foreign` memories from other
    /// machines.
    pub(super) fn read_within(store: &Store, weight: usize, foreign: usize) -> Result<Self> {
        let mut files = store.locate_all()?;
        let known = files.iter().map(|at| at.id.clone()).collect();
        files.sort_by_cached_key(|at| {
            (!store.is_own(&at.id), std::cmp::Reverse(at.id.clone()), at.path.to_string())
        });
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

    /// Returns a fingerprint of the store and of the files and symbols that are missing from the
    /// repository.
    pub(super) fn fingerprint_with(&self, gone: &BTreeMap<usize, String>) -> ContentHash {
        let mut seen = self.fingerprint.short();
        for (idx, reason) in gone {
            seen.push_str(&format!("\n{idx} {reason}"));
        }
        ContentHash::of(seen.as_bytes())
    }
}

#[derive(Default)]
struct Gathered {
    held: Vec<CollectedMemory>,
    merged: BTreeMap<MemoryId, MemoryId>,
    /// Hashes of all memories that were read, for detecting changes.
    seen: Vec<String>,
    n_broken: usize,
    n_looked_at: usize,
    weight_left: usize,
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
        // Estimate the number of bytes needed to compare and change a memory. The plan, the undo
        // data and the preview each contain both the old and the new text.
        let n_more = text.len().saturating_sub(USUAL_BYTES);
        let n_compared = page(&memory).len() * PROFILE_WEIGHT;
        let weight = n_compared + text.len() * 2 + n_more * 8 + beside.len() * 4 + 1024;
        let Some(left) = self.weight_left.checked_sub(weight) else {
            self.n_looked_at -= 1;
            return ControlFlow::Break(());
        };
        let parts = [memory.at.path.as_str(), text, &beside];
        self.seen.push(parts.map(|part| ContentHash::of(part.as_bytes()).short()).concat());
        // A memory that maintenance archived because of its age may be restored.
        let life = state.as_ref().and_then(|state| state.life.as_ref());
        let is_aged_out = life.is_some_and(|life| life.stage == Stage::Archived);
        if let Some(into) = state.as_ref().and_then(|state| state.merged_into.clone()) {
            self.merged.insert(id, into);
        } else if memory.at.area == StoreArea::Active || is_aged_out {
            self.foreign_left -= usize::from(!store.is_own(&id));
            let level = store.trust_of(&memory);
            self.held.push(collect_memory(memory, evidence, state, level));
            self.weight_left = left;
        }
        ControlFlow::Continue(())
    }
}

fn page(memory: &Memory) -> &str {
    let body = memory.document.body();
    &body[..body.floor_char_boundary(MAX_PAGE_BYTES)]
}

fn claim_of(memory: &Memory) -> String {
    claimed(page(memory))
}

fn collect_memory(
    memory: Memory,
    evidence: Option<Evidence>,
    state: Option<LocalState>,
    level: nacre_memory::Trust,
) -> CollectedMemory {
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
    CollectedMemory { memory, evidence, state, profile, said, trust, level, is_own }
}

const MAX_BYTES: u64 = 16 << 20;

/// Maximum number of undone actions to read from a run, and maximum length of a key. A run's report
/// may come from a cloned repository, so it can be arbitrarily large.
const MAX_REFUSED: usize = 20_000;
const MAX_KEY_BYTES: usize = 400;

const VERSION: u32 = 1;

/// A store's local maintenance history.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ledger {
    version: u32,
    #[serde(default)]
    last: Option<Last>,
    /// Keys of actions that the user has undone and that must not be repeated.
    #[serde(default)]
    refused: BTreeSet<String>,
    /// When the user restored each stale or archived memory. Restoring a memory counts as
    /// confirming it.
    #[serde(default)]
    pub(super) kept: BTreeMap<MemoryId, Timestamp>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Last {
    fingerprint: ContentHash,
    at: Timestamp,
    next_change: Option<Timestamp>,
}

impl Ledger {
    /// Reads the ledger. An unreadable ledger is treated as missing.
    pub(crate) fn read(store: &Store) -> Result<Self> {
        let bytes = store.scope().read_optional(&path()?, MAX_BYTES)?;
        let read = bytes.and_then(|bytes| serde_json::from_slice::<Self>(&bytes).ok());
        Ok(read
            .filter(|ledger| ledger.version == VERSION)
            .unwrap_or_else(|| Self { version: VERSION, ..Self::default() }))
    }

    pub(crate) fn file(&self) -> Result<(RelPath, Vec<u8>), FsError> {
        Ok((path()?, crate::run::folder::pretty(self)))
    }

    /// Returns whether nothing has changed and no memory has become stale since the last run.
    pub(super) fn is_settled(&self, fingerprint: ContentHash, now: Timestamp) -> bool {
        self.last.as_ref().is_some_and(|last| {
            let is_ahead = last.next_change.is_none_or(|change| now < change);
            last.fingerprint == fingerprint && last.at <= now && is_ahead
        })
    }

    pub(super) fn settle(
        &mut self,
        fingerprint: ContentHash,
        at: Timestamp,
        next_change: Option<Timestamp>,
    ) {
        self.last = Some(Last { fingerprint, at, next_change });
    }

    pub(super) fn is_refused(&self, key: &str) -> bool {
        self.refused.contains(key)
    }

    pub(crate) fn refuse(&mut self, actions: &[MaintainAction], now: Timestamp) {
        self.last = None;
        for action in actions.iter().take(MAX_REFUSED) {
            if action.key.len() <= MAX_KEY_BYTES {
                self.refused.insert(action.key.clone());
            }
            if matches!(action.action, MaintainVerb::Archive | MaintainVerb::Stale) {
                self.kept.extend(action.target.parse().ok().map(|id: MemoryId| (id, now)));
            }
        }
    }
}

fn path() -> Result<RelPath, FsError> {
    RelPath::new(UPKEEP_FILE)
}

/// Returns the key of an action on two memories, regardless of their order.
pub(super) fn pair_key(verb: MaintainVerb, one: &MemoryId, other: &MemoryId) -> String {
    let (first, second) = if one <= other { (one, other) } else { (other, one) };
    format!("{verb} {first} {second}")
}

/// Counts the actions of each kind, including kinds without any actions.
pub(super) fn count_actions(actions: &[MaintainAction]) -> BTreeMap<MaintainVerb, usize> {
    let count = |verb: &MaintainVerb| {
        (*verb, actions.iter().filter(|action| action.action == *verb).count())
    };
    MaintainVerb::ALL.iter().map(count).collect()
}
