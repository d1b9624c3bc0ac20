//! How sessions are spoken of: how many there are, what waits and why.

use std::path::Path;

use nacre_api::wire::{AgentSessions, FolderSessions, LaterSessions, WaitingSessions};
use nacre_ops::host::short;
use nacre_ops::text::Shown;
use nacre_ops::{Host, OpError};

use super::ui::Ui;

/// How many folders are named in one sentence.
const MAX_FOLDERS: usize = 5;

/// `1 session` or `n sessions`.
pub(crate) fn sessions_text(n: u64) -> String {
    if n == 1 { "1 session".to_owned() } else { format!("{n} sessions") }
}

/// `Claude Code 20, Codex 4`.
pub(crate) fn agents_text(agents: &[AgentSessions]) -> String {
    let texts = agents.iter().map(|agent| format!("{} {}", agent.title, agent.sessions));
    texts.collect::<Vec<_>>().join(", ")
}

/// Which agents are not read although they left sessions here; `None` where all are.
pub(crate) fn switched_off_text(agents: &[String]) -> Option<String> {
    let (last, rest) = agents.split_last()?;
    let named = match rest {
        [] => last.clone(),
        rest => format!("{} and {last}", rest.join(", ")),
    };
    Some(format!(
        "Sessions of {named} are not read: you took {} out. `nacre connect auto` brings {} back.",
        if rest.is_empty() { "this agent" } else { "these agents" },
        if rest.is_empty() { "it" } else { "them" },
    ))
}

/// Says what waits and why.
pub(crate) fn print_waiting(
    ui: &mut Ui,
    host: &Host,
    waiting: &WaitingSessions,
) -> Result<(), OpError> {
    let WaitingSessions { ready, active, retried, not_set_up } = waiting;
    if *ready > 0 {
        let wait = if *ready == 1 { "waits" } else { "wait" };
        ui.status(format!("{} {wait} for `nacre sync`.", sessions_text(*ready)))?;
    }
    if let Some(active) = active {
        ui.status(active_text(active))?;
    }
    if let Some(LaterSessions { sessions, ready_in, .. }) = retried {
        let (sessions, when) = (sessions_text(*sessions), duration_text(*ready_in));
        ui.status(format!("{sessions} failed, tried again in {when}; `nacre queue` says why."))?;
    }
    match not_set_up.as_slice() {
        [] => Ok(()),
        folders => ui.status(not_set_up_text(host, folders)),
    }
}

fn active_text(active: &LaterSessions) -> String {
    let LaterSessions { sessions, ready_in, example, .. } = active;
    let are = if *sessions == 1 { "is" } else { "are" };
    let (sessions, when) = (sessions_text(*sessions), duration_text(*ready_in));
    format!("{sessions} {are} still active, ready in {when} (now: nacre sync --trace {example}).")
}

fn not_set_up_text(host: &Host, folders: &[FolderSessions]) -> String {
    let n_sessions: u64 = folders.iter().map(|folder| folder.sessions).sum();
    let (belong, places) = match (n_sessions, folders.len()) {
        (1, _) => ("belongs", "a folder that is"),
        (_, 1) => ("belong", "a folder that is"),
        (_, _) => ("belong", "folders that are"),
    };
    let named = folders.iter().take(MAX_FOLDERS).map(|folder| {
        let path = Shown(&short(host, Path::new(&folder.path))).one_line();
        format!("{path} {}", folder.sessions)
    });
    let mut named: Vec<String> = named.collect();
    if let Some(n_more) = folders.len().checked_sub(MAX_FOLDERS).filter(|n_more| *n_more > 0) {
        named.push(format!("and {n_more} more"));
    }
    let (sessions, named) = (sessions_text(n_sessions), named.join(", "));
    format!("{sessions} {belong} to {places} not set up: {named}; run `nacre init` there.")
}

/// A time to wait, as people say it.
fn duration_text(seconds: u64) -> String {
    match seconds {
        0..=1 => "1 s".to_owned(),
        2..=90 => format!("{seconds} s"),
        91..=5400 => format!("{} min", seconds.div_ceil(60)),
        _ => format!("{} h", seconds.div_ceil(3600)),
    }
}
