//! Tests terminal output: rows that fit the width, short ids that commands accept, relative times
//! and the pager.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use insta::assert_snapshot;

use crate::home::TestHome;
use crate::pty::Terminal;

fn set_up_memories() -> TestHome {
    let home = TestHome::new();
    home.add(
        "Use SQLite for the queue of jobs, for one file is easier to back up than a server",
        &[],
    );
    home.add("Use SQLite for sessions", &["--type", "learning", "--kind", "preference"]);
    home.add("Write small commits", &["--type", "learning", "--kind", "pitfall"]);
    home.with_var("NACRE_NOW", "2026-11-15T10:30:00Z")
}

fn with_summary(home: &TestHome) {
    let text = "---\nid: 20261114-ship-it\ntitle: Ship it\ndate: 2026-11-14\ntime: \"100000\"\n\
                created: 2026-11-14T10:00:00Z\nupdated: 2026-11-14T10:00:00Z\n---\n\nIt was shipped.\n";
    home.write("memory/summaries/20261114/100000/ship-it.md", text);
}

#[test]
fn rows_fit_and_titles_come_first() {
    let home = set_up_memories();
    let Some(shown) = Terminal::default().run(&home, &["memory", "list"]) else { return };
    assert_snapshot!(shown, @"
    Write small commits        pitfall     2 h ago  20261115-write
    Use SQLite for the queue…  decision    2 h ago  20261115-use-sqlite-for-the
    Use SQLite for sessions    preference  2 h ago  20261115-use-sqlite-for-sessions
    ");
    let narrow = Terminal { columns: 60, ..Terminal::default() };
    let shown = narrow.run(&home, &["memory", "list"]).unwrap();
    assert!(shown.lines().all(|line| line.chars().count() <= 60), "{shown}");
    let wide = Terminal { columns: 200, ..Terminal::default() };
    let shown = wide.run(&home, &["memory", "list"]).unwrap();
    assert!(shown.contains("than a server") && !shown.contains('…'), "{shown}");
}

#[test]
fn a_short_id_is_taken_wherever_an_id_is() {
    let home = set_up_memories();
    let Some(shown) = Terminal::default().run(&home, &["memory", "list"]) else { return };
    let ids: Vec<&str> =
        shown.lines().filter_map(|line| line.split_whitespace().next_back()).collect();
    assert_eq!(ids.len(), 3, "{shown}");
    for id in ids {
        assert!(home.json(&["memory", "list"]).1["memories"][0]["id"] != id, "{id} is whole");
        for args in [
            &["memory", "show", id][..],
            &["memory", "related", id],
            &["feedback", id, "useful"],
            &["memory", "add", "More", "--related", id],
            &["memory", "archive", id],
            &["memory", "restore", id],
        ] {
            home.ok(args);
        }
    }
}

#[test]
fn summaries_are_hidden_and_counted() {
    let home = set_up_memories();
    with_summary(&home);
    assert_snapshot!(home.run(&["memory", "list"]), @"
    20261115-write-small-commits                                      pitfall     2026-11-15  Write small commits
    20261115-use-sqlite-for-the-queue-of-jobs-for-one-file-is-easier  decision    2026-11-15  Use SQLite for the queue of jobs, for one file is easier to back up than a server
    20261115-use-sqlite-for-sessions                                  preference  2026-11-15  Use SQLite for sessions
    1 summary is hidden; `--all` shows it
    ");
    for args in [&["memory", "list", "--all"][..], &["memory", "list", "-t", "summary"]] {
        let shown = home.ok(args);
        assert!(shown.contains("Ship it") && !shown.contains("hidden"), "{shown}");
    }
    let (_, value) = home.json(&["memory", "list"]);
    assert_eq!((&value["total"], &value["hidden_summaries"]), (&3.into(), &1.into()));
    assert_snapshot!(home.ok(&["memory", "list", "-t", "pitfall"]), @"20261115-write-small-commits  pitfall  2026-11-15  Write small commits");
    assert_eq!(home.json(&["memory", "list", "--status", "stale"]).1["total"], 0);
    assert_eq!(home.json(&["memory", "list", "--status", "active"]).1["total"], 3);
}

#[test]
fn runs_say_when_and_what_in_words() {
    let home = TestHome::new();
    home.add("Use pnpm", &["--body", "npm writes a second lock file."]);
    home.add("use PNPM!", &["--body", "npm writes a second lock file"]);
    let (_, value) = home.json(&["maintain"]);
    let run = value["projects"][0]["report"]["run_id"].as_str().unwrap().to_owned();
    let home = home.with_var("NACRE_NOW", "2026-11-15T10:30:00Z");
    let Some(shown) = Terminal::default().run(&home, &["runs"]) else { return };
    let end = run.rsplit('-').next().unwrap();
    // The names of runs end in random digits.
    let named = shown.lines().map(|line| match line.as_bytes().first() {
        Some(first) if first.is_ascii_hexdigit() => format!("[HASH]{}", &line[8..]),
        _ => line.to_owned(),
    });
    assert_snapshot!(named.collect::<Vec<_>>().join("\n"), @"
    run       when     what it did         of
    [HASH]  2 h ago  maintain: 1 merged
    [HASH]  2 h ago  memory              memory add
    [HASH]  2 h ago  memory              memory add
    ");
    home.ok(&["runs", end]);
}

/// Writes a script that acts as the pager, and returns its path.
fn pager(home: &TestHome, script: &str) -> String {
    let file = home.root().join("pager.sh");
    fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    file.display().to_string()
}

#[test]
fn long_output_goes_through_the_pager_and_short_output_does_not() {
    let home = set_up_memories();
    let pager = pager(&home, "echo PAGED; cat");
    let short = |rows: usize, name: &'static str| Terminal {
        rows,
        vars: vec![(name, pager.clone())],
        ..Terminal::default()
    };
    let Some(shown) = short(4, "NACRE_PAGER").run(&home, &["memory", "list"]) else { return };
    assert!(shown.starts_with("PAGED\n") && shown.lines().count() == 4, "{shown}");
    assert!(short(3, "PAGER").run(&home, &["memory", "list"]).unwrap().contains("PAGED"));
    for args in [
        &["memory", "list", "--no-pager"][..],
        &["memory", "list", "--json"],
        &["memory", "add", "One more"],
    ] {
        let shown = short(2, "NACRE_PAGER").run(&home, args).unwrap();
        assert!(!shown.contains("PAGED"), "{args:?}: {shown}");
    }
    assert!(!short(40, "NACRE_PAGER").run(&home, &["memory", "list"]).unwrap().contains("PAGED"));
    // Not on a terminal.
    let home = home.with_var("NACRE_PAGER", &pager);
    assert!(!home.ok(&["memory", "list"]).contains("PAGED"));
}

#[test]
fn a_pager_that_is_missing_or_fails_is_no_error() {
    let home = set_up_memories();
    for pager in ["no-such-pager -x".to_owned(), pager(&home, "exit 3"), String::new()] {
        let vars = vec![("NO_COLOR", "1".to_owned()), ("NACRE_PAGER", pager)];
        let terminal = Terminal { rows: 2, vars, ..Terminal::default() };
        let Some(shown) = terminal.run(&home, &["memory", "list"]) else { return };
        assert_eq!(shown.lines().count(), 3, "{shown}");
        assert!(shown.starts_with("Write small commits"), "{shown}");
    }
}

#[test]
fn a_repository_does_not_choose_the_pager() {
    let home = set_up_memories();
    let pager = pager(&home, "echo PAGED; cat");
    home.write("config.toml", format!("[ui]\npager = \"{pager}\"\n"));
    let vars = vec![("PAGER", "cat".to_owned())];
    let terminal = Terminal { rows: 2, vars, ..Terminal::default() };
    let Some((_, shown)) = terminal.run_to_end(&home, &["memory", "list"]) else { return };
    assert!(!shown.contains("PAGED"), "{shown}");
}

#[test]
fn warnings_come_after_the_page_they_belong_to() {
    let home = set_up_memories();
    home.write("memory/decisions/20261114-broken.md", "---\nid: 20261114-broken\ntitle: [x\n---\n");
    let vars = vec![("NO_COLOR", "1".to_owned()), ("NACRE_PAGER", pager(&home, "echo PAGED; cat"))];
    let terminal = Terminal { rows: 2, vars, ..Terminal::default() };
    let Some((code, shown)) = terminal.run_to_end(&home, &["memory", "list"]) else { return };
    let at = |text: &str| shown.find(text).unwrap_or_else(|| panic!("{text} is not in {shown}"));
    assert!(
        code == 3 && at("PAGED") < at("20261115-write") && at("20261115-write") < at("Warning")
    );
}

#[test]
fn a_review_ends_with_what_was_decided() {
    let home = TestHome::new();
    let _ = fs::remove_dir(home.work().join(".git"));
    for title in ["Use Redis", "Use tabs", "Use make", "Use npm"] {
        let id = home.add(title, &[]);
        let path = format!("memory/decisions/{id}.md");
        home.write(&path, home.read(&path).replace("status: active", "status: candidate"));
    }
    let terminal = Terminal { keys: "nb?arq", ..Terminal::default() };
    let Some(shown) = terminal.run(&home, &["review"]) else { return };
    assert!(shown.contains("back to the previous candidate"), "{shown}");
    assert_eq!(shown.matches("Candidate 1 of 4").count(), 3, "{shown}");
    assert!(shown.ends_with("1 accepted, 1 rejected, 2 left\n"), "{shown}");
    assert_eq!(home.json(&["review"]).1["total"], 2);
    home.ok(&["review", "accept", "--all"]);
    assert_snapshot!(home.run(&["review", "accept", "--all"]), @"No candidates to review.");
}

#[test]
fn a_diff_that_a_person_agrees_to_is_whole() {
    let home = TestHome::new();
    fs::create_dir_all(home.root().join(".claude")).unwrap();
    let settings = format!("{{\"note\": \"{}\"}}", "x".repeat(400));
    fs::write(home.root().join(".claude/settings.json"), settings).unwrap();
    let shown = home.ok(&["connect", "claude", "--hooks", "--dry-run", "--diff"]);
    assert!(shown.contains(&"x".repeat(400)) && shown.contains("hook claude"), "{shown}");
    assert!(!shown.contains('…'), "{shown}");
}

#[test]
fn only_the_agents_that_are_used_are_listed() {
    let home = TestHome::new();
    let shown = home.ok(&["connect", "list"]);
    assert!(shown.starts_with("None of ") && shown.lines().count() == 1, "{shown}");
    home.ok(&["connect", "claude", "--mcp", "--yes"]);
    let shown = home.ok(&["connect", "list"]);
    assert!(shown.starts_with("claude") && shown.lines().count() == 2, "{shown}");
    assert!(home.ok(&["connect", "list", "--all"]).lines().count() > 10);
}

#[test]
fn a_task_needs_no_flag() {
    let home = set_up_memories();
    fs::write(home.work().join("queue.rs"), "pub fn push_job() {}\n").unwrap();
    let [flag, word] = [&["context", "--task", "push job"][..], &["context", "push job"]];
    // The first line lists map updates and differs between runs.
    let found =
        |args: &[&str]| home.ok(args).lines().skip(1).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(found(word), found(flag));
    let [flag, words] = [&["brief", "--task", "queue jobs"][..], &["brief", "queue", "jobs"]];
    assert_eq!(home.ok(words), home.ok(flag));
}

#[test]
fn a_list_that_is_cut_says_so() {
    let home = crate::sync_run::reading();
    for (id, day) in [("one", 1), ("two", 2), ("three", 3)] {
        crate::sync_run::talk(&home, id, day, crate::sync_run::PNPM);
    }
    home.ok(&["sync"]);
    for args in [&["trace", "-n", "1"][..], &["queue", "-n", "1"], &["runs", "-n", "1"]] {
        let shown = home.ok(args);
        assert!(shown.ends_with("… 2 more; `--limit 0` shows all\n"), "{args:?}: {shown}");
    }
}

#[test]
fn steps_do_not_scroll() {
    let home = crate::sync_run::reading();
    for (id, day) in [("one", 1), ("two", 2), ("three", 3)] {
        crate::sync_run::talk(&home, id, day, crate::sync_run::PNPM);
    }
    let Some(shown) = Terminal::default().run(&home, &["sync"]) else { return };
    let stays = |line: &&str| line.contains(": extract") && !line.contains('\r');
    assert_eq!(shown.lines().filter(stays).count(), 0, "{shown}");
    assert_eq!(home.json(&["runs"]).1["total"], 3, "{shown}");
}

#[test]
fn the_mark_of_a_candidate_is_never_cut_off() {
    let home = TestHome::new();
    let rules = "# Rules\n\n- Always run all of the tests of the whole workspace before you push anything to main\n";
    fs::write(home.work().join("AGENTS.md"), rules).unwrap();
    home.ok(&["import"]);
    let Some(shown) = Terminal::default().run(&home, &["memory", "list"]) else { return };
    assert!(shown.contains("…  (candidate"), "{shown}");
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
}

#[test]
fn the_list_of_changes_fits_and_says_first_what_stands() {
    let home = TestHome::new();
    let title = "Use SQLite for the queue of jobs, for one file is easier to back up than a server";
    let added = home.json(&["memory", "add", title]).1;
    home.ok(&["config", "set", "memory.max_results", "50"]);
    home.ok(&["undo", added["change"].as_str().unwrap()]);
    let Some(shown) = Terminal::default().run(&home, &["undo", "--list"]) else { return };
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
    let line = |command: &str| {
        let found = shown.lines().find(|line| line.contains(command));
        found.unwrap_or_else(|| panic!("{command}: {shown}")).to_owned()
    };
    assert!(line("memory add").contains("undone by "), "{shown}");
    assert!(line("config set").contains("config.toml"), "{shown}");
    // Commands accept the short id.
    let short = line("config set").split_whitespace().next().unwrap().to_owned();
    assert!(short.len() < 10, "{shown}");
    home.ok(&["undo", &short]);
}
