//! Tests `nacre mcp` as a client would use it: raw JSON-RPC on the process's standard streams.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use crate::agents::{self, Talk};
use crate::home::TestHome;

/// Maximum length of a result.
const MAX_CHARS: usize = 9_000;

/// What the user said in the current session.
pub(crate) const SAID: &str = "let us keep the job queue in SQLite, one file is easy to back up";

/// An MCP server process, and the client's side of the connection to it.
pub(crate) struct Client {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    last_id: u64,
}

impl Client {
    /// Starts the server in the repository, without a handshake.
    pub(crate) fn start(home: &TestHome) -> Self {
        Self::start_in(home, &home.work())
    }

    pub(crate) fn start_in(home: &TestHome, folder: &Path) -> Self {
        let mut command = home.command(folder, &["mcp"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { child, input, output, last_id: 0 }
    }

    /// Starts the server and performs the handshake.
    pub(crate) fn ready(home: &TestHome) -> Self {
        let mut client = Self::start(home);
        client.shake_hands("2025-11-25");
        client
    }

    pub(crate) fn shake_hands(&mut self, version: &str) -> Value {
        let info = json!({ "name": "test", "version": "1" });
        let params = json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": info });
        let answer = self.request("initialize", params);
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        answer["result"].clone()
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.send_line(&message.to_string());
    }

    pub(crate) fn send_line(&mut self, line: &str) {
        let input = self.input.as_mut().unwrap();
        writeln!(input, "{line}").unwrap();
        input.flush().unwrap();
    }

    /// Returns the next message. Every line of standard output must be a message.
    pub(crate) fn receive(&mut self) -> Value {
        let mut line = String::new();
        assert_ne!(self.output.read_line(&mut line).unwrap(), 0, "the server is gone");
        let message: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(message["jsonrpc"], "2.0", "{line}");
        message
    }

    #[expect(clippy::needless_pass_by_value, reason = "tests hand over what they just made")]
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        self.last_id += 1;
        let id = self.last_id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        let answer = self.receive();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// Calls a tool. Returns the text of the result and whether it is an error.
    #[expect(clippy::needless_pass_by_value, reason = "tests hand over what they just made")]
    pub(crate) fn call(&mut self, name: &str, arguments: Value) -> (String, bool) {
        let answer = self.request("tools/call", json!({ "name": name, "arguments": arguments }));
        let result = &answer["result"];
        let text = result["content"][0]["text"].as_str();
        let text = text.unwrap_or_else(|| panic!("{name}: {answer}")).to_owned();
        assert!(text.chars().count() <= MAX_CHARS, "{name}: {}", text.len());
        (text, result["isError"] == true)
    }

    /// Calls a tool that must succeed.
    pub(crate) fn ok(&mut self, name: &str, arguments: Value) -> String {
        let (text, is_error) = self.call(name, arguments);
        assert!(!is_error, "{name}: {text}");
        text
    }

    /// Calls a tool that must fail.
    pub(crate) fn error(&mut self, name: &str, arguments: Value) -> String {
        let (text, is_error) = self.call(name, arguments);
        assert!(is_error, "{name}: {text}");
        text
    }

    /// Closes the input. Returns the exit code and the standard error output.
    pub(crate) fn end(mut self) -> (Option<i32>, String) {
        drop(self.input.take());
        let mut rest = String::new();
        while self.output.read_line(&mut rest).unwrap() != 0 {}
        assert_eq!(rest, "", "after the last answer");
        let output = self.child.wait_with_output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

/// Creates a store with memories and code, and an active Claude Code session.
pub(crate) fn busy_home() -> TestHome {
    let home = TestHome::new();
    home.add("Use SQLite for the queue", &["--body", "One file, no server.", "--tag", "storage"]);
    home.add("Tests run in UTC", &["--type", "learning", "--kind", "convention"]);
    let source = home.work().join("src");
    fs::create_dir_all(&source).unwrap();
    fs::write(source.join("queue.rs"), "pub fn enqueue(job: &str) -> usize { job.len() }\n")
        .unwrap();
    fs::write(source.join("main.rs"), "mod queue;\nfn main() { queue::enqueue(\"a\"); }\n")
        .unwrap();
    write_session(&home, SAID);
    home
}

fn write_session(home: &TestHome, said: &str) {
    let talk = Talk {
        id: "0d1b7a52-4c1e-4c8e-9b61-6f1f5f0c0a01".to_owned(),
        cwd: home.work().display().to_string(),
        title: "The queue".to_owned(),
        user: vec!["how should jobs wait?".to_owned(), said.to_owned()],
        assistant: vec![
            "The linker needs clang here, plain cc fails with undefined symbols".to_owned(),
        ],
        calls: Vec::new(),
    };
    let path = home.root().join(format!(".claude/projects/-work/{}.jsonl", talk.id));
    agents::write(&path, &agents::claude(&talk));
}

#[test]
fn every_revision_that_agents_ask_for_is_agreed_on() {
    let home = TestHome::new();
    for (asked, agreed) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
        ("nonsense", "2025-11-25"),
    ] {
        let mut client = Client::start(&home);
        let info = client.shake_hands(asked);
        assert_eq!(info["protocolVersion"], agreed, "{asked}");
        assert_eq!(info["serverInfo"]["name"], "nacre");
        assert!(info["instructions"].as_str().unwrap().len() < 700);
        assert_eq!(client.end(), (Some(0), String::new()));
    }
}

#[test]
fn a_handshake_opens_no_store_and_makes_no_file() {
    let home = TestHome::empty();
    let mut client = Client::ready(&home);
    let tools = client.request("tools/list", json!({}));
    assert!(!tools["result"]["tools"].as_array().unwrap().is_empty());
    assert_eq!(client.end().0, Some(0));
    assert!(!home.root().join(".nacre").exists());
    assert!(!home.store("").exists());
}

#[test]
fn the_tools_are_as_they_are_told() {
    let home = TestHome::new();
    let mut client = Client::ready(&home);
    let answer = client.request("tools/list", json!({}));
    let mut told = String::new();
    for tool in answer["result"]["tools"].as_array().unwrap() {
        let name = tool["name"].as_str().unwrap();
        let hints = &tool["annotations"];
        let mut marks = Vec::new();
        for (name, mark) in [
            ("readOnlyHint", "reads"),
            ("destructiveHint", "removes"),
            ("idempotentHint", "idempotent"),
            ("openWorldHint", "open"),
        ] {
            assert!(hints[name].is_boolean(), "{tool}");
            if hints[name] == true {
                marks.push(mark);
            }
        }
        if tool["_meta"]["anthropic/alwaysLoad"] == true {
            marks.push("always");
        }
        let schema = &tool["inputSchema"];
        assert_eq!(schema["additionalProperties"], false);
        let names: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
        told.push_str(&format!("{name} {marks:?} {names:?}\n"));
    }
    insta::assert_snapshot!(told, @r#"
    memory_search ["reads", "idempotent", "always"] ["limit", "offset", "query", "since", "type"]
    memory_get ["reads", "idempotent"] ["id", "offset"]
    memory_add ["always"] ["applies", "body", "kind", "quote", "session", "supersedes", "tags", "title", "type"]
    memory_remove ["removes", "idempotent"] ["id"]
    brief ["reads", "idempotent"] ["budget", "files", "offset", "task"]
    ask ["reads", "idempotent", "open"] ["offset", "question", "use_model"]
    trace_search ["reads", "idempotent"] ["agent", "limit", "offset", "query", "since"]
    context ["reads", "idempotent"] ["budget", "files", "files_only", "offset", "task"]
    code_search ["reads", "idempotent"] ["budget", "context", "files_only", "ignore_case", "language", "limit", "mode", "offset", "paths", "query"]
    explore ["reads", "idempotent"] ["budget", "detail", "offset"]
    delta ["reads", "idempotent"] ["after", "since"]
    status ["reads", "idempotent"] []
    "#);
}

#[test]
fn unknown_methods_are_answered_before_and_after_the_handshake() {
    let home = TestHome::new();
    let mut client = Client::start(&home);
    for method in ["server/discover", "nonsense/method"] {
        assert_eq!(client.request(method, json!({}))["error"]["code"], -32601);
    }
    let meta = json!({ "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "new", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    }});
    assert_eq!(client.request("server/discover", meta.clone())["error"]["code"], -32601);
    assert_eq!(client.request("tools/list", json!({}))["error"]["code"], -32600);
    // Messages that arrive before the handshake must not end the server.
    client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    client.send(&json!({ "jsonrpc": "2.0", "id": 99, "result": {} }));
    assert_eq!(client.request("ping", json!({}))["result"], json!({}));
    client.shake_hands("2025-06-18");
    for method in ["server/discover", "nonsense/method", "logging/setLevel"] {
        let answer = client.request(method, json!({ "level": "info" }));
        assert_eq!(answer["error"]["code"], -32601, "{method}: {answer}");
    }
    assert_eq!(client.request("server/discover", meta)["error"]["code"], -32601);
    assert_eq!(client.end(), (Some(0), String::new()));
}

#[test]
fn a_call_that_is_done_can_be_cancelled_and_nothing_happens() {
    let home = busy_home();
    let mut client = Client::ready(&home);
    client.ok("status", json!({}));
    for id in [json!(client.last_id), json!(4711), json!("never")] {
        let params = json!({ "requestId": id, "reason": "too late" });
        client.send(
            &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }),
        );
    }
    assert!(client.ok("status", json!({})).contains("Memories"));
    assert_eq!(client.end(), (Some(0), String::new()));
}

#[test]
fn garbage_is_answered_and_ends_nothing() {
    let home = busy_home();
    let mut client = Client::ready(&home);
    client.send_line("");
    for line in ["garbage", "{", "{\"jsonrpc\":\"2.0\"", "\u{0}\u{1b}[2J", &"[".repeat(100_000)] {
        client.send_line(line);
        assert_eq!(client.receive()["error"]["code"], -32700, "{}", &line[..1]);
    }
    client.send_line(&"x".repeat(5 << 20));
    assert_eq!(client.receive()["error"]["code"], -32700);
    let body = "x".repeat(5 << 20);
    let long = json!({ "id": 77, "jsonrpc": "2.0", "method": "tools/call", "params": body });
    client.send(&long);
    let answer = client.receive();
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(77), &json!(-32600)));
    assert!(client.ok("status", json!({})).contains("Memories"));
    // JSON that is not a message gets an error that has no id.
    client.send_line("{\"hello\":1}");
    assert_eq!(client.receive()["error"]["code"], -32600);
    assert!(client.ok("status", json!({})).contains("Memories"));
    assert_eq!(client.end(), (Some(0), String::new()));
}

#[test]
fn memories_are_resources() {
    let home = busy_home();
    for n in 0..60 {
        home.write(
            &format!("memory/decisions/20261101-rule-{n:02}.md"),
            format!(
                "---\nid: 20261101-rule-{n:02}\ntitle: Rule {n}\nstatus: active\n---\n\nText.\n"
            ),
        );
    }
    let mut client = Client::ready(&home);
    let listed = client.request("resources/list", json!({}));
    assert_eq!(listed["result"]["resources"].as_array().unwrap().len(), 50);
    assert_eq!(listed["result"]["nextCursor"], Value::Null);
    let templates = client.request("resources/templates/list", json!({}));
    assert_eq!(templates["result"]["resourceTemplates"][0]["uriTemplate"], "memory://{id}");
    let uri = "memory://20261115-use-sqlite-for-the-queue";
    let read = client.request("resources/read", json!({ "uri": uri }));
    let contents = &read["result"]["contents"][0];
    assert_eq!((&contents["uri"], &contents["mimeType"]), (&json!(uri), &json!("text/markdown")));
    assert!(contents["text"].as_str().unwrap().contains("One file, no server."));
    for uri in ["memory://20200101-none", "memory://../../config.toml", "file:///etc/passwd", ""] {
        let answer = client.request("resources/read", json!({ "uri": uri }));
        assert_eq!(answer["error"]["code"], -32002, "{uri}: {answer}");
    }
}

#[test]
fn prompts_hold_the_persons_words_and_no_memory() {
    let home = busy_home();
    let mut client = Client::ready(&home);
    let listed = client.request("prompts/list", json!({}));
    let names: Vec<&Value> = listed["result"]["prompts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|prompt| &prompt["name"])
        .collect();
    assert_eq!(names, ["recall", "remember"]);
    let params = json!({ "name": "recall", "arguments": { "topic": "the queue" } });
    let prompt = client.request("prompts/get", params);
    let text = prompt["result"]["messages"][0]["content"]["text"].as_str().unwrap();
    assert!(text.contains("the queue") && !text.contains("SQLite"), "{text}");
    for params in [json!({ "name": "recall" }), json!({ "name": "other", "arguments": {} })] {
        assert_eq!(client.request("prompts/get", params)["error"]["code"], -32602);
    }
}

#[test]
fn a_server_that_nacre_itself_caused_offers_nothing() {
    let home = busy_home().with_var("NACRE_CHILD", "1");
    let mut client = Client::start(&home);
    assert_eq!(client.shake_hands("2025-11-25")["instructions"], Value::Null);
    assert_eq!(client.request("tools/list", json!({}))["result"]["tools"], json!([]));
    let answer = client.request("tools/call", json!({ "name": "status", "arguments": {} }));
    assert_eq!(answer["error"]["code"], -32602);
}

#[test]
fn the_project_is_the_one_around_the_folder_or_the_one_that_was_named() {
    let home = busy_home();
    let inside = home.work().join("src");
    let mut client = Client::start_in(&home, &inside);
    client.shake_hands("2025-11-25");
    assert!(client.ok("memory_search", json!({ "query": "sqlite" })).contains("Use SQLite"));
    let mut command = home.command(&home.root(), &["mcp", "--project", "work"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let input = child.stdin.take();
    let output = BufReader::new(child.stdout.take().unwrap());
    let mut client = Client { child, input, output, last_id: 0 };
    client.shake_hands("2025-11-25");
    assert!(client.ok("memory_search", json!({ "query": "sqlite" })).contains("Use SQLite"));
}

#[test]
fn a_client_that_says_nothing_ends_the_server() {
    let home = TestHome::new();
    let output = home.command(&home.work(), &["mcp"]).stdin(Stdio::null()).output().unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(0), 0));
}
