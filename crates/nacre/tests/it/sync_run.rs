//! Tests that `nacre sync` turns sessions into memories exactly once, and with evidence.

use std::fs;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Mutex;
use std::sync::mpsc::channel;
use std::thread;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::answering::Answering;
use crate::home::{TestHome, interrupt};

/// Creates a home that reads traces from a directory, and a clock that makes them inactive.
pub(crate) fn reading() -> TestHome {
    let home = TestHome::new();
    let traces = home.root().join("traces");
    fs::create_dir(&traces).unwrap();
    home.ok(&["connect", "generic", "--path", &traces.display().to_string()]);
    home.with_var("NACRE_NOW", "2099-01-01T00:00:00Z")
}

/// Writes a session on a day in November, with alternating messages from the user and the agent.
pub(crate) fn talk(home: &TestHome, id: &str, day: u8, said: &[&str]) -> PathBuf {
    let path = home.root().join(format!("traces/{id}.jsonl"));
    let head =
        json!({ "type": "session", "version": 1, "id": id, "cwd": home.work(), "title": said[0] });
    let mut text = format!("{head}\n");
    for (n, words) in said.iter().enumerate() {
        let who = if n % 2 == 0 { "user" } else { "assistant" };
        let time = format!("2026-11-{day:02}T10:{n:02}:00Z");
        text.push_str(&format!("{}\n", json!({ "type": who, "text": words, "time": time })));
    }
    fs::write(&path, text).unwrap();
    path
}

pub(crate) const PNPM: &[&str] = &[
    "Add a health endpoint to the server",
    "I will install the packages with npm install.",
    "no, remember: always use pnpm here, never npm: npm writes a second lock file",
    "Done, used pnpm.",
];

const AGAIN: &[&str] = &[
    "Add a metrics endpoint to the server",
    "I ran npm install.",
    "Please remember: always use pnpm here, never npm, npm makes a second lock file.",
    "Sorry, done.",
];

const NPM: &[&str] = &[
    "Fix the build on CI",
    "I used pnpm install.",
    "From now on use npm, do not use pnpm any more: pnpm broke the docker build.",
    "Switched.",
];

/// Returns the result for a sync's only session.
fn only(value: &Value) -> &Value {
    let sessions = value["sessions"].as_array().unwrap();
    assert_eq!(sessions.len(), 1, "{value:#}");
    &sessions[0]["report"]
}

/// Returns the memory files and their evidence.
fn snapshot_shared(home: &TestHome) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = home.snapshot();
    let is_shared = |path: &PathBuf| {
        path.starts_with(home.store("memory")) || path.starts_with(home.store("meta"))
    };
    files.retain(|(path, _)| is_shared(path));
    files
}

#[test]
fn a_session_becomes_memories_once() {
    let home = reading();
    talk(&home, "one", 1, PNPM);
    let (code, value) = home.json(&["sync"]);
    let report = only(&value);
    assert_eq!(code, 0);
    assert_eq!(report["counts"], json!({ "add": 1, "update": 0, "no_op": 0, "supersede": 0 }));
    assert_snapshot!(home.tree("memory"), @"
    memory/learnings/20261101-always-use-pnpm-here-never-npm-npm-writes-a-second-lock-file.md
    memory/summaries/20261101/100300/add-a-health-endpoint-to-the-server.md
    ");
    let before = snapshot_shared(&home);
    assert_eq!(home.json(&["sync"]).1["sessions"], json!([]));
    let trace = home.root().join("traces/one.jsonl").display().to_string();
    let (_, value) = home.json(&["sync", "--trace", &trace]);
    assert_eq!(only(&value)["outcome"], "unchanged");
    assert_eq!(snapshot_shared(&home), before);
}

#[test]
fn the_run_folder_is_flat_and_complete() {
    let home = reading();
    talk(&home, "one", 1, PNPM);
    let (_, value) = home.json(&["sync"]);
    let report = only(&value);
    let folder = report["run_folder"].as_str().unwrap();
    let files: Vec<String> =
        home.tree(folder).lines().map(|path| path.replace(folder, "")).collect();
    assert_snapshot!(files.join("\n"), @"
    /agent.log
    /change.json
    /extract.json
    /memory_actions.json
    /metrics.json
    /session.log
    /subagents.log
    /summary.json
    /undo.json
    ");
    for name in ["extract.json", "summary.json", "memory_actions.json", "metrics.json"] {
        let text = home.read(&format!("{folder}/{name}"));
        assert!(serde_json::from_str::<Value>(&text).is_ok(), "{name}: {text}");
    }
    let actions: Value =
        serde_json::from_str(&home.read(&format!("{folder}/memory_actions.json"))).unwrap();
    assert_eq!(actions["actions"][0]["reason"], "no similar memory");
    let run = report["run_id"].as_str().unwrap();
    assert_eq!(home.tree("meta/traces"), format!("meta/traces/sessions/generic/{run}.jsonl"));
}

#[test]
fn a_rule_said_again_confirms_what_a_person_wrote_and_only_a_reversal_replaces_it() {
    let home = reading().with_var("NACRE_NOW", "2026-10-01T08:00:00Z");
    let body = "Local times broke the report in Auckland twice; convert at the edge only.";
    home.add("Store all times in UTC", &["--body", body]);
    let home = home.with_var("NACRE_NOW", "2099-01-01T00:00:00Z");
    let reversed = "From now on we no longer store all times in UTC, use local times instead.";
    for (day, said, n_superseded) in
        [(1, "From now on store all times in UTC please.", 0), (2, reversed, 1)]
    {
        talk(&home, &format!("day-{day}"), day, &[said, "Done."]);
        let (_, report) = home.json(&["sync"]);
        assert_eq!(report["totals"]["superseded"], json!(n_superseded), "{report:#}");
        assert_eq!(only(&report)["counts"]["no_op"], json!(1 - n_superseded), "{report:#}");
    }
}

#[test]
fn what_is_said_again_is_one_memory_and_what_is_taken_back_is_overturned() {
    let home = reading();
    talk(&home, "one", 1, PNPM);
    talk(&home, "two", 2, AGAIN);
    talk(&home, "three", 3, NPM);
    let (_, value) = home.json(&["sync"]);
    let done: Vec<String> = value["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|session| session["report"]["actions"].as_array().unwrap())
        .map(|action| format!("{} ({})", action["action"], action["band"]))
        .collect();
    assert_eq!(done, ["\"add\" (\"clear\")", "\"no-op\" (\"clear\")", "\"supersede\" (\"clear\")"]);
    let old = "20261101-always-use-pnpm-here-never-npm-npm-writes-a-second-lock-file";
    let text = home.read(&format!("memory/learnings/{old}.md"));
    assert!(text.contains("status: superseded\nsuperseded_by: 20261103-use-npm"), "{text}");
    let state = home.read(&format!("meta/state/{old}.json"));
    assert!(state.contains("\"confirmations\": 1"), "{state}");
    // Reading the sessions again, in any order, gives the same result.
    let before = snapshot_shared(&home);
    home.ok(&["sync", "--force"]);
    let changed: Vec<PathBuf> = snapshot_shared(&home)
        .into_iter()
        .filter(|file| file.0.starts_with(home.store("memory/learnings")) && !before.contains(file))
        .map(|(path, _)| path)
        .collect();
    assert!(changed.is_empty(), "{changed:#?}");
}

#[test]
fn a_session_that_is_read_again_confirms_nothing_that_it_said_itself() {
    let home = reading();
    talk(&home, "one", 1, PNPM);
    home.ok(&["sync"]);
    let id = "20261101-always-use-pnpm-here-never-npm-npm-writes-a-second-lock-file";
    let confirmations = || {
        let state = std::fs::read_to_string(home.store(&format!("meta/state/{id}.json")));
        state.is_ok_and(|state| state.contains("\"confirmations\": 1"))
    };
    home.ok(&["sync", "--force"]);
    assert!(!confirmations(), "its own session said it once");
    talk(&home, "two", 2, PNPM);
    home.ok(&["sync"]);
    assert!(confirmations(), "another session said it again");
}

#[test]
fn a_session_that_went_on_adds_what_is_new_and_keeps_its_summary() {
    let home = reading();
    let path = talk(&home, "one", 1, PNPM);
    home.ok(&["sync"]);
    let later = json!({
        "type": "user", "text": "Remember that the deploy script needs AWS_PROFILE=prod.",
        "time": "2026-11-02T09:00:00Z",
    });
    fs::write(&path, format!("{}{later}\n", fs::read_to_string(&path).unwrap())).unwrap();
    let (_, value) = home.json(&["sync"]);
    let report = only(&value);
    assert_eq!(report["actions"].as_array().unwrap().len(), 1, "{report:#}");
    assert_snapshot!(home.tree("memory"), @"
    memory/learnings/20261101-always-use-pnpm-here-never-npm-npm-writes-a-second-lock-file.md
    memory/learnings/20261102-the-deploy-script-needs-aws-profile-prod.md
    memory/summaries/20261101/100300/add-a-health-endpoint-to-the-server.md
    ");
    let summary =
        home.read("memory/summaries/20261101/100300/add-a-health-endpoint-to-the-server.md");
    assert!(summary.contains("AWS_PROFILE=prod"), "{summary}");
    assert_eq!(home.tree("meta/traces").lines().count(), 1);
}

#[test]
fn a_summary_that_a_person_changed_stays_theirs() {
    let home = reading();
    let path = talk(&home, "one", 1, PNPM);
    home.ok(&["sync"]);
    let summary = "memory/summaries/20261101/100300/add-a-health-endpoint-to-the-server.md";
    home.write(summary, home.read(summary) + "\nMy own words.\n");
    let theirs = home.read(summary);
    let later = json!({ "type": "user", "text": "Thank you, that is all.", "time": "2026-11-02T09:00:00Z" });
    fs::write(&path, format!("{}{later}\n", fs::read_to_string(&path).unwrap())).unwrap();
    home.ok(&["sync"]);
    assert_eq!(home.read(summary), theirs);
}

#[test]
fn a_dry_run_shows_what_a_sync_then_does() {
    let home = reading();
    talk(&home, "one", 1, PNPM);
    let before = snapshot_shared(&home);
    let (_, value) = home.json(&["sync", "--dry-run"]);
    assert_eq!(snapshot_shared(&home), before);
    let changes = value["sessions"][0]["changes"].as_array().unwrap().clone();
    assert_eq!(changes.len(), 3, "{changes:#?}");
    home.ok(&["sync"]);
    for change in &changes {
        let path = change["path"].as_str().unwrap();
        assert_eq!(home.read(path), change["after"].as_str().unwrap(), "{path}");
    }
    talk(&home, "three", 3, NPM);
    let shown = home.run(&["sync", "--dry-run"]);
    assert!(shown.contains("-status: active\n+status: superseded\n"), "{shown}");
}

#[test]
fn a_dry_run_over_several_sessions_shows_what_a_sync_then_does() {
    let home = reading();
    talk(&home, "one", 1, PNPM);
    talk(&home, "two", 2, AGAIN);
    talk(&home, "three", 3, NPM);
    let before = home.snapshot();
    let (_, value) = home.json(&["sync", "--dry-run"]);
    assert_eq!(home.snapshot(), before);
    assert_eq!(fs::read_dir(home.root().join(".nacre/rehearsal")).unwrap().count(), 1, "the lock");
    let told = |value: &Value| -> Vec<String> {
        let sessions = value["sessions"].as_array().unwrap().iter();
        sessions.map(|session| session["report"]["actions"].to_string()).collect()
    };
    let (mut files, sessions) = (Vec::new(), value["sessions"].as_array().unwrap());
    for change in sessions.iter().flat_map(|session| session["changes"].as_array().unwrap()) {
        let (path, after) = (change["path"].as_str().unwrap(), change["after"].as_str().unwrap());
        files.retain(|(known, _)| *known != path);
        files.push((path, after));
    }
    assert_eq!(sessions[2]["report"]["counts"]["supersede"], 1, "{value:#}");
    let root = sessions[0]["report"]["memory_root"].as_str().unwrap();
    assert_eq!(root, "$HOME/work/.nacre/memory");
    let (_, synced) = home.json(&["sync"]);
    assert_eq!(told(&synced), told(&value));
    for (path, after) in files {
        assert_eq!(home.read(path), after, "{path}");
    }
}

#[test]
fn runs_are_named_and_kept_by_what_they_are_for() {
    let home = reading();
    home.ok(&["config", "set", "runs.keep", "1"]);
    for (id, day, mode) in [("one", 1, "cold"), ("two", 2, "hot"), ("three", 3, "hot")] {
        talk(&home, id, day, &["Rename the server to gateway", "Done.", "Thanks, that is all"]);
        let (_, value) = home.json(&["sync", "--mode", mode]);
        let report = only(&value);
        assert_eq!(report["mode"], mode);
        assert!(report["run_id"].as_str().unwrap().starts_with(&format!("{mode}-2099")));
    }
    let runs = home.json(&["runs"]).1["runs"].clone();
    // Runs that start at the same time are in no defined order.
    let mut modes: Vec<&str> = runs
        .as_array()
        .unwrap()
        .iter()
        .map(|run| run["id"].as_str().unwrap().split('-').next().unwrap())
        .collect();
    modes.sort_unstable();
    assert_eq!(modes, ["cold", "hot"], "the newest of each is kept");
}

#[test]
fn a_missing_trace_fails_at_once() {
    let home = reading();
    let hot = home.run(&["sync", "--mode", "hot", "--trace", "nothing.jsonl"]);
    assert!(
        hot.starts_with("Error: Trace `")
            && hot.contains("` not found")
            && hot.ends_with("[exit 1]\n"),
        "{hot}"
    );
    assert_snapshot!(home.run(&["sync", "--trace", "nothing.jsonl"]), @"
    Error: Trace `$HOME/work/nothing.jsonl` not found
    Hint: `nacre trace` lists the known sessions
    [exit 1]
    ");
    assert_eq!(home.tree("workspace"), "");
}

#[test]
fn a_job_that_a_dead_sync_held_is_done_by_the_next() {
    let home = reading();
    talk(&home, "one", 1, PNPM);
    home.ok(&["sync", "--no-extract"]);
    let catalog = rusqlite::Connection::open(home.root().join(".nacre/catalog.sqlite3")).unwrap();
    let held = "UPDATE job SET state = 'running', lease = 'sync-1', lease_until = 9000000000000000";
    assert_eq!(catalog.execute(held, []).unwrap(), 1);
    drop(catalog);
    let (_, value) = home.json(&["sync"]);
    assert_eq!(only(&value)["counts"]["add"], 1);
}

#[test]
fn a_store_that_is_written_to_is_waited_for_and_left_in_the_queue() {
    let home = reading().with_var("NACRE_LOCK_WAIT_MS", "0");
    talk(&home, "one", 1, PNPM);
    let lock =
        fs::OpenOptions::new().read(true).write(true).open(home.store("journal/lock")).unwrap();
    lock.lock().unwrap();
    let (code, _) = home.json(&["sync"]);
    assert_eq!(code, 4);
    drop(lock);
    assert_eq!(only(&home.json(&["sync"]).1)["counts"]["add"], 1);
}

#[test]
fn ctrl_c_ends_a_sync_in_order_and_the_next_one_reads_the_session() {
    let home = reading();
    talk(&home, "one", 1, PNPM);
    let (asked, is_asked) = channel();
    let asked = Mutex::new(asked);
    let model = Answering::start(move |_| {
        asked.lock().unwrap().send(()).unwrap();
        loop {
            thread::park();
        }
    });
    model.set_for(&home, "default");
    let before = snapshot_shared(&home);
    let mut command = home.command(&home.work(), &["sync"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    is_asked.recv().unwrap();
    interrupt(&child);
    assert_snapshot!(home.render(&child.wait_with_output().unwrap()), @"
    Error: Cancelled
    Hint: `nacre sync` continues where it stopped
    [exit 1]
    ");
    assert_eq!(snapshot_shared(&home), before);
    let (_, events) = home.json(&["events"]);
    assert_eq!(events["tasks"][0]["state"], "cancelled", "{events:#}");
    assert_eq!(only(&home.json(&["sync", "--strategy", "offline"]).1)["counts"]["add"], 1);
}

#[test]
fn evidence_is_looked_up_in_the_transcript() {
    let home = reading();
    talk(&home, "one", 1, PNPM);
    home.ok(&["sync"]);
    let shown = home.run(&["doctor", "--evidence", "--scope", "project_only"]);
    assert_snapshot!(shown, @"
    Quotes (project): 1 verified, 0 by hand, 0 without a transcript, 0 missing.
    Checked 2 memories: ok, 0 errors, 0 warnings.
    ");
    let path =
        "meta/evidence/20261101-always-use-pnpm-here-never-npm-npm-writes-a-second-lock-file.json";
    home.write(path, home.read(path).replace("always use pnpm", "always use yarn"));
    let (code, value) = home.json(&["doctor", "--evidence", "--scope", "project_only"]);
    assert_eq!((code, &value["stores"][0]["quotes"]["missing"]), (1, &json!(1)));
}

#[test]
fn a_person_forgets_and_no_session_brings_it_back() {
    let home = reading();
    talk(&home, "one", 1, PNPM);
    home.ok(&["sync"]);
    let id = "20261101-always-use-pnpm-here-never-npm-npm-writes-a-second-lock-file";
    home.ok(&["memory", "forget", id, "--yes"]);
    let (_, value) = home.json(&["sync", "--force"]);
    assert_eq!(only(&value)["dropped"]["forgotten"], 1, "{value:#}");
    assert_eq!(home.tree("memory/learnings"), "");
}

#[test]
fn what_a_clone_says_does_not_keep_out_what_the_person_says() {
    let home = reading();
    let id = "20260101-always-use-pnpm";
    home.write(
        &format!("memory/learnings/{id}.md"),
        format!(
            "---\nid: {id}\ntitle: Always use pnpm here, never npm, npm writes a second lock file\nkind: convention\nstatus: active\n---\n\n\
             Always use pnpm here, never npm: npm writes a second lock file. Then set things up.\n"
        ),
    );
    talk(&home, "one", 1, PNPM);
    let (_, value) = home.json(&["sync"]);
    assert_eq!(only(&value)["counts"]["add"], 1, "{value:#}");
    assert!(home.run(&["brief"]).contains("npm writes a second lock file"));
    assert!(!home.read(&format!("memory/learnings/{id}.md")).contains("superseded"));
}
