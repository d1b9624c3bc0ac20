//! Holds the lock of the one server, and tells others how to reach it.
//!
//! The lock has a folder of its own: a sync locks `run/` while it works, and the server runs syncs.

use std::path::PathBuf;
use std::time::Duration;

use nacre_core::safefs::{Access, Owner, RelPath, WriteScope, Writer};

use super::{ADDRESS, LOCK_FOLDER, RUN_FOLDER, TOKEN};
use crate::error::OpError;
use crate::host::Host;

const TOKEN_BYTES: usize = 32;

/// Who only looks whether a server runs holds the lock for a moment.
const LOCK_PATIENCE: Duration = Duration::from_millis(200);

/// How long another writer of the global folder is waited for.
const PATIENCE: Duration = Duration::from_secs(2);

/// The place of the one server, held while this lives.
pub struct HeldService<'h> {
    _lock: Writer<'h>,
    run: &'h WriteScope,
    home: WriteScope,
    owner: Owner,
    token: String,
}

/// Runs `work` as the one server of this home; another one is named in the error.
pub fn hold<T>(
    host: &Host,
    work: impl FnOnce(&HeldService<'_>) -> Result<T, OpError>,
) -> Result<T, OpError> {
    let home = host.home_scope()?;
    let run = WriteScope::create_inside(host.home()?, RUN_FOLDER, Access::Private)?;
    let place = WriteScope::create_inside(run.path(), LOCK_FOLDER, Access::Private)?;
    let owner = host.owner("serve");
    let lock = place.lock(&owner, LOCK_PATIENCE).map_err(|error| {
        let mut error = OpError::from(error);
        error.hints = vec!["Use that one, or stop it first: nacre down".to_owned()];
        error
    })?;
    let mut held = HeldService { _lock: lock, run: &run, home, owner, token: String::new() };
    held.withdraw()?;
    // Only now: whoever reads the new token finds no old address after it.
    held.token = new_token(host, &run, &held.owner)?;
    let result = work(&held);
    // A stale address is known by its silence.
    let _ = held.withdraw();
    result
}

impl HeldService<'_> {
    /// What proves that a request is the person's.
    pub fn token(&self) -> &str {
        &self.token
    }

    /// Tells others where the server listens.
    pub fn announce(&self, address: &str) -> Result<(), OpError> {
        Ok(self.run.put_output(&RelPath::new(ADDRESS)?, address.as_bytes(), &self.owner)?)
    }

    /// Where the socket file is to be made; nothing where the path is too long for one.
    #[cfg(unix)]
    pub fn socket_path(&self) -> Option<PathBuf> {
        /// What every system takes.
        const MAX_SOCKET_PATH: usize = 100;
        let path = self.run.path().join(super::SOCKET);
        (path.as_os_str().len() <= MAX_SOCKET_PATH).then_some(path)
    }

    /// Takes away what an earlier server left.
    fn withdraw(&self) -> Result<(), OpError> {
        let left = left_files()?;
        let is_left = |path: &RelPath| self.home.full(path).symlink_metadata().is_ok();
        if !left.iter().any(is_left) {
            return Ok(());
        }
        let writer = self.home.lock(&self.owner, PATIENCE)?;
        for path in &left {
            match writer.remove_derived(path) {
                Err(error) if !error.is_missing() => return Err(error.into()),
                _ => {}
            }
        }
        Ok(())
    }
}

/// What a server leaves in the global folder when it is killed.
fn left_files() -> Result<Vec<RelPath>, OpError> {
    let run = RelPath::new(RUN_FOLDER)?;
    let names = [
        ADDRESS,
        #[cfg(unix)]
        super::SOCKET,
    ];
    Ok(names.iter().map(|name| run.join(name)).collect::<Result<_, _>>()?)
}

/// A new token, so that one that somebody got hold of is worth nothing after a restart. Clients read it anew.
fn new_token(host: &Host, run: &WriteScope, owner: &Owner) -> Result<String, OpError> {
    let mut bytes = [0; TOKEN_BYTES];
    (host.environment.random)(&mut bytes)
        .map_err(|error| OpError::failed(format!("The system gives no random bytes: {error}")))?;
    let token: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    run.put_output(&RelPath::new(TOKEN)?, token.as_bytes(), owner)?;
    Ok(token)
}
