//! The maps that a process with many calls keeps open, each with a watch: where nothing happened, no file is looked at.
//!
//! A map is taken by one call at a time. One that comes meanwhile opens the map as a command does, so that nobody waits for another.

use nacre_api::wire::MapCommand;
use nacre_map::artifact::Project;
use nacre_map::indexer::{CacheWrites, Verify};
use nacre_map::watch::{Live, Watch};

use super::code_map::{CodeMap, MapAccess, counting_for, progress, root_of, settings_of};
use crate::error::OpError;
use crate::events::Events;
use crate::host::Host;

/// A map that stays open.
struct KeptMap {
    map: CodeMap,
    live: Live,
}

/// Answers a question from the map that `access` names, up to date.
pub(super) fn ask<T>(
    host: &Host,
    access: MapAccess<'_>,
    command: MapCommand,
    events: &Events,
    answer: impl FnOnce(&mut CodeMap) -> Result<T, OpError>,
) -> Result<T, OpError> {
    let is_usual = access.trust == Verify::Stamps && access.keeping == CacheWrites::On;
    if !is_usual || !host.shared().keeps_work() {
        return answer(&mut CodeMap::open_to_ask(host, access, command, events)?);
    }
    let root = root_of(host, access.project)?;
    let settings_of = settings_of(host, access.project, &Project::at(root.clone()).root);
    let kept = host.shared().take_work::<KeptMap>(&root);
    let kept = kept.filter(|kept| kept.map.settings_of == settings_of);
    let mut kept = match kept.and_then(|kept| kept.caught_up(host, command, events)) {
        Some(kept) => kept,
        None => {
            let map = CodeMap::open_to_ask(host, access, command, events)?;
            // Nobody is woken: each call asks what happened.
            let live = Live::new(Watch::new(&map.current.project.root, || {}));
            KeptMap { map, live }
        }
    };
    let answered = answer(&mut kept.map);
    host.shared().keep_work(&root, kept);
    answered
}

impl KeptMap {
    /// The map as the disk is now; `None` where it has to be opened anew.
    fn caught_up(mut self, host: &Host, command: MapCommand, events: &Events) -> Option<Self> {
        events.step("Reading the code");
        self.map.options.progress = progress(events);
        self.map.options.words = counting_for(command);
        self.map.update(host, &mut self.live).ok()?;
        self.map.warn_of_loss(events);
        self.map.warn_of_postponed(events);
        Some(self)
    }
}
