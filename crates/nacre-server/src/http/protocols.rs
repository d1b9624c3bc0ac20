//! Serves MCP over HTTP, and the chat protocol on upgraded connections.

use axum::extract::Request;
use axum::http::HeaderMap;
use axum::http::header::{
    CONNECTION, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_VERSION, UPGRADE,
};
use axum::http::request::Parts;
use hyper_util::rt::TokioIo;
use nacre_ops::chat::Workspaces;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};

use super::answer::Refusal;
use super::guard::only;
use super::parameters::MAX_BODY_BYTES;
use crate::mcp::NacreServer;
use crate::people::LastingAccess;
use crate::prelude::*;
use crate::rpc::{Clients, Framing, accept_key};

/// `Upgrade` header value for plain lines without WebSocket framing.
const LINES: &str = "nacre-rpc";

pub(super) fn upgrade(
    clients: &Clients,
    folder: PathBuf,
    workspaces: Workspaces,
    access: LastingAccess,
    parts: Parts,
) -> Result<Response, Refusal> {
    let framing = framing(&parts.headers)?;
    let key = parts.headers.get(SEC_WEBSOCKET_KEY).map(|key| accept_key(key.as_bytes()));
    let Some(open) = clients.connections.add(&access.identity) else {
        let message = "Too many clients";
        return Err(Refusal::new(StatusCode::SERVICE_UNAVAILABLE, ErrorCode::Busy, message));
    };
    let clients = clients.clone();
    let upgraded = hyper::upgrade::on(Request::from_parts(parts, ()));
    tokio::spawn(async move {
        let _open = open;
        // The client may disconnect during the upgrade.
        if let Ok(upgraded) = upgraded.await {
            clients.serve(TokioIo::new(upgraded), framing, folder, workspaces, access).await;
        }
    });
    let (protocol, accept) = match framing {
        Framing::Lines => (LINES, None),
        Framing::WebSocket => ("websocket", key.map(|key| [(SEC_WEBSOCKET_ACCEPT, key)])),
    };
    let headers = [(CONNECTION, "Upgrade"), (UPGRADE, protocol)];
    Ok((StatusCode::SWITCHING_PROTOCOLS, headers, accept, ()).into_response())
}

fn framing(headers: &HeaderMap) -> Result<Framing, Refusal> {
    let refused = |message: &str| {
        Refusal::new(StatusCode::UPGRADE_REQUIRED, ErrorCode::Usage, message).hint(
            "Send `Connection: Upgrade` with `Upgrade: websocket`, version 13, or `Upgrade: nacre-rpc`",
        )
    };
    let has_upgrade = only(headers, &CONNECTION).is_some_and(|text| {
        text.split(',').any(|word| word.trim().eq_ignore_ascii_case("upgrade"))
    });
    let protocol = only(headers, &UPGRADE).filter(|_| has_upgrade).unwrap_or_default();
    if protocol.eq_ignore_ascii_case(LINES) {
        return Ok(Framing::Lines);
    }
    if !protocol.eq_ignore_ascii_case("websocket") {
        return Err(refused("This path requires an upgrade to the chat protocol"));
    }
    let has_key = only(headers, &SEC_WEBSOCKET_KEY).is_some_and(|key| !key.is_empty());
    match has_key && only(headers, &SEC_WEBSOCKET_VERSION) == Some("13") {
        true => Ok(Framing::WebSocket),
        false => Err(refused("The WebSocket handshake is incomplete")),
    }
}

/// Answers an MCP request. The client has no working directory, so it names a registered project.
pub(super) async fn answer_mcp(
    environment: &Environment,
    caller: Caller,
    project: Option<String>,
    request: Request,
) -> Response {
    let environment = environment.clone();
    let server = move || {
        let (environment, caller) = (environment.clone(), caller.clone());
        Ok(NacreServer::for_registered(environment, project.clone(), caller))
    };
    // The guard has already checked the host and the origin.
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(MAX_BODY_BYTES)
        .disable_allowed_hosts();
    let service =
        StreamableHttpService::new(server, Arc::new(NeverSessionManager::default()), config);
    service.handle(request).await.map(Body::new)
}
