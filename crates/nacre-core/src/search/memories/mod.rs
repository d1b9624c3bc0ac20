//! Memory search: the index of a store's memories, kept in step with its files.
//!
//! The files are looked at before every answer (their stamps, not their contents), so an edit by hand or
//! by git is found by the very next search. What was overturned never stands above what overturned it.

#[cfg(test)]
mod bounds_tests;
mod chores;
mod feed;
mod fitting;
mod graph;
#[cfg(test)]
mod kept_tests;
mod look;
pub(crate) mod mentions;
mod nearest;
mod outline;
mod place;
mod related;
#[cfg(test)]
mod tests;
mod units;
mod wording;

use std::cell::RefCell;
use std::sync::Arc;

use jiff::Timestamp;

pub use self::feed::{ProjectNews, SharedUnits, place_of_shared_unit};
pub use self::fitting::{Fit, FitSignals, Fitting};
pub use self::graph::{Graph, GraphNode, GraphOptions, Tie, spellings};
pub use self::nearest::Near;
use super::answers::{AnswerKey, KeptAnswers, Order};
use super::embed::Embedder;
use super::group::Group;
use super::index::{Index, IndexError};
use super::kept::KeptSnapshots;
use super::kin::Kin;
use super::left;
use super::query::Query;
use super::rank::{self, Level, Mode, RankOptions, Ranked};
use super::record::Standing;
use super::settle::{self, RowFacts};
use super::snapshot::Snapshot;
use super::snippet;
use super::words;
use crate::base::Alarm;
use crate::memory::{
    Located, Memory, MemoryError, MemoryId, MemoryType, Reader, Store, Unreadable,
};
use crate::safefs::{FsError, Owner};
use look::{IndexBudget, Look};

pub use self::outline::{Interest, Listed};
pub use self::place::{INDEX_FOLDER, index_path, index_scope, prune_indexes};
pub use self::wording::Wording;

/// The name of this index in its folder.
const INDEX_NAME: &str = "memories";

/// How many of the best rows are looked at when hits are filtered or put in order.
const MAX_CANDIDATES: usize = 1000;

/// A hit that scores less than this share of the best one is noise.
pub(super) const MIN_SHARE_OF_BEST: f32 = 0.25;

/// A decision or learning that scores at least this share of the best hit fits the question.
const FITTING_SHARE: f32 = 0.5;

/// Why memories could not be searched.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    #[error(transparent)]
    Memory(#[from] MemoryError),
    #[error(transparent)]
    Index(#[from] IndexError),
}

impl From<FsError> for SearchError {
    fn from(error: FsError) -> Self {
        Self::Memory(error.into())
    }
}

/// A store's memories, ready to be searched.
pub struct MemoryIndex<'a> {
    store: &'a Store,
    embedder: &'a dyn Embedder,
    snapshot: Arc<Snapshot>,
    now: Timestamp,
    n_postponed: usize,
    /// Where orders are kept, if the snapshot outlives this question.
    answers: Option<Arc<KeptAnswers>>,
}

/// What to return.
#[derive(Clone, Debug)]
pub struct MemoryOptions {
    pub mode: Mode,
    pub limit: usize,
    /// Archived memories too.
    pub archived: bool,
}

/// A memory that was found.
#[derive(Debug)]
pub struct MemoryHit {
    pub memory: Memory,
    pub score: f32,
    /// The words around what was asked for.
    pub snippet: String,
    pub why: Why,
    /// What this memory overturned, newest first.
    pub history: Vec<Memory>,
}

impl MemoryHit {
    /// What this memory overturned by nothing but its own claim: not verified.
    pub fn unverified(&self) -> impl Iterator<Item = &Memory> {
        self.history.iter().filter(|older| older.is_only_claimed())
    }
}

/// Why a memory was found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Why {
    /// Terms of the question that it holds.
    pub terms: Vec<String>,
    /// How near its meaning is to the question's, from 0 to 1.
    pub similarity: f32,
    /// Its part of the score that comes from words.
    pub lexical: f32,
    /// Memories that pointed at it.
    pub edges: Vec<Kin>,
}

/// What a search found.
#[derive(Debug, Default)]
pub struct MemoryHits {
    /// Best first.
    pub hits: Vec<MemoryHit>,
    /// How many there were before the limit.
    pub total: usize,
    /// Files that are no memories.
    pub broken: Vec<Unreadable>,
}

/// What a process with many questions has to look at before it answers one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DueLook {
    /// Every file.
    Files,
    /// The folders: what came, went or was replaced.
    Folders,
    /// Nothing: another question looked a moment ago.
    Nothing,
}

impl<'a> MemoryIndex<'a> {
    /// Opens the index of `store` and brings it up to date.
    pub fn open(
        store: &'a Store,
        embedder: &'a dyn Embedder,
        owner: &Owner,
        now: Timestamp,
    ) -> Result<Self, SearchError> {
        Self::open_watched(store, embedder, owner, now, &mut |_, _| {})
    }

    /// The same for whoever wants to know how many memories of how many are in the index by now.
    pub fn open_watched(
        store: &'a Store,
        embedder: &'a dyn Embedder,
        owner: &Owner,
        now: Timestamp,
        watch: &mut dyn FnMut(usize, usize),
    ) -> Result<Self, SearchError> {
        let index = Index::new(place::made(store), INDEX_NAME);
        Self::brought_up_to_date(store, embedder, (&index, Some(owner)), now, watch)
    }

    /// Opens the index of `store` and brings it up to date in memory alone: the disk stays as it is.
    pub fn peek(
        store: &'a Store,
        embedder: &'a dyn Embedder,
        now: Timestamp,
    ) -> Result<Self, SearchError> {
        let index = Index::new(place::present(store), INDEX_NAME);
        Self::brought_up_to_date(store, embedder, (&index, None), now, &mut |_, _| {})
    }

    /// Opens the index of `store` for whoever must not wait: the folders of memories are looked at, not their files. A file that
    /// was edited in place is found by the words it had; what is shown of it is read as it is now. Of files that came or
    /// went, a few are taken in and the rest is left to another process, as long as there is a note of that.
    pub fn open_quickly(
        store: &'a Store,
        embedder: &'a dyn Embedder,
        owner: &Owner,
        now: Timestamp,
    ) -> Result<Self, SearchError> {
        let index = Index::new(place::made(store), INDEX_NAME);
        Self::looked_at_quickly(store, embedder, (&index, owner), now)
    }

    /// Opens the index of `store` for a process with many questions, which keeps what it read in `kept`, after the look that is due.
    pub fn open_kept(
        store: &'a Store,
        embedder: &'a dyn Embedder,
        owner: &Owner,
        now: Timestamp,
        (kept, due): (&Arc<KeptSnapshots>, DueLook),
    ) -> Result<Self, SearchError> {
        let index = Index::new(place::made(store), INDEX_NAME).kept_in(kept);
        let opened = match due {
            DueLook::Files => {
                let watch = &mut |_, _| {};
                Self::brought_up_to_date(store, embedder, (&index, Some(owner)), now, watch)?
            }
            DueLook::Folders => Self::looked_at_quickly(store, embedder, (&index, owner), now)?,
            DueLook::Nothing => {
                let snapshot = index.load(embedder);
                Self { store, embedder, snapshot, now, n_postponed: 0, answers: None }
            }
        };
        Ok(Self { answers: kept.answers_of(&opened.snapshot), ..opened })
    }

    fn looked_at_quickly(
        store: &'a Store,
        embedder: &'a dyn Embedder,
        (index, owner): (&Index, &Owner),
        now: Timestamp,
    ) -> Result<Self, SearchError> {
        let snapshot = index.load(embedder);
        let is_left = || index.folder().is_some_and(|folder| left::is_left(folder, now));
        if look::has_same_folders(store, &snapshot)? || is_left() {
            return Ok(Self { store, embedder, snapshot, now, n_postponed: 0, answers: None });
        }
        let (snapshot, n_postponed) = Self::looked(
            store,
            embedder,
            (index, Some(owner)),
            (snapshot, now),
            IndexBudget::OF_A_QUICK_LOOK,
            &mut |_, _| {},
        )?;
        if let Some(folder) = index.folder().filter(|_| n_postponed > 0) {
            left::leave(folder, now, owner);
        }
        Ok(Self { store, embedder, snapshot, now, n_postponed, answers: None })
    }

    /// Opens the index of `store` as it was stored, whichever model made it, and takes nothing in.
    pub fn open_as_stored(
        store: &'a Store,
        embedder: &'a dyn Embedder,
        now: Timestamp,
    ) -> Result<Self, SearchError> {
        let snapshot =
            Index::new(place::present(store), INDEX_NAME).load_of_any_model().unwrap_or_default();
        let snapshot = Arc::new(snapshot);
        Ok(Self { store, embedder, snapshot, now, n_postponed: 0, answers: None })
    }

    fn brought_up_to_date(
        store: &'a Store,
        embedder: &'a dyn Embedder,
        (index, owner): (&Index, Option<&Owner>),
        now: Timestamp,
        watch: &mut dyn FnMut(usize, usize),
    ) -> Result<Self, SearchError> {
        let snapshot = index.load(embedder);
        if look::is_current(store, &snapshot)? {
            return Ok(Self { store, embedder, snapshot, now, n_postponed: 0, answers: None });
        }
        let (snapshot, n_postponed) = Self::looked(
            store,
            embedder,
            (index, owner),
            (snapshot, now),
            IndexBudget::OF_ONE_LOOK,
            watch,
        )?;
        if let Some((folder, owner)) = index.folder().zip(owner).filter(|_| n_postponed == 0) {
            left::settle(folder, owner);
        }
        Ok(Self { store, embedder, snapshot, now, n_postponed, answers: None })
    }

    /// A snapshot with what changed since, piece by piece and each piece stored, until there is no more budget. Tells how many files
    /// wait for the next look.
    fn looked(
        store: &Store,
        embedder: &dyn Embedder,
        (index, owner): (&Index, Option<&Owner>),
        (mut snapshot, now): (Arc<Snapshot>, Timestamp),
        mut budget: IndexBudget,
        watch: &mut dyn FnMut(usize, usize),
    ) -> Result<(Arc<Snapshot>, usize), SearchError> {
        let survey = store.survey()?;
        let alarm = store.rules().index_time.map(Alarm::after);
        let look = Look { store, survey: &survey, now, alarm: alarm.as_ref() };
        loop {
            let (mut n_left, before) = (0, budget);
            snapshot = index.update(snapshot, embedder, owner, |snapshot| {
                // Whoever waited for the lock looks again at what is there then.
                budget = before;
                let (changes, left) =
                    look.changes(snapshot, &mut budget).map_err(IndexError::Fs)?;
                n_left = left;
                Ok::<_, IndexError>(changes)
            })?;
            let n_indexed = snapshot.n_records();
            watch(n_indexed, n_indexed + n_left);
            if n_left == 0 || budget.is_used_up() || look.is_late() {
                return Ok((snapshot, n_left));
            }
        }
    }

    /// Takes over a change of these memories, without a look at the others: for whoever made the change.
    pub fn refresh(self, changed: &[Located], owner: &Owner) -> Result<Self, SearchError> {
        let index = Index::new(place::made(self.store), INDEX_NAME);
        let snapshot = index.update(self.snapshot, self.embedder, Some(owner), |snapshot| {
            Ok::<_, SearchError>(Some(look::changes_of(self.store, changed, snapshot.watermark())))
        })?;
        Ok(Self { snapshot, ..self })
    }

    /// How many memories were left to the next look: there are more, or larger ones, than one command takes in.
    pub fn n_postponed(&self) -> usize {
        self.n_postponed
    }

    /// What the index holds.
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// Finds memories, best first.
    pub fn search(
        &self,
        query: &Query,
        options: &MemoryOptions,
    ) -> Result<MemoryHits, SearchError> {
        self.search_in(query, options, false)
    }

    /// Finds memories for a reader: what holds and fits first, then what sessions were about and what fits less, and
    /// candidates at the end.
    pub fn offer(&self, query: &Query, options: &MemoryOptions) -> Result<MemoryHits, SearchError> {
        self.search_in(query, options, true)
    }

    /// Where a row stands for a reader, by its share of the best score; the lowest first.
    fn tier(&self, row: usize, fit: f32) -> u8 {
        let is_claim = outline::type_of(self.snapshot.unit_key(row))
            .is_some_and(|memory_type| memory_type != MemoryType::Summary);
        // What came from elsewhere stands below all that did not.
        let is_foreign = !self.store.may_know(self.snapshot.key(row));
        match self.snapshot.row(row).standing {
            _ if is_foreign => 3,
            Standing::Candidate => 2,
            Standing::Active if is_claim && fit >= FITTING_SHARE => 0,
            Standing::Active | Standing::Stale | Standing::Superseded | Standing::Archived => 1,
        }
    }

    fn search_in(
        &self,
        query: &Query,
        options: &MemoryOptions,
        is_offer: bool,
    ) -> Result<MemoryHits, SearchError> {
        let order = self.kept_order(query, options, is_offer)?;
        let pages = self.pages();
        let mut found = MemoryHits { broken: self.broken(), ..MemoryHits::default() };
        for group in &order.groups {
            if found.total >= options.limit && query.phrases.is_empty() {
                found.total += 1;
                continue;
            }
            let Some(memory) = pages.read(group.best.row) else { continue };
            if !pages.holds_phrases(&memory, group, query) {
                continue;
            }
            found.total += 1;
            if found.hits.len() < options.limit {
                let is_foreign = !self.store.may_know(self.snapshot.key(group.best.row));
                found.hits.push(pages.hit(memory, group, (query, is_foreign)));
            }
        }
        found.total += order.n_more;
        Ok(found)
    }

    /// The order for a question, kept where the process has many.
    fn kept_order(
        &self,
        query: &Query,
        options: &MemoryOptions,
        is_offer: bool,
    ) -> Result<Arc<Order>, SearchError> {
        let kept = self.answers.as_ref().and_then(|kept| Some((kept, self.store.trust_state()?)));
        let Some((kept, trust)) = kept else {
            return Ok(Arc::new(self.order(query, options, is_offer)?));
        };
        let &MemoryOptions { mode, limit, archived } = options;
        let minute = self.now.as_second().div_euclid(60);
        let query = query.clone();
        let key = AnswerKey { query, mode, limit, archived, is_offer, minute, trust };
        if let Some(order) = kept.get(&key) {
            return Ok(order);
        }
        let order = Arc::new(self.order(&key.query, options, is_offer)?);
        kept.keep(key, &order);
        Ok(order)
    }

    /// Ranks the rows for a question and puts them in order.
    fn order(
        &self,
        query: &Query,
        options: &MemoryOptions,
        is_offer: bool,
    ) -> Result<Order, SearchError> {
        let rank_options = RankOptions {
            mode: options.mode,
            level: Level::Records,
            limit: MAX_CANDIDATES,
            now_ms: self.now.as_millisecond(),
        };
        let allowed = rank::allowed(&self.snapshot, query, options.archived);
        let ranked = rank::rank(&self.snapshot, query, &allowed, self.embedder, &rank_options)
            .map_err(IndexError::Embed)?;
        let pages = self.pages();
        let text_of = |row: usize| {
            let memory = pages.read(row)?;
            Some(format!("{}\n{}", memory.title, memory.document.body()))
        };
        let is_wanted = |row: usize| allowed.get(row).is_some_and(|is_allowed| *is_allowed);
        let is_foreign = |row: usize| !self.store.may_know(self.snapshot.key(row));
        let facts = RowFacts { is_wanted: &is_wanted, text_of: &text_of, is_foreign: &is_foreign };
        let mut settled = settle::settle(&self.snapshot, ranked, &facts);
        // What came from elsewhere can be made to fit, so that what is ours is not measured by it.
        let own = settled.iter().find(|group| !is_foreign(group.best.row));
        let best = own.or(settled.first()).map_or(0.0, |group| group.best.score);
        settled.retain(|group| group.best.score >= best * MIN_SHARE_OF_BEST);
        if is_offer {
            let share = |group: &Group| group.best.score / best.max(f32::MIN_POSITIVE);
            settled.sort_by_cached_key(|group| self.tier(group.best.row, share(group)));
        }
        Ok(Order::new(settled, query, options.limit))
    }

    /// The memories that claim to overturn `older`, as their files are now.
    pub fn claimants(&self, older: &MemoryId) -> Vec<Memory> {
        let term = words::facet("supersedes", older.as_str());
        let pages = self.pages();
        let named = self.snapshot.postings(&term).filter_map(|(row, _)| pages.read(row));
        named.filter(|memory| memory.claims(older)).collect()
    }

    /// The memories of one answer.
    fn pages(&self) -> Pages<'_> {
        let reader = RefCell::new(Reader::new(self.store));
        Pages { snapshot: &self.snapshot, reader }
    }

    /// The files that the index knows to be no memories, with what is wrong now.
    fn broken(&self) -> Vec<Unreadable> {
        let empty = self.snapshot.empty_units();
        let mut paths: Vec<&str> = empty.filter(|path| !look::is_folder(path)).collect();
        paths.sort_unstable();
        let located = paths.into_iter().filter_map(Located::from_path);
        located.filter_map(|at| self.store.load(&at).err()).collect()
    }
}

/// Memories that one names as overturned that are read; more are a flood.
const MAX_CLAIMED: usize = 8;

/// The memories of one answer, read as they are needed.
struct Pages<'a> {
    snapshot: &'a Snapshot,
    reader: RefCell<Reader<'a>>,
}

impl Pages<'_> {
    /// The memory of a row, read now; `None` when it went away since the look.
    fn read(&self, row: usize) -> Option<Memory> {
        let at = Located::from_path(self.snapshot.unit_key(row))?;
        self.reader.borrow_mut().read_leniently(&at)
    }

    /// Whether the memory, or one that it overturned, holds the quoted phrases: who asks in the old words
    /// gets the new answer.
    fn holds_phrases(&self, memory: &Memory, group: &Group, query: &Query) -> bool {
        let holds = |memory: &Memory| query.holds_phrases(&whole_text(memory));
        query.phrases.is_empty()
            || holds(memory)
            || group.older.iter().filter_map(|row| self.read(*row)).any(|older| holds(&older))
    }

    /// What a memory overturned; of one that came from elsewhere, also what it only claims to.
    fn overturned(&self, memory: &Memory, group: &Group, is_foreign: bool) -> Vec<Memory> {
        let claimed = memory.supersedes.iter().filter(|_| is_foreign).take(MAX_CLAIMED);
        let claimed =
            claimed.filter_map(|id| crate::search::kin::row_of(self.snapshot, id.as_str()));
        let claimed = claimed.filter(|row| *row != group.best.row && !group.older.contains(row));
        group.older.iter().copied().chain(claimed).filter_map(|row| self.read(row)).collect()
    }

    fn hit(&self, memory: Memory, group: &Group, (query, is_foreign): (&Query, bool)) -> MemoryHit {
        let Ranked { score, lexical, similarity, terms, .. } = &group.best;
        MemoryHit {
            snippet: snippet::of(memory.document.body(), &query.text),
            why: Why {
                terms: terms.clone(),
                similarity: *similarity,
                lexical: *lexical,
                edges: group.edges.clone(),
            },
            history: self.overturned(&memory, group, is_foreign),
            score: *score,
            memory,
        }
    }
}

/// The status of a store's index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexStatus {
    pub n_records: usize,
    pub n_segments: usize,
    pub n_bytes: u64,
    pub model: String,
    /// Files that the index does not show as they are now.
    pub n_outdated: usize,
}

/// Looks at a store's index without changing it.
pub fn index_status(
    store: &Store,
    embedder: &dyn Embedder,
    now: Timestamp,
) -> Result<IndexStatus, SearchError> {
    let survey = store.survey()?;
    let index = Index::new(place::made(store), INDEX_NAME);
    let snapshot = index.load(embedder);
    let mut budget = IndexBudget::OF_ONE_LOOK;
    let look = Look { store, survey: &survey, now, alarm: None };
    let (changes, n_left) = look.changes(&snapshot, &mut budget)?;
    Ok(IndexStatus {
        n_records: snapshot.n_records(),
        n_segments: snapshot.n_segments(),
        n_bytes: index.n_bytes(),
        model: snapshot.model().to_owned(),
        n_outdated: n_left + changes.map_or(0, |changes| look::n_files(&changes)),
    })
}

/// Removes a store's index, so that the next search builds it anew.
pub fn clear_index(
    store: &Store,
    owner: &Owner,
    patience: std::time::Duration,
) -> Result<(), SearchError> {
    Ok(Index::new(place::made(store), INDEX_NAME).clear(owner, patience)?)
}

/// Takes a memory out of a store's index, with its words; returns whether the disk holds none of it now.
pub fn purge_index(
    store: &Store,
    owner: &Owner,
    patience: std::time::Duration,
    id: &MemoryId,
) -> Result<bool, SearchError> {
    let is_gone = |key: &str| Located::from_path(key).is_some_and(|at| at.id == *id);
    Ok(Index::new(place::present(store), INDEX_NAME).purge(owner, patience, &is_gone)?)
}

/// Everything that a phrase can stand in.
fn whole_text(memory: &Memory) -> String {
    format!("{}\n{}\n{}", memory.title, memory.tags.join(" "), memory.document.body())
}
