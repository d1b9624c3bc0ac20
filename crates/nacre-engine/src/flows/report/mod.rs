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
    Memory, MemoryError, MemoryId, MemoryType, Shelf, Stage, State, Status, Store, Vitals,
};
use nacre_core::safefs::FsError;
use serde::Serialize;

pub use self::page::page;
use self::told::{ToldKind, ToldRun};
use super::record::RunReader;
use super::run::{self, RunId};

/// More runs are not looked at.
const MAX_RUNS: usize = 1000;

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
    /// By the Monday of each week.
    pub learned_by_week: BTreeMap<String, usize>,
    pub sessions: usize,
    pub merged: Vec<Happened>,
    pub archived: Vec<Happened>,
    /// Overturned by a newer one, by a sync or by a maintenance.
    pub contradictions: Vec<Happened>,
    /// Found, and left to a person.
    pub open_contradictions: usize,
    pub most_used: Vec<Listed>,
    pub never_used: Vec<Listed>,
    pub n_never_used: usize,
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
        learned_by_week: weeks(since, now),
        sessions: 0,
        merged: Vec::new(),
        archived: Vec::new(),
        contradictions: Vec::new(),
        open_contradictions: 0,
        most_used: Vec::new(),
        never_used: Vec::new(),
        n_never_used: 0,
        confidence: vec![0; 10],
        n_broken: listing.broken.len(),
    };
    for memory in &listing.memories {
        report.look_at(store, memory)?;
    }
    report.sort_lists();
    report.look_at_runs(store)?;
    Ok(report)
}

impl Report {
    fn look_at(&mut self, store: &Store, memory: &Memory) -> Result<(), MemoryError> {
        let is_new = memory.created.is_some_and(|created| created >= self.since);
        if memory.at.memory_type == MemoryType::Summary {
            self.sessions += usize::from(is_new);
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
        if is_new {
            self.learn(memory);
        }
        if memory.at.shelf == Shelf::Archived || memory.status == Status::Superseded {
            return Ok(());
        }
        let vitals = Vitals::of(memory, evidence.as_ref(), state.as_ref());
        *self.stages.entry(stage(memory, state.as_ref()).as_str()).or_default() += 1;
        let effective = vitals.effective(self.until);
        let tenth = ((effective * 10.0) as usize).min(self.confidence.len() - 1);
        self.confidence[tenth] += 1;
        self.list(memory, &vitals, state.as_ref());
        Ok(())
    }

    fn learn(&mut self, memory: &Memory) {
        let what = memory.kind.map_or(memory.at.memory_type.as_str(), |kind| kind.as_str());
        *self.learned.entry(what).or_default() += 1;
        let week = memory.created.map(week_of).unwrap_or_default();
        if let Some(n) = self.learned_by_week.get_mut(&week) {
            *n += 1;
        }
    }

    fn list(&mut self, memory: &Memory, vitals: &Vitals, state: Option<&State>) {
        let effective = vitals.effective(self.until);
        let listed = Listed {
            id: memory.at.id.clone(),
            title: memory.title.clone(),
            uses: vitals.n_uses,
            citations: state.map_or(0, |state| state.citations),
            confirmations: state.map_or(0, |state| state.confirmations),
            effective: (effective * 100.0).round() / 100.0,
        };
        let age = self.until.duration_since(vitals.last_confirmed);
        match listed.uses {
            0 if age >= YOUNG => self.never_used.push(listed),
            0 => {}
            _ => self.most_used.push(listed),
        }
    }

    fn sort_lists(&mut self) {
        self.n_never_used = self.never_used.len();
        self.most_used.sort_by(|a, b| b.uses.cmp(&a.uses).then_with(|| a.id.cmp(&b.id)));
        self.never_used
            .sort_by(|a, b| a.effective.total_cmp(&b.effective).then_with(|| a.id.cmp(&b.id)));
        self.most_used.truncate(MAX_LISTED);
        self.never_used.truncate(MAX_LISTED);
    }

    fn look_at_runs(&mut self, store: &Store) -> Result<(), FsError> {
        let (mut runs, mut reader) = (Vec::new(), RunReader::new(store));
        for id in run::list(store)?.into_iter().take(MAX_RUNS) {
            // A run that cannot be read has nothing to tell.
            let record = reader.record(&id).ok().flatten();
            runs.extend(record.map(|record| ToldRun::of(&id, record)));
        }
        let undone: BTreeSet<RunId> = runs.iter().filter_map(|run| run.undoes.clone()).collect();
        let is_within = |run: &ToldRun| {
            let at = run.finished_at.parse::<Timestamp>();
            at.is_ok_and(|at| self.since <= at && at <= self.until)
        };
        runs.retain(|run| !undone.contains(&run.id) && is_within(run));
        let last = runs.iter().find_map(|run| run.open_contradictions);
        self.open_contradictions = last.unwrap_or_default();
        for (kind, happened) in runs.into_iter().flat_map(|run| run.happened) {
            match kind {
                ToldKind::Merged => self.merged.push(happened),
                ToldKind::Archived => self.archived.push(happened),
                ToldKind::Overturned => self.contradictions.push(happened),
            }
        }
        Ok(())
    }
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
