//! The chunks of chat completions, with what servers do to them.
//!
//! Seen in the wild and understood here: calls without id or index, several calls with the same index, arguments as
//! an object, reasoning in either of two fields or between tags, errors in the middle of a stream, a stop reason that
//! does not mention the calls, no closing mark, and a whole answer where a stream was asked for.

use serde_json::Value;

use super::super::classify::Complaint;
use super::super::collect::MAX_CALLS;
use super::super::cost::Cost;
use super::super::error::{ErrorKind, Fault};
use super::super::hosted::{Decoder, Progress, hold, made_id};
use super::super::response::{Event, StopReason};
use super::super::sse::Frame;
use super::super::usage::Usage;
use super::think::ThinkSplitter;

/// No more is parsed to see whether calls are whole.
const MAX_PARSED_BYTES: usize = 16 << 20;

/// What has been seen of one answer.
#[derive(Debug)]
pub(super) struct OpenAiDecoder {
    n_messages: usize,
    calls: Vec<CallSoFar>,
    think: ThinkSplitter,
    stop: Option<StopReason>,
    has_refused: bool,
    /// How much of calls without a name is held back.
    n_held: usize,
    /// How much was parsed to see whether a call is whole.
    n_parsed: usize,
}

/// A call whose pieces are still coming.
#[derive(Debug, Default)]
struct CallSoFar {
    index: Option<u64>,
    id: Option<String>,
    has_started: bool,
    arguments: String,
    /// How much of the arguments was passed on.
    n_passed: usize,
}

impl Decoder for OpenAiDecoder {
    fn frame(&mut self, frame: &Frame, out: &mut Vec<Event>) -> Result<Progress, Fault> {
        let data = frame.data.trim();
        if data == "[DONE]" {
            return Ok(Progress::Complete);
        }
        let chunk: Value = serde_json::from_str(data)
            .map_err(|_| Fault::protocol("the stream holds what is not JSON"))?;
        let is_error = chunk.get("error").is_some_and(|error| !error.is_null());
        if is_error || frame.event.as_deref() == Some("error") {
            return Err(Complaint::from_value(&chunk).into_fault(None, None));
        }
        if let Some(usage) = chunk.get("usage").filter(|usage| usage.is_object()) {
            out.push(Event::Usage(read_usage(usage)));
        }
        let choices = chunk.get("choices").and_then(Value::as_array);
        let is_first = |choice: &&Value| choice.get("index").is_none_or(|index| index == 0);
        if let Some(choice) = choices.and_then(|choices| choices.iter().find(is_first)) {
            self.choice(choice, out)?;
        }
        Ok(Progress::More)
    }

    fn end(&mut self, out: &mut Vec<Event>) -> Result<(), Fault> {
        let Some(stop) = self.stop.take() else {
            return Err(Fault::new(ErrorKind::CutStream));
        };
        self.think.finish(out);
        for (index, call) in self.calls.iter().enumerate() {
            if call.has_started {
                out.push(Event::ToolDone { index });
            }
        }
        out.push(Event::Stop(if self.has_refused { StopReason::Refusal } else { stop }));
        Ok(())
    }
}

impl OpenAiDecoder {
    pub(super) fn new(n_messages: usize) -> Self {
        let think = ThinkSplitter::default();
        Self {
            n_messages,
            calls: Vec::new(),
            think,
            stop: None,
            has_refused: false,
            n_held: 0,
            n_parsed: 0,
        }
    }

    fn choice(&mut self, choice: &Value, out: &mut Vec<Event>) -> Result<(), Fault> {
        if let Some(delta) = choice.get("delta").or_else(|| choice.get("message")) {
            self.delta(delta, out)?;
        }
        match choice.get("finish_reason").and_then(Value::as_str) {
            None | Some("") => {}
            Some("error") => return Err(Complaint::from_value(choice).into_fault(None, None)),
            Some(reason) => self.stop = Some(stop_reason(reason)),
        }
        Ok(())
    }

    fn delta(&mut self, delta: &Value, out: &mut Vec<Event>) -> Result<(), Fault> {
        let reasoning = delta.get("reasoning_content").or_else(|| delta.get("reasoning"));
        if let Some(text) = reasoning.and_then(Value::as_str).filter(|text| !text.is_empty()) {
            out.push(Event::Reasoning(text.to_owned()));
        }
        match delta.get("content") {
            Some(Value::String(text)) if !text.is_empty() => self.think.push(text, out),
            Some(Value::Array(parts)) => {
                for text in parts.iter().filter_map(|part| part.get("text")?.as_str()) {
                    self.think.push(text, out);
                }
            }
            Some(_) | None => {}
        }
        if let Some(text) = delta.get("refusal").and_then(Value::as_str).filter(|t| !t.is_empty()) {
            self.has_refused = true;
            out.push(Event::Text(text.to_owned()));
        }
        for piece in delta.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
            self.call(piece, out)?;
        }
        Ok(())
    }

    fn call(&mut self, piece: &Value, out: &mut Vec<Event>) -> Result<(), Fault> {
        let function = piece.get("function").unwrap_or(piece);
        let filled = |value: Option<&Value>| {
            value.and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
        };
        let (id, name) = (filled(piece.get("id")), filled(function.get("name")));
        let place =
            self.place(piece.get("index").and_then(Value::as_u64), id.as_deref(), name.as_deref());
        if MAX_CALLS <= place {
            return Err(Fault::protocol("the answer has too many tool calls"));
        }
        let made = made_id(self.n_messages, place);
        let Some(call) = self.calls.get_mut(place) else { return Ok(()) };
        let n_before = call.arguments.len();
        hold(
            &mut self.n_held,
            if call.id.is_none() { id.as_ref().map_or(0, String::len) } else { 0 },
        )?;
        call.id = call.id.take().or(id);
        match function.get("arguments") {
            Some(Value::String(text)) => call.arguments.push_str(text),
            Some(Value::Null) | None => {}
            Some(value) => call.arguments.push_str(&value.to_string()),
        }
        if !call.has_started && name.is_none() {
            hold(&mut self.n_held, call.arguments.len() - n_before)?;
        }
        if let Some(name) = name.filter(|_| !call.has_started) {
            call.has_started = true;
            let id = call.id.clone().unwrap_or(made);
            out.push(Event::ToolStarted { index: place, id, name });
        }
        let fresh = call.arguments.get(call.n_passed..).unwrap_or_default();
        if call.has_started && !fresh.is_empty() {
            out.push(Event::ToolArguments { index: place, delta: fresh.to_owned() });
            call.n_passed = call.arguments.len();
        }
        Ok(())
    }

    /// Returns which call a piece belongs to, and makes it if it is new.
    fn place(&mut self, index: Option<u64>, id: Option<&str>, name: Option<&str>) -> usize {
        let known = match (index, id) {
            (_, Some(id)) if self.calls.iter().any(|call| call.id.as_deref() == Some(id)) => {
                self.calls.iter().rposition(|call| call.id.as_deref() == Some(id))
            }
            (Some(index), _) => self.calls.iter().rposition(|call| call.index == Some(index)),
            (None, Some(_)) => None,
            (None, None) => self.calls.len().checked_sub(1),
        };
        let n_parsed = &mut self.n_parsed;
        let mut is_other = |call: &CallSoFar| {
            let other_id = id.is_some() && call.id.is_some() && call.id.as_deref() != id;
            // A server that names its calls in every piece would have them parsed again with each of them.
            let mut is_whole = || {
                let may_look = call.arguments.ends_with('}') && *n_parsed <= MAX_PARSED_BYTES;
                *n_parsed += if may_look { call.arguments.len() } else { 0 };
                may_look && serde_json::from_str::<Value>(&call.arguments).is_ok()
            };
            other_id || (name.is_some() && call.has_started && id.is_none() && is_whole())
        };
        match known {
            Some(place) if !self.calls.get(place).is_some_and(&mut is_other) => place,
            Some(_) | None => {
                self.calls.push(CallSoFar { index, ..CallSoFar::default() });
                self.calls.len() - 1
            }
        }
    }
}

fn read_usage(usage: &Value) -> Usage {
    let count = |pointer: &str| usage.pointer(pointer).and_then(Value::as_u64).unwrap_or(0);
    let cache_read = count("/prompt_tokens_details/cached_tokens");
    let cache_write = count("/prompt_tokens_details/cache_write_tokens");
    Usage {
        input: count("/prompt_tokens").saturating_sub(cache_read).saturating_sub(cache_write),
        cache_read,
        cache_write,
        output: count("/completion_tokens"),
        reasoning: count("/completion_tokens_details/reasoning_tokens"),
        reported: usage.get("cost").and_then(Value::as_f64).and_then(Cost::from_dollars),
    }
}

fn stop_reason(reason: &str) -> StopReason {
    match reason {
        "stop" | "eos" | "end_turn" => StopReason::End,
        "tool_calls" | "function_call" => StopReason::ToolUse,
        "length" | "max_tokens" => StopReason::MaxTokens,
        "content_filter" | "sensitive" => StopReason::ContentFilter,
        "model_context_window_exceeded" => StopReason::ContextFull,
        "refusal" => StopReason::Refusal,
        other => StopReason::Other(other.to_owned()),
    }
}

#[cfg(test)]
mod tests;
