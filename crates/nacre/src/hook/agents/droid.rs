//! Factory droid: Claude's keys; text as it is, and a refusal by the exit code.

use crate::hook::contract::Contract;
use crate::hook::event::Event;
use crate::hook::input::Keys;
use crate::hook::reply::{Output, Reply};

/// Refuses a tool; the words are on standard error.
const REFUSED: u8 = 2;

pub(in crate::hook) const CONTRACT: Contract = Contract {
    name: "droid",
    keys: Keys::CLAUDE,
    hears: &[Event::Start, Event::Prompt],
    can_ask: false,
    write,
};

fn write(event: Event, reply: &Reply) -> Output {
    match (event, reply) {
        (Event::Start | Event::Prompt, Reply::Context(text)) => {
            Output { stdout: format!("{text}\n"), ..Output::default() }
        }
        (Event::BeforeTool, Reply::Deny(why)) => {
            Output { stderr: format!("{why}\n"), code: REFUSED, ..Output::default() }
        }
        _ => Output::default(),
    }
}
