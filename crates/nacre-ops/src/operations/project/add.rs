//! Registers a repository.

use nacre_api::wire::{ErrorCode, ProjectAddReport, ProjectAddRequest};

use super::register::register;
use crate::error::OpError;
use crate::host::Host;

pub fn add(host: &Host, request: &ProjectAddRequest) -> Result<ProjectAddReport, OpError> {
    let ProjectAddRequest { path, name } = request;
    let root = host.environment.absolute(path);
    if !root.is_dir() {
        let error = OpError::failed(format!("`{}` is not a folder", root.display()));
        return Err(OpError { code: ErrorCode::NotFound, ..error }
            .hint("Give the repository's folder: nacre project add PATH"));
    }
    let project = register(host, &root, name.as_deref())?;
    Ok(ProjectAddReport { project, path: root.display().to_string() })
}
