//! Builds a response from an attempt's events.
//!
//! Differences between providers are normalized here: if the response contains a tool call, the
//! stop reason is always `ToolUse`, and the output tool's arguments become the response text. Small
//! models sometimes repeat themselves endlessly; such a response is truncated at the first
//! repetition.

use crate::model::conversation::{
    Arguments, Content, ModelEvent, OUTPUT_TOOL, Reasoning, Request, Response, StopReason, ToolCall,
};
use crate::model::error::{Fault, Result};
use crate::model::price::Usage;
use crate::model::roles::ModelRef;

/// Maximum number of tool calls in a response. Real responses contain far fewer.
pub(super) const MAX_CALLS: usize = 256;

/// Bytes counted for each part in addition to its text, so that a server cannot exhaust memory with
/// empty parts.
const PART_BYTES: usize = 64;

const LOOK_EVERY: usize = 500;

#[derive(Debug)]
pub(super) struct Collector {
    parts: Vec<AnswerPart>,
    stop: Option<StopReason>,
    usage: Usage,
    bytes_left: usize,
    n_unseen: usize,
}

#[derive(Debug)]
enum AnswerPart {
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

    pub(super) fn push(&mut self, event: &ModelEvent) -> Result<()> {
        match event {
            ModelEvent::Text(text) => {
                self.spend(text.len())?;
                self.n_unseen += text.len();
                match self.parts.last_mut() {
                    Some(AnswerPart::Content(Content::Text(last))) => last.push_str(text),
                    Some(_) | None => self.add(Content::Text(text.clone()))?,
                }
            }
            ModelEvent::Reasoning(text) => {
                self.spend(text.len())?;
                self.add_reasoning(text)?;
            }
            ModelEvent::ReasoningSigned { signature } => {
                self.spend(signature.len())?;
                self.sign_reasoning(signature.clone())?;
            }
            ModelEvent::HiddenReasoning(data) => {
                self.spend(data.len())?;
                self.add(Content::HiddenReasoning(data.clone()))?;
            }
            ModelEvent::ToolStarted { index, id, name } => self.start_call(*index, id, name)?,
            ModelEvent::ToolArguments { index, delta } => {
                self.spend(delta.len())?;
                self.add_arguments(*index, delta)?;
            }
            ModelEvent::TextReplaced { text } => self.replace_text(text),
            ModelEvent::Usage(usage) => self.usage = *usage,
            ModelEvent::Stop(reason) => self.stop = Some(reason.clone()),
            ModelEvent::Started { .. } | ModelEvent::Retry { .. } | ModelEvent::Fallback { .. } => {
            }
        }
        Ok(())
    }

    pub(super) fn without_repetitions(&mut self) -> Option<String> {
        if self.n_unseen < LOOK_EVERY {
            return None;
        }
        self.n_unseen = 0;
        let text = self.text_without_calls()?;
        let from = repeats_from(&text)?;
        Some(text[..from].trim_end().to_owned())
    }

    /// Returns the text so far, or `None` if it contains a tool call.
    pub(super) fn text_without_calls(&self) -> Option<String> {
        let mut all = String::new();
        for part in &self.parts {
            match part {
                AnswerPart::Content(Content::Text(text)) => all.push_str(text),
                AnswerPart::Content(_) => {}
                AnswerPart::Call { .. } => return None,
            }
        }
        Some(all)
    }

    pub(super) fn finish(self, model: &ModelRef, request: &Request) -> Response {
        let mut content: Vec<Content> =
            self.parts.into_iter().filter_map(AnswerPart::finish).collect();
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

    fn spend(&mut self, n_bytes: usize) -> Result<()> {
        let left = self.bytes_left.checked_sub(n_bytes);
        self.bytes_left = left.ok_or_else(|| Fault::protocol("the answer is too large"))?;
        Ok(())
    }

    fn add(&mut self, content: Content) -> Result<()> {
        self.spend(PART_BYTES)?;
        self.parts.push(AnswerPart::Content(content));
        Ok(())
    }

    fn add_reasoning(&mut self, text: &str) -> Result<()> {
        match self.parts.last_mut() {
            Some(AnswerPart::Content(Content::Reasoning(last))) if last.signature.is_none() => {
                last.text.push_str(text);
                Ok(())
            }
            Some(_) | None => {
                self.add(Content::Reasoning(Reasoning { text: text.to_owned(), signature: None }))
            }
        }
    }

    /// Adds a signature, which also closes the reasoning block. A provider may send a signature
    /// without the reasoning.
    fn sign_reasoning(&mut self, signature: String) -> Result<()> {
        self.add_reasoning("")?;
        if let Some(AnswerPart::Content(Content::Reasoning(last))) = self.parts.last_mut() {
            last.signature = Some(signature);
        }
        Ok(())
    }

    fn start_call(&mut self, index: usize, id: &str, name: &str) -> Result<()> {
        if MAX_CALLS <= index {
            return Err(Fault::protocol("the answer has too many tool calls"));
        }
        self.spend(PART_BYTES + id.len() + name.len())?;
        let (id, name) = (id.to_owned(), name.to_owned());
        self.parts.push(AnswerPart::Call { index, id, name, arguments: String::new() });
        Ok(())
    }

    fn add_arguments(&mut self, wanted: usize, delta: &str) -> Result<()> {
        let call = self.parts.iter_mut().rev().find_map(|part| match part {
            AnswerPart::Call { index, arguments, .. } if *index == wanted => Some(arguments),
            AnswerPart::Call { .. } | AnswerPart::Content(_) => None,
        });
        let arguments = call.ok_or_else(|| Fault::protocol("arguments without a tool call"))?;
        arguments.push_str(delta);
        Ok(())
    }

    fn replace_text(&mut self, text: &str) {
        self.parts.retain(|part| !matches!(part, AnswerPart::Content(Content::Text(_))));
        if !text.is_empty() {
            let calls = self.parts.iter().position(|part| matches!(part, AnswerPart::Call { .. }));
            let place = calls.unwrap_or(self.parts.len());
            self.parts.insert(place, AnswerPart::Content(Content::Text(text.to_owned())));
        }
    }
}

impl AnswerPart {
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

fn unwrap_output(content: Vec<Content>) -> Vec<Content> {
    let output = |part: &Content| part.as_call().filter(|call| call.name == OUTPUT_TOOL).cloned();
    let Some(call) = content.iter().find_map(output) else { return content };
    let mut content = content;
    content.retain(|part| output(part).is_none());
    if content.iter().all(|part| part.as_call().is_none()) {
        content.retain(|part| part.as_text().is_none());
        content.push(Content::Text(match call.arguments {
            Arguments::Object(value) => value.to_string(),
            Arguments::Malformed { text, .. } => text,
        }));
    }
    content
}

/// How many times in a row a sequence must repeat before the answer is truncated.
const TIMES: usize = 6;

/// Maximum number of sentences in a repeated sequence.
const MAX_PERIOD: usize = 3;

const MIN_LETTERS: usize = 20;

/// Number of bytes at the end of the response that are checked for repetitions.
const LOOKED_AT: usize = 8_000;

pub(super) fn repeats_from(text: &str) -> Option<usize> {
    let start = text.ceil_char_boundary(text.len().saturating_sub(LOOKED_AT));
    let sentences = sentences(&text[start..]);
    (1..=MAX_PERIOD).find_map(|period| {
        let needed = period * TIMES;
        let from = sentences.len().checked_sub(needed)?;
        let last = &sentences[from..];
        let n_letters: usize = last[..period]
            .iter()
            .map(|(_, words)| words.chars().filter(|c| c.is_alphabetic()).count())
            .sum();
        let is_same = last.iter().zip(&last[period..]).all(|((_, one), (_, other))| one == other);
        if n_letters < MIN_LETTERS || !is_same {
            return None;
        }
        // The repetition may have started earlier than this point.
        let earlier = (0..from).rev().take_while(|at| sentences[*at].1 == sentences[at + period].1);
        let first = earlier.last().unwrap_or(from);
        Some(start + sentences[first + period].0)
    })
}

fn sentences(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut from = 0;
    for (at, c) in text.char_indices() {
        if matches!(c, '.' | '!' | '?' | '\n') {
            let words = text[from..at].trim();
            if !words.is_empty() {
                found.push((from, words));
            }
            from = at + c.len_utf8();
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_come_again_and_again_are_noticed() {
        let lock = "The lock is held until the job is claimed. ";
        for (text, expected) in [
            (
                format!("It waits. {}", lock.repeat(6)),
                Some(format!("It waits. {}", lock.trim_end())),
            ),
            (
                format!("It waits. {}", lock.repeat(30)),
                Some(format!("It waits. {}", lock.trim_end())),
            ),
            (format!("It waits. {}", lock.repeat(5)), None),
            (format!("{}Then it ends.", lock.repeat(6)), None),
            (
                "Read the file.\nThen answer it.\n".repeat(6),
                Some("Read the file.\nThen answer it.".to_owned()),
            ),
            ("---\n".repeat(50), None),
            ("ok.\n".repeat(50), None),
            ((1..40).map(|n| format!("Step {n} of the plan is done.\n")).collect(), None),
            (format!("{}ü", "ä".repeat(9_000)), None),
        ] {
            let kept = repeats_from(&text).map(|from| text[..from].trim_end().to_owned());
            assert_eq!(kept, expected, "{}", &text[..20]);
        }
    }
}
