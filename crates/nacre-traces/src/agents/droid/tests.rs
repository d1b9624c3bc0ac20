//! Tests that parse handwritten transcripts and compare the resulting events.

use super::*;
use crate::transcript::tests::*;
use crate::transcript::toolkit::*;

const NAME: &str = "s1.jsonl";
const START: &str = r#"{"type":"session_start","id":"s1","title":"Tabs","owner":"u","version":2,"cwd":"/home/u/p"}
"#;

fn message(id: &str, parent: &str, message: &str) -> String {
    format!(
        r#"{{"type":"message","id":"{id}","parentId":"{parent}","timestamp":"2026-11-16T14:53:30.000Z","message":{message}}}"#
    ) + "\n"
}

#[track_caller]
fn expect(content: &str, expected: &[&str]) {
    check(&Droid, NAME, content, expected);
}

#[test]
fn a_talk_with_a_tool() {
    let content = START.to_owned()
        + &message(
            "a",
            "",
            r#"{"role":"user","content":[{"type":"text","text":"<system-reminder>\nTools\n</system-reminder>"},{"type":"text","text":"Use tabs"}]}"#,
        )
        + &message(
            "b",
            "a",
            r#"{"role":"assistant","modelId":"m","content":[{"type":"thinking","thinking":"Hm"},{"type":"tool_use","id":"c1","name":"Execute","input":{"command":"ls"}}]}"#,
        )
        + &message(
            "c",
            "b",
            r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","is_error":true,"content":"no"}]}"#,
        )
        + &message("d", "c", r#"{"role":"assistant","content":[{"type":"text","text":"Done"}]}"#)
        + r#"{"type":"agent_turn_outcome","reason":"completed"}"#
        + "\n";
    expect(
        &content,
        &[
            "user injected.system_reminder: <system-reminder>\\nTools\\n</system-reminder>",
            "user person.prompt: Use tabs",
            "reasoning agent: Hm",
            r#"tool_call agent Execute#c1: {"command":"ls"}"#,
            "tool_result tool ! Execute#c1: no",
            "assistant agent: Done",
        ],
    );
    let facts = read(&Droid, NAME, content).1.facts;
    assert_eq!((facts.id.as_str(), facts.cwd.as_deref()), ("s1", Some("/home/u/p")));
    assert_eq!((facts.title.as_deref(), facts.ending), (Some("Tabs"), Ending::Finished));
    assert_eq!(facts.models, ["m"]);
}

#[test]
fn what_is_only_shown_or_only_sent_is_nobodys_words() {
    expect(
        &message(
            "a",
            "",
            r#"{"role":"assistant","visibility":"user_only","content":[{"type":"text","text":"Updated"}]}"#,
        ),
        &["meta host: Updated"],
    );
    expect(
        &message(
            "a",
            "",
            r#"{"role":"user","visibility":"llm_only","content":[{"type":"text","text":"A file changed"}]}"#,
        ),
        &["user injected.host: A file changed"],
    );
    expect(
        &message(
            "a",
            "",
            r#"{"role":"user","content":"<nacre-brief>\nUse spaces\n</nacre-brief>\nUse tabs"}"#,
        ),
        &[
            "user injected.nacre: <nacre-brief>\\nUse spaces\\n</nacre-brief>",
            "user person.prompt: Use tabs",
        ],
    );
}

#[test]
fn tokens_stand_beside_the_transcript() {
    let trace = TestTrace::new(NAME, START);
    let settings = br#"{"model":"custom:m","tokenUsage":{"inputTokens":20,"outputTokens":10,"cacheCreationTokens":3,"cacheReadTokens":4,"thinkingTokens":1}}"#;
    write(&trace.path.with_extension("settings.json"), settings);
    let facts = trace.read(&Droid, None).1.facts;
    let tokens = Tokens { input: 20, output: 10, cached: 4, cache_write: 3, reasoning: 1 };
    assert_eq!((facts.tokens, facts.models), (tokens, vec!["custom:m".to_owned()]));
}

#[test]
fn sub_agents_and_forks_name_the_other_session() {
    let content = r#"{"type":"session_start","id":"s2","title":"x","parent":"s0","callingSessionId":"s1","callingToolUseId":"c1"}
"#
    .to_owned()
        + &message("a", "", r#"{"role":"user","content":"Find tabs"}"#);
    expect(&content, &["user agent ~sidechain: Find tabs"]);
    let facts = read(&Droid, NAME, content).1.facts;
    let fork = SessionLink { kind: LinkKind::ForkOf, session: "s0".to_owned(), call: None };
    let call = Some("c1".to_owned());
    let parent = SessionLink { kind: LinkKind::Parent, session: "s1".to_owned(), call };
    assert_eq!(facts.links, [fork, parent]);
}

#[test]
fn compaction_and_new_records_are_kept() {
    let content = r#"{"type":"compaction_state","id":"k","summaryText":"So far"}
{"type":"todo_state","todos":{}}
{"type":"brand_new"}
not json
"#;
    let (events, outcome) = read(&Droid, NAME, content);
    assert_eq!(events.len(), 3);
    assert_eq!((outcome.report.unknown_records, outcome.report.bad_lines), (1, 1));
}

#[test]
fn transcripts_are_found_below_the_home() {
    let folder = tempfile::tempdir().unwrap();
    let sessions = folder.path().join(".factory/sessions/-home-u-p");
    for name in ["a.jsonl", "a.settings.json", "a.settings.json.bak"] {
        write(&sessions.join(name), b"{}\n");
    }
    let found = Droid.discover(&Droid.roots(&Homes::at(folder.path())));
    assert_eq!(found.sources.len(), 1);
}
