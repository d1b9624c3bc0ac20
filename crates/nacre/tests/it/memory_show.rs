//! `nacre memory show`

use std::process::Command;

use insta::assert_snapshot;

use crate::home::TestHome;

#[test]
fn show_prints_text_evidence_and_history() {
    let home = TestHome::new();
    home.add("Use SQLite", &["--body", "One file.", "--tag", "storage"]);
    assert_snapshot!(home.run(&["memory", "show", "20261115-use-sqlite"]), @"
    Use SQLite
    20261115-use-sqlite · decision · active · confidence 0.9 · updated 2026-11-15T08:30:00Z
    tags storage

    One file.
    ");
    assert_snapshot!(home.run(&["memory", "show", "20261115-use", "--evidence", "--history"]), @"
    Use SQLite
    20261115-use-sqlite · decision · active · confidence 0.9 · updated 2026-11-15T08:30:00Z
    tags storage

    One file.

    Evidence
      > Use SQLite
      > 
      > One file.
      nacre memory add, 2026-11-15T08:30:00Z

    History
      not committed yet
    ");
}

#[test]
fn history_comes_from_git_where_there_is_git() {
    let home = TestHome::new();
    std::fs::remove_dir(home.work().join(".git")).unwrap();
    let git = |args: &[&str]| {
        let status = Command::new("git")
            .args([
                "-c",
                "user.name=Ada",
                "-c",
                "user.email=ada@example.org",
                "-c",
                "commit.gpgsign=false",
            ])
            .args(args)
            .current_dir(home.work())
            .env("GIT_AUTHOR_DATE", "2026-11-15T09:00:00Z")
            .env("GIT_COMMITTER_DATE", "2026-11-15T09:00:00Z")
            .output()
            .unwrap();
        assert!(status.status.success(), "{status:?}");
    };
    git(&["init", "--quiet"]);
    let id = home.add("Use SQLite", &[]);
    git(&["add", "."]);
    git(&["commit", "--quiet", "-m", "memory: how we store"]);
    home.ok(&["memory", "archive", &id]);
    git(&["add", "-A"]);
    git(&["commit", "--quiet", "-m", "memory: put away"]);
    let (_, value) = home.json(&["memory", "show", &id, "--history"]);
    let said: Vec<&str> = value["history"]
        .as_array()
        .unwrap()
        .iter()
        .map(|version| version["what"].as_str().unwrap())
        .collect();
    assert_eq!(said, ["memory: put away", "memory: how we store"]);
}

#[test]
fn history_comes_from_runs_where_there_is_no_git() {
    let home = TestHome::new();
    let id = home.add("Use SQLite", &[]);
    let report = format!(
        r#"{{"mode":"sync","finished_at":"2026-11-15T10:00:00Z","actions":[{{"action":"update","target":"{id}","reason":"a delta"}},{{"action":"add","target":"other"}}]}}"#
    );
    home.write("workspace/sync-20261115-100000-abc/memory_actions.json", report);
    assert_snapshot!(home.run(&["memory", "show", &id, "--history"]), @"
    Use SQLite
    20261115-use-sqlite · decision · active · confidence 0.9 · updated 2026-11-15T08:30:00Z

    History
      sync-20261115-100000-abc  2026-11-15T10:00:00Z  sync  update: a delta
    ");
}

#[test]
fn an_unknown_id_is_answered_with_near_ones() {
    let home = TestHome::new();
    home.add("Use SQLite", &[]);
    home.add("Use SQLite everywhere", &[]);
    assert_snapshot!(home.run(&["memory", "show", "20261115-use-sqlit3"]), @"
    Error: Memory `20261115-use-sqlit3` not found
    Hint: Did you mean `20261115-use-sqlite` or `20261115-use-sqlite-everywhere`?
    [exit 1]
    ");
    assert_snapshot!(home.run(&["memory", "show", "2026"]), @"
    Error: `2026` matches the IDs of 2 memories
    Hint: Type more of the id, such as `20261115-use-sqlite-everywhere` or `20261115-use-sqlite`
    [exit 1]
    ");
    assert_snapshot!(home.run(&["memory", "show", "../../etc/passwd"]), @"
    Error: Memory `../../etc/passwd` not found
    Hint: `nacre memory list` lists all ids
    [exit 1]
    ");
}

#[test]
fn json_holds_the_whole_memory() {
    let home = TestHome::new();
    home.add("Use SQLite", &["--body", "One file."]);
    let (_, value) = home.json(&["memory", "show", "20261115-use-sqlite", "--evidence"]);
    assert_eq!(value["body"], "One file.");
    assert_eq!(value["evidence"]["quotes"][0]["speaker"], "human");
    assert_eq!(value["history"], serde_json::Value::Null);
}

#[test]
fn a_store_that_poses_as_a_repository_runs_nothing() {
    let home = TestHome::new();
    let id = home.add("Use SQLite", &[]);
    let canary = home.root().join("canary");
    home.write("HEAD", "1111111111111111111111111111111111111111\n");
    home.write("objects/info/keep", "");
    home.write("refs/heads/keep", "");
    let config = format!(
        "[core]\n\trepositoryformatversion = 1\n\tbare = true\n\tsshCommand = \"touch {}\"\n[extensions]\n\tpartialClone = origin\n[remote \"origin\"]\n\turl = ssh://example.invalid/x\n\tpromisor = true\n",
        canary.display()
    );
    home.write("config", config);
    assert!(home.run(&["memory", "show", &id, "--history"]).contains("not committed yet"));
    assert!(!canary.exists());
}
