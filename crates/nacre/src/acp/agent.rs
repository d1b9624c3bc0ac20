//! What the methods of the protocol share: the stream to the client, the line to Nacre's agent, and the sessions that are open.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nacre_api::wire::ApprovalPolicy;
use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::json_rpc::RpcError;
use super::link::{Backend, Link};
use super::session::{Order, Session};
use super::streams::Outbox;
use super::updates::Notices;

/// Sessions that may be open at the same time.
const MAX_SESSIONS: usize = 64;

/// Orders that wait for one session.
const MAX_ORDERS: usize = 64;

/// What a new session begins with.
#[derive(Clone, Debug)]
pub(crate) struct SessionDefaults {
    /// Where a request works that names no folder.
    pub(crate) folder: PathBuf,
    pub(crate) policy: Option<ApprovalPolicy>,
    pub(crate) model: Option<String>,
    /// Models that a person can choose from.
    pub(crate) models: Vec<String>,
}

/// What all methods share.
pub(super) struct Agent {
    pub(super) backend: Backend,
    pub(super) defaults: SessionDefaults,
    pub(super) out: Outbox,
    open: Mutex<OpenSessions>,
    /// Held by every session and request that runs, so that the end of the last one is seen.
    alive: Mutex<Option<Sender<()>>>,
}

#[derive(Default)]
struct OpenSessions {
    sessions: BTreeMap<String, Sender<Order>>,
    notices: Option<Notices>,
    is_ending: bool,
}

impl Agent {
    /// The agent, and what ends when nothing of it runs any more.
    pub(super) fn new(
        backend: Backend,
        defaults: SessionDefaults,
        out: Outbox,
    ) -> (Arc<Self>, Receiver<()>) {
        let (alive, gone) = channel(1);
        let alive = Mutex::new(Some(alive));
        let agent = Self { backend, defaults, out, open: Mutex::default(), alive };
        (Arc::new(agent), gone)
    }

    fn open(&self) -> MutexGuard<'_, OpenSessions> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn alive(&self) -> Option<Sender<()>> {
        self.alive.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What the client can show. `None` before it said who it is.
    pub(super) fn notices(&self) -> Option<Notices> {
        self.open().notices
    }

    pub(super) fn set_notices(&self, notices: Notices) {
        self.open().notices = Some(notices);
    }

    pub(super) fn is_open(&self, session: &str) -> bool {
        self.open().sessions.contains_key(session)
    }

    pub(super) fn forget(&self, session: &str) {
        self.open().sessions.remove(session);
    }

    /// Lets a session run until it is closed.
    pub(super) fn start(&self, id: &str, session: Session, link: Link) -> Result<(), RpcError> {
        let (sender, orders) = channel(MAX_ORDERS);
        let mut open = self.open();
        if MAX_SESSIONS <= open.sessions.len() {
            return Err(RpcError::internal(format!("{MAX_SESSIONS} sessions are open already")));
        }
        if open.is_ending {
            return Err(RpcError::internal("The process ends"));
        }
        open.sessions.insert(id.to_owned(), sender);
        let alive = self.alive();
        tokio::spawn(async move {
            session.run(orders, link.messages).await;
            drop(alive);
        });
        Ok(())
    }

    /// Hands an order to a session that is open.
    pub(super) async fn order(&self, session: &str, order: Order) -> Result<(), RpcError> {
        let sender = self.open().sessions.get(session).cloned();
        let sender = sender.ok_or_else(|| RpcError::unknown_session(session))?;
        sender.send(order).await.map_err(|_| RpcError::unknown_session(session))
    }

    pub(super) fn senders(&self) -> Vec<Sender<Order>> {
        self.open().sessions.values().cloned().collect()
    }

    /// Ends every turn and every session. What still runs says how it ended before it is gone.
    pub(super) async fn end(&self) {
        let sessions = {
            let mut open = self.open();
            open.is_ending = true;
            std::mem::take(&mut open.sessions)
        };
        for session in sessions.values() {
            let _ = session.send(Order::End).await;
        }
        (self.backend.cancel_all)();
        self.alive.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    pub(super) async fn link(&self, folder: &Path) -> Result<Link, RpcError> {
        Ok(Link::open(&self.backend, folder.to_owned()).await?)
    }
}
