//! Runs background work in a detached process.
//!
//! Agents wait until every process that inherited a hook's pipes has exited, and may kill the
//! hook's process group. The hook therefore starts a process that does not inherit the pipes, in a
//! new process group. That process starts a second one and exits; the second one detaches from the
//! session and does the work.

use std::path::Path;
use std::process::{Command, Stdio};

use nacre_base::platform::ext::CommandExt as _;
use nacre_ops::host::Environment;
use nacre_ops::service::find_socket;
use nacre_ops::{Host, OpError, hook as ops};
use nacre_types::LoopName;

use super::{log_failure, open_host};

/// The agent name used in `nacre hook` calls that start background work.
pub(super) const OWN_NAME: &str = "nacre";

const DETACH: &str = "detach";
const WORK: &str = "work";

/// Exit codes of a sync that did all it could: everything was read (0), some sessions failed (3),
/// or another sync was running (4).
const DONE: [i32; 3] = [0, 3, 4];

/// Wakes the local server to do the work. If no server is running, or a session has ended, starts a
/// new process. That process asks the server to read the session, which could take too long to do
/// here.
pub(super) fn hand_over(
    environment: &Environment,
    folder: &Path,
    work: LoopName,
    ended: Option<&str>,
) {
    let before = (work == LoopName::Sync).then_some(LoopName::Index);
    let loops: Vec<LoopName> = before.into_iter().chain([work]).collect();
    let server = find_socket(environment).filter(|_| ended.is_none());
    if !server.is_some_and(|found| nacre_server::control::wake(&found, &loops)) {
        // Errors are ignored, because the next turn tries again.
        let Some(mut command) = own_program() else { return };
        command.args(["hook", OWN_NAME, DETACH, work.as_str()]).args(ended);
        let _ = command.current_dir(folder).process_group(0).spawn();
    }
}

/// Runs one of the two background processes, selected by `what`. `words` contains the work to do
/// and, if a session has ended, the session's ID.
pub(super) fn run(what: &str, words: &[String], environment: Environment) {
    match what {
        DETACH => {
            if let Some(mut command) = own_program() {
                let _ = command.args(["hook", OWN_NAME, WORK]).args(words).spawn();
            }
        }
        WORK => {
            // This fails only if the process has already left its session.
            let _ = nacre_ops::leave_session();
            // Yield the processor to the agent, which is still running.
            nacre_ops::host::yield_processor();
            keep_up(words, environment);
        }
        _ => {}
    }
}

fn keep_up(words: &[String], environment: Environment) {
    let Ok(host) = open_host(environment) else { return };
    let done = ops::upkeep(&host);
    log(&host, done.err());
    if words.first().is_some_and(|work| work == LoopName::Sync.as_str()) {
        let args = ["--quiet", "sync", "--mode", "hot"];
        let ended = words.get(1).map(|id| format!("--ended={id}"));
        let status =
            own_program().and_then(|mut command| command.args(args).args(ended).status().ok());
        let code = status.and_then(|status| status.code()).unwrap_or(-1);
        log(&host, ops::note_sync(&host, DONE.contains(&code)).err());
    }
}

fn log(host: &Host, error: Option<OpError>) {
    if let Some(error) = error {
        log_failure(&host.environment, OWN_NAME, WORK, &error);
    }
}

/// Returns a command for this program, without open standard streams.
fn own_program() -> Option<Command> {
    let mut command = Command::new(std::env::current_exe().ok()?);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    Some(command)
}
