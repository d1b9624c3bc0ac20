//! The repository that the workspace is the top of: its state, its history, and commits.
//!
//! The `git` of the system is started with fixed arguments, the one way that `nacre_core::base::git` has: nothing of the
//! repository can start anything else.

mod add;
mod commit;
mod diff;
mod log;
mod program;
mod revision;
mod show;
mod status;

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use nacre_core::base::git::GitProgram;

use super::super::footprint::{Area, Exec, Footprint};
use super::super::tool::{AnyTool, ToolError};
use super::super::workspace::Workspace;

pub use program::WorkspaceGit;

const TOOLKIT: &str = "git";

const GIT_LIMIT: Duration = Duration::from_secs(30);

/// All git tools over one workspace.
pub fn tools(workspace: &Arc<Workspace>, program: GitProgram) -> Vec<Arc<dyn AnyTool>> {
    let git = Arc::new(WorkspaceGit::new(Arc::clone(workspace), program));
    let git = || Arc::clone(&git);
    vec![
        Arc::new(status::GitStatus { git: git() }),
        Arc::new(diff::GitDiff { git: git() }),
        Arc::new(log::GitLog { git: git() }),
        Arc::new(show::GitShow { git: git() }),
        Arc::new(add::GitAdd { git: git() }),
        Arc::new(commit::GitCommit { git: git() }),
    ]
}

/// Looks at the repository, and at the one place if a call names it.
fn looking(git: &WorkspaceGit, path: Option<&str>) -> Result<Footprint, ToolError> {
    let area = match path {
        Some(path) => Area::File(git.place(path)?),
        None => Area::Tree(None),
    };
    Ok(Footprint { exec: Exec::Helper, ..Footprint::reading([area]) })
}

/// Changes the repository: only for who may change all that a commit can hold.
fn recording(areas: Vec<Area>) -> Footprint {
    let writes = vec![Area::Tree(None)];
    Footprint { writes, exec: Exec::Helper, ..Footprint::reading(areas) }
}

/// The schemas of what a model writes for these, from their types.
#[cfg(test)]
pub(crate) fn derived_schemas() -> Vec<(String, serde_json::Value)> {
    use crate::schemas::derived;
    vec![
        derived::<status::StatusInput>(),
        derived::<diff::DiffInput>(),
        derived::<log::LogInput>(),
        derived::<show::ShowInput>(),
        derived::<add::AddInput>(),
        derived::<commit::CommitInput>(),
    ]
}
