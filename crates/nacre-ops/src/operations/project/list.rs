//! Lists the registered projects, in the order of the register.

use std::path::Path;

use nacre_api::wire::{ProjectEntry, ProjectListReport, ProjectListRequest, ProjectState};

use crate::error::OpError;
use crate::host::{Host, STORE_FOLDER};

pub fn list(host: &Host, request: &ProjectListRequest) -> Result<ProjectListReport, OpError> {
    let ProjectListRequest {} = request;
    Ok(ProjectListReport { projects: entries(host) })
}

/// Every registered project.
pub(crate) fn entries(host: &Host) -> Vec<ProjectEntry> {
    let projects = host.projects.iter().map(|project| ProjectEntry {
        name: project.name.clone(),
        path: project.path.display().to_string(),
        state: state(&project.path),
    });
    projects.collect()
}

fn state(path: &Path) -> ProjectState {
    match (path.is_dir(), path.join(STORE_FOLDER).is_dir()) {
        (true, true) => ProjectState::Ready,
        (true, false) => ProjectState::NoStore,
        (false, _) => ProjectState::Missing,
    }
}
