//! Runs three workers on one queue, kills them at random and crashes their database. Each session
//! must be processed exactly once.
//!
//! Processing a session creates a file that can be created only once. If it already exists, an
//! earlier worker was killed before it could report success.

use std::error::Error;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use super::chance::Chance;
use super::server::Server;
use jiff::Timestamp;
use nacre_team::postgres::database::{Database, DatabaseOptions};
use nacre_team::postgres::queue::SharedQueue;
use nacre_traces::catalog::{
    self, CatalogError, Claim, ClaimOrder, JobQueue as _, JobState, OfferedSession, QueueFilter,
};

use crate::Outcome;

const N_WORKERS: usize = 3;
const N_PROJECTS: usize = 200;

/// Lease duration. It is short, so that if a worker is killed, another soon takes over its
/// sessions.
const LEASE: Duration = Duration::from_secs(5);

const MAX_STILL: Duration = Duration::from_secs(30);

fn session(number: usize) -> OfferedSession {
    OfferedSession {
        key: format!("session-{number:05}"),
        agent: "generic".to_owned(),
        session_id: format!("{number:05}"),
        title: None,
        project: Some(format!("/work/project-{}", number % N_PROJECTS)),
        last_activity_ms: Some(1_700_000_000_000 + number as i64 * 1000),
        grown: 1,
        state: JobState::Pending,
        reason: None,
        not_before_ms: 0,
        decided_ms: 1,
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct WorkerArgs {
    url: String,
    folder: PathBuf,
    name: String,
}

pub(super) fn work(args: &WorkerArgs) -> Outcome {
    let WorkerArgs { url, folder, name } = args;
    let database = Database::new(DatabaseOptions {
        max_connections: 2,
        connect_timeout: Duration::from_secs(2),
        call_timeout: Duration::from_secs(5),
        ..DatabaseOptions::new(url)
    })?;
    let mut chance = Chance::new(u64::from(std::process::id()));
    let mut log = std::fs::OpenOptions::new().create(true).append(true).open(folder.join(name))?;
    let mut queue = loop {
        match SharedQueue::open(&database) {
            Ok(queue) => break queue,
            Err(error) if error.is_passing() => std::thread::sleep(Duration::from_millis(100)),
            Err(error) => return Err(error.into()),
        }
    };
    loop {
        let token = format!("{name}-{}-{}", std::process::id(), chance.next());
        match queue.claim(&token, Timestamp::now(), LEASE, ClaimOrder::OldestFirst) {
            Ok(Some(claim)) => {
                std::thread::sleep(Duration::from_millis(chance.below(15) as u64));
                work_on(&mut queue, &claim, folder, &mut log)?;
            }
            Ok(None) => std::thread::sleep(Duration::from_millis(50)),
            Err(CatalogError::Shared { is_passing: true, .. }) => {
                std::thread::sleep(Duration::from_millis(100));
            }
            Err(error) => return Err(error.into()),
        }
    }
}

fn work_on(
    queue: &mut SharedQueue,
    claim: &Claim,
    folder: &Path,
    log: &mut std::fs::File,
) -> Result<(), Box<dyn Error>> {
    let effect = folder.join("effects").join(&claim.key);
    let made = std::fs::OpenOptions::new().write(true).create_new(true).open(&effect);
    let what = if made.is_ok() { "made" } else { "found" };
    let done = catalog::Outcome::Done { run: claim.lease.clone() };
    loop {
        match queue.finish(claim, &done, Timestamp::now()) {
            Ok(_) => return Ok(writeln!(log, "{what} {}", claim.key)?),
            // Another worker has the lease, or this worker finished the session but never received
            // the confirmation.
            Err(CatalogError::LeaseLost { .. }) => {
                return Ok(writeln!(log, "{what} and lost {}", claim.key)?);
            }
            Err(CatalogError::Shared { is_passing: true, .. }) => {
                std::thread::sleep(Duration::from_millis(100));
            }
            Err(error) => return Err(error.into()),
        }
    }
}

#[derive(Default)]
struct Disturbances {
    n_kills: usize,
    n_crashes: usize,
    longest_still: Duration,
}

struct Exercise {
    server: Server,
    folder: tempfile::TempDir,
    workers: Vec<Child>,
    chance: Chance,
    seen: Disturbances,
}

impl Exercise {
    fn start_worker(&self, nth: usize) -> Result<Child, Box<dyn Error>> {
        Ok(Command::new(std::env::current_exe()?)
            .args(["team", "worker", &self.server.url()])
            .arg(self.folder.path())
            .arg(format!("worker-{nth}"))
            .spawn()?)
    }

    fn disturb(&mut self) -> Result<(), Box<dyn Error>> {
        if self.chance.below(6) == 0 {
            self.server.crash();
            std::thread::sleep(Duration::from_millis(self.chance.below(1500) as u64));
            self.server.run();
            self.seen.n_crashes += 1;
            return Ok(());
        }
        let nth = self.chance.below(N_WORKERS);
        self.workers[nth].kill()?;
        self.workers[nth].wait()?;
        self.workers[nth] = self.start_worker(nth)?;
        self.seen.n_kills += 1;
        Ok(())
    }

    fn run(&mut self, n_sessions: usize) -> Result<(), Box<dyn Error>> {
        let database = self.server.connect();
        let queue = SharedQueue::open(&database)?;
        let (mut n_done, mut since) = (0, Instant::now());
        while n_done < n_sessions {
            std::thread::sleep(Duration::from_millis(200 + self.chance.below(500) as u64));
            let done = QueueFilter { state: Some(JobState::Done), ..QueueFilter::default() };
            let now_done = queue.jobs(&done).map_or(n_done, |jobs| jobs.len());
            if now_done > n_done {
                (n_done, since) = (now_done, Instant::now());
            }
            self.seen.longest_still = self.seen.longest_still.max(since.elapsed());
            if since.elapsed() > MAX_STILL {
                return Err(format!("the queue is stuck at {n_done} of {n_sessions}").into());
            }
            if n_done < n_sessions {
                self.disturb()?;
            }
        }
        Ok(())
    }

    fn check(&self, n_sessions: usize) -> Result<(), Box<dyn Error>> {
        let effects = std::fs::read_dir(self.folder.path().join("effects"))?.count();
        let counts = self.server.sql("SELECT state, count(*) FROM nacre.job GROUP BY state");
        if effects != n_sessions || counts != format!("done|{n_sessions}") {
            return Err(format!("{effects} effects for {n_sessions} sessions; {counts}").into());
        }
        let Disturbances { n_kills, n_crashes, longest_still } = &self.seen;
        let logs: String = (0..N_WORKERS)
            .filter_map(|nth| {
                std::fs::read_to_string(self.folder.path().join(format!("worker-{nth}"))).ok()
            })
            .collect();
        let n_found = logs.lines().filter(|line| line.starts_with("found")).count();
        println!("{n_sessions} sessions were each processed once by {N_WORKERS} workers");
        println!("{n_kills} workers were killed and the database crashed {n_crashes} times");
        println!("{n_found} times, a worker found work that a killed worker had completed");
        println!("longest time without a finished session: {:.1} s", longest_still.as_secs_f32());
        Ok(())
    }
}

/// Kill three workers of one queue at random, and crash their database
#[derive(Debug, clap::Args)]
pub(crate) struct WorkersArgs {
    #[arg(default_value_t = 2000)]
    sessions: usize,
    #[arg(default_value_t = 1)]
    seed: u64,
}

pub(super) fn run(args: &WorkersArgs) -> Outcome {
    let WorkersArgs { sessions: n_sessions, seed } = *args;
    let Some(server) = Server::start() else { return Ok(true) };
    let folder = tempfile::tempdir()?;
    std::fs::create_dir(folder.path().join("effects"))?;
    let sessions: Vec<OfferedSession> = (0..n_sessions).map(session).collect();
    SharedQueue::open(&server.database())?.offer(&sessions)?;
    let mut exercise = Exercise {
        server,
        folder,
        workers: Vec::new(),
        chance: Chance::new(seed),
        seen: Disturbances::default(),
    };
    for nth in 0..N_WORKERS {
        let worker = exercise.start_worker(nth)?;
        exercise.workers.push(worker);
    }
    let begun = Instant::now();
    let ran = exercise.run(n_sessions);
    for worker in &mut exercise.workers {
        worker.kill()?;
        worker.wait()?;
    }
    ran?;
    println!("after {:.1} s", begun.elapsed().as_secs_f32());
    exercise.check(n_sessions)?;
    Ok(true)
}
