//! Applies a journaled plan, forward or backward, any number of times.
//!
//! The files on disk show which steps were already applied, so an interrupted plan is applied again
//! from the start, even if recovery itself was interrupted. Files are never overwritten: the new
//! file is swapped in, and the displaced file is checked. If the displaced file is not the one that
//! the caller read, the user changed it in the meantime, so it is swapped back and the whole change
//! is undone.

use std::collections::BTreeMap;
use std::io;
use std::io::ErrorKind;

use cap_std::fs::Dir;

use super::error::{FsAction, FsError, Result};
use super::journal::{Plan, Step};
use super::path::RelPath;
use super::scope::{ReadFault, WriteScope, clone_dir, io_error, read_file};
use super::sys;
use super::sys::Exchange;
use crate::ContentHash;

/// Nacre never replaces files larger than this, so a larger file cannot be the one that the caller
/// read.
const MAX_HASHED_BYTES: u64 = 256 << 20;

const MAX_RESCUES: u32 = 10_000;

#[derive(Debug)]
pub(super) enum Stop {
    Conflict(RelPath),
    Failed(FsError),
}

impl From<FsError> for Stop {
    fn from(error: FsError) -> Self {
        Self::Failed(error)
    }
}

pub(super) struct Site<'a> {
    scope: &'a WriteScope,
    txn: &'a Dir,
    /// Parent directories by path. The scope's own directory has the key `""`.
    parents: BTreeMap<String, Dir>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Slot {
    Missing,
    Holds(ContentHash),
    /// Not a plain file, or larger than any file that Nacre writes.
    Strange,
}

impl<'a> Site<'a> {
    pub(super) fn new(scope: &'a WriteScope, txn: &'a Dir) -> Self {
        Self { scope, txn, parents: BTreeMap::new() }
    }

    pub(super) fn forward(&mut self, plan: &Plan) -> Result<(), Stop> {
        for dir in &plan.new_dirs {
            self.make_dir(dir)?;
        }
        for step in &plan.steps {
            let dir = self.open_parent(step)?;
            self.part_twins(&dir, step)?;
            match step {
                Step::Create { .. } => self.create(&dir, step)?,
                Step::Replace { before, after, .. } => self.replace(&dir, step, *before, *after)?,
                Step::Remove { before, .. } => self.remove(&dir, step, *before)?,
            }
        }
        self.flush()?;
        plan.steps.iter().try_for_each(|step| self.check_displaced(step))
    }

    pub(super) fn backward(&mut self, plan: &Plan) -> Result<()> {
        for step in plan.steps.iter().rev() {
            let dir = match self.open_parent(step) {
                Err(error) if is_gone(&error) => continue,
                dir => dir?,
            };
            self.part_twins(&dir, step)?;
            match step {
                Step::Create { after, .. } => self.uncreate(&dir, step, *after)?,
                Step::Replace { before, after, .. } => {
                    self.unreplace(&dir, step, *before, *after)?;
                }
                Step::Remove { .. } => self.unremove(&dir, step)?,
            }
        }
        for dir in plan.new_dirs.iter().rev() {
            self.parents.remove(dir.as_str());
            if let Ok(parent) = self.scope.parent_of(dir) {
                // This fails, as intended, if the directory is not empty.
                let _ = sys::remove_dir(&parent, dir.name());
            }
        }
        self.parents.retain(|path, _| plan.new_dirs.iter().all(|dir| dir.as_str() != path));
        self.flush()
    }

    /// Looks in the journal for files whose content is neither the old nor the new version, which
    /// means that the user wrote to them during the swap. Stores each as a conflict copy and
    /// returns the paths of the copies.
    pub(super) fn rescue(&mut self, plan: &Plan) -> Result<Vec<RelPath>> {
        let mut rescued = Vec::new();
        for step in &plan.steps {
            for slot in [step.staging_name(), step.backup_name()] {
                if !self.is_known(&slot, step)? {
                    rescued.push(self.rescue_slot(&slot, step)?);
                }
            }
        }
        Ok(rescued)
    }

    fn make_dir(&self, dir: &RelPath) -> Result<()> {
        let parent = self.scope.parent_of(dir)?;
        match sys::make_dir(&parent, dir.name(), self.scope.access.folder_mode(dir.as_str())) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                Err(io_error(FsAction::MakeFolder, &self.scope.full(dir), error))
            }
            // Also sync a directory that already exists, because an interrupted attempt may have
            // created it without syncing it.
            _ => sync(&parent, self.scope, dir),
        }
    }

    fn open_parent(&mut self, step: &Step) -> Result<Dir> {
        let key = step.path().parent().map_or_else(String::new, String::from);
        if !self.parents.contains_key(&key) {
            self.parents.insert(key.clone(), self.scope.parent_of(step.path())?);
        }
        clone_dir(&self.parents[&key], &self.scope.path)
    }

    fn flush(&self) -> Result<()> {
        for (path, dir) in &self.parents {
            sys::sync_dir(dir)
                .map_err(|error| io_error(FsAction::Write, &self.scope.path.join(path), error))?;
        }
        sys::sync_dir(self.txn).map_err(|error| io_error(FsAction::Write, &self.scope.path, error))
    }

    /// Completes a link-then-unlink move that was interrupted between the two calls, leaving the
    /// file both at its path and in a slot.
    fn part_twins(&self, dir: &Dir, step: &Step) -> Result<()> {
        for slot in [step.staging_name(), step.backup_name()] {
            if sys::is_same_file(self.txn, &slot, dir, step.path().name()) {
                sys::remove_file(self.txn, &slot).map_err(|error| self.move_error(step, error))?;
            }
        }
        Ok(())
    }

    fn create(&self, dir: &Dir, step: &Step) -> Result<(), Stop> {
        if self.slot(&step.staging_name(), step)? == Slot::Missing {
            return Ok(());
        }
        self.place(dir, &step.staging_name(), step)
    }

    fn replace(
        &self,
        dir: &Dir,
        step: &Step,
        before: ContentHash,
        after: ContentHash,
    ) -> Result<(), Stop> {
        let staged = self.slot(&step.staging_name(), step)?;
        let displaced = self.slot(&step.backup_name(), step)?;
        match (staged, displaced) {
            (Slot::Missing, _) => Ok(()),
            (Slot::Holds(hash), Slot::Missing) if hash == before => Ok(()),
            (Slot::Holds(hash), Slot::Missing) if hash == after => self.swap_in(dir, step, before),
            (Slot::Holds(hash), _) if hash == after => self.place(dir, &step.staging_name(), step),
            _ => Err(Stop::Conflict(step.path().clone())),
        }
    }

    fn swap_in(&self, dir: &Dir, step: &Step, before: ContentHash) -> Result<(), Stop> {
        let name = step.path().name();
        match sys::exchange(self.txn, &step.staging_name(), dir, name) {
            Ok(Exchange::Done) if self.slot(&step.staging_name(), step)? == Slot::Holds(before) => {
                Ok(())
            }
            Ok(Exchange::Done) => Err(Stop::Conflict(step.path().clone())),
            Ok(Exchange::Unsupported) => {
                self.displace(dir, step, before)?;
                self.place(dir, &step.staging_name(), step)
            }
            Err(error) => Err(self.stop(step, error)),
        }
    }

    fn remove(&self, dir: &Dir, step: &Step, before: ContentHash) -> Result<(), Stop> {
        if self.slot(&step.backup_name(), step)? != Slot::Missing {
            return Ok(());
        }
        self.displace(dir, step, before)
    }

    fn displace(&self, dir: &Dir, step: &Step, before: ContentHash) -> Result<(), Stop> {
        sys::rename(dir, step.path().name(), self.txn, &step.backup_name())
            .map_err(|error| self.stop(step, error))?;
        if self.slot(&step.backup_name(), step)? == Slot::Holds(before) {
            return Ok(());
        }
        Err(Stop::Conflict(step.path().clone()))
    }

    fn place(&self, dir: &Dir, slot: &str, step: &Step) -> Result<(), Stop> {
        sys::rename_new(self.txn, slot, dir, step.path().name())
            .map_err(|error| self.stop(step, error))
    }

    /// Checks the displaced file again, because an editor may have written to it through an open
    /// handle after the first check.
    fn check_displaced(&self, step: &Step) -> Result<(), Stop> {
        let before = match step {
            Step::Create { .. } => return Ok(()),
            Step::Replace { before, .. } | Step::Remove { before, .. } => *before,
        };
        let staged = self.slot(&step.staging_name(), step)?;
        let displaced = self.slot(&step.backup_name(), step)?;
        if [staged, displaced].contains(&Slot::Holds(before)) {
            return Ok(());
        }
        Err(Stop::Conflict(step.path().clone()))
    }

    fn uncreate(&self, dir: &Dir, step: &Step, after: ContentHash) -> Result<()> {
        match self.slot(&step.staging_name(), step)? {
            Slot::Holds(hash) if hash == after => return Ok(()),
            Slot::Missing => self.take_away(dir, &step.staging_name(), step)?,
            Slot::Holds(_) | Slot::Strange => {}
        }
        self.give_back_unless(dir, step, after)
    }

    fn unreplace(
        &self,
        dir: &Dir,
        step: &Step,
        before: ContentHash,
        after: ContentHash,
    ) -> Result<()> {
        let staged = self.slot(&step.staging_name(), step)?;
        let displaced = self.slot(&step.backup_name(), step)?;
        match (staged, displaced) {
            (Slot::Holds(hash), Slot::Missing) if hash == after => Ok(()),
            (Slot::Missing, Slot::Missing) => Ok(()),
            (_, Slot::Missing) => self.swap_back(dir, step, before, after),
            (Slot::Holds(hash), _) if hash == after => {
                self.put_if_free(dir, &step.backup_name(), step)
            }
            (Slot::Missing, _) => {
                self.take_away(dir, &step.staging_name(), step)?;
                self.give_back_unless(dir, step, after)?;
                self.put_if_free(dir, &step.backup_name(), step)
            }
            (_, _) => self.put_if_free(dir, &step.staging_name(), step),
        }
    }

    /// Swaps the displaced file back. The file it replaces, which is our version or the user's edit
    /// of it, remains in the slot.
    fn swap_back(
        &self,
        dir: &Dir,
        step: &Step,
        before: ContentHash,
        after: ContentHash,
    ) -> Result<()> {
        let name = step.path().name();
        let staged = step.staging_name();
        let came_out = match sys::exchange(self.txn, &staged, dir, name) {
            Ok(_) => self.slot(&staged, step)?,
            // The user deleted our version. If the displaced file contains an edit by the user,
            // that edit is still kept.
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return match self.slot(&staged, step)? {
                    Slot::Holds(hash) if hash == before => Ok(()),
                    Slot::Holds(_) | Slot::Missing | Slot::Strange => {
                        self.put_if_free(dir, &staged, step)
                    }
                };
            }
            Err(error) => return Err(self.move_error(step, error)),
        };
        let edited = came_out != Slot::Holds(after) && came_out != Slot::Holds(before);
        if edited {
            sys::exchange(self.txn, &staged, dir, name)
                .map_err(|error| self.move_error(step, error))?;
        }
        Ok(())
    }

    fn unremove(&self, dir: &Dir, step: &Step) -> Result<()> {
        match self.slot(&step.backup_name(), step)? {
            Slot::Missing => Ok(()),
            Slot::Holds(_) | Slot::Strange => self.put_if_free(dir, &step.backup_name(), step),
        }
    }

    fn take_away(&self, dir: &Dir, slot: &str, step: &Step) -> Result<()> {
        match sys::rename(dir, step.path().name(), self.txn, slot) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            moved => moved.map_err(|error| self.move_error(step, error)),
        }
    }

    fn give_back_unless(&self, dir: &Dir, step: &Step, after: ContentHash) -> Result<()> {
        match self.slot(&step.staging_name(), step)? {
            Slot::Missing => Ok(()),
            Slot::Holds(hash) if hash == after => Ok(()),
            Slot::Holds(_) | Slot::Strange => self.put_if_free(dir, &step.staging_name(), step),
        }
    }

    fn put_if_free(&self, dir: &Dir, slot: &str, step: &Step) -> Result<()> {
        match sys::rename_new(self.txn, slot, dir, step.path().name()) {
            Err(error)
                if matches!(error.kind(), ErrorKind::AlreadyExists | ErrorKind::NotFound) =>
            {
                Ok(())
            }
            moved => moved.map_err(|error| self.move_error(step, error)),
        }
    }

    fn is_known(&self, slot: &str, step: &Step) -> Result<bool> {
        let hash = match self.slot(slot, step)? {
            Slot::Missing => return Ok(true),
            Slot::Strange => return Ok(false),
            Slot::Holds(hash) => hash,
        };
        Ok(match step {
            Step::Create { after, .. } => hash == *after,
            Step::Replace { before, after, .. } => hash == *before || hash == *after,
            Step::Remove { before, .. } => hash == *before,
        })
    }

    fn rescue_slot(&mut self, slot: &str, step: &Step) -> Result<RelPath> {
        let (dir, base) = match self.open_parent(step) {
            Err(error) if is_gone(&error) => {
                (clone_dir(&self.scope.dir, &self.scope.path)?, step.path().name())
            }
            dir => (dir?, step.path().as_str()),
        };
        for n in 1..=MAX_RESCUES {
            let copy = RelPath::new(&format!("{base}.conflict-{n}"))?;
            match sys::rename_new(self.txn, slot, &dir, copy.name()) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(self.move_error(step, error)),
                Ok(()) => return sync(&dir, self.scope, &copy).map(|()| copy),
            }
        }
        Err(FsError::Conflict { paths: vec![step.path().clone()] })
    }

    fn slot(&self, name: &str, step: &Step) -> Result<Slot> {
        match read_file(self.txn, name, MAX_HASHED_BYTES) {
            Ok(bytes) => Ok(Slot::Holds(ContentHash::of(&bytes))),
            Err(ReadFault::Io(error)) if error.kind() == ErrorKind::NotFound => Ok(Slot::Missing),
            Err(ReadFault::Io(error)) => {
                Err(io_error(FsAction::Read, &self.scope.full(step.path()), error))
            }
            Err(ReadFault::NotAFile | ReadFault::TooLarge { .. }) => Ok(Slot::Strange),
        }
    }

    /// Treats a file that unexpectedly exists or is missing as a conflict with a change by the
    /// user. Any other error is an I/O failure.
    fn stop(&self, step: &Step, error: io::Error) -> Stop {
        if matches!(error.kind(), ErrorKind::AlreadyExists | ErrorKind::NotFound) {
            return Stop::Conflict(step.path().clone());
        }
        Stop::Failed(self.move_error(step, error))
    }

    fn move_error(&self, step: &Step, error: io::Error) -> FsError {
        io_error(FsAction::Move, &self.scope.full(step.path()), error)
    }
}

fn is_gone(error: &FsError) -> bool {
    error.is_missing() || matches!(error, FsError::NotAFolder { .. })
}

fn sync(dir: &Dir, scope: &WriteScope, path: &RelPath) -> Result<()> {
    sys::sync_dir(dir).map_err(|error| io_error(FsAction::Write, &scope.full(path), error))
}
