//! `git_add`: files for the next commit.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::super::super::footprint::{Area, Footprint};
use super::super::super::tool::{Output, Tool, ToolContext, ToolError, ToolSpec};
use super::program::WorkspaceGit;
use crate::record::Category;

/// Stages files.
pub(super) struct GitAdd {
    pub(super) git: Arc<WorkspaceGit>,
}

/// Which files.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AddInput {
    /// Files or folders below the workspace; also such that are deleted.
    #[schemars(length(min = 1, max = 200))]
    paths: Vec<String>,
}

impl Tool for GitAdd {
    type Input = AddInput;

    const SPEC: ToolSpec = ToolSpec {
        name: "git_add",
        toolkit: super::TOOLKIT,
        category: Category::Write,
        description: "Stages changes of the named files for the next commit.",
        time_limit: super::GIT_LIMIT,
        shown_bytes: 4_000,
    };

    fn footprint(&self, input: &AddInput) -> Result<Footprint, ToolError> {
        let places = input.paths.iter().map(|path| self.git.place(path).map(Area::File));
        places.collect::<Result<Vec<_>, _>>().map(super::recording)
    }

    async fn run(&self, input: AddInput, _: &ToolContext) -> Result<Output, ToolError> {
        let mut arguments = vec!["add".to_owned(), "--all".to_owned()];
        arguments.extend(self.git.pathspecs(&input.paths)?);
        self.git.change(&arguments).await?;
        Ok(Output {
            text: format!("Staged {}", input.paths.join(", ")),
            value: json!({ "paths": input.paths }),
            changed: Vec::new(),
        })
    }
}
