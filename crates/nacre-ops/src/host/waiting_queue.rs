//! Where sessions wait: in the catalog of this machine, or in the database that several servers share.
//!
//! The catalog is the machine's own in both cases: it knows the traces that can be read here. Which server reads one is decided by
//! the queue.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use nacre_core::catalog::{Catalog, CatalogError, JobQueue, SessionRow, WaitingSessions};
use nacre_postgres::queue::SharedQueue;

use super::{Host, open_catalog};
use crate::error::OpError;

/// By rules a session takes seconds, by a slow model hours; a holder on this machine that needs longer than this is gone.
const LOCAL_LEASE: Duration = Duration::from_secs(12 * 3600);

/// A lease of the shared queue is kept by a sign of life every few seconds, so that others soon take what a dead server held.
pub(crate) const SHARED_LEASE: Duration = Duration::from_secs(12);

/// What the tokens of a sync begin with.
const TOKEN: &str = "sync-";

/// What was decided a moment ago may be written a moment later.
const OFFER_OVERLAP: SignedDuration = SignedDuration::from_mins(2);

/// The queue, and the catalog that it is filled from.
pub(crate) struct WaitingQueue {
    pub(crate) catalog: Catalog,
    shared: Option<SharedPart>,
}

struct SharedPart {
    queue: SharedQueue,
    server: String,
}

/// Opens the queue of this machine, or the one that it shares.
pub(crate) fn open_queue(host: &Host) -> Result<WaitingQueue, OpError> {
    let catalog = open_catalog(host)?;
    let shared = match host.database()? {
        Some(database) => {
            let server = host.server_id()?;
            let queue = SharedQueue::open(&database)?.for_server(&server);
            Some(SharedPart { queue, server })
        }
        None => None,
    };
    Ok(WaitingQueue { catalog, shared })
}

impl WaitingQueue {
    /// The queue of this machine alone.
    pub(crate) fn local(catalog: Catalog) -> Self {
        Self { catalog, shared: None }
    }

    /// The queue itself.
    pub(crate) fn jobs(&mut self) -> &mut dyn JobQueue {
        match &mut self.shared {
            Some(shared) => &mut shared.queue,
            None => &mut self.catalog,
        }
    }

    /// The shared queue, where there is one.
    pub(crate) fn shared(&self) -> Option<&SharedQueue> {
        self.shared.as_ref().map(|shared| &shared.queue)
    }

    /// Offers what this machine decided about since it last did.
    pub(crate) fn offer(&mut self, host: &Host) -> Result<(), OpError> {
        let Some(shared) = &mut self.shared else { return Ok(()) };
        let now = host.now();
        let since = host.offered_since().and_then(|since| since.checked_sub(OFFER_OVERLAP).ok());
        let since = since.map_or(0, Timestamp::as_millisecond);
        shared.queue.offer(&self.catalog.offered(since)?)?;
        host.note_offered_until(now);
        Ok(())
    }

    /// What the tokens of this machine's syncs begin with.
    pub(crate) fn token_prefix(&self) -> String {
        match &self.shared {
            Some(shared) => format!("{TOKEN}{}-", shared.server),
            None => TOKEN.to_owned(),
        }
    }

    pub(crate) fn lease(&self) -> Duration {
        if self.shared.is_some() { SHARED_LEASE } else { LOCAL_LEASE }
    }

    /// The session of a claim; `None` where this machine cannot read it, which the shared queue then knows.
    pub(crate) fn session(&mut self, key: &str) -> Result<Option<SessionRow>, CatalogError> {
        match (self.catalog.session(key), &mut self.shared) {
            (Err(CatalogError::UnknownTrace { .. }), Some(shared)) => {
                shared.queue.cannot_read(key)?;
                Ok(None)
            }
            (found, _) => found.map(Some),
        }
    }

    /// What waits, and the folders of this machine that belong to no project.
    pub(crate) fn waiting(&self, now: Timestamp) -> Result<WaitingSessions, CatalogError> {
        let local = self.catalog.waiting(now)?;
        match &self.shared {
            None => Ok(local),
            Some(shared) => {
                let waiting = shared.queue.waiting(now)?;
                Ok(WaitingSessions { unregistered: local.unregistered, ..waiting })
            }
        }
    }

    /// The keys of sessions that begin with `start`.
    pub(crate) fn keys_starting(&self, start: &str) -> Result<Vec<String>, CatalogError> {
        match &self.shared {
            Some(shared) => shared.queue.keys_starting(start),
            None => self.catalog.keys_starting(start),
        }
    }
}
