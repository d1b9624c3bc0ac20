//! Work that nobody waits for: a process of its own, out of the agent's reach, with nothing of the agent's open.
//!
//! An agent waits until every holder of its pipes is gone, and may end the group of its hook. So a first process is started
//! in a group of its own, without any of the pipes; it starts a second one, which leaves the session, and ends.

use std::path::Path;
use std::process::{Command, Stdio};

use nacre_api::wire::{HookUpkeepRequest, LoopName};
use nacre_core::platform::ext::CommandExt as _;
use nacre_ops::host::Environment;
use nacre_ops::service::FoundService;
use nacre_ops::{Host, OpError, hook as ops};

use super::host;

/// What `nacre hook` is called with by itself, in the place of an agent.
pub(super) const OWN_NAME: &str = "nacre";

const DETACH: &str = "detach";
const WORK: &str = "work";

/// How a sync ends that did what it could: done, done in part, or another one is at it.
const DONE: [i32; 3] = [0, 3, 4];

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    /// The index is brought up to date.
    Index,
    /// New sessions are read as well.
    Sync,
}

impl Work {
    fn as_str(self) -> &'static str {
        match self {
            Self::Index => "index",
            Self::Sync => "sync",
        }
    }
}

/// Leaves the work to the server of this home, where one was found, else to a process of its own.
pub(super) fn hand_over(work: Work, server: Option<&FoundService>, folder: &Path) {
    let loops: &[LoopName] = match work {
        Work::Index => &[LoopName::Index],
        Work::Sync => &[LoopName::Index, LoopName::Sync],
    };
    if !server.is_some_and(|found| nacre_server::control::wake(found, loops)) {
        start(work, folder);
    }
}

/// Starts the first process. Best effort: what is not done now is done after the next turn.
fn start(work: Work, folder: &Path) {
    let Some(mut command) = own_program() else { return };
    command.args(["hook", OWN_NAME, DETACH, work.as_str()]).current_dir(folder).process_group(0);
    let _ = command.spawn();
}

/// Does what the process was started for.
pub(super) fn run(what: &str, work: &str, environment: Environment) {
    match what {
        DETACH => {
            if let Some(mut command) = own_program() {
                let _ = command.args(["hook", OWN_NAME, WORK, work]).spawn();
            }
        }
        WORK => {
            // Where it fails, the process is nobody's child already.
            let _ = nacre_ops::leave_session();
            // The agent that caused it works meanwhile.
            nacre_ops::host::yield_processor();
            keep_up(work == Work::Sync.as_str(), environment);
        }
        _ => {}
    }
}

fn keep_up(is_sync: bool, environment: Environment) {
    let Ok(host) = host::open(environment) else { return };
    let done = ops::upkeep(&host, &HookUpkeepRequest::default());
    log(&host, done.err());
    if is_sync {
        let code = sync().unwrap_or(-1);
        log(&host, ops::note_sync(&host, DONE.contains(&code)).err());
    }
}

/// Runs `nacre sync` to its end.
fn sync() -> Option<i32> {
    let mut command = own_program()?;
    command.args(["--quiet", "sync", "--mode", "hot"]).status().ok()?.code()
}

fn log(host: &Host, error: Option<OpError>) {
    if let Some(error) = error {
        host::log(&host.environment, (OWN_NAME, WORK), &error);
    }
}

/// This program, with nothing open.
fn own_program() -> Option<Command> {
    let mut command = Command::new(std::env::current_exe().ok()?);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    Some(command)
}
