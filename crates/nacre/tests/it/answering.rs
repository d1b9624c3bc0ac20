//! A local model server that responds as specified by a test and records all requests.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

use crate::home::TestHome;

/// The tool calls with which the model responds to a request.
pub(crate) type Calls = Vec<(&'static str, Value)>;

/// Used in place of a tool name for text responses, whose arguments are the text.
pub(crate) const SAY: &str = "say";

pub(crate) struct Answering {
    address: String,
    asked: Arc<Mutex<Vec<Value>>>,
}

impl Answering {
    /// Starts a model server that answers each request with the result of `answer`.
    pub(crate) fn start(answer: impl Fn(&Value) -> Calls + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}/v1", listener.local_addr().unwrap());
        let asked: Arc<Mutex<Vec<Value>>> = Arc::default();
        let (kept, answer) = (Arc::clone(&asked), Arc::new(answer));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (kept, answer) = (Arc::clone(&kept), Arc::clone(&answer));
                thread::spawn(move || serve(stream, &kept, &*answer));
            }
        });
        Self { address, asked }
    }

    /// Configures the server as the model of a role.
    pub(crate) fn set_for(&self, home: &TestHome, role: &str) {
        home.ok(&["config", "set", "providers.local.base_url", &self.address]);
        home.ok(&["config", "set", "providers.local.api", "openai"]);
        home.ok(&["config", "set", &format!("roles.{role}.model"), "local/test"]);
    }

    /// Returns the requests received so far.
    pub(crate) fn requests(&self) -> Vec<Value> {
        self.asked.lock().unwrap().clone()
    }
}

/// Returns the system instructions of a request.
pub(crate) fn system_of(request: &Value) -> String {
    request["messages"][0]["content"].to_string()
}

fn serve(mut stream: TcpStream, asked: &Mutex<Vec<Value>>, answer: &dyn Fn(&Value) -> Calls) {
    let mut request = Vec::new();
    let mut buffer = [0; 4096];
    let body: Value = loop {
        let n_read = stream.read(&mut buffer).unwrap_or(0);
        request.extend_from_slice(&buffer[..n_read]);
        let text = String::from_utf8_lossy(&request);
        let body =
            text.split_once("\r\n\r\n").and_then(|(_, body)| serde_json::from_str(body).ok());
        match body {
            Some(body) => break body,
            // The client disconnected without sending a request.
            None if n_read == 0 => return,
            None => {}
        }
    };
    asked.lock().unwrap().push(body.clone());
    let calls = answer(&body);
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n";
    let stream_of = streamed(&calls);
    let _ = write!(stream, "{head}content-length: {}\r\n\r\n{stream_of}", stream_of.len());
}

/// Formats calls as streamed chat completions, with their price.
fn streamed(calls: &Calls) -> String {
    let mut text = String::new();
    let mut chunk = |value: Value| text.push_str(&format!("data: {value}\n\n"));
    let mut finish = "stop";
    for (index, (name, arguments)) in calls.iter().enumerate() {
        if *name == SAY {
            chunk(json!({ "choices": [{ "index": 0, "delta": { "content": arguments } }] }));
            continue;
        }
        finish = "tool_calls";
        let function = json!({ "name": name, "arguments": arguments.to_string() });
        let call = json!({ "index": index, "id": format!("call_{index}"), "type": "function", "function": function });
        chunk(json!({ "choices": [{ "index": 0, "delta": { "tool_calls": [call] } }] }));
    }
    chunk(json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": finish }] }));
    let usage = json!({ "prompt_tokens": 100, "completion_tokens": 20, "cost": 0.01 });
    chunk(json!({ "choices": [], "usage": usage }));
    text.push_str("data: [DONE]\n\n");
    text
}
