//! Takes back what a command changed outside the memories: a text, or the register of projects.

use nacre_api::wire::{PlannedChange, UndoReport};
use nacre_core::base::ContentHash;
use nacre_engine::flows::change::{ProjectRecord, Reversal, StoredChange, TextRecord};
use nacre_engine::flows::run::{ChangedSince, RunMode, UndoError};

use super::find::OpenedStore;
use crate::error::OpError;
use crate::host::{Host, settle_map_cache};
use crate::operations::recording::{OutsideChange, own_store, record_outside};
use crate::operations::texts::TextPlan;

/// Puts back a text as it was before a change. One that was changed since stays, and is an error.
pub(super) fn undo_text(
    host: &Host,
    opened: &OpenedStore,
    change: &StoredChange,
    record: &TextRecord,
    dry_run: bool,
) -> Result<UndoReport, OpError> {
    check_open(change)?;
    let plan = TextPlan::of(&opened.scoped, change, record)?;
    let (now, then) = (plan.now.as_deref(), plan.then.as_deref());
    if !plan.is_unchanged(record) {
        let files =
            vec![ChangedSince { path: plan.path(), by: changed_by(opened, change, record) }];
        let id = change.id.clone();
        return Err(UndoError::Changed { id, files, has_rest: false }.into());
    }
    let mut report = empty_report(change, dry_run);
    report.paths.push(plan.path());
    if dry_run {
        let text = |bytes: Option<&[u8]>| bytes.map(|it| String::from_utf8_lossy(it).into_owned());
        let path = plan.file.to_string();
        report.changes = Some(vec![PlannedChange { path, before: text(now), after: text(then) }]);
        return Ok(report);
    }
    plan.put_back()?;
    if plan.file.as_str() == "config.toml"
        && let Some(settings) = host.settings_now(None)
    {
        settle_map_cache(host, "undo", settings.map.at_rest)?;
    }
    let turned =
        TextRecord { existed: now.is_some(), after: then.map(ContentHash::of), ..record.clone() };
    let outside = OutsideChange {
        mode: RunMode::Undo,
        command: "undo",
        undoes: Some(&change.id),
        reversal: Reversal::Text { text: turned },
        before: now,
    };
    report.run = record_outside(host, &opened.scoped, outside)?;
    report.notes.push(format!("As it was before: {}", plan.path()));
    Ok(report)
}

/// The later change of the same text that still stands.
fn changed_by(opened: &OpenedStore, change: &StoredChange, record: &TextRecord) -> Option<String> {
    let later = opened.changes.iter().take_while(|other| other.id != change.id);
    let is_same = |other: &&StoredChange| {
        let Reversal::Text { text } = &other.reversal else { return false };
        text.file == record.file && text.below == record.below
    };
    let mut open = later.filter(|other| other.undone_by.is_none() && other.undoes.is_none());
    open.find(is_same).map(|other| other.id.clone())
}

/// Brings the register of projects back to what it was, as far as a change changed it.
pub(super) fn undo_projects(
    host: &Host,
    change: &StoredChange,
    (added, removed): (&[ProjectRecord], &[ProjectRecord]),
    dry_run: bool,
) -> Result<UndoReport, OpError> {
    check_open(change)?;
    let is_known = |record: &&ProjectRecord| {
        host.projects.iter().any(|known| known.name == record.name && known.path == record.path)
    };
    let mut report = empty_report(change, dry_run);
    for record in added.iter().filter(is_known) {
        report.notes.push(format!("No longer registered: {}", record.name));
        if !dry_run {
            host.unregister(&record.name)?;
        }
    }
    for record in removed.iter().filter(|record| !is_known(record)) {
        report.notes.push(format!("Registered again: {}", record.name));
        if !dry_run {
            host.register(&record.path, Some(&record.name))?;
        }
    }
    if report.notes.is_empty() {
        report.notes.push("The register of projects is so already.".to_owned());
    }
    if !dry_run {
        let (added, removed) = (removed.to_vec(), added.to_vec());
        let outside = OutsideChange {
            mode: RunMode::Undo,
            command: "undo",
            undoes: Some(&change.id),
            reversal: Reversal::Projects { added, removed },
            before: None,
        };
        report.run = record_outside(host, &own_store(host)?, outside)?;
    }
    Ok(report)
}

fn check_open(change: &StoredChange) -> Result<(), UndoError> {
    match &change.undone_by {
        Some(by) => {
            let (id, by) = (change.id.clone(), by.clone());
            Err(UndoError::AlreadyUndone { id, by })
        }
        None => Ok(()),
    }
}

fn empty_report(change: &StoredChange, dry_run: bool) -> UndoReport {
    UndoReport {
        run: String::new(),
        of: change.id.clone(),
        command: change.command.clone(),
        dry_run,
        paths: Vec::new(),
        memories: Vec::new(),
        kept: Vec::new(),
        changes: None,
        notes: Vec::new(),
    }
}
