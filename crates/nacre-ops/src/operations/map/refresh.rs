//! Reads all code of a project again and brings its map up to date.

use nacre_api::wire::{DeltaReport, MapCommand, RefreshRequest, Since};
use nacre_map::indexer::{Verify, WordCounting};

use super::changes::Page;
use super::code_map::{CodeMap, MapAccess};
use super::wire;
use crate::error::OpError;
use crate::events::Events;
use crate::host::{Host, as_task};

/// Refreshes the map as a task; one that is cancelled keeps what it had read.
pub fn refresh(
    host: &Host,
    request: &RefreshRequest,
    events: &Events,
) -> Result<DeltaReport, OpError> {
    as_task(host, ("refresh", "Read all code again"), events, |events| {
        read_all(host, request, events)
    })
}

fn read_all(
    host: &Host,
    request: &RefreshRequest,
    events: &Events,
) -> Result<DeltaReport, OpError> {
    let RefreshRequest { project, limit, after } = request;
    let usual = MapAccess::usual(project.as_deref());
    let (cancel, told) = (Some(events.cancel()), Some(events));
    let access = MapAccess { trust: Verify::Contents, cancel, events: told, ..usual };
    events.step("Reading the code");
    let map = CodeMap::open(host, access, "refresh")?;
    events.cancel().check()?;
    map.warn_of_postponed(events);
    let before = map.current.before.map(wire::revision);
    let since = before.map_or(Since::Beginning, Since::Revision);
    let delta = match map.delta(&since) {
        Ok(delta) => delta,
        // The revision before belongs to an artifact that could not be read to its end.
        Err(_) => map.delta(&Since::Beginning)?,
    };
    let delta = map.page(since, delta, Page::new(*limit, after.as_ref()));
    Ok(DeltaReport { map: map.header(MapCommand::Refresh), delta })
}

/// Brings the map of the project at `root` up to date, with the words of its files, so that the next question need not.
pub(in crate::operations) fn bring_up_to_date(
    host: &Host,
    root: &str,
    events: &Events,
) -> Result<(), OpError> {
    let (cancel, words) = (Some(events.cancel()), WordCounting::Now);
    let access = MapAccess { cancel, words, ..MapAccess::usual(Some(root)) };
    let map = CodeMap::open(host, access, "serve")?;
    // Others may have looked without counting.
    map.bags(&map.current.artifact.files());
    Ok(())
}
