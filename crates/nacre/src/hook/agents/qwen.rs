//! Qwen Code: Claude's shapes. It calls the prompt's hook again with an empty prompt after each tool, and says at every
//! end of a turn that a hook had asked it to go on; so it is not asked.

use super::claude::event_name;
use crate::hook::contract::Contract;
use crate::hook::event::Event;
use crate::hook::input::Keys;
use crate::hook::reply::{Output, Reply, nested_context, nested_denial};

pub(in crate::hook) const CONTRACT: Contract = Contract {
    name: "qwen",
    keys: Keys::CLAUDE,
    hears: &[Event::Start, Event::Prompt],
    can_ask: false,
    write,
};

fn write(event: Event, reply: &Reply) -> Output {
    match (event, reply) {
        (Event::Start | Event::Prompt, Reply::Context(text)) => {
            nested_context(event_name(event), text)
        }
        (Event::BeforeTool, Reply::Deny(why)) => nested_denial(event_name(event), why),
        _ => Output::default(),
    }
}
