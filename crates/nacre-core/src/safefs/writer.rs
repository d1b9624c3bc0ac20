//! The right to change a scope: its lock, held; its last interruption, dealt with.

use std::collections::BTreeSet;
use std::io::{self, ErrorKind};
use std::time::Duration;

use cap_std::fs::{Dir, File};

use super::apply::{Site, Stop};
use super::change::{Change, ChangeSet};
use super::error::{FsAction, FsError};
use super::journal::{DONE, PLAN, Plan, PlanFault, Step, TXN, UNDO};
use super::lock;
use super::owner::Owner;
use super::path::RelPath;
use super::proof;
use super::reserved::{JOURNAL, refuse_journal};
use super::scope::{
    Entry, EntryKind, ReadFault, WriteScope, io_error, list_dir, mode_of, open_child,
};
use super::sys::{self, FileMode};
use crate::base::ContentHash;

/// The tail of a temporary sibling's name; the file's own name stands before it.
pub(super) const TEMP_TAIL: &str = ".nacre-tmp";

/// No file that we replace is larger.
const MAX_REPLACED_BYTES: u64 = 256 << 20;

/// Plans that are kept by number for a person to look at.
const MAX_SET_ASIDE: u32 = 1000;

/// Holds a scope's lock. Everything that is written goes through one of these.
#[derive(Debug)]
pub struct Writer<'a> {
    scope: &'a WriteScope,
    journal: Dir,
    recovery: Recovery,
    /// Released when dropped.
    _lock: File,
}

/// What was found of an interrupted change when the lock was taken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Recovery {
    /// Nothing was interrupted.
    #[default]
    Clean,
    /// A change had not been committed; its rest was removed.
    Discarded,
    /// A committed change was finished.
    Finished,
    /// A committed change met files that a person had changed; it was taken back.
    Undone { conflicts: Vec<RelPath> },
    /// The journal held a plan that is damaged or that this person did not begin; it was set aside.
    SetAside,
}

impl WriteScope {
    /// Takes the scope's lock, waiting for about `patience`, and deals with an interrupted change.
    pub fn lock(&self, owner: &Owner, patience: Duration) -> Result<Writer<'_>, FsError> {
        let full = self.path.join(JOURNAL);
        let made = match sys::make_dir(&self.dir, JOURNAL, 0o700) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
            Err(error) => Err(error),
            Ok(()) => sys::sync_dir(&self.dir),
        };
        made.map_err(|error| io_error(FsAction::MakeFolder, &full, error))?;
        let journal = open_child(&self.dir, &full, JOURNAL)?;
        let lock = lock::acquire(&journal, &full, owner, patience)?;
        // An older version left a store's private folders open to other users; the journal's mode says so.
        if sys::set_dir_mode(&self.dir, JOURNAL, 0o700).unwrap_or(false) {
            self.close_folders(&self.dir, "");
        }
        let mut writer = Writer { scope: self, journal, recovery: Recovery::Clean, _lock: lock };
        writer.recovery = writer.recover()?;
        Ok(writer)
    }

    /// Takes the private folders from other users; what is below a closed one needs no look.
    fn close_folders(&self, dir: &Dir, at: &str) {
        let full = self.path.join(at);
        let entries = list_dir(dir, &full).unwrap_or_default();
        for Entry { name, .. } in entries.into_iter().filter(|of| of.kind == EntryKind::Folder) {
            let path = format!("{at}{name}");
            if self.access.is_private(&path) {
                // Best effort: a folder of another user stays as it is.
                let _ = sys::set_dir_mode(dir, &name, 0o700);
            } else if let ("", Ok(dir)) = (at, open_child(dir, &full, &name)) {
                self.close_folders(&dir, &format!("{name}/"));
            }
        }
    }

    /// Whether an interrupted change, or its rest, waits for the next writer. Costs two looks.
    pub fn is_interrupted(&self) -> Result<bool, FsError> {
        let has = |name: &str| self.has(&RelPath::new(&format!("{JOURNAL}/{name}"))?);
        Ok(has(TXN)? || has(DONE)?)
    }

    /// Whether the journal holds a plan that is damaged or that this person did not begin; the next writer sets it aside.
    pub fn has_foreign_change(&self) -> bool {
        let is_foreign = |folder: &str| {
            let path = RelPath::new(&format!("{JOURNAL}/{folder}")).ok();
            let Some(dir) = path.and_then(|path| self.open_dir(&path).ok()) else { return false };
            let load = |name| Plan::load(self, &dir, name);
            [PLAN, UNDO].into_iter().any(|name| matches!(load(name), Err(PlanFault::NotOurs)))
        };
        is_foreign(TXN) || is_foreign(DONE)
    }
}

impl Writer<'_> {
    /// The scope that may be changed.
    pub fn scope(&self) -> &WriteScope {
        self.scope
    }

    /// What taking the lock found.
    pub fn recovery(&self) -> &Recovery {
        &self.recovery
    }

    /// Replaces one file that is Nacre's own, whole or not at all; keeps its mode, unless it is private.
    ///
    /// A file that people edit belongs in a [`ChangeSet`], which notices their edits.
    pub fn write_atomic(&self, path: &RelPath, bytes: &[u8]) -> Result<(), FsError> {
        refuse_journal(path)?;
        let dir = self.scope.parent_of(path)?;
        let failed = |error| io_error(FsAction::Write, &self.scope.full(path), error);
        let mode = match mode_of(&dir, path.name()) {
            Ok(bits) => self.kept_mode(path, bits),
            Err(ReadFault::Io(error)) if error.kind() == ErrorKind::NotFound => {
                self.scope.access.file_mode(path)
            }
            Err(fault) => return Err(fault.at(&self.scope.full(path))),
        };
        let temp = format!(".{}{TEMP_TAIL}", path.name());
        // The lock is ours, so a sibling of this name is what a killed writer left.
        remove_if_there(&dir, &temp).map_err(failed)?;
        let written = sys::write_new(&dir, &temp, bytes, mode)
            .and_then(|()| sys::rename(&dir, &temp, &dir, path.name()))
            .and_then(|()| sys::sync_dir(&dir));
        written.map_err(|error| {
            let _ = remove_if_there(&dir, &temp);
            failed(error)
        })
    }

    /// Makes all changes of `set`, or none of them.
    ///
    /// Returns where a person's bytes were put that could only be kept beside their file: an editor
    /// wrote through a handle it had opened before ours was swapped in.
    pub fn commit(&self, set: ChangeSet) -> Result<Vec<RelPath>, FsError> {
        let changes = set.into_ordered()?;
        if changes.is_empty() {
            return Ok(Vec::new());
        }
        // An earlier change of this writer may have been left halfway; its files come first.
        if self.scope.is_interrupted()? {
            self.recover()?;
        }
        let conflicts = self.conflicts(&changes)?;
        if !conflicts.is_empty() {
            return Err(FsError::Conflict { paths: conflicts });
        }
        let plan = self.stage(&changes).map_err(|error| match self.clear(TXN) {
            Ok(()) => error,
            Err(_) => self.interrupted(error),
        })?;
        let txn = self.open_txn().map_err(|error| self.interrupted(error))?;
        self.follow(&txn, &plan)
    }

    /// Files that are not as the caller read them.
    fn conflicts(&self, changes: &[Change]) -> Result<Vec<RelPath>, FsError> {
        let mut conflicts = Vec::new();
        for change in changes {
            let expected = match change {
                Change::Create { .. } => None,
                Change::Replace { before, .. } | Change::Remove { before, .. } => Some(*before),
            };
            let is_expected = match expected {
                None => !self.scope.has(change.path())?,
                Some(before) => match self.scope.read_optional(change.path(), MAX_REPLACED_BYTES) {
                    Ok(bytes) => bytes.is_some_and(|bytes| ContentHash::of(&bytes) == before),
                    Err(FsError::NotAFile { .. } | FsError::TooLarge { .. }) => false,
                    Err(error) => return Err(error),
                },
            };
            if !is_expected {
                conflicts.push(change.path().clone());
            }
        }
        Ok(conflicts)
    }

    /// Writes the new files and the plan into the journal; when this returns, the change counts.
    fn stage(&self, changes: &[Change]) -> Result<Plan, FsError> {
        let full = self.scope.path.join(JOURNAL);
        let failed = |error| io_error(FsAction::Write, &full, error);
        sys::make_dir(&self.journal, TXN, 0o700).map_err(failed)?;
        let txn = self.open_txn()?;
        let mut steps = Vec::with_capacity(changes.len());
        for (change, slot) in changes.iter().zip(0_u32..) {
            if let Change::Create { bytes, .. } | Change::Replace { bytes, .. } = change {
                sys::write_new(&txn, &slot.to_string(), bytes, self.mode_for(change)?)
                    .map_err(failed)?;
            }
            steps.push(step(change, slot));
        }
        let plan = Plan::new(steps, self.missing_dirs(changes)?);
        sys::sync_dir(&txn).map_err(failed)?;
        sys::sync_dir(&self.journal).map_err(failed)?;
        plan.commit(self.scope, &txn).and_then(|()| sys::sync_dir(&txn)).map_err(failed)?;
        Ok(plan)
    }

    fn mode_for(&self, change: &Change) -> Result<FileMode, FsError> {
        match change {
            Change::Create { path, .. } | Change::Remove { path, .. } => {
                Ok(self.scope.access.file_mode(path))
            }
            Change::Replace { path, .. } => {
                match mode_of(&self.scope.parent_of(path)?, path.name()) {
                    Ok(bits) => Ok(self.kept_mode(path, bits)),
                    Err(ReadFault::Io(error)) if error.kind() != ErrorKind::NotFound => {
                        Err(io_error(FsAction::Read, &self.scope.full(path), error))
                    }
                    // It was a plain file a moment ago.
                    Err(_) => Err(FsError::Conflict { paths: vec![path.clone()] }),
                }
            }
        }
    }

    /// The mode of a file that replaces one with these bits: a private file that others could read is closed.
    fn kept_mode(&self, path: &RelPath, bits: u32) -> FileMode {
        FileMode(if self.scope.access.is_private(path.as_str()) { bits & 0o700 } else { bits })
    }

    /// The folders that the new files need and that are not there, outermost first.
    fn missing_dirs(&self, changes: &[Change]) -> Result<Vec<RelPath>, FsError> {
        let mut missing = BTreeSet::new();
        for change in changes {
            let mut dir = change.path().parent();
            while let Some(path) = dir {
                if self.scope.has(&path)? {
                    break;
                }
                dir = path.parent();
                missing.insert(path);
            }
        }
        Ok(missing.into_iter().collect())
    }

    /// Follows a plan forward; takes it back when a person was faster or the disk fails.
    fn follow(&self, txn: &Dir, plan: &Plan) -> Result<Vec<RelPath>, FsError> {
        let mut site = Site::new(self.scope, txn);
        let stop = match site.forward(plan) {
            Ok(()) => return self.finish().map_err(|error| self.interrupted(error)),
            Err(stop) => stop,
        };
        let turned = sys::rename(txn, PLAN, txn, UNDO)
            .map_err(|error| io_error(FsAction::Write, &self.scope.path.join(JOURNAL), error))
            .and_then(|()| self.take_back(&mut site, plan));
        match (stop, turned) {
            (Stop::Conflict(path), Ok(kept)) => {
                Err(FsError::Conflict { paths: std::iter::once(path).chain(kept).collect() })
            }
            (Stop::Failed(error), Ok(_)) => Err(error),
            (Stop::Conflict(_), Err(error)) | (Stop::Failed(error), Err(_)) => {
                Err(self.interrupted(error))
            }
        }
    }

    fn interrupted(&self, error: FsError) -> FsError {
        FsError::Interrupted { path: self.scope.path.clone(), source: Box::new(error) }
    }

    fn take_back(&self, site: &mut Site<'_>, plan: &Plan) -> Result<Vec<RelPath>, FsError> {
        site.backward(plan)?;
        self.finish()
    }

    /// Ends the change: from here on the journal's rest is rubbish, but for a person's bytes.
    fn finish(&self) -> Result<Vec<RelPath>, FsError> {
        let full = self.scope.path.join(JOURNAL);
        sys::rename(&self.journal, TXN, &self.journal, DONE)
            .and_then(|()| sys::sync_dir(&self.journal))
            .map_err(|error| io_error(FsAction::Write, &full, error))?;
        // The change itself is complete; what cannot be removed now, the next writer removes.
        Ok(self.clear_done().unwrap_or_default())
    }

    /// Removes the rest of a change that is over. Bytes in it that are neither old nor new were
    /// written by a person while their file was being swapped: those are kept beside it.
    fn clear_done(&self) -> Result<Vec<RelPath>, FsError> {
        let full = self.scope.path.join(JOURNAL).join(DONE);
        let done = match open_child(&self.journal, &full, DONE) {
            Err(error) if error.is_missing() => return Ok(Vec::new()),
            Err(FsError::NotAFolder { .. }) => return self.set_aside(DONE).map(|()| Vec::new()),
            done => done?,
        };
        let mut kept = Vec::new();
        for name in [PLAN, UNDO] {
            match Plan::load(self.scope, &done, name) {
                Ok(None) => {}
                Ok(Some(plan)) => kept.extend(Site::new(self.scope, &done).rescue(&plan)?),
                Err(PlanFault::NotOurs) => return self.set_aside(DONE).map(|()| kept),
                // Without the plan nobody can tell a person's bytes from ours; they stay.
                Err(PlanFault::Unreadable(error)) => {
                    return Err(io_error(FsAction::Read, &full, error));
                }
            }
        }
        self.clear(DONE)?;
        Ok(kept)
    }

    /// Removes `journal/<name>` and the files in it.
    fn clear(&self, name: &str) -> Result<(), FsError> {
        let full = self.scope.path.join(JOURNAL).join(name);
        let dir = match open_child(&self.journal, &full, name) {
            Err(error) if error.is_missing() => return Ok(()),
            dir => dir?,
        };
        let failed = |error| io_error(FsAction::Remove, &full, error);
        // Without its plan a folder is rubbish, whatever else is left in it.
        for plan in [PLAN, UNDO] {
            remove_if_there(&dir, plan).map_err(failed)?;
        }
        let entries = list_dir(&dir, &full)?;
        // We stage plain files only; a folder is not ours to empty.
        if entries.iter().any(|entry| entry.kind == EntryKind::Folder) {
            return self.set_aside(name);
        }
        for entry in entries {
            remove_if_there(&dir, &entry.name).map_err(failed)?;
        }
        match sys::remove_dir(&self.journal, name) {
            // Something is in it that we could not even name.
            Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => self.set_aside(name),
            removed => removed.map_err(failed),
        }
    }

    fn open_txn(&self) -> Result<Dir, FsError> {
        open_child(&self.journal, &self.scope.path.join(JOURNAL).join(TXN), TXN)
    }

    /// Finishes, takes back or removes what an interrupted writer left.
    fn recover(&self) -> Result<Recovery, FsError> {
        self.reap_temps()?;
        self.clear_done()?;
        let txn = match self.open_txn() {
            Err(error) if error.is_missing() => return Ok(Recovery::Clean),
            Err(FsError::NotAFolder { .. }) => {
                return self.set_aside(TXN).map(|()| Recovery::SetAside);
            }
            txn => txn?,
        };
        if let Some(plan) = match self.load(&txn, UNDO) {
            Ok(plan) => plan,
            Err(recovery) => return recovery,
        } {
            let rescued = self.take_back(&mut Site::new(self.scope, &txn), &plan)?;
            return Ok(Recovery::Undone { conflicts: rescued });
        }
        let Some(plan) = (match self.load(&txn, PLAN) {
            Ok(plan) => plan,
            Err(recovery) => return recovery,
        }) else {
            return self.clear(TXN).map(|()| Recovery::Discarded);
        };
        match self.follow(&txn, &plan) {
            Ok(_) => Ok(Recovery::Finished),
            Err(FsError::Conflict { paths }) => Ok(Recovery::Undone { conflicts: paths }),
            Err(error) => Err(error),
        }
    }

    /// Reads a plan; a plan that is not ours ends the recovery by being set aside.
    fn load(&self, txn: &Dir, name: &str) -> Result<Option<Plan>, Result<Recovery, FsError>> {
        Plan::load(self.scope, txn, name).map_err(|fault| match fault {
            PlanFault::Unreadable(error) => {
                Err(io_error(FsAction::Read, &self.scope.path.join(JOURNAL).join(TXN), error))
            }
            PlanFault::NotOurs => self.set_aside(TXN).map(|()| Recovery::SetAside),
        })
    }

    /// Keeps a part of the journal that is not ours to follow or to remove, out of the way.
    fn set_aside(&self, name: &str) -> Result<(), FsError> {
        let full = self.scope.path.join(JOURNAL).join(name);
        let failed = |error| io_error(FsAction::Move, &full, error);
        let is_free = |name: &String| self.journal.symlink_metadata(name).is_err();
        // All numbers may be taken, by a stranger who wanted to close the store.
        let free = match (1..=MAX_SET_ASIDE).map(|n| format!("bad-{n}")).find(is_free) {
            Some(free) => free,
            None => format!("bad-{}", ContentHash::of(&proof::random().map_err(failed)?).short()),
        };
        // The lock is ours, so the name stays free; a folder cannot be moved by way of a link.
        sys::rename(&self.journal, name, &self.journal, &free).map_err(failed)
    }

    /// Removes temporary siblings in the scope's own folder, where `write_atomic` is used.
    fn reap_temps(&self) -> Result<(), FsError> {
        for entry in list_dir(&self.scope.dir, &self.scope.path)? {
            if entry.name.starts_with('.') && entry.name.ends_with(TEMP_TAIL) {
                let _ = remove_if_there(&self.scope.dir, &entry.name);
            }
        }
        Ok(())
    }
}

fn step(change: &Change, slot: u32) -> Step {
    match change {
        Change::Create { path, bytes } => {
            Step::Create { path: path.clone(), slot, after: ContentHash::of(bytes) }
        }
        Change::Replace { path, before, bytes } => Step::Replace {
            path: path.clone(),
            slot,
            before: *before,
            after: ContentHash::of(bytes),
        },
        Change::Remove { path, before } => {
            Step::Remove { path: path.clone(), slot, before: *before }
        }
    }
}

pub(super) fn remove_if_there(dir: &Dir, name: &str) -> io::Result<()> {
    match sys::remove_file(dir, name) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}
