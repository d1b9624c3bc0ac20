//! Tells what a store learned, merged, archived and used: as figures, and as one HTML page.

use std::collections::BTreeMap;

use nacre_api::wire::{
    MemoryUse, ProjectReport, ReportRequest, ReportedAction, StoreFigures, StoreScope,
};
use nacre_engine::flows::report::{self as flow, Happened, Listed, Report};

use crate::error::OpError;
use crate::host::{Host, ResultFile, parse_when};

const DEFAULT_SINCE: &str = "30d";

pub fn report(host: &Host, request: &ReportRequest) -> Result<ProjectReport, OpError> {
    let (project, found) = look(host, request)?;
    if let Some(file) = &request.html {
        let file = ResultFile { file, force: request.force, command: "report" };
        file.check(host, &flow::is_page)?;
        file.put(host, flow::page(&found, &project).as_bytes())?;
    }
    Ok(ProjectReport { project, html: request.html.clone(), report: figures(found) })
}

/// The report as one HTML page, which needs nothing else to be shown.
pub fn page(host: &Host, request: &ReportRequest) -> Result<String, OpError> {
    let (project, found) = look(host, request)?;
    Ok(flow::page(&found, &project))
}

/// The name of the store, and what is in it.
fn look(host: &Host, request: &ReportRequest) -> Result<(String, Report), OpError> {
    let now = host.now();
    let since = parse_when(request.since.as_deref().unwrap_or(DEFAULT_SINCE), now)?;
    let scoped = host.store_to_write(None)?;
    let found = flow::report(&scoped.store, since, now)?;
    let project = host.project.as_ref().filter(|_| scoped.scope == StoreScope::Project);
    let name = project.map_or_else(
        || StoreScope::Global.as_str().to_owned(),
        |project| {
            let folder = project.path.file_name().map(|name| name.to_string_lossy().into_owned());
            project.name.clone().or(folder).unwrap_or_default()
        },
    );
    Ok((name, found))
}

fn figures(found: Report) -> StoreFigures {
    StoreFigures {
        since: found.since.to_string(),
        until: found.until.to_string(),
        memories: named(found.memories),
        stages: named(found.stages),
        learned: named(found.learned),
        learned_now: named(found.learned_now),
        n_taken_back: found.n_taken_back,
        learned_by_week: found.learned_by_week,
        sessions: found.sessions,
        merged: found.merged.into_iter().map(action).collect(),
        archived: found.archived.into_iter().map(action).collect(),
        contradictions: found.contradictions.into_iter().map(action).collect(),
        open_contradictions: found.open_contradictions,
        most_used: found.most_used.into_iter().map(memory_use).collect(),
        never_used: found.never_used.into_iter().map(memory_use).collect(),
        n_used: found.n_used,
        n_never_used: found.n_never_used,
        n_young: found.n_young,
        confidence: found.confidence,
        n_broken: found.n_broken,
    }
}

fn named(counts: BTreeMap<&'static str, usize>) -> BTreeMap<String, usize> {
    counts.into_iter().map(|(name, n)| (name.to_owned(), n)).collect()
}

fn action(happened: Happened) -> ReportedAction {
    let Happened { run, target, with, title, reason } = happened;
    ReportedAction { run: run.to_string(), target, with, title, reason }
}

pub(super) fn memory_use(listed: Listed) -> MemoryUse {
    let Listed { id, title, uses, citations, confirmations, effective } = listed;
    MemoryUse { id: id.to_string(), title, uses, citations, confirmations, effective }
}
