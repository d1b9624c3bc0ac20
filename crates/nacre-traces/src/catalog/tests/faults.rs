//! Tests traces that disappear, reappear, are locked or are replaced while the catalog reads them.

use rusqlite::Connection as Database;
use std::ops::ControlFlow;

use super::*;
use crate::transcript::{Adapter as _, Stamp};

/// Creates an OpenCode database with one session, in a journal mode in which writers block readers.
fn opencode_database(path: &std::path::Path, id: &str) -> Database {
    let database = Database::open(path).unwrap();
    database
        .execute_batch(&format!(
            "CREATE TABLE session (id TEXT PRIMARY KEY, directory TEXT, title TEXT,
               time_created INTEGER, time_updated INTEGER);
             CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, data TEXT, time_created INTEGER);
             CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, data TEXT);
             INSERT INTO session VALUES ('{id}', '/work/shop', 'A talk', 1762000000000, 1762000000000);
             INSERT INTO message VALUES ('msg_1', '{id}', '{{\"role\":\"user\"}}', 1762000000000);
             INSERT INTO part VALUES ('prt_1', 'msg_1', '{id}', '{{\"type\":\"text\",\"text\":\"use sqlite\"}}');"
        ))
        .unwrap();
    database
}

impl World {
    fn opencode(&mut self) -> RefreshReport {
        let connections =
            vec![Connection { agent: Agent::OpenCode, roots: vec![self.dir.path().join("oc")] }];
        let options = RefreshOptions { connections, ..self.options() };
        let report = self.catalog.refresh(&options, |_| ControlFlow::Continue(())).unwrap();
        self.check_conservation();
        report
    }
}

#[test]
fn a_database_in_the_middle_of_a_change_is_read_the_next_time() {
    let mut world = World::new();
    let folder = world.dir.path().join("oc");
    fs::create_dir(&folder).unwrap();
    let database = opencode_database(&folder.join("opencode.db"), "ses_1");
    // A lock alone does not prevent reading, but a transaction in progress does.
    database.execute_batch("BEGIN EXCLUSIVE; CREATE TABLE under_way (x)").unwrap();
    assert_eq!(world.opencode().problems.len(), 1);
    let waits = ("", "skipped", Some("the agent was writing to it".to_owned()));
    let [(id, state, reason)] = &world.states()[..] else { panic!("{:?}", world.states()) };
    assert_eq!((id.as_str(), *state, reason.clone()), waits);
    database.execute_batch("COMMIT").unwrap();
    let report = world.opencode();
    assert_eq!((report.read, report.problems.len()), (1, 0));
    assert_eq!(world.states(), [("ses_1".to_owned(), "pending", None)], "nothing stands in for it");
    // A lock on a known session's database is reported but does not change the session's state.
    database
        .execute_batch("UPDATE session SET time_updated = 1762000000001; BEGIN EXCLUSIVE; CREATE TABLE again (x)")
        .unwrap();
    assert_eq!(world.opencode().problems.len(), 1);
    assert_eq!(world.states(), [("ses_1".to_owned(), "pending", None)]);
    database.execute_batch("COMMIT").unwrap();
    assert_eq!(world.opencode().read, 1);
}

#[test]
fn a_session_that_left_its_database_waits_no_longer() {
    let mut world = World::new();
    let folder = world.dir.path().join("oc");
    fs::create_dir(&folder).unwrap();
    let database = opencode_database(&folder.join("opencode.db"), "ses_1");
    world.opencode();
    database.execute_batch("UPDATE session SET id = 'ses_2'; UPDATE message SET session_id = 'ses_2'; UPDATE part SET session_id = 'ses_2'").unwrap();
    world.opencode();
    let gone = Some("the trace is gone".to_owned());
    assert_eq!(
        world.states(),
        [("ses_1".to_owned(), "skipped", gone), ("ses_2".to_owned(), "pending", None)]
    );
}

#[test]
fn the_copy_that_tells_most_speaks_for_a_session() {
    let mut world = World::new();
    let folder = world.dir.path().join("oc");
    fs::create_dir_all(folder.join("a")).unwrap();
    fs::create_dir_all(folder.join("b")).unwrap();
    let poor = opencode_database(&folder.join("a/opencode.db"), "ses_1");
    let rich = opencode_database(&folder.join("b/opencode.db"), "ses_1");
    rich.execute_batch(
        "INSERT INTO message VALUES ('msg_2', 'ses_1', '{\"role\":\"user\"}', 1762000000001);
         INSERT INTO part VALUES ('prt_2', 'msg_2', 'ses_1', '{\"type\":\"text\",\"text\":\"and redis\"}');
         UPDATE session SET time_updated = 1762000000001",
    )
    .unwrap();
    world.opencode();
    let by_path = |world: &World| {
        let mut rows: Vec<(bool, &str, Option<String>)> = world
            .catalog
            .sessions(&SessionFilter::default())
            .unwrap()
            .into_iter()
            .map(|row| {
                (
                    row.trace.source.path.starts_with(folder.join("b")),
                    row.state.as_str(),
                    row.reason,
                )
            })
            .collect();
        rows.sort();
        rows
    };
    let rows = by_path(&world);
    assert_eq!((rows[0].1, rows[1].1), ("skipped", "pending"));
    assert!(rows[0].2.as_ref().unwrap().starts_with("same session as "), "{rows:?}");
    let skipped: Vec<String> = world
        .catalog
        .counts()
        .unwrap()
        .into_values()
        .flat_map(|counts| counts.skipped.into_keys())
        .collect();
    assert_eq!(skipped, ["same session as another"]);
    // When the better copy is removed, the other one replaces it.
    drop(rich);
    fs::remove_file(folder.join("b/opencode.db")).unwrap();
    world.opencode();
    let rows = by_path(&world);
    assert_eq!((rows[0].1, rows[1].1), ("pending", "skipped"));
    drop(poor);
}

#[test]
fn a_trace_that_comes_back_is_read_again() {
    let mut world = World::new();
    world.write("one", "/work/shop", &["use sqlite"]);
    world.refresh();
    let away = world.dir.path().join("away");
    fs::rename(world.trace("one"), &away).unwrap();
    assert_eq!(world.refresh().gone, 1);
    assert_eq!(world.refresh().gone, 0, "it goes once");
    fs::rename(&away, world.trace("one")).unwrap();
    world.refresh();
    assert_eq!(world.states(), [("one".to_owned(), "pending", None)]);
    assert_eq!(world.search("sqlite", None).len(), 1);
}

#[test]
fn a_trace_that_goes_after_a_visit_that_was_cut_short_waits_no_longer() {
    let mut world = World::new();
    world.write("one", "/work/shop", &["use sqlite"]);
    world.refresh();
    // Simulate a process killed between reading a source's last session and storing the stamp.
    world
        .catalog
        .write(|transaction| transaction.execute("UPDATE source SET size = -1", []))
        .unwrap();
    fs::remove_file(world.trace("one")).unwrap();
    assert_eq!(world.refresh().gone, 1);
    assert_eq!(world.states()[0].2.as_deref(), Some("the trace is gone"));
}

#[test]
fn what_becomes_of_a_path_decides_what_becomes_of_its_session() {
    type Replace = fn(&std::path::Path);
    let make: [(&str, Replace); 3] = [
        ("a folder", |path| fs::create_dir(path).unwrap()),
        ("a pipe", |path| {
            rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, 0o600.into(), 0)
                .unwrap();
        }),
        ("a link", |path| std::os::unix::fs::symlink("/etc/passwd", path).unwrap()),
    ];
    for (what, replace) in make {
        let mut world = World::new();
        world.write("one", "/work/shop", &["use sqlite"]);
        world.write("two", "/work/shop", &["use redis"]);
        world.refresh();
        fs::remove_file(world.trace("one")).unwrap();
        replace(&world.trace("one"));
        world.append("two", &line("and more"));
        let report = world.refresh();
        assert_eq!((report.gone, report.read), (1, 1), "{what}");
        assert_eq!(world.states()[0].2.as_deref(), Some("the trace is gone"), "{what}");
        assert_eq!(world.states()[1].1, "pending", "{what}");
        world.check_conservation();
    }
}

#[test]
fn a_trace_that_goes_before_it_is_read_is_counted() {
    for replace in [false, true] {
        let mut world = World::new();
        world.write("one", "/work/shop", &["use sqlite"]);
        world.write("two", "/work/shop", &["use redis"]);
        let (path, options) = (world.trace("one"), world.options());
        let mut is_gone = false;
        // Both traces are found before either is read, and the newest is read first.
        let report = world
            .catalog
            .refresh(&options, |_| {
                if !std::mem::replace(&mut is_gone, true) {
                    fs::remove_file(&path).unwrap();
                    if replace {
                        fs::create_dir(&path).unwrap();
                    }
                }
                ControlFlow::Continue(())
            })
            .unwrap();
        assert_eq!((report.read, report.problems.len()), (1, 1));
        let states = world.states();
        assert_eq!(states.iter().filter(|(_, state, _)| *state == "pending").count(), 1);
        assert!(states.iter().any(|(_, _, reason)| reason.as_deref() == Some("the trace is gone")));
        world.check_conservation();
        if replace {
            fs::remove_dir(&path).unwrap();
        }
        world.write("one", "/work/shop", &["use sqlite"]);
        world.refresh();
        assert!(world.states().iter().all(|(_, state, _)| *state == "pending"));
    }
}

#[test]
fn what_lies_behind_a_closed_door_is_not_gone() {
    let mut world = World::new();
    fs::create_dir(world.dir.path().join("traces/inner")).unwrap();
    world.write("inner/one", "/work/shop", &["use sqlite"]);
    world.refresh();
    // Not even root can list a directory that is a cyclic link.
    let inner = world.dir.path().join("traces/inner");
    fs::rename(&inner, world.dir.path().join("kept")).unwrap();
    std::os::unix::fs::symlink(&inner, &inner).unwrap();
    let connections = vec![Connection { agent: Agent::Generic, roots: vec![inner.clone()] }];
    let options = RefreshOptions { connections, ..world.options() };
    let report = world.catalog.refresh(&options, |_| ControlFlow::Continue(())).unwrap();
    assert_eq!((report.gone, report.problems.len()), (0, 1));
    assert_eq!(world.states()[0].1, "pending");
}

#[test]
fn a_touched_trace_is_not_run_again() {
    let mut world = World::new();
    world.write("one", "/work/shop", &["use sqlite"]);
    world.refresh();
    let claim =
        world.catalog.claim("a", world.now, LEASE, ClaimOrder::NewestFirst).unwrap().unwrap();
    let touch = |world: &World| {
        let file = fs::OpenOptions::new().append(true).open(world.trace("one")).unwrap();
        file.set_modified(std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(1)).unwrap();
    };
    touch(&world);
    assert_eq!(world.refresh().resumed, 1);
    let done = Outcome::Done { run: "r1".to_owned() };
    let ended = world.catalog.finish(&claim, &done, world.now).unwrap();
    assert_eq!(ended, JobState::Done);
    fs::OpenOptions::new()
        .append(true)
        .open(world.trace("one"))
        .unwrap()
        .set_modified(std::time::SystemTime::UNIX_EPOCH)
        .unwrap();
    assert_eq!(world.refresh().resumed, 1);
    assert_eq!(world.states()[0].1, "done");
}

#[test]
fn growth_that_an_earlier_refresh_finds_late_is_run() {
    let mut world = World::new();
    world.write("one", "/work/shop", &["use sqlite"]);
    world.refresh();
    // The refresh began before the claim, but it reads the trace afterwards.
    let began = world.now;
    let later = began.checked_add(Duration::from_secs(5)).unwrap();
    let claim = world.catalog.claim("a", later, LEASE, ClaimOrder::NewestFirst).unwrap().unwrap();
    world.append("one", &line("no, redis"));
    world.refresh();
    let done = Outcome::Done { run: "r1".to_owned() };
    let ended = world.catalog.finish(&claim, &done, later).unwrap();
    assert_eq!((ended, world.states()[0].1), (JobState::Pending, "pending"));
}

#[test]
fn a_lost_lease_ends_nothing() {
    let mut world = World::new();
    world.write("one", "/work/shop", &["use sqlite"]);
    world.refresh();
    let claim =
        world.catalog.claim("a", world.now, LEASE, ClaimOrder::NewestFirst).unwrap().unwrap();
    let late = world.now.checked_add(Duration::from_secs(61)).unwrap();
    let again = world.catalog.claim("b", late, LEASE, ClaimOrder::NewestFirst).unwrap().unwrap();
    let empty = Outcome::Empty { reason: "nothing in it".to_owned() };
    world.catalog.finish(&again, &empty, late).unwrap();
    world.write("one", "/work/shop", &[]);
    world.refresh();
    assert_eq!(world.states()[0].1, "empty");
    let done = Outcome::Done { run: "r1".to_owned() };
    assert!(world.catalog.finish(&claim, &done, late).is_err());
    assert_eq!(world.states()[0].1, "empty");
}

#[test]
fn a_session_that_takes_every_worker_down_ends_dead() {
    let mut world = World::new();
    world.write("one", "/work/shop", &["use sqlite"]);
    world.refresh();
    let mut now = world.now;
    let mut n_claims = 0;
    while world.catalog.claim("a", now, LEASE, ClaimOrder::NewestFirst).unwrap().is_some() {
        n_claims += 1;
        now = now.checked_add(Duration::from_secs(61)).unwrap();
        assert!(n_claims < 100);
    }
    assert_eq!(n_claims, 10);
    assert_eq!(
        world.states()[0],
        ("one".to_owned(), "dead", Some("the worker went away".to_owned()))
    );
}

#[test]
fn a_half_read_session_leaves_what_was_known() {
    let mut world = World::new();
    world.write("one", "/work/shop", &["use sqlite", "and redis"]);
    world.refresh();
    let adapter = HalfReader(world.trace("one"));
    let source = adapter.discover(&[]).sources.remove(0);
    let options = RefreshOptions { force: true, ..world.options() };
    let mut report = RefreshReport::default();
    world.catalog.take_source(&adapter, &source, &options, &mut report).unwrap();
    assert_eq!(report.problems.len(), 1);
    assert_eq!((world.search("sqlite", None).len(), world.search("redis", None).len()), (1, 1));
    assert_eq!(world.states(), [("one".to_owned(), "pending", None)]);
}

/// Reads a generic trace, but reports it as locked after the first event.
struct HalfReader(PathBuf);

impl crate::transcript::Adapter for HalfReader {
    fn agent(&self) -> Agent {
        Agent::Generic
    }

    fn version(&self) -> u32 {
        crate::agents::generic::Generic.version()
    }

    fn roots(&self, _homes: &crate::transcript::Homes) -> Vec<PathBuf> {
        Vec::new()
    }

    fn discover(&self, _roots: &[PathBuf]) -> crate::transcript::Discovery {
        let stamp = Stamp { size: 1, modified: None, inode: 0 };
        let source =
            crate::transcript::TraceSource { agent: Agent::Generic, path: self.0.clone(), stamp };
        crate::transcript::Discovery { sources: vec![source], ..Default::default() }
    }

    fn read(
        &self,
        trace: &crate::transcript::Trace,
        from: Option<&crate::transcript::Watermark>,
        mut sink: crate::transcript::Sink<'_>,
    ) -> Result<crate::transcript::ReadOutcome, crate::transcript::Error> {
        let mut is_first = true;
        let detail = sink.detail;
        let mut each = |event| {
            if std::mem::take(&mut is_first) {
                sink.take(event);
            }
        };
        let half = crate::transcript::Sink::new(detail, &mut each);
        crate::agents::generic::Generic.read(trace, from, half)?;
        Err(crate::transcript::Error::Busy { path: self.0.clone() })
    }
}

#[test]
fn what_a_refresh_has_no_time_for_is_left_and_named() {
    let mut world = World::new();
    let folder = world.dir.path().join("oc");
    fs::create_dir(&folder).unwrap();
    let database = opencode_database(&folder.join("opencode.db"), "ses_1");
    let spent = crate::transcript::SyncBudget::of(std::time::Duration::ZERO, 0);
    let report = world.opencode();
    assert_eq!((report.read, report.left), (0, 1));
    assert_eq!(report.problems[0].path, folder.join("opencode.db"));
    let reason = Some("time limit reached; the next sync will read it".to_owned());
    assert_eq!(world.states(), [(String::new(), "skipped", reason)]);
    drop(spent);
    let report = world.opencode();
    assert_eq!((report.read, report.left, report.problems.len()), (1, 0, 0));
    assert_eq!(world.states(), [("ses_1".to_owned(), "pending", None)]);
    // Without a budget, a refresh keeps the known state.
    database.execute_batch("UPDATE session SET time_updated = 1762000000001").unwrap();
    let _spent = crate::transcript::SyncBudget::of(std::time::Duration::ZERO, 0);
    assert_eq!(world.opencode().left, 1);
    assert_eq!(world.states(), [("ses_1".to_owned(), "pending", None)]);
}

/// A source with three sessions, of which the first uses up the source's or the entire sync's
/// budget.
struct SpentReader {
    path: PathBuf,
    is_of_sync: bool,
    n_reads: std::sync::atomic::AtomicU32,
}

impl crate::transcript::Adapter for SpentReader {
    fn agent(&self) -> Agent {
        Agent::OpenCode
    }

    fn version(&self) -> u32 {
        1
    }

    fn roots(&self, _homes: &crate::transcript::Homes) -> Vec<PathBuf> {
        Vec::new()
    }

    fn discover(&self, _roots: &[PathBuf]) -> crate::transcript::Discovery {
        crate::transcript::Discovery::default()
    }

    fn sessions(
        &self,
        source: &crate::transcript::TraceSource,
    ) -> Result<Vec<crate::transcript::Trace>, crate::transcript::Error> {
        let trace = |id: u32| crate::transcript::Trace {
            source: source.clone(),
            session: Some(format!("ses_{id}")),
            revision: Some("1".to_owned()),
        };
        Ok((1..=3).map(trace).collect())
    }

    fn read(
        &self,
        _trace: &crate::transcript::Trace,
        _from: Option<&crate::transcript::Watermark>,
        _sink: crate::transcript::Sink<'_>,
    ) -> Result<crate::transcript::ReadOutcome, crate::transcript::Error> {
        self.n_reads.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let (path, source) = (self.path.clone(), crate::transcript::Fault::TooSlow);
        Err(match self.is_of_sync {
            true => crate::transcript::Error::LeftOut { path },
            false => crate::transcript::Error::Store { path, source },
        })
    }
}

#[test]
fn a_source_that_took_all_it_may_is_left_at_once() {
    for (is_of_sync, n_left) in [(false, 0), (true, 3)] {
        let mut world = World::new();
        let path = world.dir.path().join("opencode.db");
        let n_reads = std::sync::atomic::AtomicU32::new(0);
        let reader = SpentReader { path: path.clone(), is_of_sync, n_reads };
        let stamp = Stamp { size: 1, modified: None, inode: 0 };
        let source = crate::transcript::TraceSource { agent: Agent::OpenCode, path, stamp };
        let mut report = RefreshReport::default();
        let options = world.options();
        world.catalog.take_source(&reader, &source, &options, &mut report).unwrap();
        assert_eq!(reader.n_reads.into_inner(), 1);
        let [problem] = &report.problems[..] else { panic!("{:?}", report.problems) };
        assert!(problem.reason.ends_with("(2 more of its sessions were not read)"), "{problem:?}");
        assert_eq!(report.left, n_left);
        world.check_conservation();
    }
}
