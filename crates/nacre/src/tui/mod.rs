//! The terminal UI of the chat. It only uses the chat protocol (`nacre_types::chat`).
//!
//! `update` applies events to a `ScreenState` and returns effects, `view` draws the state, and
//! `run` owns the clock, the terminal and the connection. Tests replay events and compare frames
//! without a clock, terminal or connection.

mod commands;
mod editor;
mod event;
mod highlight;
mod input;
mod keys;
mod markdown;
mod run;
mod state;
mod terminal;
mod text;
mod theme;
mod update;
mod view;
mod wrap;

#[cfg(test)]
mod tests;

pub(crate) use event::{ChatLink, Outside, OutsideResult};
pub(crate) use run::{ExitState, run};
pub(crate) use state::ScreenOptions;
pub(crate) use theme::Theme;
