//! Fuzzes the chat protocol. Each message must be answered exactly once or end its connection, and
//! the server must keep running without using ever more memory.
//!
//! `NACRE_FUZZ_MESSAGES` sets the number of messages; `make fuzz-rpc` sends a million.

use std::fs::{self, File};
use std::thread;

use serde_json::{Value, json};

use crate::chat_rpc::Wire;
use crate::home::TestHome;
use crate::serve::Served;
use crate::websocket::{BINARY, TEXT, WebSocket};

/// Default number of messages.
const USUAL_MESSAGES: u64 = 20_000;

const N_CONNECTIONS: u64 = 8;

/// How many messages are sent before checking that each was answered.
const BATCH: u64 = 50;

/// How much the server's memory may grow after the first third of the messages.
const MAX_GROWTH_KB: u64 = 64 << 10;

/// A deterministic random number generator.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next() % n as u64).unwrap()
    }

    fn bytes(&mut self, n: usize) -> Vec<u8> {
        (0..n).map(|_| self.next().to_le_bytes()[3]).collect()
    }
}

/// The expected outcome of a message.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// The message gets exactly one response.
    Answered,
    /// The message violates the WebSocket protocol, so the server may close the connection instead
    /// of answering.
    MayClose,
}

/// Ids of existing objects, so that generated requests can succeed.
struct Known {
    session: String,
    task: String,
}

fn requests(known: &Known) -> Vec<(&'static str, Value)> {
    let Known { session, task } = known;
    vec![
        ("hello", json!({ "version": 1, "client": "fuzz" })),
        ("session.get", json!({ "session": session })),
        ("session.items", json!({ "session": session, "after": 0, "limit": 3 })),
        ("session.change", json!({ "session": session, "title": "Another" })),
        ("session.search", json!({ "query": "hello", "limit": 3 })),
        ("session.list", json!({ "limit": 3 })),
        ("session.export", json!({ "session": session })),
        ("session.remove", json!({ "session": "zzzzzz" })),
        ("session.fork", json!({ "session": "zzzzzz" })),
        ("session.create", json!({ "workspace": "/nowhere/at/all" })),
        ("chat.start", json!({ "session": session, "text": " " })),
        ("chat.steer", json!({ "task": task, "text": "too late" })),
        ("chat.abort", json!({ "task": task })),
        ("chat.undo", json!({ "session": session })),
        ("task.list", json!({ "limit": 2 })),
        ("task.get", json!({ "task": task })),
        ("task.follow", json!({ "task": task, "after": 1_000_000 })),
        ("skill.list", json!({})),
        ("approval.answer", json!({ "approval": "nobody", "answer": "once" })),
    ]
}

/// Returns a value of an unexpected type.
fn wrong_value(chance: &mut Chance) -> Value {
    let values = [
        json!(null),
        json!(true),
        json!(-1),
        json!(1e300),
        json!(u64::MAX),
        json!(""),
        json!("\u{0}\u{1b}[2J\u{202e}"),
        json!([[[]]]),
        json!({ "a": { "b": [] } }),
        json!("x".repeat(5_000)),
    ];
    values[chance.below(values.len())].clone()
}

/// Replaces some values with wrong ones.
fn spoil(value: &mut Value, chance: &mut Chance) {
    if chance.below(4) == 0 {
        *value = wrong_value(chance);
        return;
    }
    if let Value::Object(fields) = value {
        for (_, field) in fields.iter_mut() {
            spoil(field, chance);
        }
        if chance.below(4) == 0 {
            fields.insert("unknown".to_owned(), wrong_value(chance));
        }
    }
}

/// Changes, removes, duplicates or truncates bytes.
fn mutate(mut bytes: Vec<u8>, chance: &mut Chance) -> Vec<u8> {
    for _ in 0..=chance.below(6) {
        if bytes.is_empty() {
            break;
        }
        let at = chance.below(bytes.len());
        match chance.below(5) {
            0 => bytes[at] = chance.next().to_le_bytes()[0],
            1 => {
                bytes.remove(at);
            }
            2 => bytes.insert(at, b"{}[]\",:\\0"[chance.below(9)]),
            3 => {
                let piece = bytes[at..].to_vec();
                bytes.extend(piece);
            }
            _ => bytes.truncate(at),
        }
    }
    bytes
}

fn deep(chance: &mut Chance) -> Vec<u8> {
    let n = 50 + chance.below(20_000);
    let (open, close) = [("[", "]"), ("{\"a\":", "}")][chance.below(2)];
    format!("{{\"id\":1,\"method\":\"hello\",\"params\":{}1{}}}", open.repeat(n), close.repeat(n))
        .into()
}

/// Generates a message. Returns its opcode, its bytes and the expected outcome.
fn message(known: &[(&'static str, Value)], id: u64, chance: &mut Chance) -> (u8, Vec<u8>, Fate) {
    let (method, params) = &known[chance.below(known.len())];
    let mut request = json!({ "id": id, "method": method, "params": params });
    let kind = if chance.below(5) == 0 { BINARY } else { TEXT };
    let bytes = match chance.below(100) {
        0..8 => request.to_string().into_bytes(),
        8..30 => {
            spoil(&mut request, chance);
            request.to_string().into_bytes()
        }
        30..60 => mutate(request.to_string().into_bytes(), chance),
        60..75 => {
            let text = request.to_string();
            text.as_bytes()[..chance.below(text.len())].to_vec()
        }
        75..90 => {
            let n = chance.below(200);
            return (BINARY, chance.bytes(n), Fate::Answered);
        }
        90..97 => Vec::from(
            [b"".as_slice(), b"null", b"[]", b"{}", b"\"\"", b"{\"id\":1}"][chance.below(6)],
        ),
        97 => deep(chance),
        98 if chance.below(100) == 0 => large(chance),
        _ => format!(
            "{{\"id\":{id},\"id\":2,\"method\":\"hello\",\"params\":{{\"version\":{}}}}}",
            chance.next()
        )
        .into(),
    };
    // A text frame that is not UTF-8 violates the WebSocket protocol and ends the connection. Most
    // such messages are therefore sent as binary frames, which are answered.
    let is_text = std::str::from_utf8(&bytes).is_ok();
    let kind = if is_text || chance.below(500) == 0 { kind } else { BINARY };
    let is_sound = (is_text || kind == BINARY) && bytes.len() <= 8 << 20;
    (kind, bytes, if is_sound { Fate::Answered } else { Fate::MayClose })
}

/// Generates data that can exceed the maximum message size.
fn large(chance: &mut Chance) -> Vec<u8> {
    let n = [1 << 20, 7 << 20, 9 << 20][chance.below(3)];
    json!({ "id": 1, "method": "hello", "params": { "version": 1, "client": "x".repeat(n) } })
        .to_string()
        .into()
}

/// Sends frames that violate the protocol, which ends the connection.
fn break_rules(socket: &mut WebSocket, chance: &mut Chance) {
    let payload = chance.bytes(100);
    // If the server has already closed the connection, there is nothing left to violate.
    let _ = match chance.below(8) {
        0 => socket.frame(0x83, &payload),
        1 => socket.frame(0xf1, b"{}"),
        2 => socket.frame(0x80, b"a continuation of nothing"),
        3 => socket.frame(0x88, &[0x03, 0xe8, 0xff, 0xfe]),
        4 => socket.raw(&[0x81, 0x02, b'{', b'}']),
        5 => socket.raw(&[0x81, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]),
        6 => socket
            .frame(0x01, b"{\"id\":1,")
            .and_then(|()| socket.frame(0x81, b"a second beginning")),
        _ => socket.raw(&payload),
    };
}

/// How many messages were sent, and their outcomes, over all connections.
#[derive(Debug, Default)]
struct Tally {
    sent: u64,
    answered: u64,
    errors: u64,
    connections: u64,
    closed: u64,
}

/// Opens a connection, and usually performs the handshake.
fn open(served: &Served, tally: &mut Tally, chance: &mut Chance) -> WebSocket {
    tally.connections += 1;
    let mut socket = WebSocket::open(served);
    // One in four connections skips the handshake.
    if chance.below(4) != 0 {
        tally.sent += 1;
        socket.send(TEXT, b"{\"id\":0,\"method\":\"hello\",\"params\":{\"version\":1}}").unwrap();
        let answer = socket.receive().unwrap().unwrap();
        assert!(answer.contains("\"result\""), "{answer}");
        tally.answered += 1;
    }
    socket
}

/// Reads responses up to the mark. Returns `false` if the connection was closed. Otherwise, each
/// message before the mark must have exactly one response.
fn settle(socket: &mut WebSocket, mark: u64, sent: u64, tally: &mut Tally) -> bool {
    let hello = json!({ "id": mark, "method": "hello", "params": { "version": 1 } });
    let mut answers = 0;
    if socket.send(TEXT, hello.to_string().as_bytes()).is_err() {
        return false;
    }
    tally.sent += 1;
    loop {
        let Ok(Some(line)) = socket.receive() else { return false };
        let answer: Value = serde_json::from_str(&line).unwrap();
        if answer.get("sequence").is_some() {
            continue;
        }
        assert!(!line.contains("Internal error"), "{line}");
        tally.answered += 1;
        tally.errors += u64::from(answer.get("error").is_some());
        if answer["id"] == mark {
            assert_eq!(answers, sent, "messages that were not answered once");
            return true;
        }
        answers += 1;
    }
}

fn fuzz(served: &Served, known: &Known, seed: u64, n_messages: u64) -> Tally {
    let (mut chance, mut tally) = (Chance(0x9e37_79b9 + seed * 7919), Tally::default());
    let requests = requests(known);
    let mut socket = open(served, &mut tally, &mut chance);
    while tally.sent < n_messages {
        let (mut in_batch, mut is_sound) = (0, true);
        for _ in 0..BATCH {
            let id = 1 + chance.next() % 1_000_000;
            let (kind, bytes, fate) = message(&requests, id, &mut chance);
            tally.sent += 1;
            if socket.send(kind, &bytes).is_err() {
                is_sound = false;
                break;
            }
            in_batch += 1;
            if fate == Fate::MayClose {
                is_sound = false;
                break;
            }
        }
        let mark = 2_000_000 + tally.sent;
        let is_open = match is_sound {
            true => settle(&mut socket, mark, in_batch, &mut tally),
            // If the connection was closed, its responses are incomplete and do not count.
            false => false,
        };
        assert!(is_open || !is_sound, "a connection was closed that broke no rule");
        if chance.below(200) == 0 {
            tally.sent += 1;
            break_rules(&mut socket, &mut chance);
            is_sound = false;
        }
        if !is_sound {
            tally.closed += 1;
            socket = open(served, &mut tally, &mut chance);
        }
    }
    tally
}

fn resident_kb(served: &Served) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", served.pid())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Creates a session whose only turn failed, because no model is set.
fn set_up_known(served: &Served, home: &TestHome) -> Known {
    let mut wire = Wire::open(served);
    let session = wire.session(home, "ask");
    let task = wire.start(&session, "hello");
    wire.until(&task, "task.failed");
    Known { session, task }
}

fn round(served: &Served, known: &Known, n_messages: u64, seed: u64) -> Tally {
    let tallies: Vec<Tally> = thread::scope(|scope| {
        let one =
            |n| scope.spawn(move || fuzz(served, known, seed + n, n_messages / N_CONNECTIONS));
        let threads: Vec<_> = (0..N_CONNECTIONS).map(one).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let mut all = Tally::default();
    for tally in tallies {
        all.sent += tally.sent;
        all.answered += tally.answered;
        all.errors += tally.errors;
        all.connections += tally.connections;
        all.closed += tally.closed;
    }
    all
}

#[test]
fn websocket_fuzz() {
    let n_messages = std::env::var("NACRE_FUZZ_MESSAGES").ok().and_then(|text| text.parse().ok());
    let n_messages: u64 = n_messages.unwrap_or(USUAL_MESSAGES);
    let home = TestHome::new();
    let told = home.root().join("stderr");
    let served = Served::start_telling(&home, File::create(&told).unwrap());
    let known = set_up_known(&served, &home);
    let first = round(&served, &known, n_messages / 3, 1);
    let before = resident_kb(&served);
    let rest = round(&served, &known, n_messages - n_messages / 3, 1_000);
    let after = resident_kb(&served);
    println!(
        "{first:?}\n{rest:?}\nresident: {before} kB after the first third, {after} kB at the end"
    );
    let (sent, answered) = (first.sent + rest.sent, first.answered + rest.answered);
    assert!(n_messages <= sent, "{sent}");
    // The unanswered messages belong to connections that violated the protocol.
    assert!(sent * 3 / 4 < answered, "{answered} of {sent} were answered");
    assert!(after < before + MAX_GROWTH_KB, "it grew from {before} kB to {after} kB");
    // The server still works, and its data is unchanged.
    let mut wire = Wire::open(&served);
    let kept = wire.ask("session.get", &json!({ "session": known.session }));
    assert_eq!(kept["result"]["session"]["id"], known.session, "{kept}");
    assert_eq!(served.stop(), 0);
    let told = fs::read_to_string(told).unwrap();
    assert!(!told.contains("panicked"), "{told}");
}
