//! Kills a committing process with SIGKILL at random times. Sometimes it also kills the next
//! process during recovery.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use nacre_base::ContentHash;
use nacre_base::fs::{Access, Seal, WriteScope};

use crate::AnyError;
use crate::rng::Rng;
use crate::torture::kill9_worker::{ATOMIC_FILE, LEDGER_SHARD, Line, is_whole};
use crate::torture::sandbox;
use crate::torture::tally::Tally;
use crate::torture::tree;

pub(crate) fn run(seed: u64, n_kills: u64) -> Result<Tally, AnyError> {
    println!("kill9: {n_kills} kills, seed {seed}");
    let dir = sandbox::scratch("kill9")?;
    let mut tally = Tally::new("kill9");
    let mut rng = Rng::new(seed);
    let mut driver = Driver::new(dir.path());
    let started = Instant::now();
    let start_up = driver.measure_start_up(seed)?;
    let mut n = 0;
    while n < n_kills {
        let delay = start_up + Duration::from_micros(rng.below(200_000));
        driver.kill_one(seed ^ rng.next(), delay, &mut tally)?;
        n += 1;
        // The next worker recovers the interrupted change and is killed while it does so.
        while n < n_kills && rng.chance(35) {
            let micros = u64::try_from(start_up.as_micros()).unwrap_or(u64::MAX);
            let delay = Duration::from_micros(rng.below(micros * 5 / 4));
            driver.kill_one(seed ^ rng.next(), delay, &mut tally)?;
            n += 1;
        }
        driver.check(&mut tally)?;
        if tally.n_bad() > 20 {
            break;
        }
    }
    let Driver { n_early, recoveries, next, model, .. } = driver;
    println!("kill9: recoveries seen {recoveries:?}");
    tally.end(&format!(
        "{n} kills ({n_early} before the worker was ready), {next} sets committed, {} files alive, {:.0} s",
        model.len(),
        started.elapsed().as_secs_f64()
    ));
    sandbox::keep_if_bad(dir, tally.is_clean());
    Ok(tally)
}

struct Driver {
    dir: PathBuf,
    model: BTreeMap<String, String>,
    next: u64,
    /// The most recent set that a worker reported as committed.
    told: Option<u64>,
    n_early: u64,
    recoveries: BTreeMap<String, u64>,
}

impl Driver {
    fn new(dir: &Path) -> Self {
        Self {
            dir: dir.to_owned(),
            model: BTreeMap::new(),
            next: 0,
            told: None,
            n_early: 0,
            recoveries: BTreeMap::new(),
        }
    }

    fn measure_start_up(&mut self, seed: u64) -> Result<Duration, AnyError> {
        let mut times = Vec::new();
        for idx in 0..7 {
            let started = Instant::now();
            let mut child = self.spawn(seed + idx)?;
            let out = child.stdout.take().ok_or("no output")?;
            for line in BufReader::new(out).lines() {
                if line?.starts_with("ready") {
                    break;
                }
            }
            times.push(started.elapsed());
            child.kill()?;
            child.wait()?;
        }
        times.sort();
        Ok(times[times.len() / 2])
    }

    fn spawn(&self, seed: u64) -> Result<std::process::Child, AnyError> {
        let mut command = sandbox::this_program()?;
        command.args(["--seed", &seed.to_string(), "kill9-worker"]).arg(&self.dir);
        Ok(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?)
    }

    fn kill_one(&mut self, seed: u64, delay: Duration, tally: &mut Tally) -> Result<(), AnyError> {
        let mut child = self.spawn(seed)?;
        let out = child.stdout.take().ok_or("no output")?;
        let reader = thread::spawn(move || {
            BufReader::new(out).lines().map_while(Result::ok).collect::<Vec<String>>()
        });
        thread::sleep(delay);
        if child.try_wait()?.is_some() {
            let output = child.wait_with_output()?;
            let stderr = String::from_utf8_lossy(&output.stderr);
            tally.bad(&format!("the worker exited unexpectedly: {} {stderr}", output.status));
            return Ok(());
        }
        child.kill()?;
        child.wait()?;
        let lines = reader.join().map_err(|_| "the reader failed")?;
        match lines.iter().find_map(|line| line.strip_prefix("ready ")) {
            Some(recovery) => *self.recoveries.entry(kind_of(recovery)).or_default() += 1,
            None => self.n_early += 1,
        }
        let told = lines.iter().filter_map(|line| line.strip_prefix("set ")?.parse().ok()).max();
        self.told = self.told.max(told);
        Ok(())
    }

    fn check(&mut self, tally: &mut Tally) -> Result<(), AnyError> {
        let scope =
            WriteScope::open(&self.dir, Access::Shared)?.with_seal(Seal::from_directory(&self.dir));
        let writer = scope.lock(&sandbox::owner("kill9 check"), Duration::from_secs(10))?;
        let recovery = format!("{:?}", writer.recovery());
        *self.recoveries.entry(format!("{} (checker)", kind_of(&recovery))).or_default() += 1;
        drop(writer);
        self.read_ledger(tally)?;
        if self.told.is_some_and(|told| told >= self.next) {
            tally.bad(&format!("set {:?} was reported but is not in the ledger", self.told));
        }
        self.check_files(tally)?;
        self.check_rest(tally)
    }

    fn read_ledger(&mut self, tally: &mut Tally) -> Result<(), AnyError> {
        loop {
            let shard = self.next / LEDGER_SHARD;
            let file = self.dir.join(format!("ledger/{shard}/{}.json", self.next));
            let Ok(bytes) = fs::read(&file) else { break };
            let Ok(line) = serde_json::from_slice::<Line>(&bytes) else {
                tally.bad(&format!("torn ledger line {}", self.next));
                break;
            };
            for (path, hash) in line {
                match hash {
                    Some(hash) => self.model.insert(path, hash),
                    None => self.model.remove(&path),
                };
            }
            self.next += 1;
        }
        let ledger = tree::read(&self.dir.join("ledger"), |_| false)?;
        let n_lines = ledger.keys().filter(|path| path.ends_with(".json")).count() as u64;
        if n_lines != self.next {
            tally.bad(&format!("the ledger has {n_lines} lines but ends at {}", self.next));
        }
        Ok(())
    }

    fn check_files(&self, tally: &mut Tally) -> Result<(), AnyError> {
        let files = tree::read(&self.dir.join("files"), |_| false)?;
        let found: BTreeMap<String, &Vec<u8>> = files
            .iter()
            .filter(|(path, _)| !path.ends_with('/'))
            .map(|(path, bytes)| (format!("files/{path}"), bytes))
            .collect();
        for (path, bytes) in &found {
            if !is_whole(bytes) {
                tally.bad(&format!("torn file {path}"));
            } else if self.model.get(path) != Some(&ContentHash::of(bytes).to_string()) {
                tally.bad(&format!("{path} does not match the ledger"));
            }
        }
        let found: BTreeSet<&String> = found.keys().collect();
        for path in self.model.keys().filter(|path| !found.contains(path)) {
            tally.bad(&format!("{path} is missing"));
        }
        Ok(())
    }

    fn check_rest(&self, tally: &mut Tally) -> Result<(), AnyError> {
        let is_left_out = |path: &str| path.starts_with("files") || path.starts_with("ledger");
        for (path, bytes) in tree::read(&self.dir, is_left_out)? {
            let is_fine = match path.as_str() {
                "journal/" | "journal/lock" | "journal/key" => true,
                ATOMIC_FILE => is_whole(&bytes),
                _ => false,
            };
            if !is_fine {
                tally.bad(&format!("leftover or torn {path}"));
            }
        }
        Ok(())
    }
}

fn kind_of(recovery: &str) -> String {
    recovery.split([' ', '{']).next().unwrap_or_default().to_owned()
}
