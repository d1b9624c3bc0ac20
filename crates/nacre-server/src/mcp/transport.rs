//! Responds to invalid lines and to requests that arrive before `initialize`. Each invalid line is
//! replaced by a special notification, so that its error response goes through the same transport
//! as all other output.

use std::borrow::Cow;
use std::future::Future;
use std::io;

use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, CustomRequest, ErrorCode, ErrorData,
    RequestId, ServerJsonRpcMessage,
};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde::de::IgnoredAny;
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader,
};

/// The notification that replaces an invalid line.
pub(super) const UNREADABLE: &str = "notifications/nacre/unreadable";

/// Number of bytes kept from each end of a long line, to find its request ID.
const KEPT_BYTES: usize = 1 << 10;

/// Forwards lines, replacing those longer than `limit` bytes.
pub(super) async fn forward(
    input: impl AsyncRead + Unpin,
    mut output: impl AsyncWrite + Unpin,
    limit: usize,
) -> io::Result<()> {
    let mut input = BufReader::new(input);
    loop {
        let mut line = Vec::new();
        (&mut input).take(limit as u64 + 1).read_until(b'\n', &mut line).await?;
        if line.is_empty() {
            return Ok(());
        }
        let is_whole = line.pop_if(|byte| *byte == b'\n').is_some() || line.len() <= limit;
        if is_whole && line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        if !is_whole {
            let tail = skip_line(&mut input, &line).await?;
            line.truncate(KEPT_BYTES);
            let id = id_in(&line, &tail);
            let why = format!("The message exceeds {limit} bytes");
            line = unreadable_notification(id.as_ref(), &why);
        } else if serde_json::from_slice::<IgnoredAny>(&line).is_err() {
            line = unreadable_notification(None, "The message is not a single line of JSON");
        }
        output.write_all(&line).await?;
        output.write_all(b"\n").await?;
    }
}

/// Skips the rest of a line that starts with `head`, and returns the line's last bytes.
async fn skip_line(
    input: &mut BufReader<impl AsyncRead + Unpin>,
    head: &[u8],
) -> io::Result<Vec<u8>> {
    let mut tail = head.to_vec();
    loop {
        tail.drain(..tail.len().saturating_sub(KEPT_BYTES));
        let n_read = input.take(KEPT_BYTES as u64).read_until(b'\n', &mut tail).await?;
        if n_read == 0 || tail.pop_if(|byte| *byte == b'\n').is_some() {
            tail.drain(..tail.len().saturating_sub(KEPT_BYTES));
            return Ok(tail);
        }
    }
}

/// Finds the request ID in the first and last bytes of a line. Clients put the ID first or last.
/// Inside a string, the quotes around `id` would be escaped.
fn id_in(head: &[u8], tail: &[u8]) -> Option<Value> {
    let (head, tail) = (String::from_utf8_lossy(head), String::from_utf8_lossy(tail));
    let before_params = head.split("\"params\"").next().unwrap_or_default();
    let last = tail.rsplit_once("\"id\"").map(|(_, rest)| rest);
    let first = before_params.split_once("\"id\"").map(|(_, rest)| rest);
    let id = |rest: &str| {
        let value = rest.trim_start().strip_prefix(':')?.split([',', '}']).next()?.trim();
        let value: Value = serde_json::from_str(value).ok()?;
        (value.is_i64() || value.is_string()).then_some(value)
    };
    // Only closing brackets may follow the ID.
    let is_last =
        |rest: &&str| rest.split_once('}').is_none_or(|(_, after)| after.trim().is_empty());
    first.and_then(id).or_else(|| last.filter(is_last).and_then(id))
}

fn unreadable_notification(id: Option<&Value>, why: &str) -> Vec<u8> {
    let params = json!({ "id": id, "why": why });
    json!({ "jsonrpc": "2.0", "method": UNREADABLE, "params": params }).to_string().into_bytes()
}

/// Clients with a newer protocol revision send this method first. Without a response, they wait
/// several seconds.
const DISCOVER: &str = "server/discover";

/// Requires `initialize` to be the first request.
pub(super) struct CheckedTransport<T> {
    inner: T,
    has_begun: bool,
}

/// The request ID and the error response.
type Refusal = (Option<RequestId>, ErrorData);

impl<T> CheckedTransport<T> {
    pub(super) fn new(inner: T) -> Self {
        Self { inner, has_begun: false }
    }

    /// Checks a message. Returns `None` if it should be ignored.
    fn check(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> Result<Option<ClientJsonRpcMessage>, Refusal> {
        if let Some(refusal) = unreadable(&message) {
            return Err(refusal);
        }
        let ClientJsonRpcMessage::Request(mut message) = message else {
            // Notifications before `initialize` are ignored.
            return Ok(Some(message).filter(|_| self.has_begun));
        };
        if matches!(message.request, ClientRequest::DiscoverRequest(_)) {
            message.request = ClientRequest::CustomRequest(CustomRequest::new(DISCOVER, None));
        }
        self.has_begun |= matches!(message.request, ClientRequest::InitializeRequest(_));
        if self.has_begun || matches!(message.request, ClientRequest::PingRequest(_)) {
            return Ok(Some(ClientJsonRpcMessage::Request(message)));
        }
        let error = if let ClientRequest::CustomRequest(request) = &message.request {
            unknown_method(&request.method)
        } else {
            ErrorData::invalid_request("Send `initialize` first", None)
        };
        Err((Some(message.id), error))
    }
}

fn unreadable(message: &ClientJsonRpcMessage) -> Option<Refusal> {
    let ClientJsonRpcMessage::Notification(message) = message else { return None };
    let ClientNotification::CustomNotification(ours) = &message.notification else { return None };
    let params = ours.params.as_ref().filter(|_| ours.method == UNREADABLE)?;
    let id = serde_json::from_value(params["id"].clone()).ok();
    let why = params["why"].as_str().unwrap_or_default().to_owned();
    let error = match id {
        Some(_) => ErrorData::invalid_request(why, None),
        None => ErrorData::parse_error(why, None),
    };
    Some((id, error))
}

/// Returns the error for an unknown method. Known methods with invalid parameters have a different
/// error.
pub(super) fn unknown_method(method: &str) -> ErrorData {
    const KNOWN: &[&str] = &[
        "completion/complete",
        "initialize",
        "prompts/get",
        "prompts/list",
        "resources/list",
        "resources/read",
        "resources/templates/list",
        "tools/call",
        "tools/list",
    ];
    let method: String = method.chars().take(100).collect();
    if KNOWN.contains(&method.as_str()) {
        return ErrorData::invalid_params(format!("Invalid parameters of `{method}`"), None);
    }
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("Unknown method `{method}`"), None)
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for CheckedTransport<T> {
    type Error = T::Error;

    fn name() -> Cow<'static, str> {
        T::name()
    }

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.inner.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let message = self.inner.receive().await?;
            match self.check(message) {
                Ok(Some(message)) => return Some(message),
                Ok(None) => {}
                Err((id, error)) => {
                    let answer = ServerJsonRpcMessage::error(error, id);
                    self.inner.send(answer).await.ok()?;
                }
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Forwards the lines, allowing at most 64 bytes per line.
    fn forward_lines(lines: &str) -> Vec<Value> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let mut out = Vec::new();
        runtime.block_on(forward(lines.as_bytes(), &mut out, 64)).unwrap();
        let text = String::from_utf8(out).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn ids(lines: &str) -> Vec<Value> {
        let of = |line: &Value| {
            assert_eq!(line["method"], UNREADABLE, "{line}");
            line["params"]["id"].clone()
        };
        forward_lines(lines).iter().map(of).collect()
    }

    #[test]
    fn lines_that_can_be_used_are_handed_on_as_they_are() {
        let lines = "{\"id\":1}\n\n  \n[2]\n\"the last, without an end\"";
        assert_eq!(
            forward_lines(lines),
            [json!({ "id": 1 }), json!([2]), json!("the last, without an end")]
        );
    }

    #[test]
    fn a_line_that_is_too_long_is_answered_by_its_id() {
        let long = "x".repeat(5000);
        let first = format!("{{\"jsonrpc\":\"2.0\",\"id\":5,\"params\":\"{long}\"}}\n");
        let last = format!("{{\"params\":\"{long}\",\"id\": \"a-7\"}}\n");
        let none = format!("{{\"params\":\"\\\"id\\\":3,{long}\\\"id\\\":4}}\"}}\n");
        let inner = format!("{{\"params\":\"{long}\",\"more\":{{\"id\":9}},\"end\":1}}\n");
        assert_eq!(
            ids(&format!("{first}{last}{none}{inner}")),
            [json!(5), json!("a-7"), json!(null), json!(null)]
        );
    }

    #[test]
    fn what_is_not_json_is_answered() {
        assert_eq!(ids("hello\n{\"id\":1\n"), [json!(null), json!(null)]);
    }
}
