//! A cache that moves between the clear and under seal: what was there before goes, and who started before writes nothing there
//! any more.

use nacre_core::safefs::{FsError, RelPath, WriteScope, Writer};

use super::cache::Cache;
use super::packs;

/// Stands in a cache that lies in the clear while the map is kept encrypted.
const MARKER: &str = "encrypted";

const MARKER_TEXT: &[u8] = b"The map is kept encrypted. Nothing is written here.\n";

impl Cache {
    /// Removes everything, if there is anything.
    pub fn clear(&self) -> Result<(), FsError> {
        if self.kept_folders().is_empty() {
            return Ok(());
        }
        let scope = self.scope()?;
        self.remove_all(&self.lock(&scope)?)
    }

    /// Removes everything that lies in the clear, and tells those who started before, such as a watch, to write nothing more.
    pub fn retire(&self) -> Result<(), FsError> {
        let is_empty = || self.kept_folders().is_empty();
        // Nobody writes beside the marker, so there is nothing to see that needs the lock.
        if self.folder().join(MARKER).is_file() && is_empty() {
            return Ok(());
        }
        match self.mark_and_remove() {
            Err(error @ FsError::Busy { .. }) => Err(error),
            // Nothing is there, and nobody else can write either.
            Err(_) if is_empty() => Ok(()),
            retired => retired,
        }
    }

    fn mark_and_remove(&self) -> Result<(), FsError> {
        let scope = self.scope()?;
        let writer = self.lock(&scope)?;
        writer.put_derived(&RelPath::new(MARKER)?, MARKER_TEXT)?;
        self.remove_all(&writer)
    }

    /// Lets a cache be written again that was retired.
    pub fn reopen(&self) -> Result<(), FsError> {
        if !self.folder().join(MARKER).exists() {
            return Ok(());
        }
        let scope = self.scope()?;
        self.lock(&scope)?.remove_derived(&RelPath::new(MARKER)?)
    }

    /// Refuses to go on where files would lie in the clear and should not. Only who holds the lock can rely on it.
    pub(super) fn check_not_retired(&self, scope: &WriteScope) -> Result<(), FsError> {
        let marker = RelPath::new(MARKER)?;
        if !self.is_sealed() && scope.has(&marker)? {
            return Err(FsError::Conflict { paths: vec![marker] });
        }
        Ok(())
    }

    fn remove_all(&self, writer: &Writer<'_>) -> Result<(), FsError> {
        let folders = self.kept_folders();
        folders.iter().try_for_each(|name| writer.remove_derived_folder(&RelPath::new(name)?))
    }

    /// The folders of projects, and that of the analyses.
    fn kept_folders(&self) -> Vec<String> {
        let mut folders: Vec<String> = self.projects().into_iter().map(|(_, name)| name).collect();
        let analyses = packs::FOLDER;
        folders.extend(self.folder().join(analyses).is_dir().then(|| analyses.to_owned()));
        folders
    }
}
