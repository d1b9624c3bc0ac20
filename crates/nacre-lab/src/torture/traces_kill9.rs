//! Kills syncs and job-holding processes with SIGKILL at random times.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use nacre_traces::catalog::{
    Catalog, CatalogError, Claim, ClaimOrder, JobQueue as _, JobState, Outcome, QueueFilter,
};

use crate::AnyError;
use crate::rng::Rng;
use crate::torture::sandbox;
use crate::torture::tally::Tally;
use crate::torture::traces::{self, Reader};

/// Time after which a job can be claimed again if its holder has not renewed it.
pub(crate) const LEASE: Duration = Duration::from_secs(60);

pub(crate) fn run(
    nacre: &Path,
    seed: u64,
    n_kills: u64,
    n_traces: usize,
) -> Result<Tally, AnyError> {
    println!("traces-kill9: {n_kills} kills over {n_traces} traces, seed {seed}");
    let dir = sandbox::memory_scratch("traces-kill9")?;
    let mut tally = Tally::new("traces-kill9");
    let mut rng = Rng::new(seed);
    let started = Instant::now();
    let folder = dir.path().join("traces");
    let calm_root = dir.path().join("calm");
    // The same traces are used for all home directories. The traces' sessions all ran in the
    // repository of the home directory that is never interrupted.
    traces::fill(&folder, &calm_root.join("repo"), n_traces, &mut rng)?;
    let calm = Reader::new(&calm_root, nacre, &folder)?;
    let began = Instant::now();
    calm.must(&["sync", "--no-extract"])?;
    let usual = began.elapsed();
    let expected = traces::rows(&calm.catalog())?;
    let (mut n, mut n_rounds, mut n_late) = (0, 0, 0);
    while n < n_kills {
        let root = dir.path().join(format!("home-{n_rounds}"));
        let reader = Reader::new(&root, nacre, &folder)?;
        reader.must(&["project", "add", &calm.place.repo().display().to_string()])?;
        n_rounds += 1;
        for _ in 0..=rng.below(6) {
            let (was_running, bad) = kill_one(&reader, usual, &mut rng)?;
            n += u64::from(was_running);
            n_late += u64::from(!was_running);
            if let Some(bad) = bad {
                tally.bad_of("after a kill", &bad);
            }
        }
        let output = reader.run(&["sync", "--no-extract"])?;
        if !output.status.success() {
            tally.bad_of(
                "the sync after the kills failed:",
                &String::from_utf8_lossy(&output.stderr),
            );
        }
        compare(&expected, &traces::rows(&reader.catalog())?, &mut tally);
        std::fs::remove_dir_all(&root)?;
        if tally.n_bad() > 20 {
            break;
        }
    }
    let held = holders(&calm, &mut rng, &mut tally)?;
    tally.end(&format!(
        "{n} kills of syncs (and {n_late} that had finished) in {n_rounds} homes, {held} kills of \
         holders, {:.0} s",
        started.elapsed().as_secs_f64()
    ));
    sandbox::keep_if_bad(dir, tally.is_clean());
    Ok(tally)
}

fn kill_one(
    reader: &Reader,
    usual: Duration,
    rng: &mut Rng,
) -> Result<(bool, Option<String>), AnyError> {
    let micros = u64::try_from(usual.as_micros()).unwrap_or(u64::MAX);
    // Half of the syncs also reread what earlier syncs have already read.
    let more: &[&str] = if rng.chance(50) { &["--force"] } else { &[] };
    let mut child = reader.spawn_sync(more)?;
    thread::sleep(Duration::from_micros(rng.below(micros.max(1))));
    let was_running = child.try_wait()?.is_none();
    child.kill()?;
    child.wait()?;
    Ok((was_running, reader.n_seen().err()))
}

fn compare(expected: &[String], found: &[String], tally: &mut Tally) {
    if expected.len() != found.len() {
        tally.bad(&format!("{} rows instead of {}", found.len(), expected.len()));
    }
    if let Some((expected, found)) = expected.iter().zip(found).find(|(a, b)| a != b) {
        tally.bad_of("a row differs:", &format!("{found} instead of {expected}"));
    }
}

fn holders(reader: &Reader, rng: &mut Rng, tally: &mut Tally) -> Result<u64, AnyError> {
    let mut catalog = Catalog::open(&reader.catalog())?;
    let mut now = reader.now + 1_000_000;
    let mut n_killed = 0;
    let mut n_done: BTreeMap<String, u64> = BTreeMap::new();
    loop {
        now += 1;
        if rng.chance(25) {
            let Some(lost) = kill_holder(&reader.catalog(), now)? else { break };
            n_killed += 1;
            let moment = Timestamp::from_second(now + 59)?;
            if let Some(claim) =
                catalog.claim("too early", moment, LEASE, ClaimOrder::NewestFirst)?
            {
                tally.bad_of("the project of a running job was claimed again:", &claim.key);
            }
            now += 61;
            let late = catalog.finish(&lost, &done(), Timestamp::from_second(now)?);
            if !matches!(late, Err(CatalogError::LeaseLost { .. })) {
                tally.bad_of("an expired lease was accepted:", &format!("{late:?}"));
            }
        }
        let moment = Timestamp::from_second(now)?;
        let Some(claim) = catalog.claim("worker", moment, LEASE, ClaimOrder::NewestFirst)? else {
            break;
        };
        catalog.finish(&claim, &done(), moment)?;
        *n_done.entry(claim.key).or_default() += 1;
    }
    let n_twice = n_done.values().filter(|n| **n != 1).count();
    let jobs = catalog.jobs(&QueueFilter::default())?;
    let n_left = jobs.iter().filter(|job| job.state != JobState::Done).count();
    if n_twice > 0 || n_left > 0 || jobs.len() != n_done.len() {
        tally.bad(&format!(
            "{n_left} jobs are not done and {n_twice} were done twice, out of {}",
            jobs.len()
        ));
    }
    Ok(n_killed)
}

fn done() -> Outcome {
    Outcome::Done { run: "run".to_owned() }
}

pub(crate) fn kill_holder(catalog: &Path, now: i64) -> Result<Option<Claim>, AnyError> {
    let mut command = sandbox::this_program()?;
    command.arg("traces-worker").arg(catalog).arg(now.to_string());
    let mut child = command.stdout(Stdio::piped()).spawn()?;
    let out = child.stdout.take().ok_or("no output")?;
    let mut line = String::new();
    BufReader::new(out).read_line(&mut line)?;
    child.kill()?;
    child.wait()?;
    let key = line.trim().strip_prefix("claimed ").map(str::to_owned);
    Ok(key.map(|key| Claim { key, lease: token(now), attempts: 1, project: None }))
}

fn token(now: i64) -> String {
    format!("holder-{now}")
}

pub(crate) fn worker(catalog: &Path, now: i64) -> Result<Tally, AnyError> {
    use std::io::Write as _;

    let mut catalog = Catalog::open(catalog)?;
    let moment = Timestamp::from_second(now)?;
    let claim = catalog.claim(&token(now), moment, LEASE, ClaimOrder::NewestFirst)?;
    let said = claim.map_or_else(|| "none".to_owned(), |claim| format!("claimed {}", claim.key));
    let mut out = std::io::stdout().lock();
    writeln!(out, "{said}")?;
    out.flush()?;
    loop {
        thread::park();
    }
}
