//! The configuration files of coding agents: what Nacre writes into them, as changes of texts.
//!
//! `agents` says for each agent which files it reads and what belongs into them; an [`Edit`] puts one entry into a text
//! and takes it out again, and leaves every other byte where it was: comments, unknown keys, their order, line breaks.
//! What a text was like where an entry came is an [`Undo`], so that taking it out gives the same bytes.
//!
//! Texts in, texts out: it reads no file and writes none. Nothing of a repository comes in here.

mod agents;
mod commands;
mod edit;
mod hooks;
mod json;
mod jsonc;
mod parts;
mod places;
mod spec;
mod tables;
mod undo;

pub use agents::{AGENTS, agent_spec, trust};
pub use commands::{LEAD_TOOL, Program, is_ours, lead_guard_command};
pub use edit::{Edit, EditError, EntryState, MARK};
pub use parts::{HookEvent, Part};
pub use places::Places;
pub use spec::{AgentSpec, FileEdit};
pub use undo::Undo;
