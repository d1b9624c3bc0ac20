//! Reports what a team has learned, which memories contradict each other, and which are unused, for
//! all projects that the caller may read.

use std::cmp::Reverse;

use nacre_memory::recall::{MAX_COMPARED, Opposed, ProjectClaim, find_opposed};
use nacre_memory::{Memory, MemoryType, Status, StoreArea, Trust};
use nacre_types::{
    ContestedPair, ProjectContradiction, ProjectMemory, SinceRequest, TeamProject, TeamReport,
};

use crate::host::parse_when;
use crate::prelude::*;
use crate::report::store_report;

const DEFAULT_SINCE: &str = "7d";

pub fn report(host: &Host, request: &SinceRequest, events: &Events) -> Result<TeamReport> {
    let SinceRequest { since } = request;
    let now = host.now();
    let since = parse_when(since.as_deref().unwrap_or(DEFAULT_SINCE), now)?;
    let mut report =
        TeamReport { since: since.to_string(), until: now.to_string(), ..TeamReport::default() };
    let (mut stores, mut outlines) = (Vec::new(), Vec::new());
    for project in host.projects.iter() {
        events.check_cancelled()?;
        let Ok(scoped) = host.store_at(&project.path) else {
            report.unreadable.push(project.name.clone());
            continue;
        };
        let found = store_report(&scoped.store, since, now)?;
        report.projects.push(TeamProject {
            project: project.name.clone(),
            n_learned: found.n_newest,
            learned: found.newest,
            contested: Vec::new(),
            n_unused: found.figures.n_never_used,
            unused: found.figures.never_used,
        });
        let number = stores.len();
        outlines.extend(standing(&scoped.store)?.into_iter().map(|memory| (number, memory)));
        stores.push(scoped.store);
    }
    report.n_projects = stores.len();
    report.n_not_compared = outlines.len().saturating_sub(MAX_COMPARED);
    compare(&stores, outlines, &mut report);
    let has_news = |project: &TeamProject| {
        !project.learned.is_empty() || !project.contested.is_empty() || !project.unused.is_empty()
    };
    report.projects.retain(has_news);
    report.projects.sort_by(|a, b| a.project.cmp(&b.project));
    Ok(report)
}

fn standing(store: &Store) -> Result<Vec<Memory>> {
    let listing = store
        .outlines(|at| at.area == StoreArea::Active && at.memory_type != MemoryType::Summary)?;
    let holds = |memory: &Memory| {
        let is_active = memory.status == Status::Active && !memory.says_overturned();
        is_active && store.trust_of(memory) != Trust::Quarantined
    };
    Ok(listing.memories.into_iter().filter(holds).collect())
}

/// Compares the memories. If there are too many, compares only the newest ones.
fn compare(stores: &[Store], mut outlines: Vec<(usize, Memory)>, report: &mut TeamReport) {
    outlines.sort_by_key(|(_, memory)| Reverse(memory.updated));
    outlines.truncate(MAX_COMPARED);
    let load = |(project, memory): (usize, Memory)| {
        let memory = stores[project].load(&memory.at).ok()?;
        Some(ProjectClaim { project, memory })
    };
    let claims: Vec<ProjectClaim> = outlines.into_iter().filter_map(load).collect();
    for pair in find_opposed(&claims) {
        let Opposed { newer, older, likelihood } = pair;
        let (newer, older) = (&claims[newer], &claims[older]);
        let (one, other) = (&stores[newer.project], &stores[older.project]);
        if newer.project != older.project {
            let [newer, older] = [newer, older].map(|claim| name_memory(claim, stores, report));
            report.across.push(ProjectContradiction { newer, older, likelihood });
        } else if !are_kept_apart(one, &newer.memory, &older.memory) {
            let pair = ContestedPair {
                newer: newer.memory.at.id.to_string(),
                newer_title: one.redact_text(&newer.memory.title),
                older: older.memory.at.id.to_string(),
                older_title: other.redact_text(&older.memory.title),
                likelihood,
            };
            report.projects[newer.project].contested.push(pair);
        }
    }
}

fn name_memory(claim: &ProjectClaim, stores: &[Store], report: &TeamReport) -> ProjectMemory {
    let ProjectClaim { project, memory } = claim;
    ProjectMemory {
        project: report.projects[*project].project.clone(),
        id: memory.at.id.to_string(),
        title: stores[*project].redact_text(&memory.title),
    }
}

/// Returns whether the user has chosen to keep both memories.
fn are_kept_apart(store: &Store, a: &Memory, b: &Memory) -> bool {
    let wants_apart = |one: &Memory, other: &Memory| {
        let state = store.state(&one.at.id).ok().flatten();
        state.is_some_and(|state| state.apart_from.contains(&other.at.id))
    };
    wants_apart(a, b) || wants_apart(b, a)
}
