//! From items to a conversation.
//!
//! Whatever the items are, also those of a process that was killed in the middle of a step, what comes out can be sent
//! to a model: every call has a result, and every result a call.

use super::{Item, Summary};
use crate::lifecycle::{Conversation, Exchange, KeptResult, Turn};
use crate::model::{
    Content, Message, ModelRef, Reasoning, Speaker, ToolCall, ToolResult, ToolStatus,
};

/// What redaction leaves in the place of a secret. A signature with it proves nothing any more.
const REDACTED: &str = "[redacted:";

/// What the model reads as the result of a call that never came back.
const NO_RESULT: &str = "Error (cancelled): The run ended before this call came back. It may or may not have been made.";

impl Conversation {
    /// Builds the conversation that the items tell, oldest first.
    pub fn from_items(items: impl IntoIterator<Item = Item>) -> Self {
        let mut builder = Builder::default();
        for item in items {
            builder.take(item);
        }
        builder.conversation()
    }
}

#[derive(Default)]
struct Builder {
    conversation: Conversation,
    /// The number of the step that the last exchange belongs to.
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
                self.said(
                    step,
                    model,
                    Content::ToolUse(ToolCall { id: call, name: tool, arguments }),
                );
            }
            Item::ToolResult { step, call, tool, status, text, spill } => {
                let result = ToolResult { call_id: call, text, status };
                self.result(step, KeptResult { result, tool, spill, is_stub: false });
            }
            Item::Remark { step, text } => self.remark(step, text),
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
        let is_signed = reasoning.signature.is_some();
        let is_redacted = |text: &str| text.contains(REDACTED);
        let is_broken =
            is_redacted(&reasoning.text) || reasoning.signature.as_deref().is_some_and(is_redacted);
        // A provider refuses reasoning whose signature does not fit it, and answers without it.
        if !(is_signed && is_broken) {
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
        // A model may give two calls the same id.
        if n_results(exchange, id) < exchange.calls().filter(|call| call.id == *id).count() {
            exchange.results.push(kept);
        }
    }

    fn remark(&mut self, step: u32, text: String) {
        let Some(exchange) = self.exchange(step) else { return };
        match &mut exchange.remark {
            Some(remark) => {
                remark.push_str("\n\n");
                remark.push_str(&text);
            }
            None => exchange.remark = Some(text),
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

    /// The exchange of the step, while it is the last one.
    fn exchange(&mut self, step: u32) -> Option<&mut Exchange> {
        let is_open = self.step == Some(step);
        self.conversation.turns.last_mut()?.steps.last_mut().filter(|_| is_open)
    }

    /// Gives every call of the last step a result.
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
                let text = NO_RESULT.to_owned();
                let result =
                    ToolResult { call_id: call.id.clone(), text, status: ToolStatus::Failed };
                exchange.results.push(KeptResult::new(result, call, None));
            }
        }
    }

    fn conversation(mut self) -> Conversation {
        self.end_step();
        self.conversation
    }
}

fn n_results(exchange: &Exchange, id: &str) -> usize {
    exchange.results.iter().filter(|kept| kept.result.call_id == id).count()
}
