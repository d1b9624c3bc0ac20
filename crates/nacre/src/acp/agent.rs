//! State shared by the protocol methods: the client streams, the connection to Nacre's chat agent,
//! and the open sessions.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nacre_ops::chat::Chats;
use nacre_types::ApprovalPolicy;
use tokio::sync::mpsc::{Sender, channel};
use tokio_util::task::TaskTracker;

use super::json_rpc::{Result, RpcError};
use super::link::{Link, connect};
use super::session::{Order, Session};
use super::streams::Outbox;
use super::updates::Notices;

const MAX_SESSIONS: usize = 64;

const MAX_ORDERS: usize = 64;

#[derive(Clone, Debug)]
pub(crate) struct SessionDefaults {
    pub(crate) folder: PathBuf,
    pub(crate) policy: Option<ApprovalPolicy>,
    pub(crate) model: Option<String>,
    pub(crate) models: Vec<String>,
}

pub(super) struct Agent {
    chats: Chats,
    pub(super) defaults: SessionDefaults,
    pub(super) out: Outbox,
    open: Mutex<OpenSessions>,
    /// Tracks the running sessions and requests.
    pub(super) tasks: TaskTracker,
}

#[derive(Default)]
pub(super) struct OpenSessions {
    pub(super) sessions: BTreeMap<String, Sender<Order>>,
    /// `None` before `initialize`.
    pub(super) notices: Option<Notices>,
    is_ending: bool,
}

impl Agent {
    pub(super) fn new(chats: Chats, defaults: SessionDefaults, out: Outbox) -> Arc<Self> {
        let (open, tasks) = (Mutex::default(), TaskTracker::new());
        Arc::new(Self { chats, defaults, out, open, tasks })
    }

    pub(super) fn open(&self) -> MutexGuard<'_, OpenSessions> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn start(&self, id: &str, session: Session, link: Link) -> Result<()> {
        let (sender, orders) = channel(MAX_ORDERS);
        let mut open = self.open();
        if MAX_SESSIONS <= open.sessions.len() {
            return Err(RpcError::internal(format!(
                "Too many open sessions (limit: {MAX_SESSIONS})"
            )));
        }
        if open.is_ending {
            return Err(RpcError::internal("The process ends"));
        }
        open.sessions.insert(id.to_owned(), sender);
        self.tasks.spawn(session.run(orders, link.messages));
        Ok(())
    }

    pub(super) async fn order(&self, session: &str, order: Order) -> Result<()> {
        let sender = self.open().sessions.get(session).cloned();
        let sender = sender.ok_or_else(|| RpcError::unknown_session(session))?;
        sender.send(order).await.map_err(|_| RpcError::unknown_session(session))
    }

    /// Stops all turns and sessions. Each session informs the client that it has ended.
    pub(super) async fn end(&self) {
        let sessions = {
            let mut open = self.open();
            open.is_ending = true;
            std::mem::take(&mut open.sessions)
        };
        for session in sessions.values() {
            let _ = session.send(Order::End).await;
        }
        self.chats.cancel_all();
        self.tasks.close();
    }

    pub(super) async fn link(&self, folder: &Path) -> Result<Link> {
        let connection = connect(&self.chats, folder.to_owned());
        Ok(Link::open(connection, "nacre chat --acp").await?)
    }
}
