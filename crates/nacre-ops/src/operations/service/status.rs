//! Whether the server of this home runs, without asking it.

use std::time::Duration;

use nacre_api::wire::ServiceStatus;
use nacre_core::safefs::{Access, FsError, WriteScope};

use super::{LOCK_FOLDER, RUN_FOLDER, find, is_paused};
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

/// Whether a server holds the lock of this home; where it cannot be known, none does.
pub(super) fn is_held(host: &Host) -> Result<bool, OpError> {
    let run = host.home()?.join(RUN_FOLDER);
    let lock = WriteScope::open_inside(&run, LOCK_FOLDER, Access::Private)
        .and_then(|place| place.lock(&host.owner("status"), Duration::ZERO).map(drop));
    Ok(matches!(lock, Err(FsError::Busy { .. })))
}
