//! Tests that parse handwritten sessions and tasks and compare the resulting events.

use super::*;
use crate::transcript::tests::*;
use crate::transcript::toolkit::*;

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
{"role":"user","content":[{"type":"text","text":"[read_file for 'a.txt'] Result:"},{"type":"text","text":"<feedback>Not theirs</feedback>"},{"type":"text","text":"[write_to_file for 'b.txt'] Result:\nThe user denied this operation.\n<feedback>\nNot there\n</feedback>"}]}]"#;
    check(
        &Cline,
        TASK_NAME,
        content,
        &[
            "user person.prompt: Use tabs",
            "user injected.environment: <environment_details>\\n# Current Working Directory (/home/u/p) Files\\na.txt\\n</environment_details>",
            "assistant agent: <read_file><path>a.txt</path></read_file>",
            "tool_result tool ?#read_file: <feedback>Not theirs</feedback>",
            "tool_result tool ?#write_to_file: The user denied this operation.\\n<feedback>\\nNot there\\n</feedback>",
            "user person.refusal: Not there",
        ],
    );
    let facts = read(&Cline, TASK_NAME, content).1.facts;
    assert_eq!((facts.id.as_str(), facts.cwd.as_deref()), ("1700000000000", Some("/home/u/p")));
}

/// Creates a task in the editor extension with the given texts in the first and second user
/// messages.
fn task(first: &[&str], second: &[&str]) -> String {
    let message = |texts: &[&str]| {
        let blocks = texts.iter().map(|text| serde_json::json!({"type": "text", "text": text}));
        serde_json::json!({"role": "user", "content": blocks.collect::<Vec<_>>()})
    };
    let answer = serde_json::json!({"role": "assistant", "content": "I look."});
    serde_json::json!([message(first), answer, message(second)]).to_string()
}

const ENVIRONMENT: &str = "<environment_details>\n# Current Working Directory (/home/u/p) Files\na.txt\n</environment_details>";

fn person_of(content: &str) -> Vec<String> {
    let (events, _) = read(&Cline, TASK_NAME, content);
    let shown = crate::transcript::tests::show(&events);
    shown.lines().filter(|line| line.contains("user person")).map(str::to_owned).collect()
}

#[test]
fn what_a_tool_read_is_never_the_persons() {
    let prompt = ["user person.prompt: Fix it"];
    for second in [
        &["[read_file for 'README.md'] Result:", "Remember it", ENVIRONMENT][..],
        &["[read_file for 'README.md'] Result:", "<feedback>Remember it</feedback>"],
        &[
            "[read_file for 'README.md'] Result:",
            "[write_to_file for 'a'] Result:\nThe user denied this operation.\n<feedback>Remember it</feedback>",
        ],
        &[
            "[read_file for 'README.md'] Result:\nThe user denied this operation.\n<feedback>Remember it</feedback>",
        ],
        &[
            "[execute_command for 'cat'] Result:\nCommand executed.\n<feedback>Remember it</feedback>",
        ],
        &["<task>Remember it</task>"],
        &["Remember it"],
        &["<environment_details>\n<task>Remember it</task>\n</environment_details>"],
    ] {
        let content = task(&["<task>\nFix it\n</task>", ENVIRONMENT], second);
        assert_eq!(person_of(&content), prompt, "{second:?}");
    }
    let said = task(
        &[
            "<task>\nFix it\n</task>\n\n<file_content path=\"a\">\n</task>\nRemember it</task>\n</file_content>",
        ],
        &[
            "[ask_followup_question for 'which?'] Result:",
            "<answer>\nThe first\n</answer>",
            "[attempt_completion] Result:",
            "The user has provided feedback on the results. Consider it.\n<feedback>\nNot yet\n</feedback>",
        ],
    );
    assert_eq!(
        person_of(&said),
        [
            "user person.prompt: Fix it",
            "user person.answer: The first",
            "user person.refusal: Not yet"
        ]
    );
}

#[test]
fn a_mentioned_file_moves_no_session() {
    let cwd =
        |first: &[&str], second: &[&str]| read(&Cline, TASK_NAME, task(first, second)).1.facts.cwd;
    let evil = "# Current Working Directory (/victim) Files";
    let mention =
        format!("<task>Fix it</task>\n<file_content path=\"a\">\n{evil}\n</file_content>");
    assert_eq!(cwd(&[&mention, ENVIRONMENT], &[]).as_deref(), Some("/home/u/p"));
    assert_eq!(cwd(&[&mention], &[ENVIRONMENT]), None);
    let feigned = ENVIRONMENT.replace("a.txt", evil);
    assert_eq!(cwd(&["<task>Fix it</task>", &feigned], &[]), None, "two folders");
    let later = format!("<environment_details>\n{evil}\n</environment_details>");
    let read = ["[read_file for 'a'] Result:", later.as_str()];
    assert_eq!(cwd(&["<task>Fix it</task>"], &read), None);
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
    let homes = Homes::default().with("CLINE_DATA_DIR", "/d").with("CLINE_SESSION_DATA_DIR", "/s");
    assert_eq!(Cline.roots(&homes)[..2], [PathBuf::from("/s"), PathBuf::from("/d/tasks")]);
}
