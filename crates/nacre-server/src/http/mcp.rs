//! MCP over HTTP: each request stands for itself, so that nothing is kept between them and a client may come back any time.

use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response};
use nacre_ops::host::Environment;
use nacre_ops::people::Caller;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};

use super::body::{Body, MAX_BODY_BYTES};
use crate::mcp::NacreServer;

/// Answers one message of a client that works on a registered project.
pub(super) async fn answer<B>(
    environment: &Environment,
    (caller, project): (Caller, Option<String>),
    request: Request<B>,
) -> Response<Body>
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: std::fmt::Display,
{
    let environment = environment.clone();
    let server = move || {
        let (environment, caller) = (environment.clone(), caller.clone());
        Ok(NacreServer::for_registered(environment, project.clone(), caller))
    };
    // The guard has looked at the host and the origin already, and knows the names that a person stated.
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(MAX_BODY_BYTES)
        .disable_allowed_hosts();
    let service =
        StreamableHttpService::new(server, Arc::new(NeverSessionManager::default()), config);
    service.handle(request).await.map(Body::Foreign)
}
