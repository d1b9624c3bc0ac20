//! Sets all memories of a store aside, so that it starts empty. Nothing is deleted.

use nacre_api::wire::{MemoryResetReport, MemoryResetRequest};
use nacre_core::safefs::RelPath;
use nacre_engine::flows::change::Reversal;
use nacre_engine::flows::run::RunMode;

use crate::error::OpError;
use crate::events::Events;
use crate::host::Host;
use crate::operations::recording::CommandChange;

/// The path of the store that a reset would empty, for a person to confirm.
pub fn store_to_reset(host: &Host, request: &MemoryResetRequest) -> Result<String, OpError> {
    Ok(host.store_to_write(request.scope)?.store.path().display().to_string())
}

pub fn reset(
    host: &Host,
    request: &MemoryResetRequest,
    events: &Events,
) -> Result<MemoryResetReport, OpError> {
    host.check_user("reset the memories")?;
    let scoped = host.store_to_write(request.scope)?;
    let mut batch = scoped.store.begin(&host.owner("memory reset"), host.settings().lock.wait)?;
    let stamp = host.now().strftime("%Y%m%d-%H%M%S").to_string();
    let aside = RelPath::new(&format!("reset/{stamp}"))?;
    let (set_aside, left) = batch.set_aside(&aside)?;
    let command = CommandChange::new(RunMode::Memory, "memory reset");
    command.commit(host, &scoped, batch, Reversal::Moved { aside: aside.clone() })?;
    for path in &left {
        events.warning(format!("Left where it is: {path}"), None);
    }
    let path = scoped.store.path().join(aside.as_str()).display().to_string();
    Ok(MemoryResetReport { set_aside, path, left, change: command.id() })
}
