//! Copies of stores on which a dry run does in earnest what it only shows: each session then finds what the earlier ones
//! would leave.

use std::path::Path;

use nacre_core::memory::Store;
use nacre_core::safefs::{Access, FsError, RelPath, WriteScope, Writer};
use nacre_core::search::{INDEX_FOLDER, index_scope};

use crate::error::OpError;
use crate::host::Host;

/// The folder below the global one. Its lock is held while copies are in it, so what else is found there was left by a
/// dry run that was killed.
const FOLDER: &str = "rehearsal";
const COPIES: &str = "stores";

/// What of a store matters to a sync.
const PARTS: &[&str] =
    &["memory", "meta/evidence", "meta/state", "meta/sessions", "meta/tombstones"];

/// Larger files are not part of a store.
const MAX_FILE_BYTES: u64 = 256 << 20;

/// The place of the copies; none are left when it is dropped.
pub(super) struct Rehearsal<'s> {
    writer: Writer<'s>,
    copies: RelPath,
    n_copied: usize,
}

/// Opens the folder of the copies.
pub(super) fn rehearsal_scope(host: &Host) -> Result<WriteScope, OpError> {
    Ok(WriteScope::create_inside(host.home_scope()?.path(), FOLDER, Access::Private)?)
}

impl<'s> Rehearsal<'s> {
    pub(super) fn begin(host: &Host, scope: &'s WriteScope) -> Result<Self, OpError> {
        let writer = scope.lock(&host.owner("sync"), host.settings().lock.wait)?;
        let copies = RelPath::new(COPIES)?;
        writer.remove_scratch(&copies)?;
        Ok(Self { writer, copies, n_copied: 0 })
    }

    /// A copy of the store of `project`, under the same settings.
    pub(super) fn copy(
        &mut self,
        host: &Host,
        of: &Store,
        project: &Path,
    ) -> Result<Store, OpError> {
        let scope = self.writer.scope();
        let folder = WriteScope::create_inside(scope.path(), COPIES, Access::Private)?;
        let name = self.n_copied.to_string();
        self.n_copied += 1;
        let copy = WriteScope::create_inside(folder.path(), &name, Access::Private)?;
        // What is a person's own is their own in the copy, too.
        let copy = host.sealed(copy);
        for part in PARTS {
            copy.copy_from(of.scope(), &RelPath::new(part)?, MAX_FILE_BYTES)?;
        }
        if let Some(around) = index_scope(of) {
            copy.copy_from(&around, &RelPath::new(INDEX_FOLDER)?, MAX_FILE_BYTES)?;
        }
        host.copy_of_store(of, copy, &host.settings_for(project)?)
    }

    fn clear(&self) -> Result<(), FsError> {
        self.writer.remove_scratch(&self.copies)
    }
}

impl Drop for Rehearsal<'_> {
    fn drop(&mut self) {
        // What cannot be removed now is removed by the next one.
        let _ = self.clear();
    }
}
