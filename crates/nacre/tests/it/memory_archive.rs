//! `nacre memory archive` and `nacre memory restore`

use insta::assert_snapshot;

use crate::home::TestHome;

#[test]
fn archive_moves_and_restore_brings_back() {
    let home = TestHome::new();
    let id = home.add("Use SQLite", &[]);
    let before = home.read("memory/decisions/20261115-use-sqlite.md");
    assert_snapshot!(home.run(&["memory", "archive", &id]), @"
    Archived 20261115-use-sqlite
    Undo: nacre undo memory-20261115-083000-[id]
    ");
    assert_snapshot!(home.tree("memory"), @"memory/archived/decisions/20261115-use-sqlite.md");
    assert!(
        home.read("memory/archived/decisions/20261115-use-sqlite.md")
            .contains("status: archived\n")
    );
    assert_snapshot!(home.run(&["memory", "archive", &id]), @"
    Error: The memory `20261115-use-sqlite` is already archived
    Hint: nacre memory restore 20261115-use-sqlite
    [exit 1]
    ");
    assert_snapshot!(home.run(&["memory", "restore", &id]), @"
    Restored 20261115-use-sqlite
    Undo: nacre undo memory-20261115-083000-[id]
    ");
    assert_eq!(home.read("memory/decisions/20261115-use-sqlite.md"), before);
    assert_snapshot!(home.run(&["memory", "restore", &id]), @"
    Error: The memory `20261115-use-sqlite` is not archived
    Hint: nacre memory show 20261115-use-sqlite
    [exit 1]
    ");
}

#[test]
fn restore_gives_the_old_status_back() {
    let home = TestHome::new();
    let text = "---\nid: 20261101-old\ntitle: Old\nstatus: superseded\nmine: kept\n---\n";
    home.write("memory/learnings/20261101-old.md", text);
    home.ok(&["memory", "archive", "20261101-old"]);
    home.ok(&["memory", "restore", "20261101-old"]);
    let restored = home.read("memory/learnings/20261101-old.md");
    assert!(restored.contains("status: superseded\nmine: kept\n"), "{restored}");
}

#[test]
fn several_at_once_report_each() {
    let home = TestHome::new();
    let (one, two) = (home.add("One", &[]), home.add("Two", &[]));
    assert_snapshot!(home.run(&["memory", "archive", &one, "20261115-nothing", &two]), @"
    Archived 20261115-one
    Archived 20261115-two
    Undo: nacre undo memory-20261115-083000-[id]
    Warning: Memory `20261115-nothing` not found
    Hint: Did you mean `20261115-one` or `20261115-two`?
    [exit 3]
    ");
    let (code, value) = home.json(&["memory", "restore", &one, &two]);
    assert_eq!(code, 0);
    assert_eq!(value["ids"].as_array().unwrap().len(), 2);
}

#[test]
fn a_summary_is_not_archived() {
    let home = TestHome::new();
    home.write(
        "memory/summaries/20261101/093000/moved-the-queue.md",
        "---\nid: 20261101-moved-the-queue\ntitle: Moved\n---\n",
    );
    assert_snapshot!(home.run(&["memory", "archive", "20261101-moved-the-queue"]), @"
    Error: The summary `20261101-moved-the-queue` cannot be archived: summaries are a record of what happened
    Hint: nacre memory forget 20261101-moved-the-queue --yes
    [exit 1]
    ");
    assert_snapshot!(home.run(&["memory", "list", "--all"]), @"20261101-moved-the-queue  summary    Moved  (foreign)");
}
