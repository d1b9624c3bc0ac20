//! Tests several clients that follow the same task: all receive the same bytes, and a slow client
//! does not delay the others.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Barrier, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::{Value, json};

use crate::answering::{Answering, SAY};
use crate::chat_rpc::{Wire, is_last};
use crate::home::TestHome;
use crate::serve::{Served, run_folder};
use crate::websocket::{TEXT, WebSocket};

const N_CLIENTS: usize = 200;

/// Number of steps in the turn, each with text and a tool call.
const N_STEPS: usize = 100;

/// Large enough that all steps together do not fit in the kernel's socket buffer and the server's
/// line queue.
const WORDS_BYTES: usize = 2 << 10;

/// Starts a model that waits for a signal before it first responds.
fn gated() -> (Answering, Sender<()>) {
    let (open, gate) = channel();
    let waiting: Mutex<(Receiver<()>, usize)> = Mutex::new((gate, 0));
    let model = Answering::start(move |_| {
        let mut waiting = waiting.lock().unwrap();
        if waiting.1 == 0 {
            let _ = waiting.0.recv();
        }
        waiting.1 += 1;
        let n = waiting.1;
        let words =
            json!(format!("Step {n}. {}", "words and more words ".repeat(WORDS_BYTES / 21)));
        if n > N_STEPS {
            return vec![(SAY, json!("Done."))];
        }
        // Identical calls would be detected as repetition.
        let read = json!({ "path": "big.txt", "first_line": n, "n_lines": 10 });
        vec![(SAY, words), ("file_read", read)]
    });
    (model, open)
}

/// Connects a client that reads nothing until it is allowed to.
fn slow_client(home: &TestHome, task: &str) -> BufReader<UnixStream> {
    let mut stream = UnixStream::connect(run_folder(home).join("socket")).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let head =
        "GET /rpc HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: nacre-rpc\r\n\r\n";
    stream.write_all(head.as_bytes()).unwrap();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut line = String::new();
    while line != "\r\n" {
        line.clear();
        reader.read_line(&mut line).unwrap();
    }
    let hello = json!({ "id": 1, "method": "hello", "params": { "version": 1 } });
    let follow = json!({ "id": 2, "method": "task.follow", "params": { "task": task } });
    write!(stream, "{hello}\n{follow}\n").unwrap();
    reader
}

fn by_lines(served: &Served, task: &str, ready: &Barrier) -> Vec<String> {
    let mut wire = Wire::open(served);
    wire.ask("task.follow", &json!({ "task": task }));
    ready.wait();
    let mut lines = std::mem::take(&mut wire.told);
    while !lines.last().is_some_and(|line| is_last(line)) {
        lines.push(wire.line());
    }
    lines
}

fn by_websocket(served: &Served, task: &str, ready: &Barrier) -> Vec<String> {
    let mut socket = WebSocket::open(served);
    let hello = json!({ "id": 1, "method": "hello", "params": { "version": 1 } });
    let follow = json!({ "id": 2, "method": "task.follow", "params": { "task": task } });
    for request in [hello, follow] {
        socket.send(TEXT, request.to_string().as_bytes()).unwrap();
    }
    let mut lines: Vec<String> = Vec::new();
    let mut next = || socket.receive().unwrap().expect("the server closed the connection");
    let mut n_answers = 0;
    while n_answers < 2 {
        let line = next();
        match line.contains("\"sequence\":") {
            true => lines.push(line),
            false => n_answers += 1,
        }
    }
    ready.wait();
    while !lines.last().is_some_and(|line| is_last(line)) {
        lines.push(next());
    }
    lines
}

fn follow(served: &Arc<Served>, task: &str, ready: &Arc<Barrier>) -> Vec<JoinHandle<Vec<String>>> {
    let client = |n: usize| {
        let (served, task, ready) = (Arc::clone(served), task.to_owned(), Arc::clone(ready));
        thread::spawn(move || match n % 2 {
            0 => by_lines(&served, &task, &ready),
            _ => by_websocket(&served, &task, &ready),
        })
    };
    (0..N_CLIENTS).map(client).collect()
}

#[test]
fn two_hundred_clients_get_the_same_bytes_and_a_slow_one_stops_nobody() {
    let home = TestHome::new();
    let text: String = (1..=400).map(|n| format!("line {n} of a long file\n")).collect();
    fs::write(home.work().join("big.txt"), text).unwrap();
    let (model, open) = gated();
    model.set_for(&home, "chat");
    let served = Arc::new(Served::start(&home));
    let mut starts = Wire::open(&served);
    let session = starts.session(&home, "ask");
    let task = starts.start(&session, "Say much");
    let mut slow = slow_client(&home, &task);
    let ready = Arc::new(Barrier::new(N_CLIENTS + 1));
    let clients = follow(&served, &task, &ready);
    ready.wait();
    open.send(()).unwrap();
    let all: Vec<Vec<String>> = clients.into_iter().map(|client| client.join().unwrap()).collect();
    let first = &all[0];
    let n_bytes: usize = first.iter().map(String::len).sum();
    assert!(N_STEPS * WORDS_BYTES < n_bytes, "{n_bytes} bytes");
    for (n, lines) in all.iter().enumerate() {
        assert!(lines == first, "client {n} got other bytes");
    }
    let numbers: Vec<u64> = first.iter().map(|line| number_of(line)).collect();
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>());
    assert_eq!(first.iter().filter(|line| is_last(line)).count(), 1);
    assert!(first.last().unwrap().contains("task.completed"), "{:?}", first.last());
    // By now all other clients have finished, but the slow one has not read a single line.
    let mut lines = Vec::new();
    while !lines.last().is_some_and(|line: &String| is_last(line)) {
        let mut line = String::new();
        assert_ne!(slow.read_line(&mut line).unwrap(), 0, "the server gave the slow client up");
        if line.contains("\"sequence\":") {
            lines.push(line.trim_end().to_owned());
        }
    }
    assert!(lines == *first, "the slow client got other bytes");
}

fn number_of(line: &str) -> u64 {
    let message: Value = serde_json::from_str(line).unwrap();
    message["sequence"].as_u64().unwrap()
}
