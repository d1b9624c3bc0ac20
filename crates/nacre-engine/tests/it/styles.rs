//! The same answers in the formats of both APIs.

use serde_json::{Value, json};

use crate::loopback::Reply;

/// The two APIs, and the provider names that the tests use for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    Anthropic,
    OpenAi,
}

pub(crate) const BOTH: [Style; 2] = [Style::Anthropic, Style::OpenAi];

impl Style {
    pub(crate) fn provider(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
        }
    }

    /// Returns a text answer in pieces.
    pub(crate) fn text(self, pieces: &[&str]) -> Reply {
        self.answer(pieces, &[], self.ends_normally())
    }

    /// Returns an answer with calls: ID, name, and arguments in two pieces each.
    pub(crate) fn calls(self, calls: &[(&str, &str, &str)]) -> Reply {
        let stop = match self {
            Self::Anthropic => "tool_use",
            Self::OpenAi => "tool_calls",
        };
        self.answer(&["Let me see."], calls, stop)
    }

    pub(crate) fn ends_normally(self) -> &'static str {
        match self {
            Self::Anthropic => "end_turn",
            Self::OpenAi => "stop",
        }
    }

    pub(crate) fn answer(self, pieces: &[&str], calls: &[(&str, &str, &str)], stop: &str) -> Reply {
        match self {
            Self::Anthropic => Reply::stream(anthropic(pieces, calls, stop)),
            Self::OpenAi => Reply::stream(openai(pieces, calls, stop)),
        }
    }

    /// Returns an answer that fails with an error after some text.
    pub(crate) fn error_in_stream(self, text: &str, message: &str) -> Reply {
        match self {
            Self::Anthropic => {
                let mut chunks = anthropic_text(&[text], 0);
                let error = json!({ "type": "overloaded_error", "message": message });
                chunks.push(format_event(&json!({ "type": "error", "error": error })));
                Reply::stream(chunks)
            }
            Self::OpenAi => {
                let error = json!({ "error": { "code": 503, "message": message } });
                Reply::stream([data(&delta(&json!({ "content": text }))), data(&error)])
            }
        }
    }

    /// Returns a model's refusal in the format of each API.
    pub(crate) fn refusal(self) -> Reply {
        match self {
            Self::Anthropic => self.answer(&["No."], &[], "refusal"),
            Self::OpenAi => Reply::stream([
                data(&delta(&json!({ "refusal": "No." }))),
                data(&json!({ "choices": [{ "delta": {}, "finish_reason": "stop" }] })),
                "data: [DONE]\n\n".to_owned(),
            ]),
        }
    }
}

fn anthropic(pieces: &[&str], calls: &[(&str, &str, &str)], stop: &str) -> Vec<String> {
    let usage = json!({ "input_tokens": 10, "cache_read_input_tokens": 90, "output_tokens": 1 });
    let start = json!({ "type": "message_start", "message": { "usage": usage } });
    let mut chunks = vec![format_event(&start), format_event(&json!({ "type": "ping" }))];
    chunks.extend(anthropic_text(pieces, 0));
    for (n, (id, name, arguments)) in calls.iter().enumerate() {
        let index = n + 1;
        let block = json!({ "type": "tool_use", "id": id, "name": name, "input": {} });
        chunks.push(format_event(
            &json!({ "type": "content_block_start", "index": index, "content_block": block }),
        ));
        for piece in halves(arguments) {
            let delta = json!({ "type": "input_json_delta", "partial_json": piece });
            chunks.push(format_event(
                &json!({ "type": "content_block_delta", "index": index, "delta": delta }),
            ));
        }
        chunks.push(format_event(&json!({ "type": "content_block_stop", "index": index })));
    }
    let delta = json!({ "stop_reason": stop });
    let usage = json!({ "output_tokens": 20 });
    chunks.push(format_event(&json!({ "type": "message_delta", "delta": delta, "usage": usage })));
    chunks.push(format_event(&json!({ "type": "message_stop" })));
    chunks
}

fn anthropic_text(pieces: &[&str], index: usize) -> Vec<String> {
    let block = json!({ "type": "text", "text": "" });
    let start = json!({ "type": "content_block_start", "index": index, "content_block": block });
    let mut chunks = vec![format_event(&start)];
    for piece in pieces {
        let delta = json!({ "type": "text_delta", "text": piece });
        let event = json!({ "type": "content_block_delta", "index": index, "delta": delta });
        chunks.push(format_event(&event));
    }
    chunks.push(format_event(&json!({ "type": "content_block_stop", "index": index })));
    chunks
}

fn openai(pieces: &[&str], calls: &[(&str, &str, &str)], stop: &str) -> Vec<String> {
    let mut chunks = vec![": keep alive\n\n".to_owned()];
    chunks.extend(pieces.iter().map(|piece| data(&delta(&json!({ "content": piece })))));
    for (index, (id, name, _)) in calls.iter().enumerate() {
        let function = json!({ "name": name, "arguments": "" });
        let call = json!({ "index": index, "id": id, "type": "function", "function": function });
        chunks.push(data(&delta(&json!({ "tool_calls": [call] }))));
    }
    // The pieces of parallel calls are interleaved.
    for half in 0..2 {
        for (index, (_, _, arguments)) in calls.iter().enumerate() {
            let function = json!({ "arguments": halves(arguments)[half] });
            let call = json!({ "index": index, "function": function });
            chunks.push(data(&delta(&json!({ "tool_calls": [call] }))));
        }
    }
    chunks.push(data(&json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": stop }] })));
    let usage = json!({
        "prompt_tokens": 100, "completion_tokens": 20,
        "prompt_tokens_details": { "cached_tokens": 90 },
    });
    chunks.push(data(&json!({ "choices": [], "usage": usage })));
    chunks.push("data: [DONE]\n\n".to_owned());
    chunks
}

fn halves(text: &str) -> [&str; 2] {
    let (one, two) = text.split_at(text.len() / 2);
    [one, two]
}

fn delta(delta: &Value) -> Value {
    json!({ "choices": [{ "index": 0, "delta": delta }] })
}

pub(crate) fn data(value: &Value) -> String {
    format!("data: {value}\n\n")
}

fn format_event(value: &Value) -> String {
    let name = value["type"].as_str().unwrap_or_default();
    format!("event: {name}\ndata: {value}\n\n")
}
