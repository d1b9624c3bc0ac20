//! Finds the server of this home, where one runs.
//!
//! A server that was killed leaves its address, and anybody may listen there since. So the socket file is the way where there is
//! one: only the person can make it. The token is given out only for a server that holds the lock of this home.

#[cfg(unix)]
use std::path::PathBuf;
use std::time::Duration;

use nacre_core::safefs::{Access, FsError, RelPath, WriteScope};

use super::{ADDRESS, LOCK_FOLDER, MAX_BYTES, RUN_FOLDER, TOKEN};
use crate::error::OpError;
use crate::host::{Environment, Host};

/// How to reach the server, as it was told. Whether it is there, asking says.
#[derive(Clone, PartialEq, Eq)]
pub struct FoundService {
    /// As `host:port`.
    pub address: String,
    pub door: Door,
}

/// By which way the server is asked.
#[derive(Clone, PartialEq, Eq)]
pub enum Door {
    /// The socket file, in a folder that is the person's alone: whoever answers there is theirs.
    #[cfg(unix)]
    Socket(PathBuf),
    /// The port, where there is no socket file.
    Port { token: String },
}

impl std::fmt::Debug for FoundService {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FoundService").field("address", &self.address).finish_non_exhaustive()
    }
}

/// The same for somebody who must not wait, by the socket file alone: no settings are read for it.
#[cfg(unix)]
pub fn find_socket(environment: &Environment) -> Option<FoundService> {
    let home = environment.nacre_home()?;
    let run = WriteScope::open_inside(&home, RUN_FOLDER, Access::Private).ok()?;
    let socket = run.path().join(super::SOCKET);
    let found = FoundService { address: "localhost".to_owned(), door: Door::Socket(socket) };
    matches!(&found.door, Door::Socket(socket) if socket.exists()).then_some(found)
}

/// There is no socket file on this system.
#[cfg(not(unix))]
pub fn find_socket(_environment: &Environment) -> Option<FoundService> {
    None
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
    // The token before the address: a server that starts takes the old address away before it writes its token, so that a new
    // token never goes to an old address.
    let (Some(token), Some(address)) = (read(TOKEN)?, read(ADDRESS)?) else { return Ok(None) };
    #[cfg(unix)]
    {
        let socket = run.path().join(super::SOCKET);
        if socket.exists() {
            return Ok(Some(FoundService { address, door: Door::Socket(socket) }));
        }
    }
    let held = is_held(host)?;
    Ok(held.then_some(FoundService { address, door: Door::Port { token } }))
}

/// Whether a server holds the lock of this home; where it cannot be known, none does.
pub(super) fn is_held(host: &Host) -> Result<bool, OpError> {
    let run = host.home()?.join(RUN_FOLDER);
    let lock = WriteScope::open_inside(&run, LOCK_FOLDER, Access::Private)
        .and_then(|place| place.lock(&host.owner("status"), Duration::ZERO).map(drop));
    Ok(matches!(lock, Err(FsError::Busy { .. })))
}
