//! Handlers for protocol methods.

use std::sync::Arc;

use serde_json::{Value, json};

use super::agent::Agent;
use super::json_rpc::{Incoming, RequestId, Result, RpcError, params, parse};
use super::protocol::{
    InitializeParams, PromptParams, SessionParams, SetModeParams, SetOptionParams, VERSION,
};
use super::session::Order;
use super::streams::InputLine;
use super::updates::Notices;
use super::{options, sessions};

impl Agent {
    /// Handles a line from the client. Slow requests run in separate tasks, so they do not delay
    /// later lines.
    pub(super) async fn receive(self: &Arc<Self>, line: InputLine) {
        let parsed = match &line {
            Ok(text) => parse(text),
            Err(why) => Err((RequestId::unknown(), RpcError::parse(*why))),
        };
        match parsed {
            Ok(Incoming::Request { id, method, params }) => {
                if let Err(error) = self.request(&id, &method, params).await {
                    self.out.refuse(&id, error).await;
                }
            }
            Ok(Incoming::Notification { method, params }) => {
                self.handle_notification(&method, params).await;
            }
            Ok(Incoming::Response { id, result }) => self.out.resolve(&id, result),
            Err((id, error)) => self.out.refuse(&id, error).await,
        }
    }

    async fn request(self: &Arc<Self>, id: &RequestId, method: &str, given: Value) -> Result<()> {
        if method == "initialize" {
            let result = self.initialize(params(given)?);
            self.out.answer(id, result).await;
            return Ok(());
        }
        if self.open().notices.is_none() {
            return Err(RpcError::invalid_request("The first request must be `initialize`"));
        }
        let agent = Arc::clone(self);
        match method {
            "authenticate" => self.out.answer(id, json!({})).await,
            "session/new" => {
                self.spawn(id, sessions::new_session(agent, id.clone(), params(given)?));
            }
            "session/load" => {
                let load = sessions::open_session(agent, id.clone(), params(given)?, true);
                self.spawn(id, load);
            }
            "session/resume" => {
                let resume = sessions::open_session(agent, id.clone(), params(given)?, false);
                self.spawn(id, resume);
            }
            "session/list" => self.spawn(id, sessions::list(agent, id.clone(), params(given)?)),
            "session/delete" => self.spawn(id, sessions::delete(agent, id.clone(), params(given)?)),
            "session/prompt" => {
                let PromptParams { session_id, prompt } = params(given)?;
                self.order(&session_id, Order::Prompt { id: id.clone(), prompt }).await?;
            }
            "session/set_mode" => {
                let SetModeParams { session_id, mode_id } = params(given)?;
                let change = options::change(options::MODE, &mode_id, &[]).map(Box::new);
                let change = change.ok_or_else(|| RpcError::invalid_params("Unknown mode"))?;
                let order = Order::Change { id: id.clone(), change, is_mode: true };
                self.order(&session_id, order).await?;
            }
            "session/set_config_option" => {
                let SetOptionParams { session_id, config_id, value } = params(given)?;
                let change = options::change(&config_id, &value, &self.defaults.models)
                    .ok_or_else(|| RpcError::invalid_params("Unknown option or value"))?;
                let change = Box::new(change);
                let order = Order::Change { id: id.clone(), change, is_mode: false };
                self.order(&session_id, order).await?;
            }
            "session/close" => {
                let SessionParams { session_id } = params(given)?;
                self.order(&session_id, Order::Close(id.clone())).await?;
                self.open().sessions.remove(&session_id);
            }
            _ => return Err(RpcError::unknown_method(method)),
        }
        Ok(())
    }

    fn initialize(&self, given: InitializeParams) -> Value {
        let InitializeParams { client_capabilities } = given;
        let has_notices =
            client_capabilities.pointer("/session/notices").is_some_and(Value::is_object);
        let notices = if has_notices { Notices::Shown } else { Notices::AsThoughts };
        self.open().notices = Some(notices);
        json!({
            "protocolVersion": VERSION,
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

    /// Runs a request in its own task. If it succeeds, `work` has already sent the response; if it
    /// fails, this function sends the error.
    fn spawn(
        self: &Arc<Self>,
        id: &RequestId,
        work: impl Future<Output = Result<()>> + Send + 'static,
    ) {
        let (agent, id) = (Arc::clone(self), id.clone());
        self.tasks.spawn(async move {
            if let Err(error) = work.await {
                agent.out.refuse(&id, error).await;
            }
        });
    }

    /// Handles a notification. Notifications have no response, so unknown ones are ignored.
    async fn handle_notification(&self, method: &str, given: Value) {
        match method {
            "session/cancel" => {
                if let Ok(SessionParams { session_id }) = params(given) {
                    let _ = self.order(&session_id, Order::Cancel).await;
                }
            }
            "$/cancel_request" => {
                let id = given.get("requestId").cloned();
                let Some(request) = id.and_then(RequestId::new) else { return };
                let sessions: Vec<_> = self.open().sessions.values().cloned().collect();
                for session in sessions {
                    let _ = session.send(Order::CancelRequest(request.clone())).await;
                }
            }
            _ => {}
        }
    }
}
