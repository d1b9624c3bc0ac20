//! Tests installed agents as models: how they are detected, listed, permitted and called. The
//! agents are small scripts.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use insta::assert_snapshot;

use crate::agents::{Talk, claude, write};
use crate::home::TestHome;

/// Records the request, and reports that the usage limit has been reached.
const USED_UP: &str = r#"[ "$1" = --version ] && { echo '2.1.197 (Claude Code)'; exit; }
echo asked >> "$HOME/asked"
echo '{"type":"result","subtype":"success","is_error":true,"api_error_status":400,"result":"Credit balance is too low"}'
exit 1"#;

/// Answers every question with one word.
const ONE_WORD: &str = r#"echo '{"type":"result","is_error":false,"result":"pearl","stop_reason":"end_turn","total_cost_usd":0.001,
"usage":{"input_tokens":20,"output_tokens":2}}'"#;

/// Creates a home whose `PATH` contains this agent and the system programs.
fn home_with(command: &str, script: &str) -> TestHome {
    let home = TestHome::empty();
    let folder = home.root().join("bin");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(command);
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", folder.display());
    home.with_var("PATH", &path)
}

/// Adds a session in the repository to Claude Code's directory.
fn add_session(home: &TestHome) {
    let talk = Talk {
        id: "0a1b2c3d-0000-4000-8000-000000000001".to_owned(),
        cwd: home.work().display().to_string(),
        title: "Queue".to_owned(),
        user: vec![
            "Remember that the queue is kept in SQLite, because one file is easy to back up."
                .to_owned(),
        ],
        assistant: vec!["Done, the queue is a table in one SQLite file now.".to_owned()],
        calls: Vec::new(),
    };
    let path = home.root().join(".claude/projects/p").join(format!("{}.jsonl", talk.id));
    write(&path, &claude(&talk));
    let file = fs::File::options().append(true).open(&path).unwrap();
    file.set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_793_527_200))
        .unwrap();
}

fn times_asked(home: &TestHome) -> usize {
    fs::read_to_string(home.root().join("asked")).unwrap_or_default().lines().count()
}

fn own_config(home: &TestHome) -> String {
    fs::read_to_string(home.root().join(".nacre/config.toml")).unwrap_or_default()
}

#[test]
fn an_installed_agent_is_listed_and_can_be_tested() {
    let home = home_with(
        "claude",
        &format!("[ \"$1\" = --version ] && exec echo '2.1.197 (Claude Code)'\n{ONE_WORD}"),
    );
    assert_snapshot!(home.run(&["model"]), @r"
    Models by role:
      no model is set (optional); nacre config set roles.default.model claude-code/haiku

    Installed agents that can be used as models:
      claude-code  Claude Code 2.1.197  $HOME/bin/claude

    Search by meaning:
      builtin  ready  built into Nacre
    ");
    assert!(!home.root().join(".nacre").exists(), "a list writes nothing");
    home.ok(&["config", "set", "roles.default.model", "claude-code/haiku"]);
    let (code, output) = home.json(&["model", "test"]);
    assert_eq!((code, &output["text"]), (0, &serde_json::json!("pearl")));
    assert_eq!(output["tokens"], serde_json::json!({ "input": 20, "output": 2 }));
    let child = home.with_var("NACRE_CHILD", "1");
    assert_snapshot!(child.run(&["model", "test"]), @"
    Error: Nacre is running inside an agent that it started, so it cannot call Claude Code
    [exit 1]
    ");
}

#[test]
fn an_agent_that_is_missing_or_used_up_is_named() {
    let home = home_with("claude", USED_UP).with_var("NACRE_MODEL", "codex/default");
    assert_snapshot!(home.run(&["model", "test"]), @"
    Error: Codex is not installed: `codex` not found in PATH
    Hint: `nacre model` lists the installed agents
    [exit 1]
    ");
    let home = home.with_var("NACRE_MODEL", "claude-code/haiku");
    assert_snapshot!(home.run(&["model", "test"]), @"
    Error: Cannot get an answer from `claude-code/haiku`: the account has no credit left
    Caused by: Credit balance is too low
    Hint: Add credit to the Claude Code account, or use: --strategy offline
    [exit 1]
    ");
}

#[test]
fn no_agent_is_asked_before_a_person_said_yes() {
    let home = home_with("claude", USED_UP);
    add_session(&home);
    let shown = home.ok(&["init"]);
    let is_asked = |sign| shown.contains(sign);
    assert!(!["is installed", "reads your sessions"].into_iter().any(is_asked), "{shown}");
    assert!(!own_config(&home).contains("reading"), "nothing was answered");
    home.ok(&["config", "set", "roles.default.model", "auto"]);
    let shown = home.run(&["model"]);
    assert!(shown.contains("no installed agent is allowed to answer; nacre init --yes"), "{shown}");
    home.ok(&["sync"]);
    assert_eq!(times_asked(&home), 0);
}

#[test]
fn yes_is_remembered_and_lets_the_agent_read_at_once() {
    let home = home_with("claude", USED_UP);
    home.ok(&["init"]);
    add_session(&home);
    let shown = home.run(&["sync", "--yes"]);
    assert!(shown.contains("Claude Code reads your sessions with claude-code/haiku."), "{shown}");
    assert!(shown.contains("the account has no credit left"), "{shown}");
    assert_eq!(times_asked(&home), 1);
    assert_snapshot!(own_config(&home), @r#"
    [reading]
    agent = "claude-code"

    [roles.default]
    model = "auto"
    "#);
    let shown = home.run(&["model"]);
    assert!(shown.contains("default  claude-code/haiku"), "{shown}");
    // Permission to use one agent does not apply to another.
    fs::rename(home.root().join("bin/claude"), home.root().join("bin/codex")).unwrap();
    home.run(&["sync", "--force"]);
    assert_eq!(times_asked(&home), 1);
}

#[test]
fn no_is_remembered_with_a_hint_how_to_change_it() {
    let home = home_with("claude", USED_UP);
    add_session(&home);
    let shown = home.ok(&["init", "--no"]);
    assert!(shown.contains("Sessions are read by rules only."), "{shown}");
    assert!(shown.contains("nacre config set roles.default.model claude-code/haiku"), "{shown}");
    assert_eq!(own_config(&home), "[reading]\nagent = \"none\"\n");
    home.ok(&["sync", "--yes"]);
    assert_eq!(times_asked(&home), 0, "who said no is not asked again");
    home.ok(&["config", "set", "roles.default.model", "claude-code/haiku"]);
    home.run(&["sync", "--force"]);
    assert_eq!(times_asked(&home), 1);
}

#[test]
fn a_repository_has_no_say_in_who_reads() {
    let home = home_with("claude", USED_UP);
    home.ok(&["init"]);
    add_session(&home);
    home.write(
        "config.toml",
        "[reading]\nagent = 'claude-code'\n[roles.default]\nmodel = 'auto'\n",
    );
    let shown = home.run(&["sync"]);
    assert!(shown.contains("Ignored `reading.agent`"), "{shown}");
    assert!(shown.contains("Ignored `roles`"), "{shown}");
    assert_eq!(times_asked(&home), 0);
}

#[test]
fn an_agent_reads_no_more_sessions_a_day_than_it_may() {
    let home = home_with("claude", USED_UP).with_var("NACRE_READING_SESSIONS_PER_DAY", "0");
    home.ok(&["init", "--yes"]);
    add_session(&home);
    let shown = home.run(&["sync"]);
    assert!(shown.contains("limit of 0 sessions for an installed agent is reached"), "{shown}");
    assert!(shown.contains("reading.sessions_per_day"), "{shown}");
    assert_eq!(times_asked(&home), 0);
}
