//! `nacre memory search`

use std::path::PathBuf;

use insta::assert_snapshot;

use crate::home::{TestHome, walk};

fn set_up_memories() -> TestHome {
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
    let home = set_up_memories();
    assert_snapshot!(home.run(&["memory", "search", "sqlite", "QUEUE"]), @"
    20261115-use-sqlite-for-the-queue  decision  2026-11-15  Use SQLite for the queue
        One file, no server.
    20261115-cache-answers  decision  2026-11-15  Cache answers
        The queue is SQLite; answers are cached for an hour.
    ");
    assert_snapshot!(home.run(&["memory", "search", "redis"]), @"
    20261115-use-sqlite-for-the-queue  decision  2026-11-15  Use SQLite for the queue
        Redis was tried first.
    ");
    assert_snapshot!(home.run(&["memory", "search", "\"no server\""]), @"
    20261115-use-sqlite-for-the-queue  decision  2026-11-15  Use SQLite for the queue
        One file, no server.
    ");
    assert_snapshot!(home.run(&["memory", "search", "\"server no\""]), @"Nothing found.");
    assert_snapshot!(home.run(&["memory", "search", "storage"]), @"
    20261115-use-sqlite-for-the-queue  decision  2026-11-15  Use SQLite for the queue
        One file, no server.
    ");
    assert_snapshot!(home.run(&["memory", "search", "branches", "--type", "decision"]), @"Nothing found.");
    assert_snapshot!(home.run(&["memory", "search", "queue", "--tag", "storage"]), @"
    20261115-use-sqlite-for-the-queue  decision  2026-11-15  Use SQLite for the queue
        One file, no server.
    ");
    assert_snapshot!(home.run(&["memory", "search", "queue", "--limit", "1"]), @"
    20261115-use-sqlite-for-the-queue  decision  2026-11-15  Use SQLite for the queue
        One file, no server.
    … 1 more; `--limit 0` shows all
    ");
}

#[test]
fn archived_ones_are_found_on_request() {
    let home = set_up_memories();
    home.ok(&["memory", "archive", "20261115-cache-answers"]);
    assert_snapshot!(home.run(&["memory", "search", "cached"]), @"Nothing found.");
    assert_snapshot!(home.run(&["memory", "search", "cached", "--archived"]), @"
    20261115-cache-answers  decision  2026-11-15  Cache answers  (archived)
        The queue is SQLite; answers are cached for an hour.
    ");
}

#[test]
fn any_text_is_a_query() {
    let home = set_up_memories();
    for text in ["(", "[a-", "\\", "*", "a|b", "\"", "'", "--", "$(x)", "é\u{301}", "🚀"] {
        let (code, value) = home.json(&["memory", "search", "--", text]);
        assert!(code == 0 || code == 2, "{text:?}: {value}");
    }
    assert_snapshot!(home.run(&["memory", "search", "queue", "type:bogus"]), @"
    Error: `bogus` is not a value of `type:`
    Hint: It takes one of: decision, learning, summary
    [exit 2]
    ");
    assert_snapshot!(home.run(&["memory", "search", " "]), @"
    Error: The search is empty
    Hint: nacre memory search sqlite queue
    [exit 2]
    ");
}

#[test]
fn a_search_changes_nothing() {
    let home = set_up_memories();
    let before = home.snapshot();
    home.ok(&["memory", "search", "queue"]);
    assert!(home.snapshot() == before, "a search changed the store");
    let indexed = |home: &TestHome| -> Vec<(PathBuf, Vec<u8>)> {
        let mut files = Vec::new();
        walk(&home.index(), &mut files);
        files.into_iter().map(|file| (file.clone(), std::fs::read(&file).unwrap())).collect()
    };
    let first = indexed(&home);
    home.ok(&["memory", "search", "queue"]);
    assert!(indexed(&home) == first, "an index that was up to date was written");
}

#[test]
fn an_index_that_a_repository_brings_is_not_read() {
    let home = set_up_memories();
    home.ok(&["memory", "search", "queue"]);
    // Replaces the index with a complete and valid one from another store.
    let other = TestHome::new();
    other.add("Use Postgres for the queue", &[]);
    other.ok(&["memory", "search", "queue"]);
    for entry in std::fs::read_dir(other.index()).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            let name = path.file_name().unwrap().to_str().unwrap();
            home.write(&format!("index/{name}"), std::fs::read(&path).unwrap());
        }
    }
    let brought = home.snapshot();
    std::fs::remove_dir_all(home.index()).unwrap();
    let (_, found) = home.json(&["memory", "search", "queue"]);
    assert_eq!(found["hits"][0]["id"], "20261115-use-sqlite-for-the-queue");
    assert!(home.snapshot() == brought, "nothing is written where a repository could bring it");
}

#[test]
fn json_tells_score_and_snippet() {
    let home = set_up_memories();
    let (_, value) = home.json(&["memory", "search", "redis"]);
    let hit = &value["hits"][0];
    assert_eq!(hit["id"], "20261115-use-sqlite-for-the-queue");
    assert_eq!(hit["snippet"], "Redis was tried first.");
    assert_eq!(hit["scope"], "project");
    assert_eq!(value["total"], 1);
}

#[test]
fn only_relevance_ranks_and_what_is_unrelated_is_not_found() {
    let home = set_up_memories();
    home.add("Commit subjects are in lower case", &["--scope", "global_only"]);
    home.add("Write commit messages in English", &[]);
    assert_snapshot!(home.run(&["memory", "search", "commit subjects in lower case"]), @"
    20261115-commit-subjects-are-in-lower-case  decision  2026-11-15  Commit subjects are in lower case  (global)
    20261115-write-commit-messages-in-english  decision  2026-11-15  Write commit messages in English
    20261115-name-branches-by-topic  convention  2026-11-15  Name branches by topic
    ");
    assert_snapshot!(home.run(&["memory", "search", "completely unrelated zebra quantum"]), @"Nothing found.");
}

/// No link says that the later memory replaces the older one, and their types differ.
#[test]
fn what_a_later_memory_contradicts_is_marked_and_ranks_below_it() {
    let home = TestHome::new();
    let old = home.add(
        "Install dependencies with pnpm",
        &["--type", "learning", "--body", "Use pnpm here, npm writes a second lock file."],
    );
    let home = home.with_var("NACRE_NOW", "2026-12-01T10:00:00Z");
    home.add(
        "Do not install dependencies with pnpm any more",
        &["--body", "We switched to npm from now on, pnpm is no longer used."],
    );
    assert_snapshot!(home.run(&["memory", "search", "install dependencies with pnpm"]), @"
    20261201-do-not-install-dependencies-with-pnpm-any-more  decision  2026-12-01  Do not install dependencies with pnpm any more
        We switched to npm from now on, pnpm is no longer used.
    20261115-install-dependencies-with-pnpm  insight  2026-11-15  Install dependencies with pnpm  (replaced by 20261201-do-not-install-dependencies-with-pnpm-any-more)
        Use pnpm here, npm writes a second lock file.
    ");
    assert_snapshot!(home.run(&["memory", "show", &old]), @"
    Install dependencies with pnpm
    20261115-install-dependencies-with-pnpm · insight · active · confidence 0.9 · updated 2026-11-15T08:30:00Z
    contradicted later by 20261201-do-not-install-dependencies-with-pnpm-any-more

    Use pnpm here, npm writes a second lock file.
    ");
    assert_snapshot!(home.run(&["ask", "How are dependencies installed, with pnpm?"]), @"
    Do not install dependencies with pnpm any more [20261201-do-not-install-dependencies-with-pnpm-any-more] (2026-12-01)
        We switched to npm from now on, pnpm is no longer used.

    See also:
    Install dependencies with pnpm [20261115-install-dependencies-with-pnpm] (2026-11-15, replaced by 20261201-do-not-install-dependencies-with-pnpm-any-more)
        Use pnpm here, npm writes a second lock file.
    ");
}
