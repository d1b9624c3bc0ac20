//! Events put together to a response.
//!
//! This is the one place where the habits of providers become one form: a call makes the stop reason `ToolUse`
//! whatever the server said, and the output tool's arguments become the text that was asked for.

use super::content::{Arguments, Content, Reasoning, ToolCall};
use super::error::Fault;
use super::loops::repeats_from;
use super::names::ModelRef;
use super::request::{OUTPUT_TOOL, Request};
use super::response::{Event, Response, StopReason};
use super::usage::Usage;

/// No sensible answer has more calls.
pub(super) const MAX_CALLS: usize = 256;

/// What a part costs beside its text, so that a server cannot fill the memory with empty ones.
const PART_BYTES: usize = 64;

/// After so many bytes of text it is looked at for repetitions again.
const LOOK_EVERY: usize = 500;

/// Collects the events of one attempt.
#[derive(Debug)]
pub(super) struct Collector {
    parts: Vec<Part>,
    stop: Option<StopReason>,
    usage: Usage,
    bytes_left: usize,
    /// How much text came since it was last looked at for repetitions.
    n_unseen: usize,
}

#[derive(Debug)]
enum Part {
    Content(Content),
    Call { index: usize, id: String, name: String, arguments: String },
}

impl Collector {
    pub(super) fn new(answer_bytes: usize) -> Self {
        Self {
            parts: Vec::new(),
            stop: None,
            usage: Usage::default(),
            bytes_left: answer_bytes,
            n_unseen: 0,
        }
    }

    pub(super) fn push(&mut self, event: &Event) -> Result<(), Fault> {
        match event {
            Event::Text(text) => {
                self.spend(text.len())?;
                self.n_unseen += text.len();
                match self.parts.last_mut() {
                    Some(Part::Content(Content::Text(last))) => last.push_str(text),
                    Some(_) | None => self.add(Content::Text(text.clone()))?,
                }
            }
            Event::Reasoning(text) => {
                self.spend(text.len())?;
                self.add_reasoning(text)?;
            }
            Event::ReasoningDone { signature: Some(signature) } => {
                self.spend(signature.len())?;
                self.sign_reasoning(signature.clone())?;
            }
            Event::ReasoningDone { signature: None } => {}
            Event::HiddenReasoning(data) => {
                self.spend(data.len())?;
                self.add(Content::HiddenReasoning(data.clone()))?;
            }
            Event::ToolStarted { index, id, name } => self.start_call(*index, id, name)?,
            Event::ToolArguments { index, delta } => {
                self.spend(delta.len())?;
                self.add_arguments(*index, delta)?;
            }
            Event::TextReplaced { text } => self.replace_text(text),
            Event::Usage(usage) => self.usage = *usage,
            Event::Stop(reason) => self.stop = Some(reason.clone()),
            Event::ToolDone { .. }
            | Event::Started { .. }
            | Event::Retry { .. }
            | Event::Fallback { .. } => {}
        }
        Ok(())
    }

    /// The text without its repetitions, once it says nothing new any more.
    pub(super) fn without_repetitions(&mut self) -> Option<String> {
        if self.n_unseen < LOOK_EVERY {
            return None;
        }
        self.n_unseen = 0;
        let text = self.text_without_calls()?;
        let from = repeats_from(&text)?;
        Some(text[..from].trim_end().to_owned())
    }

    /// Returns all text so far, and whether a call was made.
    pub(super) fn text_without_calls(&self) -> Option<String> {
        let mut all = String::new();
        for part in &self.parts {
            match part {
                Part::Content(Content::Text(text)) => all.push_str(text),
                Part::Content(_) => {}
                Part::Call { .. } => return None,
            }
        }
        Some(all)
    }

    pub(super) fn finish(self, model: &ModelRef, request: &Request) -> Response {
        let mut content: Vec<Content> = self.parts.into_iter().filter_map(Part::finish).collect();
        if request.output.is_some() {
            content = unwrap_output(content);
        }
        let has_calls = content.iter().any(|part| matches!(part, Content::ToolUse(_)));
        let mut stop = self.stop.unwrap_or(StopReason::End);
        if has_calls && stop == StopReason::End {
            stop = StopReason::ToolUse;
        } else if !has_calls && stop == StopReason::ToolUse {
            stop = StopReason::End;
        }
        Response { model: model.clone(), content, stop, usage: self.usage }
    }

    fn spend(&mut self, n_bytes: usize) -> Result<(), Fault> {
        let left = self.bytes_left.checked_sub(n_bytes);
        self.bytes_left = left.ok_or_else(|| Fault::protocol("the answer is too large"))?;
        Ok(())
    }

    fn add(&mut self, content: Content) -> Result<(), Fault> {
        self.spend(PART_BYTES)?;
        self.parts.push(Part::Content(content));
        Ok(())
    }

    fn add_reasoning(&mut self, text: &str) -> Result<(), Fault> {
        match self.parts.last_mut() {
            Some(Part::Content(Content::Reasoning(last))) if last.signature.is_none() => {
                last.text.push_str(text);
                Ok(())
            }
            Some(_) | None => {
                self.add(Content::Reasoning(Reasoning { text: text.to_owned(), signature: None }))
            }
        }
    }

    /// A signature closes its block; a provider may sign reasoning that it does not show.
    fn sign_reasoning(&mut self, signature: String) -> Result<(), Fault> {
        self.add_reasoning("")?;
        if let Some(Part::Content(Content::Reasoning(last))) = self.parts.last_mut() {
            last.signature = Some(signature);
        }
        Ok(())
    }

    fn start_call(&mut self, index: usize, id: &str, name: &str) -> Result<(), Fault> {
        if MAX_CALLS <= index {
            return Err(Fault::protocol("the answer has too many tool calls"));
        }
        self.spend(PART_BYTES + id.len() + name.len())?;
        let (id, name) = (id.to_owned(), name.to_owned());
        self.parts.push(Part::Call { index, id, name, arguments: String::new() });
        Ok(())
    }

    fn add_arguments(&mut self, wanted: usize, delta: &str) -> Result<(), Fault> {
        let call = self.parts.iter_mut().rev().find_map(|part| match part {
            Part::Call { index, arguments, .. } if *index == wanted => Some(arguments),
            Part::Call { .. } | Part::Content(_) => None,
        });
        let arguments = call.ok_or_else(|| Fault::protocol("arguments of no tool call"))?;
        arguments.push_str(delta);
        Ok(())
    }

    fn replace_text(&mut self, text: &str) {
        self.parts.retain(|part| !matches!(part, Part::Content(Content::Text(_))));
        if !text.is_empty() {
            let calls = self.parts.iter().position(|part| matches!(part, Part::Call { .. }));
            let place = calls.unwrap_or(self.parts.len());
            self.parts.insert(place, Part::Content(Content::Text(text.to_owned())));
        }
    }
}

impl Part {
    fn finish(self) -> Option<Content> {
        match self {
            Self::Content(Content::Text(text)) if text.is_empty() => None,
            Self::Content(content) => Some(content),
            Self::Call { index: _, id, name, arguments } => {
                let arguments = Arguments::parse(&arguments);
                Some(Content::ToolUse(ToolCall { id, name, arguments }))
            }
        }
    }
}

/// Turns a call of the output tool into the text it stands for; beside other calls it came too early and goes.
fn unwrap_output(content: Vec<Content>) -> Vec<Content> {
    let is_output =
        |part: &Content| matches!(part, Content::ToolUse(call) if call.name == OUTPUT_TOOL);
    let is_other =
        |part: &Content| matches!(part, Content::ToolUse(call) if call.name != OUTPUT_TOOL);
    if !content.iter().any(is_output) {
        return content;
    }
    let answer = content.iter().find(|part| is_output(part)).and_then(|part| match part {
        Content::ToolUse(ToolCall { arguments: Arguments::Object(value), .. }) => {
            Some(value.to_string())
        }
        Content::ToolUse(ToolCall { arguments: Arguments::Malformed { text, .. }, .. }) => {
            Some(text.clone())
        }
        Content::Text(_)
        | Content::Reasoning(_)
        | Content::HiddenReasoning(_)
        | Content::ToolResult(_)
        | Content::Image(_) => None,
    });
    if content.iter().any(is_other) {
        return content.into_iter().filter(|part| !is_output(part)).collect();
    }
    let is_prose = |part: &Content| matches!(part, Content::Text(_));
    let kept = content.into_iter().filter(|part| !is_output(part) && !is_prose(part));
    kept.chain(answer.map(Content::Text)).collect()
}
