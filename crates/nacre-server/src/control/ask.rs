//! Requests to the running server.

use std::time::Duration;

use nacre_api::client::{Client, ClientError};
use nacre_api::wire::{
    ErrorCode, HealthReport, HookReport, HookRequest, LoopName, ServiceReport, WakeRequest,
};
use nacre_ops::service::{self, Door, FoundService};
use nacre_ops::{Host, OpError};

/// How long an answer may take.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);
/// The same for a hook, which must not wait.
const WAKE_TIMEOUT: Duration = Duration::from_millis(50);

/// What the server of this home says of itself; `None` where none answers.
pub fn health(host: &Host) -> Result<Option<HealthReport>, OpError> {
    let found = service::find(host)?;
    // A server that was killed leaves its address.
    Ok(found.and_then(|found| client(&found, ANSWER_TIMEOUT).health(&()).ok()))
}

/// Has a server run loops soon; `false` where it has to be done by somebody else.
pub fn wake(found: &FoundService, loops: &[LoopName]) -> bool {
    client(found, WAKE_TIMEOUT).wake(&WakeRequest { loops: loops.to_vec() }).is_ok()
}

/// Has a server answer a hook in time.
pub fn ask_hook(
    found: &FoundService,
    request: &HookRequest,
    timeout: Duration,
) -> Result<HookReport, OpError> {
    client(found, timeout).hook(request).map_err(failure)
}

pub(super) fn service_report(found: &FoundService) -> Result<ServiceReport, OpError> {
    client(found, ANSWER_TIMEOUT).service(&()).map_err(failure)
}

/// Pauses or resumes what the server does by itself.
pub(super) fn set_paused(found: &FoundService, is_paused: bool) -> Result<ServiceReport, OpError> {
    let client = client(found, ANSWER_TIMEOUT);
    if is_paused { client.pause(&()) } else { client.resume(&()) }.map_err(failure)
}

/// Asks the server to stop. It may be gone before it has answered.
pub(super) fn stop(found: &FoundService) -> Result<(), OpError> {
    client(found, ANSWER_TIMEOUT).stop(&()).map_err(failure)
}

fn client(found: &FoundService, timeout: Duration) -> Client {
    let client = match &found.door {
        #[cfg(unix)]
        Door::Socket(path) => Client::over_socket(path),
        Door::Port { token } => Client::new(&found.address, token),
    };
    client.with_patience(timeout)
}

fn failure(error: ClientError) -> OpError {
    let cause = match error {
        ClientError::Failed { failure, .. } => return failure.into(),
        ClientError::Unreachable(error) => error.to_string(),
        ClientError::Broken(what) => what,
    };
    OpError {
        code: ErrorCode::Unavailable,
        causes: vec![cause],
        ..OpError::failed("The server does not answer")
    }
    .hint("`nacre logs` shows what it wrote; `nacre up` starts one")
}
