//! Conversations with Nacre's own agent, for any number of clients. A session's turns run one at a
//! time.
//!
//! Clients send and receive lines of JSON over any transport. A turn belongs to its session, not to
//! the client that started it, so a client can disconnect and receive the messages it missed when
//! it reconnects.

mod approvals;
mod attachments;
mod log;
mod requests;
mod sessions;
mod tell;
mod toolbox;
mod turn;
mod undo;

use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use nacre_engine::lifecycle::RunHandle;
use nacre_engine::model::{ModelSettings, Models, Role};
use nacre_engine::record::state::{SessionRecord, State};
use nacre_engine::record::{CancelledBy, SessionId, TaskId};
use nacre_engine::tools::Grants;
use nacre_team::people::Caller;
use nacre_types::{ApprovalPolicy, ChatStartRequest};
use tokio::runtime::Handle;
use tokio::sync::Notify;

use self::approvals::Approvals;
use self::log::TaskLog;
pub use self::requests::Client;
use self::sessions::policy_of;
pub use self::sessions::save_export;
use crate::host::{Environment, OpenOptions, Opened, Shared, model_settings};
use crate::prelude::*;

pub const MAX_LINE_BYTES: usize = 8 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workspaces {
    /// Any directory. Used for the owner's local processes.
    Any,
    /// Only the roots of registered projects. Other paths are never accessed, so errors cannot
    /// reveal whether they exist.
    Registered,
}

/// Fails if no model is set for the chat.
pub fn check_model(host: &Host) -> Result<()> {
    Models::new(model_settings(host)?).route(Role::Chat)?;
    Ok(())
}

/// All conversations in this process.
pub type Chats = Arc<ChatShared>;

pub struct ChatShared {
    environment: Environment,
    shared: Shared,
    handle: Handle,
    script: Option<PathBuf>,
    /// Parsed once, so that each turn continues the script where the previous one stopped.
    read_script: OnceLock<ModelSettings>,
    approvals: Approvals,
    turns: Mutex<BTreeMap<TaskId, Arc<LiveTurn>>>,
    allowed: Mutex<BTreeMap<SessionId, Arc<Grants>>>,
    /// Notified at the end of each turn, so that the next turn of a session can start.
    turn_ended: Notify,
}

/// An operation's directory and caller. The defaults are the process's directory and the owner.
#[derive(Clone, Debug, Default)]
struct CallOrigin {
    folder: Option<PathBuf>,
    caller: Caller,
}

struct LiveTurn {
    log: Arc<TaskLog>,
    /// Whether the turn was started or steered by someone other than the owner.
    is_guests: AtomicBool,
    handle: RunHandle,
    session: SessionRecord,
    request: ChatStartRequest,
    caller: Caller,
}

impl LiveTurn {
    fn origin(&self) -> CallOrigin {
        let folder = self.session.workspace.as_ref().map(PathBuf::from);
        CallOrigin { folder, caller: self.caller.clone() }
    }

    fn policy(&self) -> ApprovalPolicy {
        self.request.policy.unwrap_or_else(|| policy_of(&self.session))
    }
}

/// `handle` is the runtime for all tasks. `script` replaces all models in tests.
pub fn open(
    environment: Environment,
    shared: Shared,
    script: Option<PathBuf>,
    handle: Handle,
) -> Chats {
    Arc::new(ChatShared {
        environment,
        shared,
        handle,
        script,
        read_script: OnceLock::new(),
        approvals: Approvals::default(),
        turns: Mutex::default(),
        allowed: Mutex::default(),
        turn_ended: Notify::new(),
    })
}

impl ChatShared {
    pub fn n_turns(&self) -> usize {
        self.live().len()
    }

    /// Cancels all turns before the process exits. Each turn reports its cancellation before
    /// `n_turns` decreases.
    pub fn cancel_all(&self) {
        for turn in self.live().values() {
            turn.handle.cancel(CancelledBy::Shutdown);
        }
    }

    fn open_host(&self, origin: CallOrigin) -> Result<Host> {
        let CallOrigin { folder, caller } = origin;
        let mut environment = self.environment.clone();
        if let Some(folder) = folder {
            environment.folder = folder;
        }
        let shared = self.shared.clone();
        let options = OpenOptions { shared, caller, ..OpenOptions::default() };
        let Opened { host, warnings: _ } = Host::open(environment, &options);
        Ok(host?.with_runtime(self.handle.clone()))
    }

    async fn call<T: Send + 'static>(
        self: &Arc<Self>,
        origin: CallOrigin,
        work: impl FnOnce(&Host) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let shared = Arc::clone(self);
        let done = tokio::task::spawn_blocking(move || {
            let host = shared.open_host(origin)?;
            work(&host)
        });
        done.await
            .unwrap_or_else(|_| Err(OpError::failed("Internal error while handling the request")))
    }

    fn live(&self) -> MutexGuard<'_, BTreeMap<TaskId, Arc<LiveTurn>>> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn turn(&self, task: &TaskId) -> Option<Arc<LiveTurn>> {
        self.live().get(task).cloned()
    }

    fn grants_of(&self, session: &SessionId) -> Arc<Grants> {
        let mut allowed = self.allowed.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(allowed.entry(session.clone()).or_default())
    }
}

fn open_state(host: &Host) -> Result<State> {
    let home = host.home_scope()?;
    Ok(State::open(&home, &host.owner("chat"), host.settings().lock.wait)?)
}

fn random(host: &Host) -> Result<u64> {
    host.environment.random_bytes().map(u64::from_le_bytes)
}
