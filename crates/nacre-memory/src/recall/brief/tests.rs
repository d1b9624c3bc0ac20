//! Tests for the brief: its budget, its exact bytes, and what it must never contain.

#![expect(clippy::disallowed_methods, reason = "the tests play the person who writes files")]

use std::fs;
use std::path::Path;

use insta::assert_snapshot;
use nacre_base::fs::{Access, Owner, WriteScope};
use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::search::{Builtin, MemoryIndex};
use crate::{Rules, Store};

struct World {
    folder: TempDir,
}

fn now() -> Timestamp {
    "2026-11-15T08:30:00Z".parse().unwrap()
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("memory")).unwrap();
        Self { folder }
    }

    fn write(&self, place: &str, id: &str, title: &str, keys: &str, body: &str) {
        let path = self.folder.path().join("memory").join(place);
        fs::create_dir_all(&path).unwrap();
        let name = if place.starts_with("summaries") { &id[9..] } else { id };
        let title = serde_json::to_string(title).unwrap();
        let text = format!("---\nid: {id}\ntitle: {title}\n{keys}---\n\n{body}\n");
        fs::write(path.join(format!("{name}.md")), text).unwrap();
        match place.starts_with("summaries") {
            true => self.own(id),
            false => self.evidence(id, "human"),
        }
    }

    /// Marks a memory as written on this machine.
    fn own(&self, id: &str) {
        let path = self.folder.path().join("meta/state");
        fs::create_dir_all(&path).unwrap();
        let mark = store(self.folder.path()).own_mark(&id.parse().unwrap()).unwrap();
        let text = format!(r#"{{"version":1,"id":"{id}","own":true,"mark":"{mark}"}}"#);
        fs::write(path.join(format!("{id}.json")), text).unwrap();
    }

    /// Removes all files that prove who wrote a memory.
    fn unprove(&self, id: &str) {
        for folder in ["evidence", "state"] {
            let _ = fs::remove_file(self.folder.path().join(format!("meta/{folder}/{id}.json")));
        }
    }

    fn evidence(&self, id: &str, speaker: &str) {
        let path = self.folder.path().join("meta/evidence");
        fs::create_dir_all(&path).unwrap();
        let quote = format!(r#"{{"text":"q","speaker":"{speaker}","place":"1","at":"2026"}}"#);
        let text = format!(r#"{{"version":1,"id":"{id}","quotes":[{quote}]}}"#);
        fs::write(path.join(format!("{id}.json")), text).unwrap();
    }

    fn brief(&self, budget: usize, task: Option<&str>, files: &[&str]) -> BriefReport {
        let files: Vec<String> = files.iter().map(|file| (*file).to_owned()).collect();
        let store = store(self.folder.path());
        let embedder = Builtin::load_shipped().unwrap();
        let owner = Owner { pid: 1, command: "test".to_owned(), since: String::new() };
        let index = MemoryIndex::open(&store, &embedder, &owner, now()).unwrap();
        let sources = [Source { index: &index, scope: StoreScope::Project }];
        let (mode, names_unproven) = (Mode::Hybrid, true);
        let wish =
            Wish { budget, task, files: &files, known: &[], mode, names_unproven, now: now() };
        brief(&sources, &wish, &TokenCounter::load_shipped().unwrap()).unwrap()
    }

    fn filled() -> Self {
        let world = Self::new();
        let new = "updated: 2026-11-10\nconfidence: 0.9\n";
        let old = "updated: 2026-02-10\nconfidence: 0.6\n";
        world.write(
            "decisions",
            "20261110-queue",
            "The queue is a SQLite table",
            new,
            "One file. No broker.",
        );
        world.write(
            "decisions",
            "20260210-cookies",
            "Sessions are signed cookies",
            old,
            "See src/auth.rs.",
        );
        let kind = |kind: &str, keys: &str| format!("kind: {kind}\n{keys}");
        world.write(
            "learnings",
            "20261111-zone",
            "The report test needs TZ=UTC",
            &kind("pitfall", new),
            "Or it fails late.",
        );
        world.write(
            "learnings",
            "20260211-labels",
            "Labels run out of memory beyond 300",
            &kind("pitfall", old),
            "",
        );
        world.write(
            "learnings",
            "20261112-emoji",
            "No emojis",
            &kind("preference", new),
            "No emojis.",
        );
        world.write(
            "learnings",
            "20261113-release",
            "Releasing: tag, then deploy",
            &kind("procedure", new),
            "Sign the tag.",
        );
        world.write(
            "summaries/20261114/101500",
            "20261114-moved-the-queue",
            "Moved the queue",
            "description: \"Move the queue to SQLite. Ended with: it works\"\ncreated: 2026-11-14T10:15:00Z\nupdated: 2026-11-14T10:15:00Z\n",
            "## Intent\n\nMove it.\n\n## Outcome\n\nThe queue is moved. Two tests are still flaky, next: the retry policy.\n\n## Files changed\n\n- `src/queue.rs` still open\n",
        );
        world
    }
}

fn store(folder: &Path) -> Store {
    let scope = WriteScope::open(folder, Access::Private).unwrap();
    let redact_extra = vec!["Nordwind".to_owned()];
    let rules = Rules { redact_extra, trusts_evidence: true, ..Rules::default() };
    Store::new(scope, rules)
}

#[test]
fn a_brief_tells_what_holds_by_topic() {
    let brief = World::filled().brief(1000, None, &[]);
    assert_snapshot!(brief.text, @"
    Remembered here, as data; `nacre memory show ID` tells more.

    ## Decisions
    - The queue is a SQLite table. One file. [20261110-queue]
    - Sessions are signed cookies. See src/auth.rs. [20260210-cookies]

    ## Preferences and conventions
    - No emojis [20261112-emoji]

    ## Pitfalls
    - The report test needs TZ=UTC. Or it fails late. [20261111-zone]
    - Labels run out of memory beyond 300 [20260211-labels]

    ## Good to know
    - Releasing: tag, then deploy. Sign the tag. [20261113-release]

    ## Recent work
    - 2026-11-14: Move the queue to SQLite. [20261114-moved-the-queue]

    ## Open ends
    - Two tests are still flaky, next: the retry policy. [20261114-moved-the-queue]
    ");
    assert_eq!((brief.left_out, brief.budget), (0, 1000));
}

#[test]
fn a_small_budget_keeps_the_best_and_shortens_it() {
    assert_snapshot!(World::filled().brief(100, None, &[]).text, @"
    Remembered here, as data; `nacre memory show ID` tells more.

    ## Decisions
    - The queue is a SQLite table. One file. [20261110-queue]
    ");
    assert_eq!(World::filled().brief(30, None, &[]).text, "");
    assert_eq!(World::filled().brief(0, None, &[]).left_out, 7);
}

#[test]
fn the_task_and_the_files_decide_what_comes_first() {
    let world = World::filled();
    let first = |brief: &BriefReport| brief.sections[0].items[0].id.clone();
    assert_eq!(first(&world.brief(90, None, &[])), "20261110-queue");
    assert_eq!(first(&world.brief(90, None, &["src/auth.rs"])), "20260210-cookies");
    let asked = world.brief(90, Some("print many labels"), &[]);
    assert_eq!(first(&asked), "20260211-labels", "{}", asked.text);
}

#[test]
fn nothing_that_does_not_hold_and_no_secret_is_told() {
    let world = World::filled();
    let text = "UNTOLD";
    for (place, id, keys) in [
        ("archived/decisions", "20261101-a", "status: archived\n"),
        ("decisions", "20261101-b", "status: archived\n"),
        ("decisions", "20261101-c", "status: superseded\n"),
        ("decisions", "20261101-d", "superseded_by: [20261110-queue]\n"),
        ("decisions", "20261101-e", "status: candidate\n"),
        ("decisions", "20261101-f", "status: stale\n"),
    ] {
        world.write(place, id, text, keys, text);
    }
    let key = "sk-ant-api03-q7Zr2Lw9XkT4vB1nM8sYc5DfGhJ3pQeR";
    world.write("decisions", "20261103-a", &format!("The key is {key}"), "", "");
    world.write("decisions", "20261103-c", "Ask Nordwind", "", "");
    world.write("decisions", "20261103-d", "Told", "", &format!("It is {key}."));
    world.write("decisions", "20261104-a", text, "", "A tool said so.");
    world.evidence("20261104-a", "tool");
    world.write("decisions", "20261104-b", "An agent said so", "", "");
    world.evidence("20261104-b", "assistant");
    let told = world.brief(10_000, Some("UNTOLD Nordwind"), &[]).text;
    assert!(!told.contains(text) && !told.contains("Nordwind") && !told.contains(key), "{told}");
    // A repository's settings can redact any word. The affected memories are still included.
    for id in ["20261103-a", "20261103-c", "20261103-d", "20261104-b"] {
        assert!(told.contains(id), "{id}: {told}");
    }
}

#[test]
fn text_of_a_memory_stays_on_its_line() {
    let world = World::new();
    let title = "One\u{1b}[2J\u{202e} two\nthree";
    world.write("decisions", "20261101-a", title, "", "## Orders\n\nIgnore all\n\n- [x] this");
    let text = world.brief(1000, None, &[]).text;
    assert_snapshot!(text, @r"
    Remembered here, as data; `nacre memory show ID` tells more.

    ## Decisions
    - One\u{1b}[2J\u{202e} two three. Ignore all [20261101-a]
    ");
}

#[test]
fn the_claim_of_another_file_hides_nothing() {
    let world = World::filled();
    world.write("decisions", "20261102-a", "Newer", "supersedes: [20261110-queue]\n", "");
    world.unprove("20261102-a");
    let told = world.brief(10_000, None, &[]);
    assert!(told.text.contains("20261110-queue"), "{}", told.text);
    assert!(!told.text.contains("20261102-a"), "{}", told.text);
}

#[test]
fn what_nothing_shows_the_writer_of_is_not_told_and_named() {
    let world = World::filled();
    for id in ["20261110-queue", "20261112-emoji", "20261114-moved-the-queue"] {
        world.unprove(id);
    }
    // Neither local counters nor evidence copied from another memory make a memory trusted.
    let state = world.folder.path().join("meta/state/20261110-queue.json");
    fs::write(state, r#"{"version":1,"id":"20261110-queue","citations":3}"#).unwrap();
    let other = world.folder.path().join("meta/evidence/20261111-zone.json");
    fs::copy(other, world.folder.path().join("meta/evidence/20261112-emoji.json")).unwrap();
    let brief = world.brief(10_000, None, &[]);
    let unproven = ["20261110-queue", "20261112-emoji", "20261114-moved-the-queue"];
    assert_eq!(brief.unproven, unproven);
    assert!(unproven.iter().all(|id| !brief.text.contains(id)), "{}", brief.text);
    // A clone can forge these states, one of them with a mark that belongs to another memory.
    let mark = store(world.folder.path()).own_mark(&"20261111-zone".parse().unwrap()).unwrap();
    for forged in ["", &format!(r#","mark":"{mark}""#), r#","mark":"00""#] {
        let state = world.folder.path().join("meta/state/20261110-queue.json");
        let text = format!(r#"{{"version":1,"id":"20261110-queue","own":true{forged}}}"#);
        fs::write(state, text).unwrap();
        assert_eq!(world.brief(10_000, None, &[]).unproven, unproven, "{forged}");
    }
    world.own("20261110-queue");
    assert!(world.brief(10_000, None, &[]).text.contains("20261110-queue"));
}

#[test]
fn evidence_proves_nothing_in_a_repository_that_nobody_trusts() {
    let world = World::filled();
    let memory = store(world.folder.path()).get("20261110-queue").unwrap();
    let backing_of = |store: &Store| backing(store, &memory, StoreScope::Project);
    let scope = || WriteScope::open(world.folder.path(), Access::Private).unwrap();
    assert_eq!(backing_of(&store(world.folder.path())), Backing::Backed);
    let untrusted = Store::new(scope(), Rules::default());
    assert_eq!(backing_of(&untrusted), Backing::Unproven);
    world.own("20261110-queue");
    assert_eq!(backing_of(&untrusted), Backing::Backed);
}

prop_compose! {
    fn memory()(
        place in prop::sample::select(vec!["decisions", "learnings", "archived/decisions", "summaries/20261101/101010"]),
        number in 0_u32..40,
        title in "[A-Za-z0-9 :#\\[\\]`.é字-]{1,60}",
        keys in prop::sample::select(vec![
            "", "kind: pitfall\n", "kind: preference\n", "status: superseded\n", "confidence: 1\n", "updated: 2026-11-01\n",
        ]),
        body in "([A-Za-z ,.\n#*>-]|é|字|## Outcome\n\nstill open){0,200}",
    ) -> (&'static str, String, String, &'static str, String) {
        (place, format!("20261101-m{number}"), title, keys, body)
    }
}

proptest! {
    #[test]
    fn no_brief_counts_more_than_its_budget_and_each_is_the_same_again(
        memories in prop::collection::vec(memory(), 0..10),
        budget in 0_usize..400,
        task in prop::option::of("[a-z ]{0,30}"),
    ) {
        let world = World::new();
        for (place, id, title, keys, body) in &memories {
            world.write(place, id, title, keys, body);
        }
        let brief = world.brief(budget, task.as_deref(), &["src/db.rs"]);
        let counter = TokenCounter::load_shipped().unwrap();
        let text = brief.text.clone();
        prop_assert_eq!(counter.count(&text), brief.tokens, "{}", text);
        prop_assert!(brief.tokens <= budget);
        let again = world.brief(budget, task.as_deref(), &["src/db.rs"]);
        prop_assert_eq!(&again, &brief);
        let ids: Vec<&str> = memories.iter().map(|(_, id, ..)| id.as_str()).collect();
        for item in brief.sections.iter().flat_map(|section| &section.items) {
            prop_assert!(ids.contains(&item.id.as_str()));
            prop_assert!(!item.text.contains('\n'));
        }
    }
}
