//! `nacre delta`

use std::fs;
use std::process::Command;

use insta::assert_snapshot;
use nacre_map::slices::tokens;

use crate::explore::run_raw;
use crate::home::TestHome;

/// Creates a repository with a commit.
pub(crate) fn repository() -> TestHome {
    let home = TestHome::empty();
    fs::remove_dir_all(home.work().join(".git")).unwrap();
    git(&home, &["init", "-q", "-b", "main"]);
    put(
        &home,
        "src/lib.rs",
        "mod store;\nuse crate::store::open;\npub fn run() {\n    open(1);\n}\n",
    );
    put(&home, "src/store.rs", "pub fn open(number: u8) {\n    drop(number);\n}\n");
    put(&home, "Cargo.toml", "[package]\nname = \"pearl\"\n");
    git(&home, &["add", "-A"]);
    git(&home, &["commit", "-q", "-m", "first"]);
    home
}

pub(crate) fn put(home: &TestHome, path: &str, text: &str) {
    let full = home.work().join(path);
    fs::create_dir_all(full.parent().unwrap()).unwrap();
    fs::write(full, text).unwrap();
}

pub(crate) fn git(home: &TestHome, args: &[&str]) {
    let status = Command::new("git")
        .args(["-c", "user.name=t", "-c", "user.email=t@t", "-c", "commit.gpgsign=false"])
        .args(args)
        .current_dir(home.work())
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .status()
        .unwrap();
    assert!(status.success(), "git {args:?}");
}

#[test]
fn a_delta_tells_of_work_that_is_not_committed_and_of_who_is_affected() {
    let home = repository();
    assert_snapshot!(home.run(&["delta"]), @"
    0 added, 0 modified, 0 removed, 0 renamed since git:HEAD
    Revision 6af96d88.1
    ");
    put(&home, "src/store.rs", "pub fn open(number: u16) {\n    drop(number);\n}\n");
    put(&home, "src/new.rs", "fn fresh() {}\n");
    assert_snapshot!(home.run(&["delta"]), @"
    1 added, 1 modified, 0 removed, 0 renamed since git:HEAD
    + src/new.rs
    ~ src/store.rs
        ~ function open
    ! src/lib.rs  uses open
    Revision 6af96d88.2
    ");
}

#[test]
fn without_a_commit_a_delta_begins_with_the_map() {
    let home = TestHome::empty();
    put(&home, "a.rs", "fn a() {}\n");
    home.ok(&["delta"]);
    put(&home, "b.rs", "fn b() {}\n");
    assert_snapshot!(home.run(&["delta"]), @"
    1 added, 0 modified, 0 removed, 0 renamed since 6af96d88.1
    + b.rs
    Revision 6af96d88.2
    ");
}

#[test]
fn a_new_body_affects_nobody() {
    let home = repository();
    put(&home, "src/store.rs", "pub fn open(number: u8) {\n    let _ = number;\n}\n");
    assert_snapshot!(home.run(&["delta"]), @"
    0 added, 1 modified, 0 removed, 0 renamed since git:HEAD
    ~ src/store.rs
        ~ function open (body)
    Revision 6af96d88.1
    ");
}

#[test]
fn each_client_has_its_own_place_and_asking_takes_nothing_from_others() {
    let home = repository();
    let counts = |since: &str| {
        let (code, value) = home.json(&["delta", "--since", since]);
        assert_eq!(code, 0, "{value}");
        let delta = &value["delta"];
        assert_eq!(
            delta["files"].as_array().unwrap().len() as u64,
            ["added", "modified", "removed", "renamed"]
                .iter()
                .map(|kind| delta[kind].as_u64().unwrap())
                .sum::<u64>()
        );
        (delta["added"].as_u64().unwrap(), delta["modified"].as_u64().unwrap())
    };
    assert_eq!(counts("client:one"), (3, 0));
    assert_eq!(counts("client:one"), (0, 0));
    assert_eq!(counts("client:two"), (3, 0));
    put(&home, "src/store.rs", "pub fn open() {}\n");
    assert_eq!(counts("client:one"), (0, 1));
    assert_eq!(counts("client:two"), (0, 1));
    assert_eq!(counts("client:two"), (0, 0));
    for _ in 0..2 {
        assert_eq!(counts("6af96d88.1"), (0, 1), "a revision can be asked for again");
    }
}

#[test]
fn a_long_delta_comes_in_pages_and_counts_all_of_it() {
    let home = repository();
    for number in 0..25 {
        put(&home, &format!("data/f{number:02}.txt"), "x");
    }
    let mut listed = Vec::new();
    let mut after = String::new();
    loop {
        let mut args = vec!["delta", "--since", "client:pager", "--limit", "10"];
        if !after.is_empty() {
            args.extend(["--after", &after]);
        }
        let (_, value) = home.json(&args);
        assert_eq!(value["delta"]["added"], 28);
        let files = value["delta"]["files"].as_array().unwrap();
        listed.extend(files.iter().map(|file| file["path"].as_str().unwrap().to_owned()));
        match value["delta"]["next"].as_str() {
            Some(next) => after = next.to_owned(),
            None => break,
        }
    }
    assert_eq!(listed.len(), 28);
    assert!(listed.is_sorted());
    let (_, value) = home.json(&["delta", "--since", "client:pager"]);
    assert_eq!(value["delta"]["added"], 0, "the last page was seen");
}

#[test]
fn the_envelope_is_the_same_for_the_same_state() {
    let home = repository();
    put(&home, "src/store.rs", "pub fn close() {}\n");
    home.ok(&["refresh"]);
    // The file has only just changed, so the first runs read it again.
    while home.json(&["delta"]).1["cache_status"] != "hit" {}
    let first = home.ok(&["delta", "--format", "json"]);
    for _ in 0..10 {
        assert_eq!(home.ok(&["delta", "--format", "json"]), first);
    }
    let cleaned = first.replace(project_id(&first), "ID");
    assert_snapshot!(cleaned, @r#"
    {
      "command": "delta",
      "project_root": "$HOME/work",
      "project_id": "ID",
      "cache_status": "hit",
      "revision": "6af96d88.1",
      "stats": {
        "file_count": 3,
        "total_bytes": 108,
        "reused_entries": 3,
        "rehashed_entries": 0,
        "unread_files": 0,
        "postponed_files": 0,
        "skipped": {
          "denied": 0,
          "links": 0,
          "special": 0,
          "unreadable": 0,
          "unnamable": 0,
          "nested": 0,
          "too_deep": 0,
          "unread_rules": 0
        }
      },
      "delta": {
        "since": "git:HEAD",
        "added": 0,
        "modified": 1,
        "removed": 0,
        "renamed": 0,
        "files": [
          {
            "path": "src/store.rs",
            "change": "modified",
            "old_hash": "6b83ddd78092830c",
            "new_hash": "9e7fde3d87dde806",
            "symbols": {
              "depth": "full",
              "changed": [
                {
                  "name": "close",
                  "kind": "function",
                  "change": "added",
                  "is_signature": true
                },
                {
                  "name": "open",
                  "kind": "function",
                  "change": "removed",
                  "is_signature": true
                }
              ]
            }
          }
        ],
        "next": null,
        "affected": [
          {
            "path": "src/lib.rs",
            "depth": 1,
            "symbols": [
              "open"
            ]
          }
        ],
        "affected_total": 1,
        "affected_folders": []
      }
    }
    "#);
}

fn project_id(envelope: &str) -> &str {
    let start = envelope.find("\"project_id\": \"").unwrap() + 15;
    &envelope[start..start + 16]
}

#[test]
fn a_subfolder_belongs_to_its_repository() {
    let home = repository();
    let (_, whole) = home.json(&["delta"]);
    let (_, part) = home.json(&["delta", "src"]);
    assert_eq!(part["project_id"], whole["project_id"]);
    assert_ne!(part["cache_status"], "miss", "{part}");
}

#[test]
fn a_branch_needs_no_prefix() {
    let home = repository();
    put(&home, "src/more.rs", "pub fn more() {}\n");
    let of = |since: &str| home.ok(&["delta", "--since", since]);
    assert_eq!(of("main"), of("git:main"));
    assert!(of("HEAD").contains("1 added"));
}

#[test]
fn the_objects_of_another_repository_are_not_read() {
    let home = repository();
    put(&home, ".git/objects/info/alternates", "/elsewhere/.git/objects\n");
    assert_snapshot!(home.run(&["delta", "--since", "main"]), @"
    Error: The clone uses the objects of another repository, which Nacre does not read
    Hint: Copy them: git repack -ad && rm .git/objects/info/alternates
    [exit 1]
    ");
}

#[test]
fn what_cannot_be_told_is_said_with_what_to_type() {
    let home = repository();
    home.ok(&["refresh"]);
    assert_snapshot!(home.run(&["delta", "--since", "git:nowhere"]), @"
    Error: Commit `nowhere` not found
    Hint: `git log --oneline` lists the commits
    [exit 1]
    ");
    assert_snapshot!(home.run(&["delta", "--since", "00000001.1"]), @"
    Error: Revision 00000001.1 belongs to a previous map; the current map begins with 6af96d88.1
    Hint: `nacre delta --since 0` lists everything in the map
    [exit 1]
    ");
    assert_snapshot!(home.run(&["delta", "--since", "yesterday"]), @"
    Error: Commit `yesterday` not found
    Hint: `git log --oneline` lists the commits
    [exit 1]
    ");
    assert_snapshot!(home.run(&["delta", "--since", "last:week"]), @r"
    Error: Invalid value `last:week` for `--since <SINCE>`
    Caused by: expected a revision such as 6af1b3c4.17, a git ref, client:NAME, or 0 for everything
    Hint: See `nacre delta --help`
    [exit 2]
    ");
    assert_snapshot!(home.run(&["delta", "nothing"]), @"
    Error: `$HOME/work/nothing` is not a directory
    Hint: Name a directory in the project, or a project listed by `nacre project`
    [exit 1]
    ");
    assert_snapshot!(home.run_in(&home.root(), &["delta"]), @"
    Error: `$HOME` is not a project
    Hint: Change to a repository, or name one: `nacre delta PATH`
    [exit 1]
    ");
}

#[test]
fn strict_fails_on_a_map_that_is_not_up_to_date_and_writes_nothing() {
    let home = repository();
    assert_snapshot!(home.run(&["delta", "--strict"]), @"
    Error: The map is out of date: 3 files had to be read again
    Hint: Omit `--strict`, or run `nacre refresh` first
    [exit 1]
    ");
    assert!(!home.root().join(".nacre/cache").exists());
}

#[test]
fn globs_of_the_settings_keep_files_out() {
    let home = repository();
    put(&home, "vault/plan.txt", "x");
    put(&home, ".env", "PASSWORD=1");
    let shown = home.run(&["delta"]);
    assert!(shown.contains("vault/plan.txt") && !shown.contains(".env"), "{shown}");
    let home = home.with_var("NACRE_MAP_DENY", "vault/");
    assert!(!home.run(&["delta"]).contains("vault"));
}

#[test]
fn a_budget_leaves_affected_files_to_the_counts_by_folder() {
    let home = repository();
    for number in 0..60 {
        let text = "use crate::store::open;\npub fn part() {\n    open(1);\n}\n";
        put(&home, &format!("src/parts{}/part{number}.rs", number % 2), text);
    }
    git(&home, &["add", "-A"]);
    git(&home, &["commit", "-q", "-m", "parts"]);
    put(&home, "src/store.rs", "pub fn open(number: u16) {\n    drop(number);\n}\n");
    let (_, whole) = home.json(&["delta"]);
    assert_eq!(whole["delta"]["affected_total"], 61);
    assert_eq!(whole["delta"]["affected"].as_array().unwrap().len(), 61);
    assert_eq!(
        whole["delta"]["affected_folders"][0],
        serde_json::json!({"path": "src/parts0", "files": 30})
    );
    for budget in [900, 1_200, 1_500] {
        let answer = run_raw(&home, &["delta", "--json", "--budget", &budget.to_string()]);
        assert!(tokens(&answer) <= budget, "{budget}: {}", tokens(&answer));
        let value: serde_json::Value = serde_json::from_str(&answer).unwrap();
        assert_eq!(value["delta"]["affected_total"], 61);
        assert!(value["delta"]["affected"].as_array().unwrap().len() < 61);
    }
    let text = home.run(&["delta", "--budget", "900"]);
    assert!(text.contains("61 files affected"), "{text}");
    assert!(text.contains("more affected files"), "{text}");
    let refused = home.run(&["delta", "--budget", "20"]);
    assert!(refused.starts_with("Error: A budget of 20 tokens is too small"), "{refused}");
}
