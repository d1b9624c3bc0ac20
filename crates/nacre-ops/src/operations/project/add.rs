//! Prepares the repository at a path.

use nacre_api::wire::{ErrorCode, ProjectAddReport, ProjectAddRequest};
use nacre_engine::flows::change::ProjectRecord;

use super::prepare::NewProject;
use super::record::{record, registered};
use crate::error::OpError;
use crate::host::Host;

/// Does what `init` does, for the folder that is named.
pub fn add(host: &Host, request: &ProjectAddRequest) -> Result<ProjectAddReport, OpError> {
    let ProjectAddRequest { path, name } = request;
    let root = host.environment.absolute(path);
    if !root.is_dir() {
        let error = OpError::failed(format!("`{}` is not a folder", root.display()));
        return Err(OpError { code: ErrorCode::NotFound, ..error }
            .hint("Give the repository's folder: nacre project add PATH"));
    }
    let new = NewProject::at(host, &root)?;
    // First, so that a name that is taken leaves no store behind.
    let project = host.register(&root, name.as_deref())?;
    let before = registered(&host.projects);
    let mut after = before.clone();
    after.retain(|known| known.path != root);
    after.push(ProjectRecord { name: project.clone(), path: root.clone() });
    let prepared = new.prepare(host, Some(project))?;
    let command = format!("project add {}", root.display());
    let change = record(host, &command, &before, &after)?;
    Ok(ProjectAddReport { path: root.display().to_string(), prepared, change })
}
