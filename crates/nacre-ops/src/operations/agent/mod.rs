//! Agents that work on a question.

mod deps;
mod notes;
mod run;

pub(crate) use deps::agent_deps;
pub(crate) use notes::{AgentNotes, NoteDetail};
pub use run::run;
pub(crate) use run::token_use;
