//! Prepares the database, and moves the queue there and back. What is found by searches is made from files there, too.
//!
//! What is moved is not taken away where it was: the files of this machine stay, and so do the rows of the database.

use nacre_api::wire::{MoveStores, MovedStores, ServerMigrateReport, ServerMigrateRequest};
use nacre_core::catalog::{JobQueue as _, QueueFilter};
use nacre_postgres::database::{Database, Migration};
use nacre_postgres::queue::SharedQueue;

use crate::error::OpError;
use crate::events::Events;
use crate::host::{Host, open_catalog};
use crate::operations::shared_index::feed;

/// Sessions that are moved in one transaction.
const BATCH: usize = 1000;

pub fn migrate(
    host: &Host,
    request: &ServerMigrateRequest,
    events: &Events,
) -> Result<ServerMigrateReport, OpError> {
    let database = host.needed_database()?;
    let Migration { from, to, steps } = database.migrate()?;
    let moved = match request.r#move {
        Some(MoveStores::FromEmbedded) => Some(from_embedded(host, &database, events)?),
        Some(MoveStores::ToEmbedded) => Some(to_embedded(host, &database)?),
        None => None,
    };
    let next = match request.r#move {
        Some(MoveStores::ToEmbedded) => "nacre config set --unset server.database",
        Some(MoveStores::FromEmbedded) | None => "nacre up",
    };
    let steps = steps.into_iter().map(str::to_owned).collect();
    Ok(ServerMigrateReport { from, to, steps, moved, next: next.to_owned() })
}

/// Offers every session of this machine with where it stands here, and takes the memories of its projects into the shared index. What other servers know of a session already stays.
fn from_embedded(
    host: &Host,
    database: &Database,
    events: &Events,
) -> Result<MovedStores, OpError> {
    let mut catalog = open_catalog(host)?;
    let mut queue = SharedQueue::open(database)?.for_server(&host.server_id()?);
    // What a sync that died held on this machine waits.
    catalog.give_back("", host.now())?;
    let offered = catalog.offered(0)?;
    queue.offer(&offered)?;
    let jobs = catalog.jobs(&QueueFilter::default())?;
    for batch in jobs.chunks(BATCH) {
        queue.take_runs(batch)?;
    }
    let memories = feed(host, events)? as u64;
    let direction = MoveStores::FromEmbedded;
    Ok(MovedStores { direction, sessions: offered.len() as u64, memories })
}

/// Takes over where the sessions of this machine stand in the database.
fn to_embedded(host: &Host, database: &Database) -> Result<MovedStores, OpError> {
    let jobs = SharedQueue::open(database)?.jobs(&QueueFilter::default())?;
    let sessions = open_catalog(host)?.adopt(&jobs)? as u64;
    Ok(MovedStores { direction: MoveStores::ToEmbedded, sessions, memories: 0 })
}
