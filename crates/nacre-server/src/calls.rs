//! One call: a host of its own on a thread that may block, the events it emits, and the way to stop it.
//!
//! Settings may have changed since the last call, and other processes write the same stores, so nothing that was read before is
//! taken for true.

use std::collections::BTreeMap;
use std::future::Future;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use nacre_api::wire::Event;
use nacre_ops::host::Actor;
use nacre_ops::host::{Environment, Needs, OpenOptions, Opened, Registering, Shared, Tolerance};
use nacre_ops::people::Caller;
use nacre_ops::{Cancel, Events, Host, OpError};
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use crate::permit::Permit;

/// Urgent calls that run at the same time.
const MAX_URGENT: usize = 4;

/// What every call begins with.
pub(crate) struct Calls {
    environment: Environment,
    shared: Shared,
    slots: Arc<Semaphore>,
    /// For calls that cannot wait until another one is over.
    urgent_slots: Arc<Semaphore>,
    running: Arc<Mutex<Running>>,
}

/// The calls that run or wait, and how each is stopped.
#[derive(Default)]
struct Running {
    next: u64,
    calls: BTreeMap<u64, Cancel>,
}

/// What one call works with.
pub(crate) struct Call {
    pub(crate) host: Host,
    pub(crate) events: Events,
    /// The agent's id of its session, where it tells.
    pub(crate) session: Option<String>,
}

/// Which call it is, and how it opens its host.
#[derive(Clone, Debug)]
pub(crate) struct CallInfo {
    pub(crate) name: &'static str,
    /// The project to work on, by what `needs` takes.
    pub(crate) project: Option<String>,
    /// The folder that it is called in, where that is not the server's own.
    pub(crate) folder: Option<PathBuf>,
    pub(crate) needs: Needs,
    pub(crate) registering: Registering,
    pub(crate) session: Option<String>,
    pub(crate) tolerance: Tolerance,
    /// Whether it can change a store, so that the next call has to look.
    pub(crate) can_change: bool,
    pub(crate) pace: Pace,
    /// For whom it is made.
    pub(crate) caller: Caller,
    /// Who causes what it writes, where the caller is the owner.
    pub(crate) actor: Actor,
    /// What the caller needs for it.
    pub(crate) permit: Permit,
}

/// Who waits for a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pace {
    /// Somebody does.
    Foreground,
    /// An agent does, and not for long: it does not stand behind the others.
    Urgent,
    /// Nobody does: it leaves the processor to those for whom somebody waits.
    Background,
}

impl CallInfo {
    pub(crate) fn named(name: &'static str) -> Self {
        Self {
            name,
            project: None,
            folder: None,
            needs: Needs::Folder,
            registering: Registering::Yes,
            session: None,
            tolerance: Tolerance::None,
            can_change: true,
            pace: Pace::Foreground,
            caller: Caller::owner(),
            actor: Actor::Owner,
            // Whoever calls for somebody else says what they need.
            permit: Permit::Machine,
        }
    }

    /// A call of the server's own: of no project, unless there is only one.
    pub(crate) fn of_loop(name: &'static str) -> Self {
        Self {
            needs: Needs::Registered,
            registering: Registering::No,
            tolerance: Tolerance::OfRepository,
            pace: Pace::Background,
            ..Self::named(name)
        }
    }
}

impl Calls {
    /// At most `max_running` run at the same time; others wait.
    pub(crate) fn new(environment: Environment, max_running: usize) -> Self {
        Self {
            environment,
            shared: Shared::for_server(),
            slots: Arc::new(Semaphore::new(max_running)),
            urgent_slots: Arc::new(Semaphore::new(MAX_URGENT)),
            running: Arc::default(),
        }
    }

    /// What calls share, for what is not a call.
    pub(crate) fn shared(&self) -> Shared {
        self.shared.clone()
    }

    pub(crate) fn environment(&self) -> &Environment {
        &self.environment
    }

    /// Stops every call that runs or waits.
    pub(crate) fn cancel_all(&self) {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        for cancel in running.calls.values() {
            cancel.cancel();
        }
    }

    pub(crate) fn n_running(&self) -> usize {
        self.running.lock().unwrap_or_else(PoisonError::into_inner).calls.len()
    }

    /// How many calls there were.
    pub(crate) fn n_begun(&self) -> u64 {
        self.running.lock().unwrap_or_else(PoisonError::into_inner).next
    }

    /// Runs `work` with a host of its own. Whatever happens in it, even a panic, is a result; `stopped` cancels it, and so does
    /// a caller that no longer waits.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        info: CallInfo,
        events: Events,
        stopped: impl Future<Output = ()>,
        work: impl FnOnce(&Call) -> Result<T, OpError> + Send + 'static,
    ) -> Result<T, OpError> {
        let name = info.name;
        let place = Place::take(&self.running, events.cancel().clone());
        let (environment, shared) = (self.environment.clone(), self.shared.clone());
        let handle = Handle::current();
        let slots = Arc::clone(match info.pace {
            Pace::Foreground | Pace::Background => &self.slots,
            Pace::Urgent => &self.urgent_slots,
        });
        let over = place.over();
        let task = async move {
            // The semaphore is never closed.
            let slot = slots.acquire_owned().await;
            let (can_change, pace) = (info.can_change, info.pace);
            let blocking = move || {
                let _ends = (slot, over);
                let changed = shared.clone();
                let result =
                    open((environment, shared), info, &handle, events).and_then(|call| work(&call));
                if can_change {
                    changed.note_change();
                }
                result
            };
            match pace {
                Pace::Foreground | Pace::Urgent => spawn_blocking(blocking).await.ok(),
                Pace::Background => in_background(blocking).await,
            }
            .unwrap_or_else(|| Err(crashed(name)))
        };
        tokio::select! {
            result = task => result,
            () = stopped => Err(OpError::cancelled()),
        }
    }
}

/// A call's place among those that run. Who drops it no longer waits for the call, which is then cancelled; that changes nothing
/// for one that is over.
struct Place {
    running: Arc<Mutex<Running>>,
    number: u64,
    cancel: Cancel,
}

impl Place {
    fn take(running: &Arc<Mutex<Running>>, cancel: Cancel) -> Self {
        let mut all = running.lock().unwrap_or_else(PoisonError::into_inner);
        all.next += 1;
        let number = all.next;
        all.calls.insert(number, cancel.clone());
        Self { running: Arc::clone(running), number, cancel }
    }

    /// What the work itself holds: dropped when it has really ended.
    fn over(&self) -> Over {
        Over { running: Arc::clone(&self.running), number: self.number }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}

struct Over {
    running: Arc<Mutex<Running>>,
    number: u64,
}

impl Drop for Over {
    fn drop(&mut self) {
        let mut all = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        all.calls.remove(&self.number);
    }
}

fn open(
    (environment, shared): (Environment, Shared),
    info: CallInfo,
    handle: &Handle,
    events: Events,
) -> Result<Call, OpError> {
    let CallInfo {
        project,
        folder,
        needs,
        registering,
        session,
        tolerance,
        caller,
        actor,
        permit,
        ..
    } = info;
    permit.check(&caller, project.as_deref())?;
    let folder = folder.unwrap_or_else(|| environment.folder.clone());
    let environment = Environment { folder, ..environment };
    let options = OpenOptions {
        project,
        tolerance,
        registering,
        needs,
        shared,
        caller,
        actor,
        scope: Some(permit.scope()),
        ..OpenOptions::default()
    };
    let Opened { host, warnings } = Host::open(environment, &options);
    for warning in warnings {
        events.emit(Event::Warning(warning));
    }
    Ok(Call { host: host?.with_runtime(handle.clone()), events, session })
}

/// Runs `work` on a thread of its own, behind everything that somebody waits for; `None` if it panics. A thread cannot be taken
/// forward again without rights, so it is not one that others use.
async fn in_background<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let (tell, told) = tokio::sync::oneshot::channel();
    let thread = std::thread::Builder::new().name("background".to_owned());
    thread
        .spawn(move || {
            nacre_ops::host::yield_processor();
            let _ = tell.send(work());
        })
        .ok()?;
    told.await.ok()
}

fn crashed(name: &str) -> OpError {
    OpError::failed(format!("`{name}` crashed: that is a bug of Nacre, not of the call"))
        .hint("The server goes on. `nacre doctor` checks the stores")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use nacre_api::wire::ErrorCode;

    use super::*;

    const MAX_RUNNING: usize = 4;

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
        Calls::new(environment, MAX_RUNNING)
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
                let result = calls
                    .run(info, Events::ignored(), never(), |_| -> Result<(), OpError> {
                        panic!("a test panics on purpose")
                    })
                    .await;
                assert!(result.unwrap_err().message.contains("crashed"));
            }
            let info = CallInfo::named("status");
            let result = calls.run(info, Events::ignored(), never(), |_| Ok(7)).await;
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
            let info = CallInfo::named("ask");
            let result = calls.run(info, Events::ignored(), stopped, work).await;
            assert_eq!(result.unwrap_err().code, ErrorCode::Cancelled);
            // The operation ends on its own thread.
            let ended = spawn_blocking(move || told.recv()).await.unwrap();
            assert_eq!(ended.unwrap(), "cancelled");
        });
    }
}
