//! Generates each agent's trace format from a single conversation.

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use serde_json::{Value, json};

/// The time of every message.
const TIME: &str = "2026-11-01T10:00:00.000Z";
const MILLIS: i64 = 1_793_527_200_000;

/// A session's messages and tool calls.
#[derive(Clone, Debug, Default)]
pub(crate) struct Talk {
    pub(crate) id: String,
    pub(crate) cwd: String,
    pub(crate) title: String,
    pub(crate) user: Vec<String>,
    pub(crate) assistant: Vec<String>,
    /// Each tool call's arguments and output.
    pub(crate) calls: Vec<(Value, String)>,
}

fn lines(records: &[Value]) -> String {
    records.iter().map(|record| format!("{record}\n")).collect()
}

/// Returns a transcript as Claude Code writes it.
pub(crate) fn claude(talk: &Talk) -> String {
    let record = |kind: &str, uuid: String, message: Value| {
        json!({ "type": kind, "uuid": uuid, "parentUuid": null, "isSidechain": false, "userType": "external",
            "cwd": talk.cwd, "sessionId": talk.id, "version": "2.1.7", "gitBranch": "main",
            "timestamp": TIME, "message": message })
    };
    let answer = |n: usize, block: Value| {
        let message = json!({ "id": format!("msg_{n}"), "model": "claude-x", "role": "assistant",
            "content": [block] });
        record("assistant", format!("a{n}"), message)
    };
    let mut records =
        vec![json!({ "type": "custom-title", "customTitle": talk.title, "sessionId": talk.id })];
    for (n, text) in talk.user.iter().enumerate() {
        records.push(record("user", format!("u{n}"), json!({ "role": "user", "content": text })));
    }
    for (n, text) in talk.assistant.iter().enumerate() {
        records.push(answer(n, json!({ "type": "text", "text": text })));
    }
    for (n, (arguments, result)) in talk.calls.iter().enumerate() {
        let call = format!("toolu_{n}");
        let n = talk.assistant.len() + n;
        records.push(answer(
            n,
            json!({ "type": "tool_use", "id": call, "name": "Bash", "input": arguments }),
        ));
        let block = json!({ "type": "tool_result", "tool_use_id": call, "content": result });
        let mut carrier =
            record("user", format!("r{n}"), json!({ "role": "user", "content": [block] }));
        carrier["toolUseResult"] = json!({ "stdout": result, "stderr": "" });
        records.push(carrier);
    }
    lines(&records)
}

/// Returns a rollout as Codex writes it.
pub(crate) fn codex(talk: &Talk) -> String {
    let record =
        |kind: &str, payload: Value| json!({ "timestamp": TIME, "type": kind, "payload": payload });
    let mut records = vec![record(
        "session_meta",
        json!({ "id": talk.id, "cwd": talk.cwd, "cli_version": "0.118.0" }),
    )];
    for text in &talk.user {
        records.push(record(
            "event_msg",
            json!({ "type": "user_message", "message": text, "images": [] }),
        ));
    }
    for text in &talk.assistant {
        records.push(record("event_msg", json!({ "type": "agent_message", "message": text })));
    }
    for (n, (arguments, result)) in talk.calls.iter().enumerate() {
        let call = format!("call_{n}");
        let made = json!({ "type": "function_call", "name": "shell", "arguments": arguments.to_string(), "call_id": call });
        records.push(record("response_item", made));
        let output = json!({ "type": "function_call_output", "call_id": call, "output": result });
        records.push(record("response_item", output));
    }
    lines(&records)
}

/// Returns a transcript in Nacre's own format.
pub(crate) fn generic(talk: &Talk) -> String {
    let mut records = vec![
        json!({ "type": "session", "version": 1, "id": talk.id, "cwd": talk.cwd, "title": talk.title }),
    ];
    let said = |kind: &str, text: &String| json!({ "type": kind, "text": text, "time": TIME });
    records.extend(talk.user.iter().map(|text| said("user", text)));
    records.extend(talk.assistant.iter().map(|text| said("assistant", text)));
    for (arguments, result) in &talk.calls {
        records.push(json!({ "type": "tool_call", "tool": "shell", "call": "c", "text": arguments.to_string() }));
        records.push(json!({ "type": "tool_result", "call": "c", "text": result }));
    }
    lines(&records)
}

/// Returns a transcript as Cursor's agent writes it.
pub(crate) fn cursor_lines(talk: &Talk) -> String {
    let record =
        |role: &str, block: Value| json!({ "role": role, "message": { "content": [block] } });
    let text = |text: &String| json!({ "type": "text", "text": text });
    let folder = format!("<user_info>\nWorkspace Path: {}\n</user_info>", talk.cwd);
    let mut records = vec![record("user", text(&folder))];
    records.extend(talk.user.iter().map(|said| record("user", text(said))));
    records.extend(talk.assistant.iter().map(|said| record("assistant", text(said))));
    for (n, (arguments, result)) in talk.calls.iter().enumerate() {
        let call = format!("call_{n}");
        records.push(record(
            "assistant",
            json!({ "type": "tool_use", "id": call, "name": "Shell", "input": arguments }),
        ));
        records.push(record(
            "user",
            json!({ "type": "tool_result", "tool_use_id": call, "content": result }),
        ));
    }
    lines(&records)
}

/// Creates the Cursor editor's database and returns it open, so that a test can lock it.
pub(crate) fn cursor_database(path: &Path, talk: &Talk) -> Connection {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let database = Connection::open(path).unwrap();
    database
        .execute_batch(
            "PRAGMA journal_mode = DELETE;
             CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
             CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);",
        )
        .unwrap();
    let mut bubbles = Vec::new();
    for (n, text) in talk.user.iter().enumerate() {
        bubbles.push(json!({ "_v": 3, "type": 1, "bubbleId": format!("u{n}"), "text": text }));
    }
    for (n, text) in talk.assistant.iter().enumerate() {
        bubbles.push(json!({ "_v": 3, "type": 2, "bubbleId": format!("a{n}"), "text": text }));
    }
    for (n, (arguments, result)) in talk.calls.iter().enumerate() {
        let tool = json!({ "tool": 15, "name": "run_terminal_cmd", "toolCallId": format!("c{n}"),
            "rawArgs": arguments.to_string(), "status": "completed",
            "result": json!({ "output": result }).to_string() });
        bubbles.push(json!({ "_v": 3, "type": 2, "bubbleId": format!("t{n}"), "capabilityType": 15, "text": "",
            "toolFormerData": tool }));
    }
    let headers: Vec<Value> = bubbles
        .iter()
        .map(|bubble| json!({ "bubbleId": bubble["bubbleId"], "type": bubble["type"] }))
        .collect();
    let composer = json!({ "_v": 9, "composerId": talk.id, "name": talk.title, "createdAt": MILLIS,
        "fullConversationHeadersOnly": headers, "conversationMap": {}, "status": "completed", "text": "",
        "workspaceUris": [format!("file://{}", talk.cwd)] });
    let put = |key: String, value: &Value| {
        database
            .execute("INSERT INTO cursorDiskKV VALUES (?1, ?2)", (key, value.to_string()))
            .unwrap();
    };
    put(format!("composerData:{}", talk.id), &composer);
    for bubble in &bubbles {
        put(format!("bubbleId:{}:{}", talk.id, bubble["bubbleId"].as_str().unwrap()), bubble);
    }
    database
}

/// Creates OpenCode's database.
pub(crate) fn opencode_database(path: &Path, talk: &Talk) -> Connection {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let database = Connection::open(path).unwrap();
    database
        .execute_batch(
            "CREATE TABLE session (id TEXT PRIMARY KEY, directory TEXT, title TEXT,
               time_created INTEGER, time_updated INTEGER);
             CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, data TEXT, time_created INTEGER);
             CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, data TEXT);",
        )
        .unwrap();
    let session = (&talk.id, &talk.cwd, &talk.title, MILLIS);
    database.execute("INSERT INTO session VALUES (?1, ?2, ?3, ?4, ?4)", session).unwrap();
    for (n, (role, part)) in opencode_parts(talk).into_iter().enumerate() {
        let (message, part_id) = (format!("msg_{n:04}"), format!("prt_{n:04}"));
        let data = json!({ "role": role }).to_string();
        database
            .execute(
                "INSERT INTO message VALUES (?1, ?2, ?3, ?4)",
                (&message, &talk.id, data, MILLIS),
            )
            .unwrap();
        database
            .execute(
                "INSERT INTO part VALUES (?1, ?2, ?3, ?4)",
                (part_id, message, &talk.id, part.to_string()),
            )
            .unwrap();
    }
    database
}

/// Writes OpenCode's file tree to `storage`.
pub(crate) fn opencode_tree(storage: &Path, talk: &Talk) {
    let write = |below: String, value: &Value| {
        let path = storage.join(below);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, value.to_string()).unwrap();
    };
    let info = json!({ "id": talk.id, "title": talk.title, "directory": talk.cwd, "version": "0.9",
        "time": { "created": MILLIS, "updated": MILLIS } });
    write(format!("session/global/{}.json", talk.id), &info);
    for (n, (role, mut part)) in opencode_parts(talk).into_iter().enumerate() {
        let (message, part_id) = (format!("msg_{n:04}"), format!("prt_{n:04}"));
        let value = json!({ "id": message, "sessionID": talk.id, "role": role, "time": { "created": MILLIS } });
        write(format!("message/{}/{message}.json", talk.id), &value);
        part["id"] = json!(part_id);
        part["messageID"] = json!(message);
        write(format!("part/{message}/{part_id}.json"), &part);
    }
}

fn opencode_parts(talk: &Talk) -> Vec<(&'static str, Value)> {
    let text = |text: &String| json!({ "type": "text", "text": text });
    let mut parts: Vec<_> = talk.user.iter().map(|said| ("user", text(said))).collect();
    parts.extend(talk.assistant.iter().map(|said| ("assistant", text(said))));
    parts.extend(talk.calls.iter().enumerate().map(|(n, (arguments, result))| {
        let state = json!({ "status": "completed", "input": arguments, "output": result, "title": "ran",
            "metadata": {}, "time": { "start": MILLIS, "end": MILLIS } });
        ("assistant", json!({ "type": "tool", "callID": format!("c{n}"), "tool": "bash", "state": state }))
    }));
    parts
}

pub(crate) fn write(path: &PathBuf, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}
