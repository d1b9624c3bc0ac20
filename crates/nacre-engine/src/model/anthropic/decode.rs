//! The event stream of the Messages API.

use serde_json::Value;

use super::super::classify::Complaint;
use super::super::error::{ErrorKind, Fault};
use super::super::hosted::{Decoder, Progress, hold};
use super::super::response::{Event, StopReason};
use super::super::sse::Frame;
use super::super::usage::Usage;

/// What has been seen of one answer.
#[derive(Debug, Default)]
pub(super) struct AnthropicDecoder {
    block: Option<Block>,
    n_calls: usize,
    usage: Usage,
    has_stopped: bool,
    /// How much of signatures is held back.
    n_held: usize,
}

/// The block that is open; the API opens one at a time.
#[derive(Debug)]
enum Block {
    Text,
    Reasoning { signature: Option<String> },
    Call { index: usize },
    Other,
}

impl Decoder for AnthropicDecoder {
    fn frame(&mut self, frame: &Frame, out: &mut Vec<Event>) -> Result<Progress, Fault> {
        let data: Value = serde_json::from_str(&frame.data)
            .map_err(|_| Fault::protocol("the stream holds what is not JSON"))?;
        match data.get("type").and_then(Value::as_str).unwrap_or_default() {
            "message_start" => self.read_usage(data.pointer("/message/usage"), out),
            "content_block_start" => self.start(data.get("content_block"), out),
            "content_block_delta" => self.delta(data.get("delta"), out)?,
            "content_block_stop" => self.stop_block(out),
            "message_delta" => {
                self.read_usage(data.get("usage"), out);
                if let Some(reason) = data.pointer("/delta/stop_reason").and_then(Value::as_str) {
                    self.has_stopped = true;
                    out.push(Event::Stop(stop_reason(reason)));
                }
            }
            "message_stop" => return Ok(Progress::Complete),
            "error" => return Err(Complaint::from_value(&data).into_fault(None, None)),
            "message" => return Err(Fault::protocol("the server does not stream its answers")),
            // Pings, and what later versions of the API add.
            _ => {}
        }
        Ok(Progress::More)
    }

    fn end(&mut self, out: &mut Vec<Event>) -> Result<(), Fault> {
        if !self.has_stopped {
            return Err(Fault::new(ErrorKind::CutStream));
        }
        self.stop_block(out);
        Ok(())
    }
}

impl AnthropicDecoder {
    fn start(&mut self, block: Option<&Value>, out: &mut Vec<Event>) {
        self.stop_block(out);
        let text = |key: &str| block.and_then(|block| block.get(key)?.as_str()).unwrap_or_default();
        self.block = Some(match text("type") {
            "text" => {
                push_text(text("text"), out);
                Block::Text
            }
            "thinking" => {
                push_reasoning(text("thinking"), out);
                Block::Reasoning { signature: None }
            }
            "redacted_thinking" => {
                out.push(Event::HiddenReasoning(text("data").to_owned()));
                Block::Other
            }
            "tool_use" => {
                let index = self.n_calls;
                self.n_calls += 1;
                let (id, name) = (text("id").to_owned(), text("name").to_owned());
                out.push(Event::ToolStarted { index, id, name });
                let whole = block.and_then(|block| block.get("input")?.as_object());
                if let Some(input) = whole.filter(|input| !input.is_empty()) {
                    let delta = Value::Object(input.clone()).to_string();
                    out.push(Event::ToolArguments { index, delta });
                }
                Block::Call { index }
            }
            _ => Block::Other,
        });
    }

    fn delta(&mut self, delta: Option<&Value>, out: &mut Vec<Event>) -> Result<(), Fault> {
        let text = |key: &str| delta.and_then(|delta| delta.get(key)?.as_str()).unwrap_or_default();
        match (text("type"), &mut self.block) {
            ("text_delta", Some(Block::Text)) => push_text(text("text"), out),
            ("thinking_delta", Some(Block::Reasoning { .. })) => {
                push_reasoning(text("thinking"), out);
            }
            ("signature_delta", Some(Block::Reasoning { signature })) => {
                hold(&mut self.n_held, text("signature").len())?;
                signature.get_or_insert_default().push_str(text("signature"));
            }
            ("input_json_delta", Some(Block::Call { index })) => {
                let delta = text("partial_json").to_owned();
                if !delta.is_empty() {
                    out.push(Event::ToolArguments { index: *index, delta });
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn stop_block(&mut self, out: &mut Vec<Event>) {
        match self.block.take() {
            Some(Block::Reasoning { signature }) => {
                self.n_held = 0;
                out.push(Event::ReasoningDone { signature });
            }
            Some(Block::Call { index }) => out.push(Event::ToolDone { index }),
            Some(Block::Text | Block::Other) | None => {}
        }
    }

    /// Counts are cumulative; the last ones leave out what did not change.
    fn read_usage(&mut self, usage: Option<&Value>, out: &mut Vec<Event>) {
        let Some(usage) = usage else { return };
        let read = |key: &str, into: &mut u64| {
            if let Some(count) = usage.get(key).and_then(Value::as_u64) {
                *into = count;
            }
        };
        read("input_tokens", &mut self.usage.input);
        read("output_tokens", &mut self.usage.output);
        read("cache_read_input_tokens", &mut self.usage.cache_read);
        read("cache_creation_input_tokens", &mut self.usage.cache_write);
        out.push(Event::Usage(self.usage));
    }
}

fn push_text(text: &str, out: &mut Vec<Event>) {
    if !text.is_empty() {
        out.push(Event::Text(text.to_owned()));
    }
}

fn push_reasoning(text: &str, out: &mut Vec<Event>) {
    if !text.is_empty() {
        out.push(Event::Reasoning(text.to_owned()));
    }
}

fn stop_reason(reason: &str) -> StopReason {
    match reason {
        "end_turn" | "stop_sequence" => StopReason::End,
        "tool_use" => StopReason::ToolUse,
        "max_tokens" => StopReason::MaxTokens,
        "model_context_window_exceeded" => StopReason::ContextFull,
        "refusal" => StopReason::Refusal,
        other => StopReason::Other(other.to_owned()),
    }
}

#[cfg(test)]
mod tests;
