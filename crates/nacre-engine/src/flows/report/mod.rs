//! What a store learned, merged, put away and used, in numbers: for a person who wants to know what it is worth.
//!
//! Memories tell what there is and how often it was used; the folders of runs tell what was done. A run that was undone did
//! nothing.

mod html;
mod page;
mod plot;
#[cfg(test)]
mod tests;
mod told;

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};
use nacre_core::memory::{
    Memory, MemoryError, MemoryId, MemoryType, Stage, State, Status, Store, StoreArea, Vitals,
};
use nacre_core::safefs::FsError;
use serde::Serialize;

pub use self::page::{is_page, page};
use self::told::{ToldKind, ToldRun};
use super::record::RunReader;
use super::run::{self, RunId};

/// More runs are not looked at.
const MAX_RUNS: usize = 1000;

/// How often an undo of an undo is followed.
const MAX_UNDONE_UNDOS: usize = 32;

/// How many memories a list shows.
const MAX_LISTED: usize = 10;

/// Unused memories younger than this had no chance yet.
const YOUNG: SignedDuration = SignedDuration::from_hours(24 * 14);

/// Weeks that are plotted at most; older ones are in the sums.
const MAX_WEEKS: usize = 53;

/// A memory in a list.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Listed {
    pub id: MemoryId,
    pub title: String,
    pub uses: u64,
    pub citations: u64,
    pub confirmations: u64,
    /// What age and use left of its confidence.
    pub effective: f64,
}

/// Something that a run did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Happened {
    pub run: RunId,
    pub target: String,
    pub with: Option<String>,
    pub title: String,
    pub reason: String,
}

/// What a store is worth.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    pub since: Timestamp,
    pub until: Timestamp,
    /// What there is now, by status.
    pub memories: BTreeMap<&'static str, usize>,
    /// And by stage of life.
    pub stages: BTreeMap<&'static str, usize>,
    /// What was learned since, by type and kind.
    pub learned: BTreeMap<&'static str, usize>,
    /// What became of it; adds up to what was learned.
    pub learned_now: BTreeMap<&'static str, usize>,
    /// What was learned since and is not there any more: undone, rejected or forgotten. Not in the sums above.
    pub n_taken_back: usize,
    /// By the Monday of each week.
    pub learned_by_week: BTreeMap<String, usize>,
    pub sessions: usize,
    pub merged: Vec<Happened>,
    pub archived: Vec<Happened>,
    /// Overturned by a newer one, by a sync or by a maintenance.
    pub contradictions: Vec<Happened>,
    /// Found, and left to a person.
    pub open_contradictions: usize,
    /// What was learned since and holds, the newest first, and how much of that there is.
    pub newest: Vec<Listed>,
    pub n_newest: usize,
    pub most_used: Vec<Listed>,
    pub never_used: Vec<Listed>,
    /// How many of the memories that hold were used, were never used, and are too young to tell; adds up to all of them.
    pub n_used: usize,
    pub n_never_used: usize,
    pub n_young: usize,
    /// Memories by tenths of what is left of their confidence.
    pub confidence: Vec<usize>,
    pub n_broken: usize,
}

/// Looks at a store and its runs.
pub fn report(store: &Store, since: Timestamp, now: Timestamp) -> Result<Report, MemoryError> {
    let listing = store.outlines(|_| true)?;
    let mut report = Report {
        since,
        until: now,
        memories: BTreeMap::new(),
        stages: BTreeMap::new(),
        learned: BTreeMap::new(),
        learned_now: BTreeMap::new(),
        n_taken_back: 0,
        learned_by_week: weeks(since, now),
        sessions: 0,
        merged: Vec::new(),
        archived: Vec::new(),
        contradictions: Vec::new(),
        open_contradictions: 0,
        newest: Vec::new(),
        n_newest: 0,
        most_used: Vec::new(),
        never_used: Vec::new(),
        n_used: 0,
        n_never_used: 0,
        n_young: 0,
        confidence: vec![0; 10],
        n_broken: listing.broken.len(),
    };
    let all = all_runs(store)?;
    report.n_taken_back = n_taken_back(&all, &listing.memories, since, now);
    let runs = standing(all);
    let learned = learned_at(&runs);
    for memory in &listing.memories {
        // What a session of last year said is learned when Nacre reads it.
        let at = learned.get(memory.at.id.as_str()).copied().or(memory.created);
        report.look_at(store, memory, at)?;
    }
    report.sort_lists();
    report.look_at_runs(runs);
    Ok(report)
}

impl Report {
    fn look_at(
        &mut self,
        store: &Store,
        memory: &Memory,
        at: Option<Timestamp>,
    ) -> Result<(), MemoryError> {
        let learned = at.filter(|at| *at >= self.since);
        if memory.at.memory_type == MemoryType::Summary {
            self.sessions += usize::from(learned.is_some());
            return Ok(());
        }
        let id = &memory.at.id;
        // What stands beside a memory and cannot be read is for the doctor to tell.
        let (evidence, state) = (store.evidence(id).ok().flatten(), store.state(id).ok().flatten());
        if state.as_ref().is_some_and(|state| state.merged_into.is_some()) {
            *self.memories.entry("merged").or_default() += 1;
            return Ok(());
        }
        *self.memories.entry(memory.status.as_str()).or_default() += 1;
        if let Some(learned) = learned {
            self.learn(memory, learned);
        }
        if memory.at.area == StoreArea::Archived || memory.status == Status::Superseded {
            return Ok(());
        }
        let vitals = Vitals::of(memory, evidence.as_ref(), state.as_ref());
        *self.stages.entry(stage(memory, state.as_ref()).as_str()).or_default() += 1;
        let effective = vitals.effective(self.until);
        let tenth = ((effective * 10.0) as usize).min(self.confidence.len() - 1);
        self.confidence[tenth] += 1;
        let known_for = at.map(|at| self.until.duration_since(at));
        let listed = self.listed(memory, &vitals, state.as_ref());
        if learned.is_some() && memory.status == Status::Active {
            self.newest.push(listed.clone());
        }
        self.list(listed, &vitals, known_for);
        Ok(())
    }

    fn learn(&mut self, memory: &Memory, learned: Timestamp) {
        let what = memory.kind.map_or(memory.at.memory_type.as_str(), |kind| kind.as_str());
        *self.learned.entry(what).or_default() += 1;
        *self.learned_now.entry(fate(memory)).or_default() += 1;
        if let Some(n) = self.learned_by_week.get_mut(&week_of(learned)) {
            *n += 1;
        }
    }

    fn listed(&self, memory: &Memory, vitals: &Vitals, state: Option<&State>) -> Listed {
        let effective = vitals.effective(self.until);
        Listed {
            id: memory.at.id.clone(),
            title: memory.title.clone(),
            uses: vitals.n_uses,
            citations: state.map_or(0, |state| state.citations),
            confirmations: state.map_or(0, |state| state.confirmations),
            effective: (effective * 100.0).round() / 100.0,
        }
    }

    fn list(&mut self, listed: Listed, vitals: &Vitals, known_for: Option<SignedDuration>) {
        let age = self.until.duration_since(vitals.last_confirmed);
        let age = known_for.map_or(age, |known_for| age.min(known_for));
        match listed.uses {
            0 if age >= YOUNG => self.never_used.push(listed),
            0 => self.n_young += 1,
            _ => self.most_used.push(listed),
        }
    }

    fn sort_lists(&mut self) {
        self.n_never_used = self.never_used.len();
        self.n_used = self.most_used.len();
        self.most_used.sort_by(|a, b| b.uses.cmp(&a.uses).then_with(|| a.id.cmp(&b.id)));
        self.never_used
            .sort_by(|a, b| a.effective.total_cmp(&b.effective).then_with(|| a.id.cmp(&b.id)));
        self.n_newest = self.newest.len();
        // An id begins with its day.
        self.newest.sort_by(|a, b| b.id.cmp(&a.id));
        self.newest.truncate(MAX_LISTED);
        self.most_used.truncate(MAX_LISTED);
        self.never_used.truncate(MAX_LISTED);
    }

    fn look_at_runs(&mut self, mut runs: Vec<ToldRun>) {
        let is_within =
            |run: &ToldRun| run.finished().is_some_and(|at| self.since <= at && at <= self.until);
        runs.retain(is_within);
        let last = runs.iter().find_map(|run| run.open_contradictions);
        self.open_contradictions = last.unwrap_or_default();
        for (kind, happened) in runs.into_iter().flat_map(|run| run.happened) {
            match kind {
                ToldKind::Merged => self.merged.push(happened),
                ToldKind::Archived => self.archived.push(happened),
                ToldKind::Overturned => self.contradictions.push(happened),
            }
        }
    }
}

/// What became of a memory that was learned.
fn fate(memory: &Memory) -> &'static str {
    match (memory.at.area, memory.status) {
        (StoreArea::Archived, _) | (StoreArea::Active, Status::Archived) => "archived",
        (StoreArea::Active, Status::Candidate) => "to review",
        (StoreArea::Active, Status::Superseded) => "superseded",
        (StoreArea::Active, Status::Stale) => "stale",
        (StoreArea::Active, Status::Active) => "in use",
    }
}

/// How many memories runs made between two moments that are not there any more.
fn n_taken_back(runs: &[ToldRun], there: &[Memory], since: Timestamp, until: Timestamp) -> usize {
    let ids: BTreeSet<&str> = there.iter().map(|memory| memory.at.id.as_str()).collect();
    let is_within = |run: &&ToldRun| run.finished().is_some_and(|at| since <= at && at <= until);
    let made = runs.iter().filter(is_within).flat_map(|run| &run.made);
    let gone: BTreeSet<&str> = made.map(String::as_str).filter(|id| !ids.contains(id)).collect();
    gone.len()
}

/// The runs of a store, newest first.
fn all_runs(store: &Store) -> Result<Vec<ToldRun>, FsError> {
    let (mut runs, mut reader) = (Vec::new(), RunReader::new(store));
    for id in run::list(store)?.into_iter().take(MAX_RUNS) {
        // A run that cannot be read has nothing to tell.
        let record = reader.record(&id).ok().flatten();
        runs.extend(record.map(|record| ToldRun::of(&id, record)));
    }
    Ok(runs)
}

/// The runs without those that were undone.
fn standing(mut runs: Vec<ToldRun>) -> Vec<ToldRun> {
    // An undo that was undone itself takes nothing back.
    let mut undone: BTreeSet<RunId> = BTreeSet::new();
    for _ in 0..MAX_UNDONE_UNDOS {
        let holding = runs.iter().filter(|run| !undone.contains(&run.id));
        let now: BTreeSet<RunId> = holding.flat_map(|run| run.undoes.clone()).collect();
        if std::mem::replace(&mut undone, now.clone()) == now {
            break;
        }
    }
    runs.retain(|run| !undone.contains(&run.id));
    runs
}

/// When each memory was learned, by its id; the first run that made it says so.
fn learned_at(runs: &[ToldRun]) -> BTreeMap<&str, Timestamp> {
    let mut learned = BTreeMap::new();
    for run in runs {
        let Some(at) = run.finished() else { continue };
        // The newest run comes first, so an older one overwrites it.
        let learned_then = run.made.iter().chain(&run.summary);
        learned.extend(learned_then.map(|id| (id.as_str(), at)));
    }
    learned
}

fn stage(memory: &Memory, state: Option<&State>) -> Stage {
    let life = state.and_then(|state| state.life.as_ref());
    let of_status = Stage::of_status(memory.status);
    life.filter(|life| life.stage == Stage::Established && of_status == Stage::Validated)
        .map_or(of_status, |life| life.stage)
}

/// The Monday of the week that a moment is in.
fn week_of(when: Timestamp) -> String {
    let date = when.to_zoned(jiff::tz::TimeZone::UTC).date();
    let monday =
        date.checked_sub(jiff::Span::new().days(i64::from(date.weekday().to_monday_zero_offset())));
    monday.unwrap_or(date).to_string()
}

/// Every week between two moments, with nothing in it; of a long time the last ones.
fn weeks(since: Timestamp, until: Timestamp) -> BTreeMap<String, usize> {
    let mut weeks = BTreeMap::new();
    let mut at = until;
    while weeks.len() < MAX_WEEKS && at >= since {
        weeks.insert(week_of(at), 0);
        let Ok(before) = at.checked_sub(SignedDuration::from_hours(24 * 7)) else { break };
        at = before;
    }
    weeks.insert(week_of(since.max(at)), 0);
    weeks
}
