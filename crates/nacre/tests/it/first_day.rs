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
    assert_snapshot!(home.run(&["undo", done["change"].as_str().unwrap()]), @"");
    assert_snapshot!(home.run(&["init", "--all", "--yes"]), @"");
    assert_snapshot!(home.run(&["project"]), @"");
    assert_snapshot!(home.run(&["init", "--all", "--yes"]), @"");
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
    assert_snapshot!(shown, @"");
    fs::create_dir(root.join("new")).unwrap();
    fs::rename(&old, &new).unwrap();
    home.run_in(&new, &["init"]);
    assert_snapshot!(run_in(&home, &new, &["status"]), @"");
    assert!(!home.run_in(&new, &["trace"]).contains("pnpm"), "nothing is joined unasked");
    let also = |path: &Path| path.display().to_string();
    assert_snapshot!(home.run_in(&new, &["project", "add", ".", "--also", &also(&new.join("x"))]), @"");
    let agent = home
        .command(&new, &["project", "add", ".", "--also", &also(&old)])
        .env("CLAUDECODE", "1")
        .output();
    assert_snapshot!(home.render(&agent.unwrap()), @"");
    assert_snapshot!(home.run_in(&new, &["project", "add", ".", "--also", "../../old/shop", "--also", &also(&copy)]), @"");
    assert_snapshot!(home.run(&["project"]), @"");
    assert_snapshot!(run_in(&home, &new, &["sync", "--run-id", "second"]), @"");
    assert!(home.run_in(&new, &["trace"]).contains("pnpm"));
}

#[test]
fn sessions_without_a_directory_are_counted_and_can_be_assigned() {
    let home = reading();
    home.ok(&["init"]);
    session(&home, "chat", None, "Always use pnpm here, never npm.");
    session(&home, "other", None, "Never push to main.");
    assert_snapshot!(run_in(&home, &home.work(), &["sync"]), @"");
    let (_, value) = home.json(&["status"]);
    assert_eq!(value["waiting"]["without_folder"][0]["sessions"], 2, "{value:#}");
    assert_snapshot!(run_in(&home, &home.work(), &["sync", "--trace", "chat"]), @"");
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
    assert_snapshot!(home.run(&["sync", "--trace", &path]), @"");
    assert_snapshot!(home.run(&["sync", "--trace", &format!("{path}:0a1b2c3")]), @"");
    assert_snapshot!(home.run(&["sync", "--trace", &format!("{path}:0a1b2c3e")]), @"");
}
