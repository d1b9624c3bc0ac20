//! A writer process for `hammer`: adds, updates, archives and restores memories, and records what
//! it did.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use jiff::Timestamp;
use nacre_base::fs::FsError;
use nacre_memory::{
    Claim, Draft, LearningKind, MemoryError, MemoryId, Quote, Revision, Speaker, Store, Trust,
};
use serde_json::json;

use crate::AnyError;
use crate::rng::Rng;
use crate::torture::sandbox::{NOW, open_store, owner};
use crate::torture::tally::Tally;

/// Maximum time to wait for the lock.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);
/// Title of the memory whose counter all workers increment. The memory's ID is derived from the
/// title.
pub(crate) const COUNTER_TITLE: &str = "Shared counter";
pub(crate) const COUNTER_ID: &str = "20261115-shared-counter";

/// A small number of titles, so that workers often compete for the same ID.
const TITLES: [&str; 40] = [
    "Use SQLite",
    "use sqlite!",
    "Use  SQLite",
    "USE SQLITE",
    "使用 SQLite",
    "Прощай, Redis",
    "A",
    "B",
    "C",
    "D",
    "E",
    "F",
    "G",
    "H",
    "I",
    "J",
    "K",
    "L",
    "M",
    "N",
    "O",
    "P",
    "Q",
    "R",
    "S",
    "T",
    "U",
    "V",
    "W",
    "X",
    "Y",
    "Z",
    "con",
    "nul",
    "Naïve",
    "naive",
    "Straße",
    "Strasse",
    "x 2",
    "x-2",
];

#[derive(Debug, Args)]
pub(crate) struct WorkerArgs {
    dir: PathBuf,
    /// File to write the record to at the end
    record: PathBuf,
    #[arg(long, default_value_t = 5000)]
    millis: u64,
    /// Only add this many memories, all with the same title
    #[arg(long)]
    adds: Option<u64>,
}

#[derive(Debug, Default)]
struct Record {
    added: Vec<String>,
    increments: u64,
    archived: u64,
    restored: u64,
    conflicts: u64,
    busy: u64,
    errors: Vec<String>,
    max_wait: Duration,
}

pub(crate) fn run(seed: u64, args: &WorkerArgs) -> Result<Tally, AnyError> {
    let store = open_store(&args.dir)?;
    let now: Timestamp = NOW.parse()?;
    let mut worker =
        Worker { store, now, rng: Rng::new(seed), record: Record::default(), mine: Vec::new() };
    let started = Instant::now();
    match args.adds {
        Some(n) => (0..n).for_each(|_| worker.add("One title for all")),
        None => {
            while started.elapsed() < Duration::from_millis(args.millis) {
                worker.act();
            }
        }
    }
    let Record { added, increments, archived, restored, conflicts, busy, errors, max_wait } =
        worker.record;
    let record = json!({
        "added": added, "increments": increments, "archived": archived, "restored": restored,
        "conflicts": conflicts, "busy": busy, "errors": errors,
        "max_wait_ms": u64::try_from(max_wait.as_millis()).unwrap_or(u64::MAX),
    });
    std::fs::write(&args.record, serde_json::to_vec(&record)?)?;
    Ok(Tally::new("hammer-worker"))
}

struct Worker {
    store: Store,
    now: Timestamp,
    rng: Rng,
    record: Record,
    mine: Vec<(MemoryId, bool)>,
}

impl Worker {
    fn act(&mut self) {
        match self.rng.below(10) {
            0..3 => {
                let title = *self.rng.pick(&TITLES);
                self.add(title);
            }
            3..8 => self.count_up(),
            _ => self.shelve(),
        }
    }

    fn add(&mut self, title: &str) {
        let draft = draft(title, "Said by one of many.");
        let result = self.in_batch(|batch, now| batch.add(&draft, now));
        if let Some(id) = self.note_result(result) {
            self.record.added.push(id.to_string());
            self.mine.push((id, false));
        }
    }

    fn count_up(&mut self) {
        loop {
            let store = &self.store;
            let result = in_batch(store, self.now, &mut self.record.max_wait, |batch, now| {
                let count = count_in(store.get(COUNTER_ID)?.document.body());
                let body = Some(format!("count {}", count + 1));
                batch.update(COUNTER_ID, &Revision { body, ..Revision::default() }, now)
            });
            if let Err(MemoryError::Fs(FsError::Conflict { .. })) = result {
                self.record.conflicts += 1;
                continue;
            }
            if self.note_result(result).is_some() {
                self.record.increments += 1;
            }
            return;
        }
    }

    fn shelve(&mut self) {
        if self.mine.is_empty() {
            return;
        }
        let idx = self.rng.index(self.mine.len());
        let (id, is_archived) = self.mine[idx].clone();
        let result = self.in_batch(|batch, now| match is_archived {
            true => batch.restore(id.as_str(), now),
            false => batch.archive(id.as_str(), now),
        });
        if self.note_result(result).is_some() {
            self.mine[idx].1 = !is_archived;
            let counter =
                if is_archived { &mut self.record.restored } else { &mut self.record.archived };
            *counter += 1;
        }
    }

    fn in_batch<T>(
        &mut self,
        stage: impl FnOnce(&mut nacre_memory::Batch<'_>, Timestamp) -> Result<T, MemoryError>,
    ) -> Result<T, MemoryError> {
        in_batch(&self.store, self.now, &mut self.record.max_wait, stage)
    }

    fn note_result<T>(&mut self, result: Result<T, MemoryError>) -> Option<T> {
        match result {
            Ok(done) => return Some(done),
            Err(MemoryError::Fs(FsError::Busy { .. })) => self.record.busy += 1,
            Err(error) => self.record.errors.push(error.to_string()),
        }
        None
    }
}

fn in_batch<T>(
    store: &Store,
    now: Timestamp,
    max_wait: &mut Duration,
    stage: impl FnOnce(&mut nacre_memory::Batch<'_>, Timestamp) -> Result<T, MemoryError>,
) -> Result<T, MemoryError> {
    let asked = Instant::now();
    let mut batch = store.begin(&owner("hammer"), PATIENCE)?;
    *max_wait = (*max_wait).max(asked.elapsed());
    let done = stage(&mut batch, now)?;
    batch.commit()?;
    Ok(done)
}

pub(crate) fn draft(title: &str, body: &str) -> Draft {
    Draft {
        claim: Claim::Learning(LearningKind::Insight),
        title: title.to_owned(),
        body: body.to_owned(),
        tags: vec!["torture".to_owned()],
        applies: Vec::new(),
        related: Vec::new(),
        source: "human".to_owned(),
        confidence: 0.5,
        basis: None,
        importance: None,
        quotes: vec![Quote {
            text: title.to_owned(),
            speaker: Speaker::Human,
            place: "torture".to_owned(),
            at: NOW.to_owned(),
        }],
        limit: Trust::Human,
    }
}

pub(crate) fn count_in(body: &str) -> u64 {
    body.trim().strip_prefix("count ").and_then(|count| count.parse().ok()).unwrap_or(0)
}
