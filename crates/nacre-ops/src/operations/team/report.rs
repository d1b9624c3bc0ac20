//! Tells a team what was learned, what is contested and what nobody uses, in all projects that the caller may read.

use std::cmp::Reverse;

use nacre_api::wire::{
    ContestedPair, ProjectContradiction, ProjectMemory, TeamProject, TeamReport, TeamReportRequest,
};
use nacre_core::memory::{Memory, MemoryType, Status, Store, StoreArea, Trust};
use nacre_core::search::Builtin;
use nacre_engine::flows::across::{MAX_COMPARED, Opposed, ProjectClaim, opposed};
use nacre_engine::flows::report as flow;

use crate::error::OpError;
use crate::events::Events;
use crate::host::{Host, parse_when};
use crate::operations::report::memory_use;

const DEFAULT_SINCE: &str = "7d";

pub fn report(
    host: &Host,
    request: &TeamReportRequest,
    events: &Events,
) -> Result<TeamReport, OpError> {
    let TeamReportRequest { since } = request;
    let now = host.now();
    let since = parse_when(since.as_deref().unwrap_or(DEFAULT_SINCE), now)?;
    let mut report = TeamReport {
        since: since.to_string(),
        until: now.to_string(),
        projects: Vec::new(),
        n_projects: 0,
        across: Vec::new(),
        n_not_compared: 0,
        unreadable: Vec::new(),
    };
    let (mut stores, mut outlines) = (Vec::new(), Vec::new());
    for project in host.projects.iter() {
        events.cancel().check()?;
        let Ok(scoped) = host.store_at(&project.path) else {
            report.unreadable.push(project.name.clone());
            continue;
        };
        let found = flow::report(&scoped.store, since, now)?;
        report.projects.push(told(&project.name, found));
        let number = stores.len();
        outlines.extend(standing(&scoped.store)?.into_iter().map(|memory| (number, memory)));
        stores.push(scoped.store);
    }
    report.n_projects = stores.len();
    report.n_not_compared = outlines.len().saturating_sub(MAX_COMPARED);
    compare(&stores, outlines, &mut report)?;
    let has_news = |project: &TeamProject| {
        !project.learned.is_empty() || !project.contested.is_empty() || !project.unused.is_empty()
    };
    report.projects.retain(has_news);
    report.projects.sort_by(|a, b| a.project.cmp(&b.project));
    Ok(report)
}

fn told(project: &str, found: flow::Report) -> TeamProject {
    TeamProject {
        project: project.to_owned(),
        n_learned: found.n_newest,
        learned: found.newest.into_iter().map(memory_use).collect(),
        contested: Vec::new(),
        n_unused: found.n_never_used,
        unused: found.never_used.into_iter().map(memory_use).collect(),
    }
}

/// The decisions and learnings of a project that hold, without their texts.
fn standing(store: &Store) -> Result<Vec<Memory>, OpError> {
    let listing = store
        .outlines(|at| at.area == StoreArea::Active && at.memory_type != MemoryType::Summary)?;
    let holds = |memory: &Memory| {
        let is_active = memory.status == Status::Active && !memory.says_overturned();
        is_active && store.trust_of(memory) != Trust::Quarantined
    };
    Ok(listing.memories.into_iter().filter(holds).collect())
}

/// Compares the memories of projects; the newest of them, where there are too many.
fn compare(
    stores: &[Store],
    mut outlines: Vec<(usize, Memory)>,
    report: &mut TeamReport,
) -> Result<(), OpError> {
    outlines.sort_by_key(|(_, memory)| Reverse(memory.updated));
    outlines.truncate(MAX_COMPARED);
    let load = |(project, memory): (usize, Memory)| {
        let memory = stores[project].load(&memory.at).ok()?;
        Some(ProjectClaim { project, memory })
    };
    let claims: Vec<ProjectClaim> = outlines.into_iter().filter_map(load).collect();
    for pair in opposed(&claims, &Builtin::shipped()?)? {
        let Opposed { newer, older, likelihood } = pair;
        let (newer, older) = (&claims[newer], &claims[older]);
        let (one, other) = (&stores[newer.project], &stores[older.project]);
        if newer.project != older.project {
            let [newer, older] = [newer, older].map(|claim| named(claim, stores, report));
            report.across.push(ProjectContradiction { newer, older, likelihood });
        } else if !are_kept_apart(one, &newer.memory, &older.memory) {
            let pair = ContestedPair {
                newer: newer.memory.at.id.to_string(),
                newer_title: one.redacted(&newer.memory.title),
                older: older.memory.at.id.to_string(),
                older_title: other.redacted(&older.memory.title),
                likelihood,
            };
            report.projects[newer.project].contested.push(pair);
        }
    }
    Ok(())
}

fn named(claim: &ProjectClaim, stores: &[Store], report: &TeamReport) -> ProjectMemory {
    let ProjectClaim { project, memory } = claim;
    ProjectMemory {
        project: report.projects[*project].project.clone(),
        id: memory.at.id.to_string(),
        title: stores[*project].redacted(&memory.title),
    }
}

/// Whether a person wants to keep two memories side by side.
fn are_kept_apart(store: &Store, a: &Memory, b: &Memory) -> bool {
    let wants_apart = |one: &Memory, other: &Memory| {
        let state = store.state(&one.at.id).ok().flatten();
        state.is_some_and(|state| state.apart_from.contains(&other.at.id))
    };
    wants_apart(a, b) || wants_apart(b, a)
}
