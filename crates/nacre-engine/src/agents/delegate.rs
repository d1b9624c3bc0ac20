//! The `delegate` tool, which passes questions to several explorers that run concurrently.
//!
//! If an explorer fails, the call still succeeds and its result contains the error. Explorers
//! cannot use this tool themselves.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use nacre_base::fs::RelPath;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::agents::citations::{LookedAt, check_report};
use crate::agents::deps::AgentDeps;
use crate::agents::explorer::explorer;
use crate::lifecycle::{Ending, Outcome, RunControl};
use crate::record::{Category, Events, Fault, TaskId};
use crate::tools::{
    AnyTool, Area, Footprint, Output, Permissions, Tool, ToolContext, ToolError, ToolSpec,
    Workspace, tool,
};

pub(super) struct Delegate {
    deps: Arc<AgentDeps>,
    events: Events,
    children: Arc<AtomicU32>,
}

/// Questions to answer at the same time.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DelegateInput {
    /// One to three questions; each is answered by a separate explorer that knows nothing but its
    /// own question.
    #[schemars(length(min = 1, max = 3))]
    questions: Vec<ExplorerQuestion>,
}

/// What one explorer is asked.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Question")]
pub(super) struct ExplorerQuestion {
    /// The full question, including everything needed to understand it.
    #[schemars(length(min = 1, max = 8000))]
    question: String,
    /// Folders to search, relative to the workspace; defaults to the whole workspace.
    #[serde(default)]
    #[schemars(length(max = 20))]
    folders: Vec<String>,
}

impl ExplorerQuestion {
    fn prompt(&self) -> String {
        let Self { question, folders } = self;
        match folders.as_slice() {
            [] => question.clone(),
            folders => format!("{question}\n\nLook only below: {}", folders.join(", ")),
        }
    }
}

impl Tool for DelegateInput {
    type With = Delegate;

    const SPEC: ToolSpec = ToolSpec {
        name: "delegate",
        category: Category::Search,
        description: "Lets explorers answer questions about the files of the workspace, up to three \
                      at once. Each returns an answer and the lines that it cites; a sentence that \
                      they do not prove is marked [not verified]. Use it for questions that need \
                      much reading; what one search answers, search for yourself.",
        time_limit: Duration::from_secs(1800),
        shown_bytes: 24_000,
    };

    fn footprint(&self, with: &Delegate) -> Result<Footprint, ToolError> {
        let areas = self.questions.iter().map(|question| with.areas(question));
        Ok(Footprint::reading(areas.collect::<Result<Vec<_>, _>>()?.concat()))
    }

    async fn run(self, with: &Delegate, ctx: &ToolContext) -> Result<Output, ToolError> {
        let n_questions = self.questions.len();
        let mut running = JoinSet::new();
        for (number, question) in self.questions.into_iter().enumerate() {
            let areas = with.areas(&question)?;
            let permissions = Permissions { reads: areas, ..with.deps.permissions.clone() };
            let control = RunControl::of_child(ctx.cancel.clone());
            let (deps, parent) = (Arc::clone(&with.deps), with.events.clone());
            let spec = explorer(&deps.workspace, &permissions);
            with.children.fetch_add(1, Ordering::Relaxed);
            running.spawn(async move {
                let (task, outcome) = deps.help(&parent, &question.prompt(), &spec, &control).await;
                let answer = match outcome {
                    Ok(outcome) => report(&deps.workspace, &permissions, &task, &outcome),
                    Err(error) => {
                        let error = error.to_string();
                        json!({ "task": task, "state": "failed(unusable)", "error": error })
                    }
                };
                (number, answer)
            });
        }
        let mut answers = vec![json!({ "state": "failed(internal)" }); n_questions];
        while let Some(joined) = running.join_next().await {
            if let Ok((number, answer)) = joined {
                answers[number] = answer;
            }
        }
        let text = serde_json::to_string_pretty(&answers).unwrap_or_default();
        Ok(Output::text(text))
    }
}

pub fn delegate_tool(
    deps: Arc<AgentDeps>,
    events: Events,
    children: Arc<AtomicU32>,
) -> Arc<dyn AnyTool> {
    tool::<DelegateInput>(Delegate { deps, events, children })
}

impl Delegate {
    /// Returns the areas that an explorer may read: the requested directories, limited to what its
    /// parent may read.
    fn areas(&self, question: &ExplorerQuestion) -> Result<Vec<Area>, ToolError> {
        if question.folders.is_empty() {
            return Ok(self.deps.permissions.reads.clone());
        }
        let area = |folder: &String| match folder.trim_end_matches('/') {
            "" | "." => Ok(Area::Tree(None)),
            path => RelPath::new(path).map(|path| Area::Tree(Some(path))).map_err(|_| {
                let what = format!("`{}` is not a directory in the workspace", path.escape_debug());
                ToolError::new(Fault::Arguments, what, "Use directories relative to the workspace.")
            }),
        };
        question.folders.iter().map(area).collect()
    }
}

fn report(
    workspace: &Workspace,
    permissions: &Permissions,
    task: &TaskId,
    outcome: &Outcome,
) -> Value {
    let mut report = json!({ "task": task, "state": outcome.ending.state().to_string() });
    match (&outcome.answer, &outcome.ending) {
        (Some(answer), _) => {
            let shown = &outcome.effects.shown;
            let checked = check_report(answer, workspace, permissions, shown).unwrap_or_default();
            report["verified"] = json!(checked.is_verified());
            report["answer"] = json!(checked.answer);
            report["citations"] = checked.citations.iter().map(render_citation).collect();
        }
        (None, Ending::Failed(error)) => report["error"] = json!(error.to_string()),
        (None, Ending::Completed { .. } | Ending::Cancelled(_)) => {}
    }
    report
}

fn render_citation(one: &LookedAt) -> Value {
    let mut cited = json!(one.citation);
    cited["verified"] = json!(one.lines.is_ok());
    cited["lines"] = json!(one.lines.as_deref().unwrap_or_default());
    cited
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the test plays the user who writes files")]
mod tests;
