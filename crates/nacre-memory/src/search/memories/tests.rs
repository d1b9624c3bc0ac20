//! Tests memory search on real stores: edits by hand, damage, superseded claims and arbitrary
//! queries.

#![expect(clippy::disallowed_methods, reason = "the tests play the person who edits files")]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::Rules;
use nacre_base::fs::{Access, WriteScope};

pub(super) struct World {
    pub(super) dir: tempfile::TempDir,
    pub(super) store: Store,
}

/// Returns the actual current time, at which a newly written file may still change without getting
/// a new stamp.
fn now() -> Timestamp {
    Timestamp::now()
}

/// Returns a time late enough that all stamps can be trusted.
pub(super) fn later() -> Timestamp {
    Timestamp::from_second(4_000_000_000).unwrap()
}

pub(super) fn owner() -> Owner {
    Owner { pid: 1, command: "test".to_owned(), since: String::new() }
}

impl World {
    pub(super) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("memory/decisions")).unwrap();
        let store = Self::store(dir.path());
        Self { dir, store }
    }

    fn store(path: &Path) -> Store {
        Store::new(WriteScope::open(path, Access::Private).unwrap(), Rules::default())
    }

    fn path(&self, id: &str) -> PathBuf {
        self.dir.path().join(format!("memory/decisions/{id}.md"))
    }

    pub(super) fn write(&self, id: &str, title: &str, keys: &str, body: &str) {
        let text = format!("---\nid: {id}\ntitle: {title}\n{keys}---\n\n{body}\n");
        fs::write(self.path(id), text).unwrap();
    }

    /// Adds evidence to a memory.
    fn quote(&self, id: &str) {
        let folder = self.dir.path().join("meta/evidence");
        fs::create_dir_all(&folder).unwrap();
        let quote = r#"{"text":"so it is","speaker":"user","place":"s:1","at":"2026"}"#;
        let text = format!(r#"{{"version":1,"id":"{id}","quotes":[{quote}]}}"#);
        fs::write(folder.join(format!("{id}.json")), text).unwrap();
    }

    pub(super) fn open(&self, now: Timestamp) -> MemoryIndex<'_> {
        MemoryIndex::open(&self.store, &owner(), now).unwrap()
    }

    fn found(&self, query: &str) -> MemoryHits {
        let index = self.open(now());
        let options = MemoryOptions { mode: Mode::Hybrid, limit: 10, archived: false };
        index.search(&Query::parse(query, now()), &options)
    }

    pub(super) fn ids(&self, query: &str) -> Vec<String> {
        self.found(query).hits.iter().map(|hit| hit.memory.at.id.to_string()).collect()
    }

    fn index_files(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.dir.path().join(INDEX_FOLDER)).unwrap();
        let mut files: Vec<PathBuf> =
            entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_file()).collect();
        files.sort();
        files
    }

    /// Creates a store with three decisions, each found by a different query.
    fn filled() -> Self {
        let world = Self::new();
        world.write(
            "20260101-queue",
            "The queue is a SQLite table",
            "tags: [db]\n",
            "One file, no broker.",
        );
        world.write(
            "20260102-tz",
            "Tests run with TZ=UTC",
            "",
            "The report test fails after 23:00 without it.",
        );
        world.write(
            "20260103-errors",
            "Errors carry a hint",
            "",
            "See `src/error.rs` and `CommandError`.",
        );
        world
    }

    fn check(&self) {
        assert_eq!(self.ids("sqlite queue").first().unwrap(), "20260101-queue");
        assert_eq!(self.ids("time zone of the report test").first().unwrap(), "20260102-tz");
        assert_eq!(self.ids("file:error.rs"), ["20260103-errors"]);
    }
}

#[test]
fn whoever_watches_is_told_how_many_memories_are_indexed() {
    let world = World::filled();
    let mut told = Vec::new();
    let mut watch = |done: usize, total: usize| told.push((done, total));
    MemoryIndex::open_watched(&world.store, &owner(), now(), &mut watch).unwrap();
    assert_eq!(told.last(), Some(&(3, 3)));
}

#[test]
fn a_peek_finds_what_is_there_and_leaves_the_disk_as_it_is() {
    let world = World::filled();
    let first = |index: &MemoryIndex<'_>, query: &str| {
        let options = MemoryOptions { mode: Mode::Hybrid, limit: 1, archived: false };
        let found = index.search(&Query::parse(query, now()), &options);
        found.hits.first().map(|hit| hit.memory.at.id.to_string())
    };
    let peek = || MemoryIndex::peek(&world.store, now()).unwrap();
    assert_eq!(first(&peek(), "sqlite queue").as_deref(), Some("20260101-queue"));
    assert!(!world.dir.path().join(INDEX_FOLDER).exists());
    world.open(now());
    let before: Vec<_> =
        world.index_files().into_iter().map(|file| (fs::read(&file).unwrap(), file)).collect();
    world.write("20260104-pearl", "Pearls are kept in nacre", "", "Layer by layer.");
    assert_eq!(first(&peek(), "pearls nacre").as_deref(), Some("20260104-pearl"));
    let after: Vec<_> =
        world.index_files().into_iter().map(|file| (fs::read(&file).unwrap(), file)).collect();
    assert!(after == before);
}

#[test]
fn words_meaning_and_filters_find() {
    let world = World::filled();
    world.check();
    assert_eq!(world.ids("tag:db"), ["20260101-queue"]);
    assert_eq!(world.ids("\"report test fails\""), ["20260102-tz"]);
    assert!(world.ids("\"test report fails\"").is_empty());
    assert_eq!(world.ids("symbol:CommandError type:decision"), ["20260103-errors"]);
    let hit = &world.found("sqlite broker").hits[0];
    assert_eq!(
        (hit.why.terms.join(" "), hit.snippet.as_str()),
        ("sqlite broker".to_owned(), "One file, no broker.")
    );
}

#[test]
fn a_memory_is_found_by_the_situations_it_applies_to() {
    let world = World::new();
    world.write(
        "20261101-columns",
        "Dropping a column takes two releases",
        "",
        "Readers go first.",
    );
    world.write("20261102-mails", "Mails are sent by the worker", "", "The web server never does.");
    let best =
        |query: &str| world.found(query).hits.first().map(|hit| hit.memory.at.id.to_string());
    assert_eq!(best("remove the fax number of customers"), None);
    let keys = "applies: [remove the fax number from Customer, alter table fails]\n";
    world.write(
        "20261101-columns",
        "Dropping a column takes two releases",
        keys,
        "Readers go first.",
    );
    assert_eq!(best("remove the fax number of customers").as_deref(), Some("20261101-columns"));
}

#[test]
fn an_empty_store_and_one_memory_answer() {
    let world = World::new();
    assert!(world.ids("anything").is_empty());
    world.write("20260101-one", "Use tabs", "", "Four wide.");
    assert_eq!(world.ids("tabs"), ["20260101-one"]);
    assert_eq!(world.ids("indentation style with tab characters"), ["20260101-one"]);
    assert!(world.ids("kubernetes ingress certificate").is_empty());
}

#[test]
fn edits_additions_and_removals_by_hand_are_seen_at_once() {
    let world = World::filled();
    world.check();
    world.write("20260101-queue", "The queue is in Redis", "", "A broker after all.");
    assert_eq!(world.ids("redis"), ["20260101-queue"]);
    assert!(world.found("sqlite").hits.iter().all(|hit| hit.why.terms.is_empty()));
    world.write("20260104-new", "Logs are logfmt", "", "One line an event.");
    assert_eq!(world.ids("logfmt"), ["20260104-new"]);
    fs::remove_file(world.path("20260104-new")).unwrap();
    assert!(world.ids("logfmt").is_empty());
    fs::rename(world.path("20260102-tz"), world.dir.path().join("gone.md")).unwrap();
    assert!(!world.ids("report test fails").contains(&"20260102-tz".to_owned()));
}

#[test]
fn evidence_is_searched_and_noticed() {
    let world = World::filled();
    world.check();
    let folder = world.dir.path().join("meta/evidence");
    fs::create_dir_all(&folder).unwrap();
    let evidence = r#"{"version":1,"id":"20260102-tz","quotes":[{"text":"the nightly build exploded","speaker":"user","place":"x","at":"2026-01-02T00:00:00Z"}]}"#;
    fs::write(folder.join("20260102-tz.json"), evidence).unwrap();
    assert_eq!(world.ids("nightly explosion").first().unwrap(), "20260102-tz");
}

#[test]
fn a_damaged_missing_or_foreign_index_is_rebuilt() {
    let world = World::filled();
    world.check();
    for number in 0..world.index_files().len() {
        // A rebuilt index file may have a different name.
        let Some(file) = world.index_files().into_iter().nth(number) else { break };
        let whole = fs::read(&file).unwrap();
        let mut cuts: Vec<usize> = (0..whole.len()).step_by(4096).collect();
        cuts.extend([1, whole.len() / 2, whole.len() - 1]);
        for cut in cuts {
            fs::write(&file, &whole[..cut]).unwrap();
            world.check();
        }
        for at in [9, 12, whole.len() / 3, whole.len() - 4] {
            let mut changed = fs::read(&file).unwrap_or_else(|_| whole.clone());
            if let Some(byte) = changed.get_mut(at) {
                *byte ^= 0xff;
            }
            fs::write(&file, &changed).unwrap();
            world.check();
        }
    }
    fs::remove_dir_all(world.dir.path().join(INDEX_FOLDER)).unwrap();
    world.check();
}

#[test]
fn an_index_that_is_up_to_date_is_not_written() {
    let world = World::filled();
    let stamp = |path: &PathBuf| fs::metadata(path).unwrap().modified().unwrap();
    world.open(later());
    let before: Vec<_> =
        world.index_files().iter().map(|path| (path.clone(), stamp(path))).collect();
    world.open(later());
    let after: Vec<_> =
        world.index_files().iter().map(|path| (path.clone(), stamp(path))).collect();
    assert_eq!(before, after);
}

/// Path of a summary, relative to the store.
const SUMMARY: &str = "memory/summaries/20260105/101500/queue.md";

/// A change to a store.
type Change = Box<dyn Fn(&Path)>;

/// Applies every kind of change that a user or git may make, each to a separate store.
#[test]
fn any_change_of_a_file_or_a_folder_is_noticed_without_listing() {
    let page = "---\nid: 20260109-x\ntitle: X\n---\n\nx\n";
    let in_folder = |path: &'static str| {
        move |root: &Path| {
            fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
            fs::write(root.join(path), page).unwrap();
        }
    };
    let changes: Vec<(&str, Change)> = vec![
        ("edited in place", Box::new(|root| fs::write(root.join(SUMMARY), "other").unwrap())),
        ("a new decision", Box::new(in_folder("memory/decisions/20260109-x.md"))),
        ("the first learning", Box::new(in_folder("memory/learnings/20260109-x.md"))),
        ("the first archived", Box::new(in_folder("memory/archived/learnings/20260109-x.md"))),
        ("beside a summary", Box::new(in_folder("memory/summaries/20260105/101500/x.md"))),
        ("a new time", Box::new(in_folder("memory/summaries/20260105/111500/x.md"))),
        ("a new day", Box::new(in_folder("memory/summaries/20260106/101500/x.md"))),
        ("gone", Box::new(|root| fs::remove_file(root.join(SUMMARY)).unwrap())),
        (
            "a day gone",
            Box::new(|root| {
                fs::remove_dir_all(root.join("memory/summaries/20260105")).unwrap();
            }),
        ),
        (
            "a day elsewhere",
            Box::new(|root| {
                let day = root.join("memory/summaries/20260105");
                fs::rename(&day, root.join("away")).unwrap();
                std::os::unix::fs::symlink(root.join("away"), day).unwrap();
            }),
        ),
        ("evidence", Box::new(in_folder("meta/evidence/20260101-queue.json"))),
    ];
    for (what, change) in changes {
        let world = World::filled();
        let summary = world.dir.path().join(SUMMARY);
        fs::create_dir_all(summary.parent().unwrap()).unwrap();
        fs::write(&summary, page).unwrap();
        // Ensure that no change happens within the clock tick in which a directory was created.
        age(&world.dir.path().join("memory"));
        let is_current = || {
            let index = Index::new(place::open_or_create(&world.store), INDEX_NAME);
            look::is_current(&world.store, &index.load()).unwrap()
        };
        assert!(!is_current(), "{what}: there is no index yet");
        world.open(later());
        assert!(is_current(), "{what}: nothing changed");
        change(world.dir.path());
        assert!(!is_current(), "{what}");
    }
}

/// Backdates all files and directories below `path`.
fn age(path: &Path) {
    if path.is_dir() {
        fs::read_dir(path).unwrap().for_each(|entry| age(&entry.unwrap().path()));
    }
    let long_ago = std::time::UNIX_EPOCH + Duration::from_secs(1_600_000_000);
    fs::File::open(path).unwrap().set_modified(long_ago).unwrap();
}

#[test]
fn what_was_overturned_stands_below() {
    let world = World::filled();
    world.write(
        "20260201-queue",
        "Jobs go through Redis streams",
        "supersedes: [20260101-queue]\nupdated: 2026-02-01\n",
        "The table was a bottleneck.",
    );
    let found = world.found("sqlite queue table");
    assert_eq!(found.hits[0].memory.at.id.as_str(), "20260201-queue");
    assert_eq!(found.hits[0].history[0].at.id.as_str(), "20260101-queue");
    assert!(found.hits.iter().all(|hit| hit.memory.at.id.as_str() != "20260101-queue"));
    // A query that uses the old wording finds the new memory, and a query for the old ID finds the
    // old memory.
    assert_eq!(world.ids("\"no broker\"").first().unwrap(), "20260201-queue");
    assert_eq!(world.ids("id:20260101-queue"), ["20260101-queue"]);
}

#[test]
fn a_claim_that_only_the_newer_file_makes_is_reported() {
    let world = World::filled();
    world.write("20260201-new", "Jobs go through Redis", "supersedes: [20260101-queue]\n", "Fast.");
    let unverified = |world: &World| {
        let found = world.found("sqlite queue table");
        assert_eq!(found.hits[0].memory.at.id.as_str(), "20260201-new");
        found.hits[0].find_unverified().map(|older| older.at.id.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(unverified(&world), ["20260101-queue"]);
    let keys = "tags: [db]\nsuperseded_by: 20260201-new\n";
    world.write("20260101-queue", "The queue is a SQLite table", keys, "One file, no broker.");
    assert_eq!(unverified(&world), [""; 0]);
    let index = world.open(now());
    let claimants = index.claimants(&"20260101-queue".parse().unwrap());
    assert_eq!(claimants.len(), 1);
    assert_eq!(world.store.claimants(&"20260101-queue".parse().unwrap()).unwrap().len(), 1);
}

#[test]
fn what_is_archived_overturns_nothing() {
    let world = World::filled();
    let keys = "supersedes: [20260101-queue]\nstatus: archived\n";
    world.write("20260201-new", "Jobs go through Redis", keys, "Fast.");
    assert_eq!(world.ids("sqlite queue table").first().unwrap(), "20260101-queue");
}

#[test]
fn a_memory_without_evidence_stands_below_an_equal_one_with_it() {
    let world = World::filled();
    let text = "The upload limit is 10 MB, checked by the gateway.";
    let title = "Upload limit is 10 MB per file";
    // Without evidence, a memory's newer date, confidence and `contradicts` link have no effect.
    let keys = "updated: 2026-04-01\nconfidence: 1\ncontradicts: [20260301-limit]\n";
    world.write("20260301-limit", title, "updated: 2026-03-01\nconfidence: 0.1\n", text);
    world.write("20260201-limit", title, keys, text);
    let question = "what is the upload limit per file checked by the gateway";
    assert_eq!(world.ids(question)[..2], ["20260201-limit", "20260301-limit"]);
    world.quote("20260301-limit");
    assert_eq!(world.ids(question)[..2], ["20260301-limit", "20260201-limit"]);
    world.quote("20260201-limit");
    assert_eq!(world.ids(question)[..2], ["20260201-limit", "20260301-limit"]);
}

#[test]
fn a_ring_of_links_ends() {
    let world = World::new();
    world.write(
        "20260101-a",
        "Alpha rule",
        "supersedes: [20260102-b]\nsuperseded_by: 20260102-b\n",
        "x",
    );
    world.write(
        "20260102-b",
        "Beta rule",
        "supersedes: [20260101-a]\nsuperseded_by: 20260101-a\n",
        "x",
    );
    world.write("20260103-c", "Gamma rule", "superseded_by: 20990101-nobody\n", "x");
    assert_eq!(world.ids("rule").len(), 3);
}

#[test]
fn the_newer_of_two_that_say_the_same_stands_first() {
    let world = World::filled();
    world.write(
        "20260301-limit",
        "Upload limit is 10 MB per file",
        "updated: 2026-03-01\n",
        "The upload limit is 10 MB, checked by the gateway.",
    );
    world.write(
        "20260401-limit",
        "Upload limit is 50 MB per file",
        "updated: 2026-04-01\n",
        "The upload limit is 50 MB now, still checked by the gateway, since videos did not fit.",
    );
    assert_eq!(
        world.ids("what is the upload limit per file checked by the gateway")[..2],
        ["20260401-limit", "20260301-limit"]
    );
}

#[test]
fn an_old_encoding_is_found_and_a_broken_file_is_told() {
    let world = World::filled();
    let text = b"---\nid: 20260105-cafe\ntitle: Caf\xe9 menu is static\n---\n\nThe caf\xe9 page never changes.\n";
    fs::write(world.path("20260105-cafe"), text).unwrap();
    fs::write(world.path("20260106-bad"), "no frontmatter").unwrap();
    let found = world.found("café menu");
    assert_eq!(found.hits[0].memory.title, "Café menu is static");
    let broken: Vec<&str> = found.broken.iter().map(|broken| broken.path.name()).collect();
    assert!(broken.contains(&"20260106-bad.md"), "{broken:?}");
}

#[test]
fn a_store_that_cannot_be_written_is_searched() {
    let world = World::filled();
    fs::write(world.dir.path().join(INDEX_FOLDER), "no folder").unwrap();
    world.check();
}

#[test]
fn a_locked_index_is_used_and_left() {
    let world = World::filled();
    let folder =
        WriteScope::create_inside(world.dir.path(), INDEX_FOLDER, Access::Private).unwrap();
    let writer = folder.lock(&owner(), Duration::ZERO).unwrap();
    world.check();
    assert!(world.index_files().iter().all(|path| path.extension().is_none()));
    drop(writer);
    world.check();
    assert!(world.index_files().iter().any(|path| path.extension().is_some()));
}

#[test]
fn many_changes_leave_the_right_answers() {
    let world = World::filled();
    for n in 0..60 {
        world.write(&format!("20260501-n{n}"), &format!("Number {n} is special{n}"), "", "x");
        let expected = format!("20260501-n{n}");
        assert_eq!(world.ids(&format!("special{n}")).first(), Some(&expected));
    }
    let index = world.open(now());
    assert_eq!(index.snapshot().n_records(), 63);
    world.check();
}

#[test]
fn kin_is_found_by_links_and_by_what_is_shared() {
    let world = World::filled();
    world.write(
        "20260107-related",
        "Hints name a command",
        "related: [20260103-errors]\n",
        "Also in src/error.rs.",
    );
    let index = world.open(now());
    let kin: Vec<(String, &str)> = index
        .find_related("20260103-errors")
        .into_iter()
        .map(|(kin, _)| (kin.id, kin.kind.as_str()))
        .collect();
    assert_eq!(kin, [("20260107-related".to_owned(), "related")]);
    assert!(index.find_related("20990101-nobody").is_empty());
}

fn outlined<'a>(index: &'a MemoryIndex<'_>, task: Option<&str>, files: &[&str]) -> Vec<Listed<'a>> {
    let files: Vec<String> = files.iter().map(|file| (*file).to_owned()).collect();
    let mut listed: Vec<Listed<'_>> = index.outline(&Interest { task, files: &files }).collect();
    listed.sort_by(|a, b| a.id.cmp(b.id));
    listed
}

#[test]
fn an_outline_holds_what_holds_and_nothing_else() {
    let world = World::new();
    world.write("20260101-one", "One", "", "Text.");
    world.write("20260102-two", "Two", "supersedes: [20260101-one]\n", "Text.");
    world.write("20260103-three", "Three", "status: superseded\n", "Text.");
    world.write("20260104-four", "Four", "superseded_by: [20260102-two]\n", "Text.");
    world.write("20260105-five", "Five", "status: candidate\n", "Text.");
    world.write("20260106-six", "Six", "status: stale\n", "Text.");
    world.write("20260107-seven", "Seven", "status: archived\n", "Text.");
    // An archived memory does not supersede any other.
    let keys = "supersedes: [20260109-nine]\nstatus: archived\n";
    world.write("20260108-eight", "Eight", keys, "Text.");
    world.write("20260109-nine", "Nine", "updated: 2026-01-09\nconfidence: 1\n", "Text.");
    world.write("20260110-ten", "Ten", "supersedes: [20260110-ten]\n", "It names itself.");
    let index = world.open(now());
    let ids: Vec<&str> = outlined(&index, None, &[]).into_iter().map(|one| one.id).collect();
    // A claim made only in another file does not hide a memory.
    assert_eq!(ids, ["20260101-one", "20260102-two", "20260109-nine", "20260110-ten"]);
    let nine = outlined(&index, None, &[]).remove(2);
    assert_eq!((nine.confidence, nine.fit, nine.names_file), (1.0, 0.0, 0.0));
    assert_eq!(nine.updated.to_string(), "2026-01-09T00:00:00Z");
}

#[test]
fn an_outline_knows_what_fits_the_task_and_the_files() {
    let world = World::filled();
    world.write("20260105-file", "The schema is in src/db.rs", "", "And nowhere else.");
    world.write("20260106-name", "See tests/db.rs", "", "It is long.");
    let index = world.open(now());
    let fit = |listed: &[Listed<'_>]| {
        let best = listed.iter().max_by(|a, b| a.fit.total_cmp(&b.fit)).unwrap();
        (best.id.to_owned(), best.fit)
    };
    let asked = outlined(&index, Some("change the queue table in sqlite"), &[]);
    assert_eq!(fit(&asked), ("20260101-queue".to_owned(), 1.0));
    let named = |listed: &[Listed<'_>]| {
        let named = listed.iter().filter(|one| one.names_file > 0.0);
        named.map(|one| (one.id.to_owned(), one.names_file)).collect::<Vec<_>>()
    };
    let asked = outlined(&index, None, &["./src/db.rs"]);
    let expected = [("20260105-file".to_owned(), 1.0), ("20260106-name".to_owned(), 0.4)];
    assert_eq!(named(&asked), expected);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn any_question_is_answered(question in r#"(\PC|["'()*:^~\-\\]|AND |NEAR\(|type:|after:|\u{0}|\u{202e}){0,40}"#) {
        thread_local! {
            static WORLD: World = World::filled();
        }
        WORLD.with(|world| world.found(&question));
    }
}

#[test]
fn a_very_long_question_is_answered() {
    let world = World::filled();
    world.found(&"queue \" ( é ".repeat(10_000));
    assert_eq!(
        world.ids(&format!("sqlite queue {}", "x".repeat(100_000))).first().unwrap(),
        "20260101-queue"
    );
}

#[test]
fn who_may_not_read_sessions_finds_no_summary() {
    let mut world = World::filled();
    let folder = world.dir.path().join("memory/summaries/20261101/093000");
    fs::create_dir_all(&folder).unwrap();
    let text = "---\nid: 20261101-zqprivate\ntitle: zqprivate\n---\n\nThe zqprivate talk.\n";
    fs::write(folder.join("zqprivate.md"), text).unwrap();
    assert_eq!(world.ids("zqprivate"), ["20261101-zqprivate"]);
    let scope = WriteScope::open(world.dir.path(), Access::Private).unwrap();
    world.store = Store::new(scope, Rules { hides_summaries: true, ..Rules::default() });
    assert_eq!(world.ids("zqprivate"), [""; 0]);
    assert!(world.store.get("20261101-zqprivate").is_err() && world.store.get("20261101").is_err());
    let index = world.open(later());
    let options = GraphOptions { archived: true, summaries: true, limit: 100 };
    assert!(index.graph(&options).nodes.iter().all(|node| node.id != "20261101-zqprivate"));
    assert_eq!(index.snapshot().n_records(), 3);
    // The owner's index still contains the memory.
    world.store = World::store(world.dir.path());
    assert_eq!(world.ids("zqprivate"), ["20261101-zqprivate"]);
}
