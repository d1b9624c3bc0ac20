//! `git_diff`: what is changed and not committed, or between two commits.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::super::super::footprint::Footprint;
use super::super::super::tool::{Output, Tool, ToolContext, ToolError, ToolSpec};
use super::program::WorkspaceGit;
use super::revision::revision;
use crate::record::Category;

/// Shows differences.
pub(super) struct GitDiff {
    pub(super) git: Arc<WorkspaceGit>,
}

/// Between what, and where.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DiffInput {
    /// Only this file or folder.
    #[schemars(length(min = 1, max = 4096))]
    path: Option<String>,
    /// What is staged, instead of what is not.
    #[serde(default)]
    staged: bool,
    /// Compare with this commit.
    #[schemars(length(min = 1, max = 200))]
    from: Option<String>,
    /// With `from`: compare with this commit instead of the files.
    #[schemars(length(min = 1, max = 200))]
    to: Option<String>,
    /// Lines around each change.
    #[schemars(range(max = 20))]
    context: Option<u32>,
}

impl Tool for GitDiff {
    type Input = DiffInput;

    const SPEC: ToolSpec = ToolSpec {
        name: "git_diff",
        toolkit: super::TOOLKIT,
        category: Category::Read,
        description: "Shows what is changed and not staged; or what is staged; or what differs from a commit.",
        time_limit: super::GIT_LIMIT,
        shown_bytes: 24_000,
    };

    fn footprint(&self, input: &DiffInput) -> Result<Footprint, ToolError> {
        super::looking(&self.git, input.path.as_deref())
    }

    async fn run(&self, input: DiffInput, _: &ToolContext) -> Result<Output, ToolError> {
        let mut arguments: Vec<String> =
            ["diff", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all"]
                .map(str::to_owned)
                .to_vec();
        arguments.push(format!("--unified={}", input.context.unwrap_or(3)));
        if input.staged {
            arguments.push("--cached".to_owned());
        }
        for commit in input.from.iter().chain(&input.to) {
            arguments.push(revision(commit)?);
        }
        arguments.extend(self.git.pathspecs(input.path.as_slice())?);
        let said = self.git.look(&arguments).await?;
        let text = if said.stdout.is_empty() { "No difference.".to_owned() } else { said.stdout };
        let more = if said.is_cut { "\n[The difference is longer than git was read.]" } else { "" };
        Ok(Output { text: text + more, value: Value::Null, changed: Vec::new() })
    }
}
