//! Tests the hook contracts without starting a process: parsed input, written output, and guard
//! decisions.

#![expect(clippy::disallowed_methods, reason = "the tests set up traps and act as the agent")]

// Hostile inputs for the torture tests.
#[path = "../../tests/support/hostile.rs"]
mod hostile;
#[expect(dead_code, reason = "the torture tests use all of it")]
#[path = "../../tests/support/rng.rs"]
mod rng;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use nacre_ops::Host;
use nacre_ops::host::{OpenOptions, Tolerance};
use nacre_types::{HookReport, HookSession};
use proptest::prelude::*;
use serde_json::{Value, json};

use self::hostile::hostile;
use self::rng::Rng;
use super::*;

type Contract = (&'static str, &'static HookContract);

/// Number of hostile strings to try with each contract.
const N_HOSTILE: usize = 10_000;

/// A repository, a canary file next to it, and links to that file.
struct World {
    root: PathBuf,
    host: Host,
    guard: ops::ToolGuard,
    _temp: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        for folder in ["home/.nacre", "repo/.git", "repo/src", "repo/memory", "canary/sub"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        for name in ["canary/a.txt", "canary/sub/b.txt"] {
            fs::write(root.join(name), "canary").unwrap();
        }
        let repo = root.join("repo");
        symlink(root.join("canary"), repo.join("link")).unwrap();
        symlink(root.join("canary/a.txt"), repo.join("filelink")).unwrap();
        symlink("loop", repo.join("loop")).unwrap();
        symlink("..", repo.join("up")).unwrap();
        symlink(root.join("canary"), repo.join("abs")).unwrap();
        symlink(root.join("canary"), repo.join("memory/linkdir")).unwrap();
        fs::hard_link(root.join("canary/a.txt"), repo.join("readme.MD")).unwrap();
        let environment = Environment {
            vars: vec![("NACRE_HOOKS_GUARD".to_owned(), "true".to_owned())],
            garbled_vars: Vec::new(),
            folder: repo,
            is_folder_gone: false,
            home: Some(root.join("home")),
            host: None,
            pid: 1,
            program: None,
            clock: Arc::new(|| Timestamp::UNIX_EPOCH),
            uptime: Arc::new(|| Duration::ZERO),
            random: |_| Ok(()),
        };
        let options = OpenOptions { tolerance: Tolerance::None, ..OpenOptions::default() };
        let host = Host::open(environment, &options).host.unwrap();
        let guard = ops::ToolGuard::open(&host).unwrap();
        Self { root, host, guard, _temp: temp }
    }

    /// Returns the output for an agent that is about to write to `path`.
    fn asked_to_write(&self, contract: Contract, path: &str) -> Output {
        let input = call_of(contract, path).to_string();
        let input = input::read(input.as_bytes(), &contract.1.keys).unwrap();
        // Like `reply`, but all calls are checked by the same guard.
        let request = input.call.unwrap().request(HookSession::default());
        let denied = self.guard.refuse(&request);
        let report = HookReport { denied, ..HookReport::default() };
        Output::of(&report, HookEvent::BeforeTool, contract.1)
    }

    /// Returns the report for an agent that is about to use a tool.
    fn reply(&self, (name, contract): Contract, input: Input) -> HookReport {
        match question(name, contract, HookEvent::BeforeTool, input) {
            Some(question) => ops::answer(&self.host, &question).unwrap(),
            None => HookReport::default(),
        }
    }

    fn canary(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut files = Vec::new();
        for folder in ["canary", "canary/sub", "repo/.git", "home/.nacre", ""] {
            let entries = fs::read_dir(self.root.join(folder)).unwrap();
            files.extend(entries.map(|entry| entry.unwrap().path()));
        }
        files.sort();
        files.into_iter().map(|path| (path.clone(), fs::read(&path).unwrap_or_default())).collect()
    }
}

/// Returns a call that writes a file, in the format of the agent's hook input.
fn call_of(contract: Contract, path: &str) -> Value {
    match contract.0 {
        "copilot" => {
            let arguments = json!({"path": path, "file_text": "x"}).to_string();
            json!({"sessionId": "s", "timestamp": 1, "toolName": "create", "toolArgs": arguments})
        }
        "cursor" => json!({"conversation_id": "s", "hook_event_name": "preToolUse",
            "tool_name": "Write", "tool_input": {"file_path": path, "content": "x"}}),
        "gemini" => json!({"session_id": "s", "tool_name": "write_file",
            "tool_input": {"file_path": path, "content": "x"}}),
        "codex" => {
            let patch = format!("*** Begin Patch\n*** Add File: {path}\n+x\n*** End Patch");
            json!({"session_id": "s", "tool_name": "apply_patch", "tool_input": {"command": patch},
                "tool_use_id": "1", "turn_id": "t", "path": path, "file_path": path})
        }
        "opencode" => json!({"session_id": "s", "tool_name": "write",
            "tool_input": {"filePath": path, "content": "x"}}),
        _ => json!({"session_id": "s", "tool_name": "Write",
            "tool_input": {"file_path": path, "content": "x"}}),
    }
}

/// Returns whether an output refuses the call in the agent's own format.
fn refuses(contract: Contract, output: &Output) -> bool {
    let Output { stdout, stderr, code } = output;
    if contract.0 == "droid" {
        assert_eq!((stdout.as_str(), stderr.is_empty()), ("", *code == 0));
        return *code == 2;
    }
    assert_eq!((stderr.as_str(), *code), ("", 0));
    if stdout.is_empty() {
        return false;
    }
    let value: Value = serde_json::from_str(stdout).unwrap();
    let decision = match contract.0 {
        "gemini" | "opencode" | "pi" => &value["decision"],
        "copilot" => &value["permissionDecision"],
        "cursor" => &value["permission"],
        _ => &value["hookSpecificOutput"]["permissionDecision"],
    };
    decision == "deny"
}

#[test]
fn no_hostile_path_gets_out_through_any_contract() {
    let world = World::new();
    let before = world.canary();
    let repo = world.root.join("repo");
    let mut rng = Rng::new(20_261_116);
    let mut n_refused = 0;
    for _ in 0..N_HOSTILE {
        let path = hostile(&mut rng, &world.root);
        // Codex passes patches, and a patch cannot contain a path with a line break.
        for contract in
            hook_contracts().filter(|of| of.0 != "codex" || !path.contains(['\n', '\r']))
        {
            let output = world.asked_to_write(contract, &path);
            if refuses(contract, &output) {
                n_refused += 1;
                continue;
            }
            if contract.0 == "claude" {
                write_as_agent(&repo, &path);
            }
        }
    }
    assert_eq!(world.canary(), before);
    assert!(n_refused > N_HOSTILE, "{n_refused}");
}

/// Writes the file that the agent's tool would write if the call were not refused.
fn write_as_agent(repo: &Path, path: &str) {
    let path = repo.join(path.trim());
    if let Some(folder) = path.parent() {
        let _ = fs::create_dir_all(folder);
    }
    let _ = fs::write(path, "written by the agent");
}

#[test]
fn every_way_to_name_a_file_is_seen() {
    let world = World::new();
    let claude = hook_contracts().find(|(name, _)| *name == "claude").unwrap();
    let many: Vec<String> = (0..400).map(|number| format!("src/{number}.rs")).collect();
    for (tool, input) in [
        ("Edit", json!({"file_path": "../x"})),
        ("MultiEdit", json!({"file_path": "src/a", "edits": [{"path": "../x"}]})),
        ("NotebookEdit", json!({"notebook_path": "../x.ipynb"})),
        ("mcp__fs__move_file", json!({"source": "src/a", "destination": "../x"})),
        ("mcp__fs__write", json!({"deep": {"deeper": [{"path": "../x"}]}})),
        ("write_files", json!({"files": ["src/a", "../x"]})),
        ("write_files", json!({"files": [{"name": "a", "path": "../x"}]})),
        ("apply_patch", json!({"input": "*** Begin Patch\n*** Update File: ../x\n*** End Patch"})),
        ("shell", json!({"command": ["bash", "-lc", "echo x > ../x"]})),
        ("Bash", json!({"command": "echo x > ../x"})),
        ("Bash", json!({"command": "nacre config set hooks.guard false"})),
        ("apply_diff", json!({"diff": "--- a/src/a\n+++ b/../x\n"})),
        ("Write", json!({"file_path": "file:///etc/passwd"})),
        ("Write", json!({"file_path": ".nacre/memory/decisions/x.md"})),
        ("Read", json!({"file_path": ".env"})),
        ("write_files", json!({"files": many})),
    ] {
        let input = json!({"session_id": "s", "tool_name": tool, "tool_input": input}).to_string();
        let read = input::read(input.as_bytes(), &claude.1.keys).unwrap();
        let reply = world.reply(claude, read);
        assert!(reply.denied.is_some(), "{input}: {reply:?}");
    }
    for (tool, input) in [
        ("Edit", json!({"file_path": "src/a.rs"})),
        ("TodoWrite", json!({"todos": [{"content": "x", "path": "../x"}]})),
        ("Read", json!({"file_path": "/usr/include/stdio.h"})),
        ("Bash", json!({"command": "cargo test"})),
        ("Unknown", json!("text")),
        ("Unknown", json!(null)),
    ] {
        let input = json!({"session_id": "s", "tool_name": tool, "tool_input": input}).to_string();
        let read = input::read(input.as_bytes(), &claude.1.keys).unwrap();
        let reply = world.reply(claude, read);
        assert!(reply.denied.is_none() && reply.text.is_empty(), "{input}: {reply:?}");
    }
}

#[test]
fn an_agent_is_told_only_where_it_listens() {
    let words = || "words".to_owned();
    for (agent, contract) in hook_contracts() {
        for event in HookEvent::ALL {
            let given = |report| Output::of(&report, event, contract);
            let told = given(HookReport { text: words(), ..HookReport::default() });
            let hears = contract.hears.contains(&event);
            assert_eq!(told.stdout.contains("words"), hears, "{agent} {event:?}");
            let denied = given(HookReport { denied: Some(words()), ..HookReport::default() });
            let is_before = event == HookEvent::BeforeTool;
            assert_eq!(refuses((agent, contract), &denied), is_before, "{agent}");
            assert_eq!(given(HookReport::default()), Output::default());
        }
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "\\PC{0,20}".prop_map(Value::from),
    ];
    let key = prop_oneof![
        Just("session_id"),
        Just("cwd"),
        Just("prompt"),
        Just("tool_name"),
        Just("tool_input"),
        Just("file_path"),
        Just("files"),
        Just("command"),
        Just("sessionId"),
        Just("toolArgs"),
        Just("workspace_roots"),
        Just("source"),
        Just("stop_hook_active"),
        Just("transcript_path"),
        Just("agent_id"),
        Just("error"),
        Just("tool_response"),
        Just("llmContent"),
    ];
    leaf.prop_recursive(6, 64, 8, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
            prop::collection::vec((key.clone().prop_map(str::to_owned), inner), 0..8)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_input_is_read_or_refused(value in any_json(), bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        for contract in hook_contracts() {
            let _ = input::read(value.to_string().as_bytes(), &contract.1.keys);
            let _ = input::read(&bytes, &contract.1.keys);
            if let Ok(input) = input::read(value.to_string().as_bytes(), &contract.1.keys) {
                let session = HookSession::default();
                let _ = input.call.map(|call| call.request(session));
            }
        }
    }
}
