//! One leader among several servers: who holds an advisory lock of the database.

use std::fmt;

use tokio_postgres::Client;

use super::error::DatabaseError;
use super::pool::Database;

/// Held by the server that does what only one is to do.
const LOCK: i64 = 0x6e61_6372_65ff;

/// The place of the leader. It ends with its connection: when this value is dropped, the process dies or the database restarts.
pub struct Leadership {
    database: Database,
    client: Client,
}

impl Database {
    /// Becomes the leader; `None` where another server is.
    pub fn try_lead(&self) -> Result<Option<Leadership>, DatabaseError> {
        let (client, connection) = self.connect_apart()?;
        self.spawn(async move { drop(connection.await) });
        let leadership = Leadership { database: self.clone(), client };
        let is_leader: bool = leadership.ask("SELECT pg_try_advisory_lock($1)")?;
        Ok(is_leader.then_some(leadership))
    }
}

impl Leadership {
    /// Whether it is still held: the connection that holds it answers.
    pub fn is_held(&self) -> bool {
        let sql = "SELECT EXISTS (SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid() AND granted
          AND ((classid::bigint << 32) | objid::bigint) = $1)";
        !self.client.is_closed() && self.ask(sql).unwrap_or(false)
    }

    fn ask(&self, sql: &str) -> Result<bool, DatabaseError> {
        self.database.wait_within(async {
            let row = self.client.query_one(sql, &[&LOCK]).await?;
            Ok(row.get(0))
        })
    }
}

impl fmt::Debug for Leadership {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Leadership").finish_non_exhaustive()
    }
}
