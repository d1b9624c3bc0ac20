//! Tests the catalog on transcripts in Nacre's own format, with a fixed clock.

#![expect(clippy::disallowed_methods, reason = "the tests play the agents")]

mod activity;
mod faults;
mod rehearsal;
mod waiting;
mod words;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Duration;

use jiff::Timestamp;

use super::*;
use crate::transcript::Agent;

const LEASE: Duration = Duration::from_secs(60);

struct World {
    dir: tempfile::TempDir,
    catalog: Catalog,
    now: Timestamp,
    projects: Vec<PathBuf>,
    adopted: BTreeMap<PathBuf, PathBuf>,
}

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("traces")).unwrap();
        let catalog = Catalog::open(&dir.path().join("catalog.sqlite3")).unwrap();
        // Choose a time well after the files were created, so that every session is idle.
        let now = Timestamp::from_second(4_000_000_000).unwrap();
        let projects = vec![PathBuf::from("/work/shop")];
        Self { dir, catalog, now, projects, adopted: BTreeMap::new() }
    }

    fn trace(&self, name: &str) -> PathBuf {
        self.dir.path().join("traces").join(format!("{name}.jsonl"))
    }

    fn write(&self, name: &str, cwd: &str, said: &[&str]) {
        let mut text =
            format!("{{\"type\":\"session\",\"version\":1,\"id\":\"{name}\",\"cwd\":\"{cwd}\"}}\n");
        for word in said {
            text.push_str(&line(word));
        }
        fs::write(self.trace(name), text).unwrap();
    }

    fn append(&self, name: &str, text: &str) {
        let mut file = fs::OpenOptions::new().append(true).open(self.trace(name)).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    fn options(&self) -> RefreshOptions {
        RefreshOptions {
            words: WordLists::default(),
            connections: vec![Connection {
                agent: Agent::Generic,
                roots: vec![self.dir.path().join("traces")],
            }],
            projects: self.projects.clone(),
            adopted: self.adopted.clone(),
            allowed: AllowedProjects::ByPlace,
            since: None,
            until: None,
            max_sessions: None,
            force: false,
            quiet: Duration::from_secs(120),
            now: self.now,
        }
    }

    fn refresh(&mut self) -> RefreshReport {
        let options = self.options();
        self.catalog.refresh(&options, |_| ControlFlow::Continue(())).unwrap()
    }

    fn states(&self) -> Vec<(String, &'static str, Option<String>)> {
        let mut sessions = self.catalog.sessions(&SessionFilter::default()).unwrap();
        sessions.sort_by(|a, b| a.facts.id.cmp(&b.facts.id));
        sessions
            .into_iter()
            .map(|session| (session.facts.id, session.state.as_str(), session.reason))
            .collect()
    }

    /// Returns the messages that contain `word`, excluding copies of sessions and, if `project` is
    /// given, other projects.
    fn search(&self, word: &str, project: Option<&str>) -> Vec<String> {
        let mut sessions = self.catalog.said_sessions().unwrap();
        sessions.retain(|session| {
            !session.is_twin && project.is_none_or(|name| session.project.as_deref() == Some(name))
        });
        let of_session = |session: &SaidSession| self.catalog.messages_of(session.id, 99).unwrap();
        let messages = sessions.iter().flat_map(of_session).map(|message| message.text);
        messages.filter(|text| text.to_lowercase().contains(word)).collect()
    }

    fn check_conservation(&self) {
        for (place, counts) in self.catalog.counts().unwrap() {
            assert!(counts.adds_up(), "{place:?}: {counts:?}");
        }
    }
}

fn line(text: &str) -> String {
    format!("{{\"type\":\"user\",\"text\":\"{text}\",\"time\":\"2026-11-01T00:00:00Z\"}}\n")
}

#[test]
fn what_did_not_change_is_not_read_again() {
    let mut world = World::new();
    world.write("one", "/work/shop", &["use sqlite"]);
    world.write("two", "/work/shop/src", &["use redis"]);
    let first = world.refresh();
    assert_eq!((first.read, first.unchanged), (2, 0));
    let second = world.refresh();
    assert_eq!((second.read, second.unchanged), (0, 2));
    let forced = world
        .catalog
        .refresh(&RefreshOptions { force: true, ..world.options() }, |_| ControlFlow::Continue(()))
        .unwrap();
    assert_eq!(forced.read, 2);
    assert_eq!(world.search("sqlite", None), ["use sqlite"]);
    world.check_conservation();
}

#[test]
fn a_trace_that_a_repository_brought_speaks_for_no_other_project() {
    let mut world = World::new();
    world.write("one", "/work/shop", &["use the evil key"]);
    fs::create_dir(world.dir.path().join(".git")).unwrap();
    fs::write(world.dir.path().join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    for _ in 0..2 {
        world.refresh();
        let [(_, state, reason)] = &world.states()[..] else { panic!("one session") };
        assert_eq!((*state, reason.as_deref()), ("skipped", Some(super::admission::OUTSIDE)));
        let sessions = world.catalog.sessions(&SessionFilter::default()).unwrap();
        assert_eq!(sessions[0].project, None);
    }
    // The same applies if the project is registered after the trace was read.
    let mut world = World::new();
    world.projects.clear();
    world.write("one", "/work/shop", &["use the evil key"]);
    fs::create_dir(world.dir.path().join(".git")).unwrap();
    fs::write(world.dir.path().join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    world.refresh();
    world.projects.push(PathBuf::from("/work/shop"));
    assert_eq!(world.refresh().readmitted, 0);
    assert_eq!(world.states()[0].2.as_deref(), Some(super::admission::OUTSIDE));
}

#[test]
fn an_imported_session_is_never_queued_for_a_project_that_is_not_allowed() {
    for (allowed, state) in [
        (AllowedProjects::Only(None), "skipped"),
        (AllowedProjects::Only(Some(PathBuf::from("/work/other"))), "skipped"),
        (AllowedProjects::Only(Some(PathBuf::from("/work/shop"))), "pending"),
        (AllowedProjects::ByPlace, "pending"),
    ] {
        let mut world = World::new();
        world.write("one", "/work/shop", &["use sqlite"]);
        let options = RefreshOptions { allowed: allowed.clone(), ..world.options() };
        world.catalog.refresh(&options, |_| ControlFlow::Continue(())).unwrap();
        assert_eq!(world.states()[0].1, state, "{allowed:?}");
    }
}

#[test]
fn a_refresh_without_news_writes_nothing() {
    let mut world = World::new();
    world.projects.clear();
    for name in ["one", "two", "three"] {
        world.write(name, "/work/shop", &["use sqlite"]);
    }
    world.refresh();
    fs::remove_file(world.trace("three")).unwrap();
    world.projects.push(PathBuf::from("/work/shop"));
    let readmitting = world.refresh();
    assert_eq!((readmitting.readmitted, readmitting.gone), (3, 1));
    let n_changes = world.catalog.connection.total_changes();
    let quiet = world.refresh();
    assert_eq!((quiet.unchanged, quiet.readmitted, quiet.gone), (2, 0, 0));
    assert_eq!(world.catalog.connection.total_changes(), n_changes);
}

#[test]
fn a_grown_trace_is_read_from_where_it_ended() {
    let mut world = World::new();
    world.write("one", "/work/shop", &["use sqlite"]);
    world.refresh();
    world.append("one", &line("and call it pearl"));
    world.append("one", "{\"type\":\"user\",\"text\":\"torn");
    let report = world.refresh();
    assert_eq!((report.read, report.resumed), (1, 1));
    world.append("one", " no more\"}\n");
    world.refresh();
    assert_eq!(world.search("torn no more", None).len(), 1);
    assert_eq!(world.search("sqlite", None).len(), 1);
    assert_eq!(world.catalog.sessions(&SessionFilter::default()).unwrap()[0].facts.counts.user, 3);
}

#[test]
fn a_rewritten_trace_leaves_nothing_of_the_old_one() {
    let mut world = World::new();
    world.write("one", "/work/shop", &["use sqlite", "and redis", "and more"]);
    world.refresh();
    world.write("one", "/work/shop", &["something else entirely, and long enough to differ"]);
    world.refresh();
    assert!(world.search("sqlite", None).is_empty());
    assert_eq!(world.search("entirely", None).len(), 1);
}

#[test]
fn sessions_are_admitted_by_what_they_are() {
    let mut world = World::new();
    world.write("here", "/work/shop/src", &["use sqlite"]);
    world.write("elsewhere", "/work/other", &["use sqlite"]);
    world.write("silent", "/work/shop", &[]);
    // An agent writes a trace like this one when Nacre uses it as a model.
    world.write("the-question", "/work/shop", &["[Question from Nacre] Use sqlite?"]);
    world.refresh();
    let reason = |text: &str| Some(text.to_owned());
    assert_eq!(
        world.states(),
        [
            ("elsewhere".to_owned(), "skipped", reason("no registered project")),
            ("here".to_owned(), "pending", None),
            ("silent".to_owned(), "empty", reason("the session has no user messages")),
            ("the-question".to_owned(), "skipped", reason("the session is a question from Nacre")),
        ]
    );
    world.projects.push(PathBuf::from("/work/other"));
    let report = world.refresh();
    assert_eq!((report.readmitted, report.read), (1, 0));
    assert_eq!(world.states()[0].1, "pending");
    world.check_conservation();
}

#[test]
fn a_trace_that_is_gone_waits_no_longer() {
    let mut world = World::new();
    world.write("one", "/work/shop", &["use sqlite"]);
    world.refresh();
    fs::remove_file(world.trace("one")).unwrap();
    assert_eq!(world.refresh().gone, 1);
    assert_eq!(
        world.states()[0],
        ("one".to_owned(), "skipped", Some("the trace is gone".to_owned()))
    );
    world.check_conservation();
}

#[test]
fn a_session_that_is_being_written_waits() {
    let mut world = World::new();
    world.write("one", "/work/shop", &["use sqlite"]);
    // The time of the session's last message.
    world.now = "2026-11-01T00:00:00Z".parse().unwrap();
    world.refresh();
    let claim = |world: &mut World, now| {
        world.catalog.claim("me", now, LEASE, ClaimOrder::NewestFirst).unwrap()
    };
    let now = world.now;
    assert_eq!(claim(&mut world, now), None);
    let later = now.checked_add(Duration::from_secs(121)).unwrap();
    assert!(claim(&mut world, later).is_some());
}

#[test]
fn sessions_of_the_same_moment_are_worked_off_by_name() {
    for order in [["one", "two"], ["two", "one"]] {
        let mut world = World::new();
        world.projects.push(PathBuf::from("/work/bank"));
        for name in order {
            let cwd = if name == "one" { "/work/shop" } else { "/work/bank" };
            world.write(name, cwd, &["use sqlite"]);
            world.refresh();
        }
        let now = world.now;
        let mut claimed = Vec::new();
        while let Some(claim) =
            world.catalog.claim("me", now, LEASE, ClaimOrder::OldestFirst).unwrap()
        {
            claimed.push(claim.project.unwrap_or_default());
        }
        assert_eq!(claimed, ["/work/shop", "/work/bank"], "read as {order:?}");
    }
}

#[test]
fn a_lease_is_held_or_lost() {
    let mut world = World::new();
    world.write("one", "/work/shop", &["use sqlite"]);
    world.write("two", "/work/shop", &["use redis"]);
    world.refresh();
    let now = world.now;
    let first = world.catalog.claim("a", now, LEASE, ClaimOrder::NewestFirst).unwrap().unwrap();
    // Only one job per project may run at a time.
    assert_eq!(world.catalog.claim("b", now, LEASE, ClaimOrder::NewestFirst).unwrap(), None);
    let late = now.checked_add(Duration::from_secs(61)).unwrap();
    assert!(world.catalog.heartbeat(&first, late, LEASE).is_err());
    let second = world.catalog.claim("b", late, LEASE, ClaimOrder::NewestFirst).unwrap().unwrap();
    let done = Outcome::Done { run: "r1".to_owned() };
    assert!(matches!(
        world.catalog.finish(&first, &done, late),
        Err(CatalogError::LeaseLost { .. })
    ));
    assert_eq!(world.catalog.finish(&second, &done, late).unwrap(), JobState::Done);
    world.check_conservation();
}

#[test]
fn failures_are_retried_and_end_dead() {
    let mut world = World::new();
    world.write("one", "/work/shop", &["use sqlite"]);
    world.refresh();
    let failed = Outcome::Failed { reason: "no answer".to_owned() };
    let mut now = world.now;
    let mut keys = Vec::new();
    for n_failures in 1..=MAX_ATTEMPTS {
        let claim = world.catalog.claim("a", now, LEASE, ClaimOrder::OldestFirst).unwrap().unwrap();
        let state = world.catalog.finish(&claim, &failed, now).unwrap();
        let is_last = n_failures == MAX_ATTEMPTS;
        assert_eq!(state, if is_last { JobState::Dead } else { JobState::Pending });
        assert_eq!(world.catalog.claim("a", now, LEASE, ClaimOrder::OldestFirst).unwrap(), None);
        now = now.checked_add(wait_after(n_failures) + Duration::from_secs(1)).unwrap();
        keys = vec![claim.key];
    }
    assert_eq!(world.catalog.retry(&keys, now).unwrap(), keys);
    assert_eq!(world.states()[0].1, "pending");
    assert_eq!(world.catalog.skip(&keys, "by hand", now).unwrap(), keys);
    world.append("one", &line("more"));
    world.refresh();
    assert_eq!(world.states()[0].1, "skipped", "what a person skipped stays skipped");
    world.check_conservation();
}

#[test]
fn what_is_said_during_a_run_is_run_again() {
    let mut world = World::new();
    world.write("one", "/work/shop", &["use sqlite"]);
    world.refresh();
    let claim =
        world.catalog.claim("a", world.now, LEASE, ClaimOrder::NewestFirst).unwrap().unwrap();
    world.append("one", &line("no, redis"));
    world.now = world.now.checked_add(Duration::from_secs(1)).unwrap();
    world.refresh();
    let done = Outcome::Done { run: "r1".to_owned() };
    let now = world.now.checked_add(Duration::from_secs(1)).unwrap();
    world.catalog.finish(&claim, &done, now).unwrap();
    assert_eq!(world.states()[0].1, "pending");
}

#[test]
fn a_damaged_catalog_is_made_again() {
    let mut world = World::new();
    world.write("one", "/work/shop", &["use sqlite"]);
    world.refresh();
    let path = world.catalog.path.clone();
    drop(world.catalog);
    fs::write(&path, "this is no database, and it is long enough to be looked at").unwrap();
    world.catalog = Catalog::open(&path).unwrap();
    assert!(world.states().is_empty());
    assert!(path.with_extension("sqlite3.damaged").exists());
}

#[test]
fn a_secret_does_not_reach_the_catalog() {
    let mut world = World::new();
    let secret = ["ghp", "_a8F3kZ0qLm2Vn5Xb7Rt9Wc1Yd4Hs6Jp0Qe2"].concat();
    world.write("one", "/work/shop", &[&format!("my token is {secret} ok")]);
    world.refresh();
    let path = world.catalog.path.clone();
    drop(world.catalog);
    for tail in ["", "-wal"] {
        let bytes = fs::read(format!("{}{tail}", path.display())).unwrap_or_default();
        assert!(!String::from_utf8_lossy(&bytes).contains(&secret));
    }
}
