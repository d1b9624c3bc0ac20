//! What all clients of a process share: how a host is opened, the turns under way, and the questions that wait.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use nacre_engine::lifecycle::RunHandle;
use nacre_engine::model::ModelSettings;
use nacre_engine::record::state::State;
use nacre_engine::record::{SessionId, TaskId};
use tokio::runtime::Handle;
use tokio::sync::Notify;

use nacre_engine::tools::Grants;

use super::approvals::Approvals;
use super::log::TaskLog;
use crate::error::OpError;
use crate::host::{Environment, Host, OpenOptions, Opened, Shared};

/// See the module.
pub(super) struct ChatShared {
    pub(super) environment: Environment,
    shared: Shared,
    handle: Handle,
    /// Answers for every model, for tests.
    pub(super) script: Option<PathBuf>,
    /// The same as it was read; each turn goes on where the last one stopped.
    pub(super) read_script: OnceLock<ModelSettings>,
    pub(super) approvals: Approvals,
    live: Mutex<Live>,
    /// Told when a turn is over, so that the next one looks whether it is its own turn.
    pub(super) turn_ended: Notify,
}

#[derive(Default)]
struct Live {
    turns: BTreeMap<TaskId, Arc<LiveTurn>>,
    /// What a person allowed for the rest of a session.
    allowed: BTreeMap<SessionId, Arc<Grants>>,
}

/// A turn of this process that is not over.
pub(super) struct LiveTurn {
    pub(super) log: Arc<TaskLog>,
    pub(super) handle: RunHandle,
}

impl ChatShared {
    pub(super) fn new(
        environment: Environment,
        shared: Shared,
        handle: Handle,
        script: Option<PathBuf>,
    ) -> Self {
        Self {
            environment,
            shared,
            handle,
            script,
            read_script: OnceLock::new(),
            approvals: Approvals::default(),
            live: Mutex::default(),
            turn_ended: Notify::new(),
        }
    }

    /// A host that works in a folder; the process's own where none is named.
    pub(super) fn open_host(&self, folder: Option<&Path>) -> Result<Host, OpError> {
        let mut environment = self.environment.clone();
        if let Some(folder) = folder {
            environment.folder = folder.to_owned();
        }
        let options = OpenOptions { shared: self.shared.clone(), ..OpenOptions::default() };
        let Opened { host, warnings: _ } = Host::open(environment, &options);
        Ok(host?.with_runtime(self.handle.clone()))
    }

    /// Does something with a host, on a thread that may wait.
    pub(super) async fn call<T: Send + 'static>(
        self: &Arc<Self>,
        folder: Option<PathBuf>,
        work: impl FnOnce(&Host) -> Result<T, OpError> + Send + 'static,
    ) -> Result<T, OpError> {
        let shared = Arc::clone(self);
        let done = tokio::task::spawn_blocking(move || {
            let host = shared.open_host(folder.as_deref())?;
            work(&host)
        });
        done.await.unwrap_or_else(|_| Err(OpError::failed("The request broke down inside")))
    }

    fn live(&self) -> MutexGuard<'_, Live> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn add_turn(&self, turn: &Arc<LiveTurn>) {
        self.live().turns.insert(turn.log.task.clone(), Arc::clone(turn));
    }

    pub(super) fn remove_turn(&self, task: &TaskId) {
        self.live().turns.remove(task);
        self.turn_ended.notify_waiters();
    }

    /// A turn of this process, by its id.
    pub(super) fn turn(&self, task: &TaskId) -> Option<Arc<LiveTurn>> {
        self.live().turns.get(task).cloned()
    }

    pub(super) fn turns(&self) -> Vec<Arc<LiveTurn>> {
        self.live().turns.values().cloned().collect()
    }

    /// What was allowed for the rest of a session.
    pub(super) fn allowed_in(&self, session: &SessionId) -> Arc<Grants> {
        Arc::clone(self.live().allowed.entry(session.clone()).or_default())
    }
}

/// The state, made where it is missing.
pub(super) fn open_state(host: &Host) -> Result<State, OpError> {
    let home = host.home_scope()?;
    Ok(State::open(&home, &host.owner("chat"), host.settings().lock.wait)?)
}

/// A number that nobody can guess, for names.
pub(super) fn random(environment: &Environment) -> Result<u64, OpError> {
    let mut bytes = [0; 8];
    (environment.random)(&mut bytes).map_err(|error| OpError {
        causes: vec![error.to_string()],
        ..OpError::failed("The system gives no random numbers")
    })?;
    Ok(u64::from_le_bytes(bytes))
}
