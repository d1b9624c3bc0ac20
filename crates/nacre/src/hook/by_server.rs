//! Lets the running local server answer a hook. The response is the same but arrives sooner,
//! because the server's index is already open.
//!
//! Only the socket file is read before the request is sent. If the server does not respond, this
//! process answers instead.

use std::path::Path;
use std::time::Duration;

use nacre_ops::host::{Environment, has_own_variables};
use nacre_ops::service::find_socket;
use nacre_ops::{Result, hook_deadline};
use nacre_server::control::ask_hook;
use nacre_types::{ErrorCode, HookQuestion, HookReport, HookRequest};

/// The fraction of the hook's time limit that the server may use. The remaining time is enough for
/// this process to answer instead.
const SHARE: f64 = 0.4;

/// Longer input is handled in this process, because escaping expands the text and the server limits
/// the size of requests.
const MAX_TEXT: usize = 256 << 10;

/// Sends a question to the server. Returns `None` if this process must answer the hook itself.
pub(super) fn ask(
    environment: &Environment,
    folder: &Path,
    question: &HookQuestion,
    n_bytes: usize,
) -> Option<Result<HookReport>> {
    // The server cannot read this process's environment variables.
    if n_bytes > MAX_TEXT || has_own_variables(environment) {
        return None;
    }
    let server = find_socket(environment)?;
    let request = HookRequest {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        folder: folder.to_str()?.to_owned(),
        question: question.clone(),
    };
    let timeout: Duration = hook_deadline(environment).mul_f64(SHARE);
    match ask_hook(&server, &request, timeout) {
        // If there is no project, this process would return the same error.
        Err(error) if error.code != ErrorCode::NoProject => None,
        report => Some(report),
    }
}
