//! Runs many processes that write to one store. No update may be lost, no ID may be used twice, and
//! no writer may be rejected.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::Instant;

use nacre_memory::Store;
use serde_json::Value;

use crate::AnyError;
use crate::torture::hammer_worker::{COUNTER_ID, COUNTER_TITLE, PATIENCE, count_in, draft};
use crate::torture::sandbox::{self, NOW, Place};
use crate::torture::tally::Tally;

const N_ADDERS: usize = 8;
const ADDS_EACH: u64 = 40;

pub(crate) fn run(nacre: &Path, seed: u64, writers: usize, secs: u64) -> Result<Tally, AnyError> {
    println!("hammer: {writers} writers for {secs} s, seed {seed}");
    let mut tally = Tally::new("hammer");
    let started = Instant::now();
    let dir = sandbox::scratch("hammer")?;
    let place = Place::new(dir.path(), nacre);
    place.make()?;
    place.must(&["init"])?;
    let store = sandbox::open_store(&place.repo())?;
    let mut batch = store.begin(&sandbox::owner("hammer"), PATIENCE)?;
    batch.add(&draft(COUNTER_TITLE, "count 0"), NOW.parse()?)?;
    batch.commit()?;

    let mixed = ["--millis", &(secs * 1000).to_string()].map(str::to_owned);
    let records = run_workers(&place, seed, writers, &mixed)?;
    check(&store, &records, &mut tally)?;
    let sum = |key: &str| records.iter().filter_map(|record| record[key].as_u64()).sum::<u64>();
    let n_added: usize = records.iter().map(|record| ids(record).len()).sum();
    let max_wait = records.iter().filter_map(|record| record["max_wait_ms"].as_u64()).max();
    let summary = format!(
        "{} increments, {n_added} added, {} archived, {} restored, {} conflicts, longest wait {} ms",
        sum("increments"),
        sum("archived"),
        sum("restored"),
        sum("conflicts"),
        max_wait.unwrap_or(0)
    );
    let counts: Vec<u64> =
        records.iter().filter_map(|record| record["increments"].as_u64()).collect();
    println!("hammer: increments by writer {counts:?}");

    let adding = ["--adds", &ADDS_EACH.to_string()].map(str::to_owned);
    let adders = run_workers(&place, seed + 1, N_ADDERS, &adding)?;
    check_ids(&store, &adders, &mut tally)?;
    let unique: BTreeSet<String> = adders.iter().flat_map(ids).collect();
    if unique.len() as u64 != N_ADDERS as u64 * ADDS_EACH {
        tally.bad(&format!("{N_ADDERS} adders created {} IDs", unique.len()));
    }
    for finding in sandbox::doctor(&place)? {
        tally.bad(&format!("doctor: {}: {}", finding.path, finding.message));
    }
    tally.end(&format!(
        "{writers} writers: {summary}; {N_ADDERS} adders: {} unique IDs, {:.0} s",
        unique.len(),
        started.elapsed().as_secs_f64()
    ));
    sandbox::keep_if_bad(dir, tally.is_clean());
    Ok(tally)
}

fn run_workers(
    place: &Place,
    seed: u64,
    n_workers: usize,
    args: &[String],
) -> Result<Vec<Value>, AnyError> {
    let records = place.repo().with_file_name("records");
    let _ = fs::remove_dir_all(&records);
    fs::create_dir_all(&records)?;
    let mut children = Vec::new();
    for idx in 0..n_workers {
        let mut command = sandbox::this_program()?;
        command.args(["--seed", &(seed * 1000 + idx as u64).to_string(), "hammer-worker"]);
        command.arg(place.repo()).arg(records.join(idx.to_string())).args(args);
        children.push(command.stdout(Stdio::inherit()).spawn()?);
    }
    for mut child in children {
        if !child.wait()?.success() {
            return Err("a writer failed".into());
        }
    }
    let read = |idx: usize| -> Result<Value, AnyError> {
        Ok(serde_json::from_slice(&fs::read(records.join(idx.to_string()))?)?)
    };
    (0..n_workers).map(read).collect()
}

fn check(store: &Store, records: &[Value], tally: &mut Tally) -> Result<(), AnyError> {
    let expected: u64 = records.iter().filter_map(|record| record["increments"].as_u64()).sum();
    let counted = count_in(store.get(COUNTER_ID)?.document.body());
    if counted != expected {
        tally.bad(&format!("the counter is {counted} after {expected} increments"));
    }
    check_ids(store, records, tally)
}

fn check_ids(store: &Store, records: &[Value], tally: &mut Tally) -> Result<(), AnyError> {
    for record in records {
        if record["busy"] != 0 {
            tally.bad(&format!("{} writes rejected as busy", record["busy"]));
        }
        for error in record["errors"].as_array().into_iter().flatten() {
            tally.bad(&format!("error: {error}"));
        }
    }
    let listing = store.list(|_| true)?;
    for broken in &listing.broken {
        tally.bad(&format!("{}: {broken}", broken.path));
    }
    let mut stored = BTreeMap::<String, u64>::new();
    for memory in &listing.memories {
        *stored.entry(memory.at.id.to_string()).or_default() += 1;
    }
    let mut reported = BTreeSet::new();
    for id in records.iter().flat_map(ids) {
        if stored.get(&id) != Some(&1) {
            tally.bad(&format!("{id} occurs {:?} times", stored.get(&id)));
        }
        if !reported.insert(id.clone()) {
            tally.bad(&format!("{id} was given to two writers"));
        }
    }
    Ok(())
}

fn ids(record: &Value) -> Vec<String> {
    let added = record["added"].as_array().into_iter().flatten();
    added.filter_map(|id| id.as_str().map(str::to_owned)).collect()
}
