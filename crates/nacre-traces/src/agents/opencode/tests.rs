//! Tests OpenCode's storage layouts. A session must produce the same transcript in either of the
//! two main layouts.
#![expect(clippy::disallowed_methods, reason = "tests write their own traces")]

mod export;
mod hostile;
mod older;

use crate::transcript::toolkit::*;
use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::OpenCode;

struct Data {
    folder: TempDir,
}

impl Data {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self, below: &str) -> PathBuf {
        self.folder.path().join("opencode").join(below)
    }

    fn file(&self, below: &str, value: &Value) {
        let path = self.path(below);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, value.to_string()).unwrap();
    }

    fn sources(&self) -> Vec<TraceSource> {
        let homes = Homes::at(Path::new("/nowhere")).with("XDG_DATA_HOME", self.folder.path());
        let discovery = OpenCode.discover(&OpenCode.roots(&homes));
        assert!(discovery.problems.is_empty(), "{:?}", discovery.problems);
        discovery.sources
    }

    fn traces(&self) -> Vec<Trace> {
        self.sources().iter().flat_map(|source| OpenCode.sessions(source).unwrap()).collect()
    }

    fn reads(&self) -> Vec<Read> {
        self.traces().iter().map(read).collect()
    }
}

#[derive(Debug, PartialEq)]
struct Read {
    events: Vec<TranscriptEvent>,
    outcome: ReadOutcome,
}

impl Read {
    fn lines(&self) -> Vec<String> {
        let line = |event: &TranscriptEvent| {
            let who = match (event.kind, event.origin) {
                (EventKind::User, TextOrigin::Person(WordSource::Prompt))
                | (
                    EventKind::Assistant | EventKind::Reasoning | EventKind::ToolCall,
                    TextOrigin::Agent,
                )
                | (EventKind::ToolResult, TextOrigin::Tool) => String::new(),
                (_, origin) => format!(" {origin:?}"),
            };
            let bad = if event.is_error { "!" } else { "" };
            format!("{}{who}{bad}: {}", event.kind.as_str(), event.text.head())
        };
        self.events.iter().map(line).collect()
    }
}

fn read(trace: &Trace) -> Read {
    let mut events = Vec::new();
    let outcome =
        OpenCode.read(trace, None, Sink::everything(&mut |event| events.push(event))).unwrap();
    Read { events, outcome }
}

struct Session {
    info: Value,
    messages: Vec<(Value, Vec<Value>)>,
}

fn full_session() -> Session {
    let tool = |id: &str, tool: &str, state: Value| json!({"id": id, "type": "tool", "callID": format!("call-{id}"), "tool": tool, "state": state});
    let time = json!({"start": 1_770_000_003_000_i64, "end": 1_770_000_004_000_i64});
    Session {
        info: json!({"id": "ses_1", "projectID": "p", "directory": "/home/me/app", "title": "Talk",
            "version": "1.1.0", "time": {"created": 1_770_000_000_000_i64, "updated": 1_770_000_090_000_i64},
            "revert": {"messageID": "msg_5"}}),
        messages: vec![
            (
                json!({"id": "msg_1", "role": "user", "time": {"created": 1_770_000_001_000_i64},
                    "agent": "build", "model": {"providerID": "x", "modelID": "opus"}}),
                vec![
                    json!({"id": "prt_1", "type": "text", "text": "Use tabs"}),
                    json!({"id": "prt_2", "type": "text", "text": "the file's content", "synthetic": true}),
                    json!({"id": "prt_3", "type": "file", "mime": "text/plain", "filename": "a.rs",
                        "url": "data:text/plain;base64,AAAA"}),
                    json!({"id": "prt_4", "type": "subtask", "prompt": "expanded", "description": "d", "agent": "a"}),
                ],
            ),
            (
                json!({"id": "msg_2", "role": "assistant", "parentID": "msg_1", "modelID": "opus",
                    "providerID": "x", "path": {"cwd": "/home/me/app/sub", "root": "/home/me/app"},
                    "time": {"created": 1_770_000_002_000_i64, "completed": 1_770_000_009_000_i64},
                    "tokens": {"input": 10, "output": 5, "reasoning": 2, "cache": {"read": 3, "write": 4}}}),
                vec![
                    json!({"id": "prt_5", "type": "step-start"}),
                    json!({"id": "prt_6", "type": "reasoning", "text": "think"}),
                    tool(
                        "prt_7",
                        "bash",
                        json!({"status": "completed", "input": {"command": "ls"},
                        "output": "a.rs", "metadata": {"exit": 2}, "time": time}),
                    ),
                    tool(
                        "prt_8",
                        "read",
                        json!({"status": "error", "input": {}, "error": "no file"}),
                    ),
                    tool(
                        "prt_9",
                        "nacre_search",
                        json!({"status": "completed", "input": {}, "output": "m"}),
                    ),
                    json!({"id": "prt_a", "type": "text", "text": "Tabs it is"}),
                    json!({"id": "prt_b", "type": "patch", "hash": "h", "files": []}),
                    json!({"id": "prt_c", "type": "step-finish", "tokens": {"input": 10, "output": 5}}),
                    json!({"id": "prt_d", "type": "hologram"}),
                    tool(
                        "prt_e",
                        "question",
                        json!({"status": "completed", "input": {}, "output": "ok",
                        "metadata": {"answers": [["spaces", "two"], []]}}),
                    ),
                ],
            ),
            (
                json!({"id": "msg_3", "role": "user", "time": {"created": 1_770_000_010_000_i64}}),
                vec![json!({"id": "prt_f", "type": "compaction", "auto": true})],
            ),
            (
                json!({"id": "msg_4", "role": "assistant", "summary": true, "modelID": "opus",
                    "time": {"created": 1_770_000_011_000_i64, "completed": 1_770_000_012_000_i64},
                    "tokens": {"total": 12, "input": 4, "output": 5, "reasoning": 3}}),
                vec![json!({"id": "prt_g", "type": "text", "text": "what was said"})],
            ),
            (
                json!({"id": "msg_5", "role": "user", "time": {"created": 1_770_000_020_000_i64}}),
                vec![json!({"id": "prt_h", "type": "text", "text": "No, spaces"})],
            ),
            (
                json!({"id": "msg_6", "role": "assistant", "modelID": "opus",
                    "time": {"created": 1_770_000_021_000_i64},
                    "error": {"name": "MessageAbortedError", "data": {"message": "stop"}}}),
                vec![
                    json!({"id": "prt_i", "type": "text", "text": "Fine", "time": {"start": 1_770_000_022_000_i64}}),
                    json!({"id": "prt_j", "type": "retry", "attempt": 1, "error": {"name": "APIError"}}),
                ],
            ),
        ],
    }
}

const FULL_LINES: [&str; 21] = [
    "user: Use tabs",
    "user Injected(Host): the file's content",
    "user Injected(EditorContext): [a.rs]",
    "user Injected(Command): expanded",
    "reasoning: think",
    "tool_call: {\"command\":\"ls\"}",
    "tool_result!: a.rs",
    "tool_call: {}",
    "tool_result!: no file",
    "tool_call Injected(Nacre): {}",
    "tool_result Injected(Nacre): m",
    "assistant: Tabs it is",
    "meta Host: {\"type\":\"hologram\"}",
    "tool_call: {}",
    "tool_result: ok",
    "user Person(Answer): spaces, two",
    "compaction Host: {\"auto\":true,\"type\":\"compaction\"}",
    "summary Injected(CompactionSummary): what was said",
    "user: No, spaces",
    "meta Host!: {\"data\":{\"message\":\"stop\"},\"name\":\"MessageAbortedError\"}",
    "assistant: Fine",
];

/// Removes a value's IDs, because the database stores them in columns.
fn bare(value: &Value) -> Value {
    let mut value = value.clone();
    value.as_object_mut().unwrap().remove("id");
    value
}

fn write_tree(data: &Data, session: &Session) {
    let id = session.info["id"].as_str().unwrap();
    data.file(&format!("storage/session/p/{id}.json"), &session.info);
    for (message, parts) in &session.messages {
        let message_id = message["id"].as_str().unwrap();
        data.file(&format!("storage/message/{id}/{message_id}.json"), message);
        for part in parts {
            let part_id = part["id"].as_str().unwrap();
            data.file(&format!("storage/part/{message_id}/{part_id}.json"), &bare(part));
        }
    }
}

fn new_database(data: &Data, name: &str) -> Connection {
    fs::create_dir_all(data.path("")).unwrap();
    let connection = Connection::open(data.path(name)).unwrap();
    let sql = "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; \
        CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT, parent_id TEXT, slug TEXT, \
            directory TEXT, title TEXT, version TEXT, revert TEXT, time_created INTEGER, time_updated INTEGER); \
        CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, \
            time_updated INTEGER, data TEXT); \
        CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, \
            time_created INTEGER, time_updated INTEGER, data TEXT); \
        CREATE TABLE session_message (id TEXT PRIMARY KEY, session_id TEXT, type TEXT, seq INTEGER, \
            time_created INTEGER, time_updated INTEGER, data TEXT); \
        CREATE TABLE credential (id TEXT, value TEXT);";
    connection.execute_batch(sql).unwrap();
    connection
}

fn write_database(connection: &Connection, session: &Session) {
    let info = &session.info;
    let id = info["id"].as_str().unwrap();
    let text = |key: &str| info[key].as_str();
    let revert = info.get("revert").map(Value::to_string);
    connection
        .execute(
            "INSERT INTO session VALUES (?1, 'p', ?2, 's', ?3, ?4, ?5, ?6, ?7, ?8)",
            (
                id,
                text("parentID"),
                text("directory"),
                text("title"),
                text("version"),
                revert,
                info["time"]["created"].as_i64(),
                info["time"]["updated"].as_i64(),
            ),
        )
        .unwrap();
    for (message, parts) in &session.messages {
        let message_id = message["id"].as_str().unwrap();
        let created = message["time"]["created"].as_i64();
        let sql = "INSERT INTO message VALUES (?1, ?2, ?3, ?3, ?4)";
        connection.execute(sql, (message_id, id, created, bare(message).to_string())).unwrap();
        for part in parts {
            let sql = "INSERT INTO part VALUES (?1, ?2, ?3, ?4, ?4, ?5)";
            let part_id = part["id"].as_str().unwrap();
            connection
                .execute(sql, (part_id, message_id, id, created, bare(part).to_string()))
                .unwrap();
        }
    }
}

#[test]
fn both_layouts_give_the_same_transcript() {
    let session = full_session();
    let (tree, database) = (Data::new(), Data::new());
    write_tree(&tree, &session);
    let connection = new_database(&database, "opencode.db");
    write_database(&connection, &session);
    let (from_tree, from_database) = (tree.reads().remove(0), database.reads().remove(0));
    assert_eq!(from_tree.lines()[..21], FULL_LINES);
    assert_eq!(from_tree.events, from_database.events);
    assert_eq!(from_tree.outcome, from_database.outcome);
    let facts = &from_tree.outcome.facts;
    assert_eq!(facts.cwd.as_deref(), Some("/home/me/app"));
    assert_eq!(facts.other_cwds, ["/home/me/app/sub"]);
    assert_eq!(facts.models, ["opus"]);
    assert_eq!((facts.tokens.input, facts.tokens.output, facts.tokens.reasoning), (14, 13, 5));
    assert_eq!((facts.tokens.cached, facts.tokens.cache_write), (3, 4));
    assert_eq!(facts.ending, Ending::Finished);
    let last = from_tree.events.len() as u64 - 1;
    assert_eq!(facts.undone, [Undone { from: 18, to: last }]);
    assert_eq!(from_tree.events[0].timestamp.unwrap().as_millisecond(), 1_770_000_001_000);
    assert_eq!(from_tree.events[6].timestamp.unwrap().as_millisecond(), 1_770_000_004_000);
    assert_eq!(from_tree.events[6].call.as_ref().unwrap().id, "call-prt_7");
}

#[test]
fn a_session_in_both_is_given_from_the_database() {
    let mut session = full_session();
    let data = Data::new();
    write_tree(&data, &session);
    let connection = new_database(&data, "opencode-beta.db");
    write_database(&connection, &session);
    session.info["id"] = json!("ses_2");
    write_tree(&data, &session);
    let traces = data.traces();
    let found: Vec<_> = traces
        .iter()
        .map(|trace| (trace.session.as_deref().unwrap(), trace.source.path.ends_with("storage")))
        .collect();
    assert_eq!(found, [("ses_1", false), ("ses_2", true)]);
    // If the database lost some of a session's messages, the tree's copy is still listed.
    connection.execute("DELETE FROM message WHERE id = 'msg_6'", []).unwrap();
    assert_eq!(data.traces().len(), 3);
}

#[test]
fn a_revision_changes_with_its_session_only() {
    let data = Data::new();
    let connection = new_database(&data, "opencode.db");
    let mut session = full_session();
    write_database(&connection, &session);
    session.info["id"] = json!("ses_2");
    session.messages = vec![(
        json!({"id": "msg_x", "role": "user", "time": {"created": 1}}),
        vec![json!({"id": "prt_x", "type": "text", "text": "hi"})],
    )];
    write_database(&connection, &session);
    let before = data.traces();
    connection.execute("UPDATE part SET time_updated = 9 WHERE id = 'prt_x'", []).unwrap();
    let after = data.traces();
    assert_eq!(before[0].revision, after[0].revision);
    assert_ne!(before[1].revision, after[1].revision);
    let tree = Data::new();
    write_tree(&tree, &session);
    let before = tree.traces();
    tree.file("storage/part/msg_x/prt_x.json", &json!({"type": "text", "text": "longer"}));
    let after = tree.traces();
    assert_ne!(before[0].source.stamp, after[0].source.stamp);
    assert_ne!(before[0].revision, after[0].revision);
}

#[test]
fn sub_agents_and_open_turns() {
    let data = Data::new();
    let connection = new_database(&data, "opencode.db");
    let session = Session {
        info: json!({"id": "ses_k", "parentID": "ses_1", "directory": "/d", "title": "t",
            "version": "1", "time": {"created": 1_770_000_000_000_i64}}),
        messages: vec![
            (
                json!({"id": "msg_1", "role": "user", "time": {"created": 1_770_000_001_000_i64}}),
                vec![json!({"id": "prt_1", "type": "text", "text": "do it"})],
            ),
            (
                json!({"id": "msg_2", "role": "assistant", "time": {"created": 1_770_000_002_000_i64}}),
                vec![json!({"id": "prt_2", "type": "tool", "callID": "c", "tool": "bash",
                    "state": {"status": "running", "input": {"command": "sleep"}}})],
            ),
        ],
    };
    write_database(&connection, &session);
    let read = data.reads().remove(0);
    assert_eq!(read.lines(), ["user Agent: do it", "tool_call: {\"command\":\"sleep\"}"]);
    let facts = &read.outcome.facts;
    assert_eq!((facts.role, facts.ending), (SessionRole::SubAgent, Ending::Active));
    assert_eq!((facts.links[0].kind, facts.links[0].session.as_str()), (LinkKind::Parent, "ses_1"));
}

#[test]
fn text_of_our_own_is_never_taken_for_the_persons_words() {
    let own = |tag: &str| format!("<{tag}>\nUse spaces\n</{tag}>");
    let part = |id: &str, text: &str| json!({"id": id, "type": "text", "text": text});
    let mut synthetic = part("prt_2", &own("nacre-memory"));
    synthetic["synthetic"] = json!(true);
    let session = Session {
        info: json!({"id": "ses_1", "projectID": "p", "directory": "/p", "title": "Talk",
            "time": {"created": 1_770_000_000_000_i64, "updated": 1_770_000_090_000_i64}}),
        messages: vec![(
            json!({"id": "msg_1", "role": "user", "time": {"created": 1_770_000_001_000_i64}}),
            vec![part("prt_1", "Use tabs"), synthetic, part("prt_3", &own("nacre-brief"))],
        )],
    };
    let data = Data::new();
    write_tree(&data, &session);
    let own = |tag: &str| format!("user Injected(Nacre): {}", own(tag));
    let expected = ["user: Use tabs".to_owned(), own("nacre-memory"), own("nacre-brief")];
    assert_eq!(data.reads()[0].lines(), expected);
}
