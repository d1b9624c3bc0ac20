//! `git_status`: the branch, and what is changed, staged or new.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::super::super::footprint::Footprint;
use super::super::super::tool::{Output, Tool, ToolContext, ToolError, ToolSpec};
use super::program::WorkspaceGit;
use crate::record::Category;

/// Looks at the state of the repository.
pub(super) struct GitStatus {
    pub(super) git: Arc<WorkspaceGit>,
}

/// Nothing to choose.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct StatusInput {}

impl Tool for GitStatus {
    type Input = StatusInput;

    const SPEC: ToolSpec = ToolSpec {
        name: "git_status",
        toolkit: super::TOOLKIT,
        category: Category::Read,
        description: "Shows the branch and the files that are staged, changed or new, in git's short form.",
        time_limit: super::GIT_LIMIT,
        shown_bytes: 8_000,
    };

    fn footprint(&self, _: &StatusInput) -> Result<Footprint, ToolError> {
        super::looking(&self.git, None)
    }

    async fn run(&self, _: StatusInput, _: &ToolContext) -> Result<Output, ToolError> {
        let mut arguments: Vec<String> =
            ["status", "--short", "--branch", "--untracked-files=all", "--ignore-submodules=all"]
                .map(str::to_owned)
                .to_vec();
        arguments.extend(self.git.pathspecs(&[])?);
        let said = self.git.look(&arguments).await?;
        let is_clean = said.stdout.lines().all(|line| line.starts_with("##"));
        let text = if is_clean { format!("{}Nothing changed.", said.stdout) } else { said.stdout };
        Ok(Output { text, value: Value::Null, changed: Vec::new() })
    }
}
