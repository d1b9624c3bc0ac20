//! One call: a host of its own on a thread that may block, the warnings it gives, and the way to stop it.

use std::fmt::Write as _;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use nacre_api::wire::{ErrorCode, Event, Warning};
use nacre_ops::host::{Environment, OpenOptions, Opened, Tolerance};
use nacre_ops::text::ShownLine;
use nacre_ops::{Cancel, Events, Host, OpError};
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use super::text::{NOTES_CHARS, cut};

/// Calls that run at the same time; others wait.
const MAX_RUNNING: usize = 4;

/// Warnings that a result tells.
const MAX_WARNINGS: usize = 4;

/// What every call begins with.
pub(super) struct Calls {
    environment: Environment,
    /// The project that the person named when the server was started.
    project: Option<String>,
    slots: Arc<Semaphore>,
}

/// What one call works with.
pub(super) struct Call {
    pub(super) host: Host,
    pub(super) events: Events,
    /// The agent's id of its session, where it tells.
    pub(super) session: Option<String>,
}

/// Which call it is, and how it opens its host.
pub(super) struct CallInfo {
    pub(super) name: &'static str,
    pub(super) session: Option<String>,
    pub(super) tolerance: Tolerance,
}

impl CallInfo {
    pub(super) fn named(name: &'static str) -> Self {
        Self { name, session: None, tolerance: Tolerance::None }
    }
}

/// A result, and what a person should know besides.
pub(super) type Noted<T> = (Result<T, OpError>, Vec<Warning>);

impl Calls {
    pub(super) fn new(environment: Environment, project: Option<String>) -> Self {
        Self { environment, project, slots: Arc::new(Semaphore::new(MAX_RUNNING)) }
    }

    pub(super) fn environment(&self) -> &Environment {
        &self.environment
    }

    /// Runs `work` with a host of its own. Whatever happens in it, even a panic, is a result; `stopped` cancels it.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        info: CallInfo,
        stopped: impl Future<Output = ()>,
        work: impl FnOnce(&Call) -> Result<T, OpError> + Send + 'static,
    ) -> Noted<T> {
        let name = info.name;
        let cancel = Cancel::new();
        let warnings = Arc::new(Mutex::new(Vec::new()));
        let events = events(&warnings).with_cancel(cancel.clone());
        let (environment, project) = (self.environment.clone(), self.project.clone());
        let (handle, slots) = (Handle::current(), Arc::clone(&self.slots));
        let task = async move {
            // The semaphore is never closed.
            let slot = slots.acquire_owned().await;
            let blocking = move || {
                let _slot = slot;
                let call = open(environment, project, info, &handle, events)?;
                work(&call)
            };
            spawn_blocking(blocking).await.unwrap_or_else(|_| Err(crashed(name)))
        };
        let result = tokio::select! {
            result = task => result,
            () = stopped => {
                cancel.cancel();
                Err(OpError::cancelled())
            }
        };
        let mut warnings = warnings.lock().unwrap_or_else(PoisonError::into_inner);
        (result, std::mem::take(&mut *warnings))
    }
}

fn events(warnings: &Arc<Mutex<Vec<Warning>>>) -> Events {
    let warnings = Arc::clone(warnings);
    Events::new(move |event| {
        if let Event::Warning(warning) = event {
            let mut warnings = warnings.lock().unwrap_or_else(PoisonError::into_inner);
            if warnings.len() < MAX_WARNINGS {
                warnings.push(warning);
            }
        }
    })
}

fn open(
    environment: Environment,
    project: Option<String>,
    info: CallInfo,
    handle: &Handle,
    events: Events,
) -> Result<Call, OpError> {
    let CallInfo { session, tolerance, .. } = info;
    let options = OpenOptions { project, flags: Vec::new(), tolerance };
    let Opened { host, warnings } = Host::open(environment, &options);
    for warning in warnings {
        events.emit(Event::Warning(warning));
    }
    Ok(Call { host: host?.with_runtime(handle.clone()), events, session })
}

fn crashed(name: &str) -> OpError {
    OpError::failed(format!("`{name}` crashed: that is a bug of Nacre, not of the call"))
        .hint("The server goes on. `nacre doctor` checks the stores")
}

/// Warnings as the last lines of a result.
pub(super) fn notes(warnings: &[Warning]) -> String {
    let mut text = String::new();
    for Warning { message, hint } in warnings {
        let hint = hint.as_ref().map(|hint| format!(" ({})", ShownLine(hint))).unwrap_or_default();
        // Writing to a `String` cannot fail.
        let _ = write!(text, "\nNote: {}{hint}", ShownLine(message));
    }
    cut(&text, NOTES_CHARS)
}

/// An error as an agent reads it: what could not be done, why, and what to do.
pub(super) fn failure(error: &OpError) -> String {
    let OpError { code, message, causes, hints } = error;
    let mut text = format!("Error ({}): {}", code.as_str(), ShownLine(message));
    for cause in causes {
        let _ = write!(text, "\nCaused by: {}", ShownLine(cause));
    }
    for hint in hints {
        let _ = write!(text, "\nHint: {}", ShownLine(hint));
    }
    if *code == ErrorCode::NoProject {
        text.push_str("\nAsk the person before you run it.");
    }
    cut(&text, NOTES_CHARS * 2)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn calls(folder: &std::path::Path) -> Calls {
        let environment = Environment {
            vars: Vec::new(),
            garbled_vars: Vec::new(),
            folder: folder.to_owned(),
            is_folder_gone: false,
            home: Some(folder.to_owned()),
            host: None,
            pid: 1,
            program: None,
            clock: Arc::new(|| "2026-11-15T08:30:00Z".parse().unwrap()),
            uptime: Arc::new(|| Duration::ZERO),
            random: |_| Ok(()),
        };
        Calls::new(environment, None)
    }

    fn block_on<T>(work: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
    }

    #[test]
    fn a_panic_is_an_error_of_its_call_and_the_next_one_works() {
        let place = tempfile::tempdir().unwrap();
        let calls = calls(place.path());
        block_on(async {
            let never = || std::future::pending::<()>();
            for _ in 0..MAX_RUNNING + 1 {
                let info = CallInfo::named("status");
                let (result, _) = calls
                    .run(info, never(), |_| -> Result<(), OpError> {
                        panic!("a test panics on purpose")
                    })
                    .await;
                assert!(result.unwrap_err().message.contains("crashed"));
            }
            let (result, _) = calls.run(CallInfo::named("status"), never(), |_| Ok(7)).await;
            assert_eq!(result.unwrap(), 7);
        });
    }

    #[test]
    fn who_stops_a_call_stops_its_operation() {
        let place = tempfile::tempdir().unwrap();
        let calls = calls(place.path());
        let (tell, told) = std::sync::mpsc::channel();
        let (begin, begun) = tokio::sync::oneshot::channel();
        block_on(async {
            let stopped = async {
                let _ = begun.await;
            };
            let work = move |call: &Call| {
                begin.send(()).unwrap();
                call.host.block_on(call.events.cancel().cancelled())?;
                tell.send("cancelled").unwrap();
                Ok(())
            };
            let (result, _) = calls.run(CallInfo::named("ask"), stopped, work).await;
            assert_eq!(result.unwrap_err().code, ErrorCode::Cancelled);
            // The operation ends on its own thread.
            let ended = spawn_blocking(move || told.recv()).await.unwrap();
            assert_eq!(ended.unwrap(), "cancelled");
        });
    }
}
