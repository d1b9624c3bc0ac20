//! `git_show`: one commit, with what it changed.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::super::super::footprint::Footprint;
use super::super::super::tool::{Output, Tool, ToolContext, ToolError, ToolSpec};
use super::program::WorkspaceGit;
use super::revision::revision;
use crate::record::Category;

/// Shows commits.
pub(super) struct GitShow {
    pub(super) git: Arc<WorkspaceGit>,
}

/// Which commit.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ShowInput {
    /// `HEAD` if left out.
    #[schemars(length(min = 1, max = 200))]
    revision: Option<String>,
    /// Only what it changed in this file or folder.
    #[schemars(length(min = 1, max = 4096))]
    path: Option<String>,
    /// Lines around each change.
    #[schemars(range(max = 20))]
    context: Option<u32>,
}

impl Tool for GitShow {
    type Input = ShowInput;

    const SPEC: ToolSpec = ToolSpec {
        name: "git_show",
        toolkit: super::TOOLKIT,
        category: Category::Read,
        description: "Shows one commit: its message and its changes.",
        time_limit: super::GIT_LIMIT,
        shown_bytes: 24_000,
    };

    fn footprint(&self, input: &ShowInput) -> Result<Footprint, ToolError> {
        super::looking(&self.git, input.path.as_deref())
    }

    async fn run(&self, input: ShowInput, _: &ToolContext) -> Result<Output, ToolError> {
        let mut arguments: Vec<String> = [
            "show",
            "--no-ext-diff",
            "--no-textconv",
            "--no-show-signature",
            "--ignore-submodules=all",
            "--format=commit %H%nauthor %an, %aI%n%n%B",
        ]
        .map(str::to_owned)
        .to_vec();
        arguments.push(format!("--unified={}", input.context.unwrap_or(3)));
        arguments.push(revision(input.revision.as_deref().unwrap_or("HEAD"))?);
        arguments.extend(self.git.pathspecs(input.path.as_slice())?);
        let said = self.git.look(&arguments).await?;
        let more = if said.is_cut { "\n[The commit is longer than git was read.]" } else { "" };
        Ok(Output { text: said.stdout + more, value: Value::Null, changed: Vec::new() })
    }
}
