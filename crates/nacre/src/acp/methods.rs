//! What a line of the client asks for, one arm a method.

use std::sync::Arc;

use serde_json::{Value, json};

use super::agent::Agent;
use super::json_rpc::{Incoming, RequestId, RpcError, params, parse};
use super::modes;
use super::opening;
use super::options;
use super::protocol::{
    CancelRequestParams, InitializeParams, LATEST_VERSION, PromptParams, SessionParams,
    SetModeParams, SetOptionParams, VERSIONS,
};
use super::session::Order;
use super::streams::Line;
use super::updates::Notices;

impl Agent {
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
                self.spawn(id, opening::new_session(agent, id.clone(), params(given)?));
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
            "session/set_config_option" => {
                let SetOptionParams { session_id, config_id, value } = params(given)?;
                let change = options::change(&config_id, &value, &self.defaults.models)
                    .ok_or_else(|| RpcError::invalid_params("There is no such option or value"))?;
                let order = Order::SetOption { id: id.clone(), change: Box::new(change) };
                self.order(&session_id, order).await?;
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
        self.set_notices(notices);
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
}
