//! Tests that the local queue and the PostgreSQL queue return the same results for random
//! operations.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{Debug, Display};
use std::io::Write as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use nacre_team::postgres::queue::SharedQueue;
use nacre_traces::catalog::{
    AllowedProjects, Catalog, Claim, ClaimOrder, Connection, JobQueue, JobState, Outcome,
    QueueFilter, RefreshOptions, WordLists,
};
use nacre_traces::transcript::Agent;

use crate::chance::Chance;
use crate::server::Server;

const LEASE: Duration = Duration::from_secs(60);

/// A directory of traces, and both queues for it.
struct World {
    folder: tempfile::TempDir,
    local: Catalog,
    /// The catalog of the server that offers sessions to the shared queue.
    seen: Catalog,
    shared: SharedQueue,
    now: Timestamp,
    n_traces: usize,
    n_said: usize,
}

impl World {
    fn new(server: &Server) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("traces")).unwrap();
        let open = |name: &str| Catalog::open(&folder.path().join(name)).unwrap();
        Self {
            local: open("local.sqlite3"),
            seen: open("seen.sqlite3"),
            shared: SharedQueue::open(&server.database()).unwrap(),
            now: Timestamp::from_second(4_000_000_000).unwrap(),
            folder,
            n_traces: 0,
            n_said: 0,
        }
    }

    fn begin_trace(&mut self, project: &str) {
        let name = format!("s{:03}", self.n_traces);
        self.n_traces += 1;
        let path = self.trace(&name);
        let head = format!(
            "{{\"type\":\"session\",\"version\":1,\"id\":\"{name}\",\"cwd\":\"{project}\"}}\n"
        );
        std::fs::write(&path, head).unwrap();
        self.say(&path);
    }

    fn say(&mut self, path: &Path) {
        self.n_said += 1;
        let (minute, second) = (self.n_said / 60 % 60, self.n_said % 60);
        let line = format!(
            "{{\"type\":\"user\",\"text\":\"word {}\",\"time\":\"2026-11-01T00:{minute:02}:{second:02}Z\"}}\n",
            self.n_said
        );
        let mut file = std::fs::OpenOptions::new().append(true).open(path).unwrap();
        file.write_all(line.as_bytes()).unwrap();
    }

    fn trace(&self, name: &str) -> PathBuf {
        self.folder.path().join("traces").join(format!("{name}.jsonl"))
    }

    fn refresh(&mut self) {
        let options = RefreshOptions {
            adopted: BTreeMap::new(),
            words: WordLists::default(),
            connections: vec![Connection {
                agent: Agent::Generic,
                roots: vec![self.folder.path().join("traces")],
            }],
            projects: ["/work/a", "/work/b", "/work/c"].map(PathBuf::from).to_vec(),
            allowed: AllowedProjects::ByPlace,
            since: None,
            until: None,
            max_sessions: None,
            force: false,
            quiet: Duration::from_secs(120),
            now: self.now,
        };
        for catalog in [&mut self.local, &mut self.seen] {
            catalog.refresh(&options, |_| ControlFlow::Continue(())).unwrap();
        }
        self.shared.offer(&self.seen.list_offered(0).unwrap()).unwrap();
    }

    /// Runs an operation on both queues, compares the results, and returns them.
    fn both<T: Debug, E: Display>(
        &mut self,
        what: &str,
        mut ask: impl FnMut(&mut dyn JobQueue) -> Result<T, E>,
    ) -> Option<T> {
        let local = ask(&mut self.local).map_err(|error| error.to_string());
        let shared = ask(&mut self.shared).map_err(|error| error.to_string());
        assert_eq!(format!("{local:?}"), format!("{shared:?}"), "{what}");
        local.ok()
    }

    fn compare(&mut self, what: &str) {
        self.both(what, |queue| queue.jobs(&QueueFilter::default()));
        self.both(what, |queue| queue.counts());
    }
}

#[test]
fn both_queues_answer_alike_whatever_happens() {
    let Some(server) = Server::start() else { return };
    for seed in 1..=4 {
        server.sql("DROP SCHEMA IF EXISTS nacre CASCADE");
        let mut world = World::new(&server);
        let mut chance = Chance::new(seed);
        let mut held: Vec<Claim> = Vec::new();
        let mut reached: BTreeMap<&str, usize> = BTreeMap::new();
        for step in 0..220 {
            let name = do_something(&mut world, &mut chance, &mut held);
            *reached.entry(name).or_default() += 1;
            world.compare(&format!("seed {seed}, step {step}: {name}"));
        }
        let states: BTreeSet<JobState> = world
            .shared
            .jobs(&QueueFilter::default())
            .unwrap()
            .into_iter()
            .map(|job| job.state)
            .collect();
        assert!(reached.len() > 8 && states.len() > 2, "{reached:?} {states:?}");
    }
}

/// Runs one random operation on both queues.
fn do_something(world: &mut World, chance: &mut Chance, held: &mut Vec<Claim>) -> &'static str {
    let now = world.now;
    match chance.below(13) {
        0 | 1 => {
            let project = ["/work/a", "/work/b", "/work/c", "/elsewhere"][chance.below(4)];
            world.begin_trace(project);
            "a new trace"
        }
        2 if world.n_traces > 0 => {
            let path = world.trace(&format!("s{:03}", chance.below(world.n_traces)));
            world.say(&path);
            "a trace grows"
        }
        2..=4 => {
            world.refresh();
            "refresh"
        }
        5..=7 => {
            let token = format!("w{}-{}", chance.below(2), chance.next());
            let order = [ClaimOrder::NewestFirst, ClaimOrder::OldestFirst][chance.below(2)];
            let claim = world.both("claim", |queue| queue.claim(&token, now, LEASE, order));
            held.extend(claim.flatten());
            "claim"
        }
        8 => {
            if let Some(claim) = chance.pick(held).cloned() {
                world.both("heartbeat", |queue| queue.heartbeat(&claim, now, LEASE));
            }
            "heartbeat"
        }
        9 => {
            if !held.is_empty() {
                let claim = held.swap_remove(chance.below(held.len()));
                let outcome = outcome(chance);
                world.both("finish", |queue| queue.finish(&claim, &outcome, now));
            }
            "finish"
        }
        10 => {
            world.both("give back", |queue| queue.give_back("w1-", now));
            "give back"
        }
        11 => {
            let jobs = world.local.jobs(&QueueFilter::default()).unwrap();
            let Some(job) = chance.pick(&jobs) else { return "nothing" };
            let keys = [job.id.clone(), "no-such-job".to_owned()];
            if chance.below(2) == 0 {
                world.both("retry", |queue| queue.retry(&keys, now));
                "retry"
            } else {
                world.both("skip", |queue| queue.skip(&keys, "by hand", now));
                "skip"
            }
        }
        _ => {
            let seconds = [1, 20, 45, 400][chance.below(4)];
            world.now = now + jiff::SignedDuration::from_secs(seconds);
            "time passes"
        }
    }
}

fn outcome(chance: &mut Chance) -> Outcome {
    match chance.below(5) {
        0 | 1 => Outcome::Done { run: format!("run-{}", chance.below(1000)) },
        2 => Outcome::Empty { reason: "nothing in it".to_owned() },
        3 => Outcome::Failed { reason: "the model\0 was away".replace('\0', "") },
        _ => Outcome::Released,
    }
}

#[test]
fn service_runs_are_kept_alike() {
    let Some(server) = Server::start() else { return };
    let mut world = World::new(&server);
    let at = |seconds: i64| Timestamp::from_second(4_000_000_000 + seconds).unwrap();
    world.both("none", |queue| queue.last_run("sync"));
    world.both("begin", |queue| queue.begin_run("r1", "sync", at(1)));
    world.both("runs", |queue| queue.last_run("sync"));
    world.both("end", |queue| queue.end_run("r1", "done: 3", at(2)));
    world.both("begin", |queue| queue.begin_run("r2", "sync", at(1)));
    world.both("other", |queue| queue.begin_run("m1", "maintain", at(9)));
    let last = world.both("ended", |queue| queue.last_run("sync")).flatten().unwrap();
    assert_eq!((last.id.as_str(), last.outcome), ("r2", None));
    world.both("again", |queue| queue.begin_run("r1", "sync", at(5)));
    world.both("begun again", |queue| queue.last_run("sync"));
}

/// Claims waiting sessions until there are none. If other workers have claimed every project, tries
/// again.
fn work(queue: &mut SharedQueue, worker: usize, now: Timestamp) -> Vec<String> {
    let in_state = |state| QueueFilter { state: Some(state), ..QueueFilter::default() };
    let mut taken = Vec::new();
    loop {
        let token = format!("w{worker}-{}", taken.len());
        let claim = queue.claim(&token, now, LEASE, ClaimOrder::OldestFirst).unwrap();
        let Some(claim) = claim else {
            if queue.jobs(&in_state(JobState::Pending)).unwrap().is_empty() {
                return taken;
            }
            continue;
        };
        let running = queue.jobs(&in_state(JobState::Running)).unwrap();
        let projects: BTreeSet<_> = running.iter().map(|job| &job.project).collect();
        assert_eq!(projects.len(), running.len(), "one a project");
        queue.finish(&claim, &Outcome::Done { run: token }, now).unwrap();
        taken.push(claim.key);
    }
}

#[test]
fn many_workers_take_each_session_once_and_one_a_project() {
    let Some(server) = Server::start() else { return };
    let mut world = World::new(&server);
    for nth in 0..90 {
        world.begin_trace(["/work/a", "/work/b", "/work/c"][nth % 3]);
    }
    world.refresh();
    let now = world.now;
    let database = server.connect();
    let taken: Vec<String> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..8)
            .map(|worker| {
                let mut queue = SharedQueue::open(&database).unwrap();
                scope.spawn(move || work(&mut queue, worker, now))
            })
            .collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    let different: BTreeSet<&String> = taken.iter().collect();
    assert_eq!((taken.len(), different.len()), (90, 90));
}

#[test]
fn an_offer_moves_only_what_it_brings_closer_to_a_run() {
    let Some(server) = Server::start() else { return };
    let mut world = World::new(&server);
    world.begin_trace("/work/a");
    world.refresh();
    let now = world.now;
    let claim = world.shared.claim("w", now, LEASE, ClaimOrder::OldestFirst).unwrap().unwrap();
    let done = Outcome::Done { run: "r".to_owned() };
    world.shared.finish(&claim, &done, now).unwrap();
    let mut offered = world.seen.list_offered(0).unwrap();
    // Another server first sees the same trace later.
    offered[0].decided_ms += 1000;
    assert_eq!(world.shared.offer(&offered).unwrap(), 0);
    // A server that does not know the project cannot remove the session from the queue.
    world.shared.retry(&[claim.key], now).unwrap();
    offered[0].state = JobState::Skipped;
    offered[0].project = None;
    offered[0].grown += 1;
    assert_eq!(world.shared.offer(&offered).unwrap(), 0);
    let jobs = world.shared.jobs(&QueueFilter::default()).unwrap();
    assert_eq!(jobs[0].state, JobState::Pending);
}

#[test]
fn a_server_claims_only_what_it_can_read_and_knows_when_something_is_due() {
    let Some(server) = Server::start() else { return };
    let mut world = World::new(&server);
    world.begin_trace("/work/a");
    world.refresh();
    let open = |name: &str| SharedQueue::open(&server.database()).unwrap().for_server(name);
    let (mut one, mut other) = (open("one"), open("other"));
    let now = world.now + jiff::SignedDuration::from_secs(3600);
    assert!(!one.is_due(now).unwrap(), "it has offered nothing");
    one.offer(&world.seen.list_offered(0).unwrap()).unwrap();
    assert_eq!((one.is_due(now).unwrap(), other.is_due(now).unwrap()), (true, false));
    let claim = |queue: &mut SharedQueue, now| {
        queue.claim("w", now, LEASE, ClaimOrder::OldestFirst).unwrap()
    };
    assert!(claim(&mut other, now).is_none(), "the other cannot read it");
    let claimed = claim(&mut one, now).unwrap();
    other.offer(&world.seen.list_offered(0).unwrap()).unwrap();
    assert!(!other.is_due(now).unwrap(), "it is worked on");
    let later = now + jiff::SignedDuration::from_secs(61);
    assert!(other.is_due(later).unwrap(), "its worker went away");
    assert_eq!(claim(&mut other, later).unwrap().key, claimed.key);
    assert_eq!(one.keys_starting(&claimed.key[..4]).unwrap(), [claimed.key.as_str()]);
    // Moves the queue back to one machine: running sessions are queued again, and finished ones
    // stay finished.
    assert_eq!(world.local.adopt(&one.jobs(&QueueFilter::default()).unwrap()).unwrap(), 1);
    assert_eq!(world.local.waiting(later).unwrap().ready, 1);
    assert_eq!(one.waiting(later).unwrap().ready, 0);
    let claim = Claim { lease: "w".to_owned(), ..claimed };
    let done = Outcome::Done { run: "r".to_owned() };
    other.finish(&claim, &done, later).unwrap();
    world.local.adopt(&one.jobs(&QueueFilter::default()).unwrap()).unwrap();
    assert_eq!(world.local.waiting(later).unwrap().ready, 0);
}

#[test]
fn two_machines_that_read_a_trace_in_other_pieces_offer_the_same() {
    let world_of = |pieces: usize| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        let mut catalog = Catalog::open(&folder.path().join("c.sqlite3")).unwrap();
        let mut lines = vec![
            "{\"type\":\"session\",\"version\":1,\"id\":\"s\",\"cwd\":\"/work/a\"}\n".to_owned(),
        ];
        lines.extend((0..6).map(|nth| {
            format!("{{\"type\":\"user\",\"text\":\"word {nth}\",\"time\":\"2026-11-01T00:00:0{nth}Z\"}}\n")
        }));
        for part in lines.chunks(lines.len().div_ceil(pieces)) {
            let mut file =
                std::fs::OpenOptions::new().create(true).append(true).open(&path).unwrap();
            file.write_all(part.concat().as_bytes()).unwrap();
            let options = RefreshOptions {
                adopted: BTreeMap::new(),
                words: WordLists::default(),
                connections: vec![Connection {
                    agent: Agent::Generic,
                    roots: vec![folder.path().to_owned()],
                }],
                projects: vec![PathBuf::from("/work/a")],
                allowed: AllowedProjects::ByPlace,
                since: None,
                until: None,
                max_sessions: None,
                force: false,
                quiet: Duration::from_secs(120),
                now: Timestamp::from_second(4_000_000_000).unwrap(),
            };
            catalog.refresh(&options, |_| ControlFlow::Continue(())).unwrap();
        }
        catalog.list_offered(0).unwrap().remove(0).grown
    };
    let whole = world_of(1);
    assert_eq!(world_of(3), whole);
    assert!(whole > 0);
}
