//! The operations run by agents' hooks, one per event. A hook must neither block for long nor make
//! its agent fail.
//!
//! Hooks run often and while the user is waiting, so they do little work: only folder stamps are
//! checked, nothing is flushed to disk, and slow work is left to `upkeep` in the background.

mod answer;
mod before_tool;
mod end;
mod log;
mod prompt;
mod session;
mod situation;
mod start;
mod upkeep;

use std::time::Duration;

use nacre_base::config::NACRE_HOOKS_DEADLINE_MS;

pub use answer::{answer, answer_request};
pub use before_tool::{ToolGuard, before_tool};
pub use end::end;
pub use log::log_failure;
pub use prompt::prompt;
pub use start::start;
pub use upkeep::{note_sync, upkeep};
pub(super) use upkeep::{prune_sessions, refresh_index};

use crate::host::Environment;

/// Returns the deadline of a hook before the settings are read: the value of the variable, or else
/// the default.
pub fn hook_deadline(environment: &Environment) -> Duration {
    let set = environment.var(NACRE_HOOKS_DEADLINE_MS).and_then(|text| text.parse().ok());
    Duration::from_millis(set.unwrap_or(USUAL_DEADLINE_MS))
}

/// The default of `hooks.deadline_ms`.
const USUAL_DEADLINE_MS: u64 = 200;
