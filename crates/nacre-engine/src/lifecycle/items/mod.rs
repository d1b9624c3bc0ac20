//! A conversation as a sequence of items, which are appended during a run and read when it is
//! resumed.
//!
//! Calls and results are stored in full, so a resumed conversation is sent to the model unchanged.
//! Items are never modified. Later items record that earlier ones were undone or summarized.

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::lifecycle::context::{
    Attachment, Conversation, Exchange, KeptResult, Summary, Turn, TurnEnd,
};
use crate::model::{
    Arguments, Content, Message, ModelRef, Reasoning, Speaker, ToolCall, ToolResult, ToolStatus,
};
use crate::record::state::NewItem;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Item {
    User {
        text: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        attachments: Vec<Attachment>,
    },
    Assistant {
        step: u32,
        model: Option<ModelRef>,
        text: String,
    },
    Reasoning {
        step: u32,
        model: Option<ModelRef>,
        text: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signature: Option<String>,
    },
    HiddenReasoning {
        step: u32,
        model: Option<ModelRef>,
        data: String,
    },
    ToolCall {
        step: u32,
        model: Option<ModelRef>,
        call: String,
        tool: String,
        arguments: Arguments,
    },
    ToolResult {
        step: u32,
        call: String,
        tool: String,
        status: ToolStatus,
        text: String,
        /// Path from which `file_read` can read the full result until the run ends.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        spill: Option<String>,
    },
    Remark {
        step: u32,
        text: String,
    },
    Steering {
        step: u32,
        text: String,
    },
    /// What the model had written when the run was stopped.
    Interrupted {
        text: String,
    },
    Summary(Summary),
    End(TurnEnd),
    Notice {
        text: String,
    },
    /// The current checklist. It is not sent to the model, because the model's calls already
    /// contain it.
    Checklist {
        items: Value,
    },
    /// An item written by a newer version. It is kept but ignored.
    #[serde(other)]
    Unknown,
}

impl Item {
    pub fn to_new(&self) -> NewItem {
        let json = serde_json::to_value(self).unwrap_or_default();
        NewItem { kind: json["kind"].as_str().unwrap_or_default().to_owned(), json }
    }

    /// Parses JSON written by `to_new`. An invalid item becomes `Unknown`, so that it does not make
    /// the entire conversation unreadable.
    pub fn from_json(json: &Value) -> Self {
        serde_json::from_value(json.clone()).unwrap_or(Self::Unknown)
    }
}

/// Placeholder inserted by redaction. The placeholder invalidates the signature of a reasoning
/// block.
const REDACTED: &str = "[redacted:";

/// Sent to the model in place of a missing call result.
const NO_RESULT: &str = "Error (cancelled): The run ended before this call came back. It may or may not have been made.";

impl Conversation {
    pub fn from_items(items: impl IntoIterator<Item = Item>) -> Self {
        let mut builder = Builder::default();
        for item in items {
            builder.take(item);
        }
        builder.end_step();
        builder.conversation
    }
}

#[derive(Default)]
struct Builder {
    conversation: Conversation,
    step: Option<u32>,
}

impl Builder {
    fn take(&mut self, item: Item) {
        match item {
            Item::User { text, attachments } => {
                self.end_step();
                self.conversation.turns.push(Turn { attachments, ..Turn::new(&text) });
            }
            Item::Assistant { step, model, text } => self.said(step, model, Content::Text(text)),
            Item::Reasoning { step, model, text, signature } => {
                self.reasoning(step, model, Reasoning { text, signature });
            }
            Item::HiddenReasoning { step, model, data } if !data.contains(REDACTED) => {
                self.said(step, model, Content::HiddenReasoning(data));
            }
            Item::ToolCall { step, model, call, tool, arguments } => {
                let call = ToolCall { id: call, name: tool, arguments };
                self.said(step, model, Content::ToolUse(call));
            }
            Item::ToolResult { step, call, tool, status, text, spill } => {
                let result = ToolResult { call_id: call, text, status };
                self.result(step, KeptResult { result, tool, spill, is_stub: false });
            }
            Item::Remark { step, text } => {
                if let Some(exchange) = self.exchange(step) {
                    exchange.add_remark(&text);
                }
            }
            Item::Steering { step, text } => {
                if let Some(exchange) = self.exchange(step) {
                    exchange.steered.push(text);
                }
            }
            Item::Interrupted { text } => {
                self.end_step();
                if let Some(turn) = self.conversation.turns.last_mut() {
                    turn.interrupted = Some(text);
                }
            }
            Item::Summary(summary) => self.sum_up(summary),
            Item::End(end) => {
                self.end_step();
                if let Some(turn) = self.conversation.turns.last_mut() {
                    turn.end = Some(end);
                }
            }
            Item::HiddenReasoning { .. }
            | Item::Notice { .. }
            | Item::Checklist { .. }
            | Item::Unknown => {}
        }
    }

    fn reasoning(&mut self, step: u32, model: Option<ModelRef>, reasoning: Reasoning) {
        let Reasoning { text, signature } = &reasoning;
        // Providers reject reasoning with a wrong signature but accept a message without reasoning.
        let is_broken = |signature: &String| [text, signature].iter().any(|s| s.contains(REDACTED));
        if !signature.as_ref().is_some_and(is_broken) {
            self.said(step, model, Content::Reasoning(reasoning));
        }
    }

    fn said(&mut self, step: u32, model: Option<ModelRef>, content: Content) {
        if self.step != Some(step) {
            self.end_step();
            let Some(turn) = self.conversation.turns.last_mut() else { return };
            let said = Message { speaker: Speaker::Assistant, content: Vec::new(), model };
            turn.steps.push(Exchange::new(said));
            self.step = Some(step);
        }
        if let Some(exchange) = self.exchange(step) {
            exchange.said.content.push(content);
        }
    }

    fn result(&mut self, step: u32, kept: KeptResult) {
        let Some(exchange) = self.exchange(step) else { return };
        let id = &kept.result.call_id;
        // A model may use the same ID for two calls.
        if n_results(exchange, id) < exchange.calls().filter(|call| call.id == *id).count() {
            exchange.results.push(kept);
        }
    }

    fn sum_up(&mut self, summary: Summary) {
        let (turns_before, steps_before) =
            self.conversation.summary.as_ref().map_or((0, 0), |old| (old.n_turns, old.n_steps));
        let turns = &mut self.conversation.turns;
        let n_turns = summary.n_turns.saturating_sub(turns_before).min(turns.len());
        turns.drain(..n_turns);
        let steps_before = if n_turns == 0 { steps_before } else { 0 };
        if let Some(turn) = turns.first_mut() {
            let n_steps = summary.n_steps.saturating_sub(steps_before).min(turn.steps.len());
            turn.steps.drain(..n_steps);
        }
        if turns.last().is_none_or(|turn| turn.steps.is_empty()) {
            self.step = None;
        }
        self.conversation.summary = Some(summary);
    }

    fn exchange(&mut self, step: u32) -> Option<&mut Exchange> {
        let is_open = self.step == Some(step);
        self.conversation.turns.last_mut()?.steps.last_mut().filter(|_| is_open)
    }

    /// Adds a result to every call in the last step that does not have one.
    fn end_step(&mut self) {
        if self.step.take().is_none() {
            return;
        }
        let turn = self.conversation.turns.last_mut();
        let Some(exchange) = turn.and_then(|turn| turn.steps.last_mut()) else { return };
        let calls: Vec<ToolCall> = exchange.calls().cloned().collect();
        for (idx, call) in calls.iter().enumerate() {
            let n_so_far = calls[..=idx].iter().filter(|other| other.id == call.id).count();
            if n_results(exchange, &call.id) < n_so_far {
                let (call_id, text) = (call.id.clone(), NO_RESULT.to_owned());
                let result = ToolResult { call_id, text, status: ToolStatus::Failed };
                exchange.results.push(KeptResult::new(result, call, None));
            }
        }
    }
}

fn n_results(exchange: &Exchange, id: &str) -> usize {
    exchange.results.iter().filter(|kept| kept.result.call_id == id).count()
}

impl Turn {
    pub fn opening_item(&self) -> Item {
        Item::User { text: self.asked.clone(), attachments: self.attachments.clone() }
    }
}

impl Exchange {
    pub fn to_items(&self, step: u32) -> Vec<Item> {
        let mut items = said_items(&self.said, step);
        items.extend(self.results.iter().map(|kept| kept.to_item(step)));
        items.extend(self.remark.clone().map(|text| Item::Remark { step, text }));
        items.extend(self.steered.iter().map(|text| Item::Steering { step, text: text.clone() }));
        items
    }
}

impl KeptResult {
    fn to_item(&self, step: u32) -> Item {
        let ToolResult { call_id: call, text, status } = self.result.clone();
        Item::ToolResult {
            step,
            call,
            tool: self.tool.clone(),
            status,
            text,
            spill: self.spill.clone(),
        }
    }
}

fn said_items(said: &Message, step: u32) -> Vec<Item> {
    let item = |content: &Content| {
        let model = said.model.clone();
        Some(match content.clone() {
            Content::Text(text) => Item::Assistant { step, model, text },
            Content::Reasoning(Reasoning { text, signature }) => {
                Item::Reasoning { step, model, text, signature }
            }
            Content::HiddenReasoning(data) => Item::HiddenReasoning { step, model, data },
            Content::ToolUse(ToolCall { id: call, name: tool, arguments }) => {
                Item::ToolCall { step, model, call, tool, arguments }
            }
            // Model messages contain neither results nor images.
            Content::ToolResult(_) | Content::Image(_) => return None,
        })
    };
    said.content.iter().filter_map(item).collect()
}
