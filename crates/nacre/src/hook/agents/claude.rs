//! Claude Code. At the end of a turn context would start another one: nothing is said there but a question.

use crate::hook::contract::Contract;
use crate::hook::event::Event;
use crate::hook::input::Keys;
use crate::hook::reply::{Output, Reply, block, nested_context, nested_denial};

pub(in crate::hook) const CONTRACT: Contract = Contract {
    name: "claude",
    keys: Keys::CLAUDE,
    hears: &[Event::Start, Event::Prompt, Event::BeforeTool],
    can_ask: true,
    write,
};

/// The name of an event in Claude's hooks; Codex and Qwen have the same ones.
pub(super) fn event_name(event: Event) -> &'static str {
    match event {
        Event::Start => "SessionStart",
        Event::Prompt => "UserPromptSubmit",
        Event::BeforeTool => "PreToolUse",
        Event::TurnEnd => "Stop",
        Event::SessionEnd => "SessionEnd",
    }
}

pub(super) fn write(event: Event, reply: &Reply) -> Output {
    match (event, reply) {
        (Event::Start | Event::Prompt | Event::BeforeTool, Reply::Context(text)) => {
            nested_context(event_name(event), text)
        }
        (Event::BeforeTool, Reply::Deny(why)) => nested_denial(event_name(event), why),
        (Event::TurnEnd, Reply::Ask(words)) => block(words),
        _ => Output::default(),
    }
}
