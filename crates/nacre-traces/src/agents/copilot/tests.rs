//! Tests that parse handwritten logs and compare the resulting events.

use super::*;
use crate::transcript::tests::*;
use crate::transcript::toolkit::*;

const NAME: &str = "s1/events.jsonl";

fn event(n: u32, kind: &str, data: &str) -> String {
    format!(
        r#"{{"type":"{kind}","data":{data},"id":"e{n}","timestamp":"2026-06-23T05:17:{n:02}.000Z","parentId":null}}"#
    ) + "\n"
}

fn start() -> String {
    event(
        0,
        "session.start",
        r#"{"sessionId":"s1","copilotVersion":"1.0.102","selectedModel":"gpt","context":{"cwd":"/home/u/p","branch":"main","repository":"o/r","repositoryHost":"github.com"}}"#,
    )
}

#[track_caller]
fn expect(content: &str, expected: &[&str]) {
    check(&Copilot, NAME, content, expected);
}

#[test]
fn a_talk_with_a_tool() {
    let content = start()
        + &event(
            1,
            "user.message",
            r#"{"content":"Use tabs","transformedContent":"<current_datetime>now</current_datetime>\n\nUse tabs\n\n<system_reminder>x</system_reminder>"}"#,
        )
        + &event(2, "assistant.turn_start", "{}")
        + &event(
            3,
            "assistant.message",
            r#"{"content":"I look","model":"gpt-x","reasoningText":"Hm","outputTokens":7,"toolRequests":[{"toolCallId":"c1","name":"bash","arguments":{"command":"ls"}}]}"#,
        )
        + &event(
            4,
            "tool.execution_start",
            r#"{"toolCallId":"c1","toolName":"bash","arguments":{"command":"ls"}}"#,
        )
        + &event(5, "hook.start", r#"{"input":{"prompt":"Use tabs"}}"#)
        + &event(
            6,
            "tool.execution_complete",
            r#"{"toolCallId":"c1","success":true,"result":{"content":"a.txt"}}"#,
        )
        + &event(
            7,
            "assistant.message",
            r#"{"content":"Done","toolRequests":[],"outputTokens":3}"#,
        )
        + &event(8, "assistant.turn_end", "{}");
    expect(
        &content,
        &[
            "user injected.environment: <current_datetime>now</current_datetime>\\n\\n\\n\\n<system_reminder>x</system_reminder>",
            "user person.prompt: Use tabs",
            "reasoning agent: Hm",
            "assistant agent: I look",
            r#"tool_call agent bash#c1: {"command":"ls"}"#,
            "tool_result tool bash#c1: a.txt",
            "assistant agent: Done",
        ],
    );
    let (_, outcome) = read(&Copilot, NAME, content);
    let facts = outcome.facts;
    assert_eq!((facts.id.as_str(), facts.cwd.as_deref()), ("s1", Some("/home/u/p")));
    assert_eq!(facts.repository.as_deref(), Some("https://github.com/o/r"));
    assert_eq!(facts.models, ["gpt", "gpt-x"]);
    assert_eq!((facts.tokens.output, facts.ending), (10, Ending::Finished));
    assert_eq!(outcome.report.unknown_records, 0);
}

#[test]
fn a_call_is_given_once_wherever_it_is_told_first() {
    let begun =
        event(1, "tool.execution_start", r#"{"toolCallId":"c1","toolName":"bash","arguments":{}}"#);
    let asked = event(
        2,
        "assistant.message",
        r#"{"content":"","toolRequests":[{"toolCallId":"c1","name":"bash","arguments":"{\"a\":1}"}]}"#,
    );
    expect(&(begun.clone() + &asked), &["tool_call agent bash#c1: {}"]);
    expect(&(asked + &begun), &[r#"tool_call agent bash#c1: {"a":1}"#]);
    let failed = event(
        3,
        "tool.execution_complete",
        r#"{"toolCallId":"c1","success":false,"error":{"message":"denied"}}"#,
    );
    expect(
        &(begun + &failed),
        &["tool_call agent bash#c1: {}", "tool_result tool ! bash#c1: denied"],
    );
}

#[test]
fn text_of_hooks_and_skills_is_injected() {
    let brief = event(
        1,
        "user.message",
        r#"{"content":"Use tabs","transformedContent":"Use tabs\n\n<nacre-brief>\nUse spaces\n</nacre-brief>"}"#,
    );
    expect(
        &brief,
        &[
            "user injected.nacre: <nacre-brief>\\nUse spaces\\n</nacre-brief>",
            "user person.prompt: Use tabs",
        ],
    );
    let skill = event(1, "user.message", r#"{"content":"Do it so","source":"skill-pdf"}"#);
    expect(&skill, &["user injected.host: Do it so"]);
    let notice = event(
        1,
        "system.notification",
        r#"{"content":"<system_notification>done</system_notification>"}"#,
    );
    expect(
        &notice,
        &["user injected.task_notice: <system_notification>done</system_notification>"],
    );
}

#[test]
fn a_sub_agents_talk_stands_apart() {
    let content = event(
        1,
        "assistant.message",
        r#"{"parentToolCallId":"c0","content":"Found","toolRequests":[]}"#,
    );
    expect(&content, &["assistant agent ~sidechain: Found"]);
}

#[test]
fn the_end_tells_all_tokens() {
    let content = start()
        + &event(1, "user.message", r#"{"content":"x"}"#)
        + &event(
            2,
            "session.shutdown",
            r#"{"modelMetrics":{"a":{"usage":{"inputTokens":100,"outputTokens":5,"cacheReadTokens":80,"cacheWriteTokens":3}},"b":{"usage":{"inputTokens":1,"outputTokens":1}}}}"#,
        );
    let (_, outcome) = read(&Copilot, NAME, content);
    let tokens = Tokens { input: 21, output: 6, cached: 80, cache_write: 3, reasoning: 0 };
    assert_eq!((outcome.facts.tokens, outcome.facts.ending), (tokens, Ending::Finished));
    let newer = event(
        1,
        "session.shutdown",
        r#"{"accountingSnapshot":{"modelMetrics":{"a":{"usage":{"inputTokens":9}}}}}"#,
    );
    assert_eq!(read(&Copilot, NAME, newer).1.facts.tokens.input, 9);
}

#[test]
fn errors_aborts_and_compactions_are_noted() {
    let content = event(1, "session.error", r#"{"message":"no model"}"#)
        + &event(2, "abort", r#"{"reason":"user_initiated"}"#)
        + &event(3, "session.compaction_complete", r#"{"summaryContent":"So far"}"#)
        + &event(4, "session.brand_new", "{}");
    let (events, outcome) = read(&Copilot, NAME, content);
    let shown = show(&events);
    let shown: Vec<&str> = shown.lines().take(4).collect();
    assert_eq!(
        shown,
        [
            "meta host !: no model",
            "meta host: user_initiated",
            "compaction host: ",
            "summary injected.compaction_summary: So far",
        ]
    );
    assert_eq!(outcome.report.unknown_types["session.brand_new"], 1);
}

#[test]
fn the_title_stands_beside_the_events() {
    let trace = TestTrace::new(NAME, start());
    write(&trace.path.with_file_name("workspace.yaml"), b"id: s1\nname: Use tabs\n");
    let (_, outcome) = trace.read(&Copilot, None);
    assert_eq!(outcome.facts.title.as_deref(), Some("Use tabs"));
}

#[test]
fn sessions_of_both_layouts_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join(".copilot/session-state");
    for name in ["a/events.jsonl", "b.jsonl", "a/workspace.yaml", "a/files/x.jsonl"] {
        write(&state.join(name), b"{}\n");
    }
    let found = Copilot.discover(&Copilot.roots(&Homes::at(folder.path())));
    let ids: Vec<String> = found.sources.iter().map(|source| id_of(&source.path)).collect();
    assert_eq!(ids, ["a", "b"]);
    let homes = Homes::at(folder.path()).with("COPILOT_HOME", "/c");
    assert_eq!(Copilot.roots(&homes), [PathBuf::from("/c/session-state")]);
}
