//! Tests `nacre connect doctor` with a program that poses as Nacre.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;

use super::files::Machine;

/// Answers the handshake, and prints a line when called as a hook.
const PLAYS_NACRE: &str = r#"#!/bin/sh
case "$1" in
  mcp)
    read -r line
    echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"x","version":"1"}}}'
    read -r line
    read -r line
    echo '{"jsonrpc":"2.0","method":"notifications/message","params":{}}'
    echo '{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"memory_search"},{"name":"brief"}]}}'
    read -r line ;;
  hook) cat > "$HOME/event.json"; printf 'twelve chars' ;;
esac
"#;

/// Creates a machine whose agents start the program at `~/bin/nacre`.
fn machine(script: &str) -> Machine {
    let machine = Machine::new();
    machine.put("bin/nacre", script);
    fs::set_permissions(machine.path("bin/nacre"), fs::Permissions::from_mode(0o755)).unwrap();
    machine.ok(&["connect", "claude", "codex", "--yes"]);
    let real = env!("CARGO_BIN_EXE_nacre");
    let fake = machine.path("bin/nacre").display().to_string();
    for path in [".claude.json", ".claude/settings.json", ".codex/config.toml", ".codex/hooks.json"]
    {
        machine.edit(path, |text| text.replace(real, &fake));
    }
    machine.edit(".codex/config.toml", |text| {
        text + "\n[hooks.state.\"hooks.json:session_start:0:0\"]\ntrusted_hash = \"sha256:x\"\n"
    });
    machine
}

fn checks(machine: &Machine, code: i32) -> Vec<Value> {
    let (exit, report) = machine.home.json(&["connect", "doctor"]);
    assert_eq!(exit, code, "{report}");
    let agents = report["agents"].as_array().unwrap();
    assert_eq!(
        agents.iter().map(|agent| agent["agent"].as_str().unwrap()).collect::<Vec<_>>()[..2],
        ["claude", "codex"]
    );
    agents[..2].iter().flat_map(|agent| agent["checks"].as_array().unwrap().clone()).collect()
}

#[test]
fn what_is_configured_is_started() {
    let machine = machine(PLAYS_NACRE);
    let details: Vec<String> = checks(&machine, 0)
        .iter()
        .map(|check| check["detail"].as_str().unwrap().to_owned())
        .collect();
    for idx in [0, 3] {
        assert_eq!(details[idx], "2 tools: memory_search, brief");
        assert_eq!(details[idx + 1], "a session started here would get 12 characters from Nacre");
        assert!(details[idx + 2].ends_with("skills/nacre/SKILL.md"), "{details:?}");
    }
    let event: Value = serde_json::from_str(&machine.text("event.json")).unwrap();
    assert_eq!(event["hook_event_name"], "SessionStart");
    let shown = machine.ok(&["connect", "doctor", "claude"]);
    assert!(
        shown.starts_with("claude  mcp ok (2 tools: memory_search, brief) · hooks ok ("),
        "{shown}"
    );
    assert_eq!(shown.lines().count(), 1);
}

#[test]
fn what_fails_is_named_with_a_hint() {
    for (script, why) in [
        ("#!/bin/sh\nexit 3\n", "exited"),
        ("#!/bin/sh\n[ $1 = mcp ] && echo garbage && cat\nexit 3\n", "is not JSON"),
    ] {
        let machine = machine(script);
        let checks = checks(&machine, 1);
        assert_eq!(checks[0]["state"], "failed", "{checks:?}");
        assert!(checks[0]["detail"].as_str().unwrap().contains(why), "{checks:?}");
        assert_eq!(checks[0]["hint"], "nacre connect claude --mcp");
        assert_eq!(checks[1]["state"], "failed", "{checks:?}");
        assert!(
            checks[1]["detail"].as_str().unwrap().ends_with("exited with code 3"),
            "{checks:?}"
        );
    }
    let machine = machine(PLAYS_NACRE);
    fs::remove_file(machine.path("bin/nacre")).unwrap();
    let checks = checks(&machine, 1);
    assert!(checks[0]["detail"].as_str().unwrap().contains("could not be started"), "{checks:?}");
    assert!(checks[1]["detail"].as_str().unwrap().ends_with("exited with code 127"), "{checks:?}");
}

#[test]
fn hooks_that_codex_does_not_trust_are_not_ok() {
    let machine = machine(PLAYS_NACRE);
    let is_other = |line: &&str| !line.contains("hooks.state") && !line.contains("trusted_hash");
    machine.edit(".codex/config.toml", |text| {
        text.lines().filter(is_other).collect::<Vec<_>>().join("\n")
    });
    let checks = checks(&machine, 1);
    assert_eq!(checks[1]["state"], "ok", "{checks:?}");
    assert_eq!(checks[4]["state"], "failed", "{checks:?}");
    assert_eq!(checks[4]["detail"], "Codex does not run them, because they are not trusted");
    let hint = "Hint: Codex only runs trusted hooks: run `nacre connect codex --trust-hooks`";
    assert!(machine.home.run(&["connect", "list"]).contains(hint));
}

#[test]
fn every_run_of_the_doctor_is_a_new_session() {
    let machine = Machine::new();
    machine.ok(&["init"]);
    machine.ok(&["memory", "add", "Use SQLite for the queue", "--body", "One file."]);
    machine.ok(&["connect", "claude", "--yes"]);
    for _ in 0..2 {
        let shown = machine.ok(&["connect", "doctor", "claude"]);
        assert!(shown.contains(" characters from Nacre"), "{shown}");
    }
}

#[test]
fn nothing_configured_is_nothing_checked() {
    let machine = Machine::new();
    let shown = machine.home.run(&["connect", "doctor"]);
    assert_eq!(shown, "Nacre is not configured in any agent.\nHint: nacre connect auto\n");
}
