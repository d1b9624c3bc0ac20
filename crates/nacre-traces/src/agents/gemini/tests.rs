//! Tests that parse handwritten sessions and compare the resulting events.

use super::*;
use crate::transcript::tests::*;
use crate::transcript::toolkit::*;

const NAME: &str = "p/chats/session-2026-11-16T14-53-cfbf96f2.jsonl";
const HEADER: &str = r#"{"sessionId":"s1","projectHash":"h","startTime":"2026-11-16T14:53:18.000Z","lastUpdated":"2026-11-16T14:53:18.000Z","kind":"main"}
"#;
const CONTEXT: &str = r#"{"$set":{"messages":[{"id":"m0","timestamp":"2026-11-16T14:53:18.000Z","type":"user","content":[{"text":"<session_context>\nThis is the Gemini CLI.\n- **Workspace Directories:**\n  - /home/u/p\n- x\n</session_context>"}]}]}}
"#;
const CALL: &str = r#"{"id":"c1","name":"run_shell_command","args":{"command":"ls"},"result":[{"functionResponse":{"id":"c1","name":"run_shell_command","response":{"output":"a.txt"}}}],"status":"success","timestamp":"2026-11-16T14:53:20.000Z","resultDisplay":"a.txt"}"#;

fn message(id: &str, kind: &str, rest: &str) -> String {
    format!(r#"{{"id":"{id}","timestamp":"2026-11-16T14:53:19.000Z","type":"{kind}",{rest}}}"#)
        + "\n"
}

fn user(id: &str, text: &str) -> String {
    message(id, "user", &format!(r#""content":[{{"text":"{text}"}}]"#))
}

fn model(id: &str, text: &str) -> String {
    message(id, "gemini", &format!(r#""content":"{text}""#))
}

#[track_caller]
fn expect(content: &str, expected: &[&str]) {
    check(&Gemini, NAME, content, expected);
}

#[test]
fn a_message_that_grows_is_given_once() {
    let tokens = r#""tokens":{"input":100,"output":5,"cached":40,"thoughts":2,"tool":0,"total":107},"model":"flash""#;
    let content = HEADER.to_owned()
        + CONTEXT
        + &user("m1", "Use tabs")
        + r#"{"$set":{"lastUpdated":"2026-11-16T14:54:00.000Z"}}"#
        + "\n"
        + &message("m2", "gemini", &format!(r#""content":"",{tokens}"#))
        + &message(
            "m2",
            "gemini",
            &format!(
                r#""content":"","thoughts":[{{"subject":"Plan","description":"Look"}}],{tokens},"toolCalls":[{CALL}]"#
            ),
        )
        + &message(
            "m3",
            "user",
            r#""content":[{"functionResponse":{"id":"c1","name":"run_shell_command","response":{"output":"a.txt"}}}]"#,
        )
        + &model("m4", "Done");
    expect(
        &content,
        &[
            "user injected.environment: <session_context>\\nThis is the Gemini CLI.\\n- **Workspace Directories:**\\n  - /home/u/p\\n- x\\n</session_context>",
            "user person.prompt: Use tabs",
            "reasoning agent: Plan\\nLook",
            r#"tool_call agent run_shell_command#c1: {"command":"ls"}"#,
            "tool_result tool run_shell_command#c1: a.txt",
            "assistant agent: Done",
        ],
    );
    let (_, outcome) = read(&Gemini, NAME, content);
    let facts = outcome.facts;
    assert_eq!((facts.id.as_str(), facts.cwd.as_deref()), ("s1", Some("/home/u/p")));
    let tokens = Tokens { input: 60, output: 7, cached: 40, cache_write: 0, reasoning: 2 };
    assert_eq!((facts.tokens, facts.ending), (tokens, Ending::Finished));
    assert_eq!(facts.last_activity.unwrap().to_string(), "2026-11-16T14:54:00Z");
    assert_eq!((outcome.report.repeated, outcome.watermark), (1, None));
}

#[test]
fn what_hooks_and_files_add_is_not_the_persons() {
    expect(
        &user(
            "m1",
            r"<hook_context><nacre-memory>\nUse spaces\n</nacre-memory></hook_context>\n\nUse tabs",
        ),
        &[
            "user injected.hook: <hook_context><nacre-memory>\\nUse spaces\\n</nacre-memory></hook_context>",
            "user person.prompt: Use tabs",
        ],
    );
    expect(
        &message(
            "m1",
            "user",
            r#""content":[{"text":"<nacre-brief>x</nacre-brief>\nSee @a"},{"text":"the file"}],"displayContent":[{"text":"See @a"}]"#,
        ),
        &["user injected.nacre: <nacre-brief>x</nacre-brief>", "user person.prompt: See @a"],
    );
    expect(
        &message("m1", "user", r#""content":[{"text":"See @a"},{"text":"the file"}]"#),
        &["user person.prompt: See @a", "user injected.editor_context: the file"],
    );
}

#[test]
fn a_shortened_context_takes_nothing_away() {
    let content = user("m1", "Use tabs")
        + &model("m2", "Yes")
        + r#"{"$set":{"messages":[{"id":"m9","type":"user","content":[{"text":"<state_snapshot>\nshort\n</state_snapshot>"}]},{"id":"m2","type":"gemini","content":"masked"},7]}}"#
        + "\n"
        + &user("m3", "Go on");
    expect(
        &content,
        &[
            "user person.prompt: Use tabs",
            "assistant agent: Yes",
            "summary injected.compaction_summary: <state_snapshot>\\nshort\\n</state_snapshot>",
            "user person.prompt: Go on",
        ],
    );
    assert_eq!(read(&Gemini, NAME, content).1.report.mended_lines, 1);
}

#[test]
fn what_was_rewound_is_marked() {
    let talk = user("m1", "First") + &model("m2", "One") + &user("m3", "Second");
    let rewound = |id: &str| {
        let content =
            talk.clone() + &format!("{{\"$rewindTo\":\"{id}\"}}\n") + &user("m4", "Other");
        read(&Gemini, NAME, content).1.facts.undone
    };
    assert_eq!(rewound("m2"), [Undone { from: 1, to: 2 }]);
    assert_eq!(rewound("unknown"), [Undone { from: 0, to: 2 }]);
}

#[test]
fn the_document_of_older_versions_is_read() {
    let content = format!(
        r#"{{"sessionId":"s0","projectHash":"h","startTime":"2025-12-16T23:47:00.000Z","summary":"Tabs","messages":[{{"id":"m1","timestamp":"2025-12-16T23:47:01.000Z","type":"user","content":"Use tabs"}},{{"id":"m2","type":"gemini","content":"","toolCalls":[{CALL},{{"id":"c2","name":"x","args":{{}},"status":"error","resultDisplay":"no"}}]}},{{"id":"m3","type":"info","content":"Request cancelled."}},{{"id":"m4","type":"error","content":"quota"}},{{"id":"m5","type":"model","parts":[{{"text":"Ok"}}]}}]}}"#
    );
    let name = "p/chats/session-x.json";
    check(
        &Gemini,
        name,
        &content,
        &[
            "user person.prompt: Use tabs",
            r#"tool_call agent run_shell_command#c1: {"command":"ls"}"#,
            "tool_result tool run_shell_command#c1: a.txt",
            "tool_call agent x#c2: {}",
            "tool_result tool ! x#c2: no",
            "meta host: Request cancelled.",
            "meta host !: quota",
            "assistant agent: Ok",
        ],
    );
    let (_, outcome) = read(&Gemini, name, &content);
    assert_eq!((outcome.facts.id.as_str(), outcome.facts.title.as_deref()), ("s0", Some("Tabs")));
    let (events, outcome) = read(&Gemini, name, &content[..content.len() - 40]);
    assert_eq!((events.len(), outcome.report.torn_tail), (7, Some(0)));
}

#[test]
fn the_project_is_named_beside_the_chats() {
    let trace = TestTrace::new(&format!(".gemini/tmp/{NAME}"), HEADER);
    let tmp = trace.folder.path().join(".gemini/tmp");
    let cwd = || trace.read(&Gemini, None).1.facts.cwd;
    assert_eq!(cwd(), None);
    let list = br#"{"projects":{"/home/u/other":"q","/home/u/p":"p"}}"#;
    write(&trace.folder.path().join(".gemini/projects.json"), list);
    assert_eq!(cwd().as_deref(), Some("/home/u/p"));
    write(&tmp.join("p/.project_root"), b"/home/u/moved\n");
    assert_eq!(cwd().as_deref(), Some("/home/u/moved"));
    write(&tmp.join("p/.project_root"), b"not a path");
    assert_eq!(cwd().as_deref(), Some("/home/u/p"));
}

#[test]
fn a_sub_agent_lies_below_its_session() {
    let content = HEADER.replace("main", "subagent") + &user("m1", "Find tabs");
    let (events, outcome) = read(&Gemini, "p/chats/s0/s1.jsonl", content);
    assert_eq!(show(&events), "user agent ~sidechain: Find tabs\n");
    let link = SessionLink { kind: LinkKind::Parent, session: "s0".to_owned(), call: None };
    assert_eq!((outcome.facts.id.as_str(), outcome.facts.links), ("s1@s0", vec![link]));
}

#[test]
fn only_chats_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let tmp = folder.path().join(".gemini/tmp");
    for name in [
        "p/chats/session-a.jsonl",
        "h/chats/session-b.json",
        "p/chats/s0/c.jsonl",
        "p/chats/notes.json",
        "p/logs.json",
        "p/other.jsonl",
        "p/tool-outputs/chats/x.jsonl",
    ] {
        write(&tmp.join(name), b"{}\n");
    }
    let found = Gemini.discover(&Gemini.roots(&Homes::at(folder.path())));
    assert_eq!(found.sources.len(), 3);
    let named = Gemini.discover(&[tmp.join("p/other.jsonl")]);
    assert_eq!(named.sources.len(), 1);
    let homes = Homes::at(folder.path()).with("GEMINI_CLI_HOME", "/g");
    assert_eq!(Gemini.roots(&homes), [PathBuf::from("/g/.gemini/tmp")]);
}
