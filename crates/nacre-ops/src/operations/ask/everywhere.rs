//! The stores of a question about all projects: those that the shared index finds something in, or each of them on one machine.

use nacre_core::search::{
    LibraryOptions, Mode, Query, Readable, RecordIndex as _, place_of_shared_unit,
};

use crate::error::OpError;
use crate::events::Events;
use crate::host::{Host, ScopedStore};

/// Stores that are opened for one question.
const MAX_STORES: usize = 50;

/// Hits of the shared index that say which projects are worth opening.
const MAX_HITS: usize = 100;

/// The stores of projects that the caller may read, with their names; what fits best first, where that is known.
pub(super) fn stores(
    host: &Host,
    question: &str,
    events: &Events,
) -> Result<Vec<(String, ScopedStore)>, OpError> {
    let names = match found(host, question) {
        Ok(Some(names)) => names,
        Ok(None) => host.projects.iter().map(|project| project.name.clone()).collect(),
        Err(error) => {
            // The files are there without the database.
            events.warning(&error.message, Some("Each project is looked at by itself"));
            host.projects.iter().map(|project| project.name.clone()).collect()
        }
    };
    let n_left = names.len().saturating_sub(MAX_STORES);
    if n_left > 0 {
        let hint = "Ask in one of them: nacre --project NAME ask QUESTION";
        events.warning(format!("{n_left} projects were not looked at"), Some(hint));
    }
    let mut stores = Vec::new();
    for name in names.into_iter().take(MAX_STORES) {
        let Some(project) = host.projects.iter().find(|project| project.name == name) else {
            continue;
        };
        // One that cannot be opened now is passed over.
        if let Ok(scoped) = host.store_at(&project.path) {
            stores.push((name, scoped));
        }
    }
    if stores.is_empty() {
        return Err(OpError::failed("There is no project to look into").hint("nacre project list"));
    }
    Ok(stores)
}

/// The projects that the shared index finds something in; `None` where there is no such index, or it finds nothing.
fn found(host: &Host, question: &str) -> Result<Option<Vec<String>>, OpError> {
    let Some(records) = host.shared_records()? else { return Ok(None) };
    let readable = Readable::projects(host.projects.iter().map(|project| project.name.as_str()));
    let now_ms = host.now().as_millisecond();
    let options = LibraryOptions { mode: Mode::Hybrid, limit: MAX_HITS, now_ms };
    let mut query = Query::parse(question, host.now());
    // Who asks about "NaN" does not mean that nothing else will do.
    query.phrases.clear();
    let mut names: Vec<String> = Vec::new();
    for hit in records.search(&query, &readable, options)? {
        let name = place_of_shared_unit(&hit.unit).map(|(name, _)| name);
        names.extend(
            name.filter(|name| !names.iter().any(|known| known == name)).map(str::to_owned),
        );
    }
    Ok(Some(names).filter(|names| !names.is_empty()))
}
