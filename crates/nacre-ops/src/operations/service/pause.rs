//! Whether a person paused what the server does by itself: kept in a file, so that a restart does not resume it.

use nacre_core::safefs::{Access, RelPath, WriteScope};

use super::{MAX_BYTES, PAUSED, RUN_FOLDER};
use crate::error::OpError;
use crate::host::Host;

const YES: &[u8] = b"yes\n";
const NO: &[u8] = b"no\n";

/// What the file says; a service without one is not paused.
pub fn is_paused(host: &Host) -> Result<bool, OpError> {
    let run = match WriteScope::open_inside(host.home()?, RUN_FOLDER, Access::Private) {
        Err(error) if error.is_missing() => return Ok(false),
        run => run?,
    };
    Ok(run.read_optional(&RelPath::new(PAUSED)?, MAX_BYTES)?.as_deref() == Some(YES))
}

/// Keeps it for this server and the next one.
pub fn set_paused(host: &Host, is_paused: bool) -> Result<(), OpError> {
    host.home_scope()?;
    let run = WriteScope::create_inside(host.home()?, RUN_FOLDER, Access::Private)?;
    let text = if is_paused { YES } else { NO };
    Ok(run.put_output(&RelPath::new(PAUSED)?, text, &host.owner("serve"))?)
}
