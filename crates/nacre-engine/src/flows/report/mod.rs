//! What a store learned, merged, put away and used, in numbers: for a person who wants to know what it is worth.
//!
//! Memories tell what there is and how often it was used; the folders of runs tell what was done. A run that was undone did
//! nothing.

mod html;
mod page;
mod plot;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};
use nacre_core::memory::{
    Memory, MemoryError, MemoryId, MemoryType, Shelf, Stage, State, Status, Store, Vitals,
};
use nacre_core::safefs::FsError;
use serde::Serialize;
use serde_json::Value;

pub use self::page::page;
use super::run::{self, RunId, RunMode};

/// More runs, actions of one, and bytes of what it tells are not looked at.
const MAX_RUNS: usize = 1000;
const MAX_ACTIONS: usize = 1000;
const MAX_REPORT_BYTES: u64 = 4 << 20;
const MAX_TEXT_BYTES: usize = 2000;

/// What a report takes of an action.
const ACTION_KEYS: &[&str] = &["action", "target", "with", "supersedes", "title", "reason"];

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
    let listing = store.list(|_| true)?;
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
        let mut reports = Vec::new();
        for id in run::list(store)?.into_iter().take(MAX_RUNS) {
            // A run that cannot be read has nothing to tell.
            let told = run::artifact_within(store, &id, id.actions_file(), MAX_REPORT_BYTES);
            reports.push((id, told.ok().flatten().map(slim).unwrap_or_default()));
        }
        let undone: BTreeSet<String> = reports
            .iter()
            .filter(|(id, _)| id.is_of(RunMode::Undo))
            .filter_map(|(_, told)| told["of"].as_str().map(str::to_owned))
            .collect();
        let is_within = |told: &Value| {
            let at = told["finished_at"].as_str().and_then(|at| at.parse::<Timestamp>().ok());
            at.is_some_and(|at| self.since <= at && at <= self.until)
        };
        let counted: Vec<_> = reports
            .iter()
            .filter(|(id, told)| !undone.contains(id.as_str()) && is_within(told))
            .collect();
        let last = counted.iter().find(|(id, _)| id.is_of(RunMode::Maintain));
        let open = last.and_then(|(_, told)| told["contradictions"].as_array());
        self.open_contradictions = open.map_or(0, Vec::len);
        for (id, told) in counted {
            for action in told["actions"].as_array().into_iter().flatten() {
                self.happen(id, action);
            }
        }
        Ok(())
    }

    fn happen(&mut self, run: &RunId, action: &Value) {
        let text = |key: &str| action[key].as_str().map(str::to_owned);
        let happened = Happened {
            run: run.clone(),
            target: text("target").unwrap_or_default(),
            with: text("with").or_else(|| text("supersedes")),
            title: text("title").unwrap_or_default(),
            reason: text("reason").unwrap_or_default(),
        };
        match action["action"].as_str() {
            Some("merge" | "consolidate") => self.merged.push(happened),
            Some("archive") => self.archived.push(happened),
            Some("supersede") => self.contradictions.push(happened),
            Some(_) | None => {}
        }
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

/// Of what a run says of itself, what a report tells: a folder of a run may be a stranger's.
fn slim(mut told: Value) -> Value {
    let short = |value: &Value| {
        let text = value.as_str()?;
        Some(Value::from(&text[..text.floor_char_boundary(MAX_TEXT_BYTES)]))
    };
    let actions = told
        .get_mut("actions")
        .and_then(Value::as_array_mut)
        .map(std::mem::take)
        .unwrap_or_default();
    let actions = actions.iter().filter(|action| action.is_object()).take(MAX_ACTIONS);
    let actions: Vec<Value> = actions
        .map(|action| {
            let kept = ACTION_KEYS
                .iter()
                .filter_map(|key| Some(((*key).to_owned(), short(&action[*key])?)));
            Value::Object(kept.collect())
        })
        .collect();
    let n_open = told["contradictions"].as_array().map_or(0, Vec::len).min(MAX_ACTIONS);
    let mut slim = serde_json::Map::new();
    for key in ["of", "finished_at"] {
        slim.extend(short(&told[key]).map(|text| (key.to_owned(), text)));
    }
    slim.insert("actions".to_owned(), Value::Array(actions));
    slim.insert("contradictions".to_owned(), Value::Array(vec![Value::Null; n_open]));
    Value::Object(slim)
}
