//! Files that can be made again: written whole, never flushed.
//!
//! A change set survives a power cut because it waits for the disk. What is derived need not: its
//! reader checks every byte and makes it anew when it is damaged, so waiting would only cost time.

use super::error::{FsAction, FsError};
use super::owner::Owner;
use super::path::RelPath;
use super::reserved::refuse_journal;
use super::scope::{EntryKind, WriteScope, io_error};
use super::sys::{self, Flush};
use super::writer::{TEMP_TAIL, Writer, remove_if_there};

impl Writer<'_> {
    /// Puts a derived file in place, so that a reader sees the old one or the new one, whole.
    pub fn put_derived(&self, path: &RelPath, bytes: &[u8]) -> Result<(), FsError> {
        refuse_journal(path)?;
        let dir = self.scope().parent_of(path)?;
        let failed = |error| io_error(FsAction::Write, &self.scope().full(path), error);
        let temp = format!(".{}{TEMP_TAIL}", path.name());
        // The lock is ours, so a sibling of this name is what a killed writer left.
        remove_if_there(&dir, &temp).map_err(failed)?;
        let mode = self.scope().access.file_mode(path);
        let written = sys::write_new_with(&dir, &temp, bytes, mode, Flush::Later)
            .and_then(|()| sys::rename(&dir, &temp, &dir, path.name()));
        written.map_err(|error| {
            let _ = remove_if_there(&dir, &temp);
            failed(error)
        })
    }

    /// Removes a derived file; one that is not there is removed already.
    pub fn remove_derived(&self, path: &RelPath) -> Result<(), FsError> {
        refuse_journal(path)?;
        let dir = self.scope().parent_of(path)?;
        remove_if_there(&dir, path.name())
            .map_err(|error| io_error(FsAction::Write, &self.scope().full(path), error))
    }

    /// Removes a flat folder of derived files. What is no plain file in it stays, and so does the folder then.
    pub fn remove_derived_folder(&self, path: &RelPath) -> Result<(), FsError> {
        refuse_journal(path)?;
        let failed = |error| io_error(FsAction::Remove, &self.scope().full(path), error);
        let dir = match self.scope().open_dir(path) {
            Err(error) if error.is_missing() => return Ok(()),
            dir => dir?,
        };
        for entry in self.scope().list(path)? {
            if entry.kind == EntryKind::File {
                remove_if_there(&dir, &entry.name).map_err(failed)?;
            }
        }
        match sys::remove_dir(&self.scope().parent_of(path)?, path.name()) {
            Err(error) if error.kind() == std::io::ErrorKind::DirectoryNotEmpty => Ok(()),
            removed => removed.map_err(failed),
        }
    }
}

impl WriteScope {
    /// Puts a result where a person asked for it. That is no store, so there is no lock to take: the
    /// sibling that it is written to first bears the writer's number.
    pub fn put_output(&self, path: &RelPath, bytes: &[u8], owner: &Owner) -> Result<(), FsError> {
        let dir = self.parent_of(path)?;
        let failed = |error| io_error(FsAction::Write, &self.full(path), error);
        if dir.symlink_metadata(path.name()).is_ok_and(|there| !there.is_file()) {
            return Err(FsError::NotAFile { path: self.full(path) });
        }
        let temp = format!(".{}.{}{TEMP_TAIL}", path.name(), owner.pid);
        remove_if_there(&dir, &temp).map_err(failed)?;
        let written =
            sys::write_new_with(&dir, &temp, bytes, self.access.file_mode(path), Flush::Later)
                .and_then(|()| sys::rename(&dir, &temp, &dir, path.name()));
        written.map_err(|error| {
            let _ = remove_if_there(&dir, &temp);
            failed(error)
        })
    }
}
