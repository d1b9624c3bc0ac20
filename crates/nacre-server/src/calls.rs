//! Runs operations on blocking threads, with support for events and cancellation. Each call opens a
//! new host, because other processes may have changed the settings or stores.

use std::future::Future;

use nacre_ops::host::{Actor, Needs, OpenOptions, Opened, Registering, Shared, Tolerance};
use nacre_types::Event;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use crate::people::Permit;
use crate::prelude::*;

const MAX_URGENT: usize = 4;

pub(crate) struct Calls {
    pub(crate) environment: Environment,
    pub(crate) shared: Shared,
    slots: Arc<Semaphore>,
    /// Slots for urgent calls, which must never queue behind others.
    urgent_slots: Arc<Semaphore>,
    running: Arc<Mutex<Running>>,
}

#[derive(Default)]
struct Running {
    next: u64,
    calls: BTreeMap<u64, Cancel>,
}

pub(crate) struct Call {
    pub(crate) host: Host,
    pub(crate) events: Events,
    pub(crate) session: Option<String>,
}

#[derive(Clone, Debug)]
pub(crate) struct CallInfo {
    pub(crate) name: &'static str,
    pub(crate) project: Option<String>,
    /// The call's working directory; `None` means the server's own.
    pub(crate) folder: Option<PathBuf>,
    pub(crate) needs: Needs,
    pub(crate) registering: Registering,
    pub(crate) session: Option<String>,
    pub(crate) tolerance: Tolerance,
    /// Whether the call can change a store. If so, caches are checked afterwards.
    pub(crate) can_change: bool,
    pub(crate) pace: Pace,
    pub(crate) caller: Caller,
    pub(crate) actor: Actor,
    pub(crate) permit: Permit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pace {
    Foreground,
    /// An agent's hook is blocked until this call returns, so the call is not queued behind others.
    Urgent,
    Background,
}

impl CallInfo {
    pub(crate) fn for_name(name: &'static str) -> Self {
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
            // This is the default; routes that are open to other users override it.
            permit: Permit::Machine,
        }
    }

    pub(crate) fn of_loop(name: &'static str) -> Self {
        Self {
            needs: Needs::Registered,
            registering: Registering::No,
            tolerance: Tolerance::OfRepository,
            pace: Pace::Background,
            ..Self::for_name(name)
        }
    }
}

impl Calls {
    /// Urgent calls are not counted towards `max_running`.
    pub(crate) fn new(environment: Environment, max_running: usize) -> Self {
        Self {
            environment,
            shared: Shared::for_server(),
            slots: Arc::new(Semaphore::new(max_running)),
            urgent_slots: Arc::new(Semaphore::new(MAX_URGENT)),
            running: Arc::default(),
        }
    }

    pub(crate) fn cancel_all(&self) {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        for cancel in running.calls.values() {
            cancel.cancel();
        }
    }

    pub(crate) fn n_running(&self) -> usize {
        self.running.lock().unwrap_or_else(PoisonError::into_inner).calls.len()
    }

    pub(crate) fn n_begun(&self) -> u64 {
        self.running.lock().unwrap_or_else(PoisonError::into_inner).next
    }

    /// Counts a call as running until the returned value is dropped.
    fn enter(&self, cancel: Cancel) -> OnDrop<impl FnMut() + use<>> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.next += 1;
        let number = running.next;
        running.calls.insert(number, cancel);
        let running = Arc::clone(&self.running);
        OnDrop(move || {
            running.lock().unwrap_or_else(PoisonError::into_inner).calls.remove(&number);
        })
    }

    /// Runs the work, and returns an error if it panics. Cancelling `stopped` or dropping the
    /// future cancels the call.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        info: CallInfo,
        events: Events,
        stopped: impl Future<Output = ()>,
        work: impl FnOnce(&Call) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let name = info.name;
        let entry = self.enter(events.cancel().clone());
        let cancel = events.cancel().clone();
        let _dropped = OnDrop(move || cancel.cancel());
        let (environment, shared) = (self.environment.clone(), self.shared.clone());
        let handle = Handle::current();
        let slots = Arc::clone(match info.pace {
            Pace::Foreground | Pace::Background => &self.slots,
            Pace::Urgent => &self.urgent_slots,
        });
        let task = async move {
            // The semaphore is never closed.
            let slot = slots.acquire_owned().await;
            let (can_change, pace) = (info.can_change, info.pace);
            let blocking = move || {
                let _ends = (slot, entry);
                let changed = shared.clone();
                let result =
                    open(environment, shared, info, &handle, events).and_then(|call| work(&call));
                if can_change {
                    changed.note_change();
                }
                result
            };
            match pace {
                Pace::Foreground | Pace::Urgent => spawn_blocking(blocking).await.ok(),
                Pace::Background => in_background(blocking).await,
            }
            .unwrap_or_else(|| {
                Err(OpError::failed(format!("`{name}` crashed; this is a bug in Nacre"))
                    .hint("The server keeps running. `nacre doctor` checks the stores"))
            })
        };
        tokio::select! {
            result = task => result,
            () = stopped => Err(OpError::cancelled()),
        }
    }
}

struct OnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

fn open(
    environment: Environment,
    shared: Shared,
    info: CallInfo,
    handle: &Handle,
    events: Events,
) -> Result<Call> {
    let permit = info.permit;
    permit.check(&info.caller, info.project.as_deref())?;
    let folder = info.folder.unwrap_or_else(|| environment.folder.clone());
    let environment = Environment { folder, ..environment };
    let options = OpenOptions {
        project: info.project,
        tolerance: info.tolerance,
        registering: info.registering,
        needs: info.needs,
        shared,
        caller: info.caller,
        actor: info.actor,
        scope: Some(permit.scope()),
        ..OpenOptions::default()
    };
    let Opened { host, warnings } = Host::open(environment, &options);
    for warning in warnings {
        events.emit(Event::Warning(warning));
    }
    Ok(Call { host: host?.with_runtime(handle.clone()), events, session: info.session })
}

/// Runs `work`, and returns `None` if it panics. Starts a new thread, because an unprivileged
/// thread cannot raise its priority again after lowering it.
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use nacre_types::ErrorCode;

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
                let info = CallInfo::for_name("status");
                let result = calls
                    .run(info, Events::discard(), never(), |_| -> Result<(), OpError> {
                        panic!("a test panics on purpose")
                    })
                    .await;
                assert!(result.unwrap_err().message.contains("crashed"));
            }
            let info = CallInfo::for_name("status");
            let result = calls.run(info, Events::discard(), never(), |_| Ok(7)).await;
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
            let info = CallInfo::for_name("ask");
            let result = calls.run(info, Events::discard(), stopped, work).await;
            assert_eq!(result.unwrap_err().code, ErrorCode::Cancelled);
            // The operation finishes on its own thread.
            let ended = spawn_blocking(move || told.recv()).await.unwrap();
            assert_eq!(ended.unwrap(), "cancelled");
        });
    }
}
