//! Whether the server of this home runs, without asking it.

use nacre_api::wire::ServiceStatus;

use super::find::is_held;
use super::{find, is_paused};
use crate::error::OpError;
use crate::host::Host;

/// The server that runs; an address whose lock nobody holds was left by one that was killed.
pub(crate) fn service_status(host: &Host) -> Result<Option<ServiceStatus>, OpError> {
    if host.home.is_none() {
        return Ok(None);
    }
    let Some(found) = find(host)? else { return Ok(None) };
    if !is_held(host)? {
        return Ok(None);
    }
    Ok(Some(ServiceStatus { address: found.address, paused: is_paused(host)? }))
}
