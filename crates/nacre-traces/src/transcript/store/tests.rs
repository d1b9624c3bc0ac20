//! Tests databases written by SQLite, in every state that a reader can encounter.
#![expect(clippy::disallowed_methods, reason = "tests write their own databases")]

use std::os::unix::fs::MetadataExt as _;

use proptest::prelude::*;
use rusqlite::Connection;
use tempfile::TempDir;

use super::*;

/// A database that its owner keeps open.
struct Owner {
    folder: TempDir,
    connection: Connection,
}

impl Owner {
    fn new(journal: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let connection = Connection::open(folder.path().join("its own.db")).unwrap();
        connection.pragma_update(None, "journal_mode", journal).unwrap();
        connection.pragma_update(None, "wal_autocheckpoint", 0).unwrap();
        connection.execute_batch("CREATE TABLE t (n INTEGER, s TEXT)").unwrap();
        Self { folder, connection }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("its own.db")
    }

    fn add(&self, count: u32) {
        let sql = "INSERT INTO t SELECT value, hex(randomblob(300)) FROM generate(?1)";
        let sql = sql.replace("generate(?1)", &series(count));
        self.connection.execute_batch(&sql).unwrap();
    }

    /// Returns every file with its content and modification time.
    fn files(&self) -> Vec<(String, Vec<u8>, std::time::SystemTime)> {
        let mut files: Vec<_> = fs::read_dir(self.folder.path())
            .unwrap()
            .map(|entry| {
                let entry = entry.unwrap();
                let name = entry.file_name().into_string().unwrap();
                // SQLite's readers and writers share this index, so only check that it exists.
                let content = if name.ends_with("-shm") {
                    Vec::new()
                } else {
                    fs::read(entry.path()).unwrap()
                };
                let modified = if name.ends_with("-shm") {
                    std::time::SystemTime::UNIX_EPOCH
                } else {
                    entry.metadata().unwrap().modified().unwrap()
                };
                (name, content, modified)
            })
            .collect();
        files.sort();
        files
    }
}

fn series(count: u32) -> String {
    format!(
        "(WITH RECURSIVE c(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM c \
            WHERE value < {count}) SELECT value FROM c)"
    )
}

fn count(store: &Store) -> Result<i64> {
    store.first("SELECT count(*) FROM t", [], |row| number(row, 0).unwrap()).map(Option::unwrap)
}

fn is_busy(error: &Error) -> bool {
    matches!(error, Error::Busy { .. })
}

fn fault(error: &Error) -> &Fault {
    let Error::Store { source, .. } = error else { panic!("{error:?}") };
    source
}

#[test]
fn what_is_committed_is_seen_and_no_trace_left() {
    // Test each journal mode, both before and after the owner closes the database.
    for (journal, is_closed) in [("wal", false), ("wal", true), ("delete", false), ("delete", true)]
    {
        let mut owner = Owner::new(journal);
        owner.add(100);
        if is_closed {
            owner.connection = Connection::open_in_memory().unwrap();
        } else if journal == "wal" {
            owner.connection.execute_batch("BEGIN IMMEDIATE; DELETE FROM t").unwrap();
        }
        let before = owner.files();
        let store = Store::open(&owner.path()).unwrap();
        assert_eq!(count(&store).unwrap(), 100, "{journal} {is_closed}");
        store.close().unwrap();
        assert_eq!(owner.files(), before, "{journal} {is_closed}");
    }
}

/// Lists all files in a directory with their content, except for links and pipes.
fn outside_of(folder: &Path) -> Vec<(PathBuf, u64, i64, Option<Vec<u8>>)> {
    let mut found: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let metadata = fs::symlink_metadata(&path).unwrap();
            let content = metadata.is_file().then(|| fs::read(&path).unwrap());
            (path, metadata.len(), metadata.mtime_nsec(), content)
        })
        .collect();
    found.sort();
    found
}

#[test]
fn nothing_beside_a_database_is_followed_waited_for_or_changed() {
    let make_pipe = |path: &Path| {
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    };
    type Put<'a> = (&'a str, &'a dyn Fn(&Path, &Path));
    let put: [Put<'_>; 3] = [
        ("pipe", &|_, at| make_pipe(at)),
        ("link", &|target, at| std::os::unix::fs::symlink(target, at).unwrap()),
        ("second name", &|target, at| fs::hard_link(target, at).unwrap()),
    ];
    for journal in ["delete", "wal"] {
        for (wal, put_wal) in put {
            for (beside_it, put_other) in put {
                for other in ["-shm", "-journal"] {
                    let mut owner = Owner::new(journal);
                    owner.add(10);
                    owner.connection = Connection::open_in_memory().unwrap();
                    let precious = owner.folder.path().join("precious");
                    fs::write(&precious, "precious\n".repeat(161)).unwrap();
                    put_wal(&precious, &beside(&owner.path(), "-wal"));
                    put_other(&precious, &beside(&owner.path(), other));
                    let before = outside_of(owner.folder.path());
                    let read = Store::open(&owner.path()).and_then(|store| count(&store));
                    let what = format!("{journal}: {wal} as log, {beside_it} as {other}");
                    // A regular file that is not this database's log or journal may be ignored.
                    assert!(wal == "second name" || read.is_err(), "{what}");
                    assert_eq!(outside_of(owner.folder.path()), before, "{what}");
                }
            }
        }
    }
}

#[test]
fn an_image_holds_what_only_the_log_has() {
    let owner = Owner::new("wal");
    owner.add(10);
    owner.connection.pragma_update(None, "wal_checkpoint", "TRUNCATE").ok();
    for _ in 0..20 {
        owner.add(50);
        owner.connection.execute_batch("DELETE FROM t WHERE n % 3 = 0").unwrap();
        let expected: i64 =
            owner.connection.query_row("SELECT count(*) FROM t", [], |row| row.get(0)).unwrap();
        let store = Store::open(&owner.path()).unwrap();
        assert_eq!(count(&store).unwrap(), expected);
        let check = store
            .first("PRAGMA integrity_check", [], |row| text(row, 0).map(Cow::into_owned).unwrap());
        assert_eq!(check.unwrap().as_deref(), Some("ok"));
    }
}

#[test]
fn a_log_without_its_index_is_read() {
    let owner = Owner::new("wal");
    owner.add(100);
    let copy = tempfile::tempdir().unwrap();
    let path = copy.path().join("copy.db");
    fs::copy(owner.path(), &path).unwrap();
    fs::copy(beside(&owner.path(), "-wal"), beside(&path, "-wal")).unwrap();
    assert_eq!(count(&Store::open(&path).unwrap()).unwrap(), 100);
    let mut names: Vec<_> =
        fs::read_dir(copy.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["copy.db", "copy.db-wal"]);
}

#[test]
fn a_log_that_is_too_long_is_named() {
    let owner = Owner::new("wal");
    owner.add(1);
    let log = fs::File::options().write(true).open(beside(&owner.path(), "-wal")).unwrap();
    log.set_len((512 << 20) + 1).unwrap();
    let error = Store::open(&owner.path()).unwrap_err();
    assert!(
        matches!(&error, Error::TooLarge { path, .. } if *path == beside(&owner.path(), "-wal")),
        "{error:?}"
    );
}

#[test]
fn a_database_that_wakes_up_is_busy() {
    let mut owner = Owner::new("wal");
    owner.add(100);
    owner.connection = Connection::open_in_memory().unwrap();
    let store = Store::open(&owner.path()).unwrap();
    assert_eq!(count(&store).unwrap(), 100);
    let writer = Connection::open(owner.path()).unwrap();
    writer.execute_batch("INSERT INTO t VALUES (1, 'x')").unwrap();
    assert!(is_busy(&store.close().unwrap_err()));
}

#[test]
fn what_is_added_to_a_log_disturbs_nobody_and_a_checkpoint_does() {
    let owner = Owner::new("wal");
    owner.add(100);
    let old = std::time::SystemTime::UNIX_EPOCH;
    fs::File::options().write(true).open(owner.path()).unwrap().set_modified(old).unwrap();
    let store = Store::open(&owner.path()).unwrap();
    owner.add(50);
    assert_eq!(count(&store).unwrap(), 100);
    store.close().unwrap();
    let store = Store::open(&owner.path()).unwrap();
    owner.connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(())).unwrap();
    assert!(is_busy(&store.close().unwrap_err()));
}

#[test]
fn a_locked_database_is_busy() {
    let owner = Owner::new("delete");
    owner.add(10);
    owner.connection.execute_batch("BEGIN EXCLUSIVE; DELETE FROM t").unwrap();
    let before = owner.files();
    let opened = Store::open(&owner.path()).and_then(|store| count(&store));
    assert!(is_busy(&opened.unwrap_err()));
    assert_eq!(owner.files(), before);
}

#[test]
fn a_hot_journal_is_busy_and_stays() {
    let owner = Owner::new("delete");
    owner.add(2000);
    owner.connection.pragma_update(None, "cache_size", 1).unwrap();
    owner.connection.execute_batch("BEGIN; UPDATE t SET s = hex(randomblob(300))").unwrap();
    let copy = tempfile::tempdir().unwrap();
    let path = copy.path().join("copy.db");
    fs::copy(owner.path(), &path).unwrap();
    fs::copy(beside(&owner.path(), "-journal"), beside(&path, "-journal")).unwrap();
    let opened = Store::open(&path).and_then(|store| count(&store));
    assert!(is_busy(&opened.unwrap_err()));
    assert!(beside(&path, "-journal").exists());
}

#[test]
fn a_writer_at_work_is_met_with_whole_states_only() {
    for journal in ["wal", "delete"] {
        let owner = Owner::new(journal);
        owner.connection.pragma_update(None, "wal_autocheckpoint", 8).unwrap();
        owner.connection.pragma_update(None, "synchronous", "OFF").unwrap();
        let path = owner.path();
        let writer = std::thread::spawn(move || {
            for n in 0..300 {
                // State `n` has `n + 1` rows, so that a mix of two states can be detected.
                let sql = format!(
                    "BEGIN; DELETE FROM t; INSERT INTO t SELECT {n}, hex(randomblob(99)) \
                    FROM {}; COMMIT",
                    series(n + 1)
                );
                owner.connection.execute_batch(&sql).unwrap();
            }
            owner
        });
        let mut n_read = 0;
        while !writer.is_finished() || n_read == 0 {
            let sql = "SELECT count(*), min(n), max(n) FROM t";
            let read = Store::open(&path).and_then(|store| {
                let state = store.first(sql, [], |row| [0, 1, 2].map(|idx| number(row, idx)))?;
                store.close()?;
                Ok(state)
            });
            match read {
                Ok(Some([Some(n_rows), Some(low), Some(high)])) => {
                    assert_eq!((low + 1, high), (n_rows, low));
                    n_read += 1;
                }
                Ok(_) => {}
                Err(error) => assert!(is_busy(&error), "{error:?}"),
            }
        }
        drop(writer.join().unwrap());
    }
}

#[test]
fn steps_and_bytes_are_bounded() {
    let owner = Owner::new("wal");
    owner.add(3000);
    let store = Store::open(&owner.path()).unwrap();
    let endless = "SELECT count(*) FROM t a, t b, t c, t d WHERE a.n + b.n + c.n < d.n - 9";
    let error = store.first(endless, [], |_| ()).unwrap_err();
    assert!(matches!(fault(&error), Fault::TooSlow), "{error:?}");
    let store = Store::open(&owner.path()).unwrap();
    let wide = "SELECT a.s, b.s FROM t a, t b";
    let error = store.rows(wide, [], |_| Wish::More).unwrap_err();
    assert!(matches!(fault(&error), Fault::TooSlow), "{error:?}");
}

#[test]
fn views_and_foreign_schemas_are_refused() {
    let owner = Owner::new("wal");
    let sql = "CREATE VIEW v AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) \
        SELECT x FROM c";
    owner.connection.execute_batch(sql).unwrap();
    let store = Store::open(&owner.path()).unwrap();
    assert!(!store.has_table("v").unwrap());
    assert!(store.has_columns("t", &["n", "s"]).unwrap());
    assert!(!store.has_columns("t", &["n", "x"]).unwrap());
    let error = store.first("SELECT * FROM v", [], |_| ()).unwrap_err();
    assert!(
        matches!(fault(&error), Fault::Schema(_) | Fault::Corrupt(_) | Fault::Computed),
        "{error:?}"
    );
    let error = store.first("SELECT * FROM nothing", [], |_| ()).unwrap_err();
    assert!(matches!(fault(&error), Fault::Schema(_)), "{error:?}");
}

#[test]
fn a_table_that_computes_is_not_read() {
    // With larger numbers, evaluating the first column would take days in a single step.
    let columns =
        ["n AS (instr(zeroblob(400), zeroblob(200) || x'01'))", "n AS (length(s)) STORED"];
    for column in columns {
        let owner = Owner::new("wal");
        let sql = format!("CREATE TABLE g (s TEXT, {column}); INSERT INTO g (s) VALUES ('x')");
        owner.connection.execute_batch(&sql).unwrap();
        let store = Store::open(&owner.path()).unwrap();
        let error = store.has_table("g").unwrap_err();
        assert!(matches!(fault(&error), Fault::Computed), "{error:?}");
        for sql in ["SELECT n FROM g", "SELECT s FROM g", "SELECT count(*) FROM g"] {
            let error = store.first(sql, [], |_| ()).unwrap_err();
            assert!(matches!(fault(&error), Fault::Computed), "{sql}: {error:?}");
        }
        assert!(store.has_table("t").unwrap());
    }
}

#[test]
fn a_table_of_a_module_is_not_read() {
    let owner = Owner::new("wal");
    owner.connection.execute_batch("CREATE VIRTUAL TABLE v USING fts5(s)").unwrap();
    let store = Store::open(&owner.path()).unwrap();
    let error = store.has_table("v").unwrap_err();
    assert!(matches!(fault(&error), Fault::Computed), "{error:?}");
    assert!(store.first("SELECT s FROM v", [], |_| ()).is_err());
    assert_eq!(count(&store).unwrap(), 0);
}

#[test]
fn a_table_with_the_name_of_a_pragma_is_only_a_table() {
    let owner = Owner::new("wal");
    let sql = "CREATE TABLE pragma_table_xinfo (name, hidden AS (1)); \
        CREATE TABLE pragma_table_info (name); INSERT INTO pragma_table_info VALUES ('x')";
    owner.connection.execute_batch(sql).unwrap();
    let store = Store::open(&owner.path()).unwrap();
    assert!(store.has_columns("t", &["n", "s"]).unwrap());
    assert!(!store.has_columns("t", &["x"]).unwrap());
    assert!(store.has_table("pragma_table_xinfo").is_err());
}

#[test]
fn what_is_no_database_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(Store::open(folder.path()), Err(Error::NotAFile { .. })));
    let path = folder.path().join("x.db");
    assert!(matches!(Store::open(&path), Err(Error::Open { .. })));
    fs::write(&path, b"SQLite format 3\0 and nothing else").unwrap();
    let opened = Store::open(&path).and_then(|store| store.has_table("t"));
    assert!(matches!(fault(&opened.unwrap_err()), Fault::Corrupt(_)));
    fs::write(&path, b"").unwrap();
    assert!(!Store::open(&path).unwrap().has_table("t").unwrap());
}

fn exhaust(path: &Path) {
    let Ok(store) = Store::open(path) else { return };
    let mut n_bytes = 0;
    let sql = "SELECT n, s FROM t ORDER BY s";
    let read = store.rows(sql, [], |row| {
        n_bytes += bytes(row, 1).map_or(0, <[u8]>::len);
        Wish::More
    });
    drop((read, store.close()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_bytes_are_survived(main in prop::collection::vec(any::<u8>(), 0..4096),
                              log in prop::collection::vec(any::<u8>(), 0..4096)) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        let mut bytes = b"SQLite format 3\0\x10\0\x02\x02".to_vec();
        bytes.extend(&main);
        fs::write(&path, if main.len() % 2 == 0 { &bytes } else { &main }).unwrap();
        fs::write(beside(&path, "-wal"), log).unwrap();
        exhaust(&path);
    }

    #[test]
    fn flipped_bytes_are_survived(flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..40),
                                  in_log in any::<bool>()) {
        let (main, log) = wal_fixture();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        let (mut main, mut log) = (main.clone(), log.clone());
        for (at, value) in flips {
            let target = if in_log { &mut log } else { &mut main };
            let at = at.index(target.len());
            target[at] = value;
        }
        fs::write(&path, main).unwrap();
        fs::write(beside(&path, "-wal"), log).unwrap();
        exhaust(&path);
    }
}

/// Returns a database with half of its rows in the write-ahead log.
fn wal_fixture() -> &'static (Vec<u8>, Vec<u8>) {
    static FIXTURE: std::sync::OnceLock<(Vec<u8>, Vec<u8>)> = std::sync::OnceLock::new();
    FIXTURE.get_or_init(|| {
        let owner = Owner::new("wal");
        owner.add(60);
        owner.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
        owner.add(60);
        (fs::read(owner.path()).unwrap(), fs::read(beside(&owner.path(), "-wal")).unwrap())
    })
}

#[test]
fn once_the_budget_is_spent_no_query_is_begun() {
    let owner = Owner::new("wal");
    owner.add(3000);
    let store = Store::open(&owner.path()).unwrap();
    assert_eq!(count(&store).unwrap(), 3000);
    let wide = "SELECT a.s, b.s FROM t a, t b";
    let spent = store.rows(wide, [], |_| Wish::More);
    // Even a reader that skips damaged rows must stop here.
    let mut ignore = |_: crate::transcript::event::TranscriptEvent| {};
    let facts =
        crate::transcript::facts::SessionFacts::new(crate::transcript::facts::Agent::Cursor, "s");
    let mut out = Emitter::new(facts, 0, crate::transcript::emit::Sink::everything(&mut ignore));
    let error = store.survive(spent, &mut out).unwrap_err();
    assert!(matches!(fault(&error), Fault::TooSlow), "{error:?}");
    let mut n_rows = 0;
    let error = store
        .rows("SELECT 1", [], |_| {
            n_rows += 1;
            Wish::More
        })
        .unwrap_err();
    assert!(matches!(fault(&error), Fault::TooSlow), "{error:?}");
    assert_eq!(n_rows, 0);
}

#[test]
fn a_database_is_spent_for_a_whole_sync() {
    let owner = Owner::new("wal");
    owner.add(3000);
    let sync = crate::transcript::budget::SyncBudget::begin();
    let store = Store::open(&owner.path()).unwrap();
    let wide = "SELECT a.s, b.s FROM t a, t b, t c";
    assert!(store.rows(wide, [], |_| Wish::More).is_err());
    let error = Store::open(&owner.path()).unwrap_err();
    assert!(matches!(fault(&error), Fault::TooSlow), "{error:?}");
    drop(sync);
    assert_eq!(count(&Store::open(&owner.path()).unwrap()).unwrap(), 3000);
}

#[test]
fn a_hole_brings_no_budget() {
    let mut owner = Owner::new("delete");
    owner.add(100);
    owner.connection = Connection::open_in_memory().unwrap();
    let size = |owner: &Owner| {
        let (image, ..) = Image::open(&owner.path()).unwrap();
        (image.size, image.size_on_disk)
    };
    let (whole, on_disk) = size(&owner);
    assert_eq!(whole, on_disk);
    fs::File::options().write(true).open(owner.path()).unwrap().set_len(1 << 40).unwrap();
    let (lengthened, on_disk) = size(&owner);
    assert_eq!(lengthened, 1 << 40);
    assert!(on_disk < 16 << 20, "{on_disk}");
}

#[test]
fn a_schema_that_no_agent_has_is_not_parsed() {
    let refused = |make: &dyn Fn(usize) -> String, n_tables: usize| {
        let owner = Owner::new("wal");
        let sql: String = (0..n_tables).map(make).collect();
        owner.connection.execute_batch(&format!("BEGIN; {sql} COMMIT;")).unwrap();
        match Store::open(&owner.path()) {
            Ok(store) => {
                assert!(store.has_table("t").unwrap());
                false
            }
            Err(Error::Unreadable { .. }) => true,
            Err(error) => panic!("{error:?}"),
        }
    };
    let long =
        |idx: usize| format!("CREATE TABLE t{idx} (a CHECK (a IN ({}1)));", "1,".repeat(50_000));
    let note = "x".repeat(200);
    let short = |idx: usize| format!("CREATE TABLE t{idx} (a /* {note} */);");
    assert!(!refused(&long, 1));
    assert!(refused(&long, 6));
    assert!(!refused(&short, 900));
    assert!(refused(&short, 3000));
}
