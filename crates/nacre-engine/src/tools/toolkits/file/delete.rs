//! `file_delete`: one file.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::super::super::footprint::{Area, Footprint};
use super::super::super::tool::{Output, Preview, Tool, ToolContext, ToolError, ToolSpec};
use super::super::super::workspace::Workspace;
use super::super::{check_running, off_thread};
use crate::record::{Category, Change, ChangeKind};

/// Removes files.
pub(super) struct FileDelete {
    pub(super) workspace: Arc<Workspace>,
}

/// Which file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DeleteInput {
    /// Path below the workspace.
    #[schemars(length(min = 1, max = 4096))]
    path: String,
    /// Only this version, as `file_read` says it.
    #[schemars(length(max = 64))]
    version: Option<String>,
}

impl Tool for FileDelete {
    type Input = DeleteInput;

    const SPEC: ToolSpec = ToolSpec {
        name: "file_delete",
        toolkit: super::TOOLKIT,
        category: Category::Write,
        description: "Deletes one file. Folders stay.",
        time_limit: super::FILE_LIMIT,
        shown_bytes: 4_000,
    };

    fn footprint(&self, input: &DeleteInput) -> Result<Footprint, ToolError> {
        Ok(Footprint::changing([Area::File(self.workspace.place(&input.path)?)]))
    }

    fn preview(&self, input: &DeleteInput) -> Result<Preview, ToolError> {
        let path = self.workspace.place(&input.path)?;
        super::read_version(&self.workspace, &path, input.version.as_deref())?;
        Ok(Preview { files: vec![(path, None)], ..Preview::default() })
    }

    async fn run(&self, input: DeleteInput, ctx: &ToolContext) -> Result<Output, ToolError> {
        let workspace = Arc::clone(&self.workspace);
        off_thread(ctx, move |cancel| {
            let path = workspace.place(&input.path)?;
            let (_, before) = super::read_version(&workspace, &path, input.version.as_deref())?;
            check_running(cancel)?;
            workspace.remove(&path, before)?;
            Ok(Output {
                text: format!("Deleted {path}"),
                value: json!({ "path": path.as_str() }),
                changed: vec![Change::new(&path, ChangeKind::Deleted)],
            })
        })
        .await
    }
}
