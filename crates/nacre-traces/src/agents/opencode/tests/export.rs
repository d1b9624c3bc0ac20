//! Tests sessions written by `opencode export`.

use super::*;
use crate::agents::trace_at;

fn exported(session: &Session) -> Value {
    let messages: Vec<Value> = session
        .messages
        .iter()
        .map(|(info, parts)| json!({"info": info, "parts": parts}))
        .collect();
    json!({"info": session.info, "messages": messages})
}

fn read_export(text: &str) -> Read {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.json");
    fs::write(&path, text).unwrap();
    let trace = trace_at(&path).unwrap();
    assert_eq!(trace.source.agent, crate::transcript::Agent::OpenCode);
    read(&trace)
}

#[test]
fn an_export_gives_the_same_transcript_as_the_tree() {
    let data = Data::new();
    write_tree(&data, &full_session());
    let tree = data.reads().remove(0);
    let value = exported(&full_session());
    let read = read_export(&value.to_string());
    // In an export, texts kept as JSON include the part's ID. In a tree, the ID is the file name.
    // These texts are therefore not compared.
    let bare = |read: &Read| -> Vec<String> {
        let lines = read.lines().into_iter();
        lines.map(|line| line.split("{\"").next().unwrap_or_default().to_owned()).collect()
    };
    assert_eq!(bare(&read), bare(&tree));
    assert_eq!(read.outcome.facts, tree.outcome.facts);
    assert_eq!(read.outcome.report.unknown_types, tree.outcome.report.unknown_types);
    let pretty = read_export(&serde_json::to_string_pretty(&value).unwrap());
    assert_eq!(pretty.outcome.facts, tree.outcome.facts);
}

#[test]
fn a_torn_export_gives_what_stands_before() {
    let text = exported(&full_session()).to_string();
    let torn = &text[..text.find("No, spaces").unwrap()];
    let read = read_export(torn);
    assert_eq!(read.outcome.report.torn_tail, Some(0));
    assert!(read.lines().contains(&"assistant: Tabs it is".to_owned()));
}

#[test]
fn messages_that_are_none_are_counted() {
    let read = read_export(
        r#"{"info":{"id":"ses_1","projectID":"p"},"messages":[7,{"info":{"id":"m","role":"user"},"parts":[7,{"id":"p","type":"text","text":"Use tabs"}]}]}"#,
    );
    assert_eq!(read.lines(), ["user: Use tabs"]);
    assert_eq!(read.outcome.report.bad_lines, 2);
}
