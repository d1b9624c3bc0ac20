//! Tests syncs that are killed or run at the same time, and traces that are locked, missing or
//! changed.

use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};

use crate::agents::{self, Talk};
use crate::home::TestHome;

const SYNC: [&str; 2] = ["sync", "--no-extract"];

/// Creates a home with `n_traces` sessions in its own project, and a clock that makes them
/// inactive.
fn with_traces(n_traces: usize) -> TestHome {
    let home = TestHome::new();
    let folder = home.root().join("traces");
    fs::create_dir(&folder).unwrap();
    for n in 0..n_traces {
        write_trace(&home, n, 8);
    }
    home.ok(&["connect", "generic", "--path", &folder.display().to_string()]);
    home.with_var("NACRE_NOW", "2099-01-01T00:00:00Z")
}

fn write_trace(home: &TestHome, n: usize, n_said: usize) {
    let talk = Talk {
        id: format!("trace-{n:04}"),
        cwd: home.work().display().to_string(),
        title: format!("Talk {n}"),
        user: (0..n_said).map(|word| format!("word{word} of talk{n}")).collect(),
        assistant: vec!["done".to_owned()],
        calls: Vec::new(),
    };
    agents::write(&home.root().join(format!("traces/{n:04}.jsonl")), &agents::generic(&talk));
}

fn spawn(home: &TestHome, more: &[&str]) -> Child {
    let args: Vec<&str> = SYNC.iter().chain(more).copied().collect();
    let mut command = home.command(&home.work(), &args);
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Returns everything that a user can see of the sessions, in a form that can be compared between
/// homes.
fn seen(home: &TestHome) -> Vec<String> {
    let (_, list) = home.json(&["trace", "--all", "-n", "0"]);
    let mut seen: Vec<String> = list["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|session| {
            format!(
                "{} {} {} {}",
                session["facts"]["id"],
                session["state"],
                session["reason"],
                session["facts"]["counts"]
            )
        })
        .collect();
    seen.sort();
    let (_, hits) = home.json(&["trace", "search", "\"word3\"", "--all", "-n", "9999"]);
    seen.push(format!("{} hits", hits["hits"].as_array().unwrap().len()));
    let (_, status) = home.json(&["status"]);
    assert_eq!(status["sessions_add_up"], true, "{status}");
    seen
}

#[test]
fn syncs_at_once_lose_nothing_and_take_nothing_twice() {
    let calm = with_traces(30);
    calm.ok(&SYNC);
    let expected = seen(&calm);
    assert_eq!((expected.len(), expected[30].as_str()), (31, "30 hits"));
    for n_syncs in [2, 8] {
        let home = with_traces(30);
        let children: Vec<Child> = (0..n_syncs).map(|_| spawn(&home, &[])).collect();
        let codes: Vec<i32> =
            children.into_iter().map(|mut child| child.wait().unwrap().code().unwrap()).collect();
        assert!(codes.iter().all(|code| matches!(code, 0 | 4)), "{codes:?}");
        assert!(codes.contains(&0), "{codes:?}");
        assert_eq!(seen(&home), expected);
        // With `--ignore-lock`, several syncs run at once, with the same outcome.
        let home = with_traces(30);
        let children: Vec<Child> =
            (0..n_syncs).map(|_| spawn(&home, &["--ignore-lock", "--force"])).collect();
        let codes: Vec<i32> =
            children.into_iter().map(|mut child| child.wait().unwrap().code().unwrap()).collect();
        assert!(codes.iter().all(|code| *code == 0), "{codes:?}");
        assert_eq!(seen(&home), expected);
    }
}

#[test]
fn a_killed_sync_is_made_good_by_the_next() {
    let calm = with_traces(120);
    calm.ok(&SYNC);
    let expected = seen(&calm);
    let home = with_traces(120);
    let log = home.root().join(".nacre/catalog.sqlite3-wal");
    let n_bytes = |path: &Path| fs::metadata(path).map_or(0, |file| file.len());
    let mut n_killed = 0;
    // The log grows with every recorded session, so its length shows how far a sync has come.
    for step in 1..=12_u64 {
        let mut child = spawn(&home, &[]);
        let start = n_bytes(&log);
        while child.try_wait().unwrap().is_none() && n_bytes(&log) < start + step * 9_000 {
            std::thread::yield_now();
        }
        n_killed += u32::from(child.kill().is_ok() && !child.wait().unwrap().success());
        let (_, status) = home.json(&["status"]);
        assert_eq!(status["sessions_add_up"], true, "{status}");
    }
    assert!(n_killed > 3, "only {n_killed} syncs were killed");
    home.ok(&SYNC);
    assert_eq!(seen(&home), expected);
}

#[test]
fn an_ignored_lock_is_one_that_another_holds() {
    let home = with_traces(1);
    home.ok(&SYNC);
    let run = home.root().join(".nacre/run");
    fs::remove_dir_all(&run).unwrap();
    fs::write(&run, "no folder").unwrap();
    assert!(home.run(&["sync", "--no-extract", "--ignore-lock"]).ends_with("[exit 1]\n"));
}

#[test]
fn a_database_in_the_middle_of_a_change_is_partial_and_read_the_next_time() {
    let home = with_traces(2);
    let talk = |id: &str| Talk {
        id: id.to_owned(),
        cwd: home.work().display().to_string(),
        title: "A talk".to_owned(),
        user: vec!["use sqlite".to_owned()],
        ..Talk::default()
    };
    let root = home.root().join("agents");
    let databases = [
        agents::opencode_database(&root.join("opencode/opencode.db"), &talk("ses_1")),
        agents::cursor_database(&root.join("cursor/globalStorage/state.vscdb"), &talk("c1")),
    ];
    for agent in ["opencode", "cursor"] {
        home.ok(&["connect", agent, "--path", &root.join(agent).display().to_string()]);
    }
    for database in &databases {
        // A lock alone neither changes the file nor prevents reading it; a change in progress does
        // both.
        database.execute_batch("BEGIN EXCLUSIVE; CREATE TABLE under_way (x)").unwrap();
    }
    let (code, report) = home.json(&SYNC);
    assert_eq!((code, report["read"].as_u64()), (3, Some(2)), "{report}");
    assert_eq!(report["problems"].as_array().unwrap().len(), 2, "{report}");
    let (_, status) = home.json(&["status"]);
    assert_eq!(status["sessions_add_up"], true, "{status}");
    let (code, report) = home.json(&SYNC);
    assert_eq!(
        (code, report["problems"].as_array().unwrap().len()),
        (3, 2),
        "it is tried each time"
    );
    for database in &databases {
        database.execute_batch("COMMIT").unwrap();
    }
    let (code, report) = home.json(&SYNC);
    assert_eq!((code, report["read"].as_u64()), (0, Some(2)), "{report}");
    let (_, list) = home.json(&["trace", "-n", "0"]);
    let states: Vec<_> =
        list["sessions"].as_array().unwrap().iter().map(|session| &session["state"]).collect();
    assert_eq!(states, ["pending"; 4]);
}

#[test]
fn one_conversation_in_three_stores_is_one_session() {
    let home = with_traces(0);
    let id = "0a1b2c3d-0000-4000-8000-000000000001";
    let talk = Talk {
        id: id.to_owned(),
        cwd: home.work().display().to_string(),
        title: "A talk".to_owned(),
        user: vec!["use sqlite".to_owned()],
        assistant: vec!["done".to_owned()],
        ..Talk::default()
    };
    let root = home.root().join("agents/cursor");
    let longer = Talk { assistant: vec!["done".to_owned(), "and more".to_owned()], ..talk.clone() };
    agents::write(
        &root.join(format!("projects/p/agent-transcripts/{id}/{id}.jsonl")),
        &agents::cursor_lines(&longer),
    );
    home.ok(&["connect", "cursor", "--path", &root.display().to_string()]);
    home.ok(&SYNC);
    let states = || {
        let (_, list) = home.json(&["trace", "--all", "-n", "0"]);
        let mut states: Vec<(bool, String, bool)> = list["sessions"]
            .as_array()
            .unwrap()
            .iter()
            .map(|session| {
                let path = session["path"].as_str().unwrap();
                let reason = session["reason"].as_str().unwrap_or_default();
                let state = session["state"].as_str().unwrap().to_owned();
                (path.ends_with("vscdb"), state, reason.starts_with("same session as "))
            })
            .collect();
        states.sort();
        states
    };
    assert_eq!(states(), [(false, "pending".to_owned(), false)]);
    let database = root.join("globalStorage/state.vscdb");
    drop(agents::cursor_database(&database, &talk));
    home.ok(&SYNC);
    // The editor's database takes precedence, even over a transcript with more lines.
    let copy = (false, "skipped".to_owned(), true);
    assert_eq!(states(), [copy, (true, "pending".to_owned(), false)]);
    let (_, status) = home.json(&["status"]);
    assert_eq!(status["sessions_add_up"], true, "{status}");
    fs::remove_file(&database).unwrap();
    home.ok(&SYNC);
    assert_eq!(
        states(),
        [(false, "pending".to_owned(), false), (true, "skipped".to_owned(), false)]
    );
}

#[test]
fn a_session_says_whose_repository_it_was_in() {
    let home = with_traces(1);
    let address = ["https://me:pass", "word1@code.example/shop.git"].concat();
    fs::write(
        home.work().join(".git/config"),
        format!("[core]\n\tbare = false\n[remote \"fork\"]\n\turl = /x\n[remote \"origin\"]\n\turl = {address}\n"),
    )
    .unwrap();
    home.ok(&SYNC);
    let (_, list) = home.json(&["trace"]);
    assert_eq!(list["sessions"][0]["facts"]["repository"], "https://code.example/shop.git");
}
