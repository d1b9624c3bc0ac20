//! Logs errors in hooks, because hooks do not report errors to their agents.

use std::time::Duration;

use nacre_base::fs::{Access, Owner, RelPath, WriteScope};
use nacre_engine::record::state::LOG_FOLDER;
use serde::Serialize;

use crate::error::OpError;
use crate::host::{Environment, Host};
use crate::json::json_line;

const LOG_FILE: &str = "hooks.log";

/// The size at which the log is rotated, and the number of old logs that are kept.
const MAX_BYTES: u64 = 1 << 20;
const N_KEPT: u32 = 2;

/// Lock timeout. Short, because a missing log entry is better than a slow hook.
const PATIENCE: Duration = Duration::from_millis(10);

/// Maximum length of an untrusted word, in bytes.
const MAX_WORD: usize = 40;

#[derive(Serialize)]
struct Line<'a> {
    at: String,
    level: &'static str,
    agent: &'a str,
    event: &'a str,
    message: &'a str,
    causes: &'a [String],
}

/// Logs the failure of a hook, if Nacre's home directory exists. Errors are ignored.
pub fn log_failure(environment: &Environment, agent: &str, event: &str, error: &OpError) {
    let _ = try_log(environment, agent, event, error);
}

/// Returns the last line of the log.
pub(crate) fn last_failure(host: &Host) -> Option<String> {
    let folder = host.existing_home_folder(LOG_FOLDER).ok()??;
    let bytes = folder.read_optional(&RelPath::new(LOG_FILE).ok()?, 2 * MAX_BYTES).ok()??;
    String::from_utf8_lossy(&bytes).lines().next_back().map(str::to_owned)
}

fn try_log(environment: &Environment, agent: &str, event: &str, error: &OpError) -> Option<()> {
    let home = environment.nacre_home().filter(|home| home.is_dir())?;
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
