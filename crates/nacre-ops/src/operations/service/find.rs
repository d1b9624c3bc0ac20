//! Finds the server of this home, where one runs.

use std::path::PathBuf;

use nacre_core::safefs::{Access, RelPath, WriteScope};

use super::{ADDRESS, MAX_BYTES, RUN_FOLDER, TOKEN};
use crate::error::OpError;
use crate::host::Host;

/// How to reach the server, as it was told. Whether it is there, asking says.
#[derive(Clone, PartialEq, Eq)]
pub struct FoundService {
    /// As `host:port`.
    pub address: String,
    pub token: String,
    pub socket: Option<PathBuf>,
}

impl std::fmt::Debug for FoundService {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FoundService").field("address", &self.address).finish_non_exhaustive()
    }
}

/// The server of this home, where one told its address.
pub fn find(host: &Host) -> Result<Option<FoundService>, OpError> {
    let run = match WriteScope::open_inside(host.home()?, RUN_FOLDER, Access::Private) {
        Err(error) if error.is_missing() => return Ok(None),
        run => run?,
    };
    let read = |name: &str| -> Result<Option<String>, OpError> {
        let bytes = run.read_optional(&RelPath::new(name)?, MAX_BYTES)?;
        Ok(bytes.and_then(|bytes| String::from_utf8(bytes).ok()))
    };
    let (Some(address), Some(token)) = (read(ADDRESS)?, read(TOKEN)?) else { return Ok(None) };
    #[cfg(unix)]
    let socket = Some(run.path().join(super::SOCKET)).filter(|path| path.exists());
    #[cfg(not(unix))]
    let socket = None;
    Ok(Some(FoundService { address, token, socket }))
}
