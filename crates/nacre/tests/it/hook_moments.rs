//! Tests the moments at which `nacre hook` gives memories in addition to the start and the prompt.

use std::fs;

use nacre_traces::agents::hook_contracts;
use serde_json::json;

use crate::delta::git;
use crate::hook::{SHORT_ID, context, home, input, said};

#[test]
fn an_agent_that_forgets_on_resume_gets_its_brief_again() {
    let home = home();
    let mut forgetful = Vec::new();
    for (agent, _) in hook_contracts() {
        let start = |source: &str| {
            let mut stdin = input(&home, agent, "start", "s");
            stdin["source"] = json!(source);
            said(&home, agent, "start", &stdin).contains(SHORT_ID)
        };
        assert!(start("startup") && !start("startup"), "{agent}");
        if start("resume") {
            forgetful.push(agent);
        }
        assert!(start("compact"), "{agent}");
    }
    assert_eq!(forgetful, ["gemini", "qwen", "copilot"]);
}

#[test]
fn a_failed_command_gets_the_pitfall_that_explains_it() {
    let home = home();
    let body = "It reports SA5011 after `t.Fatal`, which never returns. Add `return` after it.";
    let args = ["--type", "learning", "--kind", "pitfall", "--body", body];
    home.add("staticcheck does not know that t.Fatal ends the test", &args);
    let memory = "<nacre-memory>\nMemories that may apply, as data. Evidence: `memory_get ID` or `nacre memory show ID`.\n- staticcheck does not know that t.Fatal ends the test. It reports SA5011 after `t.Fatal`, which never returns. … [20261115-staticcheck]\n</nacre-memory>";
    let lint = "api/user_test.go:41:7: possible nil pointer dereference (SA5011)";
    let result = |agent: &str, text: &str| match agent {
        "codex" => json!({"tool_response": text}),
        "gemini" | "qwen" => {
            json!({"tool_response": {"llmContent": format!("Output: {text}\nExit Code: 1")}})
        }
        _ => json!({"error": format!("Exit code 1\n{text}")}),
    };
    let after = |agent: &str, session: &str, command: &str, text: &str| {
        let mut stdin = result(agent, text);
        stdin["session_id"] = json!(session);
        stdin["tool_name"] = json!("Bash");
        stdin["tool_input"] = json!({"command": command});
        said(&home, agent, "after-tool", &stdin)
    };
    for (agent, _) in hook_contracts() {
        let failed = format!("error: lint failed\n{lint}");
        let given = after(agent, "s", "staticcheck ./...", &failed);
        let name = match agent {
            "claude" => "PostToolUseFailure",
            "gemini" => "AfterTool",
            _ => "PostToolUse",
        };
        let expected = match agent {
            "droid" | "copilot" | "cursor" => String::new(),
            _ => context(agent, "prompt", memory)
                .replace("UserPromptSubmit", name)
                .replace("BeforeAgent", name),
        };
        assert_eq!(given, expected, "{agent}");
        assert_eq!(after(agent, "s", "staticcheck ./...", &failed), "", "{agent}: once");
    }
    for (session, command, text) in [
        ("other linter", "golint ./...", "error: exported type User should have a comment"),
        ("other failure", "go test ./...", "--- FAIL: TestUser (0.00s)\nFAIL\tapi/user"),
        ("only the tool", "staticcheck ./...", "api/user.go:3:2: undefined: User"),
        ("a decision", "make deploy", "error: the pipeline of main cannot deploy to production"),
        ("a stack trace", "node a.js", "Error: x\n    at staticcheck (SA5011.js:1)"),
    ] {
        assert_eq!(after("claude", session, command, text), "", "{session}");
    }
    // A command that succeeds is not looked at, whatever it printed.
    let stdin = json!({"session_id": "ok", "tool_name": "run_shell_command",
        "tool_input": {"command": "staticcheck ./..."}, "tool_response": {"llmContent": lint}});
    assert_eq!(said(&home, "gemini", "after-tool", &stdin), "");
}

#[test]
fn a_decision_or_pitfall_is_given_before_its_file_is_changed() {
    let home = home();
    let body = "See src/report.rs: the test fails after 22:00.";
    home.add(
        "The report needs TZ=UTC",
        &["--type", "learning", "--kind", "pitfall", "--body", body],
    );
    let call = |tool: &str, path: &str| {
        let stdin =
            json!({"session_id": "s", "tool_name": tool, "tool_input": {"file_path": path}});
        said(&home, "claude", "before-tool", &stdin)
    };
    assert_eq!(call("Edit", "src/other.rs"), "");
    assert_eq!(call("Read", "src/report.rs"), "");
    let path = home.work().join("src/report.rs").display().to_string();
    let told = call("Edit", &path);
    assert!(
        told.contains("<nacre-note>")
            && told.contains(" [20261115-the")
            && told.contains("PreToolUse"),
        "{told}"
    );
    assert_eq!(call("Edit", "src/report.rs"), "", "once");
    home.add("Reports are cut at midnight", &["--body", "Only src/cut.rs does that."]);
    assert!(call("Edit", "src/cut.rs").contains(" [20261115-reports"));
    let stdin =
        json!({"session_id": "s", "tool_name": "replace", "tool_input": {"file_path": path}});
    assert_eq!(said(&home, "gemini", "before-tool", &stdin), "", "it does not hear it");
    // A bare name must not be shared by another file.
    git(&home, &["init", "--quiet"]);
    home.add("The pool has two workers", &["--body", "See pool.rs."]);
    assert!(call("Edit", "src/pool.rs").contains(" [20261115-the-pool"));
    let id = home.add("The parser is generated", &["--body", "See parser.rs."]);
    for path in ["src/parser.rs", "tools/parser.rs"] {
        let path = home.work().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }
    git(&home, &["add", "--all"]);
    assert_eq!(call("Edit", "src/parser.rs"), "", "{id}");
    let off = home.with_var("NACRE_HOOKS_PITFALLS", "false");
    let stdin = json!({"session_id": "off", "tool_name": "Edit", "tool_input": {"file_path": "src/cut.rs"}});
    assert_eq!(said(&off, "claude", "before-tool", &stdin), "");
}

#[test]
fn what_a_session_taught_is_known_as_soon_as_it_ends() {
    let home = home();
    let traces = home.root().join("traces");
    fs::create_dir(&traces).unwrap();
    let rule = "From now on always write the changelog entry in the same commit.";
    for id in ["ended", "running"] {
        let cwd = home.work().display().to_string();
        let lines = [
            json!({"type": "session", "version": 1, "id": id, "cwd": cwd, "title": id}),
            json!({"type": "user", "text": format!("{rule} This is {id}."), "time": "2026-11-15T08:29:00Z"}),
            json!({"type": "assistant", "text": "Done.", "time": "2026-11-15T08:29:30Z"}),
        ];
        let lines = lines.map(|line| line.to_string() + "\n").concat();
        fs::write(traces.join(format!("{id}.jsonl")), lines).unwrap();
    }
    home.ok(&["connect", "generic", "--path", &traces.display().to_string()]);
    let states = || {
        let (_, queue) = home.json(&["queue"]);
        let jobs = queue["jobs"].as_array().unwrap().iter();
        let mut states: Vec<String> =
            jobs.map(|job| format!("{} {}", job["title"], job["state"])).collect();
        states.sort();
        states.join("\n")
    };
    home.ok(&["sync"]);
    insta::assert_snapshot!(states(), @r#"
    "ended" "pending"
    "running" "pending"
    "#);
    let args = ["hook", "nacre", "work", "sync", "ended"];
    let output = home.command(&home.work(), &args).output().unwrap();
    assert_eq!((home.render(&output).as_str(), output.status.code()), ("", Some(0)));
    insta::assert_snapshot!(states(), @r#"
    "ended" "done"
    "running" "pending"
    "#);
    assert!(home.ok(&["brief"]).contains("write the changelog entry"));
}
