//! `nacre memory search`

use std::path::{Path, PathBuf};

use insta::assert_snapshot;

use crate::home::TestHome;

fn filled() -> TestHome {
    let home = TestHome::new();
    home.add(
        "Use SQLite for the queue",
        &["--body", "One file, no server.\n\nRedis was tried first.", "--tag", "storage"],
    );
    home.add("Cache answers", &["--body", "The queue is SQLite; answers are cached for an hour."]);
    home.add("Name branches by topic", &["--type", "learning", "--kind", "convention"]);
    home
}

#[test]
fn every_word_must_occur_and_titles_weigh_more() {
    let home = filled();
    assert_snapshot!(home.run(&["memory", "search", "sqlite", "QUEUE"]), @"
    20261115-use-sqlite-for-the-queue  decision  Use SQLite for the queue
        One file, no server.
    20261115-cache-answers  decision  Cache answers
        The queue is SQLite; answers are cached for an hour.
    ");
    assert_snapshot!(home.run(&["memory", "search", "redis"]), @"
    20261115-use-sqlite-for-the-queue  decision  Use SQLite for the queue
        Redis was tried first.
    ");
    assert_snapshot!(home.run(&["memory", "search", "\"no server\""]), @"
    20261115-use-sqlite-for-the-queue  decision  Use SQLite for the queue
        One file, no server.
    ");
    assert_snapshot!(home.run(&["memory", "search", "\"server no\""]), @"Nothing found.");
    assert_snapshot!(home.run(&["memory", "search", "storage"]), @"
    20261115-use-sqlite-for-the-queue  decision  Use SQLite for the queue
        One file, no server.
    ");
    assert_snapshot!(home.run(&["memory", "search", "branches", "--type", "decision"]), @"Nothing found.");
    assert_snapshot!(home.run(&["memory", "search", "queue", "--tag", "storage"]), @"
    20261115-use-sqlite-for-the-queue  decision  Use SQLite for the queue
        One file, no server.
    ");
    assert_snapshot!(home.run(&["memory", "search", "queue", "--limit", "1"]), @"
    20261115-use-sqlite-for-the-queue  decision  Use SQLite for the queue
        One file, no server.
    … 1 more; `--limit 0` shows all
    ");
}

#[test]
fn archived_ones_are_found_on_request() {
    let home = filled();
    home.ok(&["memory", "archive", "20261115-cache-answers"]);
    assert_snapshot!(home.run(&["memory", "search", "cached"]), @"Nothing found.");
    assert_snapshot!(home.run(&["memory", "search", "cached", "--archived"]), @"
    20261115-cache-answers  decision  Cache answers  (archived)
        The queue is SQLite; answers are cached for an hour.
    ");
}

#[test]
fn any_text_is_a_query() {
    let home = filled();
    for text in ["(", "[a-", "\\", "*", "a|b", "\"", "'", "--", "$(x)", "é\u{301}", "🚀"] {
        let (code, value) = home.json(&["memory", "search", "--", text]);
        assert!(code == 0 || code == 2, "{text:?}: {value}");
    }
    assert_snapshot!(home.run(&["memory", "search", " "]), @"
    Error: There is nothing to search for
    Hint: nacre memory search sqlite queue
    [exit 2]
    ");
}

#[test]
fn a_search_changes_nothing() {
    let home = filled();
    let kept = |home: &TestHome| -> Vec<(PathBuf, Vec<u8>)> {
        let is_derived = |path: &Path| path.to_string_lossy().contains("/.nacre/index/");
        home.snapshot().into_iter().filter(|(path, _)| !is_derived(path)).collect()
    };
    let before = kept(&home);
    home.ok(&["memory", "search", "queue"]);
    assert!(kept(&home) == before, "a search changed more than its index");
    let indexed = home.snapshot();
    home.ok(&["memory", "search", "queue"]);
    assert!(home.snapshot() == indexed, "an index that was up to date was written");
}

#[test]
fn json_tells_score_and_snippet() {
    let home = filled();
    let (_, value) = home.json(&["memory", "search", "redis"]);
    let hit = &value["hits"][0];
    assert_eq!(hit["id"], "20261115-use-sqlite-for-the-queue");
    assert_eq!(hit["snippet"], "Redis was tried first.");
    assert_eq!(hit["scope"], "project");
    assert_eq!(value["total"], 1);
}
