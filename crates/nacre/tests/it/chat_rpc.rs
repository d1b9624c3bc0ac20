//! Tests the chat protocol with a real server: plain lines and WebSocket, several clients, replay,
//! aborts, approvals and the queue.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use nacre_types::{RpcMessage, RpcRequest};
use serde_json::{Value, json};

use crate::answering::{Answering, SAY};
use crate::home::TestHome;
use crate::people::token;
use crate::serve::Served;

/// A client that sends plain lines.
pub(crate) struct Wire {
    stream: TcpStream,
    reader: BufReader<TcpStream>,
    next: u64,
    /// Task messages that arrived before a response.
    pub(crate) told: Vec<String>,
}

impl Wire {
    pub(crate) fn open(served: &Served) -> Self {
        Self::open_as(served, &served.token)
    }

    pub(crate) fn open_as(served: &Served, token: &str) -> Self {
        let mut wire = Self::ungreeted(served, token);
        let hello = wire.ask("hello", &json!({ "version": 1, "client": "test" }));
        assert_eq!(hello["result"]["version"], 1, "{hello}");
        wire
    }

    fn ungreeted(served: &Served, token: &str) -> Self {
        let mut stream = TcpStream::connect(&served.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let host = &served.address;
        let head = format!(
            "GET /rpc HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nConnection: Upgrade\r\nUpgrade: nacre-rpc\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).unwrap();
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let mut status = String::new();
        reader.read_line(&mut status).unwrap();
        assert!(status.starts_with("HTTP/1.1 101"), "{status}");
        let mut line = String::new();
        while line != "\r\n" {
            line.clear();
            reader.read_line(&mut line).unwrap();
        }
        Self { stream, reader, next: 1, told: Vec::new() }
    }

    /// Sends a line and waits until the server closes the connection. Returns everything that was
    /// received by then.
    pub(crate) fn read_to_end(mut self, line: &str) -> String {
        // If the server has already closed the connection, writing fails.
        let _ = self.stream.write_all(line.as_bytes());
        let mut said = String::new();
        let _ = self.reader.read_to_string(&mut said);
        said
    }

    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        assert_ne!(self.reader.read_line(&mut line).unwrap(), 0, "the server closed the line");
        line.trim_end().to_owned()
    }

    fn send(&mut self, method: &str, params: &Value) -> u64 {
        let id = self.next;
        self.next += 1;
        let request = json!({ "id": id, "method": method, "params": params });
        writeln!(self.stream, "{request}").unwrap();
        id
    }

    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> Value {
        let id = self.send(method, params);
        loop {
            let line = self.line();
            let value: Value = serde_json::from_str(&line).unwrap();
            if value.get("sequence").is_some() {
                self.told.push(line);
            } else {
                assert_eq!(value["id"], id, "{value}");
                return value;
            }
        }
    }

    pub(crate) fn session(&mut self, home: &TestHome, policy: &str) -> String {
        let made =
            self.ask("session.create", &json!({ "workspace": home.work(), "policy": policy }));
        made["result"]["session"]["id"].as_str().unwrap_or_else(|| panic!("{made}")).to_owned()
    }

    pub(crate) fn start(&mut self, session: &str, text: &str) -> String {
        let started = self.ask("chat.start", &json!({ "session": session, "text": text }));
        started["result"]["task"].as_str().unwrap_or_else(|| panic!("{started}")).to_owned()
    }

    /// Returns the next task message.
    fn message(&mut self) -> Value {
        let line = if self.told.is_empty() { self.line() } else { self.told.remove(0) };
        serde_json::from_str(&line).unwrap()
    }

    /// Returns a task's lines, up to and including the first one of this type.
    pub(crate) fn until(&mut self, task: &str, kind: &str) -> Vec<Value> {
        let mut seen = Vec::new();
        loop {
            let message = self.message();
            if message["task"] != task {
                continue;
            }
            let is_it = message["type"] == kind;
            seen.push(message);
            if is_it {
                return seen;
            }
        }
    }

    /// Returns all of a task's raw lines after a sequence number.
    pub(crate) fn replay(&mut self, task: &str, after: u64) -> Vec<String> {
        self.told.clear();
        self.ask("task.follow", &json!({ "task": task, "after": after }));
        let mut lines = std::mem::take(&mut self.told);
        while !lines.last().is_some_and(|line| is_last(line)) {
            lines.push(self.line());
        }
        lines
    }
}

pub(crate) fn is_last(line: &str) -> bool {
    ["task.completed", "task.failed", "task.cancelled"]
        .iter()
        .any(|kind| line.contains(&format!("\"type\":\"{kind}\"")))
}

fn home() -> TestHome {
    let home = TestHome::new();
    fs::write(home.work().join("lib.rs"), "fn add(a: i32, b: i32) -> i32 { a - b }\n").unwrap();
    home
}

pub(crate) fn say(text: &str) -> Vec<(&'static str, Value)> {
    vec![(SAY, json!(text))]
}

fn edit() -> Vec<(&'static str, Value)> {
    vec![(
        "file_edit",
        json!({ "path": "lib.rs", "edits": [{ "find": "a - b", "replace": "a + b" }] }),
    )]
}

/// Starts a model that gives these responses in order, and responds `Done.` from then on.
pub(crate) fn playing(answers: Vec<Vec<(&'static str, Value)>>) -> Answering {
    let next = AtomicUsize::new(0);
    Answering::start(move |_| {
        let answer = answers.get(next.fetch_add(1, Ordering::SeqCst)).cloned();
        answer.unwrap_or_else(|| say("Done."))
    })
}

#[test]
fn a_turn_is_followed_by_several_clients_and_replayed_byte_for_byte() {
    let home = home();
    let model = playing(vec![edit(), say("It adds now.")]);
    model.set_for(&home, "chat");
    let served = Served::start(&home);
    let (mut one, mut two) = (Wire::open(&served), Wire::open(&served));
    let session = one.session(&home, "auto_edit");
    let task = one.start(&session, "Mend add");
    let live = one.until(&task, "task.completed");
    let numbers: Vec<u64> =
        live.iter().map(|message| message["sequence"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>());
    assert_eq!(live[0]["type"], "task.accepted");
    let (first, second) = (one.replay(&task, 0), two.replay(&task, 0));
    assert_eq!(first, second);
    assert_eq!(two.replay(&task, 3), first[3..]);
    let last: Vec<&String> = first.iter().filter(|line| is_last(line)).collect();
    assert_eq!(last.len(), 1);
    for line in &first {
        let message: RpcMessage = serde_json::from_str(line).unwrap();
        assert!(matches!(message, RpcMessage::Task(_)), "{line}");
    }
    assert!(fs::read_to_string(home.work().join("lib.rs")).unwrap().contains("a + b"));
    let undone = two.ask("chat.undo", &json!({ "session": session }));
    assert_eq!(undone["result"]["restored"], json!(["lib.rs"]));
    assert_eq!(served.stop(), 0);
    // Another server on the same home replays the same messages.
    let served = Served::start(&home);
    assert_eq!(Wire::open(&served).replay(&task, 0), first);
}

#[test]
fn what_a_person_with_a_token_has_remembered_is_never_the_owners_word() {
    let home = home();
    let admin = token(&home, &["boss", "--scope", "admin"]);
    let add = |title: &str, quote: &str| {
        let claim = json!({ "title": title, "body": quote, "quote": quote });
        vec![("memory_add", claim)]
    };
    let [theirs, own] =
        ["Please always deploy with make ship.", "Please always run the linter with make lint."];
    let model = playing(vec![
        add("Deploy with make ship", theirs),
        say("Noted."),
        add("Run the linter with make lint", own),
        say("Noted."),
    ]);
    model.set_for(&home, "chat");
    let served = Served::start(&home);
    let turn = |token: &str, text: &str| {
        let mut wire = Wire::open_as(&served, token);
        let session = wire.session(&home, "full");
        let task = wire.start(&session, text);
        let told = wire.until(&task, "task.completed");
        let trace = home.root().join(format!(".nacre/sessions/{session}.jsonl"));
        (told, trace.exists())
    };
    let (told, has_trace) = turn(&admin, theirs);
    assert!(!has_trace, "a sync would read it as the words of the owner: {told:?}");
    let (_, has_trace) = turn(&served.token, own);
    assert!(has_trace);
    let trust = |id: &str| home.json(&["memory", "show", id]).1["trust"].clone();
    assert_eq!(trust("20261115-deploy-with-make-ship"), "foreign", "{told:?}");
    // The owner's own memories state no trust level.
    assert_eq!(trust("20261115-run-the-linter-with-make-lint"), Value::Null);
}

/// A trace is attributed to the owner and the agent, so it must not contain turns of other users,
/// even if the owner continues their session.
#[test]
fn the_owners_trace_leaves_out_the_turns_of_other_people() {
    let home = home();
    let model = playing(["One.", "Two.", "Three."].map(say).to_vec());
    model.set_for(&home, "chat");
    let admin = token(&home, &["cy", "--scope", "admin"]);
    let served = Served::start(&home);
    let (mut owners, mut guests) = (Wire::open(&served), Wire::open_as(&served, &admin));
    let session = guests.session(&home, "auto_edit");
    let turns = [
        (&mut guests, "We always release on Fridays"),
        (&mut owners, "We always release on Mondays"),
    ];
    for (wire, text) in turns {
        let task = wire.start(&session, text);
        wire.until(&task, "task.completed");
    }
    let exported = owners.ask("session.export", &json!({ "session": session })).to_string();
    assert!(exported.contains("Fridays") && exported.contains("Mondays"), "{exported}");
    served.stop();
    let trace = home.root().join(format!(".nacre/sessions/{session}.jsonl"));
    let trace = fs::read_to_string(trace).unwrap();
    assert!(trace.contains("Mondays") && trace.contains("Two."), "{trace}");
    assert!(!trace.contains("Fridays") && !trace.contains("One."), "{trace}");
}

#[test]
fn a_result_comes_with_a_patch_for_each_file_that_its_call_changed() {
    let home = home();
    let key = ["ghp_", "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"].concat();
    let create = ("file_create", json!({ "path": "key.txt", "content": format!("k {key}\n") }));
    let moved = vec![("file_move", json!({ "from": "lib.rs", "to": "src/lib.rs" }))];
    let model = playing(vec![vec![edit()[0].clone(), create], moved, say("Done.")]);
    model.set_for(&home, "chat");
    let served = Served::start(&home);
    let mut wire = Wire::open(&served);
    let session = wire.session(&home, "auto_edit");
    let task = wire.start(&session, "Mend add");
    let told = wire.until(&task, "task.completed");
    let results: Vec<&Value> =
        told.iter().filter(|message| message["type"] == "tool.result").collect();
    let patches: Vec<Vec<String>> = results
        .iter()
        .map(|result| {
            let patches = result["patches"].as_array().unwrap_or_else(|| panic!("{result}"));
            let shown = |patch: &Value| {
                let path = patch["path"].as_str().unwrap();
                format!("{path} +{} -{}", patch["added"], patch["removed"])
            };
            patches.iter().map(shown).collect()
        })
        .collect();
    assert_eq!(
        patches,
        [vec!["lib.rs +1 -1"], vec!["key.txt +1 -0"], vec!["lib.rs +0 -1", "src/lib.rs +1 -0"]]
    );
    let diff = results[0]["patches"][0]["diff"].as_str().unwrap();
    assert!(diff.contains("-fn add(a: i32, b: i32) -> i32 { a - b }\n+fn add"), "{diff}");
    let created = results[1]["patches"][0].to_string();
    assert!(created.contains("redacted") && !created.contains(&key), "{created}");
    assert_eq!(wire.replay(&task, 0).len(), told.len(), "and again when it is replayed");
}

/// A one-pixel image.
const DOT: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

#[test]
fn what_is_attached_reaches_the_model_and_pictures_are_kept_by_reference() {
    let home = home();
    let model = playing(vec![say("A dot."), say("Still a dot.")]);
    model.set_for(&home, "chat");
    let served = Served::start(&home);
    let mut wire = Wire::open(&served);
    let session = wire.session(&home, "ask");
    let image = json!({ "attachment": "image", "media_type": "image/jpeg", "data": DOT });
    let file = json!({ "attachment": "file", "path": home.work().join("lib.rs") });
    let start = |attachments: Value| json!({ "session": session, "text": "What is this?", "attachments": attachments });
    let started = wire.ask("chat.start", &start(json!([image, file])));
    let task = started["result"]["task"].as_str().unwrap_or_else(|| panic!("{started}")).to_owned();
    wire.until(&task, "task.completed");
    let task = wire.start(&session, "And now?");
    wire.until(&task, "task.completed");
    for asked in model.requests() {
        let asked = asked.to_string();
        // The image's first bytes determine its type, whatever the client claims. The image is sent
        // again with the next turn.
        assert!(asked.contains(&format!("data:image/png;base64,{DOT}")), "{asked}");
        assert!(asked.contains("fn add(a: i32"), "{asked}");
    }
    assert_eq!(n_pictures(&home), 1, "once, and not in the conversation");
    let items = wire.ask("session.items", &json!({ "session": session })).to_string();
    assert!(items.contains("[a picture, image/png, 70 bytes]") && !items.contains(DOT), "{items}");
    for (wrong, why) in [
        (
            json!([{ "attachment": "image", "media_type": "image/png", "data": "aGVsbG8=" }]),
            "is not a PNG",
        ),
        (
            json!([{ "attachment": "image", "media_type": "image/png", "data": "!" }]),
            "not valid base64",
        ),
        (json!(vec![image.clone(); 5]), "at most 4 images"),
        (json!([{ "attachment": "file", "path": "/etc/passwd" }]), "cannot be attached"),
    ] {
        let started = wire.ask("chat.start", &start(wrong));
        let task =
            started["result"]["task"].as_str().unwrap_or_else(|| panic!("{started}")).to_owned();
        let failed = wire.until(&task, "task.failed").pop().unwrap().to_string();
        assert!(failed.contains(why), "{failed}");
    }
    assert_eq!(model.requests().len(), 2, "nothing was asked with what cannot be sent");
    // A copy of the session still contains the image, which is deleted with the last session that
    // has it.
    let copy = wire.ask("session.fork", &json!({ "session": session }));
    let copy =
        copy["result"]["session"]["id"].as_str().unwrap_or_else(|| panic!("{copy}")).to_owned();
    for (gone, n_left) in [(&session, 1), (&copy, 0)] {
        let removed = wire.ask("session.remove", &json!({ "session": gone }));
        assert!(removed["error"].is_null(), "{removed}");
        assert_eq!(n_pictures(&home), n_left, "{removed}");
    }
}

fn n_pictures(home: &TestHome) -> usize {
    let kept = fs::read_dir(home.root().join(".nacre/pictures")).unwrap();
    kept.map(|entry| entry.unwrap().file_name())
        .filter(|name| {
            name.to_string_lossy().len() > 20 && !name.to_string_lossy().starts_with('.')
        })
        .count()
}

#[test]
fn a_secret_that_a_model_says_in_pieces_stands_in_no_message() {
    let home = home();
    let key = ["ghp_", "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"].concat();
    let pieces = ["It says ", &key[..10], &key[10..25], &key[25..], " and ends.", " All is well."];
    let model = playing(vec![pieces.iter().map(|piece| (SAY, json!(piece))).collect()]);
    model.set_for(&home, "chat");
    let served = Served::start(&home);
    let mut wire = Wire::open(&served);
    let session = wire.session(&home, "ask");
    let task = wire.start(&session, "What does it say?");
    wire.until(&task, "task.completed");
    let lines = wire.replay(&task, 0);
    let said: String = lines
        .iter()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|message| message["type"] == "text")
        .map(|message| message["text"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(said, "It says [redacted:github-token] and ends. All is well.");
    for part in [&key[4..12], &key[12..25], &key[28..]] {
        assert!(!lines.concat().contains(part), "{lines:?}");
    }
}

#[test]
fn jobs_end_with_their_turn_and_what_they_did_is_taken_back() {
    let home = home();
    let script = "echo early > early.txt; sleep 600";
    let start = vec![("shell_start", json!({ "script": script }))];
    let model =
        playing(vec![start, vec![("shell_poll", json!({ "job": 1, "wait": 2 }))], say("Done.")]);
    model.set_for(&home, "chat");
    let served = Served::start(&home);
    let mut wire = Wire::open(&served);
    let session = wire.session(&home, "full");
    let task = wire.start(&session, "Start it");
    let told = wire.until(&task, "task.completed");
    let could_not_run = |text: &str| text.contains("could not run");
    if told.iter().filter_map(|message| message["text"].as_str()).any(could_not_run) {
        // Without a sandbox, no program runs.
        return;
    }
    let notice = "The background job 1 (echo early > early.txt; sleep 600) was stopped at the end of the turn";
    assert!(told.iter().any(|message| message["text"] == notice), "{told:?}");
    assert!(home.work().join("early.txt").exists());
    let undone = wire.ask("chat.undo", &json!({ "session": session }));
    assert_eq!(undone["result"]["restored"], json!(["early.txt"]), "{undone}");
    assert!(!home.work().join("early.txt").exists());
}

#[test]
fn a_person_says_yes_or_no_and_the_agent_hears_why() {
    let home = home();
    let model = playing(vec![edit(), edit(), say("Thanks.")]);
    model.set_for(&home, "chat");
    let served = Served::start(&home);
    let (mut asks, mut answers) = (Wire::open(&served), Wire::open(&served));
    let session = asks.session(&home, "ask");
    let task = asks.start(&session, "Mend add");
    let question = asks.until(&task, "approval.request").pop().unwrap();
    assert!(
        question["diff"].as_str().unwrap().contains("+fn add(a: i32, b: i32) -> i32 { a + b }")
    );
    let answer = json!({ "approval": question["approval"], "answer": "deny", "reason": "not yet" });
    assert_eq!(answers.ask("approval.answer", &answer)["error"], Value::Null);
    assert_eq!(answers.ask("approval.answer", &answer)["error"]["code"], "not_found");
    let question = asks.until(&task, "approval.request").pop().unwrap();
    assert!(fs::read_to_string(home.work().join("lib.rs")).unwrap().contains("a - b"));
    answers.ask("approval.answer", &json!({ "approval": question["approval"], "answer": "once" }));
    asks.until(&task, "task.completed");
    assert!(fs::read_to_string(home.work().join("lib.rs")).unwrap().contains("a + b"));
    let told = model.requests()[1].to_string();
    assert!(told.contains("not yet"), "{told}");
}

#[test]
fn turns_of_a_session_wait_for_each_other_and_are_stopped_one_by_one() {
    let home = home();
    // The first turn asks for approval, so it keeps running until the request is answered.
    let model = playing(vec![edit()]);
    model.set_for(&home, "chat");
    let served = Served::start(&home);
    let mut wire = Wire::open(&served);
    let session = wire.session(&home, "ask");
    let first = wire.start(&session, "Mend add");
    wire.until(&first, "approval.request");
    let second = wire.start(&session, "And sub");
    let third = wire.start(&session, "And mul");
    let queued = wire.until(&third, "task.queued").pop().unwrap();
    assert_eq!(queued["position"], 2);
    let aborted = wire.ask("chat.abort", &json!({ "task": second }));
    assert_eq!(aborted["result"]["was_running"], true);
    wire.until(&second, "task.cancelled");
    assert_eq!(wire.until(&third, "task.queued").pop().unwrap()["position"], 1);
    wire.ask("chat.abort", &json!({ "task": first }));
    wire.until(&first, "task.cancelled");
    wire.until(&third, "task.completed");
    for task in [&first, &second, &third] {
        let lines = wire.replay(task, 0);
        assert_eq!(lines.iter().filter(|line| is_last(line)).count(), 1, "{lines:?}");
    }
    assert!(fs::read_to_string(home.work().join("lib.rs")).unwrap().contains("a - b"));
}

#[test]
fn words_that_come_meanwhile_are_taken_up_with_the_next_step() {
    let home = home();
    let model = playing(vec![edit(), say("As you wish.")]);
    model.set_for(&home, "chat");
    let served = Served::start(&home);
    let mut wire = Wire::open(&served);
    let session = wire.session(&home, "ask");
    let task = wire.start(&session, "Mend add");
    let question = wire.until(&task, "approval.request").pop().unwrap();
    let steered = wire.ask("chat.steer", &json!({ "task": task, "text": "Keep the name" }));
    assert_eq!(steered["error"], Value::Null, "{steered}");
    wire.ask("approval.answer", &json!({ "approval": question["approval"], "answer": "session" }));
    let told = wire.until(&task, "task.completed");
    assert!(told.iter().any(|message| message["type"] == "steered"), "{told:?}");
    assert!(model.requests()[1].to_string().contains("Keep the name"));
    let late = wire.ask("chat.steer", &json!({ "task": task, "text": "Too late" }));
    assert_eq!(late["error"]["code"], "not_found");
}

#[test]
fn a_killed_server_loses_nothing_and_the_next_one_says_how_it_ended() {
    let home = home();
    let model = playing(vec![edit()]);
    model.set_for(&home, "chat");
    let served = Served::start(&home);
    let mut wire = Wire::open(&served);
    let session = wire.session(&home, "ask");
    let task = wire.start(&session, "Mend add");
    wire.until(&task, "approval.request");
    drop(served);
    let served = Served::start(&home);
    let mut wire = Wire::open(&served);
    let lines = wire.replay(&task, 0);
    assert!(lines.last().unwrap().contains("task.failed"), "{lines:?}");
    assert_eq!(lines.iter().filter(|line| is_last(line)).count(), 1);
    let items = wire.ask("session.items", &json!({ "session": session }));
    assert_eq!(items["result"]["items"][0]["text"], "Mend add");
    let next = wire.start(&session, "Go on");
    wire.until(&next, "task.completed");
}

#[test]
fn a_line_that_is_no_request_is_answered_and_the_next_one_works() {
    let home = home();
    let served = Served::start(&home);
    let mut wire = Wire::ungreeted(&served, &served.token);
    let early = wire.ask("session.list", &json!({}));
    assert_eq!(early["error"]["code"], "usage", "{early}");
    let old = wire.ask("hello", &json!({ "version": 99 }));
    assert_eq!(old["error"]["code"], "conflict");
    for line in ["", "{", "[]", "null", "{\"id\":-1}", "{\"id\":7,\"method\":\"no.such\"}", "\u{0}"]
    {
        writeln!(wire.stream, "{line}").unwrap();
        let answer: Value = serde_json::from_str(&wire.line()).unwrap();
        assert_eq!(answer["error"]["code"], "usage", "{line:?}: {answer}");
    }
    wire.ask("hello", &json!({ "version": 1 }));
    let unknown = wire.ask("session.items", &json!({ "session": "sess_nothere" }));
    assert_eq!(unknown["error"]["code"], "not_found");
    assert_eq!(wire.ask("session.list", &json!({}))["result"]["sessions"], json!([]));
}

#[test]
fn only_who_shows_the_token_is_let_in_and_no_page() {
    let home = home();
    let served = Served::start(&home);
    let ask = |headers: &str| {
        served.raw(&format!("GET /rpc HTTP/1.1\r\nHost: {}\r\n{headers}\r\n\r\n", served.address)).0
    };
    let upgrade = "Connection: Upgrade\r\nUpgrade: nacre-rpc\r\n";
    assert_eq!(ask(&format!("{upgrade}X: 1")), 401);
    assert_eq!(ask(&format!("{upgrade}Authorization: Bearer wrong")), 401);
    let token = format!("Authorization: Bearer {}", served.token);
    assert_eq!(ask(&format!("{upgrade}{token}\r\nOrigin: http://evil.example")), 403);
    assert_eq!(ask(&format!("Connection: close\r\n{token}")), 426);
    let websocket =
        "Connection: Upgrade, close\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 12\r\n";
    assert_eq!(ask(&format!("{websocket}{token}")), 426);
}

#[test]
fn a_websocket_carries_the_same_lines() {
    let home = home();
    let served = Served::start(&home);
    let mut stream = TcpStream::connect(&served.address).unwrap();
    let head = format!(
        "GET /rpc HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
        served.address, served.token
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut answer = Vec::new();
    while !answer.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        answer.push(byte[0]);
    }
    let answer = String::from_utf8(answer).unwrap();
    // The example from the WebSocket standard.
    assert!(
        answer.to_lowercase().contains("sec-websocket-accept: s3pplmbitxaq9kygzzhzrbk+xoo="),
        "{answer}"
    );
    let request = json!({ "id": 1, "method": "hello", "params": { "version": 1 } });
    serde_json::from_value::<RpcRequest>(request.clone()).unwrap();
    let text = request.to_string();
    let mut frame = vec![0x81, 0x80 | u8::try_from(text.len()).unwrap(), 0, 0, 0, 0];
    frame.extend_from_slice(text.as_bytes());
    stream.write_all(&frame).unwrap();
    let mut head = [0; 4];
    stream.read_exact(&mut head).unwrap();
    assert_eq!((head[0], head[1]), (0x81, 126), "a text of more than 125 bytes");
    let mut body = vec![0; usize::from(u16::from_be_bytes([head[2], head[3]]))];
    stream.read_exact(&mut body).unwrap();
    let answer: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!((&answer["id"], &answer["result"]["version"]), (&json!(1), &json!(1)));
}
