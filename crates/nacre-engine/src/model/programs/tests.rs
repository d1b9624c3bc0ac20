//! Tests with small scripts that imitate the agents. Except for system directories, `PATH` contains
//! only the scripts' directory.

#![expect(clippy::disallowed_methods, reason = "the tests play the person who installs agents")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use super::*;
use crate::model::conversation::{ModelEvent, OutputSchema, Request, Response, ToolDef};
use crate::model::error::{ErrorKind, ModelError, Wait};
use crate::model::price::Cost;
use crate::model::provider::Limits;
use crate::model::retry::{Control, RetryPolicy, generate};
use crate::model::roles::{ModelSettings, Models, RoleSettings};
use crate::model::{Cancel, Role};

/// A home directory that contains a directory for programs.
struct World {
    folder: tempfile::TempDir,
    root: PathBuf,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("bin")).unwrap();
        fs::create_dir_all(root.join("home/.codex")).unwrap();
        Self { folder, root }
    }

    fn agent(&self, command: &str, script: &str) -> &Self {
        self.program(&self.root.join("bin"), command, script);
        self
    }

    fn program(&self, folder: &Path, command: &str, script: &str) {
        fs::create_dir_all(folder).unwrap();
        let path = folder.join(command);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn settings(&self) -> ProgramSettings {
        let path = format!("{}:/usr/bin:/bin", self.root.join("bin").display());
        let mut settings = ProgramSettings::new(path, &[self.root.join("repository")]);
        settings.variables = vec![
            ("HOME".to_owned(), self.root.join("home").display().to_string()),
            ("WORLD".to_owned(), self.root.display().to_string()),
            ("NACRE_MODEL".to_owned(), "claude-code/haiku".to_owned()),
        ];
        settings.home = Some(self.root.join("home"));
        settings.data = Some(self.root.join("data"));
        settings
    }

    fn models(&self, model: &str) -> Models {
        Models::new(ModelSettings {
            default: Some(RoleSettings::of_model(model.parse().unwrap())),
            programs: self.settings(),
            ..ModelSettings::default()
        })
    }

    fn ask_with(
        &self,
        model: &str,
        request: &Request,
        limits: Limits,
    ) -> Result<Response, ModelError> {
        let route = self.models(model).route(Role::Extract).unwrap();
        let control = control(limits, Cancel::new());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(generate(&route, request, &control, &mut |_| {}))
    }

    fn ask(&self, model: &str, request: &Request) -> Result<Response, ModelError> {
        self.ask_with(model, request, Limits::default())
    }

    fn seen(&self, name: &str) -> String {
        fs::read_to_string(self.root.join(name)).unwrap_or_default()
    }
}

fn control(limits: Limits, cancel: Cancel) -> Control {
    let policy = RetryPolicy { attempts: 1, ..RetryPolicy::default() };
    Control { policy, limits, seed: 1, cancel }
}

fn plain() -> Request {
    Request::new(Role::Extract, "You read sessions.", "What is in it?")
}

fn shaped() -> Request {
    let schema = json!({
        "type": "object",
        "properties": { "a": { "type": "string" } },
        "required": ["a"],
        "additionalProperties": false,
    });
    let output = OutputSchema { name: "a".to_owned(), description: "An a.".to_owned(), schema };
    Request { output: Some(output), ..plain() }
}

/// Returns a script that prints `text`, whatever the question is.
fn says(text: &str) -> String {
    format!("cat > \"$WORLD/stdin\"\ncat << 'END'\n{text}\nEND")
}

/// Returns the output of each agent for an answer with 1000 input tokens and 50 output tokens.
fn good(model: &str, text: &str) -> String {
    match model {
        "claude-code/haiku" => json!({
            "type": "result", "is_error": false, "result": text, "stop_reason": "end_turn", "total_cost_usd": 0.25,
            "usage": { "input_tokens": 1000, "output_tokens": 50 },
        })
        .to_string(),
        "codex/default" => format!(
            "{}\n{}\n{}\n{}",
            json!({ "type": "thread.started", "thread_id": "t" }),
            json!({ "type": "item.completed", "item": { "type": "error", "message": "Only a warning." } }),
            json!({ "type": "item.completed", "item": { "type": "agent_message", "text": text } }),
            json!({ "type": "turn.completed", "usage": { "input_tokens": 1000, "cached_input_tokens": 0, "output_tokens": 50 } }),
        ),
        "opencode/default" => format!(
            "{}\n{}",
            json!({ "type": "text", "part": { "text": text } }),
            json!({ "type": "step_finish", "part": {
                "reason": "stop", "cost": 0, "tokens": { "input": 1000, "output": 50, "reasoning": 0, "cache": { "read": 0, "write": 0 } },
            } }),
        ),
        "gemini/default" => format!(
            "Ripgrep is not available.\n{}",
            json!({ "session_id": "s", "response": text, "stats": { "models": { "m": { "tokens": {
                "prompt": 1000, "candidates": 50, "cached": 0, "thoughts": 0,
            } } } } }),
        ),
        "copilot/default" => format!(
            "{}\n{}",
            json!({ "type": "assistant.message", "data": { "content": text } }),
            json!({ "type": "result", "sessionId": "s", "exitCode": 0, "usage": { "premiumRequests": 1 } }),
        ),
        other => panic!("{other}"),
    }
}

const AGENTS: &[(&str, &str)] = &[
    ("claude-code/haiku", "claude"),
    ("codex/default", "codex"),
    ("opencode/default", "opencode"),
    ("gemini/default", "gemini"),
    ("copilot/default", "copilot"),
];

#[test]
fn every_agent_answers_with_its_tokens() {
    for (model, command) in AGENTS {
        let world = World::new();
        world.agent(command, &says(&good(model, "{\"a\": \"pearl\"}")));
        let response = world.ask(model, &shaped()).unwrap();
        assert_eq!(response.text(), "{\"a\": \"pearl\"}", "{model}");
        // Copilot does not report tokens, so they are estimated by the code that counts them.
        let tokens = if *command == "copilot" { (0, 0) } else { (1000, 50) };
        assert_eq!((response.usage.input, response.usage.output), tokens, "{model}");
        let cost = (*command == "claude").then(|| Cost::from_dollars(0.25).unwrap());
        assert_eq!(response.usage.reported, cost, "{model}");
        let asked = world.seen("stdin");
        assert!(asked.starts_with(nacre_traces::transcript::injected::QUESTION_MARK), "{asked}");
        assert!(asked.contains("What is in it?"), "{asked}");
    }
}

#[test]
fn an_agent_starts_in_an_empty_folder_and_knows_that_it_is_asked_by_nacre() {
    let world = World::new();
    let look = "env > \"$WORLD/env\"\npwd > \"$WORLD/folder\"\nls -A > \"$WORLD/files\"\nprintf '%s\\n' \"$@\" > \"$WORLD/arguments\"\n";
    world.agent("claude", &format!("{look}{}", says(&good("claude-code/haiku", "yes"))));
    world.ask("claude-code/haiku", &shaped()).unwrap();
    let env = world.seen("env");
    assert!(env.lines().any(|line| line == "NACRE_CHILD=1"), "{env}");
    assert!(!env.contains("NACRE_MODEL"), "{env}");
    let folder = PathBuf::from(world.seen("folder").trim());
    assert!(folder.starts_with(world.root.join("data/scratch")), "{folder:?}");
    assert!(!folder.exists(), "it is removed afterwards");
    assert_eq!(world.seen("files"), "system.md\n");
    let arguments = world.seen("arguments");
    for wanted in ["--safe-mode", "--no-session-persistence", "--json-schema", "--model\nhaiku"] {
        assert!(arguments.contains(wanted), "{wanted}: {arguments}");
    }
    assert!(
        !arguments.contains("What is in it?"),
        "everybody can read a command line: {arguments}"
    );
}

#[test]
fn the_structured_output_of_claude_is_taken_and_its_text_where_there_is_none() {
    let world = World::new();
    let mut result: Value =
        serde_json::from_str(&good("claude-code/haiku", "Here: {\"a\": \"text\"}")).unwrap();
    world.agent("claude", &says(&result.to_string()));
    assert_eq!(
        world.ask("claude-code/haiku", &shaped()).unwrap().text(),
        "Here: {\"a\": \"text\"}"
    );
    result["structured_output"] = json!({ "a": "shaped" });
    world.agent("claude", &says(&result.to_string()));
    assert_eq!(world.ask("claude-code/haiku", &shaped()).unwrap().text(), "{\"a\":\"shaped\"}");
}

#[test]
fn what_stops_an_agent_is_told() {
    let failed = |code| ErrorKind::ProgramFailed { code };
    let claude = |status: Value, said: &str| {
        json!({ "type": "result", "subtype": "success", "is_error": true, "api_error_status": status, "result": said }).to_string()
    };
    let codex =
        |said: &str| json!({ "type": "turn.failed", "error": { "message": said } }).to_string();
    let opencode = json!({ "type": "error", "error": { "name": "APIError", "data": { "message": "No.", "statusCode": 401 } } });
    let gemini = json!({ "session_id": "s", "error": { "message": "Invalid auth method selected.", "code": 41 } });
    for (model, script, kind, said) in [
        (
            "claude-code/haiku",
            says(&claude(Value::Null, "Not logged in · Please run /login")),
            ErrorKind::NotLoggedIn,
            "Not logged in · Please run /login",
        ),
        (
            "claude-code/haiku",
            says(&claude(json!(400), "Credit balance is too low")),
            ErrorKind::Quota,
            "Credit balance is too low",
        ),
        (
            "claude-code/haiku",
            says(&claude(json!(400), "Prompt is too long")),
            ErrorKind::ContextTooLong,
            "Prompt is too long",
        ),
        (
            "codex/default",
            says(&codex("unexpected status 401 Unauthorized: no")),
            ErrorKind::NotLoggedIn,
            "unexpected status 401 Unauthorized: no",
        ),
        (
            "codex/default",
            says(&codex("Quota exceeded. Check your plan.")),
            ErrorKind::Quota,
            "Quota exceeded. Check your plan.",
        ),
        ("opencode/default", says(&opencode.to_string()), ErrorKind::NotLoggedIn, "No."),
        (
            "gemini/default",
            format!("echo '{gemini}' >&2"),
            ErrorKind::NotLoggedIn,
            "Invalid auth method selected.",
        ),
        (
            "copilot/default",
            "echo 'Error: No authentication information found.' >&2".to_owned(),
            ErrorKind::NotLoggedIn,
            "Error: No authentication information found.",
        ),
        (
            "claude-code/haiku",
            "echo 'unknown option --safe-mode' >&2".to_owned(),
            failed(Some(1)),
            "unknown option --safe-mode",
        ),
        ("codex/default", "kill -9 $$".to_owned(), failed(None), ""),
    ] {
        let world = World::new();
        let command = AGENTS.iter().find(|agent| agent.0 == model).unwrap().1;
        world.agent(command, &format!("{script}\nexit 1"));
        let error = world.ask(model, &plain()).unwrap_err();
        let told = error.said.as_ref().map_or("", |said| said.as_str());
        assert_eq!((&error.kind, told), (&kind, said), "{model}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn an_agent_that_tries_for_ever_is_ended_when_its_log_says_that_the_account_is_used_up() {
    let world = World::new();
    let line = "timestamp=1 level=ERROR message=\"stream error\" providerID=x error.error=\"AI_APICallError: You exceeded your current quota\"";
    world.agent("opencode", &format!("echo '{line}' >&2\n{HANGS}"));
    let error = world.ask("opencode/default", &plain()).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Quota);
    assert_eq!(error.said.unwrap().as_str(), "AI_APICallError: You exceeded your current quota");
}

#[test]
fn garbage_is_not_an_answer() {
    for (model, command) in AGENTS {
        for text in ["", "Hello!", "{\"type\": \"other\"}", "[1, 2"] {
            let world = World::new();
            world.agent(command, &says(text));
            let error = world.ask(model, &plain()).unwrap_err();
            let is_named =
                matches!(error.kind, ErrorKind::Protocol | ErrorKind::ProgramFailed { .. });
            assert!(is_named, "{model}: {text}: {error:?}");
        }
    }
}

#[test]
fn what_is_too_large_is_not_read_to_its_end() {
    let world = World::new();
    world.agent(
        "claude",
        "cat > /dev/null\nwhile :; do echo 0123456789012345678901234567890123456789; done",
    );
    let limits = Limits { answer_bytes: 10_000, ..Limits::default() };
    let error = world.ask_with("claude-code/haiku", &plain(), limits).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Protocol);
    assert_eq!(error.said.unwrap().as_str(), "the answer is too large");
}

#[test]
fn a_long_complaint_does_not_keep_an_agent_waiting() {
    let world = World::new();
    let noise = "i=0; while [ $i -lt 5000 ]; do echo 'a line of more than fifty characters that is only noise' >&2; i=$((i+1)); done";
    world.agent("claude", &format!("{noise}\n{}", says(&good("claude-code/haiku", "yes"))));
    assert_eq!(world.ask("claude-code/haiku", &plain()).unwrap().text(), "yes");
}

const HANGS: &str =
    "sleep 1000 & echo $! > \"$WORLD/child.new\"\nmv \"$WORLD/child.new\" \"$WORLD/child\"\nwait";

/// Waits until the process has ended, which should happen immediately.
fn wait_until_gone(process: &str) {
    let status = PathBuf::from(format!("/proc/{}/stat", process.trim()));
    // A zombie that no process will reap counts as gone.
    let is_there = || fs::read_to_string(&status).is_ok_and(|stat| !stat.contains(") Z "));
    while is_there() {
        std::thread::yield_now();
    }
}

#[test]
#[cfg(target_os = "linux")]
fn an_agent_that_hangs_ends_with_its_time_and_its_children_with_it() {
    let world = World::new();
    world.agent("claude", HANGS);
    let short = Duration::from_millis(400);
    let limits = Limits { first_token: short, next_token: short, ..Limits::default() };
    let error = world.ask_with("claude-code/haiku", &plain(), limits).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Timeout(Wait::Total));
    wait_until_gone(&world.seen("child"));
}

#[test]
#[cfg(target_os = "linux")]
fn a_cancelled_agent_ends_with_its_children() {
    let world = World::new();
    world.agent("claude", HANGS);
    let route = world.models("claude-code/haiku").route(Role::Extract).unwrap();
    let source = Cancel::new();
    let control = control(Limits::default(), source.clone());
    let child = world.root.join("child");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let error = runtime.block_on(async {
        let request = plain();
        let mut sink = |_| {};
        let asked = generate(&route, &request, &control, &mut sink);
        let started = async {
            while !child.exists() {
                tokio::task::yield_now().await;
            }
            source.cancel();
        };
        tokio::join!(asked, started).0.unwrap_err()
    });
    assert_eq!(error.kind, ErrorKind::Cancelled);
    wait_until_gone(&world.seen("child"));
    let left = fs::read_dir(world.root.join("data/scratch")).unwrap().count();
    assert_eq!(left, 0, "its folder is removed");
}

#[test]
#[cfg(target_os = "linux")]
fn what_an_agent_leaves_running_ends_with_it() {
    let world = World::new();
    let script = format!(
        "sleep 1000 > /dev/null 2>&1 & echo $! > \"$WORLD/child\"\n{}",
        says(&good("claude-code/haiku", "yes"))
    );
    world.agent("claude", &script);
    assert_eq!(world.ask("claude-code/haiku", &plain()).unwrap().text(), "yes");
    wait_until_gone(&world.seen("child"));
}

#[test]
fn a_program_of_a_repository_is_not_started() {
    let world = World::new();
    let script = says(&good("claude-code/haiku", "evil"));
    world.program(&world.root.join("repository/node_modules/.bin"), "claude", &script);
    world.program(&world.root.join("repository"), "tool", &script);
    std::os::unix::fs::symlink(world.root.join("repository/tool"), world.root.join("bin/claude"))
        .unwrap();
    let path = format!(
        "{}:node_modules/.bin:.:{}",
        world.root.join("repository/node_modules/.bin").display(),
        world.root.join("bin").display(),
    );
    let settings = ProgramSettings::new(path, &[world.root.join("repository")]);
    assert_eq!(KNOWN_PROGRAMS[0].find(&settings), None);
    // The same applies to interpreters: `#!/usr/bin/env node` searches the `PATH` that the program
    // receives.
    assert_eq!(settings.path(), world.root.join("bin").into_os_string());
    let error = world.models("claude-code/haiku").route(Role::Extract).err().unwrap();
    assert_eq!(error.to_string(), "Claude Code is not installed: `claude` not found in PATH");
    drop(world.folder);
}

#[test]
fn an_agent_that_answers_for_nacre_starts_no_other() {
    let world = World::new();
    world.agent("claude", &says(&good("claude-code/haiku", "yes")));
    let mut programs = world.settings();
    programs.is_child = true;
    let default = Some(RoleSettings::of_model("claude-code/haiku".parse().unwrap()));
    let models = Models::new(ModelSettings { default, programs, ..ModelSettings::default() });
    let error = models.route(Role::Extract).err().unwrap();
    assert_eq!(
        error.to_string(),
        "Nacre is running inside an agent that it started, so it cannot call Claude Code"
    );
}

#[test]
fn tools_are_called_by_a_step_in_json() {
    let world = World::new();
    let step = json!({ "say": "I look.", "calls": [{ "name": "file_read", "arguments": "{\"path\": \"a.rs\"}" }] });
    world.agent("codex", &says(&good("codex/default", &step.to_string())));
    let schema = json!({ "type": "object", "properties": { "path": { "type": "string" } } });
    let tool = ToolDef { name: "file_read".to_owned(), description: "Reads.".to_owned(), schema };
    let request = Request { tools: vec![tool], ..plain() };
    let response = world.ask("codex/default", &request).unwrap();
    assert_eq!(response.text(), "I look.");
    let calls: Vec<_> = response
        .calls()
        .iter()
        .map(|call| (call.name.clone(), call.arguments.as_object()))
        .collect();
    assert_eq!(calls, [("file_read".to_owned(), json!({ "path": "a.rs" }))]);
    world.agent("codex", &says(&good("codex/default", "{\"say\": \"Done.\", \"calls\": []}")));
    let response = world.ask("codex/default", &request).unwrap();
    assert_eq!((response.text().as_str(), response.calls().len()), ("Done.", 0));
}

#[test]
fn the_versions_of_all_agents_are_told_and_one_that_fails_has_none() {
    let world = World::new();
    world.agent("claude", "echo '2.1.197 (Claude Code)'").agent("codex", "exit 1");
    let settings = world.settings();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let found = runtime.block_on(find_installed_programs(&settings));
    let shown: Vec<_> =
        found.iter().map(|one| (one.known.provider, one.version.as_deref())).collect();
    assert_eq!(shown, [("claude-code", Some("2.1.197")), ("codex", None)]);
    assert!(!world.root.join("data").exists(), "nothing is written for it");
}

#[test]
fn events_come_in_order_and_usage_is_told_before_the_text() {
    let world = World::new();
    world.agent("claude", &says(&good("claude-code/haiku", "yes")));
    let route = world.models("claude-code/haiku").route(Role::Extract).unwrap();
    let control = control(Limits::default(), Cancel::new());
    let mut events = Vec::new();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let asked =
        runtime.block_on(generate(&route, &plain(), &control, &mut |event| events.push(event)));
    let model = asked.unwrap().model;
    assert_eq!(events.first(), Some(&ModelEvent::Started { model }));
    assert!(
        matches!(events.get(1), Some(ModelEvent::Usage(usage)) if usage.input == 1000),
        "{events:?}"
    );
    assert!(events.contains(&ModelEvent::Text("yes".to_owned())));
}
