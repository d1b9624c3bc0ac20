//! What went wrong in hooks: they are silent towards their agents, so that it stands in a log.

use std::time::Duration;

use nacre_core::safefs::{Access, Owner, RelPath, WriteScope};
use nacre_engine::record::state::LOG_FOLDER;
use serde::Serialize;

use crate::error::OpError;
use crate::host::Environment;
use crate::json::json_line;

const LOG_FILE: &str = "hooks.log";

/// A log of this size makes room for the next; so many old ones are kept.
const MAX_BYTES: u64 = 1 << 20;
const N_KEPT: u32 = 2;

/// A log is not worth waiting for.
const PATIENCE: Duration = Duration::from_millis(10);

/// The longest word of a stranger that is written down.
const MAX_WORD: usize = 40;

/// A hook that said nothing although it was called.
#[derive(Clone, Debug)]
pub struct HookFailure<'a> {
    pub agent: &'a str,
    pub event: &'a str,
    pub error: &'a OpError,
}

#[derive(Serialize)]
struct Line<'a> {
    at: String,
    level: &'static str,
    agent: &'a str,
    event: &'a str,
    message: &'a str,
    causes: &'a [String],
}

/// Writes it down where there is a folder of logs to write to. Best effort: errors are ignored.
pub fn log_failure(environment: &Environment, failure: &HookFailure<'_>) {
    let _ = try_log(environment, failure);
}

fn try_log(environment: &Environment, failure: &HookFailure<'_>) -> Option<()> {
    let home = environment.nacre_home().filter(|home| home.is_dir())?;
    let HookFailure { agent, event, error } = failure;
    let short = |word: &'_ str| word[..word.floor_char_boundary(MAX_WORD)].to_owned();
    let now = environment.now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    let line = json_line(&Line {
        at: now.clone(),
        level: "warn",
        agent: &short(agent),
        event: &short(event),
        message: &error.message,
        causes: &error.causes,
    });
    let folder = WriteScope::create_inside(&home, LOG_FOLDER, Access::Private).ok()?;
    let owner = Owner { pid: environment.pid, command: "nacre hook".to_owned(), since: now };
    let writer = folder.lock(&owner, PATIENCE).ok()?;
    let path = RelPath::new(LOG_FILE).ok()?;
    if MAX_BYTES <= writer.append(&path, format!("{line}\n").as_bytes()).ok()? {
        writer.rotate(&path, N_KEPT).ok()?;
    }
    Some(())
}
