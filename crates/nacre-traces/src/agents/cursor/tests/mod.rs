//! Tests Cursor's databases and transcripts, handwritten for each version and edge case.
#![expect(clippy::disallowed_methods, reason = "tests write their own traces")]

mod databases;
mod hostile;
mod transcripts;

use crate::transcript::toolkit::*;
use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::Cursor;

struct Home {
    folder: TempDir,
}

impl Home {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn user(&self) -> PathBuf {
        self.folder.path().join(".config/Cursor/User")
    }

    fn global(&self) -> Connection {
        database(&self.user().join("globalStorage/state.vscdb"))
    }

    fn workspace(&self, id: &str, folder: &Value) -> Connection {
        let directory = self.user().join("workspaceStorage").join(id);
        let connection = database(&directory.join("state.vscdb"));
        fs::write(directory.join("workspace.json"), folder.to_string()).unwrap();
        connection
    }

    fn file(&self, path: &str, content: &str) -> PathBuf {
        let path = self.folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    fn sources(&self) -> Vec<TraceSource> {
        let roots = Cursor.roots(&Homes::at(self.folder.path()));
        let discovery = Cursor.discover(&roots);
        assert!(discovery.problems.is_empty(), "{:?}", discovery.problems);
        discovery.sources
    }

    fn traces(&self) -> Vec<Trace> {
        let sessions = |source: &TraceSource| Cursor.sessions(source).unwrap();
        self.sources().iter().flat_map(sessions).collect()
    }

    fn only(&self) -> Read {
        let traces = self.traces();
        assert_eq!(traces.len(), 1, "{traces:?}");
        read(&traces[0])
    }
}

struct Read {
    events: Vec<TranscriptEvent>,
    outcome: ReadOutcome,
}

impl Read {
    /// Formats events as `kind: text`, with the origin if it is unusual for the kind.
    fn lines(&self) -> Vec<String> {
        let line = |event: &TranscriptEvent| {
            let who = match (event.kind, event.origin) {
                (EventKind::User, TextOrigin::Person(_))
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

    fn cwd(&self) -> Option<&str> {
        self.outcome.facts.cwd.as_deref()
    }
}

fn read(trace: &Trace) -> Read {
    let mut events = Vec::new();
    let outcome =
        Cursor.read(trace, None, Sink::everything(&mut |event| events.push(event))).unwrap();
    Read { events, outcome }
}

fn database(path: &Path) -> Connection {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let connection = Connection::open(path).unwrap();
    let sql = "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; \
        CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB); \
        CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);";
    connection.execute_batch(sql).unwrap();
    connection
}

fn put(connection: &Connection, key: &str, value: &Value) {
    let sql = "INSERT INTO cursorDiskKV VALUES (?1, ?2)";
    connection.execute(sql, (key, value.to_string())).unwrap();
}

fn put_item(connection: &Connection, key: &str, value: &Value) {
    let sql = "INSERT INTO ItemTable VALUES (?1, ?2)";
    connection.execute(sql, (key, value.to_string())).unwrap();
}

/// Writes a conversation with headers and rows, as Cursor 1.0 and later store it.
fn put_composer(connection: &Connection, id: &str, composer: Value, bubbles: &[Value]) {
    let headers: Vec<Value> = bubbles
        .iter()
        .map(|bubble| json!({"bubbleId": bubble["bubbleId"], "type": bubble["type"]}))
        .collect();
    let mut value = json!({"_v": 9, "composerId": id, "fullConversationHeadersOnly": headers,
        "conversationMap": {}, "status": "completed", "text": "an unsent draft"});
    if let (Value::Object(all), Value::Object(more)) = (&mut value, composer) {
        all.extend(more);
    }
    put(connection, &format!("composerData:{id}"), &value);
    for bubble in bubbles {
        let bubble_id = bubble["bubbleId"].as_str().unwrap();
        put(connection, &format!("bubbleId:{id}:{bubble_id}"), bubble);
    }
}

fn user(id: &str, text: &str) -> Value {
    json!({"_v": 3, "type": 1, "bubbleId": id, "text": text})
}

fn agent(id: &str, text: &str) -> Value {
    json!({"_v": 3, "type": 2, "bubbleId": id, "text": text})
}
