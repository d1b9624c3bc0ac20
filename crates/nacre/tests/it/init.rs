//! `nacre init`

use std::fs;

use insta::assert_snapshot;

use crate::home::TestHome;

#[test]
fn init_makes_a_store_and_says_what_to_type_next() {
    let home = TestHome::empty();
    assert_snapshot!(home.run(&["init"]), @r#"
    Found git repository $HOME/work
    Created .nacre/.gitignore, .nacre/config.toml
    Project `work`, 0 memories.
    Git shares decisions and learnings; session summaries stay local (share.summaries).
    Found no sessions of any coding agent.

    Next: nacre memory add "Use SQLite for the queue" --body "One file, no server."
    "#);
    assert_snapshot!(home.tree(""), @"
    .gitignore
    config.toml
    journal/lock
    ");
    assert_snapshot!(home.read(".gitignore"), @"
    # Nacre shares decisions, learnings, their evidence and the project's settings; the rest is local.
    # Summaries tell what people did: `share.summaries = true` in config.toml and `nacre init` share them.
    /*
    !/.gitignore
    !/config.toml
    !/memory/
    /memory/summaries/
    !/meta/
    /meta/*
    !/meta/evidence/
    !/meta/tombstones/
    ");
}

#[test]
fn init_again_changes_nothing() {
    let home = TestHome::new();
    let before = home.snapshot();
    assert_snapshot!(home.run(&["init"]), @r#"
    Found git repository $HOME/work
    The store already exists; nothing changed.
    Project `work`, 0 memories.
    Git shares decisions and learnings; session summaries stay local (share.summaries).
    Found no sessions of any coding agent.

    Next: nacre memory add "Use SQLite for the queue" --body "One file, no server."
    "#);
    assert_eq!(home.snapshot(), before);
}

#[test]
fn init_does_not_ignore_another_name() {
    let home = TestHome::new();
    let before = home.snapshot();
    assert_snapshot!(home.run(&["init", "--name", "other"]), @"
    Error: Path `$HOME/work` is already registered, as project `work`
    Hint: To rename it, run `nacre project remove work` first
    [exit 1]
    ");
    assert!(home.ok(&["init", "--name", "work"]).contains("Project `work`"));
    assert_eq!(home.snapshot(), before);
}

#[test]
fn init_keeps_what_a_person_wrote() {
    let home = TestHome::empty();
    home.write(".gitignore", "# mine\n");
    home.write("config.toml", "[memory]\nmax_results = 5\n");
    home.ok(&["init"]);
    assert_eq!(home.read(".gitignore"), "# mine\n");
    assert_eq!(home.read("config.toml"), "[memory]\nmax_results = 5\n");
}

#[test]
fn init_finds_the_git_root_from_below() {
    let home = TestHome::empty();
    let below = home.work().join("src/deep");
    fs::create_dir_all(&below).unwrap();
    home.run_in(&below, &["init"]);
    assert!(home.store("config.toml").exists());
    assert!(!below.join(".nacre").exists());
}

#[test]
fn init_outside_git_uses_the_folder() {
    let home = TestHome::empty();
    let plain = home.root().join("plain");
    fs::create_dir(&plain).unwrap();
    assert_snapshot!(home.run_in(&plain, &["init", "--name", "notes"]), @r#"
    Found directory (no Git: history comes only from runs) $HOME/plain
    Created .nacre/.gitignore, .nacre/config.toml
    Project `notes`, 0 memories.
    Git shares decisions and learnings; session summaries stay local (share.summaries).
    Found no sessions of any coding agent.

    Next: nacre memory add "Use SQLite for the queue" --body "One file, no server."
    "#);
}

#[test]
fn init_does_not_turn_the_global_store_into_a_project() {
    let home = TestHome::empty();
    home.ok(&["memory", "add", "--scope", "global_only", "Prefer short names"]);
    assert_snapshot!(home.run_in(&home.root(), &["init"]), @"
    Error: `$HOME` cannot be a project, because its `.nacre` directory contains your own data for all projects
    Hint: Change to a repository and run `nacre init` there
    [exit 1]
    ");
}

#[test]
fn git_shares_memories_and_evidence_only() {
    let home = TestHome::empty();
    fs::remove_dir(home.work().join(".git")).unwrap();
    let git = |args: &[&str]| {
        let output =
            std::process::Command::new("git").args(args).current_dir(home.work()).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    git(&["init", "--quiet"]);
    home.ok(&["init"]);
    home.add("Use SQLite", &[]);
    let forgotten = home.add("Use Redis", &[]);
    home.ok(&["memory", "forget", &forgotten, "--yes"]);
    let listed = git(&["ls-files", "--others", "--exclude-standard"]);
    let stone = listed.lines().find(|line| line.contains("tombstones/")).unwrap().to_owned();
    assert_snapshot!(listed.replace(&stone, ".nacre/meta/tombstones/[HASH].json"), @"
    .nacre/.gitignore
    .nacre/config.toml
    .nacre/memory/decisions/20261115-use-sqlite.md
    .nacre/meta/evidence/20261115-use-sqlite.json
    .nacre/meta/tombstones/[HASH].json
    ");
}

#[test]
fn init_in_json_names_what_it_made() {
    let home = TestHome::empty();
    let (code, value) = home.json(&["init"]);
    assert_eq!(code, 0);
    assert_snapshot!(serde_json::to_string_pretty(&value).unwrap(), @r#"
    {
      "created": [
        ".nacre/.gitignore",
        ".nacre/config.toml"
      ],
      "foreign": 0,
      "has_agents": false,
      "is_git": true,
      "is_partial": false,
      "memories": 0,
      "new_sessions": 0,
      "next": "nacre memory add \"Use SQLite for the queue\" --body \"One file, no server.\"",
      "project": "work",
      "root": "$HOME/work",
      "sessions": [],
      "shares_summaries": false
    }
    "#);
}

#[test]
fn init_works_on_the_project_that_is_named() {
    let home = TestHome::empty();
    let other = home.root().join("other");
    fs::create_dir(&other).unwrap();
    let place = other.display().to_string();
    home.ok(&["--project", &place, "init"]);
    assert!(other.join(".nacre/config.toml").exists());
    assert!(!home.store("config.toml").exists(), "the current folder is left alone");
    let (_, projects) = home.json(&["project"]);
    assert!(projects.to_string().contains("other"), "{projects}");
    assert!(home.run(&["--project", "nowhere", "init"]).contains("Project `nowhere` not found"));
}
