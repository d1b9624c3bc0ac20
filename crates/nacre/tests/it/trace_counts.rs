//! Checks that Nacre counts the same as an independent script that reads the traces.

use std::collections::BTreeMap;
use std::process::Command;

use nacre_ops::host::agent_names;
use serde_json::Value;

use crate::home::{TestHome, repository};

const KINDS: [&str; 4] = ["user", "assistant", "tool_calls", "tool_results"];

type Counts = BTreeMap<(String, String), [u64; 4]>;

/// Returns the script's counts, or `None` without Python.
fn counted_apart() -> Option<Counts> {
    let script = repository().join("tools/trace-checks/fixture_counts.py");
    let mut command = Command::new("python3");
    command.env("PYTHONDONTWRITEBYTECODE", "1").arg(script).arg(fixtures());
    let output = command.output().ok()?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    Some(
        text.lines()
            .map(|line| {
                let one: Value = serde_json::from_str(line).unwrap();
                let text = |key: &str| one[key].as_str().unwrap().to_owned();
                ((text("agent"), text("id")), KINDS.map(|kind| one[kind].as_u64().unwrap()))
            })
            .collect(),
    )
}

fn fixtures() -> std::path::PathBuf {
    repository().join("crates/nacre/tests/fixtures/traces")
}

#[test]
fn a_script_of_its_own_counts_the_same() {
    let home = TestHome::new();
    // The fixtures contain one session from each agent.
    for agent in agent_names() {
        home.ok(&["connect", agent, "--path", &fixtures().join(agent).display().to_string()]);
    }
    home.ok(&["sync", "--no-extract"]);
    let (_, list) = home.json(&["trace", "--all", "-n", "0"]);
    let mut listed = Counts::new();
    let mut shown = Counts::new();
    for session in list["sessions"].as_array().unwrap() {
        let facts = &session["facts"];
        let text = |key: &str| facts[key].as_str().unwrap().to_owned();
        let name = (text("agent"), text("id"));
        listed.insert(name.clone(), KINDS.map(|kind| facts["counts"][kind].as_u64().unwrap()));
        let key = session["id"].as_str().unwrap();
        let (_, all) = home.json(&["trace", "show", key, "--full"]);
        let events = all["events"].as_array().unwrap();
        let n_of = |kind: &str| {
            let kind = kind.trim_end_matches('s');
            let is_one = |event: &&Value| event["kind"] == kind && event["injected"].is_null();
            events.iter().filter(is_one).count() as u64
        };
        shown.insert(name, KINDS.map(n_of));
    }
    assert_eq!(listed, shown);
    assert_eq!(listed.len(), agent_names().count());
    match counted_apart() {
        Some(expected) => assert_eq!(listed, expected),
        None => println!("left out: there is no python3 to count with"),
    }
}
