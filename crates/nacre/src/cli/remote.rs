//! Lets the server of this home do the work, where one runs: what it does is seen by everybody who looks at it, and one process
//! writes. The report is the same, so that nobody can tell by what is printed.

use std::time::Duration;

use nacre_api::client::{Client, ClientError};
use nacre_api::wire::ErrorCode;
use nacre_ops::host::{has_own_key, has_own_settings};
use nacre_ops::service::{self, Door, FoundService};
use nacre_ops::{Events, Host, OpError};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::ui::Ui;

/// How long a server may take to say what it has at hand.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

/// A request for the server, or for this process.
pub(super) struct Asked<'a, Q> {
    /// As the table of routes has it.
    pub(super) route: (&'static str, &'static str),
    pub(super) request: &'a Q,
    /// Whether it names a file, which only this process reads.
    pub(super) names_file: bool,
}

/// Carries a request out by the server, or by `here`.
pub(super) fn by_server_or<Q: Serialize, R: DeserializeOwned>(
    (ui, host): (&Ui, &Host),
    asked: &Asked<'_, Q>,
    events: &Events,
    here: impl FnOnce() -> Result<R, OpError>,
) -> Result<R, OpError> {
    let found = (!asked.names_file).then(|| server(ui, host)).flatten();
    let Some(client) = found else { return here() };
    let cancel = events.cancel().clone();
    let mut on_event = |event| events.emit(event);
    let is_stopped = || cancel.is_cancelled();
    match client.ask_watched(asked.route, asked.request, (&mut on_event, &is_stopped)) {
        Ok(report) => Ok(report),
        Err(_) if is_stopped() => Err(OpError::cancelled()),
        // It ended without taking its address away.
        Err(ClientError::Unreachable(_)) => here(),
        Err(ClientError::Failed { failure, .. }) => Err(failure.into()),
        Err(ClientError::Broken(what)) => Err(OpError {
            code: ErrorCode::Unavailable,
            causes: vec![what],
            ..OpError::failed("The server broke off")
        }
        .hint("Do it without the server: add --local")),
    }
}

/// The server of this home, where it would do exactly what this process does: the same version, the same project, the same
/// settings and keys.
pub(super) fn server(ui: &Ui, host: &Host) -> Option<Client> {
    if ui.is_local() || has_own_settings(host) || has_own_key(host) {
        return None;
    }
    // Without one the server would take the only one that it knows.
    let project = host.project.as_ref()?.name.clone()?;
    let found = service::find(host).ok()??;
    let client = client_of(found);
    let health = client.clone().with_patience(PATIENCE).health(&()).ok()?;
    (health.version == env!("CARGO_PKG_VERSION")).then_some(())?;
    Some(client.for_project(project))
}

/// A client of the server that was found.
pub(super) fn client_of(found: FoundService) -> Client {
    match found.door {
        #[cfg(unix)]
        Door::Socket(path) => Client::over_socket(path),
        Door::Port { token } => Client::new(found.address, token),
    }
}
