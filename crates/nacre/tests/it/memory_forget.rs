//! `nacre memory forget`

use insta::assert_snapshot;

use crate::home::TestHome;

#[test]
fn forget_leaves_a_hash_and_no_text() {
    let home = TestHome::new();
    let id = home.add("Use Redis", &["--body", "A peculiar sentence."]);
    let other = home.add("Use SQLite", &["--related", &id]);
    assert_snapshot!(home.run(&["memory", "forget", &id, "--yes"]), @"
    Forgot 20261115-use-redis
    Gone from: files, runs, search index, notes
    ");
    let all: String = home
        .snapshot()
        .iter()
        .map(|(path, bytes)| format!("{path:?} {}\n", String::from_utf8_lossy(bytes)))
        .collect();
    assert!(!all.contains("edis") && !all.contains("peculiar"), "{all}");
    assert!(home.read(&format!("memory/decisions/{other}.md")).contains("related: []\n"));
    assert!(home.tree("meta/tombstones").starts_with("meta/tombstones/"));
    assert_snapshot!(home.run(&["doctor"]), @"Checked 1 memory: ok, 0 errors, 0 warnings.");
}

#[test]
fn what_only_a_forgotten_memory_superseded_is_active_again() {
    let home = TestHome::new();
    let older = home.add("Use Redis", &[]);
    let newer = home.add("Use SQLite", &["--supersedes", &older]);
    home.ok(&["memory", "forget", &newer, "--yes"]);
    let text = home.read(&format!("memory/decisions/{older}.md"));
    assert!(text.contains("status: active\n") && !text.contains("superseded_by"), "{text}");
    let (_, brief) = home.json(&["brief"]);
    assert!(brief["sections"].to_string().contains(&older), "{brief}");
}

#[test]
fn forget_wants_the_whole_id() {
    let home = TestHome::new();
    home.add("Use Redis", &[]);
    assert_snapshot!(home.run(&["memory", "forget", "20261115-use", "--yes"]), @"
    Error: `20261115-use` is only a prefix of an id
    Hint: nacre memory forget 20261115-use-redis --yes
    [exit 2]
    ");
}

#[test]
fn an_archived_memory_can_be_forgotten() {
    let home = TestHome::new();
    let id = home.add("Use Redis", &[]);
    home.ok(&["memory", "archive", &id]);
    home.ok(&["memory", "forget", &id, "--yes"]);
    assert_eq!(home.tree("memory"), "");
}

#[test]
fn nobody_is_asked_and_nothing_is_forgotten() {
    let home = TestHome::new();
    let id = home.add("Use Redis", &[]);
    let before = home.snapshot();
    let shown = home.run(&["memory", "forget", &id]);
    assert_snapshot!(shown, @r"
    Error: Memories are deleted only after confirmation; nothing was changed
    Hint: To delete it permanently: nacre memory forget 20261115-use-redis --yes
    Hint: To archive it, which can be undone: nacre memory archive 20261115-use-redis
    [exit 2]
    ");
    assert_eq!(home.run(&["memory", "forget", "20261115-use"]), shown);
    assert_eq!(home.snapshot(), before);
}
