//! Looks at every request before anything else does: is it for us, from one of our own pages, in a form that no foreign page can
//! send, and shown to be the person's?
//!
//! A page of the internet can make a browser send requests to this machine (DNS rebinding, forms, images), and other users
//! of the machine can reach its ports. So the name that was asked for, the page that asked and the proof are all compared
//! exactly, and nothing is said about why but its kind.

use std::net::IpAddr;

use http::header::{CONTENT_TYPE, HOST, HeaderMap, HeaderName, ORIGIN};
use http::{Method, StatusCode, Uri};
use nacre_api::wire::ErrorCode;
use nacre_ops::OpError;
use nacre_ops::people::Caller;

use super::route::Access;

/// The longest path and query.
const MAX_URI_BYTES: usize = 8 << 10;

/// By which names the server may be asked for.
pub(super) struct Names {
    hosts: Vec<String>,
    origins: Vec<String>,
}

impl Names {
    /// The names of this machine with the port, and those that the person stated: `host:port` of a proxy.
    pub(super) fn new(port: u16, stated: &[String]) -> Self {
        let own = ["127.0.0.1", "localhost", "[::1]"].map(|name| format!("{name}:{port}"));
        let origins = own.iter().map(|host| format!("http://{host}"));
        // A proxy speaks TLS for us; its own name is never asked for in the clear.
        let origins = origins.chain(stated.iter().map(|host| format!("https://{host}"))).collect();
        Self { hosts: own.into_iter().chain(stated.iter().cloned()).collect(), origins }
    }
}

/// A request that is not answered, and what is said instead.
#[derive(Clone, Debug)]
pub(super) struct Refusal {
    pub(super) status: StatusCode,
    pub(super) error: OpError,
}

impl Refusal {
    pub(super) fn new(status: StatusCode, code: ErrorCode, message: &str) -> Self {
        Self { status, error: OpError { code, ..OpError::failed(message) } }
    }

    pub(super) fn hint(self, hint: &str) -> Self {
        Self { error: self.error.hint(hint), ..self }
    }
}

/// Where a request came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    /// A port, which browsers and other users reach, from that address.
    Port(IpAddr),
    /// The socket file, which only processes of the same user reach: no browser, and proven by the system.
    Socket,
}

/// Checks that hold for every request, whatever it asks for.
pub(super) fn check_origin(
    names: &Names,
    entry: Entry,
    uri: &Uri,
    headers: &HeaderMap,
) -> Result<(), Refusal> {
    let too_long = uri.path_and_query().is_some_and(|text| MAX_URI_BYTES < text.as_str().len());
    if too_long {
        let message = "The address is too long";
        return Err(Refusal::new(StatusCode::URI_TOO_LONG, ErrorCode::TooLarge, message));
    }
    if uri.authority().is_some() {
        let message = "This is no proxy";
        return Err(Refusal::new(StatusCode::BAD_REQUEST, ErrorCode::Usage, message));
    }
    if entry == Entry::Socket {
        return Ok(());
    }
    let host = only(headers, &HOST).filter(|host| names.hosts.iter().any(|name| name == host));
    if host.is_none() {
        let message = "This server is not asked for by that name";
        return Err(Refusal::new(StatusCode::MISDIRECTED_REQUEST, ErrorCode::Refused, message));
    }
    let foreign = |message: &str| Refusal::new(StatusCode::FORBIDDEN, ErrorCode::Refused, message);
    if headers.contains_key(ORIGIN) {
        let is_own = |origin: &str| names.origins.iter().any(|name| name == origin);
        if !only(headers, &ORIGIN).is_some_and(is_own) {
            return Err(foreign("A page of another origin asked"));
        }
    }
    let site = HeaderName::from_static("sec-fetch-site");
    if headers.contains_key(&site) {
        let is_own = |site: &str| matches!(site, "same-origin" | "none");
        if !only(headers, &site).is_some_and(is_own) {
            return Err(foreign("A page of another site asked"));
        }
    }
    Ok(())
}

/// Checks that a change is asked for in a form that no foreign page can send.
pub(super) fn check_form(method: &Method, headers: &HeaderMap) -> Result<(), Refusal> {
    if [Method::POST, Method::PUT, Method::PATCH].contains(method) {
        let is_json = |kind: &str| {
            let kind = kind.split(';').next().unwrap_or_default().trim();
            kind.eq_ignore_ascii_case("application/json")
        };
        if !only(headers, &CONTENT_TYPE).is_some_and(is_json) {
            let message = "A body is JSON";
            return Err(Refusal::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                ErrorCode::Usage,
                message,
            )
            .hint("Send the header `Content-Type: application/json`"));
        }
    }
    Ok(())
}

/// How a request proved itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Proof {
    /// The server's own token, or that of a person.
    Token(Caller),
    /// The secret of a page in a browser, or a proxy that a browser logged in at.
    Page(Caller),
}

/// Whose request it is, by what it showed. What a browser sends by itself, such as a cookie, proves nothing.
pub(super) fn caller(
    proof: Option<Proof>,
    access: Access,
    headers: &HeaderMap,
) -> Result<Caller, Refusal> {
    match proof {
        Some(Proof::Token(caller)) => Ok(caller),
        // A browser tells with every change which page made it.
        Some(Proof::Page(caller)) if access == Access::Read => Ok(caller),
        Some(Proof::Page(caller)) if access == Access::Change && headers.contains_key(ORIGIN) => {
            Ok(caller)
        }
        Some(Proof::Page(_)) | None => Err(unproven()),
    }
}

fn unproven() -> Refusal {
    let message = "The token is missing or wrong";
    Refusal::new(StatusCode::UNAUTHORIZED, ErrorCode::Refused, message).hint(
        "Programs send `Authorization: Bearer` with the text of ~/.nacre/run/token; a browser is let in by `nacre dashboard`",
    )
}

/// The value of a header that is there once, and is text.
pub(super) fn only<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}
