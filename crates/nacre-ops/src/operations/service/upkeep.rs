//! What the server keeps up to date by itself besides memories: indexes, and the maps of projects in use.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use nacre_core::catalog::{SessionFilter, TraceGlance, glance};
use nacre_postgres::queue::SharedQueue;

use crate::error::OpError;
use crate::events::Events;
use crate::host::{Host, connections, open_catalog};
use crate::operations::hook::refresh_index;
use crate::operations::map::bring_up_to_date;

/// A project is in use that had a session within this time.
const IN_USE: SignedDuration = SignedDuration::from_hours(1);

/// How many projects' maps are kept at most: the ones used last.
const MAX_MAPS: usize = 8;

/// What is known of all traces from their sizes and times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceChanges(TraceGlance);

impl TraceChanges {
    /// When a trace was last written to.
    pub fn last(&self) -> Option<Timestamp> {
        self.0.newest
    }
}

/// Looks at the traces of the connected agents, and opens none.
pub fn look_at_traces(host: &Host) -> Result<TraceChanges, OpError> {
    Ok(TraceChanges(glance(&connections(host, &[])?)))
}

/// Whether the queue that servers share holds something that this one can read now; never where none is shared.
pub fn has_due_sessions(host: &Host) -> Result<bool, OpError> {
    let Some(database) = host.database()? else { return Ok(false) };
    let queue = SharedQueue::open(&database)?.for_server(&host.server_id()?);
    Ok(queue.is_due(host.now())?)
}

/// Brings the index of every registered project and of the global memories up to date; returns how many were looked at. One
/// that cannot be used is reported, and the others go on.
pub fn keep_indexes(host: &Host, events: &Events) -> Result<usize, OpError> {
    let mut n_kept = 0;
    let projects = host.projects.iter().map(|project| host.store_at(&project.path));
    let global = host.global_store().transpose();
    for found in projects.chain(global) {
        events.cancel().check()?;
        let kept = found
            .and_then(|scoped| host.searchable(scoped, "serve"))
            .and_then(|searchable| refresh_index(host, &searchable));
        match kept {
            Ok(_) => n_kept += 1,
            Err(error) => events.warning(&error.message, error.hints.first().map(String::as_str)),
        }
    }
    Ok(n_kept)
}

/// Brings the maps of projects in use up to date; returns how many.
pub fn keep_maps(host: &Host, events: &Events) -> Result<usize, OpError> {
    let mut n_kept = 0;
    for root in in_use(host)? {
        events.cancel().check()?;
        match bring_up_to_date(host, &root, events) {
            Ok(()) => n_kept += 1,
            Err(error) => events.warning(&error.message, error.hints.first().map(String::as_str)),
        }
    }
    Ok(n_kept)
}

/// The roots of registered projects in which an agent worked lately.
fn in_use(host: &Host) -> Result<Vec<String>, OpError> {
    let since = host.now().checked_sub(IN_USE).unwrap_or(Timestamp::UNIX_EPOCH);
    let filter =
        SessionFilter { agent: None, project: None, since: Some(since), until: None, limit: None };
    let mut seen = BTreeSet::new();
    let mut roots = Vec::new();
    for session in open_catalog(host)?.sessions(&filter)? {
        let Some(root) = session.project else { continue };
        let is_registered =
            host.projects.iter().any(|project| project.path.as_os_str() == root.as_str());
        if is_registered && seen.insert(root.clone()) {
            roots.push(root);
        }
    }
    roots.truncate(MAX_MAPS);
    Ok(roots)
}
