//! Tests what a change to a store preserves and which files it leaves behind.

#![expect(clippy::disallowed_methods, reason = "the tests play the person")]

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use jiff::Timestamp;

use super::*;
use nacre_base::fs::{Access, Owner, WriteScope};

const MORNING: &str = "2026-11-15T08:30:00Z";
const EVENING: &str = "2026-11-15T20:00:00Z";

struct TestStore {
    dir: tempfile::TempDir,
    store: Store,
}

impl TestStore {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let scope = WriteScope::open(dir.path(), Access::Shared).unwrap();
        Self { dir, store: Store::new(scope, Rules::default()) }
    }

    fn with_file(path: &str, text: &str) -> Self {
        let test = Self::new();
        let full = test.dir.path().join(path);
        fs::create_dir_all(full.parent().unwrap()).unwrap();
        fs::write(full, text).unwrap();
        test
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.dir.path().join(path)).unwrap()
    }

    /// Applies a batch of changes at `time`.
    fn change<T>(&self, time: &str, work: impl FnOnce(&mut Batch<'_>, Timestamp) -> T) -> T {
        let owner = Owner { pid: 1, command: "test".to_owned(), since: String::new() };
        let mut batch = self.store.begin(&owner, Duration::ZERO).unwrap();
        let result = work(&mut batch, time.parse().unwrap());
        batch.commit().unwrap();
        result
    }
}

fn draft(title: &str) -> Draft {
    Draft {
        claim: Claim::Decision,
        title: title.to_owned(),
        body: "Because.".to_owned(),
        tags: Vec::new(),
        applies: Vec::new(),
        related: Vec::new(),
        source: "human".to_owned(),
        confidence: 0.9,
        basis: None,
        importance: None,
        quotes: Vec::new(),
        limit: Trust::Human,
    }
}

#[test]
fn an_update_keeps_what_it_does_not_change() {
    let text = "\u{feff}---\r\n# mine\r\nid: 20261101-old\r\nmood: 'calm' # why not\r\ntitle: Old\r\nnested:\r\n  a: [1, 2]\r\nupdated: 2026-11-01T00:00:00Z\r\n---\r\n\r\nBody\r\n";
    let test = TestStore::with_file("memory/decisions/20261101-old.md", text);
    let change = Revision { title: Some("New".to_owned()), ..Revision::default() };
    test.change(EVENING, |batch, now| batch.update("20261101-old", &change, now)).unwrap();
    let expected = text
        .replace("title: Old", "title: New")
        .replace("2026-11-01T00:00:00Z", "2026-11-15T20:00:00Z");
    assert_eq!(test.read("memory/decisions/20261101-old.md"), expected);
}

#[test]
fn an_update_that_changes_nothing_writes_nothing() {
    let text = "---\nid: 20261101-old\ntitle: Old\n---\n";
    let test = TestStore::with_file("memory/decisions/20261101-old.md", text);
    let change = Revision { title: Some("Old".to_owned()), ..Revision::default() };
    test.change(EVENING, |batch, now| batch.update("20261101-old", &change, now)).unwrap();
    assert_eq!(test.read("memory/decisions/20261101-old.md"), text);
}

#[test]
fn updated_never_goes_back() {
    let text = "---\nid: 20261101-old\ntitle: Old\nupdated: 2027-01-01T00:00:00Z\n---\n";
    let test = TestStore::with_file("memory/decisions/20261101-old.md", text);
    let change = Revision { status: Some(Status::Stale), ..Revision::default() };
    test.change(MORNING, |batch, now| batch.update("20261101-old", &change, now)).unwrap();
    assert!(
        test.read("memory/decisions/20261101-old.md").contains("updated: 2027-01-01T00:00:00Z\n")
    );
}

#[test]
fn an_answer_counts_each_memory_that_it_cites_once() {
    let test = TestStore::new();
    let id = test.change(MORNING, |batch, now| batch.add(&draft("Cited"), now)).unwrap();
    let gone: MemoryId = "20261101-gone".parse().unwrap();
    let before = test.read(&format!("memory/decisions/{id}.md"));
    for time in [MORNING, EVENING] {
        let cited = [id.clone(), gone.clone(), id.clone()];
        test.change(time, |batch, now| batch.cite(&cited, now)).unwrap();
    }
    let state = test.store.state(&id).unwrap().unwrap();
    assert_eq!((state.citations, state.last_cited.as_deref()), (2, Some(EVENING)));
    assert_eq!(test.store.state(&gone).unwrap(), None);
    assert_eq!(test.read(&format!("memory/decisions/{id}.md")), before);
}

#[test]
fn one_batch_mints_different_ids() {
    let test = TestStore::new();
    let ids = test.change(MORNING, |batch, now| {
        [batch.add(&draft("Same"), now).unwrap(), batch.add(&draft("Same"), now).unwrap()]
    });
    assert_eq!(ids.map(String::from), ["20261115-same", "20261115-same-2"]);
}

#[test]
fn what_is_added_can_be_read() {
    let test = TestStore::new();
    let odd = Draft { body: "a\0b \u{feff} --- \r\n---\n".to_owned(), ..draft("Odd \0 title") };
    let id = test.change(MORNING, |batch, now| batch.add(&odd, now)).unwrap();
    assert!(test.store.get(id.as_str()).unwrap().document.body().contains("a\u{fffd}b"));
    let torn = Draft { body: "<<<<<<< a\nx\n=======\ny\n>>>>>>> b\n".to_owned(), ..draft("Torn") };
    let refused = test.change(MORNING, |batch, now| batch.add(&torn, now));
    assert!(matches!(refused, Err(MemoryError::InvalidText(_))));
}

#[test]
fn a_summary_lies_under_its_day_and_time() {
    let test = TestStore::new();
    let summary = SummaryDraft {
        title: "Moved the queue".to_owned(),
        description: "From Redis to SQLite".to_owned(),
        body: "Went well.".to_owned(),
        coding_agent: "codex".to_owned(),
        raw_trace_path: "/traces/a.jsonl".to_owned(),
        run_id: "sync-1".to_owned(),
        repo_name: "shop".to_owned(),
        related: Vec::new(),
        tags: vec!["queue".to_owned()],
    };
    let id = test.change(MORNING, |batch, now| batch.add_summary(&summary, now)).unwrap();
    insta::assert_snapshot!(test.read("memory/summaries/20261115/083000/moved-the-queue.md"), @r#"
    ---
    id: 20261115-moved-the-queue
    title: Moved the queue
    description: From Redis to SQLite
    date: "20261115"
    time: "083000"
    coding_agent: codex
    raw_trace_path: /traces/a.jsonl
    run_id: sync-1
    repo_name: shop
    related: []
    created: 2026-11-15T08:30:00Z
    updated: 2026-11-15T08:30:00Z
    tags: [queue]
    ---

    Went well.
    "#);
    assert_eq!(test.store.get(id.as_str()).unwrap().at.memory_type, MemoryType::Summary);
    let again = test.change(EVENING, |batch, now| batch.add_summary(&summary, now)).unwrap();
    assert_eq!(again.as_str(), "20261115-moved-the-queue-2");
}

#[test]
fn a_batch_that_fails_changes_nothing() {
    let test = TestStore::new();
    test.change(MORNING, |batch, now| batch.add(&draft("Kept"), now)).unwrap();
    let owner = Owner { pid: 1, command: "test".to_owned(), since: String::new() };
    let mut batch = test.store.begin(&owner, Duration::ZERO).unwrap();
    let now: Timestamp = EVENING.parse().unwrap();
    batch.add(&draft("Staged"), now).unwrap();
    batch.archive("20261115-kept", now).unwrap();
    edit(&test.dir.path().join("memory/decisions/20261115-kept.md"));
    assert!(matches!(
        batch.commit(),
        Err(MemoryError::Fs(nacre_base::fs::FsError::Conflict { .. }))
    ));
    let titles: Vec<String> = test
        .store
        .list(|_| true)
        .unwrap()
        .memories
        .into_iter()
        .map(|memory| memory.title)
        .collect();
    assert_eq!(titles, ["Kept"]);
}

fn edit(file: &Path) {
    let text = fs::read_to_string(file).unwrap();
    fs::write(file, format!("{text}\nA person was here.\n")).unwrap();
}

#[test]
fn what_was_forgotten_is_known_by_its_words() {
    let test = TestStore::new();
    let id = test.change(MORNING, |batch, now| batch.add(&draft("Use Redis"), now)).unwrap();
    assert!(!test.store.is_forgotten("use redis", "because!").unwrap());
    test.change(EVENING, |batch, now| batch.forget(id.as_str(), now)).unwrap();
    assert!(test.store.is_forgotten("use redis", "because!").unwrap());
    assert!(!test.store.is_forgotten("use sqlite", "because!").unwrap());
}

#[test]
fn what_is_overturned_stays_and_says_by_what() {
    let test = TestStore::new();
    let old = test.change(MORNING, |batch, now| batch.add(&draft("Use Redis"), now)).unwrap();
    let new = test
        .change(EVENING, |batch, now| batch.supersede(&old, &draft("Use SQLite"), now))
        .unwrap();
    let (old, new) = (test.store.get(old.as_str()).unwrap(), test.store.get(new.as_str()).unwrap());
    assert_eq!((old.status, &old.superseded_by), (Status::Superseded, &Some(new.at.id.clone())));
    assert_eq!((new.status, &new.supersedes), (Status::Active, &vec![old.at.id]));
}

#[test]
fn a_session_confirms_a_memory_once() {
    let test = TestStore::new();
    let id = test.change(MORNING, |batch, now| batch.add(&draft("Use SQLite"), now)).unwrap();
    for session in ["one", "one", "two"] {
        test.change(EVENING, |batch, now| batch.confirm(&id, session, now)).unwrap();
    }
    let state = test.store.state(&id).unwrap().unwrap();
    assert_eq!((state.confirmations, state.confirmed_in.len()), (2, 2));
}

#[test]
fn new_quotes_are_added_to_the_evidence_and_old_ones_are_not_repeated() {
    let test = TestStore::new();
    let id = test.change(MORNING, |batch, now| batch.add(&draft("Use SQLite"), now)).unwrap();
    let quote = |text: &str| Quote {
        text: text.to_owned(),
        speaker: Speaker::User,
        place: "one:1".to_owned(),
        at: MORNING.to_owned(),
    };
    for texts in [["a", "b"], ["b", "c"]] {
        let change = Revision { quotes: texts.map(quote).to_vec(), ..Revision::default() };
        test.change(EVENING, |batch, now| batch.update(id.as_str(), &change, now)).unwrap();
    }
    let quotes = test.store.evidence(&id).unwrap().unwrap().quotes;
    let texts: Vec<&str> = quotes.iter().map(|quote| quote.text.as_str()).collect();
    assert_eq!(texts, ["a", "b", "c"]);
}

#[test]
fn a_run_writes_no_memory_but_as_a_memory() {
    let test = TestStore::new();
    test.change(MORNING, |batch, _| {
        for path in
            ["memory/decisions/20261115-x.md", "meta/evidence/20261115-x.json", "config.toml"]
        {
            let path = nacre_base::fs::RelPath::new(path).unwrap();
            assert!(batch.put_file(path, Vec::new()).is_err());
        }
    });
}

#[test]
fn a_plan_holds_what_was_and_what_will_be_and_can_be_taken_back() {
    let test = TestStore::new();
    let id = test.change(MORNING, |batch, now| batch.add(&draft("Use Redis"), now)).unwrap();
    let path = format!("memory/decisions/{id}.md");
    let before = test.read(&path);
    let plan = test.change(EVENING, |batch, now| {
        let change = Revision { body: Some("Other.".to_owned()), ..Revision::default() };
        batch.update(id.as_str(), &change, now).unwrap();
        batch.plan().unwrap()
    });
    assert_eq!(plan.len(), 1);
    assert_eq!(plan[0].after.as_deref(), Some(test.read(&path).as_bytes()));
    test.change(EVENING, |batch, _| batch.take_back(&plan[0])).unwrap();
    assert_eq!(test.read(&path), before);
}

/// Another process may move the file between locating and reading it.
#[test]
fn a_memory_is_read_while_it_is_archived_and_restored() {
    let test = TestStore::new();
    let id = test.change(MORNING, |batch, now| batch.add(&draft("Use Redis"), now)).unwrap();
    let is_done = AtomicBool::new(false);
    let failed = std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut failed = Vec::new();
            while !is_done.load(Ordering::Relaxed) {
                failed.extend(test.store.get(id.as_str()).err().map(|error| format!("{error:?}")));
            }
            failed
        });
        for _ in 0..20 {
            test.change(EVENING, |batch, now| batch.archive(id.as_str(), now)).unwrap();
            test.change(EVENING, |batch, now| batch.restore(id.as_str(), now)).unwrap();
        }
        is_done.store(true, Ordering::Relaxed);
        reader.join().unwrap()
    });
    assert_eq!(failed, Vec::<String>::new());
}
