//! Converts reports, errors and dashboard files to responses, and sets headers on every response.

use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, ETAG, REFERRER_POLICY, RETRY_AFTER,
    X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use nacre_types::{ErrorReport, Outcome, Report};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::calls::Call;
use crate::prelude::*;

const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// Response header for operations that succeeded only partly.
const OUTCOME: HeaderName = HeaderName::from_static("nacre-outcome");

/// Allows scripts and styles only from this server, and no connections to other servers.
const CONTENT_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'";

#[derive(Clone, Debug)]
pub(super) struct Refusal {
    pub(super) status: StatusCode,
    pub(super) error: OpError,
}

impl Refusal {
    pub(super) fn new(status: StatusCode, code: ErrorCode, message: &str) -> Self {
        Self { status, error: OpError::new(code, message) }
    }

    pub(super) fn bad_request(error: OpError) -> Self {
        Self { status: StatusCode::BAD_REQUEST, error }
    }

    pub(super) fn hint(self, hint: &str) -> Self {
        Self { error: self.error.hint(hint), ..self }
    }
}

impl From<OpError> for Refusal {
    fn from(error: OpError) -> Self {
        let status = StatusCode::from_u16(error.code.http_status());
        Self { status: status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), error }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let mut response = value(self.status, &ErrorReport::from(self.error));
        if self.status == StatusCode::SERVICE_UNAVAILABLE {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response
    }
}

pub(super) fn report(done: Done) -> Response {
    let mut response = ([(CONTENT_TYPE, JSON)], done.json).into_response();
    let outcome = match done.outcome {
        Outcome::Done => None,
        Outcome::Partial => Some("partial"),
        Outcome::Failed => Some("failed"),
        Outcome::Busy => Some("busy"),
    };
    if let Some(outcome) = outcome {
        response.headers_mut().insert(OUTCOME, HeaderValue::from_static(outcome));
    }
    let version = done.version.and_then(|version| format!("\"{version}\"").parse().ok());
    if let Some(version) = version {
        response.headers_mut().insert(ETAG, version);
    }
    response
}

pub(super) fn value(status: StatusCode, value: &impl Serialize) -> Response {
    // Wire types have string keys, so serialization cannot fail.
    let json = serde_json::to_vec(value).unwrap_or_default();
    (status, [(CONTENT_TYPE, JSON)], json).into_response()
}

/// Prevents browsers from framing, sniffing or caching the response. No header allows other origins
/// to read the response.
pub(super) fn protect(headers: &mut HeaderMap) {
    for (name, value) in [
        (CONTENT_SECURITY_POLICY, CONTENT_POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
}

include!(concat!(env!("OUT_DIR"), "/assets.rs"));

/// Returns a dashboard file. The page itself is at `/`.
pub(super) fn asset(path: &str) -> Option<Response> {
    let name = match path {
        "/" => "index.html",
        path => path.strip_prefix('/')?,
    };
    let (_, bytes) = ASSETS.iter().find(|(asset, _)| *asset == name)?;
    // File names in `assets/` contain a content hash.
    let is_hashed = name.starts_with("assets/");
    let kept = if is_hashed { "public, max-age=31536000, immutable" } else { "no-cache" };
    Some(([(CONTENT_TYPE, content_type(name)), (CACHE_CONTROL, kept)], *bytes).into_response())
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit_once('.').map(|(_, ending)| ending) {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("woff2") => "font/woff2",
        Some("json" | "webmanifest") => "application/json",
        _ => "application/octet-stream",
    }
}

pub(super) trait Input: DeserializeOwned + JsonSchema + Send + 'static {}
impl<T: DeserializeOwned + JsonSchema + Send + 'static> Input for T {}

pub(super) trait Output: Report + Serialize + JsonSchema + 'static {}
impl<T: Report + Serialize + JsonSchema + 'static> Output for T {}

pub(super) type Prepare = Arc<dyn Fn(Value) -> Result<Work> + Send + Sync>;

pub(super) type Work = Box<dyn FnOnce(&Call) -> Result<Done> + Send>;

#[derive(Clone, Debug)]
pub(super) struct Done {
    pub(super) json: Vec<u8>,
    pub(super) outcome: Outcome,
    /// The version that clients send as `If-Match`.
    pub(super) version: Option<String>,
}

pub(super) fn prepare<Q: Input, R: Output>(
    operation: impl Fn(&Call, &Q) -> Result<R> + Copy + Send + Sync + 'static,
    version: fn(&R) -> Option<String>,
) -> Prepare {
    Arc::new(move |parameters| {
        let request = serde_json::from_value::<Q>(parameters).map_err(no_sense)?;
        let work = move |call: &Call| {
            let report = operation(call, &request)?;
            Ok(Done {
                json: to_json(&report)?,
                outcome: report.outcome(),
                version: version(&report),
            })
        };
        Ok(Box::new(work) as Work)
    })
}

pub(super) fn to_json(report: &impl Serialize) -> Result<Vec<u8>> {
    serde_json::to_vec(report)
        .map_err(|error| OpError::failed(format!("Could not write the report: {error}")))
}

#[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
pub(super) fn no_sense(error: serde_json::Error) -> OpError {
    let message = error.to_string();
    let is_meant = |name: &&str| message.contains(&format!("unknown field `{name}`"));
    let hint = ["project", "wait"].into_iter().find(is_meant);
    let hint = hint.map(|name| format!("`{name}` goes in the query: ?{name}=VALUE"));
    let hints = hint.into_iter().collect();
    OpError { hints, ..OpError::usage(format!("Invalid request: {message}")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_of_the_query_is_not_one_of_the_body() {
        let body = serde_json::json!({ "wait": true });
        let error = serde_json::from_value::<nacre_types::DeltaRequest>(body).unwrap_err();
        assert_eq!(no_sense(error).hints, ["`wait` goes in the query: ?wait=VALUE"]);
    }

    #[test]
    fn only_what_is_built_in_is_served() {
        assert!(asset("/").is_some());
        for path in ["/../Cargo.toml", "/assets/../index.html", "//index.html", "/etc/passwd", ""] {
            assert!(asset(path).is_none(), "{path}");
        }
    }
}
