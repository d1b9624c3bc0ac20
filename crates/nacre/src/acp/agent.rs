//! The agent's side of the protocol: each method of the client, and the sessions that are open.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nacre_api::wire::ApprovalPolicy;
use serde_json::{Value, json};
use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::json_rpc::{Incoming, RequestId, RpcError, params, parse};
use super::link::{Backend, Link};
use super::modes;
use super::opening;
use super::protocol::{
    CancelRequestParams, InitializeParams, LATEST_VERSION, PromptParams, SessionParams,
    SetModeParams, VERSIONS,
};
use super::session::{Order, Session};
use super::streams::{Line, Outbox};
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
}

/// What all methods share.
pub(super) struct Agent {
    pub(super) backend: Backend,
    pub(super) defaults: SessionDefaults,
    pub(super) out: Outbox,
    open: Mutex<OpenSessions>,
    /// Gone when the last session and the last request are; see `wait`.
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

    fn alive(&self) -> Option<Sender<()>> {
        self.alive.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What the client can show. `None` before it said who it is.
    pub(super) fn notices(&self) -> Option<Notices> {
        self.open().notices
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

    /// Takes a line of the client. What takes time runs by itself.
    pub(super) async fn receive(self: &Arc<Self>, line: Line) {
        let parsed = match &line {
            Line::Text(text) => parse(text),
            Line::Unreadable(why) => Err((RequestId::unknown(), RpcError::parse(*why))),
        };
        match parsed {
            Ok(Incoming::Request { id, method, params }) => {
                if let Err(error) = self.request(&id, &method, params).await {
                    self.out.answer(&id, Err::<Value, _>(error)).await;
                }
            }
            Ok(Incoming::Notification { method, params }) => self.notified(&method, params).await,
            Ok(Incoming::Response { id, result }) => self.out.replied(&id, result),
            Err((id, error)) => self.out.answer(&id, Err::<Value, _>(error)).await,
        }
    }

    /// Begins what a request asks for; an error is its answer.
    async fn request(
        self: &Arc<Self>,
        id: &RequestId,
        method: &str,
        given: Value,
    ) -> Result<(), RpcError> {
        if method == "initialize" {
            let result = self.initialize(params(given)?);
            self.out.answer(id, Ok(result)).await;
            return Ok(());
        }
        if self.notices().is_none() {
            return Err(RpcError::invalid_request("The first request has to be `initialize`"));
        }
        let agent = Arc::clone(self);
        match method {
            "authenticate" => self.out.answer(id, Ok(json!({}))).await,
            "session/new" => {
                self.spawn(id, opening::new_session(agent, id.clone(), params(given)?))
            }
            "session/load" => {
                let load = opening::open_session(agent, id.clone(), params(given)?, true);
                self.spawn(id, load);
            }
            "session/resume" => {
                let resume = opening::open_session(agent, id.clone(), params(given)?, false);
                self.spawn(id, resume);
            }
            "session/list" => self.spawn(id, opening::list(agent, id.clone(), params(given)?)),
            "session/delete" => self.spawn(id, opening::delete(agent, id.clone(), params(given)?)),
            "session/prompt" => {
                let PromptParams { session_id, prompt } = params(given)?;
                self.order(&session_id, Order::Prompt { id: id.clone(), prompt }).await?;
            }
            "session/set_mode" => {
                let SetModeParams { session_id, mode_id } = params(given)?;
                let policy = modes::policy_of(&mode_id)
                    .ok_or_else(|| RpcError::invalid_params("There is no such mode"))?;
                self.order(&session_id, Order::SetMode { id: id.clone(), policy }).await?;
            }
            "session/close" => {
                let SessionParams { session_id } = params(given)?;
                self.order(&session_id, Order::Close(id.clone())).await?;
                self.forget(&session_id);
            }
            _ => return Err(RpcError::unknown_method(method)),
        }
        Ok(())
    }

    fn initialize(&self, given: InitializeParams) -> Value {
        let InitializeParams { protocol_version, client_capabilities } = given;
        // One that is not spoken here is answered with the latest; the client decides whether it can go on.
        let version = VERSIONS.iter().copied().find(|version| *version == protocol_version);
        let has_notices =
            client_capabilities.pointer("/session/notices").is_some_and(Value::is_object);
        let notices = if has_notices { Notices::Shown } else { Notices::AsThoughts };
        self.open().notices = Some(notices);
        json!({
            "protocolVersion": version.unwrap_or(LATEST_VERSION),
            "agentCapabilities": {
                "loadSession": true,
                "promptCapabilities": { "image": false, "audio": false, "embeddedContext": true },
                "mcpCapabilities": { "http": false, "sse": false },
                "sessionCapabilities": { "list": {}, "delete": {}, "resume": {}, "close": {} },
            },
            "agentInfo": {
                "name": "nacre", "title": "Nacre", "version": env!("CARGO_PKG_VERSION"),
            },
            "authMethods": [],
        })
    }

    /// Runs something that answers a request by itself unless it fails.
    fn spawn(
        self: &Arc<Self>,
        id: &RequestId,
        work: impl Future<Output = Result<(), RpcError>> + Send + 'static,
    ) {
        let (agent, id, alive) = (Arc::clone(self), id.clone(), self.alive());
        tokio::spawn(async move {
            if let Err(error) = work.await {
                agent.out.answer(&id, Err::<Value, _>(error)).await;
            }
            drop(alive);
        });
    }

    async fn order(&self, session: &str, order: Order) -> Result<(), RpcError> {
        let sender = self.open().sessions.get(session).cloned();
        let sender = sender.ok_or_else(|| RpcError::unknown_session(session))?;
        sender.send(order).await.map_err(|_| RpcError::unknown_session(session))
    }

    /// Notifications have no answer; what cannot be understood is ignored.
    async fn notified(&self, method: &str, given: Value) {
        match method {
            "session/cancel" => {
                if let Ok(SessionParams { session_id }) = params(given) {
                    let _ = self.order(&session_id, Order::Cancel).await;
                }
            }
            "$/cancel_request" => {
                let Ok(CancelRequestParams { request_id }) = params(given) else { return };
                let Some(request) = RequestId::new(request_id) else { return };
                for session in self.senders() {
                    let _ = session.send(Order::CancelRequest(request.clone())).await;
                }
            }
            _ => {}
        }
    }

    fn senders(&self) -> Vec<Sender<Order>> {
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
