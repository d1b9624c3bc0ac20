//! Lets go of what is too old or too much: what the limits of each part say, done where nobody waits for it.

use nacre_core::search::prune_indexes;
use nacre_engine::record::state::{Retention, State};

use crate::error::OpError;
use crate::host::{Host, empty_spill};
use crate::operations::hook::prune_sessions;

/// Returns how many tasks were let go. Logs make room for themselves, and run folders are pruned by the runs.
pub fn prune(host: &Host) -> Result<u64, OpError> {
    let home = host.home_scope()?;
    let (owner, wait) = (host.owner("serve"), host.settings().lock.wait);
    empty_spill(host, &home);
    prune_sessions(host)?;
    prune_indexes(host.home()?, &owner, wait, host.now().into())?;
    let mut state = State::open(&home, &owner, wait)?;
    Ok(state.trim(&Retention::default(), host.now())?.n_tasks)
}
