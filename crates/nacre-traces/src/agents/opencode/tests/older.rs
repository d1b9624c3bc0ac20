//! Tests storage layouts that are older or newer than the two main ones.

use super::*;

#[test]
fn the_first_tree_of_each_project() {
    let data = Data::new();
    let below = "project/home-me-app/storage/session";
    data.file(
        &format!("{below}/info/ses_1.json"),
        &json!({"id": "ses_1", "title": "Old",
        "version": "0.3", "time": {"created": 1_750_000_000_000_i64}}),
    );
    data.file(
        &format!("{below}/message/ses_1/msg_2.json"),
        &json!({"id": "msg_2", "role": "assistant",
        "path": {"cwd": "/home/me/app"}, "time": {"created": 1_750_000_002_000_i64}}),
    );
    data.file(
        &format!("{below}/message/ses_1/msg_9.json"),
        &json!({"id": "msg_9", "role": "user",
        "time": {"created": 1_750_000_001_000_i64}, "parts": [{"type": "text", "text": "inside"}]}),
    );
    data.file(
        &format!("{below}/part/ses_1/msg_2/prt_1.json"),
        &json!({"type": "text", "text": "ok"}),
    );
    let read = data.reads().remove(0);
    assert_eq!(read.lines(), ["user: inside", "assistant: ok"]);
    assert_eq!(read.outcome.facts.cwd.as_deref(), Some("/home/me/app"));
}

#[test]
fn parts_beside_each_other() {
    let data = Data::new();
    data.file("storage/session/p/ses_s1.json", &json!({"id": "s1", "directory": "/d", "time": {}}));
    data.file(
        "storage/message/s1/msg_0001.json",
        &json!({"id": "m1", "role": "user",
        "time": {"created": 1_730_000_201_000_i64}}),
    );
    data.file(
        "storage/part/prt_0001.json",
        &json!({"id": "x", "messageID": "m1", "type": "text",
        "text": "flat"}),
    );
    let read = data.reads().remove(0);
    assert_eq!(read.lines(), ["user: flat"]);
    assert_eq!(read.outcome.facts.id, "s1");
}

#[test]
fn broken_files_are_counted() {
    let data = Data::new();
    write_tree(&data, &full_session());
    fs::write(data.path("storage/part/msg_1/prt_1.json"), "{\"type\":\"te").unwrap();
    fs::write(data.path("storage/message/ses_1/msg_4.json"), "").unwrap();
    let read = data.reads().remove(0);
    assert_eq!(read.outcome.report.bad_lines, 2);
    assert_eq!(read.lines()[0], FULL_LINES[1]);
    assert!(!read.lines().iter().any(|line| line.starts_with("summary")));
}

fn put_row(connection: &Connection, seq: i64, kind: &str, data: &Value) {
    let sql = "INSERT INTO session_message VALUES (?1, 'ses_1', ?2, ?3, ?4, ?4, ?5)";
    let created = 1_780_000_000_000_i64 + seq;
    connection.execute(sql, (format!("msg_n{seq}"), kind, seq, created, data.to_string())).unwrap();
}

#[test]
fn the_tables_of_mid_2026() {
    let data = Data::new();
    let connection = new_database(&data, "opencode.db");
    let mut session = full_session();
    session.messages.clear();
    write_database(&connection, &session);
    put_row(
        &connection,
        1,
        "model-switched",
        &json!({"model": {"id": "sonnet", "providerID": "x"}}),
    );
    put_row(&connection, 2, "user", &json!({"text": "Go", "files": [{"filename": "b.rs"}]}));
    put_row(&connection, 3, "synthetic", &json!({"text": "by the program"}));
    put_row(&connection, 4, "shell", &json!({"command": "ls", "output": "b.rs"}));
    put_row(
        &connection,
        5,
        "assistant",
        &json!({"model": {"id": "opus"}, "finish": "stop",
        "tokens": {"input": 1, "output": 2}, "content": [
            {"type": "reasoning", "text": "hm"}, {"type": "text", "text": "Gone"},
            {"type": "tool", "id": "k", "name": "bash", "state": {"status": "completed",
                "input": {"command": "pwd"}, "content": [{"type": "text", "text": "/d"}]}},
            {"type": "tool", "id": "e", "name": "bash", "state": {"status": "error",
                "input": {}, "error": {"message": "no"}}}]}),
    );
    put_row(&connection, 6, "compaction", &json!({"reason": "auto", "summary": "so far"}));
    put_row(&connection, 7, "teleport", &json!({}));
    let read = data.reads().remove(0);
    assert_eq!(
        read.lines(),
        [
            "user: Go",
            "user Injected(EditorContext): [b.rs]",
            "user Injected(Host): by the program",
            "user Person(Shell): ls",
            "user Injected(CommandOutput): b.rs",
            "reasoning: hm",
            "assistant: Gone",
            "tool_call: {\"command\":\"pwd\"}",
            "tool_result: /d",
            "tool_call: {}",
            "tool_result!: {\"message\":\"no\"}",
            "compaction Host: auto",
            "summary Injected(CompactionSummary): so far",
            "meta Host: {}",
        ]
    );
    assert_eq!(read.outcome.facts.models, ["sonnet", "opus"]);
    assert_eq!(read.outcome.facts.ending, Ending::Finished);
}

#[test]
fn newer_rows_follow_the_older_ones_and_repeat_none() {
    let data = Data::new();
    let connection = new_database(&data, "opencode.db");
    write_database(&connection, &full_session());
    let n_before = data.reads().remove(0).events.len();
    put_row(&connection, 1, "user", &json!({"text": "later"}));
    let sql = "INSERT INTO session_message SELECT id, session_id, 'user', 0, time_created, \
        time_updated, '{\"text\":\"copy\"}' FROM message";
    connection.execute(sql, []).unwrap();
    let read = data.reads().remove(0);
    assert_eq!(read.events.len(), n_before + 1);
    assert_eq!(read.lines().last().unwrap(), "user: later");
}

#[test]
fn a_database_by_another_name() {
    let data = Data::new();
    write_database(&new_database(&data, "mine.sqlite"), &full_session());
    let home = Homes::at(Path::new("/no")).with("OPENCODE_DB", data.path("mine.sqlite"));
    let sources = OpenCode.discover(&OpenCode.roots(&home)).sources;
    assert_eq!(sources.len(), 1);
    assert_eq!(OpenCode.sessions(&sources[0]).unwrap().len(), 1);
    let memory = Homes::at(Path::new("/no")).with("OPENCODE_DB", ":memory:");
    assert_eq!(OpenCode.roots(&memory).len(), 1);
}
