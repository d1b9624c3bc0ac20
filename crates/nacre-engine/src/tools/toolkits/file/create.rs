//! `file_create`: a new file, or a known version of one written anew.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::super::super::footprint::{Area, Footprint};
use super::super::super::tool::{Output, Preview, Tool, ToolContext, ToolError, ToolSpec};
use super::super::super::workspace::{Workspace, version_of};
use super::super::{check_running, off_thread};
use crate::model::Cancel;
use crate::record::{Category, Change, ChangeKind, Fault};

/// Makes files.
pub(super) struct FileCreate {
    pub(super) workspace: Arc<Workspace>,
}

/// Where, and what.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CreateInput {
    /// Path below the workspace; missing folders are made.
    #[schemars(length(min = 1, max = 4096))]
    path: String,
    /// All of the file.
    #[schemars(length(max = 1000000))]
    content: String,
    /// To write an existing file anew: its version, as `file_read` says it.
    #[schemars(length(max = 64))]
    version: Option<String>,
}

impl Tool for FileCreate {
    type Input = CreateInput;

    const SPEC: ToolSpec = ToolSpec {
        name: "file_create",
        toolkit: super::TOOLKIT,
        category: Category::Write,
        description: "Writes a new file. Never writes over a file, unless its current version is given.",
        time_limit: super::FILE_LIMIT,
        shown_bytes: 4_000,
    };

    fn footprint(&self, input: &CreateInput) -> Result<Footprint, ToolError> {
        Ok(Footprint::changing([Area::File(self.workspace.place(&input.path)?)]))
    }

    fn preview(&self, input: &CreateInput) -> Result<Preview, ToolError> {
        let path = self.workspace.place(&input.path)?;
        match &input.version {
            Some(version) => {
                super::read_version(&self.workspace, &path, Some(version))?;
            }
            None if self.workspace.read(&path).is_ok() => return Err(already_there(&input.path)),
            None => {}
        }
        Ok(Preview { files: vec![(path, Some(input.content.clone()))], ..Preview::default() })
    }

    async fn run(&self, input: CreateInput, ctx: &ToolContext) -> Result<Output, ToolError> {
        let workspace = Arc::clone(&self.workspace);
        off_thread(ctx, move |cancel| create(&workspace, &input, cancel)).await
    }
}

fn create(
    workspace: &Workspace,
    input: &CreateInput,
    cancel: &Cancel,
) -> Result<Output, ToolError> {
    let path = workspace.place(&input.path)?;
    let bytes = input.content.as_bytes();
    let kind = match &input.version {
        Some(version) => {
            let (_, before) = super::read_version(workspace, &path, Some(version))?;
            check_running(cancel)?;
            workspace.replace(&path, before, bytes)?;
            ChangeKind::Edited
        }
        None => {
            check_running(cancel)?;
            workspace.create(&path, bytes).map_err(|error| {
                if error.fault == Fault::Stale { already_there(&input.path) } else { error }
            })?;
            ChangeKind::Created
        }
    };
    let (n_lines, version) = (input.content.lines().count(), version_of(bytes));
    Ok(Output {
        text: format!("Wrote {path}: {n_lines} lines, version {version}"),
        value: json!({ "path": path.as_str(), "n_lines": n_lines, "version": version }),
        changed: vec![Change::new(&path, kind)],
    })
}

fn already_there(path: &str) -> ToolError {
    let hint = "Read it and use `file_edit`, or give its version to write it anew.";
    ToolError::new(Fault::Stale, format!("`{path}` is there already"), hint)
}
