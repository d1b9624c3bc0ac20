//! Writes a plan: every file as planned, or every file as it was.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use nacre_api::wire::{ErrorCode, WiringOptions};
use nacre_core::base::ContentHash;
use nacre_core::safefs::{Access, RelPath, WriteScope, Writer};

use super::ledger::{self, Ledger, PendingFile};
use super::place::AgentFile;
use super::plan::{Plan, PlannedFile, Planner};
use crate::error::OpError;
use crate::host::Host;

/// Begins a plan; takes back first what a killed command left halfway, unless nothing may be written.
pub(super) fn begin<'h>(host: &'h Host, wiring: &WiringOptions) -> Result<Planner<'h>, OpError> {
    if !wiring.dry_run {
        settle(host)?;
    }
    Planner::open(host)
}

/// Writes what was planned, if it is what was agreed to.
pub(super) fn apply(host: &Host, plan: &Plan, wiring: &WiringOptions) -> Result<(), OpError> {
    let agreed = wiring.plan.as_ref();
    if agreed.is_some_and(|agreed| *agreed != plan.digest()) && plan.changed().next().is_some() {
        return Err(changed("The files changed since they were shown"));
    }
    if plan.changed().next().is_none() && plan.new == plan.old {
        return Ok(());
    }
    let scope = host.home_scope()?;
    let writer = scope.lock(&host.owner("connect"), host.own_settings().lock.wait)?;
    if Ledger::read(host)? != plan.old {
        return Err(changed("Another process connected an agent meanwhile"));
    }
    announce(plan).write(&writer, &before_texts(plan))?;
    let mut done = Vec::new();
    for (_, file) in plan.changed() {
        if let Err(error) = write(&file.place, file.before.as_deref(), file.after.as_deref()) {
            take_back(&done);
            plan.old.write(&writer, &BTreeMap::new())?;
            return Err(error);
        }
        done.push(file);
    }
    if let Err(error) = read_back(plan) {
        take_back(&done);
        plan.old.write(&writer, &BTreeMap::new())?;
        return Err(error);
    }
    remove_folders(plan);
    finish(plan, &writer)
}

fn changed(message: &str) -> OpError {
    OpError { code: ErrorCode::Conflict, ..OpError::failed(message) }
        .hint("Nothing was changed. Run the command again")
}

/// The old ledger, with the change that is about to be made.
fn announce(plan: &Plan) -> Ledger {
    let hash = |text: &Option<String>| text.as_ref().map(|text| ContentHash::of(text.as_bytes()));
    let pending = plan.changed().map(|(path, file)| PendingFile {
        path: path.to_owned(),
        before: hash(&file.before),
        after: hash(&file.after),
        folders: if file.before.is_none() { file.place.missing_folders() } else { Vec::new() },
    });
    Ledger { pending: pending.collect(), ..plan.old.clone() }
}

/// Every text that is about to be replaced or removed.
fn before_texts(plan: &Plan) -> BTreeMap<ContentHash, String> {
    let texts = plan.changed().filter_map(|(_, file)| file.before.clone());
    texts.map(|text| (ContentHash::of(text.as_bytes()), text)).collect()
}

fn finish(plan: &Plan, writer: &Writer<'_>) -> Result<(), OpError> {
    let mut backups = plan.backups.clone();
    backups.extend(before_texts(plan));
    plan.new.write(writer, &backups)
}

/// Brings one file from one state to another. A file that is in neither is a person's, and a conflict.
fn write(place: &AgentFile, before: Option<&str>, after: Option<&str>) -> Result<(), OpError> {
    let (scope, rel) = (place.scope()?, place.rel());
    let hash = |text: &str| ContentHash::of(text.as_bytes());
    match (before, after) {
        (None, Some(after)) => scope.create_file(rel, after.as_bytes())?,
        (Some(before), Some(after)) => scope.replace_file(rel, hash(before), after.as_bytes())?,
        (Some(before), None) => scope.remove_file(rel, hash(before))?,
        (None, None) => {}
    }
    Ok(())
}

/// Puts files back as they were. One that a person has changed in between stays.
fn take_back(done: &[&PlannedFile]) {
    for file in done.iter().rev() {
        let _ = write(&file.place, file.after.as_deref(), file.before.as_deref());
        if file.before.is_none() {
            remove_empty(&file.place.missing_folders());
        }
    }
}

/// Reads every file again: it must hold what was planned.
fn read_back(plan: &Plan) -> Result<(), OpError> {
    for (path, file) in plan.changed() {
        if file.place.read()? != file.after {
            return Err(changed(&format!(
                "`{}` was changed by someone else meanwhile",
                path.display()
            )));
        }
    }
    Ok(())
}

/// Removes the folders that were made for files that are gone now.
fn remove_folders(plan: &Plan) {
    let gone = plan.changed().filter(|(_, file)| file.after.is_none());
    for (path, _) in gone {
        if let Some(record) = plan.old.files.get(path) {
            remove_empty(&record.folders);
        }
    }
}

/// Removes folders that hold nothing, innermost first. A folder that stays does no harm.
fn remove_empty(folders: &[PathBuf]) {
    for folder in folders.iter().rev() {
        let parts = folder.parent().zip(folder.file_name().and_then(|name| name.to_str()));
        let Some((parent, name)) = parts else { continue };
        let scope = WriteScope::open(parent, Access::Private);
        if let (Ok(scope), Ok(name)) = (scope, RelPath::new(name)) {
            let _ = scope.remove_empty_folder(&name);
        }
    }
}

/// Takes back what a killed command left halfway.
fn settle(host: &Host) -> Result<(), OpError> {
    if Ledger::read(host)?.pending.is_empty() {
        return Ok(());
    }
    let scope = host.home_scope()?;
    let writer = scope.lock(&host.owner("connect"), host.own_settings().lock.wait)?;
    let ledger = Ledger::read(host)?;
    for file in ledger.pending.iter().rev() {
        undo(host, file)?;
    }
    Ledger { pending: Vec::new(), ..ledger }.write(&writer, &BTreeMap::new())
}

fn undo(host: &Host, pending: &PendingFile) -> Result<(), OpError> {
    let place = AgentFile::find(&pending.path, &[PathBuf::from("/")])?;
    let now = place.read()?;
    let is = |hash: Option<ContentHash>| {
        hash == now.as_ref().map(|text| ContentHash::of(text.as_bytes()))
    };
    if is(pending.after) && !is(pending.before) {
        let before = match pending.before {
            None => None,
            Some(hash) => Some(ledger::backup(host, &hash).ok_or_else(|| lost(&pending.path))?),
        };
        write(&place, now.as_deref(), before.as_deref())?;
    }
    if pending.before.is_none() {
        remove_empty(&pending.folders);
    }
    Ok(())
}

fn lost(path: &Path) -> OpError {
    OpError::failed(format!("The backup of `{}` is gone", path.display()))
        .hint("Look at the file, then move `connect/ledger.json` in the global folder away")
}
