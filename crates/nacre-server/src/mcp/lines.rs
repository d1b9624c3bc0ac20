//! The lines of a client before the protocol sees them: one that is too long, or is not JSON, is answered with an error.
//!
//! Without an answer a client waits for ever. Such a line is put in the place of a notification of our own, which the transport
//! answers: so all that goes out still goes through one sender.

use std::io;

use serde::de::IgnoredAny;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};

/// The notification that stands for a line that cannot be used.
pub(super) const UNREADABLE: &str = "notifications/nacre/unreadable";

/// As much of the beginning and of the end of a line that is too long is looked at for the id of its request.
const KEPT_BYTES: usize = 1 << 10;

/// A line as far as it was read.
enum Line {
    Whole(Vec<u8>),
    TooLong {
        head: Vec<u8>,
        tail: Vec<u8>,
    },
    /// There are no more.
    End,
}

/// Hands on the lines of `input` until it ends, each of at most `limit` bytes.
pub(super) async fn forward(
    input: impl AsyncRead + Unpin,
    mut output: impl AsyncWrite + Unpin,
    limit: usize,
) -> io::Result<()> {
    let mut input = BufReader::new(input);
    loop {
        let line = match next(&mut input, limit).await? {
            Line::End => return Ok(()),
            Line::TooLong { head, tail } => unreadable(
                id_in(&head, &tail).as_ref(),
                &format!("A message has at most {limit} bytes"),
            ),
            Line::Whole(line) if line.iter().all(u8::is_ascii_whitespace) => continue,
            Line::Whole(line) if serde_json::from_slice::<IgnoredAny>(&line).is_ok() => line,
            Line::Whole(_) => unreadable(None, "The message is not JSON in one line"),
        };
        output.write_all(&line).await?;
        output.write_all(b"\n").await?;
    }
}

async fn next(input: &mut BufReader<impl AsyncRead + Unpin>, limit: usize) -> io::Result<Line> {
    let (mut line, mut n_read) = (Vec::new(), 0);
    let mut tail = Vec::new();
    loop {
        let bytes = input.fill_buf().await?;
        if bytes.is_empty() {
            return Ok(if n_read == 0 { Line::End } else { ended(line, tail, n_read, limit) });
        }
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let part = &bytes[..end.unwrap_or(bytes.len())];
        n_read += part.len();
        if n_read <= limit {
            line.extend_from_slice(part);
        } else {
            line.truncate(KEPT_BYTES);
            line.extend_from_slice(&part[..part.len().min(KEPT_BYTES - line.len())]);
            tail.extend_from_slice(part);
            tail.drain(..tail.len().saturating_sub(KEPT_BYTES));
        }
        let n_used = part.len() + usize::from(end.is_some());
        input.consume(n_used);
        if end.is_some() {
            return Ok(ended(line, tail, n_read, limit));
        }
    }
}

fn ended(line: Vec<u8>, tail: Vec<u8>, n_read: usize, limit: usize) -> Line {
    if n_read <= limit { Line::Whole(line) } else { Line::TooLong { head: line, tail } }
}

/// The id of a request of which only the beginning and the end are known. Clients write it first or last; inside a text its quotes
/// would be escaped.
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
    // At the end nothing but closing brackets follows it.
    let is_last =
        |rest: &&str| rest.split_once('}').is_none_or(|(_, after)| after.trim().is_empty());
    first.and_then(id).or_else(|| last.filter(is_last).and_then(id))
}

fn unreadable(id: Option<&Value>, why: &str) -> Vec<u8> {
    let params = json!({ "id": id, "why": why });
    json!({ "jsonrpc": "2.0", "method": UNREADABLE, "params": params }).to_string().into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is handed on of these lines, where a line has at most 64 bytes.
    fn forwarded(lines: &str) -> Vec<Value> {
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
        forwarded(lines).iter().map(of).collect()
    }

    #[test]
    fn lines_that_can_be_used_are_handed_on_as_they_are() {
        let lines = "{\"id\":1}\n\n  \n[2]\n\"the last, without an end\"";
        assert_eq!(
            forwarded(lines),
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
