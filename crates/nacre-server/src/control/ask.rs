//! One request to the running server: plain HTTP/1.1, answered whole.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use nacre_api::wire::{
    ErrorCode, ErrorReport, HealthReport, HookReport, HookRequest, LoopName, ServiceReport,
    WakeRequest,
};
use nacre_ops::service::{self, Door, FoundService};
use nacre_ops::{Host, OpError};
use serde::de::DeserializeOwned;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long somebody who must not wait does.
const HASTE: Duration = Duration::from_millis(50);
/// No answer of these is larger.
const MAX_ANSWER: u64 = 1 << 20;

/// What the server of this home says of itself; `None` where none answers.
pub fn health(host: &Host) -> Result<Option<HealthReport>, OpError> {
    let Some(found) = service::find(host)? else { return Ok(None) };
    match get(&found, "/api/health") {
        Ok(health) => Ok(Some(health)),
        // What a server that was killed left.
        Err(_) => Ok(None),
    }
}

/// Has a server run loops soon; `false` where it has to be done by somebody else.
pub fn wake(found: &FoundService, loops: &[LoopName]) -> bool {
    let request = WakeRequest { loops: loops.to_vec() };
    let Ok(body) = serde_json::to_string(&request) else { return false };
    send(found, ("POST", "/api/service/wake"), &body, HASTE).is_ok()
}

/// Has a server answer a hook within `patience`.
pub fn ask_hook(
    found: &FoundService,
    request: &HookRequest,
    patience: Duration,
) -> Result<HookReport, OpError> {
    let body = serde_json::to_string(request).map_err(|error| no_answer(&error.to_string()))?;
    parsed(&send(found, ("POST", "/api/hook"), &body, patience)?)
}

pub(super) fn service_report(found: &FoundService) -> Result<ServiceReport, OpError> {
    get(found, "/api/service")
}

/// Pauses or resumes what the server does by itself.
pub(super) fn set_paused(found: &FoundService, is_paused: bool) -> Result<ServiceReport, OpError> {
    let path = if is_paused { "/api/service/pause" } else { "/api/service/resume" };
    parsed(&send(found, ("POST", path), "{}", PATIENCE)?)
}

/// Asks the server to stop. It may be gone before it has answered.
pub(super) fn stop(found: &FoundService) -> Result<(), OpError> {
    send(found, ("POST", "/api/service/stop"), "{}", PATIENCE).map(drop)
}

fn get<T: DeserializeOwned>(found: &FoundService, path: &str) -> Result<T, OpError> {
    parsed(&send(found, ("GET", path), "", PATIENCE)?)
}

fn parsed<T: DeserializeOwned>(body: &[u8]) -> Result<T, OpError> {
    serde_json::from_slice(body).map_err(|error| no_answer(&error.to_string()))
}

/// Sends a request; returns the body of the answer, or the error that it tells.
fn send(
    found: &FoundService,
    (method, path): (&str, &str),
    body: &str,
    patience: Duration,
) -> Result<Vec<u8>, OpError> {
    let address = &found.address;
    let proof = match &found.door {
        #[cfg(unix)]
        Door::Socket(_) => String::new(),
        Door::Port { token } => format!("Authorization: Bearer {token}\r\n"),
    };
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\n{proof}\
         Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    let answer =
        exchange(found, &request, patience).map_err(|error| no_answer(&error.to_string()))?;
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n");
    let Some((head, body)) = end.map(|end| (&answer[..end], &answer[end + 4..])) else {
        return Err(no_answer("The answer has no end of its headers"));
    };
    let head = String::from_utf8_lossy(head);
    let status = head.split(' ').nth(1).and_then(|status| status.parse::<u16>().ok());
    match status {
        Some(200..=299) => Ok(body.to_owned()),
        _ => Err(match serde_json::from_slice::<ErrorReport>(body) {
            Ok(ErrorReport { error }) => error.into(),
            Err(_) => no_answer(head.lines().next().unwrap_or_default()),
        }),
    }
}

fn exchange(found: &FoundService, request: &str, patience: Duration) -> std::io::Result<Vec<u8>> {
    #[cfg(unix)]
    if let Door::Socket(socket) = &found.door {
        let stream = std::os::unix::net::UnixStream::connect(socket)?;
        stream.set_read_timeout(Some(patience))?;
        stream.set_write_timeout(Some(patience))?;
        return converse(stream, request);
    }
    let address: SocketAddr = found.address.parse().map_err(std::io::Error::other)?;
    // The token goes to nobody else.
    if !address.ip().is_loopback() {
        return Err(std::io::Error::other("the address is not of this machine"));
    }
    let stream = TcpStream::connect_timeout(&address, patience)?;
    stream.set_read_timeout(Some(patience))?;
    stream.set_write_timeout(Some(patience))?;
    converse(stream, request)
}

fn converse(mut stream: impl Read + Write, request: &str) -> std::io::Result<Vec<u8>> {
    stream.write_all(request.as_bytes())?;
    let mut answer = Vec::new();
    stream.take(MAX_ANSWER).read_to_end(&mut answer)?;
    Ok(answer)
}

fn no_answer(cause: &str) -> OpError {
    OpError {
        code: ErrorCode::Unavailable,
        causes: vec![cause.to_owned()],
        ..OpError::failed("The server does not answer")
    }
    .hint("`nacre logs` shows what it wrote; `nacre up` starts one")
}
