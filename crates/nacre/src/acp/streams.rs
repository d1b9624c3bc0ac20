//! The client's input and output streams. Each has its own thread, because standard streams block.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Read as _, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use tokio::sync::mpsc::{Receiver, Sender};
use tokio::sync::oneshot;

use super::json_rpc::{RequestId, RpcError};

/// Longer lines are skipped, and the client receives an error.
pub(super) const MAX_LINE_BYTES: usize = 8 << 20;

pub(super) type InputLine = Result<String, &'static str>;

pub(super) fn read_lines(mut input: impl BufRead, max: usize, lines: &Sender<InputLine>) {
    while let Ok(Some(line)) = read_line(&mut input, max) {
        if matches!(&line, Ok(text) if text.trim().is_empty()) {
            continue;
        }
        if lines.blocking_send(line).is_err() {
            return;
        }
    }
}

fn read_line(input: &mut impl BufRead, max: usize) -> io::Result<Option<InputLine>> {
    let mut bytes = Vec::new();
    input.by_ref().take(max as u64 + 1).read_until(b'\n', &mut bytes)?;
    if bytes.is_empty() {
        return Ok(None);
    }
    if bytes.pop_if(|byte| *byte == b'\n').is_none() && max < bytes.len() {
        input.skip_until(b'\n')?;
        return Ok(Some(Err("The message is too long")));
    }
    Ok(Some(String::from_utf8(bytes).map_err(|_| "The message is not valid UTF-8")))
}

pub(super) fn write_lines(mut output: impl Write, mut lines: Receiver<String>) {
    while let Some(line) = lines.blocking_recv() {
        let written = writeln!(output, "{line}").and_then(|()| output.flush());
        if written.is_err() {
            return;
        }
    }
}

#[derive(Clone)]
pub(super) struct Outbox {
    lines: Sender<String>,
    asked: Arc<Mutex<Questions>>,
}

#[derive(Default)]
struct Questions {
    last: u64,
    waiting: BTreeMap<u64, oneshot::Sender<Result<Value, Value>>>,
}

pub(super) type Reply = oneshot::Receiver<Result<Value, Value>>;

impl Outbox {
    pub(super) fn new(lines: Sender<String>) -> Self {
        Self { lines, asked: Arc::default() }
    }

    fn lock_questions(&self) -> MutexGuard<'_, Questions> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn send(&self, message: Value) {
        let _ = self.lines.send(message.to_string()).await;
    }

    pub(super) async fn wait_until_closed(&self) {
        self.lines.closed().await;
    }

    pub(super) async fn answer(&self, id: &RequestId, result: Value) {
        self.send(json!({ "jsonrpc": "2.0", "id": id, "result": result })).await;
    }

    pub(super) async fn refuse(&self, id: &RequestId, error: impl Into<RpcError>) {
        self.send(json!({ "jsonrpc": "2.0", "id": id, "error": error.into() })).await;
    }

    pub(super) async fn update(&self, session: &str, update: Value) {
        let params = json!({ "sessionId": session, "update": update });
        self.send(json!({ "jsonrpc": "2.0", "method": "session/update", "params": params })).await;
    }

    pub(super) async fn ask(&self, method: &str, params: Value) -> (u64, Reply) {
        let (sender, reply) = oneshot::channel();
        let id = {
            let mut asked = self.lock_questions();
            asked.last += 1;
            let id = asked.last;
            asked.waiting.insert(id, sender);
            id
        };
        self.send(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).await;
        (id, reply)
    }

    /// Delivers a response from the client. Responses that match no request are ignored.
    pub(super) fn resolve(&self, id: &Value, result: Result<Value, Value>) {
        let waiting = id.as_u64().and_then(|id| self.lock_questions().waiting.remove(&id));
        if let Some(waiting) = waiting {
            let _ = waiting.send(result);
        }
    }

    pub(super) async fn withdraw(&self, id: u64) {
        if self.lock_questions().waiting.remove(&id).is_some() {
            let params = json!({ "requestId": id });
            let method = "$/cancel_request";
            self.send(json!({ "jsonrpc": "2.0", "method": method, "params": params })).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    #[test]
    fn lines_are_bounded_and_what_follows_a_long_one_is_read() {
        let input = b"one\n\n  \ntoolongtoolong\n\xff\xfe\ntwo\r\nlast".as_slice();
        let (sender, mut lines) = tokio::sync::mpsc::channel(16);
        // The buffer is smaller than a line, so lines arrive in parts.
        read_lines(BufReader::with_capacity(3, input), 8, &sender);
        drop(sender);
        let mut read = Vec::new();
        while let Some(line) = lines.blocking_recv() {
            read.push(line);
        }
        let text = |text: &str| Ok(text.to_owned());
        let too_long = Err("The message is too long");
        let not_text = Err("The message is not valid UTF-8");
        assert_eq!(read, [text("one"), too_long, not_text, text("two\r"), text("last")]);
    }
}
