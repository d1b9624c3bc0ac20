//! `nacre memory reset`

use insta::assert_snapshot;

use crate::home::TestHome;

#[test]
fn reset_sets_everything_aside() {
    let home = TestHome::new();
    home.add("Use SQLite", &[]);
    home.ok(&["memory", "archive", &home.add("Use Redis", &[])]);
    let before = home.snapshot();
    assert_snapshot!(home.run(&["memory", "reset"]), @"
    Error: Nothing was changed
    Hint: nacre memory reset --yes
    [exit 2]
    ");
    assert_eq!(home.snapshot(), before);
    assert_snapshot!(home.run(&["memory", "reset", "--yes"]), @r"
    Moved 2 memories to $HOME/work/.nacre/reset/20261115-083000
    Undo: nacre undo memory-20261115-083000-[id]
    ");
    let tree = home.tree("");
    let tree: Vec<&str> = tree.lines().filter(|path| !path.starts_with("workspace/")).collect();
    assert_snapshot!(tree.join("\n"), @"
    .gitignore
    config.toml
    journal/lock
    reset/20261115-083000/memory/archived/decisions/20261115-use-redis.md
    reset/20261115-083000/memory/decisions/20261115-use-sqlite.md
    reset/20261115-083000/meta/evidence/20261115-use-redis.json
    reset/20261115-083000/meta/evidence/20261115-use-sqlite.json
    reset/20261115-083000/meta/state/20261115-use-redis.json
    reset/20261115-083000/meta/state/20261115-use-sqlite.json
    ");
    assert_snapshot!(home.run(&["memory", "list"]), @"No memories.");
}

#[test]
fn reset_leaves_what_it_cannot_read_and_says_so() {
    let home = TestHome::new();
    home.add("Use SQLite", &[]);
    home.write("memory/decisions/20261101-huge.md", "x".repeat(17 << 20));
    home.write("memory/decisions/notes.txt", "mine");
    assert_snapshot!(home.run(&["memory", "reset", "--yes"]), @r"
    Moved 1 memory to $HOME/work/.nacre/reset/20261115-083000
    Undo: nacre undo memory-20261115-083000-[id]
    Warning: Not moved: memory/decisions/20261101-huge.md
    [exit 3]
    ");
    assert_eq!(home.tree("memory"), "memory/decisions/20261101-huge.md");
}
