//! The leader's lock, held by a separate connection.

use tokio_postgres::Client;

use super::error::Result;
use super::pool::Database;

const LEADER_LOCK: i64 = 0x6e61_6372_65ff;

/// An advisory lock. PostgreSQL releases the lock when the connection closes.
pub struct Leadership {
    database: Database,
    client: Client,
}

impl Database {
    /// Returns `None` if another server is the leader.
    pub fn try_lead(&self) -> Result<Option<Leadership>> {
        let (client, connection) = self.connect_apart()?;
        self.spawn(async move { drop(connection.await) });
        let leadership = Leadership { database: self.clone(), client };
        let is_leader: bool = leadership.ask("SELECT pg_try_advisory_lock($1)")?;
        Ok(is_leader.then_some(leadership))
    }
}

impl Leadership {
    /// Returns whether the connection that holds the lock still responds.
    pub fn is_held(&self) -> bool {
        let sql = "SELECT EXISTS (SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid() AND granted
          AND ((classid::bigint << 32) | objid::bigint) = $1)";
        !self.client.is_closed() && self.ask(sql).unwrap_or(false)
    }

    fn ask(&self, sql: &str) -> Result<bool> {
        self.database.wait_within(async {
            let row = self.client.query_one(sql, &[&LEADER_LOCK]).await?;
            Ok(row.get(0))
        })
    }
}

nacre_base::debug_only!(Leadership {});
