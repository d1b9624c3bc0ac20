//! A conversation in whole turns, so that what belongs together cannot be torn apart.

use crate::model::{Content, Message, Speaker, ToolCall, ToolResult, ToolStatus};

/// A token holds about four characters of prose and three of code; the smaller number errs on the safe side.
const BYTES_PER_TOKEN: usize = 3;

/// What a message and a call cost beside their text.
const FRAME_TOKENS: usize = 8;

/// Turns, oldest first; the last one is the one in progress.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conversation {
    pub turns: Vec<Turn>,
    /// How many turns before the first were left out.
    pub turns_left_out: usize,
}

/// What a person said, and everything that came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Turn {
    pub asked: String,
    pub steps: Vec<Exchange>,
    /// How many steps before the first were left out.
    pub steps_left_out: usize,
}

/// What a model said, with the results of all its calls and what the host had to say about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Exchange {
    pub said: Message,
    pub results: Vec<KeptResult>,
    pub remark: Option<String>,
}

/// A result, and where the whole of it can still be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptResult {
    pub result: ToolResult,
    pub tool: String,
    pub spill: Option<String>,
    pub is_stub: bool,
}

impl Turn {
    pub fn new(asked: &str) -> Self {
        Self { asked: asked.to_owned(), steps: Vec::new(), steps_left_out: 0 }
    }
}

impl Conversation {
    /// The messages that a model is sent.
    pub fn messages(&self) -> Vec<Message> {
        let mut messages = Vec::new();
        for (number, turn) in self.turns.iter().enumerate() {
            let gap = if number == 0 { self.turns_left_out } else { 0 };
            messages.push(turn.opening(gap));
            for step in &turn.steps {
                step.put(&mut messages);
            }
        }
        messages
    }

    pub fn tokens(&self) -> usize {
        let note = note_tokens(self.turns_left_out);
        self.turns.iter().map(Turn::tokens).fold(note, usize::saturating_add)
    }
}

impl Turn {
    /// The person's words, after a note of what is missing before and behind them.
    fn opening(&self, turns_left_out: usize) -> Message {
        let mut content = Vec::new();
        if turns_left_out != 0 {
            content.push(Content::Text(note(turns_left_out, "turn")));
        }
        content.push(Content::Text(self.asked.clone()));
        if self.steps_left_out != 0 {
            content.push(Content::Text(note(self.steps_left_out, "step")));
        }
        Message { speaker: Speaker::User, content, model: None }
    }

    pub(super) fn tokens(&self) -> usize {
        let opening = tokens_in(&self.asked) + FRAME_TOKENS + note_tokens(self.steps_left_out);
        self.steps.iter().map(Exchange::tokens).fold(opening, usize::saturating_add)
    }
}

impl Exchange {
    fn put(&self, messages: &mut Vec<Message>) {
        messages.push(self.said.clone());
        let mut content: Vec<Content> =
            self.results.iter().map(|kept| Content::ToolResult(kept.result.clone())).collect();
        content.extend(self.remark.clone().map(Content::Text));
        if !content.is_empty() {
            messages.push(Message { speaker: Speaker::User, content, model: None });
        }
    }

    pub(super) fn tokens(&self) -> usize {
        let said: usize = self.said.content.iter().map(content_tokens).sum();
        let results: usize = self.results.iter().map(KeptResult::tokens).sum();
        let remark = self.remark.as_deref().map_or(0, |remark| tokens_in(remark) + FRAME_TOKENS);
        said + results + remark + FRAME_TOKENS
    }

    pub(super) fn has_reasoning(&self) -> bool {
        self.said.content.iter().any(is_reasoning)
    }

    pub(super) fn forget_reasoning(&mut self) {
        self.said.content.retain(|content| !is_reasoning(content));
    }
}

impl KeptResult {
    /// A result as the pipeline returned it.
    pub fn new(result: ToolResult, call: &ToolCall, spill: Option<String>) -> Self {
        Self { result, tool: call.name.clone(), spill, is_stub: false }
    }

    pub(super) fn tokens(&self) -> usize {
        tokens_in(&self.result.text) + FRAME_TOKENS
    }

    /// The result in one line; `None` where that would not be shorter.
    pub(super) fn stub(&self) -> Option<Self> {
        let Self { result, tool, spill, is_stub: _ } = self;
        let outcome = match result.status {
            ToolStatus::Done => "result",
            ToolStatus::Failed => "error",
        };
        let again = match spill {
            Some(path) => format!("all of it is in `{path}`"),
            None => "call the tool again if you need it".to_owned(),
        };
        let text =
            format!("[{outcome} of `{tool}`, {} bytes, left out; {again}]", result.text.len());
        let result = ToolResult { text, ..result.clone() };
        let is_shorter = result.text.len() < self.result.text.len();
        is_shorter.then(|| Self { result, is_stub: true, ..self.clone() })
    }
}

/// How many tokens a text has, as far as can be told without the model's own counting.
pub(crate) fn tokens_in(text: &str) -> usize {
    text.len().div_ceil(BYTES_PER_TOKEN)
}

fn content_tokens(content: &Content) -> usize {
    match content {
        Content::Text(text) | Content::HiddenReasoning(text) => tokens_in(text),
        Content::Reasoning(reasoning) => {
            let signature = reasoning.signature.as_deref().map_or(0, tokens_in);
            tokens_in(&reasoning.text) + signature
        }
        Content::ToolUse(call) => {
            tokens_in(&call.name)
                + tokens_in(&call.arguments.as_object().to_string())
                + FRAME_TOKENS
        }
        Content::ToolResult(result) => tokens_in(&result.text) + FRAME_TOKENS,
    }
}

fn is_reasoning(content: &Content) -> bool {
    matches!(content, Content::Reasoning(_) | Content::HiddenReasoning(_))
}

fn note(n_left_out: usize, what: &str) -> String {
    let plural = if n_left_out == 1 { "was" } else { "s were" };
    let separator = if n_left_out == 1 { " " } else { "" };
    format!("[{n_left_out} earlier {what}{separator}{plural} left out here to save room.]")
}

fn note_tokens(n_left_out: usize) -> usize {
    // The same for any number, so that leaving out one more never makes a conversation longer.
    if n_left_out == 0 { 0 } else { 32 }
}
