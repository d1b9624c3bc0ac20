//! `git_log`: commits, newest first.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::super::super::footprint::Footprint;
use super::super::super::tool::{Output, Tool, ToolContext, ToolError, ToolSpec};
use super::program::WorkspaceGit;
use super::revision::revision;
use crate::record::Category;

const DEFAULT_COMMITS: u32 = 20;

/// Lists commits.
pub(super) struct GitLog {
    pub(super) git: Arc<WorkspaceGit>,
}

/// Which commits.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct LogInput {
    /// Only commits that touch this file or folder.
    #[schemars(length(min = 1, max = 4096))]
    path: Option<String>,
    /// Start here instead of `HEAD`.
    #[schemars(length(min = 1, max = 200))]
    revision: Option<String>,
    #[schemars(range(min = 1, max = 200))]
    max_commits: Option<u32>,
}

impl Tool for GitLog {
    type Input = LogInput;

    const SPEC: ToolSpec = ToolSpec {
        name: "git_log",
        toolkit: super::TOOLKIT,
        category: Category::Read,
        description: "Lists commits, newest first: hash, day, author, subject.",
        time_limit: super::GIT_LIMIT,
        shown_bytes: 12_000,
    };

    fn footprint(&self, input: &LogInput) -> Result<Footprint, ToolError> {
        super::looking(&self.git, input.path.as_deref())
    }

    async fn run(&self, input: LogInput, _: &ToolContext) -> Result<Output, ToolError> {
        let mut arguments: Vec<String> =
            ["log", "--no-show-signature", "--format=%h %as %an: %s"].map(str::to_owned).to_vec();
        let n_commits = input.max_commits.unwrap_or(DEFAULT_COMMITS);
        arguments.push(format!("--max-count={n_commits}"));
        arguments.push(revision(input.revision.as_deref().unwrap_or("HEAD"))?);
        match &input.path {
            Some(_) => arguments.extend(self.git.pathspecs(input.path.as_slice())?),
            None => arguments.push("--".to_owned()),
        }
        let said = self.git.look(&arguments).await?;
        let text = if said.stdout.is_empty() { "No commit.".to_owned() } else { said.stdout };
        Ok(Output { text, value: Value::Null, changed: Vec::new() })
    }
}
