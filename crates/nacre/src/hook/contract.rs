//! What an agent's hooks are given and take: one value an agent.

use super::event::Event;
use super::input::Keys;
use super::reply::{Output, Reply};

/// How one agent speaks with its hooks.
pub(super) struct Contract {
    /// As `nacre hook` names it.
    pub(super) name: &'static str,
    /// How its standard input names things.
    pub(super) keys: Keys,
    /// At which events it takes a text for its model.
    pub(super) hears: &'static [Event],
    /// Whether a hook at the end of a turn can ask it to go on.
    pub(super) can_ask: bool,
    /// The one shape that it takes.
    pub(super) write: fn(Event, &Reply) -> Output,
}
