//! Passes operations to the running local server, so that its clients see the events and only one
//! process writes. Reports are the same with and without a server.

use std::time::Duration;

use nacre_ops::host::{has_own_key, has_own_settings};
use nacre_ops::{Events, Host, OpError, Result, service};
use nacre_server::client::{Client, ClientError};
use nacre_types::{ErrorCode, HealthReport};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::ui::Ui;

/// Timeout for requests that the server can answer without doing any work.
pub(super) const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

/// Sends a request to the server, or calls `here` if no server is running.
pub(super) fn by_server_or<Q: Serialize, R: DeserializeOwned>(
    server: Option<Client>,
    endpoint: &str,
    request: &Q,
    events: &Events,
    here: impl FnOnce(&Events) -> Result<R>,
) -> Result<R> {
    let Some((client, (verb, path))) = server.zip(endpoint.split_once(' ')) else {
        return here(events);
    };
    let cancel = events.cancel().clone();
    let mut on_event = |event| events.emit(event);
    let is_stopped = || cancel.is_cancelled();
    match client.ask_watched(verb, path, request, &mut on_event, &is_stopped) {
        Ok(report) => Ok(report),
        Err(_) if is_stopped() => Err(OpError::cancelled()),
        // The server exited without removing its address file.
        Err(ClientError::Unreachable(_)) => here(events),
        Err(ClientError::Failed(failure)) => Err(failure.into()),
        Err(ClientError::Broken(what)) => {
            Err(OpError::new(ErrorCode::Unavailable, "The server closed the connection")
                .because(what)
                .hint("To run without the server, add --local"))
        }
    }
}

/// Returns the running local server if it would behave like this process: same version, project,
/// settings and keys.
pub(super) fn server(ui: &Ui, host: &Host) -> Option<Client> {
    if ui.is_local() || has_own_settings(host) || has_own_key(host) {
        return None;
    }
    // Without a project name, the server would use its only registered project.
    let project = host.project.as_ref()?.name.clone()?;
    let client = Client::new(service::find(host).ok()??);
    let health =
        client.clone().with_timeout(ANSWER_TIMEOUT).get::<HealthReport>("/api/health", &());
    (health.ok()?.version == env!("CARGO_PKG_VERSION")).then_some(())?;
    Some(client.for_project(project))
}
