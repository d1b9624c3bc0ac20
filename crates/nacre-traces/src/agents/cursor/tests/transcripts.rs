//! Tests the agent's transcripts and its CLI's stores.

use super::*;
use crate::agents::cursor::uri::to_hex;
use crate::transcript::toolkit::*;

const PROJECT: &str = ".cursor/projects/home-me-my-app/agent-transcripts";

fn line(value: &Value) -> String {
    format!("{value}\n")
}

#[test]
fn lines_of_a_transcript() {
    let home = Home::new();
    let text = |text: &str| json!([{"type": "text", "text": text}]);
    let lines = [
        json!({"role": "user", "message": {"content": text("<timestamp>Tuesday, Sep 16, 2025, 10:01 AM (UTC+2)</timestamp>\n<user_query>\nFix it\n</user_query>")}}),
        json!({"role": "assistant", "message": {"content": [
            {"type": "thinking", "thinking": "hm"},
            {"type": "text", "text": "I look."},
            {"type": "tool_use", "name": "Shell", "input": {"command": "ls", "working_directory": "/home/me/my-app/src"}},
            {"type": "hologram", "text": "?"}]}}),
        json!({"role": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": "t",
            "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}]}}),
        json!({"type": "turn_ended", "status": "error", "error": "lost"}),
        json!({"type": "surprise"}),
    ];
    let path =
        home.file(&format!("{PROJECT}/u1/u1.jsonl"), &lines.iter().map(line).collect::<String>());
    let read = home.only();
    assert_eq!(
        read.lines(),
        [
            "user Injected(Environment): <timestamp>Tuesday, Sep 16, 2025, 10:01 AM (UTC+2)</timestamp>",
            "user: Fix it",
            "reasoning: hm",
            "assistant: I look.",
            "tool_call: {\"command\":\"ls\",\"working_directory\":\"/home/me/my-app/src\"}",
            "meta Host: {\"text\":\"?\",\"type\":\"hologram\"}",
            "tool_result: a\nb",
            "meta Host!: {\"error\":\"lost\",\"status\":\"error\",\"type\":\"turn_ended\"}",
            "meta Host: {\"type\":\"surprise\"}",
        ]
    );
    let facts = &read.outcome.facts;
    assert_eq!((facts.id.as_str(), facts.cwd.as_deref()), ("u1", Some("/home/me/my-app")));
    assert_eq!(facts.ending, Ending::Finished);
    assert_eq!(facts.started.unwrap().to_string(), "2025-09-16T08:01:00Z");
    assert_eq!(read.outcome.report.unknown_records, 2);

    // After the transcript grows, reading resumes where it ended.
    let mark = read.outcome.watermark.unwrap();
    let more = line(&json!({"role": "user", "message": {"content": text("more")}}));
    fs::write(&path, fs::read_to_string(&path).unwrap() + &more).unwrap();
    let mut events = Vec::new();
    let traces = home.traces();
    let outcome = Cursor
        .read(&traces[0], Some(&mark), Sink::everything(&mut |event| events.push(event)))
        .unwrap();
    assert_eq!(events.len(), 1);
    assert_eq!((events[0].sequence, events[0].text.head()), (9, "more"));
    assert_eq!(events[0].key.as_deref(), Some("u1:6"));
    assert_eq!(outcome.facts.cwd.as_deref(), Some("/home/me/my-app"));
    assert_eq!(outcome.facts.ending, Ending::Active);
}

#[test]
fn children_and_old_shapes_of_transcripts() {
    let home = Home::new();
    let hello =
        line(&json!({"role": "user", "message": {"content": [{"type": "text", "text": "hello"}]}}));
    home.file(&format!("{PROJECT}/u1/subagents/k1.jsonl"), &hello);
    home.file(&format!("{PROJECT}/u2.jsonl"), &hello);
    home.file(&format!("{PROJECT}/u3.txt"), "user:\n<user_query>\nfirst\n</user_query>\n\nassistant:\n[Thinking] maybe\nso\n\nI read it.\n[Tool call] Read\n  path: /x\n\n[Tool result] Read\nuser said\n\nnot the agent\n\nassistant:\nDone.\n");
    home.file(".cursor/projects/home-me-my-app/notes.txt", "no trace");
    let reads: Vec<Read> = home.traces().iter().map(read).collect();
    assert_eq!(reads.len(), 3);
    let child = &reads[0].outcome.facts;
    assert_eq!((child.role, child.links[0].kind), (SessionRole::SubAgent, LinkKind::Parent));
    assert_eq!(child.links[0].session, "u1");
    assert_eq!(reads[0].lines(), ["user Agent: hello"]);
    assert!(child.last_activity.is_some());
    assert_eq!(reads[1].lines(), ["user: hello"]);
    assert_eq!(
        reads[2].lines(),
        [
            "user: first",
            "reasoning: maybe\nso",
            "assistant: I read it.",
            "tool_call: path: /x",
            "tool_result: user said\n\nnot the agent",
            "assistant: Done.",
        ]
    );
    assert_eq!(reads[2].events[4].call, reads[2].events[3].call);
}

fn field(number: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![number << 3 | 2, u8::try_from(payload.len()).unwrap()];
    bytes.extend(payload);
    bytes
}

fn put_blob(connection: &Connection, id: u8, data: &[u8]) -> [u8; 32] {
    let hash = [id; 32];
    connection.execute("INSERT INTO blobs VALUES (?1, ?2)", (to_hex(&hash), data)).unwrap();
    hash
}

fn cli_store(path: &Path) -> Connection {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let connection = Connection::open(path).unwrap();
    let sql = "PRAGMA journal_mode = WAL; CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB); \
        CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT);";
    connection.execute_batch(sql).unwrap();
    connection
}

#[test]
fn the_store_of_the_cli() {
    let home = Home::new();
    let path = home.folder.path().join(".cursor/chats/0123/s-1/store.db");
    let store = cli_store(&path);
    let message = |id, value: Value| put_blob(&store, id, value.to_string().as_bytes());
    let system = message(1, json!({"role": "system", "content": "You are"}));
    let ask = message(
        2,
        json!({"role": "user", "content": [{"type": "text",
        "text": "<user_info>\nWorkspace Path: /home/me/cli\n</user_info>\n<user_query>Go</user_query>"}]}),
    );
    let answer = message(
        3,
        json!({"role": "assistant", "content": [
        {"type": "reasoning", "text": "so"}, {"type": "text", "text": "Going"},
        {"type": "tool-call", "toolCallId": "k", "toolName": "Shell", "args": {"command": "ls"}}]}),
    );
    let result = message(
        4,
        json!({"role": "tool", "content": [
        {"type": "tool-result", "toolCallId": "k", "toolName": "Shell", "result": "a.rs"}]}),
    );
    message(5, json!({"role": "user", "content": "an older branch"}));
    let inner = put_blob(&store, 6, &[field(2, &answer), field(2, &result)].concat());
    let again = field(1, &ask);
    let root = [
        field(1, &system),
        field(1, &ask),
        field(1, &inner),
        again,
        field(9, b"file:///home/me/cli%20app"),
    ]
    .concat();
    let root = put_blob(&store, 7, &root);
    let meta = json!({"agentId": "s-1", "latestRootBlobId": to_hex(&root), "name": "CLI talk",
        "createdAt": 1_781_256_145_540_i64, "lastUsedModel": "gpt-5", "blobEncryptionKey": "top secret"});
    let hex = to_hex(meta.to_string().as_bytes());
    store.execute("INSERT INTO meta VALUES ('0', ?1)", [hex]).unwrap();
    let read = home.only();
    assert_eq!(
        read.lines(),
        [
            "user Injected(Environment): <user_info>\nWorkspace Path: /home/me/cli\n</user_info>",
            "user: Go",
            "reasoning: so",
            "assistant: Going",
            "tool_call: {\"command\":\"ls\"}",
            "tool_result: a.rs",
        ]
    );
    let facts = &read.outcome.facts;
    assert_eq!((facts.id.as_str(), facts.title.as_deref()), ("s-1", Some("CLI talk")));
    assert_eq!(facts.models, ["gpt-5"]);
    assert_eq!(facts.cwd.as_deref(), Some("/home/me/cli app"));
    assert!(!format!("{:?}", read.outcome).contains("top secret"));
    // A metadata file next to the store takes precedence for the directory.
    home.file(
        ".cursor/chats/0123/s-1/meta.json",
        &json!({"cwd": "/home/me/real", "title": "T",
        "isSubagent": true})
        .to_string(),
    );
    let read = home.only();
    assert_eq!(read.cwd(), Some("/home/me/real"));
    assert_eq!(read.outcome.facts.title.as_deref(), Some("T"));
    assert_eq!(read.outcome.facts.role, SessionRole::SubAgent);
}

#[test]
fn a_store_without_talk_is_empty() {
    let home = Home::new();
    let store = cli_store(&home.folder.path().join(".cursor/chats/0/s/store.db"));
    store
        .execute("INSERT INTO meta VALUES ('name', 'flat'), ('cwd', '/home/me/flat')", [])
        .unwrap();
    let read = home.only();
    assert!(read.events.is_empty());
    assert_eq!(read.cwd(), Some("/home/me/flat"));
    assert_eq!(read.outcome.facts.ending, Ending::Unknown);
}

#[test]
fn blobs_inside_the_global_database() {
    let home = Home::new();
    let global = home.global();
    let message = json!({"role": "user", "content": "in a blob"}).to_string();
    let key = format!("agentKv:blob:{}", to_hex(&[9; 32]));
    global.execute("INSERT INTO cursorDiskKV VALUES (?1, ?2)", (key, message.as_bytes())).unwrap();
    // Protobuf field 1 with thirty-two bytes of value 9, encoded in base64.
    let state = "~CiAJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQ==";
    put(&global, "composerData:c1", &json!({"composerId": "c1", "conversationState": state}));
    let read = home.only();
    assert_eq!(read.lines(), ["user: in a blob"]);
    assert_eq!(read.outcome.facts.ending, Ending::Active);
}
