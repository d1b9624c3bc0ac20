//! The ids of memories, changes and sessions that begin with what a person typed, for a shell.
//!
//! Best effort: what cannot be read gives no ids, and no error stands between a person and their prompt.

use nacre_api::wire::{CompleteReport, CompleteRequest};
use nacre_core::catalog::Catalog;
use nacre_engine::flows::change::changes;

use crate::error::OpError;
use crate::host::Host;

/// More ids help nobody to choose.
const MAX_IDS: usize = 200;

pub fn complete(host: &Host, request: &CompleteRequest) -> Result<CompleteReport, OpError> {
    let prefix = request.prefix.as_str();
    let mut ids = Vec::new();
    for scoped in host.stores_to_read(None).unwrap_or_default() {
        let located = scoped.store.located().unwrap_or_default();
        ids.extend(located.into_iter().map(|at| at.id.to_string()));
        ids.extend(changes(&scoped.store).unwrap_or_default().into_iter().map(|change| change.id));
    }
    ids.extend(sessions(host, prefix));
    ids.retain(|id| id.starts_with(prefix));
    ids.truncate(MAX_IDS);
    Ok(CompleteReport { ids })
}

/// The keys of sessions, where there is a catalog: none is made for this.
fn sessions(host: &Host, prefix: &str) -> Vec<String> {
    let home = host.home.as_ref().filter(|_| host.caller.permissions.allow_everything());
    let file = home.map(|home| home.join("catalog.sqlite3"));
    let catalog = file.filter(|file| file.is_file()).and_then(|file| Catalog::open(&file).ok());
    catalog.and_then(|catalog| catalog.keys_starting(prefix).ok()).unwrap_or_default()
}
