//! The chat on a terminal: a client of the protocol of `wire::chat`, and of nothing else.
//!
//! `update` takes what happens into a `State` and says what is to be done; `view` draws a state; `run` has the clock, the terminal and
//! the line to the agent. A test plays events and looks at frames, without any of these.

mod commands;
mod completion;
mod diff;
mod editor;
mod event;
mod highlight;
mod history;
mod keys;
mod link;
mod markdown;
mod paste;
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

pub(crate) use event::{Outside, Told};
pub(crate) use link::ChatLink;
pub(crate) use run::{Left, run};
pub(crate) use state::{ScreenOptions, Start};
pub(crate) use theme::ThemeName;
