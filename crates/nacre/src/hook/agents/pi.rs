//! pi: our extension calls this with Claude's keys and reads the shape of our plugins.

use super::opencode;
use crate::hook::contract::Contract;
use crate::hook::event::Event;
use crate::hook::input::Keys;

pub(in crate::hook) const CONTRACT: Contract = Contract {
    name: "pi",
    keys: Keys::CLAUDE,
    hears: &[Event::Start, Event::Prompt],
    can_ask: false,
    write: opencode::write,
};
