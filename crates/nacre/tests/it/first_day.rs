//! Tests the first day with sessions of many directories: set up together, moved, cloned, copied
//! from another machine, or without a directory.

use std::fs;
use std::path::Path;

use insta::assert_snapshot;
use serde_json::json;

use crate::agents::{Talk, cursor_database};
use crate::home::TestHome;

/// Creates a home that reads traces from a directory.
fn reading() -> TestHome {
    let home = TestHome::empty();
    fs::create_dir(home.root().join("traces")).unwrap();
    home.ok(&["connect", "generic", "--path", &home.root().join("traces").display().to_string()]);
    home
}

/// Writes a session that ended two weeks before the tests' current time.
fn session(home: &TestHome, id: &str, cwd: Option<&Path>, rule: &str) {
    let mut head = json!({ "type": "session", "version": 1, "id": id });
    if let Some(cwd) = cwd {
        head["cwd"] = json!(cwd);
    }
    let [user, agent] = [("user", rule), ("assistant", "Done.")]
        .map(|(who, text)| json!({ "type": who, "text": text, "time": "2026-11-01T10:00:00Z" }));
    let path = home.root().join(format!("traces/{id}.jsonl"));
    fs::write(path, format!("{head}\n{user}\n{agent}\n")).unwrap();
}

/// Creates a repository with a remote.
fn clone(root: &Path, address: &str) {
    fs::create_dir_all(root.join(".git")).unwrap();
    let config = format!("[remote \"origin\"]\n\turl = {address}\n");
    fs::write(root.join(".git/config"), config).unwrap();
}

/// Replaces session ids, which depend on the path of the test's directory.
fn run_in(home: &TestHome, folder: &Path, args: &[&str]) -> String {
    let shown = home.run_in(folder, args);
    let (_, list) = home.json(&["trace", "--all", "-n", "0"]);
    let sessions = list["sessions"].as_array().cloned().unwrap_or_default();
    let ids = sessions.iter().map(|session| session["id"].as_str().unwrap().to_owned());
    ids.fold(shown, |shown, id| shown.replace(&id, "[ID]"))
}

#[test]
fn every_directory_with_sessions_is_set_up_as_one_change() {
    let home = reading();
    let root = home.root();
    clone(&root.join("a/shop"), "git@example.com:shop.git");
    clone(&root.join("b/shop"), "git@example.com:other.git");
    fs::create_dir_all(root.join("b/shop/inner/.git")).unwrap();
    for (id, cwd) in [
        ("1", "a/shop/src"),
        ("2", "a/shop"),
        ("3", "b/shop"),
        ("4", "gone"),
        ("5", "a"),
        ("7", "b/shop/inner"),
    ] {
        session(&home, id, Some(&root.join(cwd)), "Always use tabs here.");
    }
    session(&home, "6", Some(&root), "Always use spaces here.");
    assert_snapshot!(home.run(&["init", "--all"]), @"
    3 directories with sessions:
      ~/a/shop        2
      ~/b/shop        1
      ~/b/shop/inner  1
    Error: Nothing was changed
    Hint: To set them up: nacre init --all --yes
    [exit 2]
    ");
    let (code, listed) = home.json(&["init", "--all"]);
    assert_eq!((code, listed["folders"].as_array().unwrap().len()), (0, 3), "{listed:#}");
    assert_eq!(listed["projects"], json!([]));
    assert!(!root.join("a/shop/.nacre").exists());
    let (_, done) = home.json(&["init", "--all", "--yes"]);
    assert_snapshot!(home.run(&["undo", done["change"].as_str().unwrap()]), @"
    No longer registered: shop
    No longer registered: shop-2
    No longer registered: inner
    Undid project-20261115-083000-499c78f0 (init --all)
    Undo: nacre undo undo-20261115-083000-[id]
    ");
    assert_snapshot!(home.run(&["init", "--all", "--yes"]), @"
    3 directories with sessions:
      ~/a/shop        2
      ~/b/shop        1
      ~/b/shop/inner  1
    Set up 3 projects.
    Undo: nacre undo project-20261115-083000-[id]
    Next: nacre sync
    ");
    assert_snapshot!(home.run(&["project"]), @"
    shop    ready  $HOME/a/shop
    shop-2  ready  $HOME/b/shop
    inner   ready  $HOME/b/shop/inner
    ");
    assert_snapshot!(home.run(&["init", "--all", "--yes"]), @"All directories with sessions are set up.");
    assert!(home.run(&["sync"]).contains("4 sessions: "));
}

#[test]
fn a_moved_project_and_a_clone_are_recognized_but_not_joined_unasked() {
    let home = reading();
    let root = home.root();
    let [old, new, copy] = ["old/shop", "new/shop", "copy"].map(|name| root.join(name));
    clone(&old, "git@example.com:ana/shop.git");
    clone(&copy, "https://example.com/ana/shop");
    session(&home, "1", Some(&old), "Always use pnpm here, never npm.");
    session(&home, "2", Some(&copy.join("src")), "Never push to main.");
    fs::create_dir(copy.join("src")).unwrap();
    home.run_in(&old, &["init"]);
    let shown = run_in(&home, &old, &["sync", "--run-id", "first"]);
    assert_snapshot!(shown, @"
    Read 2 sessions.
      learning  Always use pnpm here, never npm
    1 session: 1 memory learned, 1 summary.
    1 session outside of all projects: ~/copy 1; run `nacre init` there.
    ~/copy is of the same repository as ~/old/shop. To read its sessions there: nacre project add ~/old/shop --also ~/copy
    Undo: nacre undo first-[id]
    Next: nacre brief
    ");
    fs::create_dir(root.join("new")).unwrap();
    fs::rename(&old, &new).unwrap();
    home.run_in(&new, &["init"]);
    assert_snapshot!(run_in(&home, &new, &["status"]), @"
    Project shop-2 in $HOME/new/shop
    project  0 decisions, 1 learning, 1 summary  $HOME/new/shop/.nacre
    global   0 decisions, 0 learnings, 0 summaries  $HOME/.nacre
    2 sessions outside of all projects: ~/copy 1, ~/old/shop 1; run `nacre init --all`.
    ~/copy is of the same repository as ~/new/shop. To read its sessions there: nacre project add ~/new/shop --also ~/copy
    ~/old/shop is of the same repository as ~/new/shop. To read its sessions there: nacre project add ~/new/shop --also ~/old/shop
    Last sync first (done)
    Scope project_fallback_global, 2 registered projects
    Health unchecked: run `nacre doctor`
    ");
    assert!(!home.run_in(&new, &["trace"]).contains("pnpm"), "nothing is joined unasked");
    let also = |path: &Path| path.display().to_string();
    assert_snapshot!(home.run_in(&new, &["project", "add", ".", "--also", &also(&new.join("x"))]), @"
    Error: `$HOME/new/shop/x` contains the project or is part of it
    Hint: Its sessions need no `--also`
    [exit 2]
    ");
    let agent = home
        .command(&new, &["project", "add", ".", "--also", &also(&old)])
        .env("CLAUDECODE", "1")
        .output();
    assert_snapshot!(home.render(&agent.unwrap()), @"
    Error: Only the user can give a project the sessions of another directory
    Hint: Ask the user to run it in their own terminal
    [exit 1]
    ");
    assert_snapshot!(home.run_in(&new, &["project", "add", ".", "--also", "../../old/shop", "--also", &also(&copy)]), @r#"
    Found git repository $HOME/new/shop
    The store already exists; nothing changed.
    Project `shop-2`, 2 memories.
    Git shares decisions and learnings; session summaries stay local (share.summaries).
    Found 2 sessions of this repository (generic 2).
    They are read by rules, on this computer. Rules find what people state plainly, such as "never push to main", and summarize every session; they miss what only follows from a discussion.

    Next: nacre sync
    Undo: nacre undo project-20261115-083000-[id]
    "#);
    assert_snapshot!(home.run(&["project"]), @"shop-2  ready  $HOME/new/shop");
    assert_snapshot!(run_in(&home, &new, &["sync", "--run-id", "second"]), @"
    No new content in 2 session files.
    Queued 1 session of newly set up projects.
      learning  Never push to main
    1 session: 1 memory learned, 1 summary.
    Undo: nacre undo second-[id]
    Next: nacre brief
    ");
    assert!(home.run_in(&new, &["trace"]).contains("pnpm"));
}

#[test]
fn sessions_without_a_directory_are_counted_and_can_be_assigned() {
    let home = reading();
    home.ok(&["init"]);
    session(&home, "chat", None, "Always use pnpm here, never npm.");
    session(&home, "other", None, "Never push to main.");
    assert_snapshot!(run_in(&home, &home.work(), &["sync"]), @"
    Read 2 sessions.
    2 sessions without a directory (generic 2). To read one into this project: nacre sync --trace ID (nacre trace --all).
    ");
    let (_, value) = home.json(&["status"]);
    assert_eq!(value["waiting"]["without_folder"][0]["sessions"], 2, "{value:#}");
    assert_snapshot!(run_in(&home, &home.work(), &["sync", "--trace", "chat"]), @"
      learning  Always use pnpm here, never npm
    1 session: 1 memory learned, 1 summary.
    Undo: nacre undo sync-20261115-083000-[id]
    ");
    let (_, value) = home.json(&["status"]);
    assert_eq!(value["waiting"]["without_folder"][0]["sessions"], 1, "{value:#}");
    assert!(home.run(&["trace"]).contains("pnpm"));
}

#[test]
fn one_session_of_a_database_can_be_read() {
    let home = TestHome::new();
    let database = home.root().join("copied/state.vscdb");
    let talk = |id: &str, rule: &str| Talk {
        id: id.to_owned(),
        cwd: home.work().display().to_string(),
        title: "A rule".to_owned(),
        user: vec![rule.to_owned()],
        assistant: vec!["Done.".to_owned()],
        calls: Vec::new(),
    };
    drop(cursor_database(&database, &talk("0a1b2c3d-0000-4000-8000-000000000001", "Hello there.")));
    let other = home.root().join("other.vscdb");
    drop(cursor_database(
        &other,
        &talk("0a1b2c3e-0000-4000-8000-000000000002", "Never push to main."),
    ));
    let both = rusqlite::Connection::open(&database).unwrap();
    let attach = format!("ATTACH '{}' AS other", other.display());
    both.execute_batch(&format!(
        "{attach}; INSERT INTO cursorDiskKV SELECT * FROM other.cursorDiskKV;"
    ))
    .unwrap();
    drop(both);
    let path = database.display().to_string();
    assert_snapshot!(home.run(&["sync", "--trace", &path]), @"
    Error: Cannot read trace `$HOME/copied/state.vscdb`: the file contains several sessions; name one of them: FILE:ID
    Hint: `nacre trace` lists the known sessions and their ids
    [exit 1]
    ");
    assert_snapshot!(home.run(&["sync", "--trace", &format!("{path}:0a1b2c3")]), @"
    Error: Cannot read trace `$HOME/copied/state.vscdb`: the file contains several sessions; name one of them: FILE:ID
    Hint: `nacre trace` lists the known sessions and their ids
    [exit 1]
    ");
    assert_snapshot!(home.run(&["sync", "--trace", &format!("{path}:0a1b2c3e")]), @"
      learning  Never push to main
    1 session: 1 memory learned, 1 summary.
    Undo: nacre undo sync-20261115-083000-[id]
    ");
}
