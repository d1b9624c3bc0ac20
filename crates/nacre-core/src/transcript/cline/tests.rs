//! Hand-made sessions and tasks and what they must turn into.

use super::super::facts::{Ending, Tokens};
use super::super::testing::{TestTrace, check, read, write};
use super::*;

const NAME: &str = "1794840846430_el7lr/1794840846430_el7lr.messages.json";
const TASK_NAME: &str = "1700000000000/api_conversation_history.json";

fn session(messages: &str) -> String {
    format!(
        r#"{{"version":1,"agent":"lead","sessionId":"s1","origin":{{"version":"3.0.65"}},"messages":[{messages}],"system_prompt":"You are Cline"}}"#
    )
}

fn said(role: &str, content: &str) -> String {
    format!(
        r#"{{"id":"m","role":"{role}","ts":1794840847005,"content":{content},"modelInfo":{{"id":"m1"}},"metrics":{{"inputTokens":10,"outputTokens":5,"cacheReadTokens":2,"cacheWriteTokens":1}}}}"#
    )
}

fn text(text: &str) -> String {
    said("user", &format!(r#"[{{"type":"text","text":"{text}"}}]"#))
}

#[track_caller]
fn expect(messages: &str, expected: &[&str]) {
    check(&Cline, NAME, &session(messages), expected);
}

#[test]
fn a_session_of_the_program() {
    let messages = [
        text(r#"<user_input mode=\"act\">Use tabs</user_input>"#),
        said("assistant", r#"[{"type":"tool_use","id":"c1","name":"run_commands","input":{"commands":["ls"]}}]"#),
        said("user", r#"[{"type":"tool_result","tool_use_id":"c1","content":[{"query":"ls","result":"a.txt","success":true},{"query":"x","result":"no","success":false}]}]"#),
        said("assistant", r#"[{"type":"text","text":"Done"}]"#),
    ]
    .join(",");
    expect(
        &messages,
        &[
            "user person.prompt: Use tabs",
            r#"tool_call agent run_commands#c1: {"commands":["ls"]}"#,
            "tool_result tool ! run_commands#c1: a.txt\\nno",
            "assistant agent: Done",
        ],
    );
    let trace = TestTrace::new(NAME, session(&messages));
    let description = br#"{"session_id":"s1","cwd":"/home/u/p","model":"m1","started_at":"2026-11-16T14:54:06.434Z","metadata":{"title":"Tabs"}}"#;
    let beside = NAME.replace(".messages.json", ".json");
    write(&trace.folder.path().join(beside), description);
    let facts = trace.read(&Cline, None).1.facts;
    assert_eq!((facts.id.as_str(), facts.cwd.as_deref()), ("s1", Some("/home/u/p")));
    assert_eq!(
        (facts.title.as_deref(), facts.agent_version.as_deref()),
        (Some("Tabs"), Some("3.0.65"))
    );
    let tokens = Tokens { input: 20, output: 10, cached: 4, cache_write: 2, reasoning: 0 };
    assert_eq!((facts.tokens, facts.models), (tokens, vec!["m1".to_owned()]));
    assert_eq!(facts.ending, Ending::Finished);
}

#[test]
fn a_task_of_the_extension() {
    let content = r#"[{"role":"user","content":[{"type":"text","text":"<task>\nUse tabs\n</task>"},{"type":"text","text":"<environment_details>\n# Current Working Directory (/home/u/p) Files\na.txt\n</environment_details>"}]},
{"role":"assistant","content":"<read_file><path>a.txt</path></read_file>"},
{"role":"user","content":[{"type":"text","text":"[read_file for 'a.txt'] Result:"},{"type":"text","text":"[write_to_file for 'b.txt'] Result:\nThe user denied this operation.\n<feedback>\nNot there\n</feedback>"}]}]"#;
    check(
        &Cline,
        TASK_NAME,
        content,
        &[
            "user person.prompt: Use tabs",
            "user injected.environment: <environment_details>\\n# Current Working Directory (/home/u/p) Files\\na.txt\\n</environment_details>",
            "assistant agent: <read_file><path>a.txt</path></read_file>",
            "tool_result tool ?#read_file: ",
            "tool_result tool ?#write_to_file: The user denied this operation.\\n<feedback>\\nNot there\\n</feedback>",
            "user person.refusal: Not there",
        ],
    );
    let facts = read(&Cline, TASK_NAME, content).1.facts;
    assert_eq!((facts.id.as_str(), facts.cwd.as_deref()), ("1700000000000", Some("/home/u/p")));
}

#[test]
fn what_stands_around_the_words_is_injected() {
    expect(
        &text(
            r#"<mode_notice>act</mode_notice>\n<user_input mode=\"plan\"><nacre-memory>\nUse spaces\n</nacre-memory>\nUse tabs</user_input>\n<nacre-brief>x</nacre-brief>"#,
        ),
        &[
            "user injected.system_reminder: <mode_notice>act</mode_notice>",
            "user injected.nacre: <nacre-memory>\\nUse spaces\\n</nacre-memory>",
            "user person.prompt: Use tabs",
            "user injected.nacre: <nacre-brief>x</nacre-brief>",
        ],
    );
    expect(
        &text("[ERROR] You did not use a tool"),
        &["user injected.host: [ERROR] You did not use a tool"],
    );
    expect(&text("plain <tasks> here"), &["user person.prompt: plain <tasks> here"]);
}

#[test]
fn a_torn_or_broken_document_gives_what_it_can() {
    let whole = session(&format!("{},7,{}", text("One"), text("Two")));
    let (events, outcome) = read(&Cline, NAME, &whole);
    assert_eq!((events.len(), outcome.report.bad_lines, outcome.report.torn_tail), (2, 1, None));
    let torn = &whole[..whole.find("Two").unwrap()];
    let (events, outcome) = read(&Cline, NAME, torn);
    assert_eq!((events.len(), outcome.report.torn_tail), (1, Some(0)));
}

#[test]
fn sessions_and_tasks_are_found() {
    let folder = tempfile::tempdir().unwrap();
    for name in [
        ".cline/data/sessions/s/s.messages.json",
        ".cline/data/sessions/s/s.json",
        ".cline/data/tasks/1/api_conversation_history.json",
        ".config/Code/User/globalStorage/saoudrizwan.claude-dev/tasks/2/api_conversation_history.json",
        ".config/Code/User/globalStorage/saoudrizwan.claude-dev/tasks/2/ui_messages.json",
    ] {
        write(&folder.path().join(name), b"{}");
    }
    let roots = Cline.roots(&Homes::at(folder.path()));
    assert_eq!(Cline.discover(&roots).sources.len(), 3);
    let homes = Homes {
        cline_data: Some(PathBuf::from("/d")),
        cline_sessions: Some(PathBuf::from("/s")),
        ..Homes::default()
    };
    assert_eq!(Cline.roots(&homes)[..2], [PathBuf::from("/s"), PathBuf::from("/d/tasks")]);
}
