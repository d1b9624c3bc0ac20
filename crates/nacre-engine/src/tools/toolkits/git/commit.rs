//! `git_commit`: what is staged, as a commit.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::super::super::footprint::{Area, Footprint};
use super::super::super::tool::{Output, Tool, ToolContext, ToolError, ToolSpec};
use super::program::WorkspaceGit;
use crate::record::{Category, Fault};

/// Makes commits.
pub(super) struct GitCommit {
    pub(super) git: Arc<WorkspaceGit>,
}

/// What it says.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CommitInput {
    /// The subject, a blank line, and the reasons if there are any.
    #[schemars(length(min = 1, max = 5000))]
    message: String,
}

impl Tool for GitCommit {
    type Input = CommitInput;

    const SPEC: ToolSpec = ToolSpec {
        name: "git_commit",
        toolkit: super::TOOLKIT,
        category: Category::Write,
        description: "Commits what is staged. Only when the person asked for a commit.",
        time_limit: super::GIT_LIMIT,
        shown_bytes: 4_000,
    };

    fn footprint(&self, _: &CommitInput) -> Result<Footprint, ToolError> {
        Ok(super::recording(vec![Area::Tree(None)]))
    }

    async fn run(&self, input: CommitInput, _: &ToolContext) -> Result<Output, ToolError> {
        let message = input.message.trim();
        if message.is_empty() || message.contains('\0') {
            let what = "The message is empty";
            return Err(ToolError::new(Fault::Arguments, what, "Say what changed and why."));
        }
        let arguments = [
            "commit",
            "--quiet",
            "--no-verify",
            "--no-gpg-sign",
            "--cleanup=whitespace",
            "-m",
            message,
        ];
        self.git.change(&arguments.map(str::to_owned)).await?;
        let made = ["log", "--max-count=1", "--no-show-signature", "--format=%h %s"];
        let said = self.git.look(&made.map(str::to_owned)).await?;
        let line = said.stdout.trim();
        Ok(Output {
            text: format!("Committed {line}"),
            value: json!({ "commit": line.split(' ').next() }),
            changed: Vec::new(),
        })
    }
}
