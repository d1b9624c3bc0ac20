//! The shared database in numbers, for whoever watches a server.

use nacre_postgres::database::PoolUse;
use nacre_postgres::queue::{QueueDepth, SharedQueue};

use crate::error::OpError;
use crate::host::Host;

/// What is measured of the database that servers share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DatabaseMetrics {
    /// The connections of this server.
    pub pool: PoolUse,
    /// The queue of all servers.
    pub queue: QueueDepth,
    /// For how many seconds the oldest session waits.
    pub oldest_seconds: u64,
}

/// Measures the shared database; `None` where none is set.
pub fn database_metrics(host: &Host) -> Result<Option<DatabaseMetrics>, OpError> {
    let Some(database) = host.database()? else { return Ok(None) };
    let now = host.now();
    let queue = SharedQueue::open(&database)?.depth(now)?;
    let waited = queue.oldest.map_or(0, |oldest| now.duration_since(oldest).as_secs());
    let oldest_seconds = u64::try_from(waited).unwrap_or(0);
    Ok(Some(DatabaseMetrics { pool: database.pool_use(), queue, oldest_seconds }))
}
