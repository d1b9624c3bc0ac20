//! Decodes streamed chat completions, including common deviations from the format.
//!
//! Known deviations are calls without an ID or index, several calls with the same index, arguments
//! sent as an object, reasoning in either of two fields or between tags, errors in the middle of a
//! stream, a stop reason that does not reflect the calls, a missing end marker, and a complete
//! answer instead of a stream.

use std::ops::ControlFlow;

use serde_json::Value;

use crate::model::classify::Complaint;
use crate::model::collect::MAX_CALLS;
use crate::model::conversation::{ModelEvent, StopReason};
use crate::model::error::{ErrorKind, Fault, Result};
use crate::model::hosted::{Decoder, hold, make_call_id, push_reasoning, push_text};
use crate::model::price::{Cost, Usage};
use crate::model::sse::Frame;

/// Maximum total number of bytes parsed to check whether the arguments of calls are complete.
const MAX_PARSED_BYTES: usize = 16 << 20;

#[derive(Debug)]
pub(super) struct OpenAiDecoder {
    n_messages: usize,
    calls: Vec<CallSoFar>,
    think: ThinkSplitter,
    stop: Option<StopReason>,
    has_refused: bool,
    /// Number of bytes buffered for calls whose name is not known yet.
    n_held: usize,
    n_parsed: usize,
}

#[derive(Debug, Default)]
struct CallSoFar {
    index: Option<u64>,
    id: Option<String>,
    has_started: bool,
    arguments: String,
    n_passed: usize,
}

impl Decoder for OpenAiDecoder {
    fn frame(&mut self, frame: &Frame, out: &mut Vec<ModelEvent>) -> Result<ControlFlow<()>> {
        let data = frame.data.trim();
        if data == "[DONE]" {
            return Ok(ControlFlow::Break(()));
        }
        let chunk: Value = serde_json::from_str(data)
            .map_err(|_| Fault::protocol("the stream contains malformed JSON"))?;
        let is_error = chunk.get("error").is_some_and(|error| !error.is_null());
        if is_error || frame.event.as_deref() == Some("error") {
            return Err(Complaint::from_value(&chunk).into_fault(None, None));
        }
        if let Some(usage) = chunk.get("usage").filter(|usage| usage.is_object()) {
            out.push(ModelEvent::Usage(read_usage(usage)));
        }
        let choices = chunk["choices"].as_array();
        let is_first = |choice: &&Value| choice.get("index").is_none_or(|index| index == 0);
        if let Some(choice) = choices.and_then(|choices| choices.iter().find(is_first)) {
            self.choice(choice, out)?;
        }
        Ok(ControlFlow::Continue(()))
    }

    fn end(&mut self, out: &mut Vec<ModelEvent>) -> Result<()> {
        let Some(stop) = self.stop.take() else {
            return Err(Fault::new(ErrorKind::CutStream));
        };
        self.think.finish(out);
        out.push(ModelEvent::Stop(if self.has_refused { StopReason::Refusal } else { stop }));
        Ok(())
    }
}

impl OpenAiDecoder {
    pub(super) fn new(n_messages: usize) -> Self {
        Self {
            n_messages,
            calls: Vec::new(),
            think: ThinkSplitter::default(),
            stop: None,
            has_refused: false,
            n_held: 0,
            n_parsed: 0,
        }
    }

    fn choice(&mut self, choice: &Value, out: &mut Vec<ModelEvent>) -> Result<()> {
        if let Some(delta) = choice.get("delta").or_else(|| choice.get("message")) {
            self.delta(delta, out)?;
        }
        match choice["finish_reason"].as_str() {
            None | Some("") => {}
            Some("error") => return Err(Complaint::from_value(choice).into_fault(None, None)),
            Some(reason) => self.stop = Some(stop_reason(reason)),
        }
        Ok(())
    }

    fn delta(&mut self, delta: &Value, out: &mut Vec<ModelEvent>) -> Result<()> {
        let reasoning = delta.get("reasoning_content").or_else(|| delta.get("reasoning"));
        if let Some(text) = reasoning.and_then(Value::as_str).filter(|text| !text.is_empty()) {
            out.push(ModelEvent::Reasoning(text.to_owned()));
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
        if let Some(text) = delta["refusal"].as_str().filter(|t| !t.is_empty()) {
            self.has_refused = true;
            out.push(ModelEvent::Text(text.to_owned()));
        }
        for piece in delta["tool_calls"].as_array().into_iter().flatten() {
            self.call(piece, out)?;
        }
        Ok(())
    }

    fn call(&mut self, piece: &Value, out: &mut Vec<ModelEvent>) -> Result<()> {
        let function = piece.get("function").unwrap_or(piece);
        let filled = |value: Option<&Value>| {
            value.and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
        };
        let (id, name) = (filled(piece.get("id")), filled(function.get("name")));
        let place = self.place(piece["index"].as_u64(), id.as_deref(), name.as_deref());
        if MAX_CALLS <= place {
            return Err(Fault::protocol("the answer has too many tool calls"));
        }
        let made = make_call_id(self.n_messages, place);
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
            out.push(ModelEvent::ToolStarted { index: place, id, name });
        }
        let fresh = call.arguments.get(call.n_passed..).unwrap_or_default();
        if call.has_started && !fresh.is_empty() {
            out.push(ModelEvent::ToolArguments { index: place, delta: fresh.to_owned() });
            call.n_passed = call.arguments.len();
        }
        Ok(())
    }

    /// Returns the index of the call that a piece belongs to, adding the call if it is new.
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
            // The total is limited, because a server may send the call's name with every piece,
            // which would cause each piece to be parsed again.
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
        reported: usage["cost"].as_f64().and_then(Cost::from_dollars),
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

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

const MAX_UNDECIDED: usize = 1024;

#[derive(Debug, Default)]
pub(super) enum ThinkSplitter {
    #[default]
    Start,
    Undecided(String),
    /// Inside a reasoning block. The string may be the beginning of the closing tag.
    Inside(String),
    After,
    Plain,
}

impl ThinkSplitter {
    pub(super) fn push(&mut self, piece: &str, out: &mut Vec<ModelEvent>) {
        let state = std::mem::replace(self, Self::Plain);
        *self = match state {
            Self::Start => Self::begin(piece.to_owned(), out),
            Self::Undecided(held) => Self::begin(held + piece, out),
            Self::Inside(held) => Self::inside(&(held + piece), out),
            Self::After => Self::after(piece, out),
            Self::Plain => {
                push_text(piece, out);
                Self::Plain
            }
        };
    }

    pub(super) fn finish(&mut self, out: &mut Vec<ModelEvent>) {
        match std::mem::replace(self, Self::Plain) {
            Self::Undecided(held) => push_text(&held, out),
            Self::Inside(held) => push_reasoning(&held, out),
            Self::Start | Self::After | Self::Plain => {}
        }
    }

    fn begin(text: String, out: &mut Vec<ModelEvent>) -> Self {
        let trimmed = text.trim_start();
        if let Some(rest) = trimmed.strip_prefix(OPEN) {
            return Self::inside(rest, out);
        }
        if OPEN.starts_with(trimmed) && text.len() <= MAX_UNDECIDED {
            return Self::Undecided(text);
        }
        push_text(&text, out);
        Self::Plain
    }

    fn inside(text: &str, out: &mut Vec<ModelEvent>) -> Self {
        if let Some((thought, rest)) = text.split_once(CLOSE) {
            push_reasoning(thought, out);
            return Self::after(rest, out);
        }
        let held =
            (1..CLOSE.len()).rev().find(|n| text.ends_with(CLOSE.get(..*n).unwrap_or(CLOSE)));
        let (thought, held) = text.split_at(text.len() - held.unwrap_or(0));
        push_reasoning(thought, out);
        Self::Inside(held.to_owned())
    }

    fn after(piece: &str, out: &mut Vec<ModelEvent>) -> Self {
        let piece = piece.trim_start();
        if piece.is_empty() {
            return Self::After;
        }
        push_text(piece, out);
        Self::Plain
    }
}

#[cfg(test)]
mod think_tests {
    use proptest::prelude::*;

    use super::*;

    fn split(pieces: &[&str]) -> (String, String) {
        let mut splitter = ThinkSplitter::default();
        let mut out = Vec::new();
        for piece in pieces {
            splitter.push(piece, &mut out);
        }
        splitter.finish(&mut out);
        let (mut reasoning, mut text) = (String::new(), String::new());
        for event in out {
            if let ModelEvent::Reasoning(piece) = &event {
                reasoning.push_str(piece);
            }
            if let ModelEvent::Text(piece) = &event {
                text.push_str(piece);
            }
        }
        (reasoning, text)
    }

    #[test]
    fn only_a_leading_block_is_reasoning() {
        for (text, reasoning, answer) in [
            ("hi", "", "hi"),
            ("<think>a</think>\n\nhi", "a", "hi"),
            ("\n<think>a < b</think>hi", "a < b", "hi"),
            ("<think>never closed", "never closed", ""),
            ("say <think>x</think>", "", "say <think>x</think>"),
            ("<thing>", "", "<thing>"),
            ("<thi", "", "<thi"),
        ] {
            assert_eq!(split(&[text]), (reasoning.to_owned(), answer.to_owned()), "{text}");
        }
    }

    #[test]
    fn blanks_are_held_back_for_a_while() {
        let mut splitter = ThinkSplitter::default();
        let mut out = Vec::new();
        (0..=MAX_UNDECIDED).for_each(|_| splitter.push(" ", &mut out));
        assert!(matches!(splitter, ThinkSplitter::Plain));
        assert_eq!(out.len(), 1);
    }

    proptest! {
        #[test]
        fn any_split_gives_the_same(text in "( |\n|<think>|</think>|<th|ink>|ö|a|</){0,20}") {
            let whole = split(&[&text]);
            let pieces: Vec<String> = text.chars().map(String::from).collect();
            let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
            prop_assert_eq!(split(&pieces), whole);
        }
    }
}
