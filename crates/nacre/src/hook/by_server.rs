//! Has the server of this home answer a hook: it has the index open already, and says the same.
//!
//! Nothing is read before it is asked but the socket file. Whatever is not an answer, this process finds itself.

use std::time::Duration;

use nacre_api::wire::{ErrorCode, HookReport, HookRequest};
use nacre_ops::host::{Environment, has_own_variables};
use nacre_ops::service::{FoundService, find_socket};
use nacre_ops::{OpError, hook_deadline};
use nacre_server::control::ask_hook;

/// The share of a hook's time that the server gets; what is left is enough for this process to do it.
const SHARE: f64 = 0.4;

/// No request is larger, as the server reads it; escapes make a text longer.
const MAX_TEXT: usize = 256 << 10;

/// What the server said, and how to reach it again.
pub(super) struct ServerAnswer {
    pub(super) report: Result<HookReport, OpError>,
    pub(super) server: FoundService,
}

/// Asks the server; `None` where this process has to answer.
pub(super) fn ask(
    environment: &Environment,
    request: &HookRequest,
    n_bytes: usize,
) -> Option<ServerAnswer> {
    // The server does not know what only this process was told.
    if n_bytes > MAX_TEXT || has_own_variables(environment) {
        return None;
    }
    let server = find_socket(environment)?;
    let patience: Duration = hook_deadline(environment).mul_f64(SHARE);
    match ask_hook(&server, request, patience) {
        Ok(report) => Some(ServerAnswer { report: Ok(report), server }),
        // It would be the same here.
        Err(error) if error.code == ErrorCode::NoProject => {
            Some(ServerAnswer { report: Err(error), server })
        }
        Err(_) => None,
    }
}
