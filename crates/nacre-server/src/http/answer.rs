//! Reports and errors as answers.

use bytes::Bytes;
use http::header::{CONTENT_TYPE, ETAG, RETRY_AFTER};
use http::{HeaderName, HeaderValue, Response, StatusCode};
use nacre_api::wire::{ErrorReport, Outcome};
use nacre_ops::OpError;
use serde::Serialize;

use super::body::Body;
use super::guard::Refusal;
use super::route::Done;

const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// Says how an operation ended that could not do all of it.
const OUTCOME: HeaderName = HeaderName::from_static("nacre-outcome");

/// A report, with what the exit code of a command would say.
pub(super) fn report(done: Done) -> Response<Body> {
    let mut response = json(StatusCode::OK, done.json);
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

/// A value of the server's own.
pub(super) fn value(status: StatusCode, value: &impl Serialize) -> Response<Body> {
    // Wire types have only text as keys, so that writing them cannot fail.
    json(status, serde_json::to_vec(value).unwrap_or_default())
}

pub(super) fn json(status: StatusCode, json: impl Into<Bytes>) -> Response<Body> {
    let mut response = Response::new(Body::whole(json));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, JSON);
    response
}

/// An operation that could not be carried out.
pub(super) fn failure(error: OpError) -> Response<Body> {
    let status = error.code.http_status();
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    with_retry(value(status, &ErrorReport::from(error)))
}

/// A request that was not carried out at all.
pub(super) fn refusal(refusal: Refusal) -> Response<Body> {
    let Refusal { status, error } = refusal;
    let is_busy = status == StatusCode::TOO_MANY_REQUESTS;
    let mut response = with_retry(value(status, &ErrorReport::from(error)));
    if is_busy {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
    }
    response
}

/// Says when to try again what cannot be answered now.
fn with_retry(mut response: Response<Body>) -> Response<Body> {
    if response.status() == StatusCode::SERVICE_UNAVAILABLE {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
    }
    response
}
