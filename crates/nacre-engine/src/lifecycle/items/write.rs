//! From a conversation to items.

use super::{Item, TurnEnd};
use crate::lifecycle::{Conversation, Exchange, KeptResult, Turn};
use crate::model::{Content, Message};

impl Conversation {
    /// All of it as items, oldest first. What was left out to save room is not among them.
    pub fn to_items(&self) -> Vec<Item> {
        let mut items: Vec<Item> = self.summary.clone().map(Item::Summary).into_iter().collect();
        let first_step = self.summary.as_ref().map_or(0, |summary| summary.n_steps);
        for (number, turn) in self.turns.iter().enumerate() {
            let first = if number == 0 { first_step } else { 0 };
            turn.put_items(first, &mut items);
        }
        items
    }
}

impl Turn {
    /// What a person asked.
    pub fn opening_item(&self) -> Item {
        Item::User { text: self.asked.clone(), attachments: self.attachments.clone() }
    }

    fn put_items(&self, first_step: usize, items: &mut Vec<Item>) {
        items.push(self.opening_item());
        for (idx, step) in self.steps.iter().enumerate() {
            items.extend(step.to_items(step_number(first_step + self.steps_left_out + idx + 1)));
        }
        items.extend(self.interrupted.clone().map(|text| Item::Interrupted { text }));
        items.extend(self.end.clone().map(Item::End));
    }
}

impl Exchange {
    /// The items of the step with this number.
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
        Item::ToolResult {
            step,
            call: self.result.call_id.clone(),
            tool: self.tool.clone(),
            status: self.result.status,
            text: self.result.text.clone(),
            spill: self.spill.clone(),
        }
    }
}

fn said_items(said: &Message, step: u32) -> Vec<Item> {
    let model = || said.model.clone();
    let mut items = Vec::with_capacity(said.content.len());
    for content in &said.content {
        let item = match content {
            Content::Text(text) => Item::Assistant { step, model: model(), text: text.clone() },
            Content::Reasoning(reasoning) => Item::Reasoning {
                step,
                model: model(),
                text: reasoning.text.clone(),
                signature: reasoning.signature.clone(),
            },
            Content::HiddenReasoning(data) => {
                Item::HiddenReasoning { step, model: model(), data: data.clone() }
            }
            Content::ToolUse(call) => Item::ToolCall {
                step,
                model: model(),
                call: call.id.clone(),
                tool: call.name.clone(),
                arguments: call.arguments.clone(),
            },
            // No model says results or shows pictures.
            Content::ToolResult(_) | Content::Image(_) => continue,
        };
        items.push(item);
    }
    items
}

impl From<TurnEnd> for Item {
    fn from(end: TurnEnd) -> Self {
        Self::End(end)
    }
}

fn step_number(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
