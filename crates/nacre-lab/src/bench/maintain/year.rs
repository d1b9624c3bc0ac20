//! Simulates a year on one store with different numbers of maintenance runs. The final state must
//! always be the same.

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use jiff::ToSpan as _;
use nacre_ops::maintain::{MaintainOptions, maintain_store};

use super::checkout;
use super::{Files, NOW, Planted, desk_of, files, plant_corpus};

const HOURS: i64 = 365 * 24;

pub(super) fn run(stay: usize, seed: u64) -> Result<bool, Box<dyn Error>> {
    let once = year(stay, seed, 1)?;
    let mut are_same = true;
    for n_runs in [5, 50] {
        let often = year(stay, seed, n_runs)?;
        let paths = once.keys().chain(often.keys().filter(|path| !once.contains_key(*path)));
        let differing: Vec<&String> =
            paths.filter(|path| once.get(*path) != often.get(*path)).collect();
        println!(
            "{n_runs} runs: {} files, {} differ from a single run",
            often.len(),
            differing.len()
        );
        differing.iter().take(super::MAX_SHOWN).for_each(|path| println!("  {path}"));
        are_same &= differing.is_empty();
    }
    Ok(are_same)
}

/// Returns the store's files after a year with this many evenly spaced runs. The last run is at the
/// end of the year.
fn year(stay: usize, seed: u64, n_runs: i64) -> Result<Files, Box<dyn Error>> {
    let dir = tempfile::tempdir()?;
    let Planted { store, owner, .. } = plant_corpus(dir.path(), stay, seed)?;
    let began = Instant::now();
    let clock = || began.elapsed();
    let remarks = nacre_ops::sync::RemarkIndex::default();
    let order = order_of(dir.path());
    for run in 1..=n_runs {
        let now = NOW.parse::<jiff::Timestamp>()?.checked_add((HOURS * run / n_runs).hours())?;
        maintain_store(&desk_of(&store, &owner, now, &clock, &remarks), &order, None, |_| {})?;
    }
    println!("{n_runs} runs from {NOW}: {:.1} s", began.elapsed().as_secs_f64());
    Ok(files(&store)?.into_iter().map(without_times).collect())
}

fn order_of(repository: &Path) -> MaintainOptions {
    MaintainOptions { checkout: Some(checkout::open(repository)), force: false }
}

fn without_times((path, bytes): (String, Vec<u8>)) -> (String, Vec<u8>) {
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with("updated:")).collect();
    (path, lines.join("\n").into_bytes())
}
