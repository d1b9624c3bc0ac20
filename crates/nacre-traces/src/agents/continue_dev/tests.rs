//! Tests that parse handwritten sessions and compare the resulting events.

use super::*;
use crate::transcript::tests::*;
use crate::transcript::toolkit::*;

const NAME: &str = "s1.json";

fn session(history: &str) -> String {
    format!(
        r#"{{"sessionId":"s1","title":"Untitled Session","workspaceDirectory":"/home/u/p","history":[{history}]}}"#
    )
}

const CALL: &str = r#"{"id":"c1","type":"function","function":{"name":"Bash","arguments":"{\"command\":\"ls\"}"}}"#;

#[track_caller]
fn expect(history: &str, expected: &[&str]) {
    check(&Continue, NAME, &session(history), expected);
}

fn user(content: &str) -> String {
    format!(r#"{{"message":{{"role":"user","content":{content}}},"contextItems":[]}}"#)
}

#[test]
fn a_talk_with_a_tool() {
    let history = [
        user(r#""Use tabs""#),
        format!(r#"{{"message":{{"role":"assistant","content":"","toolCalls":[{CALL}],"usage":{{"prompt_tokens":10,"completion_tokens":5,"model":"m","prompt_tokens_details":{{"cached_tokens":4}}}}}},"reasoning":{{"text":"Hm"}},"toolCallStates":[{{"toolCallId":"c1","toolCall":{CALL},"status":"done","output":[{{"content":"a.txt","name":"Tool Result"}}]}}]}}"#),
        r#"{"message":{"role":"tool","toolCallId":"c1","content":"a.txt"}}"#.to_owned(),
        r#"{"message":{"role":"assistant","content":"Done"}}"#.to_owned(),
    ]
    .join(",");
    expect(
        &history,
        &[
            "user person.prompt: Use tabs",
            "reasoning agent: Hm",
            r#"tool_call agent Bash#c1: {"command":"ls"}"#,
            "tool_result tool Bash#c1: a.txt",
            "assistant agent: Done",
        ],
    );
    let (_, outcome) = read(&Continue, NAME, session(&history));
    let facts = outcome.facts;
    assert_eq!((facts.id.as_str(), facts.cwd.as_deref()), ("s1", Some("/home/u/p")));
    assert_eq!((facts.title, facts.models), (None, vec!["m".to_owned()]));
    let tokens = Tokens { input: 6, output: 5, cached: 4, cache_write: 0, reasoning: 0 };
    assert_eq!((facts.tokens, facts.ending), (tokens, Ending::Finished));
    assert_eq!(outcome.report.repeated, 1);
}

#[test]
fn results_of_other_versions() {
    let called =
        format!(r#"{{"message":{{"role":"assistant","content":"","toolCalls":[{CALL}]}}}}"#);
    let history =
        format!(r#"{called},{{"message":{{"role":"tool","toolCallId":"c1","content":"a.txt"}}}}"#);
    let call = r#"tool_call agent Bash#c1: {"command":"ls"}"#;
    expect(&history, &[call, "tool_result tool Bash#c1: a.txt"]);
    let state = format!(
        r#"{{"message":{{"role":"assistant","content":""}},"toolCallState":{{"toolCallId":"c1","toolCall":{CALL},"status":"errored","output":[{{"content":"no"}}]}}}}"#
    );
    expect(&state, &[call, "tool_result tool ! Bash#c1: no"]);
    let waiting = state.replace("errored", "generated");
    expect(&waiting, &[call]);
}

#[test]
fn context_and_marks_are_not_the_persons() {
    let history = r#"{"message":{"role":"user","content":[{"type":"text","text":"<nacre-memory>\nUse spaces\n</nacre-memory>\nUse tabs"},{"type":"imageUrl","imageUrl":{"url":"data:x"}}]},"contextItems":[{"content":"the file","name":"a.txt"}]},
{"message":{"role":"system","content":"You are"}},{"message":{"role":"thinking","content":"Hm"}},{"message":{"role":"assistant","content":"Ok"},"conversationSummary":"So far"},{"message":{"role":"brand_new"}}"#;
    let (_, outcome) = read(&Continue, NAME, session(history));
    assert_eq!(outcome.report.unknown_records, 1);
    let known = history.rsplit_once(',').unwrap().0;
    expect(
        known,
        &[
            "user injected.editor_context: the file",
            "user injected.nacre: <nacre-memory>\\nUse spaces\\n</nacre-memory>",
            "user person.prompt: Use tabs",
            "reasoning agent: Hm",
            "assistant agent: Ok",
            "summary injected.compaction_summary: So far",
        ],
    );
}

#[test]
fn the_list_tells_when_a_session_was_made() {
    let content = session(&user(r#""x""#)).replace("/home/u/p", "file:///home/u/my%20p");
    let trace = TestTrace::new(NAME, content);
    let list = br#"[{"sessionId":"s0","dateCreated":"1"},{"sessionId":"s1","dateCreated":"1794840841989"}]"#;
    write(&trace.path.with_file_name("sessions.json"), list);
    let facts = trace.read(&Continue, None).1.facts;
    assert_eq!(facts.started.unwrap().to_string(), "2026-11-16T14:54:01.989Z");
    assert_eq!(facts.cwd.as_deref(), Some("/home/u/my p"));
}

#[test]
fn a_torn_document_gives_what_stands_before() {
    let whole = session(&format!("{},{}", user(r#""One""#), user(r#""Two""#)));
    let (events, outcome) = read(&Continue, NAME, &whole[..whole.find("Two").unwrap()]);
    assert_eq!((events.len(), outcome.report.torn_tail), (1, Some(0)));
}

#[test]
fn sessions_are_found_and_their_list_is_not_one() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["sessions/a.json", "sessions/sessions.json", "sessions/x/b.json", "config.json"] {
        write(&folder.path().join(name), b"{}");
    }
    let homes = Homes::default().with("CONTINUE_GLOBAL_DIR", folder.path());
    assert_eq!(Continue.discover(&Continue.roots(&homes)).sources.len(), 1);
    let usual = Continue.roots(&Homes::at(Path::new("/h")));
    assert_eq!(usual, [PathBuf::from("/h/.continue/sessions")]);
}
