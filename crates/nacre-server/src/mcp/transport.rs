//! The way in: what comes before `initialize` is answered here, and nothing that a client sends ends the server.
//!
//! Newer clients ask `server/discover` first and wait for an answer; a server that stays silent costs them seconds.

use std::borrow::Cow;
use std::future::Future;

use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, CustomRequest, ErrorCode, ErrorData,
    RequestId, ServerJsonRpcMessage,
};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;

use super::lines::UNREADABLE;

/// The method by which clients of newer revisions look around. We speak revisions that begin with `initialize`.
const DISCOVER: &str = "server/discover";

/// A transport that lets a session begin with `initialize` only.
pub(super) struct CheckedTransport<T> {
    inner: T,
    has_begun: bool,
}

/// What becomes of a message.
enum Checked {
    Pass(Box<ClientJsonRpcMessage>),
    Answer(Option<RequestId>, ErrorData),
    Drop,
}

impl<T> CheckedTransport<T> {
    pub(super) fn new(inner: T) -> Self {
        Self { inner, has_begun: false }
    }

    fn check(&mut self, message: ClientJsonRpcMessage) -> Checked {
        if let Some(answer) = unreadable(&message) {
            return answer;
        }
        let ClientJsonRpcMessage::Request(mut message) = message else {
            // Before a session has begun there is nothing to notify of, and nothing was asked.
            return if self.has_begun { Checked::Pass(Box::new(message)) } else { Checked::Drop };
        };
        if matches!(message.request, ClientRequest::DiscoverRequest(_)) {
            message.request = ClientRequest::CustomRequest(CustomRequest::new(DISCOVER, None));
        }
        self.has_begun |= matches!(message.request, ClientRequest::InitializeRequest(_));
        if self.has_begun || matches!(message.request, ClientRequest::PingRequest(_)) {
            return Checked::Pass(Box::new(ClientJsonRpcMessage::Request(message)));
        }
        let error = if let ClientRequest::CustomRequest(request) = &message.request {
            unknown_method(&request.method)
        } else {
            ErrorData::invalid_request("Send `initialize` first", None)
        };
        Checked::Answer(Some(message.id), error)
    }
}

/// The answer to a line that could not be used.
fn unreadable(message: &ClientJsonRpcMessage) -> Option<Checked> {
    let ClientJsonRpcMessage::Notification(message) = message else { return None };
    let ClientNotification::CustomNotification(told) = &message.notification else { return None };
    let params = told.params.as_ref().filter(|_| told.method == UNREADABLE)?;
    let id = serde_json::from_value(params["id"].clone()).ok();
    let why = params["why"].as_str().unwrap_or_default().to_owned();
    let error = match id {
        Some(_) => ErrorData::invalid_request(why, None),
        None => ErrorData::parse_error(why, None),
    };
    Some(Checked::Answer(id, error))
}

/// What a request of an unknown method, or with parameters that do not fit a known one, is answered.
pub(super) fn unknown_method(method: &str) -> ErrorData {
    const KNOWN: &[&str] = &[
        "completion/complete",
        "initialize",
        "prompts/get",
        "prompts/list",
        "resources/list",
        "resources/read",
        "resources/templates/list",
        "tools/call",
        "tools/list",
    ];
    let method: String = method.chars().take(100).collect();
    if KNOWN.contains(&method.as_str()) {
        return ErrorData::invalid_params(format!("The parameters do not fit `{method}`"), None);
    }
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("Unknown method `{method}`"), None)
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for CheckedTransport<T> {
    type Error = T::Error;

    fn name() -> Cow<'static, str> {
        T::name()
    }

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.inner.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let message = self.inner.receive().await?;
            match self.check(message) {
                Checked::Pass(message) => return Some(*message),
                Checked::Answer(id, error) => {
                    let answer = ServerJsonRpcMessage::error(error, id);
                    self.inner.send(answer).await.ok()?;
                }
                Checked::Drop => {}
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}
