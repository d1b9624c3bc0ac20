//! Client for a `nacre serve` process on this machine. Each request uses a new connection, because
//! a hook sends only one request and must be fast.

use std::error::Error as _;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use axum::body::Bytes;
use axum::http::header::{
    ACCEPT, AUTHORIZATION, CONNECTION, CONTENT_TYPE, HOST, IF_MATCH, UPGRADE,
};
use axum::http::request::Builder;
use axum::http::{Request, Response, StatusCode};
use futures_util::{SinkExt, Stream, StreamExt, TryStreamExt};
use http_body_util::{BodyDataStream, BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use nacre_ops::OpError;
use nacre_ops::service::{FoundService, ServerAddress};
use nacre_types::{
    CallLine, ErrorCode, ErrorReport, Event, Failure, LINES_TYPE, RpcMessage, RpcRequest,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::mpsc::{Sender, UnboundedReceiver};
use tokio_util::codec::{AnyDelimiterCodec, Framed, FramedRead};
use tokio_util::io::StreamReader;

/// Limits response sizes, in case another program is listening on the port.
const MAX_BODY_BYTES: usize = 256 << 20;
const MAX_LINE_BYTES: usize = 64 << 20;

const LOOK: Duration = Duration::from_millis(20);

const REACH_TIMEOUT: Duration = Duration::from_secs(2);

#[derive(Clone, Debug)]
pub struct Client {
    found: FoundService,
    project: Option<String>,
    version: Option<String>,
    timeout: Option<Duration>,
}

pub type Result<T, E = ClientError> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    #[error("No server answers")]
    Unreachable(#[source] io::Error),
    /// The response is incomplete or does not come from Nacre.
    #[error("Unexpected answer: {0}")]
    Broken(String),
    #[error("{}", .0.message)]
    Failed(Failure),
}

impl ClientError {
    /// Adds the hint if the server does not respond.
    pub fn or_hint(self, hint: &str) -> OpError {
        let cause = match self {
            Self::Failed(failure) => return failure.into(),
            Self::Unreachable(error) => error.to_string(),
            Self::Broken(what) => what,
        };
        OpError::new(ErrorCode::Unavailable, "The server is not responding")
            .because(cause)
            .hint(hint)
    }
}

impl Client {
    pub fn new(found: FoundService) -> Self {
        Self { found, project: None, version: None, timeout: None }
    }

    #[must_use]
    pub fn for_project(self, name: impl Into<String>) -> Self {
        Self { project: Some(name.into()), ..self }
    }

    /// Sends the version in an `If-Match` header.
    #[must_use]
    pub fn at_version(self, version: impl Into<String>) -> Self {
        Self { version: Some(version.into()), ..self }
    }

    /// Requests have no timeout by default.
    #[must_use]
    pub fn with_timeout(self, timeout: Duration) -> Self {
        Self { timeout: Some(timeout), ..self }
    }

    pub fn get<R: DeserializeOwned>(&self, path: &str, request: &impl Serialize) -> Result<R> {
        self.ask("GET", path, request)
    }

    pub fn post<R: DeserializeOwned>(&self, path: &str, request: &impl Serialize) -> Result<R> {
        self.ask("POST", path, request)
    }

    pub fn ask<R: DeserializeOwned>(
        &self,
        verb: &str,
        path: &str,
        request: &impl Serialize,
    ) -> Result<R> {
        self.block_on(async {
            let (target, body) = self.target_and_body(verb, path, request)?;
            let response = self.send(self.head(verb, &target), body).await?;
            let bytes = read_body(check_status(response).await?).await?;
            parse_json(if bytes.is_empty() { &b"null"[..] } else { &bytes[..] })
        })
    }

    /// Forwards the call's events. Closes the connection when `is_stopped` returns true, which
    /// cancels the call.
    pub fn ask_watched<R: DeserializeOwned>(
        &self,
        verb: &str,
        path: &str,
        request: &impl Serialize,
        on_event: &mut dyn FnMut(Event),
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<R> {
        let stopped = async || {
            while !is_stopped() {
                tokio::time::sleep(LOOK).await;
            }
        };
        self.block_on(async {
            let (target, body) = self.target_and_body(verb, path, request)?;
            let head = self.head(verb, &target).header(ACCEPT, LINES_TYPE);
            let response = check_status(self.send(head, body).await?).await?;
            let mut lines = lines(response.into_body());
            loop {
                let line = tokio::select! {
                    line = lines.next() => line,
                    () = stopped() => return Err(ClientError::Broken("it was stopped".to_owned())),
                };
                let Some(line) = line else {
                    return Err(ClientError::Broken("it ended without a report".to_owned()));
                };
                match parse_json(&line.map_err(wrap_unexpected)?)? {
                    CallLine::Event { event } => on_event(event),
                    CallLine::Report { report } => {
                        return serde_json::from_value(report).map_err(wrap_unexpected);
                    }
                    CallLine::Error { error } => return Err(ClientError::Failed(error)),
                }
            }
        })
    }

    /// Starts a task that forwards messages in both directions. Chat turns continue even after the
    /// connection is closed.
    pub async fn open_chat(
        &self,
        requests: UnboundedReceiver<RpcRequest>,
        messages: Sender<RpcMessage>,
    ) -> Result<()> {
        let (target, body) = self.target_and_body("GET", "/rpc", &())?;
        let head = self.head("GET", &target);
        let head = head.header(CONNECTION, "Upgrade").header(UPGRADE, "nacre-rpc");
        let response = self.send(head, body).await?;
        if response.status() != StatusCode::SWITCHING_PROTOCOLS {
            check_status(response).await?;
            return Err(ClientError::Broken("it did not upgrade the connection".to_owned()));
        }
        let upgraded = hyper::upgrade::on(response).await.map_err(wrap_unexpected)?;
        let lines = Framed::new(TokioIo::new(upgraded), line_codec(MAX_LINE_BYTES));
        tokio::spawn(carry(lines, requests, messages));
        Ok(())
    }

    fn block_on<T>(&self, work: impl Future<Output = Result<T>>) -> Result<T> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.map_err(ClientError::Unreachable)?.block_on(async {
            match self.timeout {
                Some(timeout) => in_time(timeout, work).await?,
                None => work.await,
            }
        })
    }

    /// Returns the request target and body. If the request has no body, the fields are in the query
    /// string.
    fn target_and_body(
        &self,
        verb: &str,
        path: &str,
        request: &impl Serialize,
    ) -> Result<(String, Option<Value>)> {
        let request = serde_json::to_value(request).map_err(wrap_unexpected)?;
        let fields = request.as_object().cloned().unwrap_or_default();
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(self.project.iter().map(|name| ("project", name)));
        let has_body = ["POST", "PUT", "PATCH"].contains(&verb);
        let in_query = fields.iter().filter(|_| !has_body);
        for (name, value) in in_query {
            query.extend_pairs(query_values(value).into_iter().map(|text| (name, text)));
        }
        let query = query.finish();
        let separator = if query.is_empty() { "" } else { "?" };
        let target = format!("{path}{separator}{query}");
        Ok((target, has_body.then_some(Value::Object(fields))))
    }

    fn head(&self, verb: &str, target: &str) -> Builder {
        let head = Request::builder().method(verb).uri(target);
        let head = match &self.found.door {
            #[cfg(unix)]
            ServerAddress::Socket(_) => head.header(HOST, "localhost"),
            ServerAddress::Port { token } => head
                .header(HOST, &self.found.address)
                .header(AUTHORIZATION, format!("Bearer {token}")),
        };
        match &self.version {
            Some(version) => head.header(IF_MATCH, format!("\"{version}\"")),
            None => head,
        }
    }

    async fn send(&self, head: Builder, body: Option<Value>) -> Result<Response<Incoming>> {
        let request = match body {
            Some(body) => {
                head.header(CONTENT_TYPE, "application/json").body(Full::from(body.to_string()))
            }
            None => head.body(Full::default()),
        };
        let request = request.map_err(wrap_unexpected)?;
        let mut sender = in_time(REACH_TIMEOUT, self.connect()).await??;
        sender.send_request(request).await.map_err(|error| {
            let cause = error.source().and_then(|cause| cause.downcast_ref::<io::Error>());
            match cause.map(io::Error::kind) {
                Some(kind) => ClientError::Unreachable(io::Error::new(kind, error)),
                None => wrap_unexpected(error),
            }
        })
    }

    async fn connect(&self) -> Result<SendRequest<Full<Bytes>>> {
        match &self.found.door {
            #[cfg(unix)]
            ServerAddress::Socket(path) => {
                let stream = tokio::net::UnixStream::connect(path).await;
                shake_hands(stream.map_err(ClientError::Unreachable)?).await
            }
            ServerAddress::Port { .. } => {
                let address: SocketAddr = self.found.address.parse().map_err(wrap_unexpected)?;
                // Never send the token to another machine.
                if !address.ip().is_loopback() {
                    let error = io::Error::other("the address is not on this machine");
                    return Err(ClientError::Unreachable(error));
                }
                let stream = TcpStream::connect(address).await.map_err(ClientError::Unreachable)?;
                stream.set_nodelay(true).map_err(ClientError::Unreachable)?;
                shake_hands(stream).await
            }
        }
    }
}

async fn shake_hands(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
) -> Result<SendRequest<Full<Bytes>>> {
    let (sender, connection) =
        http1::handshake(TokioIo::new(stream)).await.map_err(wrap_unexpected)?;
    tokio::spawn(connection.with_upgrades());
    Ok(sender)
}

async fn in_time<T>(timeout: Duration, work: impl Future<Output = T>) -> Result<T> {
    let silence = |_| ClientError::Unreachable(io::ErrorKind::TimedOut.into());
    tokio::time::timeout(timeout, work).await.map_err(silence)
}

async fn check_status(response: Response<Incoming>) -> Result<Response<Incoming>> {
    if response.status().is_success() {
        return Ok(response);
    }
    let ErrorReport { error } = parse_json(&read_body(response).await?)?;
    Err(ClientError::Failed(error))
}

async fn read_body(response: Response<Incoming>) -> Result<Bytes> {
    let body = Limited::new(response.into_body(), MAX_BODY_BYTES).collect().await;
    Ok(body.map_err(wrap_unexpected)?.to_bytes())
}

fn lines(body: Incoming) -> impl Stream<Item = Result<Bytes, impl std::fmt::Display>> + Unpin {
    let pieces = BodyDataStream::new(body).map_err(io::Error::other);
    FramedRead::new(StreamReader::new(pieces), line_codec(MAX_LINE_BYTES))
}

pub(crate) fn line_codec(max_bytes: usize) -> AnyDelimiterCodec {
    AnyDelimiterCodec::new_with_max_length(b"\n".to_vec(), b"\n".to_vec(), max_bytes)
}

fn parse_json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T> {
    serde_json::from_slice(bytes).map_err(wrap_unexpected)
}

fn wrap_unexpected(error: impl std::fmt::Display) -> ClientError {
    ClientError::Broken(error.to_string())
}

fn query_values(value: &Value) -> Vec<String> {
    match value {
        Value::Null => Vec::new(),
        Value::String(text) => vec![text.clone()],
        Value::Array(items) => items.iter().flat_map(query_values).collect(),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => vec![value.to_string()],
    }
}

async fn carry(
    lines: Framed<TokioIo<Upgraded>, AnyDelimiterCodec>,
    mut requests: UnboundedReceiver<RpcRequest>,
    messages: Sender<RpcMessage>,
) {
    let (mut sink, mut source) = lines.split();
    let receive = async {
        // A malformed line ends the connection.
        while let Some(Ok(line)) = source.next().await
            && let Ok(message) = serde_json::from_slice(&line)
            && messages.send(message).await.is_ok()
        {}
    };
    let send = async {
        while let Some(request) = requests.recv().await
            && let Ok(line) = serde_json::to_string(&request)
            && sink.send(line).await.is_ok()
        {}
    };
    tokio::select! {
        () = receive => {}
        () = send => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn without_a_body_the_fields_are_the_query_and_a_list_repeats_its_name() {
        let found = FoundService {
            address: "127.0.0.1:1".to_owned(),
            door: ServerAddress::Port { token: String::new() },
        };
        let client = Client::new(found).for_project("ä b");
        let request = json!({"files": ["a", "b/c"], "limit": 5, "all": true, "scope": null});
        let (target, body) = client.target_and_body("GET", "/api/brief", &request).unwrap();
        assert_eq!(target, "/api/brief?project=%C3%A4+b&all=true&files=a&files=b%2Fc&limit=5");
        assert_eq!(body, None);
        let (target, body) = client.target_and_body("POST", "/api/brief", &request).unwrap();
        assert_eq!((target.as_str(), body), ("/api/brief?project=%C3%A4+b", Some(request)));
        let (target, _) = Client::new(client.found).target_and_body("GET", "/x", &()).unwrap();
        assert_eq!(target, "/x");
    }
}
