//! Tests that parse handwritten transcripts and compare the resulting events.

use super::*;
use crate::transcript::tests::*;
use crate::transcript::toolkit::*;

const NAME: &str = "s1.jsonl";

fn record(n: u32, kind: &str, rest: &str) -> String {
    let parent = match n {
        1 => "null".to_owned(),
        _ => format!("\"u{}\"", n - 1),
    };
    format!(
        r#"{{"uuid":"u{n}","parentUuid":{parent},"sessionId":"s1","timestamp":"2026-08-17T12:00:{n:02}.000Z","type":"{kind}","cwd":"/home/u/p","version":"0.15.10","gitBranch":"main",{rest}}}"#
    ) + "\n"
}

fn user(n: u32, text: &str) -> String {
    record(n, "user", &format!(r#""message":{{"role":"user","parts":[{{"text":"{text}"}}]}}"#))
}

fn model(n: u32, parts: &str) -> String {
    record(
        n,
        "assistant",
        &format!(
            r#""model":"coder","usageMetadata":{{"promptTokenCount":100,"cachedContentTokenCount":40,"candidatesTokenCount":5,"thoughtsTokenCount":2,"totalTokenCount":105}},"message":{{"role":"model","parts":{parts}}}"#
        ),
    )
}

#[track_caller]
fn expect(content: &str, expected: &[&str]) {
    check(&Qwen, NAME, content, expected);
}

#[test]
fn a_talk_with_a_tool() {
    let content = user(1, "Use tabs")
        + &model(
            2,
            r#"[{"text":"Hm","thought":true},{"functionCall":{"id":"c1","name":"run_shell_command","args":{"command":"ls"}}}]"#,
        )
        + &record(
            3,
            "tool_result",
            r#""message":{"role":"user","parts":[{"functionResponse":{"id":"c1","name":"run_shell_command","response":{"output":"a.txt"}}}]},"toolCallResult":{"callId":"c1","status":"success"}"#,
        )
        + &model(4, r#"[{"text":"Done"}]"#);
    expect(
        &content,
        &[
            "user person.prompt: Use tabs",
            "reasoning agent: Hm",
            r#"tool_call agent run_shell_command#c1: {"command":"ls"}"#,
            "tool_result tool run_shell_command#c1: a.txt",
            "assistant agent: Done",
        ],
    );
    let (_, outcome) = read(&Qwen, NAME, content);
    let facts = outcome.facts;
    assert_eq!((facts.id.as_str(), facts.cwd.as_deref()), ("s1", Some("/home/u/p")));
    assert_eq!(
        (facts.git_branch.as_deref(), facts.models),
        (Some("main"), vec!["coder".to_owned()])
    );
    assert_eq!(facts.agent_version.as_deref(), Some("0.15.10"));
    // According to the total, the output already includes the thought tokens.
    let tokens = Tokens { input: 120, output: 10, cached: 80, cache_write: 0, reasoning: 4 };
    assert_eq!((facts.tokens, facts.ending), (tokens, Ending::Finished));
    assert_eq!(facts.started.unwrap().to_string(), "2026-08-17T12:00:01Z");
    assert_eq!(facts.last_activity.unwrap().to_string(), "2026-08-17T12:00:04Z");
}

#[test]
fn a_failed_call_is_an_error() {
    let result = |status: &str, response: &str| {
        record(
            2,
            "tool_result",
            &format!(
                r#""message":{{"parts":[{{"functionResponse":{{"id":"c1","name":"x","response":{response}}}}}]}},"toolCallResult":{{"status":"{status}"}}"#
            ),
        )
    };
    expect(&result("error", r#"{"output":"no"}"#), &["tool_result tool ! ?#c1: no"]);
    expect(&result("success", r#"{"error":"no"}"#), &["tool_result tool ! ?#c1: no"]);
    expect(&result("cancelled", r#"{"x":1}"#), &[r#"tool_result tool ! ?#c1: {"x":1}"#]);
}

#[test]
fn what_hooks_and_files_add_is_not_the_persons() {
    let content = record(
        1,
        "user",
        r#""message":{"parts":[{"text":"Look at @a.txt"},{"text":"\n--- Content from referenced files ---"},{"text":"<nacre-memory>\nUse spaces\n</nacre-memory>"},{"text":"<qwen:user-prompt-submit-context>\nBe brief\n</qwen:user-prompt-submit-context>"}]}"#,
    );
    expect(
        &content,
        &[
            "user person.prompt: Look at @a.txt",
            "user injected.editor_context: --- Content from referenced files ---",
            "user injected.nacre: <nacre-memory>\\nUse spaces\\n</nacre-memory>",
            "user injected.hook: <qwen:user-prompt-submit-context>\\nBe brief\\n</qwen:user-prompt-submit-context>",
        ],
    );
}

#[test]
fn subtypes_say_who_wrote_a_user_record() {
    let part = r#""message":{"parts":[{"text":"x"}]}"#;
    let of = |rest: &str| record(1, "user", &format!("{rest},{part}"));
    expect(&of(r#""subtype":"notification""#), &["user injected.task_notice: x"]);
    expect(&of(r#""subtype":"mid_turn_user_message""#), &["user person.queued: x"]);
    expect(&of(r#""subtype":"cron""#), &["user injected.host: x"]);
    expect(&of(r#""provenance":"goal_runtime""#), &["user injected.host: x"]);
    expect(&of(r#""provenance":"real_user""#), &["user person.prompt: x"]);
}

#[test]
fn system_records_tell_of_the_session() {
    let system = |n: u32, subtype: &str, payload: &str| {
        record(n, "system", &format!(r#""subtype":"{subtype}","systemPayload":{payload}"#))
    };
    let content = system(1, "custom_title", r#"{"customTitle":"Tabs"}"#)
        + &system(
            2,
            "slash_command",
            r#"{"phase":"invocation","rawCommand":"/compress keep tabs"}"#,
        )
        + &system(3, "slash_command", r#"{"phase":"result","rawCommand":"/compress keep tabs"}"#)
        + &system(4, "chat_compression", r#"{"info":{"originalTokenCount":9}}"#)
        + &system(5, "ui_telemetry", "{}")
        + &system(6, "brand_new", "{}");
    let (events, outcome) = read(&Qwen, NAME, content);
    let shown = show(&events);
    let shown: Vec<&str> = shown.lines().collect();
    assert_eq!(
        shown[..3],
        [
            "user injected.command: /compress",
            "user person.command_args: keep tabs",
            r#"compaction host: {"originalTokenCount":9}"#,
        ]
    );
    assert_eq!(outcome.facts.title.as_deref(), Some("Tabs"));
    assert_eq!(outcome.report.unknown_types["system brand_new"], 1);
}

#[test]
fn what_was_rewound_is_marked() {
    let content = user(1, "Use tabs")
        + &model(2, r#"[{"text":"No"}]"#)
        + r#"{"uuid":"r","parentUuid":"u1","sessionId":"s1","type":"system","subtype":"rewind","systemPayload":{}}"#
        + "\n"
        + r#"{"uuid":"u9","parentUuid":"r","sessionId":"s1","type":"user","message":{"parts":[{"text":"Again"}]}}"#
        + "\n";
    let (events, outcome) = read(&Qwen, NAME, content);
    assert_eq!(events.len(), 3);
    assert_eq!(outcome.facts.undone, [Undone { from: 1, to: 1 }]);
}

#[test]
fn two_records_on_one_line_are_both_read() {
    let content = user(1, "Use tabs").trim_end().to_owned() + &model(2, r#"[{"text":"Ok"}]"#);
    let (events, outcome) = read(&Qwen, NAME, content);
    assert_eq!((events.len(), outcome.report.mended_lines, outcome.report.bad_lines), (2, 1, 0));
}

#[test]
fn a_sub_agents_talk_is_not_the_persons() {
    let content = user(1, "Find the tabs");
    let (events, outcome) = read(&Qwen, "subagents/s1/agent-7.jsonl", &content);
    assert_eq!(show(&events), "user agent ~sidechain: Find the tabs\n");
    let link = SessionLink { kind: LinkKind::Parent, session: "s1".to_owned(), call: None };
    assert_eq!((outcome.facts.id.as_str(), outcome.facts.links), ("agent-7@s1", vec![link]));
    let inside = record(1, "user", r#""isSidechain":true,"message":{"parts":[{"text":"x"}]}"#);
    expect(&inside, &["user agent ~sidechain: x"]);
    let copied = record(
        1,
        "user",
        r#""forkedFrom":{"sessionId":"s0","messageUuid":"u"},"message":{"parts":[{"text":"x"}]}"#,
    );
    expect(&copied, &["user person.prompt ~inherited: x"]);
}

#[test]
fn transcripts_are_found_in_the_usual_places() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["own/projects/p/chats/a.jsonl", "run/projects/p/chats/b.jsonl", "own/x.jsonl"] {
        write(&folder.path().join(name), b"{}\n");
    }
    let homes = Homes::at(folder.path())
        .with("QWEN_HOME", folder.path().join("own"))
        .with("QWEN_RUNTIME_DIR", folder.path().join("run"));
    assert_eq!(Qwen.discover(&Qwen.roots(&homes)).sources.len(), 2);
    let usual = Qwen.roots(&Homes::at(Path::new("/h")));
    assert_eq!(usual, [PathBuf::from("/h/.qwen/projects")]);
}
