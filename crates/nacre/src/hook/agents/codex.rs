//! Codex: Claude's shapes, checked strictly. One key too many and the whole answer is dropped.

use super::claude;
use crate::hook::contract::Contract;
use crate::hook::event::Event;
use crate::hook::input::Keys;

pub(in crate::hook) const CONTRACT: Contract = Contract {
    name: "codex",
    keys: Keys::CLAUDE,
    hears: &[Event::Start, Event::Prompt, Event::BeforeTool],
    can_ask: true,
    write: claude::write,
};
