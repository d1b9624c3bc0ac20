//! A test server that does exactly what a test requests, including protocol errors.
//!
//! It implements just enough HTTP/1.1, with one request per connection. The tests need streams that
//! no correct server would send.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::time::sleep;

/// Delay between two chunks of a dripping reply. Tests that use it stop the clock.
const DRIP: Duration = Duration::from_secs(1);

/// The server's reply to one request.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    head: String,
    /// Whether the headers never end. One more byte is sent every second.
    has_endless_head: bool,
    steps: Vec<Step>,
}

#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// Sends bytes as one chunk.
    Chunk(Vec<u8>),
    /// Ends the answer properly.
    End,
    /// Waits for a notification, then continues.
    Wait(Arc<Notify>),
    /// Sends the same chunk every second, forever.
    Drip(Vec<u8>),
    /// Keeps the connection open without sending anything until the client disconnects.
    Stall,
}

impl Reply {
    /// A stream of events that ends properly.
    pub(crate) fn stream(chunks: impl IntoIterator<Item = String>) -> Self {
        Self::with_type("text/event-stream", chunks)
    }

    pub(crate) fn with_type(kind: &str, chunks: impl IntoIterator<Item = String>) -> Self {
        let head = format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\n");
        let mut steps: Vec<Step> =
            chunks.into_iter().map(|chunk| Step::Chunk(chunk.into_bytes())).collect();
        steps.push(Step::End);
        Self { head, has_endless_head: false, steps }
    }

    /// A complaint.
    pub(crate) fn status(status: u16, headers: &[(&str, &str)], body: &str) -> Self {
        let mut head = format!("HTTP/1.1 {status} Whatever\r\ncontent-type: application/json\r\n");
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        let steps = vec![Step::Chunk(body.as_bytes().to_vec()), Step::End];
        Self { head, has_endless_head: false, steps }
    }

    /// Closes the connection instead of ending properly.
    pub(crate) fn cut(mut self) -> Self {
        self.steps.retain(|step| !matches!(step, Step::End));
        self
    }

    /// Closes the connection in the middle of the event after the last text event.
    pub(crate) fn cut_after_text(self) -> Self {
        let mut cut = self.cut();
        let last = cut.steps.iter().rposition(has_text).unwrap_or(0);
        cut.steps.truncate(last + 1);
        cut.steps.push(Step::Chunk(b"data: {\"type\": \"mess".to_vec()));
        cut
    }

    /// Waits for a notification after each piece of text.
    pub(crate) fn paced(mut self, gate: &Arc<Notify>) -> Self {
        let steps = std::mem::take(&mut self.steps);
        for step in steps {
            let waits = has_text(&step);
            self.steps.push(step);
            if waits {
                self.steps.push(Step::Wait(Arc::clone(gate)));
            }
        }
        self
    }

    /// Stalls instead of ending.
    pub(crate) fn stall(self) -> Self {
        let mut cut = self.cut();
        cut.steps.push(Step::Stall);
        cut
    }

    /// Repeats the same piece forever instead of ending.
    pub(crate) fn drip(self, piece: &str) -> Self {
        let mut cut = self.cut();
        cut.steps.push(Step::Drip(piece.as_bytes().to_vec()));
        cut
    }

    /// Sends endless headers.
    pub(crate) fn endless_head(mut self) -> Self {
        self.has_endless_head = true;
        self
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.head.push_str(&format!("{name}: {value}\r\n"));
        self
    }
}

fn has_text(step: &Step) -> bool {
    match step {
        Step::Chunk(bytes) => {
            let text = String::from_utf8_lossy(bytes);
            text.contains("text_delta") || text.contains("\"content\"")
        }
        Step::End | Step::Wait(_) | Step::Drip(_) | Step::Stall => false,
    }
}

/// A request as received.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    /// The request line and the headers, with lowercase names.
    pub(crate) head: String,
    pub(crate) body: Value,
}

/// A test server. It plays its replies in order and then repeats the last one.
#[derive(Clone)]
pub(crate) struct Loopback {
    pub(crate) address: String,
    received: Arc<Mutex<Vec<Received>>>,
    client_left: Arc<Notify>,
}

impl Loopback {
    pub(crate) async fn start(replies: Vec<Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let server =
            Self { address, received: Arc::default(), client_left: Arc::new(Notify::new()) };
        let shared = server.clone();
        tokio::spawn(async move {
            let mut n_served = 0;
            while let Ok((stream, _)) = listener.accept().await {
                let reply = replies.get(n_served).or(replies.last()).cloned();
                n_served += 1;
                let shared = shared.clone();
                tokio::spawn(async move { shared.serve(stream, reply).await });
            }
        });
        server
    }

    pub(crate) fn requests(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }

    /// Waits until a client has disconnected from a stalled reply.
    pub(crate) async fn client_left(&self) {
        self.client_left.notified().await;
    }

    async fn serve(&self, mut stream: TcpStream, reply: Option<Reply>) {
        let Some(request) = read_request(&mut stream).await else { return };
        self.received.lock().unwrap().push(request);
        let Some(reply) = reply else { return };
        if reply.has_endless_head {
            let mut piece = format!("{}x-drip: ", reply.head);
            while stream.write_all(piece.as_bytes()).await.is_ok() {
                sleep(DRIP).await;
                "a".clone_into(&mut piece);
            }
            return;
        }
        let head = format!("{}transfer-encoding: chunked\r\nconnection: close\r\n\r\n", reply.head);
        let mut is_open = stream.write_all(head.as_bytes()).await.is_ok();
        for step in reply.steps {
            match step {
                Step::Chunk(bytes) if is_open => is_open = write_chunk(&mut stream, &bytes).await,
                Step::End if is_open => is_open = write_chunk(&mut stream, b"").await,
                Step::Chunk(_) | Step::End => {}
                Step::Wait(gate) => gate.notified().await,
                Step::Drip(piece) => {
                    while write_chunk(&mut stream, &piece).await {
                        sleep(DRIP).await;
                    }
                }
                Step::Stall => {
                    let _ = stream.read(&mut [0]).await;
                    self.client_left.notify_one();
                }
            }
        }
    }
}

async fn write_chunk(stream: &mut TcpStream, bytes: &[u8]) -> bool {
    let mut framed = format!("{:x}\r\n", bytes.len()).into_bytes();
    framed.extend_from_slice(bytes);
    framed.extend_from_slice(b"\r\n");
    stream.write_all(&framed).await.is_ok() && stream.flush().await.is_ok()
}

async fn read_request(stream: &mut TcpStream) -> Option<Received> {
    let mut bytes = Vec::new();
    let head_end = loop {
        if let Some(at) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break at + 4;
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8_lossy(&bytes[..head_end]).into_owned();
    let lower = head.to_lowercase();
    let length = lower.lines().find_map(|line| line.strip_prefix("content-length: "));
    let length: usize = length.and_then(|text| text.trim().parse().ok()).unwrap_or(0);
    while bytes.len() < head_end + length {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
    let body = serde_json::from_slice(&bytes[head_end..]).unwrap_or(Value::Null);
    Some(Received { head, body })
}
