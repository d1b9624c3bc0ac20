//! How a browser is let in: a program that has the token asks for a one-time code, the page shows it, and gets a secret.

use std::time::Duration;

use http::{Response, StatusCode};
use nacre_api::wire::{ErrorCode, LoginCodeReport, LoginReport, LoginRequest};
use nacre_ops::OpError;
use nacre_ops::people::Identity;
use serde_json::Value;

use super::access::Keys;
use super::answer;
use super::body::Body;
use super::guard::Refusal;

/// A code for one browser, whose page then belongs to the caller.
pub(super) fn new_code(keys: &Keys, identity: Identity, now: Duration) -> Response<Body> {
    match keys.new_code(identity, now) {
        Ok(code) => answer::value(StatusCode::OK, &LoginCodeReport { code }),
        Err(error) => answer::failure(error),
    }
}

/// Takes a code and answers with the secret of the page.
pub(super) fn log_in(keys: &Keys, body: Value, now: Duration) -> Result<Response<Body>, Refusal> {
    let LoginRequest { code } = serde_json::from_value(body).map_err(|error| Refusal {
        status: StatusCode::BAD_REQUEST,
        error: OpError::usage(format!("The request makes no sense: {error}")),
    })?;
    match keys.log_in(&code, now) {
        Ok(Some(secret)) => Ok(answer::value(StatusCode::OK, &LoginReport { secret })),
        Ok(None) => {
            let message = "The link was used already, or is too old";
            Err(Refusal::new(StatusCode::UNAUTHORIZED, ErrorCode::Refused, message)
                .hint("Open a new one: nacre dashboard"))
        }
        Err(error) => Ok(answer::failure(error)),
    }
}
