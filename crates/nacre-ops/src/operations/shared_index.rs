//! Keeps the index that servers share up to date with the files of the projects.

use nacre_core::config::projects::Project;
use nacre_core::memory::MemoryId;
use nacre_core::search::{News, ProjectNews, RecordIndex as _, SharedUnits, place_of_shared_unit};
use nacre_postgres::search::SharedRecords;

use crate::error::OpError;
use crate::events::Events;
use crate::host::Host;

/// Takes what changed in the registered projects into the shared index; returns how many memories. Only the leader does it, and one
/// project that cannot be read is reported while the others go on.
///
/// The memories of projects that the leader does not know are taken out: the servers of a database know the same projects.
pub fn feed_shared_index(host: &Host, events: &Events) -> Result<Option<usize>, OpError> {
    if !host.has_database() || !host.is_leader()? {
        return Ok(None);
    }
    feed(host, events).map(Some)
}

/// The same, whoever leads.
pub(super) fn feed(host: &Host, events: &Events) -> Result<usize, OpError> {
    let Some(mut records) = host.shared_records()? else { return Ok(0) };
    let mut units = SharedUnits::new(records.known()?);
    let mut n_fed = 0;
    for project in host.projects.iter() {
        n_fed += feed_project(host, (&mut units, &mut records), project, events)?;
    }
    let names: Vec<&str> = host.projects.iter().map(|project| project.name.as_str()).collect();
    let forgotten = units.forget_others(&names);
    if !forgotten.gone.is_empty() {
        n_fed += apply(&mut records, forgotten)?;
    }
    Ok(n_fed)
}

/// Takes out of the shared index at once what was forgotten in the project around; returns whether it is gone. A database that is away is
/// told of it when it is back. `None` where there is no such index, or nothing of the project in it.
pub(super) fn forget_shared(
    host: &Host,
    id: &MemoryId,
    events: &Events,
) -> Option<Result<bool, OpError>> {
    let name = host.project.as_ref().and_then(|project| project.name.as_deref());
    let project = host.projects.iter().find(|project| Some(project.name.as_str()) == name)?;
    if !host.has_database() {
        return None;
    }
    let forgotten = || {
        let Some(mut records) = host.shared_records()? else { return Ok(true) };
        let mut units = SharedUnits::new(records.known()?);
        feed_project(host, (&mut units, &mut records), project, events)?;
        let known = records.known()?;
        let mut places = known.keys().filter_map(|key| place_of_shared_unit(key));
        Ok(!places.any(|(of, at)| of == project.name && at.id == *id))
    };
    Some(forgotten())
}

fn feed_project(
    host: &Host,
    (units, records): (&mut SharedUnits, &mut SharedRecords),
    project: &Project,
    events: &Events,
) -> Result<usize, OpError> {
    let store = match host.store_at(&project.path) {
        Ok(scoped) => scoped.store,
        Err(error) => {
            events.warning(&error.message, error.hints.first().map(String::as_str));
            return Ok(0);
        }
    };
    let mut n_fed = 0;
    while let Some(news) = units.news_of(&project.name, &store, host.now())? {
        events.cancel().check()?;
        let is_last = !news.is_partial;
        n_fed += apply(records, news)?;
        if is_last {
            break;
        }
    }
    Ok(n_fed)
}

fn apply(records: &mut SharedRecords, news: ProjectNews) -> Result<usize, OpError> {
    let ProjectNews { units, gone, is_partial } = news;
    let n_changed = units.len() + gone.len();
    records.apply(&News { units, gone, is_partial })?;
    Ok(n_changed)
}
