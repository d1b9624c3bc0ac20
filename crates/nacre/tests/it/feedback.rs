//! `nacre feedback`

use insta::assert_snapshot;

use crate::home::TestHome;
use crate::sync_run::{PNPM, reading, talk};

#[test]
fn confidence_follows_what_people_say() {
    let home = TestHome::new();
    let id = home.add("Use SQLite for the queue", &["--confidence", "0.6"]);
    assert_snapshot!(home.run(&["feedback", &id, "useful"]), @"
    20261115-use-sqlite-for-the-queue is useful: confidence 0.6 to 0.8
    Undo: nacre undo memory-20261115-083000-[id]
    ");
    assert_snapshot!(home.run(&["feedback", &id, "outdated", "--note", "We use Postgres"]), @"
    20261115-use-sqlite-for-the-queue is outdated: confidence 0.8 to 0.4
    Undo: nacre undo memory-20261115-083000-[id]
    ");
    let text = home.read(&format!("memory/decisions/{id}.md"));
    assert!(text.contains("confidence: 0.4") && text.contains("status: stale"), "{text}");
    let state = home.read(&format!("meta/state/{id}.json"));
    assert!(state.contains("\"note\": \"We use Postgres\""), "{state}");
    home.ok(&["feedback", &id, "useful"]);
    assert!(home.read(&format!("memory/decisions/{id}.md")).contains("status: active"));
    assert!(home.run(&["feedback", &id, "great"]).ends_with("[exit 2]\n"));
    assert!(home.run(&["feedback", "20200101-nothing", "useful"]).ends_with("[exit 1]\n"));
}

#[test]
fn what_is_outdated_ranks_below_what_is_active() {
    let home = TestHome::new();
    let old = home.add("Use Redis for the job queue", &["--body", "The job queue is in Redis."]);
    home.add("Jobs are retried", &["--body", "A failed job goes back to the queue twice."]);
    let first = |home: &TestHome, args: &[&str]| {
        let (_, value) = home.json(args);
        value["hits"][0]["id"].as_str().unwrap_or_default().to_owned()
    };
    assert_eq!(first(&home, &["memory", "search", "job queue"]), old);
    home.ok(&["feedback", &old, "outdated"]);
    assert_eq!(first(&home, &["memory", "search", "job queue"]), "20261115-jobs-are-retried");
}

#[test]
fn what_is_outdated_comes_back_when_it_is_said_again_and_what_is_wrong_does_not() {
    for (verdict, expected) in [("outdated", "status: active"), ("wrong", "confidence: 0.4")] {
        let home = reading();
        talk(&home, "one", 1, PNPM);
        home.ok(&["sync"]);
        home.ok(&["feedback", "20261101-always", verdict]);
        talk(&home, "two", 2, PNPM);
        let (_, value) = home.json(&["sync"]);
        let action = &value["sessions"][0]["report"]["actions"][0];
        let done = if verdict == "wrong" { "no-op" } else { "update" };
        assert_eq!(action["action"], done, "{action:#}");
        let id = action["target"].as_str().unwrap();
        let folder = if verdict == "wrong" { "archived/learnings" } else { "learnings" };
        let text = home.read(&format!("memory/{folder}/{id}.md"));
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn what_is_wrong_is_offered_nowhere_until_it_is_useful() {
    let home = TestHome::new();
    let id = home.add("Use Redis for the queue", &["--body", "It is fast."]);
    let offers = |home: &TestHome| {
        let shown = [
            home.run(&["brief"]),
            home.run(&["ask", "Which queue do we use?"]),
            home.run(&["memory", "search", "redis queue"]),
            home.run(&["memory", "list"]),
        ];
        shown.map(|text| text.contains("Redis for the queue"))
    };
    assert_eq!(offers(&home), [true; 4]);
    let before = home.read(&format!("memory/decisions/{id}.md"));
    assert_snapshot!(home.run(&["feedback", &id, "wrong", "--note", "We never did"]), @r"
    20261115-use-redis-for-the-queue is wrong: confidence 0.9 to 0.45
    The memory is archived and no longer used; restore it: nacre feedback 20261115-use-redis-for-the-queue useful
    Undo: nacre undo memory-20261115-083000-[id]
    ");
    assert_eq!(offers(&home), [false; 4]);
    assert_snapshot!(home.run(&["memory", "show", &id]), @"
    Use Redis for the queue
    20261115-use-redis-for-the-queue · decision · archived · confidence 0.45 · updated 2026-11-15T08:30:00Z
    you marked it as wrong, 2026-11-15T08:30:00Z: We never did

    It is fast.
    ");
    assert!(home.ok(&["maintain", "--force"]).contains("nothing to do"));
    home.ok(&["feedback", &id, "useful"]);
    assert_eq!(offers(&home), [true; 4]);
    let after = home.read(&format!("memory/decisions/{id}.md"));
    assert_eq!(after, before.replace("confidence: 0.9", "confidence: 0.73"));
    home.ok(&["feedback", &id, "wrong"]);
    home.ok(&["memory", "restore", &id]);
    home.ok(&["maintain", "--force"]);
    assert_eq!(offers(&home), [true; 4], "a person brought it back");
}
