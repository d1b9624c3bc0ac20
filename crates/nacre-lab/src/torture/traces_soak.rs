//! Changes thousands of traces while syncs and job holders are killed.
//!
//! At all times, every known session has exactly one state, and a reason if that state requires
//! one.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use nacre_traces::catalog::{Catalog, ClaimOrder, JobQueue as _, Outcome};

use crate::AnyError;
use crate::rng::Rng;
use crate::torture::sandbox;
use crate::torture::tally::Tally;
use crate::torture::traces::{self, Reader};
use crate::torture::traces_kill9::{LEASE, kill_holder};

pub(crate) fn run(
    nacre: &Path,
    seed: u64,
    n_traces: usize,
    n_steps: u64,
) -> Result<Tally, AnyError> {
    println!("traces-soak: {n_traces} traces, {n_steps} steps, seed {seed}");
    let dir = sandbox::memory_scratch("traces-soak")?;
    let mut tally = Tally::new("traces-soak");
    let started = Instant::now();
    let folder = dir.path().join("traces");
    let mut rng = Rng::new(seed);
    let reader = Reader::new(&dir.path().join("home"), nacre, &folder_made(&folder)?)?;
    let mut soak = Soak {
        reader,
        folder,
        traces: BTreeMap::new(),
        checks: 0,
        beside: 0,
        killed: 0,
        ran: BTreeMap::new(),
    };
    for step in 0..n_steps {
        let n_new = n_traces.div_ceil(usize::try_from(n_steps).unwrap_or(1));
        for idx in 0..n_new {
            soak.create(&format!("s{step:04}-{idx:04}"), &mut rng)?;
        }
        for _ in 0..n_traces / 20 {
            soak.disturb(&mut rng)?;
        }
        soak.act(&mut rng, &mut tally)?;
        soak.check(&mut tally);
        if step % 4 == 3 {
            soak.settle(&mut tally)?;
        }
        if tally.n_bad() > 20 {
            break;
        }
    }
    soak.settle(&mut tally)?;
    tally.end(&format!(
        "{} traces, {n_steps} steps {:?}, {} checks and {} more during a sync, {} kills, {:.0} s",
        soak.traces.len(),
        soak.ran,
        soak.checks,
        soak.beside,
        soak.killed,
        started.elapsed().as_secs_f64()
    ));
    sandbox::keep_if_bad(dir, tally.is_clean());
    Ok(tally)
}

fn folder_made(folder: &Path) -> Result<PathBuf, AnyError> {
    fs::create_dir_all(folder)?;
    Ok(folder.to_owned())
}

#[derive(Clone, Debug, Default)]
struct Written {
    n_said: u64,
    /// The second half of a line whose first half is already on disk.
    torn: Option<Vec<u8>>,
    is_there: bool,
}

struct Soak {
    reader: Reader,
    folder: PathBuf,
    traces: BTreeMap<String, Written>,
    checks: u64,
    beside: u64,
    killed: u64,
    ran: BTreeMap<&'static str, u64>,
}

impl Soak {
    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.jsonl"))
    }

    fn create(&mut self, name: &str, rng: &mut Rng) -> Result<(), AnyError> {
        self.clear(name)?;
        let mut text = traces::header(name, &self.reader.place.repo());
        let n_said = rng.below(6);
        (0..n_said).for_each(|_| text.push_str(&traces::said(rng)));
        fs::write(self.path(name), text)?;
        self.traces.insert(name.to_owned(), Written { n_said, torn: None, is_there: true });
        Ok(())
    }

    fn clear(&self, name: &str) -> Result<(), AnyError> {
        let path = self.path(name);
        match fs::symlink_metadata(&path) {
            Ok(found) if found.is_dir() => fs::remove_dir(path)?,
            Ok(_) => fs::remove_file(path)?,
            Err(_) => {}
        }
        Ok(())
    }

    fn disturb(&mut self, rng: &mut Rng) -> Result<(), AnyError> {
        let names: Vec<&String> = self.traces.keys().collect();
        let name = (*rng.pick(&names)).clone();
        if !self.traces[&name].is_there {
            return if rng.chance(30) { self.create(&name, rng) } else { Ok(()) };
        }
        match rng.below(14) {
            0..6 => self.append(&name, traces::said(rng).as_bytes(), 1),
            6 => self.tear(&name, rng),
            7 => {
                let line = traces::said(rng).into_bytes();
                let bytes: Vec<u8> =
                    line.into_iter().map(|byte| if byte == b'k' { 0xff } else { byte }).collect();
                self.append(&name, &bytes, 1)
            }
            8 => self.append(&name, b"{\"type\":\"user\" this is no JSON}\n", 0),
            9 => self.create(&name, rng),
            10 => self.remove(&name, |_| Ok(())),
            11 => self.remove(&name, |path| fs::create_dir(path)),
            12 => self.remove(&name, |path| symlink(path, path)),
            _ => self.append(&name, &[0; 64], 0),
        }
    }

    fn append(&mut self, name: &str, bytes: &[u8], n_said: u64) -> Result<(), AnyError> {
        let path = self.path(name);
        let Some(written) = self.traces.get_mut(name) else { return Ok(()) };
        let mut file = fs::OpenOptions::new().append(true).open(path)?;
        if let Some(rest) = written.torn.take() {
            file.write_all(&rest)?;
            written.n_said += 1;
        }
        file.write_all(bytes)?;
        written.n_said += n_said;
        Ok(())
    }

    fn tear(&mut self, name: &str, rng: &mut Rng) -> Result<(), AnyError> {
        let line = traces::said(rng).into_bytes();
        let at = 1 + rng.index(line.len() - 3);
        self.append(name, &line[..at], 0)?;
        if let Some(written) = self.traces.get_mut(name) {
            written.torn = Some(line[at..].to_vec());
        }
        Ok(())
    }

    fn remove(
        &mut self,
        name: &str,
        replace: impl Fn(&Path) -> std::io::Result<()>,
    ) -> Result<(), AnyError> {
        self.clear(name)?;
        replace(&self.path(name))?;
        if let Some(written) = self.traces.get_mut(name) {
            *written = Written::default();
        }
        Ok(())
    }

    fn act(&mut self, rng: &mut Rng, tally: &mut Tally) -> Result<(), AnyError> {
        self.reader.now += 30;
        let what = match rng.below(10) {
            0..3 => {
                let mut child = self.reader.spawn_sync(&[])?;
                thread::sleep(Duration::from_micros(rng.below(1_500_000)));
                child.kill()?;
                child.wait()?;
                self.killed += 1;
                "killed sync"
            }
            3..5 => {
                let mut child = self.reader.spawn_sync(&[])?;
                while child.try_wait()?.is_none() {
                    self.beside += 1;
                    if let Err(bad) = self.reader.n_seen() {
                        tally.bad_of("beside a sync:", &bad);
                    }
                }
                "watched sync"
            }
            5 => {
                let children =
                    [self.reader.spawn_sync(&[])?, self.reader.spawn_sync(&["--ignore-lock"])?];
                for mut child in children {
                    let code = child.wait()?.code();
                    if !matches!(code, Some(0 | 3 | 4)) {
                        tally.bad(&format!(
                            "a sync running next to another one exited with {code:?}"
                        ));
                    }
                }
                "two syncs"
            }
            6..8 => self.work(rng)?,
            8 => {
                self.reader.must(&["queue", "--retry", "all"])?;
                "retry"
            }
            _ => {
                self.skip_one(rng)?;
                "skip"
            }
        };
        *self.ran.entry(what).or_default() += 1;
        Ok(())
    }

    fn work(&mut self, rng: &mut Rng) -> Result<&'static str, AnyError> {
        if !self.reader.catalog().is_file() {
            return Ok("no work");
        }
        if kill_holder(&self.reader.catalog(), self.reader.now)?.is_some() {
            self.killed += 1;
            self.reader.now += 61;
        }
        let mut catalog = Catalog::open(&self.reader.catalog())?;
        for _ in 0..20 {
            let now = Timestamp::from_second(self.reader.now + 10_000_000)?;
            let Some(claim) = catalog.claim("worker", now, LEASE, ClaimOrder::OldestFirst)? else {
                break;
            };
            let outcome = match rng.below(4) {
                0 => Outcome::Empty { reason: "nothing in it".to_owned() },
                1 => Outcome::Failed { reason: "no answer".to_owned() },
                2 => Outcome::Released,
                _ => Outcome::Done { run: "run".to_owned() },
            };
            catalog.finish(&claim, &outcome, now)?;
        }
        Ok("work")
    }

    fn skip_one(&mut self, rng: &mut Rng) -> Result<(), AnyError> {
        let queue = self.reader.json(&["queue", "--status", "pending", "-n", "50"])?;
        let jobs = queue["jobs"].as_array().cloned().unwrap_or_default();
        if !jobs.is_empty() {
            let key = rng.pick(&jobs)["id"].as_str().unwrap_or_default().to_owned();
            self.reader.must(&["queue", "--skip", &key])?;
        }
        Ok(())
    }

    fn check(&mut self, tally: &mut Tally) {
        self.checks += 1;
        let queue = match (self.reader.n_seen(), self.reader.json(&["queue", "-n", "0"])) {
            (Ok(n_seen), Ok(queue)) => {
                let n_jobs = queue["jobs"].as_array().map_or(0, |jobs| jobs.len() as u64);
                if n_jobs != n_seen {
                    tally.bad(&format!("{n_seen} sessions and {n_jobs} jobs"));
                }
                queue
            }
            (Err(bad), _) => return tally.bad_of("status:", &bad),
            (_, Err(error)) => return tally.bad_of("queue:", &error.to_string()),
        };
        for job in queue["jobs"].as_array().into_iter().flatten() {
            let state = job["state"].as_str().unwrap_or_default();
            let wants_reason = matches!(state, "empty" | "skipped" | "dead");
            if wants_reason && job["reason"].as_str().is_none_or(str::is_empty) {
                tally.bad_of("a state without its reason:", &job.to_string());
            }
        }
    }

    fn settle(&mut self, tally: &mut Tally) -> Result<(), AnyError> {
        self.reader.now += 30;
        let code = self.reader.run(&["sync", "--no-extract"])?.status.code();
        if !matches!(code, Some(0 | 3)) {
            tally.bad(&format!("a sync running alone exited with {code:?}"));
        }
        self.check(tally);
        let list = self.reader.json(&["trace", "--all", "-n", "0"])?;
        let mut known: BTreeMap<String, Vec<u64>> = BTreeMap::new();
        for session in list["sessions"].as_array().into_iter().flatten() {
            let path = session["path"].as_str().unwrap_or_default();
            let name = path.rsplit('/').next().unwrap_or_default().trim_end_matches(".jsonl");
            let n_said = session["facts"]["counts"]["user"].as_u64().unwrap_or(u64::MAX);
            known.entry(name.to_owned()).or_default().push(n_said);
        }
        for (name, written) in self.traces.iter().filter(|(_, written)| written.is_there) {
            match known.get(name).map(Vec::as_slice) {
                Some([n_said]) if *n_said == written.n_said => {}
                found => tally.bad_of(
                    "an unexpected trace state:",
                    &format!("{name} {written:?}: {found:?}"),
                ),
            }
        }
        Ok(())
    }
}
