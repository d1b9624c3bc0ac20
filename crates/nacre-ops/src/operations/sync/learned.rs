//! What the sessions of a sync were made into: the memories as they are now, and the sums.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use nacre_api::wire::{
    CandidateVerb, LearnedChange, LearnedMemory, SessionOutcome, SessionRun, SyncResult,
    SyncTotals, SyncedSession,
};

use crate::error::OpError;
use crate::host::Host;
use crate::operations::memory::memory_type;

/// The memories that the sessions made or changed, in the order in which they were learned. What a later session overturned
/// is left out.
pub(super) fn learned(
    host: &Host,
    sessions: &[SyncedSession],
) -> Result<Vec<LearnedMemory>, OpError> {
    let mut learned = Vec::new();
    for (project, changes) in changes_by_project(sessions) {
        let root = Path::new(&project);
        let listing = host.store_at(root)?.store.outlines(|_| true)?;
        let known: HashMap<&str, _> =
            listing.memories.iter().map(|memory| (memory.at.id.as_str(), memory)).collect();
        let name = project_name(host, root);
        for (id, change) in changes {
            let Some(memory) = known.get(id.as_str()).filter(|memory| !memory.says_overturned())
            else {
                continue;
            };
            learned.push(LearnedMemory {
                r#type: memory_type(memory.at.memory_type),
                title: memory.title.clone(),
                project: name.clone(),
                change,
                is_candidate: memory.is_candidate(),
                id,
            });
        }
    }
    Ok(learned)
}

fn project_name(host: &Host, root: &Path) -> String {
    let registered = host.projects.iter().find(|project| project.path == root);
    match registered {
        Some(project) => project.name.clone(),
        None => root.file_name().unwrap_or_default().to_string_lossy().into_owned(),
    }
}

type Changes = Vec<(String, LearnedChange)>;

/// The memories of each project that were made or changed, each once.
fn changes_by_project(sessions: &[SyncedSession]) -> BTreeMap<String, Changes> {
    let mut projects: BTreeMap<String, Changes> = BTreeMap::new();
    for session in sessions {
        let Some(run) = run_of(session) else { continue };
        let changes = projects.entry(session.project.clone()).or_default();
        for action in &run.actions {
            let change = match action.action {
                CandidateVerb::Add | CandidateVerb::Supersede => LearnedChange::Added,
                CandidateVerb::Update => LearnedChange::Updated,
                CandidateVerb::NoOp => continue,
            };
            let Some(id) = &action.target else { continue };
            // What was added now and then added to is new.
            if !changes.iter().any(|(known, _)| known == id) {
                changes.push((id.clone(), change));
            }
        }
    }
    projects.retain(|_, changes| !changes.is_empty());
    projects
}

/// The sums of what the sessions came to.
pub(super) fn totals(sessions: &[SyncedSession], learned: &[LearnedMemory]) -> SyncTotals {
    let runs: Vec<&SessionRun> = sessions.iter().filter_map(run_of).collect();
    let count = |is_counted: &dyn Fn(&LearnedMemory) -> bool| {
        learned.iter().filter(|memory| is_counted(memory)).count() as u64
    };
    let is_added = |memory: &LearnedMemory| memory.change == LearnedChange::Added;
    let is_read = |run: &&&SessionRun| run.outcome == SessionOutcome::Done;
    SyncTotals {
        sessions: runs.len() as u64,
        failed: (sessions.len() - runs.len()) as u64,
        added: count(&is_added),
        active: count(&|memory| is_added(memory) && !memory.is_candidate),
        to_review: count(&|memory| is_added(memory) && memory.is_candidate),
        updated: count(&|memory| !is_added(memory)),
        superseded: runs.iter().map(|run| run.counts.supersede).sum(),
        // A sum of nothing would be a negative zero.
        cost_usd: runs.iter().fold(0.0, |sum, run| sum + run.cost_usd),
        summaries: runs.iter().filter(is_read).filter(|run| run.summary_path.is_some()).count()
            as u64,
    }
}

fn run_of(session: &SyncedSession) -> Option<&SessionRun> {
    match &session.result {
        SyncResult::Done { report, .. } => Some(report),
        SyncResult::Failed { .. } => None,
    }
}
