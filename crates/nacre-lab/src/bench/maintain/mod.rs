//! Plants problems in a store of thousands of memories, and measures how many of them maintenance
//! finds and how long it takes.
//!
//! Exits with 1 if a result is below its required value.

mod checkout;
mod corpus;
mod frames;
mod score;
#[cfg(test)]
mod tests;
mod year;

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use nacre_base::fs::{Access, Owner, WriteScope};
use nacre_memory::{MemoryId, Rules, Store};
use nacre_ops::maintain::{MaintainOptions, maintain_store};
use nacre_ops::run::change::changes;
use nacre_ops::sync::RemarkIndex;
use nacre_ops::sync::pipeline::FlowContext;
use nacre_ops::sync::strategy::ReadingStrategy;
use nacre_ops::undo::flow::{UndoContext, undo};
use nacre_types::StoreMaintenance;

use self::corpus::{Corpus, Sizes, plant};
use self::score::Score;

use crate::Outcome;

const START: &str = "2026-06-01T00:00:00Z";
const NOW: &str = "2026-11-15T08:30:00Z";
const MIN_PRECISION: f64 = 0.98;
const MIN_RECALL: f64 = 0.85;
const MAX_SHOWN: usize = 20;

/// Plant duplicates, contradictions and stale memories in a store, run maintenance, and count what
/// it finds
#[derive(Debug, clap::Args)]
pub(crate) struct MaintainArgs {
    /// Number of memories that must stay unchanged
    #[arg(default_value_t = 4000)]
    stay: usize,
    #[arg(default_value_t = 1)]
    seed: u64,
    /// Simulate a year on the same store with 1, 5 and 50 runs, and compare the results
    #[arg(long)]
    year: bool,
}

pub(super) fn run(args: &MaintainArgs) -> Outcome {
    let MaintainArgs { stay, seed, year } = *args;
    if year { year::run(stay, seed) } else { once(stay, seed) }
}

fn once(stay: usize, seed: u64) -> Outcome {
    let dir = tempfile::tempdir()?;
    let Planted { store, corpus, owner } = plant_corpus(dir.path(), stay, seed)?;
    let before = files(&store)?;
    let began = Instant::now();
    let clock = || began.elapsed();
    let remarks = RemarkIndex::default();
    let ctx = desk_of(&store, &owner, NOW.parse()?, &clock, &remarks);
    let order = MaintainOptions { checkout: Some(checkout::open(dir.path())), force: false };
    let mut steps = Vec::new();
    let report = maintain_store(&ctx, &order, None, |step| steps.push((step, began.elapsed())))?;
    println!(
        "{} memories, {:.1} s: {steps:?}",
        corpus.purposes.len(),
        began.elapsed().as_secs_f64()
    );
    let score = Score::of(&corpus, &report);
    tell(&score);
    for id in score.missed.iter().take(MAX_SHOWN) {
        println!("  missed: {id}, partner {:?}", corpus.partners.get(id));
    }
    let n_changed = others_changed(&before, &files(&store)?, &report);
    let again =
        maintain_store(&ctx, &MaintainOptions { force: true, ..order.clone() }, None, |_| {})?;
    println!("other changed files: {n_changed}; actions in a second run: {}", again.actions.len());
    for action in again.actions.iter().take(MAX_SHOWN) {
        println!(
            "  again: {} {} {:?} {}",
            action.action, action.target, action.with, action.reason
        );
    }
    let run = report.run_id.ok_or("maintenance changed nothing")?;
    undo_run(&store, &run, &owner)?;
    let is_restored = files(&store)? == before;
    println!("undo restored every byte: {is_restored}");
    Ok(score.precision() >= MIN_PRECISION
        && score.recall() >= MIN_RECALL
        && n_changed == 0
        && is_restored)
}

fn undo_run(store: &Store, run: &str, owner: &Owner) -> Result<(), Box<dyn Error>> {
    let all = changes(store)?;
    let change = all.iter().find(|change| change.id == run).ok_or("the run is gone")?;
    let ctx = UndoContext {
        command: "undo",
        store,
        owner,
        patience: Duration::ZERO,
        now: NOW.parse()?,
        id: None,
        keep_changed: false,
        dry_run: false,
    };
    undo(&ctx, change, &all)?;
    Ok(())
}

struct Planted {
    store: Store,
    corpus: Corpus,
    owner: Owner,
}

fn plant_corpus(dir: &Path, stay: usize, seed: u64) -> Result<Planted, Box<dyn Error>> {
    let sizes = Sizes {
        stay,
        copies: stay * 3 / 40,
        paraphrases: stay * 3 / 40,
        contradictions: stay / 20,
        stale: stay / 20,
    };
    checkout::make(dir, sizes.stale)?;
    let scope = WriteScope::create_inside(dir, ".nacre", Access::Shared)?;
    let store = Store::new(scope, Rules::default());
    let owner =
        Owner { pid: std::process::id(), command: "example".to_owned(), since: String::new() };
    let mut batch = store.begin(&owner, Duration::ZERO)?;
    let corpus = plant(&mut batch, sizes, seed, START.parse()?)?;
    batch.commit()?;
    // Memories age only once they have been offered, so all of them are offered.
    let ids: Vec<MemoryId> =
        store.list(|_| true)?.memories.into_iter().map(|one| one.at.id).collect();
    let mut batch = store.begin(&owner, Duration::ZERO)?;
    batch.offer(&ids, START.parse()?)?;
    batch.commit()?;
    Ok(Planted { store, corpus, owner })
}

fn desk_of<'a>(
    store: &'a Store,
    owner: &'a Owner,
    now: Timestamp,
    clock: &'a dyn Fn() -> Duration,
    remarks: &'a RemarkIndex,
) -> FlowContext<'a> {
    FlowContext {
        store,
        owner,
        patience: Duration::ZERO,
        now,
        clock,
        lead: None,
        reader: ReadingStrategy::offline(),
        remarks,
    }
}

fn tell(score: &Score) {
    for (kind, (n_found, n_planted)) in &score.found {
        println!("{kind:>16}: {n_found} of {n_planted}");
    }
    println!(
        "precision {:.4} of {}, recall {:.4}",
        score.precision(),
        score.n_done,
        score.recall()
    );
    for wrong in score.wrong.iter().take(MAX_SHOWN) {
        println!(
            "  wrong: {} {} ({}) with {:?}: {} {:?}",
            wrong.action, wrong.target, wrong.title, wrong.with, wrong.reason, wrong.likelihood
        );
    }
}

type Files = BTreeMap<String, Vec<u8>>;

fn files(store: &Store) -> Result<Files, Box<dyn Error>> {
    let mut files = Files::new();
    for memory in store.list(|_| true)?.memories {
        let path = memory.at.path.as_str().to_owned();
        files.insert(path, memory.document.as_str().as_bytes().to_vec());
        let evidence = store.evidence(&memory.at.id)?;
        files.insert(format!("evidence {}", memory.at.id), serde_json::to_vec(&evidence)?);
    }
    Ok(files)
}

/// Counts the files that changed even though no action names their memory.
fn others_changed(before: &Files, after: &Files, report: &StoreMaintenance) -> usize {
    let named: Vec<&str> = report
        .actions
        .iter()
        .flat_map(|action| std::iter::once(&action.target).chain(&action.with))
        .map(String::as_str)
        .collect();
    let is_named = |path: &str| named.iter().any(|id| path.contains(id));
    let changed = before.iter().filter(|(path, bytes)| after.get(*path) != Some(*bytes));
    changed.filter(|(path, _)| !is_named(path)).count()
}
