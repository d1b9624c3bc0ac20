//! Files of the workspace: read, found, searched and changed.

mod create;
mod delete;
mod edit;
mod find;
mod lines;
mod moving;
mod pieces;
mod read;
mod search;
mod spill;

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use nacre_core::base::ContentHash;
use nacre_core::safefs::RelPath;

use super::super::footprint::{Area, Footprint};
use super::super::tool::{AnyTool, ToolError};
use super::super::workspace::{Workspace, version_of};
use crate::record::Fault;

const TOOLKIT: &str = "file";

/// One file is quickly read or written.
const FILE_LIMIT: Duration = Duration::from_secs(10);

/// A walk over the whole workspace.
const WALK_LIMIT: Duration = Duration::from_secs(20);

/// All file tools over one workspace.
pub fn tools(workspace: &Arc<Workspace>) -> Vec<Arc<dyn AnyTool>> {
    let workspace = || Arc::clone(workspace);
    vec![
        Arc::new(read::FileRead { workspace: workspace() }),
        Arc::new(find::FileFind { workspace: workspace() }),
        Arc::new(search::FileSearch { workspace: workspace() }),
        Arc::new(create::FileCreate { workspace: workspace() }),
        Arc::new(edit::FileEdit { workspace: workspace() }),
        Arc::new(delete::FileDelete { workspace: workspace() }),
        Arc::new(moving::FileMove { workspace: workspace() }),
    ]
}

/// Reads everything below a folder; `.` is the whole workspace. The rules of git that lie above it are no secret, and
/// part of every walk.
pub(super) fn reading_below(
    workspace: &Workspace,
    under: Option<&str>,
) -> Result<Footprint, ToolError> {
    Ok(Footprint::reading([Area::Tree(workspace.folder(under)?)]))
}

/// Reads what a call is about to change, and refuses when that is not the version it means.
fn read_version(
    workspace: &Workspace,
    path: &RelPath,
    version: Option<&str>,
) -> Result<(Vec<u8>, ContentHash), ToolError> {
    let bytes = workspace.read(path)?;
    if let Some(meant) = version
        && meant != version_of(&bytes)
    {
        let what = format!(
            "`{path}` changed since version {}",
            meant.chars().take(20).collect::<String>()
        );
        return Err(ToolError::new(Fault::Stale, what, "Read it again with `file_read`."));
    }
    let hash = ContentHash::of(&bytes);
    Ok((bytes, hash))
}

/// The schemas of what a model writes for these, from their types.
#[cfg(test)]
pub(crate) fn derived_schemas() -> Vec<(String, serde_json::Value)> {
    use crate::schemas::derived;
    vec![
        derived::<read::ReadInput>(),
        derived::<find::FindInput>(),
        derived::<search::FileSearchInput>(),
        derived::<create::CreateInput>(),
        derived::<edit::EditInput>(),
        derived::<delete::DeleteInput>(),
        derived::<moving::MoveInput>(),
    ]
}
