//! `nacre undo`

use std::fs;
use std::path::PathBuf;

use crate::home::TestHome;
use crate::sync_run::{PNPM, reading, talk};

const NPM: &[&str] = &[
    "Fix the build on CI",
    "I used pnpm install.",
    "From now on use npm, do not use pnpm any more: pnpm broke the docker build.",
    "Switched.",
];

const PNPM_FILE: &str =
    "memory/learnings/20261101-always-use-pnpm-here-never-npm-npm-writes-a-second-lock-file.md";

fn memories(home: &TestHome) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = home.snapshot();
    let is_memory = |path: &PathBuf| {
        path.starts_with(home.store("memory")) || path.starts_with(home.store("meta/evidence"))
    };
    files.retain(|(path, _)| is_memory(path));
    files
}

fn last_run(home: &TestHome) -> String {
    let (_, value) = home.json(&["sync"]);
    value["sessions"][0]["report"]["run_id"].as_str().unwrap().to_owned()
}

#[test]
fn an_undone_run_leaves_every_byte_as_it_was() {
    let home = reading();
    talk(&home, "one", 1, PNPM);
    home.ok(&["sync"]);
    let before = memories(&home);
    talk(&home, "three", 3, NPM);
    let run = last_run(&home);
    let after = memories(&home);
    assert_ne!(before, after);
    let (_, undone) = home.json(&["undo", &run]);
    assert_eq!(memories(&home), before);
    assert_eq!(undone["of"], run.as_str());
    // The next sync does not bring back what the user undid.
    home.ok(&["sync"]);
    assert_eq!(memories(&home), before);
    home.ok(&["undo", undone["run"].as_str().unwrap()]);
    assert_eq!(memories(&home), after);
}

#[test]
fn what_was_changed_since_is_not_undone() {
    let home = reading();
    talk(&home, "one", 1, PNPM);
    let run = last_run(&home);
    let path =
        "memory/learnings/20261101-always-use-pnpm-here-never-npm-npm-writes-a-second-lock-file.md";
    home.write(path, home.read(path) + "\nMy own words.\n");
    let before = memories(&home);
    let shown = home.run(&["undo", &run]);
    assert!(
        shown.contains("its files have changed since") && shown.ends_with("[exit 1]\n"),
        "{shown}"
    );
    assert_eq!(memories(&home), before);
}

#[test]
fn one_id_undoes_a_whole_sync() {
    let home = reading();
    let before = memories(&home);
    talk(&home, "one", 1, PNPM);
    talk(&home, "three", 3, NPM);
    let (_, synced) = home.json(&["sync"]);
    assert_eq!(synced["sessions"].as_array().unwrap().len(), 2);
    let id = synced["run"].as_str().unwrap();
    let after = memories(&home);
    let (_, planned) = home.json(&["undo", id, "--dry-run"]);
    assert!(
        planned["dry_run"].as_bool().unwrap() && !planned["changes"].as_array().unwrap().is_empty()
    );
    assert_eq!(memories(&home), after);
    let (_, listed) = home.json(&["undo", "--list"]);
    assert_eq!(
        (&listed["changes"][0]["id"], &listed["changes"][0]["runs"]),
        (&id.into(), &2.into())
    );
    let (_, undone) = home.json(&["undo", "--last"]);
    assert_eq!(undone["of"], id);
    assert_eq!(memories(&home), before);
    // A second undo reports that the change is already undone.
    let again = home.run(&["undo", id]);
    let by = undone["run"].as_str().unwrap();
    assert!(again.contains(&format!("has already been undone by `{by}`")), "{again}");
    home.ok(&["undo", by]);
    assert_eq!(memories(&home), after);
}

#[test]
fn an_edit_wins_and_the_rest_can_be_undone() {
    let home = reading();
    talk(&home, "one", 1, PNPM);
    let (_, synced) = home.json(&["sync"]);
    let id = synced["run"].as_str().unwrap();
    home.write(PNPM_FILE, home.read(PNPM_FILE) + "\nMy own words.\n");
    let edited = memories(&home);
    let refused = home.run(&["undo", id]);
    assert!(refused.contains(&format!("`{PNPM_FILE}` was edited")), "{refused}");
    assert!(refused.contains(&format!("nacre undo {id} --keep-changed")), "{refused}");
    assert_eq!(memories(&home), edited);
    let (code, undone) = home.json(&["undo", id, "--keep-changed"]);
    assert_eq!((code, &undone["kept"][0]["path"]), (3, &PNPM_FILE.into()));
    assert!(home.read(PNPM_FILE).contains("My own words."));
    assert_eq!(home.tree("memory/summaries"), "", "the summary was nobody's but the sync's");
}

#[test]
fn what_a_later_change_made_is_named() {
    let home = TestHome::new();
    let added = home.json(&["memory", "add", "Use SQLite"]).1;
    let (id, first) = (added["id"].as_str().unwrap(), added["change"].as_str().unwrap());
    let archived = home.json(&["memory", "archive", id]).1;
    let later = archived["change"].as_str().unwrap();
    let refused = home.run(&["undo", first]);
    assert!(refused.contains(&format!("nacre undo {later}")), "{refused}");
    home.ok(&["undo", later]);
    home.ok(&["undo", first]);
    assert_eq!(home.tree("memory"), "");
}

/// Runs a command and undoes it by the printed id.
fn there_and_back(home: &TestHome, args: &[&str]) {
    let before = memories(home);
    let (code, done) = home.json(args);
    assert_eq!(code, 0, "{args:?}: {done}");
    let change = done["change"].as_str().unwrap_or_else(|| panic!("{args:?}: {done}"));
    assert_ne!(memories(home), before, "{args:?}");
    home.ok(&["undo", change]);
    assert_eq!(memories(home), before, "{args:?}");
}

#[test]
fn everything_that_a_person_does_to_memories_can_be_undone() {
    let home = TestHome::new();
    let id = home.add("Use SQLite for the queue", &["--body", "One file, no service to run."]);
    let archived = home.add("Use Redis for the cache", &["--body", "It is fast enough for us."]);
    home.ok(&["memory", "archive", &archived]);
    there_and_back(&home, &["memory", "add", "Deploy on Mondays"]);
    there_and_back(&home, &["memory", "add", "Use Kafka", "--supersedes", &id]);
    there_and_back(&home, &["memory", "archive", &id]);
    there_and_back(&home, &["memory", "restore", &archived]);
    there_and_back(&home, &["feedback", &id, "wrong"]);
    there_and_back(&home, &["memory", "reset", "--yes"]);
    let rules = "# Rules\n\n- Always run the tests before you push\n- Never commit to main\n";
    fs::write(home.root().join("work/AGENTS.md"), rules).unwrap();
    there_and_back(&home, &["import"]);
    home.ok(&["import"]);
    let candidates = home.json(&["review", "--list"]).1;
    let candidate = candidates["candidates"][0]["id"].as_str().unwrap().to_owned();
    there_and_back(&home, &["review", "accept", &candidate]);
    there_and_back(&home, &["review", "reject", &candidate]);
    // After its rejection is undone, the candidate can be accepted and has the same trust as
    // before.
    home.ok(&["review", "accept", &candidate]);
    assert_eq!(
        home.run(&["doctor"]).lines().next(),
        Some("Checked 4 memories: ok, 0 errors, 0 warnings.")
    );
}

#[test]
fn what_is_forgotten_stays_forgotten() {
    let home = TestHome::new();
    let added = home.json(&["memory", "add", "Use Redis"]).1;
    let forgotten = home.json(&["memory", "forget", added["id"].as_str().unwrap(), "--yes"]).1;
    let refused = home.run(&["undo", forgotten["change"].as_str().unwrap()]);
    assert!(refused.contains("`forget` does not keep what it removes"), "{refused}");
    // Undoing the change that created the memory does not restore it either.
    let refused = home.run(&["undo", added["change"].as_str().unwrap()]);
    assert!(refused.contains("`forget` does not keep what it removes"), "{refused}");
    assert_eq!(home.tree("memory"), "");
}

#[test]
fn the_last_change_is_never_a_strangers() {
    let home = TestHome::new();
    let plan = r#"{"version":1,"changes":[]}"#;
    home.write("workspace/memory-20990101-000000-abcdef12/undo.json", plan);
    let note = r#"{"version":1,"change":"memory-20990101-000000-abcdef12","command":"memory add","at":"2099-01-01T00:00:00Z","sequence":1,"counts":{"added":1,"changed":0,"removed":0},"memories":[],"reversal":"plan","mark":"00"}"#;
    home.write("workspace/memory-20990101-000000-abcdef12/change.json", note);
    let shown = home.run(&["undo", "--last"]);
    assert!(shown.starts_with("Error: Nothing to undo"), "{shown}");
    let added = home.json(&["memory", "add", "Use SQLite"]).1;
    assert_eq!(home.json(&["undo", "--last"]).1["of"], added["change"]);
}

#[test]
fn an_undo_wants_to_know_what() {
    let home = TestHome::new();
    let shown = home.run(&["undo"]);
    assert!(shown.contains("nacre undo --last") && shown.ends_with("[exit 2]\n"), "{shown}");
    let added = home.json(&["memory", "add", "Use SQLite"]).1;
    let change = added["change"].as_str().unwrap();
    let short = &change[change.len() - 8..change.len() - 3];
    assert_eq!(home.json(&["undo", short, "--dry-run"]).1["of"], change);
}

#[test]
fn there_must_be_something_to_undo() {
    let home = reading();
    let shown = home.run(&["undo", "sync-2099"]);
    assert!(shown.starts_with("Error: Run `sync-2099` not found"), "{shown}");
}

/// Returns what `undo --last` reports as undone.
fn undone_last(home: &TestHome) -> String {
    let (code, undone) = home.json(&["undo", "--last"]);
    assert_eq!(code, 0, "{undone}");
    undone["of"].as_str().unwrap().to_owned()
}

fn text(path: PathBuf) -> Option<String> {
    fs::read_to_string(path).ok()
}

#[test]
fn the_last_change_is_also_one_of_settings() {
    let home = TestHome::new();
    home.add("Use SQLite", &[]);
    let home = home.with_var("NACRE_NOW", "2026-11-15T09:00:00Z");
    let config = || text(home.root().join(".nacre/config.toml"));
    let before = config();
    let first = home.json(&["config", "set", "memory.scope", "project_only"]).1;
    let after_first = config();
    let second = home.json(&["config", "set", "memory.scope", "global_only"]).1;
    let (first, second) = (first["change"].as_str().unwrap(), second["change"].as_str().unwrap());
    // Repeating the command changes nothing, so there is no id.
    let again = home.json(&["config", "set", "memory.scope", "global_only"]).1;
    assert!(again.get("change").is_none(), "{again}");
    let refused = home.run(&["undo", first]);
    assert!(refused.contains(&format!("nacre undo {second}")), "{refused}");
    assert!(!refused.contains("--keep-changed"), "{refused}");
    let (_, planned) = home.json(&["undo", "--last", "--dry-run"]);
    assert_eq!(planned["changes"][0]["path"], "config.toml");
    assert_eq!(undone_last(&home), second);
    assert_eq!(config(), after_first);
    assert_eq!(undone_last(&home), first);
    assert_eq!(config(), before);
    assert_eq!(home.tree("memory"), "memory/decisions/20261115-use-sqlite.md");
    // Undoing an undo has its own id, and is listed.
    let list = home.json(&["undo", "--list"]).1;
    let undo = list["changes"][0]["id"].as_str().unwrap();
    home.ok(&["undo", undo]);
    assert_eq!(config(), after_first);
}

#[test]
fn a_setting_of_the_repository_is_undone_there() {
    let home = TestHome::new();
    let before = home.read("config.toml");
    let set = home.json(&["config", "set", "--repo", "share.summaries", "true"]).1;
    assert_ne!(home.read("config.toml"), before);
    assert_eq!(undone_last(&home), set["change"].as_str().unwrap());
    assert_eq!(home.read("config.toml"), before);
}

#[test]
fn an_export_is_undone_and_nothing_else_is() {
    let home = TestHome::new();
    home.add("Use SQLite for the queue", &["--body", "One file, no service to run."]);
    let file = || text(home.work().join("CLAUDE.md"));
    let rules = "# Rules\n\nBe brief.\n";
    fs::write(home.work().join("CLAUDE.md"), rules).unwrap();
    let exported = home.json(&["export", "--agents-md"]).1;
    let first = file();
    assert_ne!(first.as_deref(), Some(rules));
    assert_eq!(undone_last(&home), exported["change"].as_str().unwrap());
    assert_eq!(file().as_deref(), Some(rules));
    home.ok(&["export", "--agents-md"]);
    let edited = first.unwrap() + "\nMore rules.\n";
    fs::write(home.work().join("CLAUDE.md"), &edited).unwrap();
    let refused = home.run(&["undo", "--last"]);
    assert!(refused.contains("CLAUDE.md` was edited"), "{refused}");
    assert_eq!(file().as_deref(), Some(edited.as_str()));
}

#[test]
fn what_was_trusted_waits_again() {
    let home = TestHome::new();
    let text = "---\nid: 20261116-a\ntitle: The queue is a SQLite table\n---\n\nOne.\n";
    home.write("memory/decisions/20261116-a.md", text);
    let in_brief =
        || home.json(&["brief"]).1["text"].as_str().unwrap().contains("The queue is a SQLite");
    let trusted = home.json(&["trust", "20261116-a", "--yes"]).1;
    assert!(in_brief());
    assert_eq!(undone_last(&home), trusted["change"].as_str().unwrap());
    assert!(!in_brief());
    assert_eq!(home.json(&["trust"]).1["foreign"], 1);
    // The error contains the command that reverses the change instead.
    let list = home.json(&["undo", "--list"]).1;
    let refused = home.run(&["undo", list["changes"][0]["id"].as_str().unwrap()]);
    assert!(refused.contains("nacre trust 20261116-a"), "{refused}");
}

#[test]
fn a_project_comes_back_into_the_register_and_leaves_it() {
    let home = TestHome::new();
    let other = home.root().join("other");
    fs::create_dir_all(&other).unwrap();
    let names = || {
        let list = home.json(&["project"]).1;
        let names = list["projects"].as_array().unwrap().iter().map(|it| it["name"].to_string());
        names.collect::<Vec<_>>().join(" ")
    };
    let added = home.json(&["project", "add", other.to_str().unwrap()]).1;
    let removed = home.json(&["project", "remove", "other"]).1;
    assert_eq!(names(), "\"work\"");
    assert_eq!(undone_last(&home), removed["change"].as_str().unwrap());
    assert_eq!(names(), "\"work\" \"other\"");
    assert_eq!(undone_last(&home), added["change"].as_str().unwrap());
    assert_eq!(names(), "\"work\"");
}

#[test]
fn what_cannot_be_undone_is_named_with_what_came_before() {
    let home = TestHome::new();
    let kept = home.json(&["memory", "add", "Use SQLite"]).1;
    let gone = home.add("Use Redis", &[]);
    home.ok(&["memory", "forget", &gone, "--yes"]);
    let before = memories(&home);
    let refused = home.run(&["undo", "--last"]);
    let change = kept["change"].as_str().unwrap();
    assert!(refused.starts_with("Error: The newest change is `memory forget`."), "{refused}");
    assert!(refused.contains(&format!("`memory add`: nacre undo {change}")), "{refused}");
    assert_eq!(memories(&home), before);
    // The change that created the forgotten memory cannot be undone.
    let list = home.json(&["undo", "--list"]).1;
    let undoable: Vec<bool> =
        list["changes"].as_array().unwrap().iter().map(|it| it["undoable"] == true).collect();
    assert_eq!(undoable, [false, false, true]);
    home.ok(&["undo", change]);
    assert_eq!(home.tree("memory"), "");
}

#[test]
fn where_nothing_is_left_to_put_back_nobody_is_led_on() {
    let home = TestHome::new();
    let added = home.json(&["memory", "add", "Use SQLite"]).1;
    let path = format!("memory/decisions/{}.md", added["id"].as_str().unwrap());
    home.write(&path, home.read(&path) + "\nMy own words.\n");
    for args in [vec!["undo", "--last"], vec!["undo", "--last", "--keep-changed"]] {
        let refused = home.run(&args);
        assert!(refused.contains(&format!("`{path}` was edited")), "{refused}");
        assert!(refused.contains("There is nothing else to restore"), "{refused}");
        assert!(!refused.contains("nacre undo memory-"), "{refused}");
    }
}

#[test]
fn after_an_undo_the_hint_names_it() {
    let home = TestHome::new();
    home.add("Use SQLite", &[]);
    let undone = home.json(&["undo", "--last"]).1;
    let refused = home.run(&["undo", "--last"]);
    let by = undone["run"].as_str().unwrap();
    assert!(refused.starts_with("Error: Nothing to undo"), "{refused}");
    assert!(refused.contains(&format!("nacre undo {by}")), "{refused}");
}
