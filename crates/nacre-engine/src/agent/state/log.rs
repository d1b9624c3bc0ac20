//! Events as lines of a log: `key=value`, one event a line, whatever a value holds.
//!
//! Values are quoted like JSON texts, and what a terminal would act on is escaped, so that a line can neither be
//! forged nor steer the screen of whoever reads it.

use std::fmt::Write as _;
use std::time::Duration;

use nacre_core::base::is_hidden_char;
use nacre_core::safefs::{FsError, Owner, RelPath, WriteScope};
use serde_json::Value;

use super::events::Ready;
use crate::agent::event::Record;

/// The folder of logs in the global folder, and the file of events in it.
pub const LOG_FOLDER: &str = "logs";
pub const LOG_FILE: &str = "server.log";

/// A log of this size makes room for the next; so many old ones are kept.
const MAX_BYTES: u64 = 10 << 20;
const N_KEPT: u32 = 5;

/// A log is not worth waiting for.
const PATIENCE: Duration = Duration::from_millis(200);

/// How deep values are taken apart; deeper ones stand as JSON.
const MAX_DEPTH: usize = 3;

/// The log of events.
#[derive(Debug)]
pub struct LogFile {
    folder: WriteScope,
    owner: Owner,
    path: RelPath,
    max_bytes: u64,
}

impl LogFile {
    /// The log in `folder`, which is the one for logs.
    pub fn new(folder: WriteScope, owner: Owner) -> Result<Self, FsError> {
        Ok(Self { folder, owner, path: RelPath::new(LOG_FILE)?, max_bytes: MAX_BYTES })
    }

    #[cfg(test)]
    pub(super) fn with_max_bytes(self, max_bytes: u64) -> Self {
        Self { max_bytes, ..self }
    }

    pub(super) fn write(&self, batch: &[Ready]) -> Result<(), FsError> {
        let mut lines = String::new();
        for ready in batch {
            lines.push_str(&line(ready));
            lines.push('\n');
        }
        let writer = self.folder.lock(&self.owner, PATIENCE)?;
        if self.max_bytes <= writer.append(&self.path, lines.as_bytes())? {
            writer.rotate(&self.path, N_KEPT)?;
        }
        Ok(())
    }
}

fn line(ready: &Ready) -> String {
    let Record { task, sequence, at, event } = &*ready.record;
    let level = level(&ready.fields);
    let name = event.name();
    let mut line = format!("at={at} level={level} event={name} task={task} sequence={sequence}");
    if let Value::Object(map) = &ready.fields {
        for (key, value) in map.iter().filter(|(key, _)| *key != "event") {
            push_value(&mut line, key, value, MAX_DEPTH);
        }
    }
    line
}

/// Returns the fields of an object as one line.
pub fn logfmt(fields: &Value) -> String {
    let mut line = String::new();
    push_fields(&mut line, fields);
    line.trim_start().to_owned()
}

fn level(fields: &Value) -> &'static str {
    match fields.get("event").and_then(Value::as_str) {
        Some("error" | "model.error" | "events.lost") => "error",
        Some("model.retry" | "model.fallback" | "tool.denied" | "budget.block") => "warn",
        Some("tool.result") if !fields["fault"].is_null() => "warn",
        Some("task.state") if fields["state"] == "failed" => "error",
        Some(_) | None => "info",
    }
}

fn push_fields(line: &mut String, fields: &Value) {
    if let Value::Object(map) = fields {
        for (key, value) in map {
            push_value(line, key, value, MAX_DEPTH);
        }
    }
}

fn push_value(line: &mut String, key: &str, value: &Value, depth: usize) {
    match value {
        Value::Null => {}
        Value::Array(items) if items.is_empty() => {}
        Value::Object(map) if depth > 0 => {
            for (inner, value) in map {
                push_value(line, &format!("{key}.{inner}"), value, depth - 1);
            }
        }
        Value::String(text) => push_pair(line, key, text),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            push_pair(line, key, &value.to_string());
        }
    }
}

fn push_pair(line: &mut String, key: &str, text: &str) {
    line.push(' ');
    line.extend(key.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-')));
    line.push('=');
    let is_plain =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | ':' | '/' | '-' | '+');
    if !text.is_empty() && text.chars().all(is_plain) {
        line.push_str(text);
        return;
    }
    line.push('"');
    for c in text.chars() {
        push_escaped(line, c);
    }
    line.push('"');
}

fn push_escaped(line: &mut String, c: char) {
    match c {
        '"' => line.push_str("\\\""),
        '\\' => line.push_str("\\\\"),
        '\n' => line.push_str("\\n"),
        '\t' => line.push_str("\\t"),
        '\r' => line.push_str("\\r"),
        hidden if is_hidden_char(hidden) => {
            for unit in hidden.encode_utf16(&mut [0; 2]) {
                // Writing to a `String` cannot fail.
                let _ = write!(line, "\\u{unit:04x}");
            }
        }
        plain => line.push(plain),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_quoted_where_they_must_be() {
        for (fields, expected) in [
            (json!({ "tool": "file_read", "n": 3 }), "n=3 tool=file_read"),
            (json!({ "why": "two words", "none": null }), r#"why="two words""#),
            (json!({ "why": "" }), r#"why="""#),
            (
                json!({ "usage": { "input": 4, "deep": { "er": { "est": 1 } } } }),
                r"usage.deep.er.est=1 usage.input=4",
            ),
            (
                json!({ "why": "a\nlevel=error \"x\" \u{1b}[2J \u{202e}" }),
                r#"why="a\nlevel=error \"x\" \u001b[2J \u202e""#,
            ),
            (json!({ "list": ["a", 1] }), r#"list="[\"a\",1]""#),
            (json!({ "a b=c": "x" }), "abc=x"),
        ] {
            assert_eq!(logfmt(&fields), expected);
        }
    }

    proptest! {
        #[test]
        fn a_value_is_one_line_that_can_be_read_back(text in any::<String>()) {
            let line = logfmt(&json!({ "k": text }));
            prop_assert!(!line.contains(is_hidden_char));
            let written = line.strip_prefix("k=").unwrap();
            let read = match written.starts_with('"') {
                true => serde_json::from_str::<String>(written).unwrap(),
                false => written.to_owned(),
            };
            prop_assert_eq!(read, text);
        }
    }
}
