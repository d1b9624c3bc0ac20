//! What Claude Code prints while it works, a line at a time: tools that it called, what came back, tokens so far, and its result.

use std::collections::BTreeMap;

use serde_json::Value;

use super::super::usage::Usage;
use super::claude::tokens;

/// What an agent did on its way to an answer.
#[derive(Debug, PartialEq)]
pub enum AgentStep<'a> {
    /// A line as it was printed, which is one JSON object.
    Line(&'a str),
    ToolCall {
        id: &'a str,
        tool: &'a str,
        input: &'a Value,
    },
    ToolResult {
        id: &'a str,
        is_error: bool,
        text: &'a str,
    },
}

/// Reads a stream of lines.
#[derive(Default)]
pub(super) struct StreamReader {
    /// The beginning of a line whose end has not come.
    partial: Vec<u8>,
    /// By message: one that is printed in several pieces has its tokens in each of them.
    usage: BTreeMap<String, Usage>,
    result: Option<Value>,
}

impl StreamReader {
    /// Takes the next bytes, and tells `hear` what is in the lines that end in them.
    pub(super) fn push(&mut self, bytes: &[u8], hear: &dyn Fn(&AgentStep<'_>)) {
        self.partial.extend_from_slice(bytes);
        while let Some(end) = self.partial.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.partial.drain(..=end).collect();
            self.line(&String::from_utf8_lossy(&line), hear);
        }
    }

    /// Takes what is left as the last line.
    pub(super) fn finish(&mut self, hear: &dyn Fn(&AgentStep<'_>)) {
        let line = std::mem::take(&mut self.partial);
        self.line(&String::from_utf8_lossy(&line), hear);
    }

    /// The tokens of all messages so far.
    pub(super) fn usage(&self) -> Usage {
        self.usage.values().fold(Usage::default(), |sum, usage| sum.plus(*usage))
    }

    /// The last word, once it was said.
    pub(super) fn result(&self) -> Option<&Value> {
        self.result.as_ref()
    }

    fn line(&mut self, line: &str, hear: &dyn Fn(&AgentStep<'_>)) {
        let line = line.trim();
        // What is no event of the stream is no part of the session either.
        let Ok(event) = serde_json::from_str::<Value>(line) else { return };
        if !event.is_object() {
            return;
        }
        hear(&AgentStep::Line(line));
        match event.get("type").and_then(Value::as_str) {
            Some("assistant") => {
                self.count(&event);
                called(&event, hear);
            }
            Some("user") => returned(&event, hear),
            Some("result") => self.result = Some(event),
            Some(_) | None => {}
        }
    }

    fn count(&mut self, event: &Value) {
        let Some(message) = event.get("message") else { return };
        let id = message.get("id").and_then(Value::as_str).unwrap_or_default();
        if let Some(usage) = message.get("usage") {
            self.usage.insert(id.to_owned(), tokens(usage));
        }
    }
}

fn content(event: &Value) -> impl Iterator<Item = &Value> {
    event.pointer("/message/content").and_then(Value::as_array).into_iter().flatten()
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn called(event: &Value, hear: &dyn Fn(&AgentStep<'_>)) {
    for part in content(event).filter(|part| text(part, "type") == "tool_use") {
        let input = part.get("input").unwrap_or(&Value::Null);
        hear(&AgentStep::ToolCall { id: text(part, "id"), tool: text(part, "name"), input });
    }
}

fn returned(event: &Value, hear: &dyn Fn(&AgentStep<'_>)) {
    for part in content(event).filter(|part| text(part, "type") == "tool_result") {
        let is_error = part.get("is_error").and_then(Value::as_bool).unwrap_or(false);
        // A text, or a list of parts that may be texts.
        let said = match part.get("content") {
            Some(Value::String(said)) => said,
            Some(Value::Array(parts)) => parts.first().map_or("", |part| text(part, "text")),
            Some(_) | None => "",
        };
        hear(&AgentStep::ToolResult { id: text(part, "tool_use_id"), is_error, text: said });
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    const LINES: &str = r#"{"type":"system","subtype":"init"}
not an event
{"type":"assistant","message":{"id":"m1","usage":{"input_tokens":10,"output_tokens":2},"content":[{"type":"text","text":"hm"}]}}
{"type":"assistant","message":{"id":"m1","usage":{"input_tokens":10,"output_tokens":5},"content":[{"type":"tool_use","id":"t1","name":"Read","input":{"file_path":"a.md"}}]}}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":"no"}]}}
{"type":"assistant","message":{"id":"m2","usage":{"input_tokens":20,"output_tokens":7},"content":[]}}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t2","content":[{"type":"text","text":"yes"}]}]}}
{"type":"result","is_error":false,"result":"x"}"#;

    #[test]
    fn lines_are_read_however_they_are_cut() {
        for size in [1, 7, 100_000] {
            let told = RefCell::new(Vec::new());
            let hear = |step: &AgentStep<'_>| told.borrow_mut().push(format!("{step:?}"));
            let mut reader = StreamReader::default();
            LINES.as_bytes().chunks(size).for_each(|chunk| reader.push(chunk, &hear));
            assert_eq!(reader.result(), None, "its line has no end yet");
            reader.finish(&hear);
            let usage = reader.usage();
            assert_eq!((usage.input, usage.output), (30, 12), "a message counts once");
            assert_eq!(reader.result().unwrap()["result"], "x");
            let told = told.into_inner();
            assert_eq!(told.iter().filter(|step| step.starts_with("Line")).count(), 7);
            let rest: Vec<&String> = told.iter().filter(|step| !step.starts_with("Line")).collect();
            assert_eq!(rest.len(), 3, "{rest:?}");
            assert!(rest[0].contains("id: \"t1\", tool: \"Read\""), "{}", rest[0]);
            assert!(rest[1].contains("is_error: true, text: \"no\""), "{}", rest[1]);
            assert!(rest[2].contains("is_error: false, text: \"yes\""), "{}", rest[2]);
        }
    }
}
