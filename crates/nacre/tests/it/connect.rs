//! Tests `nacre connect`: what it writes to agents' files, and that all of it can be removed.

mod doctor;
mod files;

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use insta::assert_snapshot;
use nacre_traces::agents::connectable_agents;
use serde_json::Value;

use self::files::{HOMES, Machine, entry, parse_json, variants};
use crate::home::TestHome;

/// Checks that an agent is fully connected.
fn is_on(machine: &Machine, agent: &str) {
    check_on(&machine.json(&["connect", "list"]), agent);
}

fn check_on(report: &Value, agent: &str) {
    let entry = entry(report, agent);
    for part in ["mcp", "hooks", "skill"] {
        let state = entry[part].as_str().unwrap();
        assert!(state == "on" || state == "not_possible", "{agent} {part}: {entry}");
    }
}

#[test]
fn every_agent_has_a_home() {
    let homes: BTreeSet<&str> = HOMES.iter().map(|(agent, _)| *agent).collect();
    let agents: BTreeSet<&str> = connectable_agents().map(|spec| spec.name).collect();
    assert_eq!(homes, agents);
}

#[test]
fn every_agent_gets_its_files_back() {
    for (agent, files) in HOMES {
        for (name, change) in variants() {
            let machine = Machine::new();
            for (path, text) in *files {
                machine.put(path, &change(text));
            }
            let before = machine.tree();
            check_on(&machine.json(&["connect", agent, "--yes"]), agent);
            let connected = machine.tree();
            assert_ne!(before, connected, "{agent} {name}");
            for (path, text) in *files {
                files::check_kept(
                    &change(text),
                    &machine.text(path),
                    &format!("{agent} {name} {path}"),
                );
            }
            let again = machine.json(&["connect", agent, "--yes"]);
            assert!(again.get("changes").is_none(), "{agent} {name}: {again}");
            assert_eq!(machine.tree(), connected, "{agent} {name}");
            machine.ok(&["connect", agent, "--remove", "--yes"]);
            assert_eq!(machine.tree(), before, "{agent} {name}");
        }
    }
}

#[test]
fn all_agents_share_what_they_share() {
    let machine = Machine::new();
    for (path, text) in HOMES.iter().flat_map(|(_, files)| *files) {
        machine.put(path, text);
    }
    let before = machine.tree();
    machine.ok(&["connect", "auto", "--yes"]);
    let connected = machine.tree();
    let again = machine.json(&["connect", "auto", "--yes"]);
    HOMES.iter().for_each(|(agent, _)| check_on(&again, agent));
    assert_eq!(machine.tree(), connected);
    // The skill is kept until the last agent that uses it is disconnected.
    machine.ok(&["connect", "codex", "--remove", "--yes"]);
    assert!(machine.path(".agents/skills/nacre/SKILL.md").exists());
    is_on(&machine, "gemini");
    for (agent, _) in HOMES.iter().filter(|(agent, _)| *agent != "codex") {
        machine.ok(&["connect", agent, "--remove", "--yes"]);
    }
    assert_eq!(machine.tree(), before);
    assert!(!machine.path(".agents").exists());
}

#[test]
fn an_agent_without_files_gets_some_and_loses_them_again() {
    for (agent, _) in HOMES {
        let machine = Machine::new();
        let before = machine.tree();
        check_on(&machine.json(&["connect", agent, "--yes"]), agent);
        machine.ok(&["connect", agent, "--remove", "--yes"]);
        assert_eq!(machine.tree(), before, "{agent}");
    }
}

#[test]
fn empty_files_come_back_empty() {
    for (agent, files) in HOMES {
        for text in ["", "{ }\n", "\u{feff}"] {
            let machine = Machine::new();
            let is_toml = |path: &str| path.ends_with(".toml");
            for (path, _) in *files {
                machine.put(
                    path,
                    if is_toml(path) { text.trim_matches(['{', '}', ' ']) } else { text },
                );
            }
            let before = machine.tree();
            check_on(&machine.json(&["connect", agent, "--yes"]), agent);
            machine.ok(&["connect", agent, "--remove", "--yes"]);
            assert_eq!(machine.tree(), before, "{agent} {text:?}");
        }
    }
}

#[test]
fn what_a_person_changed_since_stays() {
    let machine = Machine::new();
    let settings = "{\n  // mine\n  \"model\": \"opus\",\n  \"hooks\": {\n    \"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"say done\"}]}]\n  }\n}\n";
    machine.put(".claude/settings.json", settings);
    machine.put(".codex/config.toml", "model = \"x\" # mine");
    machine.ok(&["connect", "claude", "codex", "--yes"]);
    machine.edit(".claude/settings.json", |text| {
        text.replace("\"opus\"", "\"haiku\",\n  \"theme\": \"dark\"")
    });
    machine.edit(".codex/config.toml", |text| {
        text + "\n[projects.\"/x\"]\ntrust_level = \"trusted\"\n"
    });
    machine.edit(".claude.json", |text| text.replacen('{', "{\n  \"numStartups\": 7,", 1));
    machine.ok(&["connect", "claude", "codex", "--remove", "--yes"]);
    assert_eq!(
        machine.text(".claude/settings.json"),
        settings.replace("\"opus\"", "\"haiku\",\n  \"theme\": \"dark\"")
    );
    assert_eq!(
        machine.text(".codex/config.toml"),
        "model = \"x\" # mine\n\n[projects.\"/x\"]\ntrust_level = \"trusted\"\n"
    );
    // Nacre created this file, but it has contained other settings since then.
    assert_eq!(parse_json(&machine.text(".claude.json")), serde_json::json!({"numStartups": 7}));
}

#[test]
fn parts_come_and_go_by_themselves() {
    let machine = Machine::new();
    let settings = "{\n\t\"a\": [1,],\n}";
    machine.put(".gemini/settings.json", settings);
    machine.ok(&["connect", "gemini", "--mcp", "--yes"]);
    assert_eq!(machine.entry("gemini")["hooks"], "off");
    let with_mcp = machine.text(".gemini/settings.json");
    machine.ok(&["connect", "gemini", "--hooks", "--guard", "--yes"]);
    assert!(machine.text(".gemini/settings.json").contains("hook gemini before-tool"));
    // A guard that was enabled stays enabled.
    machine.ok(&["connect", "gemini", "--yes"]);
    assert!(machine.text(".gemini/settings.json").contains("hook gemini before-tool"));
    machine.ok(&["connect", "gemini", "--hooks", "--remove", "--yes"]);
    assert_eq!(machine.text(".gemini/settings.json"), with_mcp);
    machine.ok(&["connect", "gemini", "--remove", "--yes"]);
    assert_eq!(machine.text(".gemini/settings.json"), settings);
    let refused = machine.home.run(&["connect", "pi", "--mcp", "--yes"]);
    assert!(refused.contains("pi cannot take `--mcp`"), "{refused}");
}

#[test]
fn a_link_stays_a_link_and_leads_no_further_than_the_home() {
    let machine = Machine::new();
    machine.put("dotfiles/settings.json", "{\"a\": 1}\n");
    fs::create_dir_all(machine.path(".claude")).unwrap();
    symlink("../dotfiles/settings.json", machine.path(".claude/settings.json")).unwrap();
    machine.put("dotfiles/opencode/opencode.jsonc", "{} // mine\n");
    fs::create_dir_all(machine.path(".config")).unwrap();
    symlink(machine.path("dotfiles/opencode"), machine.path(".config/opencode")).unwrap();
    let before = machine.tree();
    machine.ok(&["connect", "claude", "opencode", "--yes"]);
    assert!(machine.text("dotfiles/settings.json").contains("hook claude start"));
    assert!(machine.text("dotfiles/opencode/opencode.jsonc").contains("nacre"));
    assert!(machine.path(".claude/settings.json").is_symlink());
    machine.ok(&["connect", "claude", "opencode", "--remove", "--yes"]);
    assert_eq!(machine.tree(), before);

    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("settings.json"), "{}").unwrap();
    fs::create_dir_all(machine.path(".gemini")).unwrap();
    symlink(outside.path().join("settings.json"), machine.path(".gemini/settings.json")).unwrap();
    let refused = machine.home.run(&["connect", "gemini", "--yes"]);
    assert!(refused.contains("a link to a location outside the home directory"), "{refused}");
    assert_eq!(fs::read_to_string(outside.path().join("settings.json")).unwrap(), "{}");
    symlink("nowhere", machine.path(".qwen")).unwrap();
    let refused = machine.home.run(&["connect", "qwen", "--yes"]);
    assert!(refused.contains("is a broken link"), "{refused}");
}

#[test]
fn a_file_that_cannot_be_changed_is_left_alone_and_so_is_the_rest() {
    let machine = Machine::new();
    for (text, why) in [
        ("{\"a\": 1,,}", "line 1"),
        ("{\n  a: 1\n}", "line 2: expected a key in double quotes"),
        ("[]", "is not an object"),
        ("{\"hooks\": []}", "`hooks` is not an object"),
        ("{\"hooks\": {\"Stop\": {}}}", "`hooks.Stop` is not a list"),
    ] {
        machine.put(".claude/settings.json", text);
        let before = machine.tree();
        let refused = machine.home.run(&["connect", "claude", "--yes"]);
        assert!(refused.contains(why) && refused.contains("[exit 1]"), "{refused}");
        assert_eq!(machine.tree(), before, "{text}");
    }
    machine.put(".claude/settings.json", "{}");
    fs::write(machine.path(".claude.json"), b"{\"a\": \"\xff\"}").unwrap();
    let refused = machine.home.run(&["connect", "claude", "--yes"]);
    assert!(refused.contains("not valid UTF-8"), "{refused}");
    fs::remove_file(machine.path(".claude.json")).unwrap();
    let read_only = fs::Permissions::from_mode(0o444);
    fs::set_permissions(machine.path(".claude/settings.json"), read_only).unwrap();
    let before = machine.tree();
    let refused = machine.home.run(&["connect", "claude", "--yes"]);
    assert!(refused.contains("It is read-only") && refused.contains("chmod u+w"), "{refused}");
    assert_eq!(machine.tree(), before);
    // The other agents are still connected.
    machine.put(".gemini/settings.json", "{}");
    let shown = machine.home.run(&["connect", "auto", "--yes"]);
    assert!(shown.contains("claude: Cannot change") && shown.contains("[exit 3]"), "{shown}");
    is_on(&machine, "gemini");
}

#[test]
fn a_dry_run_lists_the_files_and_shows_lines_on_demand() {
    let machine = Machine::new();
    machine.put(".codex/config.toml", "model = \"x\"\n");
    assert_snapshot!(machine.home.run(&["connect", "codex", "--dry-run"]), @"
    create  ~/.agents/skills/nacre/SKILL.md  codex
    change  ~/.codex/config.toml             codex
    create  ~/.codex/hooks.json              codex
    3 files would change; nothing was written.
    Hint: Codex calls Nacre's tools without asking for approval (`default_tools_approval_mode`)
    Hint: Other agents also read the skill from `~/.agents/skills`
    Hint: Codex only runs trusted hooks: run `nacre connect codex --trust-hooks`, or trust them when codex asks
    ");
    let shown = machine.ok(&["connect", "codex", "--dry-run", "--diff"]);
    assert!(shown.contains("+[mcp_servers.nacre]"), "{shown}");
}

#[test]
fn every_agent_is_removed_at_once() {
    let machine = Machine::new();
    let before = machine.tree();
    machine.ok(&["connect", "claude", "codex", "--yes"]);
    machine.ok(&["connect", "auto", "--remove", "--yes"]);
    for agent in ["claude", "codex"] {
        assert_eq!(machine.entry(agent)["mcp"], "off");
    }
    assert_eq!(machine.tree(), before);
}

#[test]
fn nothing_is_written_without_a_yes() {
    let machine = Machine::new();
    machine.put(
        ".claude/settings.json",
        "{\n  \"env\": {\"API_KEY\": \"sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789\"}\n}\n",
    );
    let before = machine.tree();
    let refused = machine.home.run(&["connect", "claude"]);
    assert!(refused.contains("only after confirmation") && refused.contains("--yes"), "{refused}");
    assert_eq!(machine.home.json(&["connect", "auto"]).0, 2);
    let (_, shown) = machine.home.json(&["connect", "claude", "--dry-run"]);
    let changes = shown["changes"].as_array().unwrap();
    let change = changes.iter().find(|change| change["path"] == "~/.claude/settings.json").unwrap();
    let diff = change["diff"].as_str().unwrap();
    assert!(
        diff.starts_with("--- ~/.claude/settings.json\n+++ ~/.claude/settings.json\n@@ -1,3 +1,"),
        "{diff}"
    );
    assert!(diff.contains("+  \"hooks\": {\n") && !diff.contains("sk-ant"), "{diff}");
    assert_eq!(machine.tree(), before);
    assert!(!machine.path(".nacre/connect").exists());
}

#[test]
fn an_entry_of_the_same_name_comes_back() {
    let machine = Machine::new();
    let text = "{\"mcpServers\": {\"nacre\": {\"command\": \"my-own\"}, \"x\": {}}}";
    machine.put(".cursor/mcp.json", text);
    machine.ok(&["connect", "cursor", "--yes"]);
    assert!(!machine.text(".cursor/mcp.json").contains("my-own"));
    machine.edit(".cursor/mcp.json", |text| text.replace("\"x\": {}", "\"y\": {}"));
    machine.ok(&["connect", "cursor", "--remove", "--yes"]);
    assert_eq!(machine.text(".cursor/mcp.json"), text.replace("\"x\"", "\"y\""));
    machine.put(".codex/config.toml", "[mcp_servers.nacre]\ncommand = \"my-own\"\n");
    let refused = machine.home.run(&["connect", "codex", "--yes"]);
    assert!(
        refused.contains("`mcp_servers.nacre` already exists but was not written by Nacre"),
        "{refused}"
    );
}

#[test]
fn a_lost_ledger_costs_only_the_exact_bytes() {
    let machine = Machine::new();
    machine.put(".claude/settings.json", "{\n  \"a\": 1\n}\n");
    machine.ok(&["connect", "claude", "--yes"]);
    fs::remove_dir_all(machine.path(".nacre/connect")).unwrap();
    let again = machine.json(&["connect", "claude", "--yes"]);
    assert!(again.get("changes").is_none(), "{again}");
    machine.ok(&["connect", "claude", "--remove", "--yes"]);
    let left = machine.text(".claude/settings.json");
    assert_eq!(parse_json(&left)["a"], 1);
    assert!(!left.contains("hook claude"), "{left}");
    assert!(!machine.path(".claude/skills/nacre/SKILL.md").exists());
    assert_eq!(machine.entry("claude")["mcp"], "off");
}

#[test]
fn a_change_that_was_killed_halfway_is_taken_back() {
    let machine = Machine::new();
    machine.put(".claude/settings.json", "{\n  \"a\": 1\n}\n");
    let before = machine.tree();
    machine.ok(&["connect", "claude", "--yes"]);
    // Restores the state of a process that was killed after writing the last file but before
    // recording it.
    machine.edit(".nacre/connect/ledger.json", |text| {
        let mut ledger: Value = serde_json::from_str(&text).unwrap();
        let files = ledger["files"].take();
        let pending = files.as_object().unwrap().iter().map(|(path, record)| {
            let folders = record.get("folders").cloned().unwrap_or_else(|| Value::Array(Vec::new()));
            serde_json::json!({"path": path, "before": record["base"], "after": record["after"], "folders": folders})
        });
        ledger["pending"] = pending.collect();
        ledger["files"] = serde_json::json!({});
        ledger.to_string()
    });
    machine.json(&["connect", "zed", "--dry-run"]);
    assert_ne!(machine.tree(), before, "a dry run writes nothing");
    machine.ok(&["connect", "zed", "--yes"]);
    machine.ok(&["connect", "zed", "--remove", "--yes"]);
    assert_eq!(machine.tree(), before);
}

#[test]
fn traces_and_files_are_connected_together() {
    let machine = Machine::new();
    machine.put(".codex/config.toml", "model = \"x\"\n");
    // Without a register, every agent is read, and connecting one agent does not disable the
    // others.
    machine.ok(&["connect", "codex", "--yes"]);
    let agents = machine.json(&["connect", "list"]);
    let is_read = |agent: &Value| agent["traces"] != "off";
    assert!(agents["agents"].as_array().unwrap().iter().all(is_read), "{agents}");
    machine.ok(&["connect", "generic", "--path", "."]);
    assert_eq!(machine.entry("codex")["traces"], "off");
    machine.ok(&["connect", "codex", "--yes"]);
    assert_eq!(machine.entry("codex")["traces"], "on");
    assert_eq!(machine.entry("generic")["traces"], "on");
    machine.ok(&["connect", "remove", "codex", "--yes"]);
    assert_eq!(machine.entry("codex")["traces"], "off");
    assert_eq!(machine.entry("codex")["mcp"], "off");
    let refused = machine.home.run(&["connect", "codex", "--remove", "--yes"]);
    assert!(refused.contains("The agent `codex` is not connected"), "{refused}");
}

#[test]
fn codex_is_asked_for_the_hashes_of_its_hooks() {
    let home = TestHome::new();
    let bin = home.root().join("bin");
    let path = format!("{}:/usr/bin:/bin", bin.display());
    let machine = Machine { home: home.with_var("PATH", &path) };
    let config = "model = \"x\" # mine";
    machine.put(".codex/config.toml", config);
    let refused = machine.home.run(&["connect", "codex", "--trust-hooks", "--yes"]);
    assert!(refused.contains("`codex` was not found in PATH"), "{refused}");
    let hook = |event: &str| {
        format!(
            r#"{{"key":"hooks.json:{event}:0:0","currentHash":"sha256:{event}","command":"{} hook codex {event}"}}"#,
            env!("CARGO_BIN_EXE_nacre")
        )
    };
    let others = r#"{"key":"k","currentHash":"sha256:others","command":"notify-send done"}"#;
    let script = format!(
        "#!/bin/sh\nread -r line; echo '{{\"id\":1,\"result\":{{}}}}'; read -r line; read -r line\necho '{{\"id\":2,\"result\":{{\"data\":[{{\"hooks\":[{},{},{others}],\"errors\":[]}}]}}}}'; read -r line\n",
        hook("start"),
        hook("prompt")
    );
    machine.put("bin/codex", &script);
    fs::set_permissions(machine.path("bin/codex"), fs::Permissions::from_mode(0o755)).unwrap();
    machine.ok(&["connect", "codex", "--yes"]);
    assert!(
        !machine.text(".codex/config.toml").contains("hooks.state"),
        "trust is never given unasked"
    );
    machine.ok(&["connect", "codex", "--trust-hooks", "--yes"]);
    let text = machine.text(".codex/config.toml");
    assert!(
        text.contains("[hooks.state.\"hooks.json:start:0:0\"]\ntrusted_hash = \"sha256:start\"\n"),
        "{text}"
    );
    assert!(text.contains("sha256:prompt") && !text.contains("sha256:others"), "{text}");
    machine.ok(&["connect", "codex", "--trust-hooks", "--yes"]);
    assert_eq!(machine.text(".codex/config.toml"), text);
    // Changed hooks must be trusted again.
    let shown = machine.home.run(&["connect", "codex", "--guard", "--yes"]);
    assert!(shown.contains("Codex only runs trusted hooks"), "{shown}");
    assert!(!machine.text(".codex/config.toml").contains("hooks.state"));
    machine.ok(&["connect", "codex", "--trust-hooks", "--yes"]);
    machine.ok(&["connect", "codex", "--remove", "--yes"]);
    assert_eq!(machine.text(".codex/config.toml"), config);
}

#[test]
fn variables_of_the_person_move_the_files() {
    let outside = tempfile::tempdir().unwrap();
    let folder = fs::canonicalize(outside.path()).unwrap();
    let home = TestHome::new()
        .with_var("CLAUDE_CONFIG_DIR", &folder.join("claude").display().to_string())
        .with_var("CODEX_HOME", &folder.join("codex").display().to_string())
        .with_var("XDG_CONFIG_HOME", &folder.join("config").display().to_string());
    home.ok(&["connect", "claude", "codex", "zed", "--yes"]);
    for path in [
        "claude/.claude.json",
        "claude/settings.json",
        "codex/config.toml",
        "config/zed/settings.json",
    ] {
        assert!(folder.join(path).exists(), "{path}");
    }
    home.ok(&["connect", "claude", "codex", "zed", "--remove", "--yes"]);
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
}

#[test]
fn a_repository_has_no_say() {
    let machine = Machine::new();
    machine.home.write("config.toml", "[agents]\nclaude = true\n");
    fs::create_dir_all(machine.home.work().join(".claude")).unwrap();
    let before = machine.tree();
    machine.home.run(&["status"]);
    machine.home.run(&["connect", "auto", "--yes"]);
    machine.home.run(&["connect", "list"]);
    assert_eq!(machine.tree(), before);
}

#[test]
fn a_connect_and_its_removal_can_be_undone() {
    let machine = Machine::new();
    for (path, text) in HOMES.iter().flat_map(|(_, files)| *files) {
        machine.put(path, text);
    }
    let before = machine.tree();
    let change = |report: &Value| report["change"].as_str().unwrap().to_owned();
    let connected = machine.json(&["connect", "claude", "codex", "--yes"]);
    let after = machine.tree();
    let planned = machine.json(&["undo", &change(&connected), "--dry-run"]);
    assert!(!planned["paths"].as_array().unwrap().is_empty(), "{planned}");
    assert_eq!(machine.tree(), after);
    let undone = machine.json(&["undo", &change(&connected)]);
    assert_eq!(machine.tree(), before);
    machine.ok(&["undo", undone["run"].as_str().unwrap()]);
    assert_eq!(machine.tree(), after);
    // A command that changes nothing cannot be undone.
    assert!(machine.json(&["connect", "claude", "--yes"]).get("change").is_none());
    let removed = machine.json(&["connect", "claude", "--remove", "--yes"]);
    machine.ok(&["undo", &change(&removed)]);
    assert_eq!(machine.tree(), after);
}

#[test]
fn what_was_read_before_an_agent_was_connected_is_read_after_it_was_removed() {
    let machine = Machine::new();
    machine.put(".codex/config.toml", "model = \"x\"\n");
    machine.ok(&["connect", "codex", "--yes"]);
    let shown = machine.home.run(&["connect", "codex", "--remove", "--yes"]);
    assert!(shown.contains("Sessions from codex are still read, as before"), "{shown}");
    assert_eq!(machine.entry("codex")["traces"], "on");
    assert_eq!(machine.entry("codex")["mcp"], "off");
    // Removing the agent again stops Nacre from reading its sessions, and this change can be
    // undone.
    let removed = machine.json(&["connect", "codex", "--remove", "--yes"]);
    assert_eq!(machine.entry("codex")["traces"], "off");
    let undone = machine.json(&["undo", "--last"]);
    assert_eq!(undone["of"], removed["change"]);
    assert_eq!(machine.entry("codex")["traces"], "on");
    let register = machine.path(".nacre/agents.toml");
    assert!(!register.exists(), "there was no register before");
}

#[test]
fn agents_that_were_taken_out_are_named_with_the_way_back() {
    let machine = Machine::new();
    let session = r#"{"type":"user","sessionId":"s1","cwd":"/elsewhere","timestamp":"2026-11-01T10:00:00Z","uuid":"u1","message":{"role":"user","content":"Use tabs"}}"#;
    machine.put(".claude/projects/-elsewhere/s1.jsonl", &format!("{session}\n"));
    machine.ok(&["connect", "claude", "--remove", "--yes"]);
    let said = "Disconnected agents, whose sessions are not read: claude. To connect them again: nacre connect auto";
    for command in ["init", "sync", "status"] {
        let shown = machine.home.run(&[command]);
        assert!(shown.contains(said), "{command}: {shown}");
        assert!(
            !shown.contains("No coding agent") && !shown.contains("any coding agent"),
            "{shown}"
        );
    }
    assert!(machine.home.run(&["sync"]).contains("Next: nacre connect auto"));
    machine.ok(&["connect", "auto", "--yes"]);
    assert_eq!(machine.entry("claude")["traces"], "on");
    let shown = machine.home.run(&["sync"]);
    assert!(shown.starts_with("Read 1 session."), "{shown}");
}

/// Regression test from a security audit: the plugin's commands run while the first `nacre` on PATH
/// comes from the repository.
#[test]
fn the_plugin_starts_nacre_from_where_it_is_installed_and_not_by_path() {
    let home = TestHome::new();
    let plugin = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugin");
    let put = |folder: std::path::PathBuf, says: &str| {
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("nacre"), format!("#!/bin/sh\necho {says} \"$@\"\n")).unwrap();
        fs::set_permissions(folder.join("nacre"), fs::Permissions::from_mode(0o755)).unwrap();
    };
    put(home.work().join("node_modules/.bin"), "stranger");
    let run = |command: &str| {
        let path = format!("{}:/usr/bin:/bin", home.work().join("node_modules/.bin").display());
        let output = std::process::Command::new("/bin/sh")
            .args(["-c", command])
            .current_dir(home.work())
            .env_clear()
            .envs([("HOME", home.root()), ("CLAUDE_PLUGIN_ROOT", plugin.clone())])
            .env("PATH", path)
            .output()
            .unwrap();
        (output.status.success(), String::from_utf8(output.stdout).unwrap())
    };
    let read = |name: &str| -> Value {
        serde_json::from_str(&fs::read_to_string(plugin.join(name)).unwrap()).unwrap()
    };
    let hooks = read("hooks/hooks.json")["hooks"].as_object().unwrap().clone();
    let mut commands: Vec<String> = hooks
        .values()
        .map(|hooks| hooks[0]["hooks"][0]["command"].as_str().unwrap().to_owned())
        .collect();
    let server = &read(".mcp.json")["mcpServers"]["nacre"];
    let words = [&server["command"], &server["args"][0], &server["args"][1]];
    commands.push(words.map(|word| word.as_str().unwrap()).join(" "));
    assert_eq!(commands.len(), 8);
    for command in &commands {
        assert!(!run(command).1.contains("stranger"), "{command}");
    }
    put(home.root().join(".local/bin"), "own");
    for command in &commands {
        let (is_ok, printed) = run(command);
        assert!(is_ok && printed.starts_with("own "), "{command}: {printed}");
    }
}
