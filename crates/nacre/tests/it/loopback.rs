//! A local model server that answers chat completions as a test specifies, and records all
//! requests.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::home::TestHome;

/// Returns the model's response to a request, or `None` to simulate an unavailable model.
type Answer = dyn Fn(&Value) -> Option<String> + Send + Sync;

pub(crate) struct Loopback {
    pub(crate) address: String,
    asked: Arc<Mutex<Vec<Value>>>,
}

impl Loopback {
    /// Answers each request with what `answer` returns for its body. Every response uses 600 input
    /// and 100 output tokens.
    pub(crate) fn new(answer: impl Fn(&Value) -> Option<String> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}/v1", listener.local_addr().unwrap());
        let asked: Arc<Mutex<Vec<Value>>> = Arc::default();
        let (kept, answer): (_, Arc<Answer>) = (Arc::clone(&asked), Arc::new(answer));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (kept, answer) = (Arc::clone(&kept), Arc::clone(&answer));
                std::thread::spawn(move || serve(stream, &kept, &*answer));
            }
        });
        Self { address, asked }
    }

    /// Makes the server the model for every role in a home.
    pub(crate) fn serve(&self, home: &TestHome) {
        home.ok(&["config", "set", "providers.llamacpp.base_url", &self.address]);
        home.ok(&["config", "set", "roles.default.model", "llamacpp/qwen"]);
    }

    /// Returns the bodies of all requests.
    pub(crate) fn requests(&self) -> Vec<Value> {
        self.asked.lock().unwrap().clone()
    }
}

fn serve(mut stream: TcpStream, kept: &Mutex<Vec<Value>>, answer: &Answer) -> Option<()> {
    let mut request = Vec::new();
    let mut buffer = [0; 4096];
    let body = loop {
        let n_read = stream.read(&mut buffer).ok().filter(|n_read| *n_read > 0)?;
        request.extend_from_slice(&buffer[..n_read]);
        let text = String::from_utf8_lossy(&request).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head
            .lines()
            .find_map(|line| {
                line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok()
            })
            .unwrap_or(0);
        if body.len() >= length {
            break serde_json::from_str::<Value>(body).unwrap();
        }
    };
    let said = answer(&body);
    kept.lock().unwrap().push(body);
    let (status, reply) = match said {
        Some(said) => {
            let choice = json!({ "index": 0, "finish_reason": "stop",
                "message": { "role": "assistant", "content": said } });
            let usage = json!({ "prompt_tokens": 600, "completion_tokens": 100 });
            ("200 OK", json!({ "choices": [choice], "usage": usage }))
        }
        None => ("401 Unauthorized", json!({ "error": { "message": "no such key" } })),
    };
    let reply = reply.to_string();
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
        reply.len()
    );
    stream.write_all(head.as_bytes()).ok()?;
    stream.write_all(reply.as_bytes()).ok()
}
