//! What a report takes of a run: little of it, and of each text a bounded piece, for the folder may be a stranger's.

use jiff::Timestamp;
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
    /// The runs that it took back.
    pub(super) undoes: Vec<RunId>,
    /// How many contradictions a maintenance left to a person.
    pub(super) open_contradictions: Option<usize>,
    pub(super) happened: Vec<(ToldKind, Happened)>,
    /// The ids of the memories that it made.
    pub(super) made: Vec<String>,
    /// The id of the summary that it wrote.
    pub(super) summary: Option<String>,
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
            undoes: Vec::new(),
            open_contradictions: None,
            happened: Vec::new(),
            made: Vec::new(),
            summary: None,
        };
        match record {
            RunRecord::Sync(report) => {
                let actions = report.actions.iter().take(MAX_ACTIONS);
                told.happened.extend(actions.filter_map(|action| of_sync(id, action)));
                told.made = made(&report.actions);
                told.summary = report.summary_path.as_deref().and_then(summary_id);
                told.finished_at = report.finished_at;
            }
            RunRecord::Maintain(report) => {
                let actions = report.actions.iter().take(MAX_ACTIONS);
                told.happened.extend(actions.filter_map(|action| of_maintenance(id, action)));
                told.open_contradictions = Some(report.contradictions.len().min(MAX_ACTIONS));
                told.finished_at = report.finished_at;
            }
            RunRecord::Undo(record) => {
                told.undoes = record.runs;
                told.undoes.extend(record.of.parse());
                told.finished_at = record.finished_at;
            }
        }
        told
    }

    pub(super) fn finished(&self) -> Option<Timestamp> {
        self.finished_at.parse().ok()
    }
}

/// The memories that a sync made.
fn made(actions: &[ActionReport]) -> Vec<String> {
    let is_made = |action: &&ActionReport| match action.action {
        Action::Add | Action::Supersede => true,
        Action::Update | Action::NoOp => false,
    };
    let made = actions.iter().take(MAX_ACTIONS).filter(is_made);
    made.filter_map(|action| action.target.as_ref().map(ToString::to_string)).collect()
}

/// The id of the summary at `memory/summaries/DAY/TIME/NAME.md`, which ends with the name of its file.
fn summary_id(path: &str) -> Option<String> {
    let mut parts = path.strip_suffix(".md")?.rsplit('/');
    let (name, _, day) = (parts.next()?, parts.next()?, parts.next()?);
    Some(format!("{day}-{name}"))
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
