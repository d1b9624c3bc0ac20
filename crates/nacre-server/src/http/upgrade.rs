//! Turns a connection into one of the chat protocol: a WebSocket, or plain lines.

use http::header::{CONNECTION, UPGRADE};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use nacre_api::wire::ErrorCode;

use super::body::Body;
use super::guard::{Refusal, only};
use crate::rpc::{Clients, Framing, RpcConnection, accept_key};

/// What a client that wants plain lines asks for.
const LINES: &str = "nacre-rpc";

const WEBSOCKET_KEY: HeaderName = HeaderName::from_static("sec-websocket-key");
const WEBSOCKET_VERSION: HeaderName = HeaderName::from_static("sec-websocket-version");
const WEBSOCKET_ACCEPT: HeaderName = HeaderName::from_static("sec-websocket-accept");

/// Agrees to the upgrade, and serves the client once the connection is free for it.
pub(super) fn answer(
    clients: &Clients,
    connection: RpcConnection,
    parts: Parts,
) -> Result<Response<Body>, Refusal> {
    let (framing, protocol, key) = wanted(&parts.headers)?;
    let key = key.map(accept_key);
    let Some(place) = clients.place() else {
        let message = "There are too many clients";
        return Err(Refusal::new(StatusCode::SERVICE_UNAVAILABLE, ErrorCode::Busy, message));
    };
    let clients = clients.clone();
    let upgrade = hyper::upgrade::on(Request::from_parts(parts, ()));
    tokio::spawn(async move {
        let _place = place;
        // A client that went away meanwhile is no error of the server.
        if let Ok(upgraded) = upgrade.await {
            clients.serve(TokioIo::new(upgraded), framing, connection).await;
        }
    });
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = response.headers_mut();
    headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(UPGRADE, HeaderValue::from_static(protocol));
    if let Some(key) = key.and_then(|key| HeaderValue::from_str(&key).ok()) {
        headers.insert(WEBSOCKET_ACCEPT, key);
    }
    Ok(response)
}

type Wanted<'h> = (Framing, &'static str, Option<&'h str>);

fn wanted(headers: &HeaderMap) -> Result<Wanted<'_>, Refusal> {
    let refused = |message: &str| {
        Refusal::new(StatusCode::UPGRADE_REQUIRED, ErrorCode::Usage, message).hint(
            "Ask with `Connection: Upgrade` and `Upgrade: websocket`, version 13, or `Upgrade: nacre-rpc`",
        )
    };
    let has_upgrade = only(headers, &CONNECTION).is_some_and(|text| {
        text.split(',').any(|word| word.trim().eq_ignore_ascii_case("upgrade"))
    });
    let protocol = only(headers, &UPGRADE).filter(|_| has_upgrade).unwrap_or_default();
    if protocol.eq_ignore_ascii_case(LINES) {
        return Ok((Framing::Lines, LINES, None));
    }
    if !protocol.eq_ignore_ascii_case("websocket") {
        return Err(refused("This address speaks the chat protocol"));
    }
    let key = only(headers, &WEBSOCKET_KEY);
    match (key, only(headers, &WEBSOCKET_VERSION)) {
        (Some(key), Some("13")) if !key.is_empty() => {
            Ok((Framing::WebSocket, "websocket", Some(key)))
        }
        _ => Err(refused("The WebSocket handshake is incomplete")),
    }
}
