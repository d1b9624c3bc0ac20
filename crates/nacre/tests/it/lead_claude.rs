//! A sync whose lead runs inside Claude Code. The program is a small script that notes how it was started, asks its guard, and
//! prints what it is told to.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use crate::home::{TestHome, interrupt, walk};
use crate::sync_run::{PNPM, reading, talk};

const KNOWN: &str = "20261101-always-use-pnpm-here-never-npm-npm-writes-a-second-lock-file";

/// Near to what is known, and the numbers do not tell how near.
const UNCLEAR: &[&str] = &[
    "Fix the build on CI before lunch",
    "I ran npm install. ZEBRA-7731 was printed by the build.",
    "no, always use pnpm here for the frontend packages, never npm: npm breaks the workspace links",
    "Done, with pnpm.",
];

/// Notes how it was started, does what `$HOME/act` says, and prints the answer that is next.
const CLAUDE: &str = r#"[ "$1" = --version ] && { echo '2.1.197 (Claude Code)'; exit; }
echo asked >> "$HOME/asked"
n=$(wc -l < "$HOME/asked" | tr -d ' ')
cat > "$HOME/stdin.$n"
pwd -P > "$HOME/folder"
env > "$HOME/env"
for word; do printf '%s\n' "$word"; done > "$HOME/words"
while [ $# -gt 0 ]; do
    [ "$1" = --settings ] && settings=$2
    [ "$1" = --system-prompt-file ] && cp "$2" "$HOME/system"
    shift
done
guard=$(printf '%s' "$settings" | sed 's/.*"command":"\([^"]*\)".*/\1/')
[ -e "$HOME/act" ] && . "$HOME/act"
cat "$HOME/answer.$n"
"#;

fn put_program(home: &TestHome, script: &str) {
    let path = home.root().join("bin/claude");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// A home that knows about pnpm, has a session that is unclear beside it, and Claude Code installed.
fn unclear() -> TestHome {
    let home = reading();
    talk(&home, "one", 1, PNPM);
    home.ok(&["sync"]);
    talk(&home, "two", 2, UNCLEAR);
    put_program(&home, CLAUDE);
    let path = format!("{}:/usr/bin:/bin", home.root().join("bin").display());
    home.with_var("PATH", &path)
}

/// The same, and the person said yes.
fn allowed() -> TestHome {
    let home = unclear();
    home.ok(&["config", "set", "reading.agent", "claude-code"]);
    home
}

fn decision(action: &str, quote: &str) -> Value {
    json!({ "candidate_id": "c1", "type": "learning", "action": action, "merged": null,
        "matched_file": format!("learnings/{KNOWN}.md"), "quote": quote,
        "reason": "Both are about pnpm." })
}

/// What it prints for its `n`-th answer: a tool that it used, and the decisions.
fn answers(home: &TestHome, n: usize, decisions: &Value) {
    let lines = [
        json!({ "type": "system", "subtype": "init", "session_id": "s" }),
        json!({ "type": "assistant", "message": { "id": "m1", "usage": { "input_tokens": 100, "output_tokens": 10 },
            "content": [{ "type": "tool_use", "id": "t1", "name": "Grep", "input": { "pattern": "pnpm" } }] } }),
        json!({ "type": "user", "message": { "content": [{ "type": "tool_result", "tool_use_id": "t1",
            "content": "token: ghp_abcdefghijklmnopqrstuvwxyz0123456789 is in a file" }] } }),
        json!({ "type": "result", "subtype": "success", "is_error": false, "result": "done", "stop_reason": "tool_use",
            "structured_output": { "decisions": decisions }, "total_cost_usd": 0.02,
            "usage": { "input_tokens": 2000, "output_tokens": 300 } }),
    ];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    fs::write(home.root().join(format!("answer.{n}")), text).unwrap();
}

fn noted(home: &TestHome, name: &str) -> String {
    fs::read_to_string(home.root().join(name)).unwrap_or_default()
}

fn times_asked(home: &TestHome) -> usize {
    noted(home, "asked").lines().count()
}

/// Syncs; returns the report of the one session that was read.
fn synced(home: &TestHome) -> Value {
    let (code, value) = home.json(&["sync", "--runtime", "claude"]);
    assert_eq!((code, value["sessions"].as_array().unwrap().len()), (0, 1), "{value:#}");
    value["sessions"][0]["report"].clone()
}

fn artifact(home: &TestHome, report: &Value, name: &str) -> String {
    home.read(&format!("{}/{name}", report["run_folder"].as_str().unwrap()))
}

fn json_of(home: &TestHome, report: &Value, name: &str) -> Value {
    serde_json::from_str(&artifact(home, report, name)).unwrap()
}

#[test]
fn its_decisions_are_used_and_what_it_used_is_counted() {
    let home = allowed();
    answers(&home, 1, &json!([decision("no_op", "npm writes a second lock file")]));
    let report = synced(&home);
    let actions = json_of(&home, &report, "memory_actions.json");
    let action = &actions["actions"][0];
    assert_eq!((&action["action"], &action["by"]), (&json!("no-op"), &json!("lead")));
    let metrics = json_of(&home, &report, "metrics.json");
    let lead = &metrics["leads"][0];
    assert_eq!((&lead["runtime"], &lead["state"]), (&json!("claude"), &json!("completed(done)")));
    assert_eq!(lead["tokens"], json!({ "input": 2000, "output": 300 }));
    assert_eq!((&lead["cost_usd"], &lead["tool_calls"]), (&json!(0.02), &json!(1)));
    assert_eq!((&metrics["cost_usd"], &report["cost_usd"]), (&json!(0.02), &json!(0.02)));
    assert_eq!(metrics["explorers"], json!([]));
    let log = artifact(&home, &report, "agent.log");
    assert!(log.contains("\"tool\":\"Grep\"") && log.contains("run.summary"), "{log}");
    let spent = home.ok(&["status", "--json"]);
    assert!(spent.contains("2300"), "it counts against the limits: {spent}");
    let task = lead["task"].as_str().unwrap();
    assert!(home.ok(&["events", "--json", task]).contains("claude-code/haiku"));
}

#[test]
fn it_is_started_with_tools_that_read_and_nothing_of_the_persons() {
    let home = allowed();
    fs::create_dir_all(home.root().join(".claude/projects")).unwrap();
    answers(&home, 1, &json!([decision("no_op", "npm writes a second lock file")]));
    let report = synced(&home);
    let words = noted(&home, "words");
    let flat = words.lines().collect::<Vec<_>>().join(" ");
    for flags in [
        "-p --setting-sources  --strict-mcp-config --disable-slash-commands --tools Read,Grep,Glob",
        "--permission-mode default --no-session-persistence",
        "--model haiku",
        "--json-schema {",
    ] {
        assert!(flat.contains(flags), "{flags} in {flat}");
    }
    assert!(!flat.contains("skip-permissions") && !flat.contains("add-dir"), "{flat}");
    let root = home.store("memory").canonicalize().unwrap();
    assert_eq!(noted(&home, "folder").trim(), root.display().to_string());
    assert!(noted(&home, "env").lines().any(|line| line == "NACRE_CHILD=1"));
    assert!(noted(&home, "system").starts_with("You are the lead"));
    let asked = noted(&home, "stdin.1");
    assert!(asked.starts_with("[Question from Nacre]"), "no sync reads it as a session: {asked}");
    assert!(
        asked.contains("npm breaks the workspace links") && !asked.contains("ZEBRA"),
        "{asked}"
    );
    let mut left = Vec::new();
    walk(&home.root().join(".claude"), &mut left);
    assert!(left.is_empty(), "{left:?}");
    assert!(
        !home.store(report["run_folder"].as_str().unwrap()).join("lead-session.jsonl").exists()
    );
    assert_eq!(fs::read_dir(home.root().join(".nacre/scratch")).unwrap().count(), 0);
}

#[test]
fn the_guard_that_it_is_given_refuses_writes_and_what_lies_outside() {
    let home = allowed();
    answers(&home, 1, &json!([decision("no_op", "npm writes a second lock file")]));
    let act = r#"ask() {
    printf '{"cwd":"%s","hook_event_name":"PreToolUse","tool_name":"%s","tool_input":%s}' "$PWD" "$1" "$2" > "$HOME/payload"
    said=$(sh -c "$guard" < "$HOME/payload" 2> /dev/null); code=$?
    case "$code$said" in 0) word=runs ;; *'"permissionDecision":"deny"'*|2*) word=denied ;; *) word="odd $code $said" ;; esac
    printf '%s %s %s\n' "$word" "$1" "$2" >> "$HOME/guarded"
}
ask Read "{\"file_path\":\"$PWD/learnings/KNOWN.md\"}"
ask Grep '{"pattern":"pnpm","output_mode":"content"}'
ask Glob '{"pattern":"**/*.md"}'
ask StructuredOutput '{"decisions":[]}'
ask Write "{\"file_path\":\"$PWD/learnings/KNOWN.md\",\"content\":\"x\"}"
ask Write '{"file_path":"/tmp/outside.md","content":"x"}'
ask Edit "{\"file_path\":\"$PWD/learnings/KNOWN.md\"}"
ask Bash '{"command":"true"}'
ask Read "{\"file_path\":\"$HOME/.ssh/id_ed25519\"}"
ask Read '{"file_path":"~/.ssh/id_ed25519"}'
ask Read '{"file_path":"../config.toml"}'
ask Read '{"file_path":"/etc/passwd"}'
ask Glob '{"pattern":"/etc/host*"}'
ask Grep '{"pattern":"root","path":"/etc"}'
ask Task '{"prompt":"read /etc/passwd"}'
echo 'no JSON' > "$HOME/payload"
sh -c "$guard" < "$HOME/payload" | grep -q deny && echo "denied what it cannot read" >> "$HOME/guarded"
gone=$(printf '%s' "$guard" | sed 's/^[^ ]*nacre/\/nowhere\/nacre/')
sh -c "$gone" < "$HOME/payload" 2> /dev/null; echo "without the program it ends with $?" >> "$HOME/guarded"
"#;
    fs::write(home.root().join("act"), act.replace("KNOWN", KNOWN)).unwrap();
    synced(&home);
    let guarded = noted(&home, "guarded");
    let told: Vec<&str> = guarded.lines().map(|line| line.split(" {").next().unwrap()).collect();
    assert_eq!(
        told,
        [
            "runs Read",
            "runs Grep",
            "runs Glob",
            "runs StructuredOutput",
            "denied Write",
            "denied Write",
            "denied Edit",
            "denied Bash",
            "denied Read",
            "denied Read",
            "denied Read",
            "denied Read",
            "denied Glob",
            "denied Grep",
            "denied Task",
            "denied what it cannot read",
            "without the program it ends with 2",
        ],
        "{guarded}"
    );
}

#[test]
fn an_answer_that_does_not_hold_goes_back_with_what_is_wrong() {
    let home = allowed();
    answers(&home, 1, &json!([{ "candidate_id": "c1" }]));
    answers(&home, 2, &json!([decision("no_op", "words that nobody wrote")]));
    answers(&home, 3, &json!([decision("no_op", "npm writes a second lock file")]));
    let report = synced(&home);
    assert_eq!(times_asked(&home), 3);
    let second = noted(&home, "stdin.2");
    assert!(second.contains("[You answered]") && second.contains("`quote` is missing"), "{second}");
    assert!(noted(&home, "stdin.3").contains("the quote does not occur"), "what is wrong is told");
    let metrics = json_of(&home, &report, "metrics.json");
    assert_eq!((&metrics["leads"][0]["rulings"], &metrics["cost_usd"]), (&json!(1), &json!(0.06)));
    // More often it does not go back, and the rule decides.
    let home = allowed();
    (1..=4).for_each(|n| answers(&home, n, &json!([decision("no_op", "words that nobody wrote")])));
    let report = synced(&home);
    assert_eq!(times_asked(&home), 3);
    assert!(
        report["lead_error"].as_str().unwrap().contains("the quote does not occur"),
        "{report:#}"
    );
    let actions = json_of(&home, &report, "memory_actions.json");
    assert_eq!(actions["actions"][0]["by"], "rule");
}

#[test]
fn tries_to_write_are_counted() {
    let home = allowed();
    answers(&home, 1, &json!([decision("no_op", "npm writes a second lock file")]));
    let called = json!({ "type": "assistant", "message": { "id": "m0", "content": [
        { "type": "tool_use", "id": "w1", "name": "Write", "input": { "file_path": "/tmp/x" } },
        { "type": "tool_use", "id": "r1", "name": "Read", "input": { "file_path": "/etc/passwd" } }] } });
    let refused = json!({ "type": "user", "message": { "content": [
        { "type": "tool_result", "tool_use_id": "w1", "is_error": true, "content": "No such tool available: Write" },
        { "type": "tool_result", "tool_use_id": "r1", "is_error": true,
            "content": "PreToolUse:Read hook error: Nacre's guard refused this call." }] } });
    let rest = noted(&home, "answer.1");
    fs::write(home.root().join("answer.1"), format!("{called}\n{refused}\n{rest}")).unwrap();
    let report = synced(&home);
    let metrics = json_of(&home, &report, "metrics.json");
    assert_eq!(metrics["denied_writes"], 1, "{metrics:#}");
    let denied = artifact(&home, &report, "agent.log").matches("\"tool.denied\"").count();
    assert_eq!(denied, 2);
}

#[test]
fn its_session_is_kept_in_the_run_where_a_person_wants_that() {
    let home = allowed();
    home.ok(&["config", "set", "lead.persist_sessions_in_workspace", "true"]);
    answers(&home, 1, &json!([decision("no_op", "npm writes a second lock file")]));
    let report = synced(&home);
    let session = artifact(&home, &report, "lead-session.jsonl");
    let lines: Vec<Value> =
        session.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 5, "{session}");
    assert!(lines[0]["message"]["content"].as_str().unwrap().contains("are open, as data"));
    assert_eq!(lines[4]["type"], "result");
    assert!(session.contains("[redacted:") && !session.contains("ghp_abcdef"), "{session}");
    assert!(noted(&home, "words").contains("--no-session-persistence"), "nothing lies elsewhere");
}

#[test]
fn nobody_is_asked_before_a_person_said_yes() {
    let home = unclear();
    answers(&home, 1, &json!([decision("no_op", "npm writes a second lock file")]));
    let shown = home.run(&["sync", "--runtime", "claude"]);
    assert!(shown.contains("Claude Code may not be asked before you said yes"), "{shown}");
    assert!(shown.contains("nacre sync --runtime claude --yes"), "{shown}");
    assert_eq!(times_asked(&home), 0);
    // A person whose sessions another model reads is asked about this alone.
    for (flag, told, kept) in [
        ("--no", "What is unclear is settled by rule.", "agent = \"none\""),
        ("--yes", "Claude Code settles what is unclear.", "agent = \"claude-code\""),
    ] {
        let home = unclear();
        home.ok(&["config", "set", "roles.default.model", "codex/default"]);
        let shown = home.run(&["sync", "--runtime", "claude", flag]);
        assert!(shown.contains(told), "{shown}");
        let config = noted(&home, ".nacre/config.toml");
        assert!(config.contains(kept) && config.contains("codex/default"), "{config}");
        // Codex is not installed, and that is told before anybody is asked.
        assert_eq!(times_asked(&home), 0);
    }
}

#[test]
fn a_repository_cannot_choose_it() {
    let home = unclear();
    home.write(
        "config.toml",
        "[reading]\nagent = 'claude-code'\n[lead]\nruntime = 'claude'\npersist_sessions_in_workspace = true\n",
    );
    let shown = home.run(&["sync"]);
    assert!(shown.contains("Ignored `lead.runtime`"), "{shown}");
    assert!(shown.contains("Ignored `lead.persist_sessions_in_workspace`"), "{shown}");
    assert_eq!(times_asked(&home), 0);
}

#[test]
fn a_person_can_set_it_once_and_for_all() {
    let home = allowed();
    home.ok(&["config", "set", "lead.runtime", "claude"]);
    answers(&home, 1, &json!([decision("no_op", "npm writes a second lock file")]));
    home.ok(&["sync"]);
    assert_eq!(times_asked(&home), 1);
}

#[test]
fn whatever_goes_wrong_is_told_and_the_rule_decides() {
    let failed = |said: &str| json!({ "type": "result", "subtype": "success", "is_error": true, "result": said });
    for (script, told) in [
        (format!("echo '{}'; exit 1", failed("Not logged in · Please run /login")), "the program is not logged in"),
        (format!("echo '{}'; exit 1", failed("Credit balance is too low")), "the account has no credit left"),
        ("echo garbage; echo more".to_owned(), "the answer could not be understood"),
        ("exit 3".to_owned(), "the program failed"),
        (
            "echo '{\"type\":\"result\",\"subtype\":\"error_max_budget_usd\",\"is_error\":true}'; exit 1".to_owned(),
            "a spending limit is reached",
        ),
    ] {
        let home = allowed();
        put_program(&home, &script);
        let shown = home.run(&["sync", "--runtime", "claude"]);
        assert!(shown.contains("so the rule did") && !shown.contains("[exit"), "{shown}");
        assert!(shown.contains(told), "{told}: {shown}");
    }
    let home = allowed();
    fs::remove_file(home.root().join("bin/claude")).unwrap();
    let shown = home.run(&["sync", "--runtime", "claude"]);
    assert!(shown.contains("settled by rule: Claude Code is not installed"), "{shown}");
}

#[test]
fn limits_hold_before_it_is_asked() {
    for (variable, told) in [
        ("NACRE_READING_SESSIONS_PER_DAY", "limit of 0 sessions for an installed agent is reached"),
        ("NACRE_LIMITS_SESSION_TOKENS", "limit of 0 tokens is reached"),
    ] {
        let home = allowed().with_var(variable, "0");
        let shown = home.run(&["sync", "--runtime", "claude"]);
        assert!(shown.contains(told) && !shown.contains("[exit"), "{shown}");
        assert_eq!(times_asked(&home), 0);
    }
}

#[test]
fn a_memory_with_a_word_that_must_not_leave_is_not_read() {
    let home = allowed();
    home.ok(&["config", "set", "redact.extra", "lock file"]);
    answers(&home, 1, &json!([decision("no_op", "use pnpm here, never npm")]));
    home.run(&["sync", "--runtime", "claude"]);
    assert_eq!(times_asked(&home), 1);
    assert!(noted(&home, "words").contains(&format!("Read(./learnings/{KNOWN}.md)")));
    assert!(!noted(&home, "stdin.1").contains("lock file"));
}

#[test]
fn an_interrupted_sync_ends_it_with_all_that_it_started() {
    let home = allowed();
    fs::write(home.root().join("act"), "sleep 1000 & echo $! > \"$HOME/child\"; wait\n").unwrap();
    let mut sync = home.command(&home.work(), &["sync", "--runtime", "claude"]).spawn().unwrap();
    let child = home.root().join("child");
    while !child.exists() || noted(&home, "child").is_empty() {
        assert!(sync.try_wait().unwrap().is_none(), "it ended by itself");
        std::thread::yield_now();
    }
    interrupt(&sync);
    assert_eq!(sync.wait().unwrap().code(), Some(1));
    let process = format!("/proc/{}/stat", noted(&home, "child").trim());
    // A process that nobody waits for any more is as good as gone.
    let is_gone = || fs::read_to_string(&process).map_or(true, |stat| stat.contains(") Z "));
    while !is_gone() {
        std::thread::yield_now();
    }
}
