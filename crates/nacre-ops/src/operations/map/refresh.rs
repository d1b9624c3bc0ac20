//! Reads all code of a project again and brings its map up to date.

use nacre_api::wire::{DeltaReport, MapCommand, RefreshRequest, Since};
use nacre_map::indexer::Verify;

use super::changes::Page;
use super::code_map::{CodeMap, MapAccess};
use super::wire;
use crate::error::OpError;
use crate::events::Events;
use crate::host::Host;

pub fn refresh(
    host: &Host,
    request: &RefreshRequest,
    events: &Events,
) -> Result<DeltaReport, OpError> {
    let RefreshRequest { project, limit, after } = request;
    let access = MapAccess { trust: Verify::Contents, ..MapAccess::usual(project.as_deref()) };
    let map = CodeMap::open(host, access, "refresh")?;
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
