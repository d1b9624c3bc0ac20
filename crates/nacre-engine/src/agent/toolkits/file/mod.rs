//! Files of the workspace: read, found, searched and changed.

mod create;
mod delete;
mod edit;
mod find;
mod lines;
mod moving;
mod read;
mod search;

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use nacre_core::base::ContentHash;
use nacre_core::safefs::RelPath;

use super::super::footprint::Area;
use super::super::tool::{AnyTool, Fault, ToolError};
use super::super::workspace::{Workspace, place, version_of};

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

/// The part of the workspace that a search is about.
fn area_under(under: Option<&str>) -> Result<Area, ToolError> {
    Ok(Area::Tree(folder(under)?))
}

/// The folder that a model named; `.` is the whole workspace.
pub(super) fn folder(under: Option<&str>) -> Result<Option<RelPath>, ToolError> {
    match under {
        None | Some("" | "." | "./" | "/") => Ok(None),
        Some(path) => place(path).map(Some),
    }
}

/// The rules that lie above a folder decide what is seen below it, so they are read, too.
pub(super) fn rules_above(under: Option<&RelPath>) -> Vec<Area> {
    let mut areas = Vec::new();
    let mut above = under.map(RelPath::parent);
    while let Some(folder) = above {
        let rules = match &folder {
            Some(folder) => folder.join(".gitignore"),
            None => RelPath::new(".gitignore"),
        };
        areas.extend(rules.ok().map(Area::File));
        above = folder.map(|folder| folder.parent());
    }
    areas
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
