//! Tools that read, find, search and change files in the workspace.

mod edit;
mod read;
mod search;
#[cfg(test)]
mod tests;

use nacre_base::ContentHash;

use crate::record::{ChangeKind, FileChange};
use crate::tools::toolkits::prelude::*;
use crate::tools::workspace::version_of;

const FILE_LIMIT: Duration = Duration::from_secs(10);

const WALK_LIMIT: Duration = Duration::from_secs(20);

pub fn tools(workspace: &Arc<Workspace>) -> Vec<Arc<dyn AnyTool>> {
    vec![
        tool::<read::FileRead>(Arc::clone(workspace)),
        tool::<search::FileFind>(Arc::clone(workspace)),
        tool::<search::FileSearch>(Arc::clone(workspace)),
        tool::<FileCreate>(Arc::clone(workspace)),
        tool::<edit::FileEdit>(Arc::clone(workspace)),
        tool::<FileDelete>(Arc::clone(workspace)),
        tool::<FileMove>(Arc::clone(workspace)),
    ]
}

/// Declares that the call reads everything below a directory. `.` is the whole workspace.
pub(super) fn reading_below(workspace: &Workspace, under: Option<&str>) -> Result<Footprint> {
    Ok(Footprint::reading([Area::Tree(workspace.folder(under)?)]))
}

/// Reads a file that is about to be changed. Fails if the file is not the expected version.
fn read_version(
    workspace: &Workspace,
    path: &RelPath,
    version: Option<&str>,
) -> Result<(Vec<u8>, ContentHash)> {
    let bytes = workspace.read(path)?;
    if let Some(meant) = version
        && meant != version_of(&bytes)
    {
        let what = format!(
            "`{path}` has changed since version {}",
            meant.chars().take(20).collect::<String>()
        );
        return Err(ToolError::new(Fault::Stale, what, "Read it again with `file_read`."));
    }
    let hash = ContentHash::of(&bytes);
    Ok((bytes, hash))
}

#[cfg(test)]
pub(crate) fn derive_schemas() -> Vec<(String, serde_json::Value)> {
    use crate::schemas::derive_schema;
    vec![
        derive_schema::<read::FileRead>(),
        derive_schema::<search::FileFind>(),
        derive_schema::<search::FileSearch>(),
        derive_schema::<FileCreate>(),
        derive_schema::<edit::FileEdit>(),
        derive_schema::<FileDelete>(),
        derive_schema::<FileMove>(),
    ]
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FileCreate {
    /// Path relative to the workspace; missing folders are created.
    #[schemars(length(min = 1, max = 4096))]
    path: String,
    /// All of the file.
    #[schemars(length(max = 1000000))]
    content: String,
    /// Only for replacing an existing file: its version, as shown by `file_read`.
    #[schemars(length(max = 64))]
    version: Option<String>,
}

impl WorkspaceTool for FileCreate {
    const SPEC: ToolSpec = ToolSpec {
        name: "file_create",
        category: Category::Write,
        description: "Writes a new file. Never writes over a file, unless its current version is given.",
        time_limit: FILE_LIMIT,
        shown_bytes: 4_000,
    };

    fn footprint(&self, workspace: &Workspace) -> Result<Footprint> {
        Ok(Footprint::changing([Area::File(workspace.place(&self.path)?)]))
    }

    fn preview(&self, workspace: &Workspace) -> Result<Preview> {
        let path = workspace.place(&self.path)?;
        if self.version.is_some() {
            read_version(workspace, &path, self.version.as_deref())?;
        } else if workspace.read(&path).is_ok() {
            return Err(already_there(&self.path));
        }
        Ok(Preview { files: vec![(path, Some(self.content.clone()))], ..Preview::default() })
    }

    fn run(&self, workspace: &Workspace, ctx: &ToolContext) -> Result<Output> {
        let path = workspace.place(&self.path)?;
        let bytes = self.content.as_bytes();
        let kind = match &self.version {
            Some(version) => {
                let (_, before) = read_version(workspace, &path, Some(version))?;
                check_running(&ctx.cancel)?;
                workspace.replace(&path, before, bytes, None)?;
                ChangeKind::Edited
            }
            None => {
                check_running(&ctx.cancel)?;
                workspace.create(&path, bytes, None).map_err(|error| {
                    if error.fault == Fault::Stale { already_there(&self.path) } else { error }
                })?;
                ChangeKind::Created
            }
        };
        let (n_lines, version) = (self.content.lines().count(), version_of(bytes));
        Ok(Output {
            text: format!("Wrote {path}: {n_lines} lines, version {version}"),
            changed: vec![FileChange::new(&path, kind)],
        })
    }
}

fn already_there(path: &str) -> ToolError {
    let hint = "Read it and use `file_edit`, or pass its version to replace it.";
    ToolError::new(Fault::Stale, format!("`{path}` already exists"), hint)
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FileDelete {
    /// Path below the workspace.
    #[schemars(length(min = 1, max = 4096))]
    path: String,
    /// Only this version, as `file_read` shows it.
    #[schemars(length(max = 64))]
    version: Option<String>,
}

impl WorkspaceTool for FileDelete {
    const SPEC: ToolSpec = ToolSpec {
        name: "file_delete",
        category: Category::Write,
        description: "Deletes one file. Folders stay.",
        time_limit: FILE_LIMIT,
        shown_bytes: 4_000,
    };

    fn footprint(&self, workspace: &Workspace) -> Result<Footprint> {
        Ok(Footprint::changing([Area::File(workspace.place(&self.path)?)]))
    }

    fn preview(&self, workspace: &Workspace) -> Result<Preview> {
        let path = workspace.place(&self.path)?;
        read_version(workspace, &path, self.version.as_deref())?;
        Ok(Preview { files: vec![(path, None)], ..Preview::default() })
    }

    fn run(&self, workspace: &Workspace, ctx: &ToolContext) -> Result<Output> {
        let path = workspace.place(&self.path)?;
        let (_, before) = read_version(workspace, &path, self.version.as_deref())?;
        check_running(&ctx.cancel)?;
        workspace.remove(&path, before)?;
        Ok(Output {
            text: format!("Deleted {path}"),
            changed: vec![FileChange::new(&path, ChangeKind::Deleted)],
        })
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FileMove {
    /// Path below the workspace.
    #[schemars(length(min = 1, max = 4096))]
    from: String,
    /// The new path, which must not exist; missing folders are created.
    #[schemars(length(min = 1, max = 4096))]
    to: String,
}

impl WorkspaceTool for FileMove {
    const SPEC: ToolSpec = ToolSpec {
        name: "file_move",
        category: Category::Write,
        description: "Moves or renames one file. Never writes over another.",
        time_limit: FILE_LIMIT,
        shown_bytes: 4_000,
    };

    fn footprint(&self, workspace: &Workspace) -> Result<Footprint> {
        let (from, to) = (workspace.place(&self.from)?, workspace.place(&self.to)?);
        Ok(Footprint::changing([Area::File(from), Area::File(to)]))
    }

    fn preview(&self, workspace: &Workspace) -> Result<Preview> {
        let (from, to) = (workspace.place(&self.from)?, workspace.place(&self.to)?);
        let (bytes, _) = read_version(workspace, &from, None)?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        Ok(Preview { files: vec![(from, None), (to, Some(text))], ..Preview::default() })
    }

    fn run(&self, workspace: &Workspace, ctx: &ToolContext) -> Result<Output> {
        let (from, to) = (workspace.place(&self.from)?, workspace.place(&self.to)?);
        let (_, before) = read_version(workspace, &from, None)?;
        check_running(&ctx.cancel)?;
        workspace.rename(&from, &to, before)?;
        Ok(Output {
            text: format!("Moved {from} to {to}"),
            changed: vec![
                FileChange::new(&from, ChangeKind::Deleted),
                FileChange::new(&to, ChangeKind::Created),
            ],
        })
    }
}
