//! `file_move`: one file to another place.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::super::super::footprint::{Area, Footprint};
use super::super::super::tool::{Output, Preview, Tool, ToolContext, ToolError, ToolSpec};
use super::super::super::workspace::Workspace;
use super::super::{check_running, off_thread};
use crate::record::{Category, Change, ChangeKind};

/// Moves files.
pub(super) struct FileMove {
    pub(super) workspace: Arc<Workspace>,
}

/// From where to where.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct MoveInput {
    /// Path below the workspace.
    #[schemars(length(min = 1, max = 4096))]
    from: String,
    /// The new path, where nothing may stand; missing folders are made.
    #[schemars(length(min = 1, max = 4096))]
    to: String,
}

impl Tool for FileMove {
    type Input = MoveInput;

    const SPEC: ToolSpec = ToolSpec {
        name: "file_move",
        toolkit: super::TOOLKIT,
        category: Category::Write,
        description: "Moves or renames one file. Never writes over another.",
        time_limit: super::FILE_LIMIT,
        shown_bytes: 4_000,
    };

    fn footprint(&self, input: &MoveInput) -> Result<Footprint, ToolError> {
        let (from, to) = (self.workspace.place(&input.from)?, self.workspace.place(&input.to)?);
        Ok(Footprint::changing([Area::File(from), Area::File(to)]))
    }

    fn preview(&self, input: &MoveInput) -> Result<Preview, ToolError> {
        let (from, to) = (self.workspace.place(&input.from)?, self.workspace.place(&input.to)?);
        let (bytes, _) = super::read_version(&self.workspace, &from, None)?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        Ok(Preview { files: vec![(from, None), (to, Some(text))], ..Preview::default() })
    }

    async fn run(&self, input: MoveInput, ctx: &ToolContext) -> Result<Output, ToolError> {
        let workspace = Arc::clone(&self.workspace);
        off_thread(ctx, move |cancel| {
            let (from, to) = (workspace.place(&input.from)?, workspace.place(&input.to)?);
            let (_, before) = super::read_version(&workspace, &from, None)?;
            check_running(cancel)?;
            workspace.rename(&from, &to, before)?;
            Ok(Output {
                text: format!("Moved {from} to {to}"),
                value: json!({ "from": from.as_str(), "to": to.as_str() }),
                changed: vec![
                    Change::new(&from, ChangeKind::Deleted),
                    Change::new(&to, ChangeKind::Created),
                ],
            })
        })
        .await
    }
}
