//! What a report takes of a run: little of it, and of each text a bounded piece, for the folder may be a stranger's.

use nacre_core::memory::Action;

use super::super::maintain::{MaintainAction, MaintainVerb};
use super::super::record::RunRecord;
use super::super::run::RunId;
use super::super::sync::ActionReport;
use super::Happened;

/// More actions of one run, and bytes of one text, are not looked at.
const MAX_ACTIONS: usize = 1000;
const MAX_TEXT_BYTES: usize = 2000;

/// What a report takes of a run.
pub(super) struct ToldRun {
    pub(super) id: RunId,
    pub(super) finished_at: String,
    /// The run that it took back.
    pub(super) undoes: Option<RunId>,
    /// How many contradictions a maintenance left to a person.
    pub(super) open_contradictions: Option<usize>,
    pub(super) happened: Vec<(ToldKind, Happened)>,
}

/// Which list of a report something belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ToldKind {
    Merged,
    Archived,
    Overturned,
}

impl ToldRun {
    pub(super) fn of(id: &RunId, record: RunRecord) -> Self {
        let mut told = Self {
            id: id.clone(),
            finished_at: String::new(),
            undoes: None,
            open_contradictions: None,
            happened: Vec::new(),
        };
        match record {
            RunRecord::Sync(report) => {
                let actions = report.actions.iter().take(MAX_ACTIONS);
                told.happened.extend(actions.filter_map(|action| of_sync(id, action)));
                told.finished_at = report.finished_at;
            }
            RunRecord::Maintain(report) => {
                let actions = report.actions.iter().take(MAX_ACTIONS);
                told.happened.extend(actions.filter_map(|action| of_maintenance(id, action)));
                told.open_contradictions = Some(report.contradictions.len().min(MAX_ACTIONS));
                told.finished_at = report.finished_at;
            }
            RunRecord::Undo(record) => {
                told.undoes = Some(record.of);
                told.finished_at = record.finished_at;
            }
        }
        told
    }
}

fn of_sync(run: &RunId, action: &ActionReport) -> Option<(ToldKind, Happened)> {
    let kind = match action.action {
        Action::Supersede => ToldKind::Overturned,
        Action::Add | Action::Update | Action::NoOp => return None,
    };
    let happened = Happened {
        run: run.clone(),
        target: action.target.as_ref().map(ToString::to_string).unwrap_or_default(),
        with: action.supersedes.as_ref().map(ToString::to_string),
        title: short(&action.title),
        reason: short(&action.reason),
    };
    Some((kind, happened))
}

fn of_maintenance(run: &RunId, action: &MaintainAction) -> Option<(ToldKind, Happened)> {
    let kind = match action.action {
        MaintainVerb::Merge | MaintainVerb::Consolidate => ToldKind::Merged,
        MaintainVerb::Archive => ToldKind::Archived,
        MaintainVerb::Supersede => ToldKind::Overturned,
        MaintainVerb::Stale
        | MaintainVerb::Restore
        | MaintainVerb::Freshen
        | MaintainVerb::Establish
        | MaintainVerb::Validate
        | MaintainVerb::Doubt
        | MaintainVerb::Relink => return None,
    };
    let happened = Happened {
        run: run.clone(),
        target: action.target.to_string(),
        with: action.with.as_ref().map(ToString::to_string),
        title: short(&action.title),
        reason: short(&action.reason),
    };
    Some((kind, happened))
}

fn short(text: &str) -> String {
    text[..text.floor_char_boundary(MAX_TEXT_BYTES)].to_owned()
}
