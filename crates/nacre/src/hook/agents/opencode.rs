//! OpenCode has no hooks that are commands: our plugin calls this with Claude's keys and reads a shape of our own.

use serde::Serialize;

use crate::hook::contract::Contract;
use crate::hook::event::Event;
use crate::hook::input::Keys;
use crate::hook::reply::{Output, Reply, denial};

pub(in crate::hook) const CONTRACT: Contract = Contract {
    name: "opencode",
    keys: Keys::CLAUDE,
    hears: &[Event::Start, Event::Prompt],
    can_ask: false,
    write,
};

/// A text for the model.
#[derive(Serialize)]
struct PluginContext<'a> {
    context: &'a str,
}

pub(super) fn write(event: Event, reply: &Reply) -> Output {
    match (event, reply) {
        (Event::Start | Event::Prompt, Reply::Context(text)) => {
            Output::json(&PluginContext { context: text })
        }
        (Event::BeforeTool, Reply::Deny(why)) => denial(why),
        _ => Output::default(),
    }
}
