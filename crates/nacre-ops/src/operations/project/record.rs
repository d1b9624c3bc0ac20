//! Writes down what changed in the register of projects, so that it can be undone.

use std::path::Path;

use nacre_core::config::projects::Projects;
use nacre_engine::flows::change::{ProjectRecord, Reversal};
use nacre_engine::flows::run::RunMode;

use crate::error::OpError;
use crate::host::Host;
use crate::operations::recording::{OutsideChange, own_store, record_outside};

/// The projects of the register at one moment.
pub(super) fn registered(projects: &Projects) -> Vec<ProjectRecord> {
    let record =
        |name: &str, path: &Path| ProjectRecord { name: name.to_owned(), path: path.to_owned() };
    projects.iter().map(|project| record(&project.name, &project.path)).collect()
}

/// Leaves a run in the person's own store; `None` where the register is as it was.
pub(super) fn record(
    host: &Host,
    command: &str,
    before: &[ProjectRecord],
    after: &[ProjectRecord],
) -> Result<Option<String>, OpError> {
    let only = |some: &[ProjectRecord], other: &[ProjectRecord]| {
        some.iter().filter(|project| !other.contains(project)).cloned().collect::<Vec<_>>()
    };
    let (added, removed) = (only(after, before), only(before, after));
    if added.is_empty() && removed.is_empty() {
        return Ok(None);
    }
    let (mode, reversal) = (RunMode::Project, Reversal::Projects { added, removed });
    let change = OutsideChange { mode, command, undoes: None, reversal, before: None };
    record_outside(host, &own_store(host)?, change).map(Some)
}
