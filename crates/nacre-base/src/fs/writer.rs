//! Write access to a scope: takes the lock, recovers from interrupted changes, and commits new
//! ones.

use std::collections::BTreeSet;
use std::io;
use std::io::ErrorKind;
use std::time::Duration;

use cap_std::fs::{Dir, File};

use super::apply::{Site, Stop};
use super::error::{FsAction, FsError, JOURNAL, Owner, Result, refuse_journal};
use super::journal::{ChangeSet, DONE, PLAN, Plan, PlanFault, StagedChange, Step, TXN, UNDO};
use super::path::RelPath;
use super::scope::{
    EntryKind, FolderEntry, ReadFault, WriteScope, io_error, list_dir, mode_of, open_child,
};
use super::sys::{FileMode, Flush};
use super::{lock, proof, sys};
use crate::ContentHash;

pub(super) const TEMP_TAIL: &str = ".nacre-tmp";

const MAX_REPLACED_BYTES: u64 = 256 << 20;

/// How many files to flush at the same time. The files of a smaller change set are flushed one by
/// one, so that `make torture` can interrupt each of these calls.
const FLUSHED_AT_ONCE: usize = 16;

/// Maximum number of invalid plans to keep for inspection.
const MAX_SET_ASIDE: u32 = 1000;

/// Holds a scope's lock. All journaled changes go through a writer.
#[derive(Debug)]
pub struct Writer<'a> {
    scope: &'a WriteScope,
    journal: Dir,
    recovery: Recovery,
    _lock: File,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Recovery {
    #[default]
    Clean,
    /// An uncommitted change was removed.
    Discarded,
    /// A committed change was finished.
    Finished,
    /// A committed change conflicted with the user's edits and was reverted.
    Undone { conflicts: Vec<RelPath> },
    /// A plan that was damaged or not written by this user was set aside.
    SetAside,
}

impl WriteScope {
    pub fn lock(&self, owner: &Owner, patience: Duration) -> Result<Writer<'_>> {
        let full = self.path.join(JOURNAL);
        let made = match sys::make_dir(&self.dir, JOURNAL, 0o700) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
            Err(error) => Err(error),
            Ok(()) => sys::sync_dir(&self.dir),
        };
        made.map_err(|error| io_error(FsAction::MakeFolder, &full, error))?;
        let journal = open_child(&self.dir, &full, JOURNAL)?;
        let lock = lock::acquire(&journal, &full, owner, patience)?;
        // Older versions left a store's private directories readable by other users. The journal's
        // mode shows whether such a version created this store.
        if sys::set_dir_mode(&self.dir, JOURNAL, 0o700).unwrap_or(false) {
            self.close_folders(&self.dir, "");
        }
        let mut writer = Writer { scope: self, journal, recovery: Recovery::Clean, _lock: lock };
        writer.recovery = writer.recover()?;
        Ok(writer)
    }

    /// Makes private directories inaccessible to other users. Directories inside a private
    /// directory are not changed.
    fn close_folders(&self, dir: &Dir, at: &str) {
        let full = self.path.join(at);
        let entries = list_dir(dir, &full).unwrap_or_default();
        for FolderEntry { name, .. } in
            entries.into_iter().filter(|of| of.kind == EntryKind::Folder)
        {
            let path = format!("{at}{name}");
            if self.access.is_private(&path) {
                // Ignore errors: the mode of another user's directory cannot be changed.
                let _ = sys::set_dir_mode(dir, &name, 0o700);
            } else if let ("", Ok(dir)) = (at, open_child(dir, &full, &name)) {
                self.close_folders(&dir, &format!("{name}/"));
            }
        }
    }

    /// Returns whether the journal contains an interrupted change or the remains of one. Costs two
    /// `stat` calls.
    pub fn is_interrupted(&self) -> Result<bool> {
        let has = |name: &str| self.has(&RelPath::new(&format!("{JOURNAL}/{name}"))?);
        Ok(has(TXN)? || has(DONE)?)
    }

    /// Returns whether the journal contains a plan that is damaged or was not written by this user.
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
    pub fn scope(&self) -> &WriteScope {
        self.scope
    }

    pub fn recovery(&self) -> &Recovery {
        &self.recovery
    }

    /// Replaces one of Nacre's own files atomically. The mode is kept, except that a private file
    /// always becomes accessible only to its owner.
    ///
    /// Files that users edit must be changed through a [`ChangeSet`], which detects their edits.
    pub fn write_atomic(&self, path: &RelPath, bytes: &[u8]) -> Result<()> {
        refuse_journal(path)?;
        let mode = match mode_of(&self.scope.parent_of(path)?, path.name()) {
            Ok(bits) => self.replacement_mode(path, bits),
            Err(ReadFault::Io(error)) if error.kind() == ErrorKind::NotFound => {
                self.scope.access.file_mode(path)
            }
            Err(fault) => return Err(fault.at(&self.scope.full(path))),
        };
        let temp = format!(".{}{TEMP_TAIL}", path.name());
        self.scope.replace(path, &temp, bytes, mode, Flush::Now)
    }

    /// Applies all changes in `set` or none of them, and returns the paths of conflict copies.
    ///
    /// A conflict copy is needed if an editor writes to a file through a handle that it opened
    /// before the swap. The editor's version is then stored next to the file.
    pub fn commit(&self, set: ChangeSet) -> Result<Vec<RelPath>> {
        let changes = set.into_ordered()?;
        if changes.is_empty() {
            return Ok(Vec::new());
        }
        // An earlier change by this writer may be incomplete and must be recovered first.
        if self.scope.is_interrupted()? {
            self.recover()?;
        }
        let conflicts = self.conflicts(&changes)?;
        if !conflicts.is_empty() {
            return Err(FsError::Conflict { paths: conflicts });
        }
        let plan = self.stage(&changes).map_err(|error| match self.clear(TXN) {
            Ok(()) => error,
            Err(_) => self.interruption_error(error),
        })?;
        let txn = self.open_txn().map_err(|error| self.interruption_error(error))?;
        self.follow(&txn, &plan)
    }

    fn conflicts(&self, changes: &[StagedChange]) -> Result<Vec<RelPath>> {
        let mut conflicts = Vec::new();
        for change in changes {
            let is_expected = match change.before {
                None => !self.scope.has(&change.path)?,
                Some(before) => match self.scope.read_optional(&change.path, MAX_REPLACED_BYTES) {
                    Ok(bytes) => bytes.is_some_and(|bytes| ContentHash::of(&bytes) == before),
                    Err(FsError::NotAFile { .. } | FsError::TooLarge { .. }) => false,
                    Err(error) => return Err(error),
                },
            };
            if !is_expected {
                conflicts.push(change.path.clone());
            }
        }
        Ok(conflicts)
    }

    /// Writes the new files and the plan to the journal. The change is committed once this function
    /// returns.
    fn stage(&self, changes: &[StagedChange]) -> Result<Plan> {
        let full = self.scope.path.join(JOURNAL);
        let failed = |error| io_error(FsAction::Write, &full, error);
        sys::make_dir(&self.journal, TXN, 0o700).map_err(failed)?;
        let txn = self.open_txn()?;
        let at_once = if changes.len() < FLUSHED_AT_ONCE { 1 } else { FLUSHED_AT_ONCE };
        let (mut steps, mut unflushed) = (Vec::with_capacity(changes.len()), Vec::new());
        for (change, slot) in changes.iter().zip(0_u32..) {
            if let Some(bytes) = &change.bytes {
                let mode = self.mode_for(change)?;
                let file = sys::write_new(&txn, &slot.to_string(), bytes, mode, Flush::Later);
                unflushed.push(file.map_err(failed)?);
            }
            if unflushed.len() == at_once {
                sys::sync_all(&unflushed).map_err(failed)?;
                unflushed.clear();
            }
            steps.push(step(change, slot));
        }
        sys::sync_all(&unflushed).map_err(failed)?;
        let plan = Plan::new(steps, self.missing_dirs(changes)?);
        sys::sync_dir(&txn).map_err(failed)?;
        sys::sync_dir(&self.journal).map_err(failed)?;
        plan.commit(self.scope, &txn).and_then(|()| sys::sync_dir(&txn)).map_err(failed)?;
        Ok(plan)
    }

    fn mode_for(&self, StagedChange { path, before, .. }: &StagedChange) -> Result<FileMode> {
        if before.is_none() {
            return Ok(self.scope.access.file_mode(path));
        }
        match mode_of(&self.scope.parent_of(path)?, path.name()) {
            Ok(bits) => Ok(self.replacement_mode(path, bits)),
            Err(ReadFault::Io(error)) if error.kind() != ErrorKind::NotFound => {
                Err(io_error(FsAction::Read, &self.scope.full(path), error))
            }
            // The path was a plain file when it was read, so the user has changed it since then.
            Err(_) => Err(FsError::Conflict { paths: vec![path.clone()] }),
        }
    }

    /// Returns the mode for a file that replaces one whose permissions are `bits`. A private file
    /// is never accessible to other users.
    fn replacement_mode(&self, path: &RelPath, bits: u32) -> FileMode {
        FileMode(if self.scope.access.is_private(path.as_str()) { bits & 0o700 } else { bits })
    }

    fn missing_dirs(&self, changes: &[StagedChange]) -> Result<Vec<RelPath>> {
        let parents: BTreeSet<_> = changes.iter().map(|change| change.path.parent()).collect();
        let mut missing = BTreeSet::new();
        for mut dir in parents {
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

    fn follow(&self, txn: &Dir, plan: &Plan) -> Result<Vec<RelPath>> {
        let mut site = Site::new(self.scope, txn);
        let stop = match site.forward(plan) {
            Ok(()) => return self.finish().map_err(|error| self.interruption_error(error)),
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
                Err(self.interruption_error(error))
            }
        }
    }

    fn interruption_error(&self, error: FsError) -> FsError {
        FsError::Interrupted { path: self.scope.path.clone(), source: Box::new(error) }
    }

    fn take_back(&self, site: &mut Site<'_>, plan: &Plan) -> Result<Vec<RelPath>> {
        site.backward(plan)?;
        self.finish()
    }

    /// Marks the change as complete, then removes its files from the journal.
    fn finish(&self) -> Result<Vec<RelPath>> {
        let full = self.scope.path.join(JOURNAL);
        sys::rename(&self.journal, TXN, &self.journal, DONE)
            .and_then(|()| sys::sync_dir(&self.journal))
            .map_err(|error| io_error(FsAction::Write, &full, error))?;
        Ok(self.clear_done().unwrap_or_default())
    }

    /// Removes a completed change's files. If a file's content is neither the old nor the new
    /// version, the user wrote it during the swap, so a copy is stored next to the target.
    fn clear_done(&self) -> Result<Vec<RelPath>> {
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
                // Without the plan, the user's content cannot be distinguished from ours, so the
                // files are kept.
                Err(PlanFault::Unreadable(error)) => {
                    return Err(io_error(FsAction::Read, &full, error));
                }
            }
        }
        self.clear(DONE)?;
        Ok(kept)
    }

    fn clear(&self, name: &str) -> Result<()> {
        let full = self.scope.path.join(JOURNAL).join(name);
        let dir = match open_child(&self.journal, &full, name) {
            Err(error) if error.is_missing() => return Ok(()),
            dir => dir?,
        };
        let failed = |error| io_error(FsAction::Remove, &full, error);
        // Remove the plan first: without it, the other files are not needed.
        for plan in [PLAN, UNDO] {
            remove_if_there(&dir, plan).map_err(failed)?;
        }
        let entries = list_dir(&dir, &full)?;
        // Nacre never stages directories, so it did not create this one.
        if entries.iter().any(|entry| entry.kind == EntryKind::Folder) {
            return self.set_aside(name);
        }
        for entry in entries {
            remove_if_there(&dir, &entry.name).map_err(failed)?;
        }
        match sys::remove_dir(&self.journal, name) {
            Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => self.set_aside(name),
            removed => removed.map_err(failed),
        }
    }

    fn open_txn(&self) -> Result<Dir> {
        open_child(&self.journal, &self.scope.path.join(JOURNAL).join(TXN), TXN)
    }

    fn recover(&self) -> Result<Recovery> {
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

    /// Reads a plan. If the plan is not ours, sets it aside and returns `Err` with the recovery's
    /// result.
    fn load(&self, txn: &Dir, name: &str) -> Result<Option<Plan>, Result<Recovery>> {
        Plan::load(self.scope, txn, name).map_err(|fault| match fault {
            PlanFault::Unreadable(error) => {
                Err(io_error(FsAction::Read, &self.scope.path.join(JOURNAL).join(TXN), error))
            }
            PlanFault::NotOurs => self.set_aside(TXN).map(|()| Recovery::SetAside),
        })
    }

    /// Renames part of the journal instead of deleting it, because only our own files may be
    /// deleted.
    fn set_aside(&self, name: &str) -> Result<()> {
        let full = self.scope.path.join(JOURNAL).join(name);
        let failed = |error| io_error(FsAction::Move, &full, error);
        let is_free = |name: &String| self.journal.symlink_metadata(name).is_err();
        // An untrusted repository may already use all of these numbers in order to block the store.
        let free = match (1..=MAX_SET_ASIDE).map(|n| format!("bad-{n}")).find(is_free) {
            Some(free) => free,
            None => format!("bad-{}", ContentHash::of(&proof::random().map_err(failed)?).short()),
        };
        // We hold the lock, so the name is still free. A rename does not follow links.
        sys::rename(&self.journal, name, &self.journal, &free).map_err(failed)
    }

    /// Removes temporary files from the scope's top directory, the only place where `write_atomic`
    /// creates them.
    fn reap_temps(&self) -> Result<()> {
        for entry in list_dir(&self.scope.dir, &self.scope.path)? {
            if entry.name.starts_with('.') && entry.name.ends_with(TEMP_TAIL) {
                let _ = remove_if_there(&self.scope.dir, &entry.name);
            }
        }
        Ok(())
    }
}

fn step(StagedChange { path, before, bytes }: &StagedChange, slot: u32) -> Step {
    let (path, after) = (path.clone(), bytes.as_deref().map(ContentHash::of));
    match (*before, after) {
        (None, after) => Step::Create { path, slot, after: after.unwrap_or(ContentHash::of(&[])) },
        (Some(before), Some(after)) => Step::Replace { path, slot, before, after },
        (Some(before), None) => Step::Remove { path, slot, before },
    }
}

pub(super) fn remove_if_there(dir: &Dir, name: &str) -> io::Result<()> {
    match sys::remove_file(dir, name) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}
