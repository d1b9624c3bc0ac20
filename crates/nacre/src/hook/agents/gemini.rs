//! Gemini CLI: Claude's keys, its own names of events, and a refusal at the top.

use crate::hook::contract::Contract;
use crate::hook::event::Event;
use crate::hook::input::Keys;
use crate::hook::reply::{Output, Reply, denial, nested_context};

pub(in crate::hook) const CONTRACT: Contract = Contract {
    name: "gemini",
    keys: Keys::CLAUDE,
    hears: &[Event::Start, Event::Prompt],
    can_ask: false,
    write,
};

fn write(event: Event, reply: &Reply) -> Output {
    match (event, reply) {
        (Event::Start, Reply::Context(text)) => nested_context("SessionStart", text),
        (Event::Prompt, Reply::Context(text)) => nested_context("BeforeAgent", text),
        (Event::BeforeTool, Reply::Deny(why)) => denial(why),
        _ => Output::default(),
    }
}
