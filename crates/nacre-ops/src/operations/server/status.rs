//! Looks at the database: whether it answers, its schema, and what waits in its queue.

use std::collections::BTreeMap;

use nacre_api::wire::{DatabaseState, DatabaseStatus, ServerStatusReport, ServerStatusRequest};
use nacre_core::catalog::JobQueue as _;
use nacre_postgres::database::NEWEST;
use nacre_postgres::queue::SharedQueue;

use crate::error::OpError;
use crate::host::Host;

pub fn status(host: &Host, request: &ServerStatusRequest) -> Result<ServerStatusReport, OpError> {
    let ServerStatusRequest {} = request;
    let database = host.needed_database()?;
    let seen = host.database_status();
    let seen = seen.ok_or_else(|| OpError::failed("No database is set"))?;
    let schema = match seen.state {
        DatabaseState::Away => None,
        DatabaseState::Connected | DatabaseState::Slow | DatabaseState::Unusable => {
            database.schema_version().ok()
        }
    };
    let mut sessions = BTreeMap::new();
    if seen.state.is_usable() {
        for counts in SharedQueue::open(&database)?.counts()?.values() {
            for (state, n_found) in &counts.by_state {
                *sessions.entry(state.as_str().to_owned()).or_default() += n_found;
            }
        }
    }
    let next = next(&seen, schema);
    let server = host.server_id()?;
    Ok(ServerStatusReport { database: seen, schema, needed_schema: NEWEST, sessions, server, next })
}

fn next(seen: &DatabaseStatus, schema: Option<i32>) -> Option<String> {
    let command = match schema {
        Some(found) if found < NEWEST => "nacre server migrate",
        Some(_) if seen.state.is_usable() => "nacre up",
        Some(_) => return None,
        None => "nacre config get server.database",
    };
    Some(command.to_owned())
}
