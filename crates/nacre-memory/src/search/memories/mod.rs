//! Memory search, with an index that is updated from the memory files.
//!
//! Every search first checks the files' stamps, so edits by hand or by git take effect immediately.
//! A superseded memory is never ranked above its successor.

#[cfg(test)]
mod bounds_tests;
mod graph;
#[cfg(test)]
mod kept_tests;
mod look;
mod outline;
mod place;
mod shared;
#[cfg(test)]
mod tests;
mod units;

use std::cell::RefCell;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use nacre_base::Alarm;
use nacre_base::fs::{Owner, WriteScope};
use nacre_types::WhyFound;

use super::index::{Index, KeptSnapshots, backlog};
use super::query::{Query, snippet};
use super::rank::{self, Level, Mode, RankOptions, Ranked};
use super::settle::{Group, RowFacts, settle};
use super::snapshot::Snapshot;
use crate::{Located, Memory, MemoryError, MemoryId, Reader, Store, Unreadable};
use look::{IndexBudget, Look};

pub use self::graph::{Graph, GraphNode, GraphOptions, spellings};
pub use self::outline::{Interest, Listed, Near};
pub use self::place::{INDEX_FOLDER, index_path, index_scope, prune_indexes};
pub use self::shared::{SharedUnits, place_of_shared_unit};
pub use self::units::{files_named, symbols_named};

const INDEX_NAME: &str = "memories";

const MAX_CANDIDATES: usize = 1000;

/// Hits that score less than this fraction of the best score are dropped.
pub(super) const MIN_SHARE_OF_BEST: f32 = 0.25;

/// Minimum sum of a hit's lexical score and similarity. Unrelated memories share a common word with
/// most queries and score about 0.2; a memory that contains one of three query words scores about
/// 0.4.
const MIN_FIT: f32 = 0.3;

type Result<T, E = MemoryError> = std::result::Result<T, E>;

pub struct MemoryIndex<'a> {
    store: &'a Store,
    snapshot: Arc<Snapshot>,
    now: Timestamp,
    n_postponed: usize,
}

#[derive(Clone, Debug)]
pub struct MemoryOptions {
    pub mode: Mode,
    pub limit: usize,
    pub archived: bool,
}

#[derive(Debug)]
pub struct MemoryHit {
    pub memory: Memory,
    pub score: f32,
    pub snippet: String,
    pub why: WhyFound,
    /// Memories that this one superseded, newest first.
    pub history: Vec<Memory>,
    /// A later memory that says otherwise, although no link says so.
    pub contradicted_by: Option<MemoryId>,
}

impl MemoryHit {
    /// Returns the memories that this one claims to supersede without any confirmation.
    pub fn find_unverified(&self) -> impl Iterator<Item = &Memory> {
        self.history.iter().filter(|older| older.is_only_claimed())
    }
}

#[derive(Debug, Default)]
pub struct MemoryHits {
    pub hits: Vec<MemoryHit>,
    /// Number of hits before the limit was applied.
    pub total: usize,
    pub broken: Vec<Unreadable>,
}

/// What a server must check before answering a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DueLook {
    Files,
    /// Only directory stamps, which show added, removed and replaced files.
    Folders,
    /// No checks, because an earlier query has just performed them.
    Nothing,
}

struct Opening<'a, 'i> {
    store: &'a Store,
    index: &'i Index,
    /// `None` if changes are applied only in memory.
    owner: Option<&'i Owner>,
    now: Timestamp,
}

impl<'a> Opening<'a, '_> {
    fn look_at_files(&self, watch: &mut dyn FnMut(usize, usize)) -> Result<MemoryIndex<'a>> {
        let snapshot = self.index.load();
        if look::is_current(self.store, &snapshot)? {
            return Ok(self.open_snapshot(snapshot, 0));
        }
        let (snapshot, n_postponed) = self.update(snapshot, IndexBudget::OF_ONE_LOOK, watch)?;
        if let Some((folder, owner)) = self.scope_and_owner().filter(|_| n_postponed == 0) {
            backlog::clear(folder, owner);
        }
        Ok(self.open_snapshot(snapshot, n_postponed))
    }

    fn look_at_folders(&self) -> Result<MemoryIndex<'a>> {
        let snapshot = self.index.load();
        let is_assigned = || {
            self.index.folder.as_ref().is_some_and(|folder| backlog::is_assigned(folder, self.now))
        };
        if look::has_same_folders(self.store, &snapshot)? || is_assigned() {
            return Ok(self.open_snapshot(snapshot, 0));
        }
        let budget = IndexBudget::OF_A_QUICK_LOOK;
        let (snapshot, n_postponed) = self.update(snapshot, budget, &mut |_, _| {})?;
        if let Some((folder, owner)) = self.scope_and_owner().filter(|_| n_postponed > 0) {
            backlog::assign(folder, self.now, owner);
        }
        Ok(self.open_snapshot(snapshot, n_postponed))
    }

    /// Indexes changes in several steps until the budget is used up. Also returns how many files
    /// are left for the next scan.
    fn update(
        &self,
        mut snapshot: Arc<Snapshot>,
        mut budget: IndexBudget,
        watch: &mut dyn FnMut(usize, usize),
    ) -> Result<(Arc<Snapshot>, usize)> {
        let survey = self.store.survey()?;
        let alarm = self.store.rules().index_time.map(Alarm::after);
        let look =
            Look { store: self.store, survey: &survey, now: self.now, alarm: alarm.as_ref() };
        loop {
            let (mut n_left, before) = (0, budget);
            snapshot = self.index.update(snapshot, self.owner, |snapshot| {
                // If another process held the lock, the closure is called again, so reset the
                // budget.
                budget = before;
                let (changes, left) = look.changes(snapshot, &mut budget)?;
                n_left = left;
                Ok::<_, MemoryError>(changes)
            })?;
            let n_indexed = snapshot.n_records();
            watch(n_indexed, n_indexed + n_left);
            if n_left == 0 || budget.is_used_up() || look.is_late() {
                return Ok((snapshot, n_left));
            }
        }
    }

    fn scope_and_owner(&self) -> Option<(&WriteScope, &Owner)> {
        self.index.folder.as_ref().zip(self.owner)
    }

    fn open_snapshot(&self, snapshot: Arc<Snapshot>, n_postponed: usize) -> MemoryIndex<'a> {
        MemoryIndex::over(self.store, snapshot, self.now, n_postponed)
    }
}

impl<'a> MemoryIndex<'a> {
    pub fn open(store: &'a Store, owner: &Owner, now: Timestamp) -> Result<Self> {
        Self::open_watched(store, owner, now, &mut |_, _| {})
    }

    /// Like [`MemoryIndex::open`], but reports progress as the number of indexed memories and the
    /// total.
    pub fn open_watched(
        store: &'a Store,
        owner: &Owner,
        now: Timestamp,
        watch: &mut dyn FnMut(usize, usize),
    ) -> Result<Self> {
        let index = Index::new(place::open_or_create(store), INDEX_NAME);
        Opening { store, index: &index, owner: Some(owner), now }.look_at_files(watch)
    }

    /// Opens the index and updates it in memory without writing.
    pub fn peek(store: &'a Store, now: Timestamp) -> Result<Self> {
        let index = Index::new(place::present(store), INDEX_NAME);
        Opening { store, index: &index, owner: None, now }.look_at_files(&mut |_, _| {})
    }

    /// Opens the index after performing any checks that are due. If only directory stamps are
    /// checked, a file edited in place is still found by its old words, although its new text is
    /// shown. In that case, only a few new files are indexed here, and a background process indexes
    /// the rest.
    pub fn open_kept(
        store: &'a Store,
        owner: &Owner,
        now: Timestamp,
        kept: Option<&Arc<KeptSnapshots>>,
        due: DueLook,
    ) -> Result<Self> {
        let index = Index::new(place::open_or_create(store), INDEX_NAME).with_cache(kept);
        let opening = Opening { store, index: &index, owner: Some(owner), now };
        match due {
            DueLook::Files => opening.look_at_files(&mut |_, _| {}),
            DueLook::Folders => opening.look_at_folders(),
            DueLook::Nothing => Ok(opening.open_snapshot(index.load(), 0)),
        }
    }

    fn over(store: &'a Store, snapshot: Arc<Snapshot>, now: Timestamp, n_postponed: usize) -> Self {
        let is_hidden = |key: &str| Located::from_path(key).is_some_and(|at| store.hides(&at));
        let snapshot = match store.rules().hides_summaries {
            true => Arc::new(snapshot.without(is_hidden)),
            false => snapshot,
        };
        Self { store, snapshot, now, n_postponed }
    }

    /// Reindexes the given memories, for callers that already know what has changed.
    pub fn refresh(self, changed: &[Located], owner: &Owner) -> Self {
        let index = Index::new(place::open_or_create(self.store), INDEX_NAME);
        let Ok(snapshot) = index.update(self.snapshot, Some(owner), |snapshot| {
            let changes = look::changes_of(self.store, changed, snapshot.watermark());
            Ok::<_, Infallible>(Some(changes))
        });
        Self::over(self.store, snapshot, self.now, self.n_postponed)
    }

    /// Returns how many memories were left for the next scan because the budget was used up.
    pub fn n_postponed(&self) -> usize {
        self.n_postponed
    }

    pub fn n_records(&self) -> usize {
        self.snapshot.n_records()
    }

    pub fn store(&self) -> &Store {
        self.store
    }

    pub(crate) fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    pub(crate) fn read_row(&self, row: usize) -> Option<Memory> {
        let at = Located::from_path(self.snapshot.unit_key(row))?;
        Reader::new(self.store).read_leniently(&at)
    }

    pub fn search(&self, query: &Query, options: &MemoryOptions) -> MemoryHits {
        self.search_in(query, options, false)
    }

    /// Finds memories that match a query well enough, foreign ones last.
    pub fn offer(&self, query: &Query, options: &MemoryOptions) -> MemoryHits {
        self.search_in(query, options, true)
    }

    fn search_in(&self, query: &Query, options: &MemoryOptions, is_offer: bool) -> MemoryHits {
        let groups = self.order(query, options, is_offer);
        let pages = self.pages();
        let mut found = MemoryHits { broken: self.find_broken(), ..MemoryHits::default() };
        for group in &groups {
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
                found.hits.push(pages.hit(memory, group, query, is_foreign));
            }
        }
        found
    }

    fn order(&self, query: &Query, options: &MemoryOptions, is_offer: bool) -> Vec<Group> {
        let rank_options = RankOptions {
            mode: options.mode,
            level: Level::Records,
            limit: MAX_CANDIDATES,
            now_ms: self.now.as_millisecond(),
        };
        let allowed = rank::filter_rows(&self.snapshot, query, options.archived);
        let mut ranked = rank::rank(&self.snapshot, query, &allowed, &rank_options);
        if is_offer && options.mode == Mode::Hybrid && !query.is_filter_only() {
            ranked.retain(|hit| hit.lexical + hit.similarity >= MIN_FIT);
        }
        let pages = self.pages();
        let text_of = |row: usize| {
            let memory = pages.read(row)?;
            Some(format!("{}\n{}", memory.title, memory.document.body()))
        };
        let is_wanted = |row: usize| allowed.get(row).is_some_and(|is_allowed| *is_allowed);
        let is_foreign = |row: usize| !self.store.may_know(self.snapshot.key(row));
        let facts = RowFacts { is_wanted: &is_wanted, text_of: &text_of, is_foreign: &is_foreign };
        let mut settled = settle(&self.snapshot, ranked, &facts);
        // A foreign file could be written to match anything, so its score must not be used as the
        // best score.
        let own = settled.iter().find(|group| !is_foreign(group.best.row));
        let best = own.or(settled.first()).map_or(0.0, |group| group.best.score);
        settled.retain(|group| group.best.score >= best * MIN_SHARE_OF_BEST);
        if is_offer {
            settled.sort_by_cached_key(|group| is_foreign(group.best.row));
        }
        settled
    }

    pub fn claimants(&self, older: &MemoryId) -> Vec<Memory> {
        let pages = self.pages();
        let rows = self.snapshot.rows_with("supersedes", older.as_str());
        let named = rows.filter_map(|row| pages.read(row));
        named.filter(|memory| memory.claims(older)).collect()
    }

    fn pages(&self) -> Pages<'_> {
        let reader = RefCell::new(Reader::new(self.store));
        Pages { snapshot: &self.snapshot, reader }
    }

    fn find_broken(&self) -> Vec<Unreadable> {
        let empty = self.snapshot.empty_units().map(|(path, _)| path);
        let mut paths: Vec<&str> = empty.filter(|path| !look::is_folder(path)).collect();
        paths.sort_unstable();
        let located = paths.into_iter().filter_map(Located::from_path);
        located.filter_map(|at| self.store.load(&at).err()).collect()
    }
}

const MAX_CLAIMED: usize = 8;

struct Pages<'a> {
    snapshot: &'a Snapshot,
    reader: RefCell<Reader<'a>>,
}

impl Pages<'_> {
    fn read(&self, row: usize) -> Option<Memory> {
        let at = Located::from_path(self.snapshot.unit_key(row))?;
        self.reader.borrow_mut().read_leniently(&at)
    }

    /// Returns whether the quoted phrases occur in the memory or in one that it superseded. As a
    /// result, a query that uses the old wording finds the new memory.
    fn holds_phrases(&self, memory: &Memory, group: &Group, query: &Query) -> bool {
        let holds = |memory: &Memory| query.holds_phrases(&whole_text(memory));
        query.phrases.is_empty()
            || holds(memory)
            || group.older.iter().filter_map(|row| self.read(*row)).any(|older| holds(&older))
    }

    /// Returns the memories that this one supersedes, including unverified claims if this one is
    /// foreign.
    fn find_overturned(&self, memory: &Memory, group: &Group, is_foreign: bool) -> Vec<Memory> {
        let claimed = memory.supersedes.iter().filter(|_| is_foreign).take(MAX_CLAIMED);
        let claimed = claimed.filter_map(|id| self.snapshot.row_of(id.as_str()));
        let claimed = claimed.filter(|row| *row != group.best.row && !group.older.contains(row));
        group.older.iter().copied().chain(claimed).filter_map(|row| self.read(row)).collect()
    }

    fn hit(&self, memory: Memory, group: &Group, query: &Query, is_foreign: bool) -> MemoryHit {
        let Ranked { score, lexical, similarity, terms, .. } = &group.best;
        MemoryHit {
            snippet: snippet(memory.document.body(), &query.text),
            why: WhyFound {
                terms: terms.clone(),
                similarity: *similarity,
                lexical: *lexical,
                edges: group.edges.clone(),
            },
            history: self.find_overturned(&memory, group, is_foreign),
            contradicted_by: None,
            score: *score,
            memory,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexStatus {
    pub n_records: usize,
    pub n_segments: usize,
    pub n_bytes: u64,
    pub model: String,
    pub n_outdated: usize,
}

pub fn index_status(store: &Store, now: Timestamp) -> Result<IndexStatus> {
    let survey = store.survey()?;
    let index = Index::new(place::open_or_create(store), INDEX_NAME);
    let snapshot = index.load();
    let mut budget = IndexBudget::OF_ONE_LOOK;
    let look = Look { store, survey: &survey, now, alarm: None };
    let (changes, n_left) = look.changes(&snapshot, &mut budget)?;
    Ok(IndexStatus {
        n_records: snapshot.n_records(),
        n_segments: usize::from(snapshot.n_records() > 0),
        n_bytes: index.n_bytes(),
        model: snapshot.model().to_owned(),
        n_outdated: n_left + changes.map_or(0, |news| look::n_files(&news)),
    })
}

/// The next search rebuilds the index.
pub fn clear_index(store: &Store, owner: &Owner, patience: Duration) -> Result<()> {
    Ok(Index::new(place::open_or_create(store), INDEX_NAME).clear(owner, patience)?)
}

/// Removes a memory and its words from a store's index. Returns whether all traces have been
/// removed from the disk.
pub fn purge_index(
    store: &Store,
    owner: &Owner,
    patience: Duration,
    id: &MemoryId,
) -> Result<bool> {
    let is_gone = |key: &str| Located::from_path(key).is_some_and(|at| at.id == *id);
    Ok(Index::new(place::present(store), INDEX_NAME).purge(owner, patience, &is_gone)?)
}

fn whole_text(memory: &Memory) -> String {
    format!("{}\n{}\n{}", memory.title, memory.tags.join(" "), memory.document.body())
}
