//! What the hooks of agents do: one operation an event. None of them waits for anybody, and none breaks its host.
//!
//! A hook is called again and again while somebody waits, so that it opens as little as it can: the index is looked at by its
//! folders, nothing is flushed, and what may take long is left to `upkeep`, which runs in the background.

mod answer;
mod before_tool;
mod end;
mod lead_tool;
mod log;
mod prompt;
mod session;
mod start;
mod upkeep;

use std::time::Duration;

use nacre_core::config::NACRE_HOOKS_DEADLINE_MS;

pub use answer::{answer, answer_request};
pub use before_tool::{ToolGuard, before_tool};
pub use end::end;
pub use lead_tool::lead_tool;
pub use log::{HookFailure, log_failure};
pub use nacre_core::agent_config::LEAD_TOOL;
pub use prompt::prompt;
pub use start::start;
pub use upkeep::{note_sync, upkeep};
pub(super) use upkeep::{prune_sessions, refresh_index};

use crate::host::Environment;

/// How long a hook may take before the settings are read: what the environment says, else what is usual.
pub fn hook_deadline(environment: &Environment) -> Duration {
    let set = environment.var(NACRE_HOOKS_DEADLINE_MS).and_then(|text| text.parse().ok());
    Duration::from_millis(set.unwrap_or(USUAL_DEADLINE_MS))
}

/// What `hooks.deadline_ms` is by default.
const USUAL_DEADLINE_MS: u64 = 200;
