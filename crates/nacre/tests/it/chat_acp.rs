//! Tests `nacre chat --acp` as an editor would use it: raw JSON-RPC on the process's standard
//! streams.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use crate::answering::{Answering, SAY};
use crate::home::TestHome;

/// Creates a project with an `add` function that subtracts by mistake.
fn home(turns: &Value) -> TestHome {
    let home = TestHome::new();
    fs::write(home.work().join("lib.rs"), "fn add(a: i32, b: i32) -> i32 { a - b }\n").unwrap();
    script(&home, turns);
    home
}

fn script(home: &TestHome, turns: &Value) {
    fs::write(home.root().join("script.json"), json!({ "turns": turns }).to_string()).unwrap();
}

fn code(home: &TestHome) -> String {
    fs::read_to_string(home.work().join("lib.rs")).unwrap()
}

fn mend() -> Value {
    json!({ "name": "file_edit",
            "arguments": { "path": "lib.rs", "edits": [{ "find": "a - b", "replace": "a + b" }] } })
}

/// An editor that sends requests and keeps every message it receives, in order.
struct Editor {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    last_id: u64,
    /// How to answer permission requests: the option to select, or `None` to cancel.
    yes: Option<&'static str>,
}

impl Editor {
    fn start(home: &TestHome) -> Self {
        Self::start_with(home, &["chat", "--acp", "--scripted", "../script.json"])
    }

    fn start_with(home: &TestHome, args: &[&str]) -> Self {
        let mut command = home.command(&home.work(), args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { child, input, output, last_id: 0, yes: None }
    }

    /// Starts the editor, initializes the connection, and opens a session in the repository.
    fn ready(home: &TestHome) -> (Self, String) {
        let mut editor = Self::start(home);
        editor.initialize();
        let new = json!({ "cwd": home.work(), "mcpServers": [] });
        let (_, answer) = editor.request("session/new", &new);
        let session = answer["result"]["sessionId"].as_str().unwrap().to_owned();
        let commands = editor.receive();
        assert_eq!(commands["params"]["update"]["sessionUpdate"], "available_commands_update");
        (editor, session)
    }

    fn initialize(&mut self) -> Value {
        let params = json!({ "protocolVersion": 1, "clientCapabilities": {} });
        self.request("initialize", &params).1["result"].clone()
    }

    fn send_line(&mut self, line: &str) {
        let input = self.input.as_mut().unwrap();
        writeln!(input, "{line}").unwrap();
        input.flush().unwrap();
    }

    fn send(&mut self, method: &str, params: &Value) -> u64 {
        self.last_id += 1;
        let id = self.last_id;
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.send_line(&message.to_string());
        id
    }

    fn notify(&mut self, method: &str, params: &Value) {
        let message = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        self.send_line(&message.to_string());
    }

    /// Returns the next message. Every line of standard output must be a message.
    fn receive(&mut self) -> Value {
        let mut line = String::new();
        assert_ne!(self.output.read_line(&mut line).unwrap(), 0, "the agent is gone");
        let message: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(message["jsonrpc"], "2.0", "{line}");
        message
    }

    /// Waits for the response to a request, answering permission requests in the meantime. Returns
    /// the response, and the messages that came before it.
    fn answer(&mut self, id: u64) -> (Vec<Value>, Value) {
        let mut before = Vec::new();
        loop {
            let message = self.receive();
            if message["method"] == "session/request_permission" {
                let outcome = match self.yes {
                    Some(option) => json!({ "outcome": "selected", "optionId": option }),
                    None => json!({ "outcome": "cancelled" }),
                };
                let answer = json!({
                    "jsonrpc": "2.0", "id": message["id"], "result": { "outcome": outcome },
                });
                self.send_line(&answer.to_string());
            }
            if message["id"] == id && message["method"].is_null() {
                return (before, message);
            }
            before.push(message);
        }
    }

    fn request(&mut self, method: &str, params: &Value) -> (Vec<Value>, Value) {
        let id = self.send(method, params);
        self.answer(id)
    }

    fn prompt(&mut self, session: &str, text: &str) -> (Vec<Value>, Value) {
        let prompt = [json!({ "type": "text", "text": text })];
        self.request("session/prompt", &json!({ "sessionId": session, "prompt": prompt }))
    }

    /// Closes the input. Returns the remaining messages and the exit code.
    fn end(mut self) -> (Vec<Value>, Option<i32>) {
        drop(self.input.take());
        let mut rest = Vec::new();
        let mut line = String::new();
        while self.output.read_line(&mut line).unwrap() != 0 {
            rest.push(serde_json::from_str(&line).unwrap());
            line.clear();
        }
        (rest, self.child.wait().unwrap().code())
    }
}

/// Returns what kinds of updates were received, other than context window usage.
fn kinds(messages: &[Value]) -> Vec<&str> {
    messages
        .iter()
        .filter_map(|message| {
            let update = message["params"]["update"]["sessionUpdate"].as_str();
            update.or_else(|| message["method"].as_str())
        })
        .filter(|kind| !matches!(*kind, "usage_update" | "session_info_update"))
        .collect()
}

fn update<'m>(messages: &'m [Value], kind: &str) -> &'m Value {
    let updates = messages.iter().map(|message| &message["params"]["update"]);
    let mut found = updates.filter(|update| update["sessionUpdate"] == kind);
    found.next().unwrap_or_else(|| panic!("no {kind} in {messages:#?}"))
}

fn said(messages: &[Value]) -> String {
    let updates = messages.iter().map(|message| &message["params"]["update"]);
    let chunks = updates.filter(|update| update["sessionUpdate"] == "agent_message_chunk");
    chunks.filter_map(|update| update["content"]["text"].as_str()).collect()
}

#[test]
fn a_turn_asks_changes_and_ends() {
    let home = home(&json!([
        { "say": "Let me look.", "calls": [{ "name": "file_read", "arguments": { "path": "lib.rs" } }] },
        { "reasoning": "Hm.", "calls": [mend()] },
        { "say": "It adds now." },
    ]));
    let (mut editor, session) = Editor::ready(&home);
    editor.yes = Some("allow_once");
    let (messages, answer) = editor.prompt(&session, "Mend it");
    assert_eq!(answer["result"], json!({ "stopReason": "end_turn" }));
    assert_eq!(
        kinds(&messages),
        [
            "agent_message_chunk",
            "tool_call",
            "tool_call_update",
            "agent_thought_chunk",
            "tool_call",
            "session/request_permission",
            "tool_call_update",
            "agent_message_chunk",
        ]
    );
    assert_eq!(said(&messages), "Let me look.It adds now.");
    let file = home.work().join("lib.rs");
    let read = update(&messages, "tool_call");
    assert_eq!((&read["kind"], &read["title"]), (&json!("read"), &json!("Read lib.rs")));
    assert_eq!(read["locations"], json!([{ "path": file }]));
    let is_question = |message: &&Value| message["method"] == "session/request_permission";
    let question = &messages.iter().find(is_question).unwrap()["params"];
    let options: Vec<&str> = question["options"]
        .as_array()
        .unwrap()
        .iter()
        .map(|option| option["kind"].as_str().unwrap())
        .collect();
    assert_eq!(options, ["allow_once", "allow_always", "reject_once"]);
    let diff = &question["toolCall"]["content"][0];
    assert_eq!((&diff["type"], &diff["path"]), (&json!("diff"), &json!(file)));
    assert!(diff["newText"].as_str().unwrap().contains("a + b"), "{diff}");
    assert!(code(&home).contains("a + b"));
    let (messages, answer) = editor.prompt(&session, "/undo");
    assert_eq!(answer["result"]["stopReason"], "end_turn", "{answer}");
    assert!(said(&messages).contains("lib.rs"), "{messages:?}");
    assert!(code(&home).contains("a - b"));
    assert_eq!(editor.end().1, Some(0));
}

#[test]
fn a_no_is_told_to_the_agent_and_nothing_happens() {
    for no in [Some("reject_once"), None] {
        let home = home(&json!([{ "calls": [mend()] }, { "say": "I was not allowed to." }]));
        let (mut editor, session) = Editor::ready(&home);
        editor.yes = no;
        let (messages, answer) = editor.prompt(&session, "Mend it");
        assert_eq!(answer["result"]["stopReason"], "end_turn");
        assert_eq!(update(&messages, "tool_call_update")["status"], "failed");
        assert!(code(&home).contains("a - b"));
    }
}

#[test]
fn allowed_for_the_session_is_asked_once_and_a_mode_changes_the_questions() {
    let create = |name: &str| json!({ "name": "file_create", "arguments": { "path": name, "content": "x\n" } });
    let run = json!({ "name": "shell_run", "arguments": { "argv": ["true"] } });
    let home = home(&json!([
        { "calls": [run] },
        { "calls": [run] },
        { "say": "Two." },
        { "calls": [create("c")] },
        { "calls": [run] },
        { "say": "Done." },
    ]));
    let (mut editor, session) = Editor::ready(&home);
    let asked = |messages: &[Value]| {
        kinds(messages).into_iter().filter(|kind| *kind == "session/request_permission").count()
    };
    editor.yes = Some("allow_always");
    let (messages, _) = editor.prompt(&session, "Go");
    assert_eq!(asked(&messages), 1, "the same command is asked about once");
    let wrong = json!({ "sessionId": session, "modeId": "yolo" });
    assert_eq!(editor.request("session/set_mode", &wrong).1["error"]["code"], -32602);
    let mode = json!({ "sessionId": session, "modeId": "full" });
    let (_, answer) = editor.request("session/set_mode", &mode);
    assert_eq!(answer["result"], json!({}));
    let (messages, _) = editor.prompt(&session, "More");
    assert_eq!(update(&messages, "current_mode_update")["currentModeId"], "full");
    assert_eq!(asked(&messages), 0);
    assert!(home.work().join("c").exists());
}

#[test]
fn a_cancel_ends_the_turn_that_runs_and_those_that_wait() {
    let home = home(&json!([{ "hang": true }]));
    let (mut editor, session) = Editor::ready(&home);
    let prompt = [json!({ "type": "text", "text": "Wait" })];
    let params = json!({ "sessionId": session, "prompt": prompt });
    let first = editor.send("session/prompt", &params);
    let second = editor.send("session/prompt", &params);
    editor.notify("session/cancel", &json!({ "sessionId": session }));
    // The queued turn may end first.
    let mut waiting = vec![first, second];
    while !waiting.is_empty() {
        let message = editor.receive();
        let Some(place) = waiting.iter().position(|id| message["id"] == *id) else { continue };
        assert_eq!(message["result"]["stopReason"], "cancelled");
        waiting.remove(place);
    }
    assert_eq!(editor.end().1, Some(0));
}

#[test]
fn two_prompts_at_once_are_carried_out_one_after_the_other() {
    let home = home(&json!([{ "say": "One." }, { "say": "Two." }]));
    let (mut editor, session) = Editor::ready(&home);
    let prompt =
        |text: &str| json!({ "sessionId": session, "prompt": [{ "type": "text", "text": text }] });
    let first = editor.send("session/prompt", &prompt("a"));
    let second = editor.send("session/prompt", &prompt("b"));
    // The second turn may start before the response to the first is written.
    let (mut messages, one) = editor.answer(first);
    let (more, two) = editor.answer(second);
    messages.extend(more);
    let ends = [&one, &two].map(|answer| answer["result"]["stopReason"].clone());
    assert_eq!(
        (said(&messages).as_str(), ends),
        ("One.Two.", [json!("end_turn"), json!("end_turn")])
    );
}

#[test]
fn when_the_input_ends_what_runs_is_cancelled_and_says_so() {
    let home = home(&json!([{ "hang": true }]));
    let (mut editor, session) = Editor::ready(&home);
    let prompt = [json!({ "type": "text", "text": "Wait" })];
    let id = editor.send("session/prompt", &json!({ "sessionId": session, "prompt": prompt }));
    let (rest, exit) = editor.end();
    let last = rest.iter().find(|message| message["id"] == id).expect("an answer");
    assert_eq!(last["result"]["stopReason"], "cancelled");
    assert_eq!(exit, Some(0));
}

#[test]
fn a_session_is_listed_loaded_resumed_and_deleted() {
    let home =
        home(&json!([{ "calls": [mend()] }, { "say": "I could not." }, { "say": "Again." }]));
    let (mut editor, session) = Editor::ready(&home);
    editor.yes = Some("reject_once");
    editor.prompt(&session, "Mend it");
    assert_eq!(editor.end().1, Some(0));
    script(&home, &json!([{ "say": "Again." }]));
    let mut editor = Editor::start(&home);
    editor.initialize();
    let (_, listed) = editor.request("session/list", &json!({ "cwd": home.work() }));
    let sessions = listed["result"]["sessions"].as_array().unwrap();
    assert_eq!((sessions.len(), &sessions[0]["sessionId"]), (1, &json!(session)));
    assert_eq!(sessions[0]["cwd"], json!(home.work()));
    let (_, listed) = editor.request("session/list", &json!({ "cwd": home.root() }));
    assert_eq!(listed["result"]["sessions"], json!([]));
    let load = json!({ "sessionId": session, "cwd": home.work(), "mcpServers": [] });
    let (messages, answer) = editor.request("session/load", &load);
    assert_eq!(answer["result"]["modes"]["currentModeId"], "ask", "{answer}");
    assert_eq!(
        kinds(&messages),
        ["user_message_chunk", "tool_call", "tool_call_update", "agent_message_chunk"]
    );
    assert_eq!(update(&messages, "user_message_chunk")["content"]["text"], "Mend it");
    assert_eq!(update(&messages, "tool_call_update")["status"], "failed");
    let (messages, answer) = editor.prompt(&session, "And now?");
    assert_eq!(
        (said(&messages).as_str(), &answer["result"]["stopReason"]),
        ("Again.", &json!("end_turn"))
    );
    let close = json!({ "sessionId": session });
    assert_eq!(editor.request("session/close", &close).1["result"], json!({}));
    let (_, answer) = editor.prompt(&session, "Still there?");
    assert_eq!(answer["error"]["code"], -32002);
    let (messages, answer) = editor.request("session/resume", &load);
    assert_eq!((kinds(&messages).len(), answer["error"].is_null()), (0, true), "{answer}");
    let elsewhere = json!({ "sessionId": session, "cwd": "/usr/bin", "mcpServers": [] });
    assert_eq!(editor.request("session/load", &elsewhere).1["error"]["code"], -32602);
    assert_eq!(editor.request("session/delete", &close).1["result"], json!({}));
    assert_eq!(editor.request("session/load", &load).1["error"]["code"], -32002);
}

#[test]
fn a_model_is_chosen_for_the_session_and_its_cost_adds_up() {
    let home = home(&json!([]));
    // Each response costs one cent.
    let answering = Answering::start(|_| vec![(SAY, json!("Done."))]);
    answering.set_for(&home, "chat");
    home.ok(&["config", "set", "roles.lead.model", "local/zoom"]);
    let mut editor = Editor::start_with(&home, &["chat", "--acp"]);
    editor.initialize();
    let new = json!({ "cwd": home.work(), "mcpServers": [] });
    let (_, answer) = editor.request("session/new", &new);
    let session = answer["result"]["sessionId"].as_str().unwrap().to_owned();
    editor.receive();
    let values = |answer: &Value| -> Vec<(String, String, Vec<String>)> {
        let options = answer["result"]["configOptions"].as_array().unwrap();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let of = |option: &Value| {
            let choices = option["options"].as_array().unwrap();
            let choices = choices.iter().map(|choice| text(&choice["value"])).collect();
            (text(&option["id"]), text(&option["currentValue"]), choices)
        };
        options.iter().map(of).collect()
    };
    let model = |current: &str, choices: &[&str]| {
        let choices = choices.iter().map(|choice| (*choice).to_owned()).collect();
        ("model".to_owned(), current.to_owned(), choices)
    };
    let set = ["local/test", "local/zoom"];
    assert_eq!(values(&answer)[1], model("default", &["default", set[0], set[1]]));
    let choose =
        |id: &str, value: &str| json!({ "sessionId": session, "configId": id, "value": value });
    let (_, answer) = editor.request("session/set_config_option", &choose("model", set[1]));
    assert_eq!(values(&answer)[1], model(set[1], &set));
    assert_eq!(editor.receive()["params"]["update"]["sessionUpdate"], "current_mode_update");
    let (_, answer) = editor.request("session/set_config_option", &choose("mode", "full"));
    assert_eq!(values(&answer)[0].1, "full");
    assert_eq!(editor.receive()["params"]["update"]["currentModeId"], "full");
    for (id, value) in [("model", "local/other"), ("mode", "yolo"), ("colour", "red")] {
        let (_, answer) = editor.request("session/set_config_option", &choose(id, value));
        assert_eq!(answer["error"]["code"], -32602, "{id} {value}");
    }
    let (_, listed) = home.json(&["chat", "--list"]);
    assert_eq!(listed["sessions"][0]["model"], set[1]);
    let mut costs = Vec::new();
    for _ in 0..2 {
        let (messages, _) = editor.prompt(&session, "Go");
        let mut updates = messages.iter().map(|message| &message["params"]["update"]);
        let used = updates.rfind(|update| update["sessionUpdate"] == "usage_update");
        let cost = &used.unwrap_or_else(|| panic!("{messages:#?}"))["cost"];
        assert_eq!(cost["currency"], "USD", "{messages:#?}");
        costs.push(cost["amount"].as_f64().unwrap());
    }
    assert!((costs[0] - 0.01).abs() < 1e-9 && (costs[1] - 0.02).abs() < 1e-9, "{costs:?}");
    assert_eq!(answering.requests()[0]["model"], "zoom");
}

#[test]
fn a_long_list_of_sessions_comes_in_pages() {
    let home = home(&json!([]));
    let turns: Vec<Value> = (0..103).map(|_| json!({ "say": "Yes." })).collect();
    script(&home, &json!(turns));
    let mut editor = Editor::start(&home);
    editor.initialize();
    let mut made = Vec::new();
    for n in 0..103 {
        let new = json!({ "cwd": home.work(), "mcpServers": [] });
        let (_, answer) = editor.request("session/new", &new);
        let session = answer["result"]["sessionId"].as_str().unwrap().to_owned();
        editor.prompt(&session, &format!("Number {n}"));
        editor.request("session/close", &json!({ "sessionId": session }));
        made.push(session);
    }
    let (_, first) = editor.request("session/list", &json!({ "cwd": home.work() }));
    let cursor = first["result"]["nextCursor"].clone();
    assert!(cursor.is_string(), "{first}");
    let (_, second) =
        editor.request("session/list", &json!({ "cwd": home.work(), "cursor": cursor }));
    assert!(second["result"]["nextCursor"].is_null(), "{second}");
    let ids = |answer: &Value| -> Vec<String> {
        let sessions = answer["result"]["sessions"].as_array().unwrap();
        sessions.iter().map(|it| it["sessionId"].as_str().unwrap().to_owned()).collect()
    };
    let (first, second) = (ids(&first), ids(&second));
    assert_eq!((first.len(), second.len()), (100, 3));
    let mut listed: Vec<String> = first.into_iter().chain(second).collect();
    listed.sort();
    made.sort();
    assert_eq!(listed, made);
    let wrong = json!({ "cursor": "sess_none" });
    assert_eq!(editor.request("session/list", &wrong).1["error"]["code"], -32602);
}

#[test]
fn bad_input_is_answered_and_does_no_harm() {
    let home = home(&json!([{ "say": "Fine." }]));
    let mut editor = Editor::start(&home);
    let early = editor.request("session/new", &json!({ "cwd": "/", "mcpServers": [] })).1;
    assert_eq!(early["error"]["code"], -32600);
    let initialized = editor.initialize();
    assert_eq!(initialized["protocolVersion"], 1);
    assert_eq!(initialized["agentCapabilities"]["loadSession"], true);
    let long = format!("\"{}\"", "x".repeat(9 << 20));
    for (line, code, id) in [
        ("{", -32700, Value::Null),
        (long.as_str(), -32700, Value::Null),
        ("[]", -32600, Value::Null),
        (r#"{"jsonrpc":"2.0","id":"a","method":"no/such"}"#, -32601, json!("a")),
        (r#"{"jsonrpc":"2.0","id":9,"method":"session/new"}"#, -32602, json!(9)),
        (
            r#"{"jsonrpc":"2.0","id":9,"method":"session/new","params":{"cwd":"."}}"#,
            -32602,
            json!(9),
        ),
        (
            r#"{"jsonrpc":"2.0","id":9,"method":"session/new","params":{"cwd":"/no/such"}}"#,
            -32002,
            json!(9),
        ),
        (
            r#"{"jsonrpc":"2.0","id":9,"method":"session/prompt","params":{"sessionId":"x","prompt":[]}}"#,
            -32002,
            json!(9),
        ),
    ] {
        editor.send_line(line);
        let answer = editor.receive();
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(code), &id), "{line:.80}");
    }
    // These lines receive no response.
    editor.send_line("");
    editor.notify("session/cancel", &json!({ "sessionId": "x" }));
    editor.notify("session/cancel", &json!(null));
    editor.notify("no/such", &json!({}));
    editor.send_line(r#"{"jsonrpc":"2.0","id":77,"result":{}}"#);
    let new = json!({ "cwd": home.work(), "mcpServers": [{ "name": "m", "command": "false", "args": [], "env": [] }] });
    let (before, answer) = editor.request("session/new", &new);
    assert_eq!(before, Vec::<Value>::new());
    let session = answer["result"]["sessionId"].as_str().unwrap().to_owned();
    editor.receive();
    let image = json!([{ "type": "image", "data": "AAAA", "mimeType": "image/png" }]);
    let (_, answer) =
        editor.request("session/prompt", &json!({ "sessionId": session, "prompt": image }));
    assert_eq!(answer["error"]["code"], -32602);
    let (_, answer) = editor.prompt(&session, " ");
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    let (messages, _) = editor.prompt(&session, "How are you?");
    assert_eq!(said(&messages), "Fine.");
}

#[test]
fn files_and_contents_of_the_editor_reach_the_model() {
    let home = home(&json!([
        { "expect": { "last_contains": ["Look at `lib.rs`", "a - b", "unsaved words"] }, "say": "Seen." },
    ]));
    let (mut editor, session) = Editor::ready(&home);
    let uri = format!("file://{}/lib.rs", home.work().display());
    let prompt = json!([
        { "type": "text", "text": "Look at " },
        { "type": "resource_link", "name": "lib.rs", "uri": uri },
        { "type": "resource", "resource": { "uri": "untitled:1", "text": "unsaved words" } },
    ]);
    let params = json!({ "sessionId": session, "prompt": prompt });
    let (messages, answer) = editor.request("session/prompt", &params);
    assert_eq!(answer["result"]["stopReason"], "end_turn", "{answer}");
    assert_eq!(said(&messages), "Seen.");
}

#[test]
fn an_agent_that_fails_answers_with_an_error() {
    let home = home(&json!([{ "error": { "kind": "auth", "message": "no key" } }]));
    let (mut editor, session) = Editor::ready(&home);
    let (_, answer) = editor.prompt(&session, "Go");
    assert_eq!(answer["error"]["code"], -32603, "{answer}");
    assert!(!answer["error"]["message"].as_str().unwrap().is_empty());
}
