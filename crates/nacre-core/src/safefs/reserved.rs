//! The folder of a scope that belongs to the journal: no change set may touch it.

use super::error::FsError;
use super::path::RelPath;

/// The journal's folder inside a scope.
pub(super) const JOURNAL: &str = "journal";

/// Refuses paths below the journal, in any case: some file systems do not tell `Journal` from it.
pub(super) fn refuse_journal(path: &RelPath) -> Result<(), FsError> {
    match path.components().next() {
        Some(first) if first.eq_ignore_ascii_case(JOURNAL) => {
            Err(FsError::Reserved { path: path.clone() })
        }
        _ => Ok(()),
    }
}
