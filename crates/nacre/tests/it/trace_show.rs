//! Tests `nacre trace show` with every kind of id that commands print for a session.

use crate::sync_run::{PNPM, reading, talk};

#[test]
fn a_session_is_found_by_every_name_that_is_printed() {
    let home = reading();
    let path = talk(&home, "one", 1, PNPM);
    // Before the first sync, the session is read from its file.
    let path = path.display().to_string();
    let (code, shown) = home.json(&["trace", "show", &path]);
    assert_eq!((code, &shown["session"]["facts"]["id"]), (0, &"one".into()), "{shown}");
    let (_, synced) = home.json(&["sync"]);
    let session = &synced["sessions"][0];
    let key = session["id"].as_str().unwrap();
    let run = session["report"]["run_id"].as_str().unwrap();
    let memory = session["report"]["actions"][0]["target"].as_str().unwrap();
    let short = session["report"]["trace_path"].as_str().unwrap();
    for name in [key, "one", "generic:one", &path, short, "../traces/one.jsonl", run, memory] {
        let (code, shown) = home.json(&["trace", "show", name]);
        assert_eq!((code, &shown["session"]["id"]), (0, &key.into()), "{name}: {shown}");
    }
    let from_the_third = home.json(&["trace", "show", &format!("{key}:2")]).1;
    assert_eq!(from_the_third["events"][0]["sequence"], 2);
    let shown = home.run(&["trace", "show", "no/such.jsonl"]);
    assert!(shown.starts_with("Error: Trace `") && shown.contains("` not found"), "{shown}");
}

#[test]
fn a_session_without_a_title_is_named_by_what_was_said_first() {
    let home = crate::home::TestHome::new();
    let said = "Move the retries of the queue into the worker and count them there, so that a restart of the server does not lose them";
    let talk = crate::agents::Talk {
        id: "5e551011-0000-4000-8000-000000000009".to_owned(),
        cwd: home.work().display().to_string(),
        user: vec![format!("\n{said}\nAnd write a test.")],
        assistant: vec!["Done.".to_owned()],
        ..crate::agents::Talk::default()
    };
    let path = home.root().join(".codex/sessions/2026/11/01/rollout-2026-11-01T10-00-00-5e551011-0000-4000-8000-000000000009.jsonl");
    crate::agents::write(&path, &crate::agents::codex(&talk));
    home.ok(&["sync", "--no-extract"]);
    let title = "Move the retries of the queue into the worker and count them there…";
    let listed = home.json(&["trace"]).1;
    assert_eq!(listed["sessions"][0]["facts"]["title"], title, "{listed:#}");
    let queued = home.json(&["queue"]).1;
    assert_eq!(queued["jobs"][0]["title"], title, "{queued:#}");
    let id = listed["sessions"][0]["id"].as_str().unwrap();
    let shown = home.ok(&["trace", "show", id]);
    assert!(shown.starts_with(title), "{shown}");
}
