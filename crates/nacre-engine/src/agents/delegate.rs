//! `delegate`: questions for explorers, answered side by side.
//!
//! An explorer that fails does not fail the call: its parent reads that it failed, and why. Explorers are not offered
//! this tool, so that helpers have no helpers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use nacre_core::safefs::RelPath;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::citations::{CitationState, CitedFiles, LookedAt, check_report};
use super::deps::AgentDeps;
use crate::lifecycle::RunControl;
use crate::lifecycle::Spawn;
use crate::lifecycle::{Ending, Outcome};
use crate::record::Events;
use crate::record::TaskId;
use crate::record::{Category, Fault};
use crate::tools::{Area, Footprint};
use crate::tools::{Budgets, Permissions};
use crate::tools::{Output, Tool, ToolContext, ToolError, ToolSpec};

/// Runs explorers for one agent.
pub struct Delegate {
    deps: Arc<AgentDeps>,
    /// The voice of the agent that delegates.
    events: Events,
    at_once: usize,
    /// For each explorer.
    budgets: Budgets,
    children: Arc<AtomicU32>,
}

/// Questions to answer at the same time.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DelegateInput {
    /// One to three questions; each is answered by an explorer of its own, who knows nothing but its question.
    #[schemars(length(min = 1, max = 3))]
    questions: Vec<Question>,
}

/// What one explorer is asked.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Question {
    /// The whole question, with everything that is needed to understand it.
    #[schemars(length(min = 1, max = 8000))]
    question: String,
    /// Folders to look in, relative to the workspace; all of it where none is named.
    #[serde(default)]
    #[schemars(length(max = 20))]
    folders: Vec<String>,
}

impl Question {
    /// The question with the folders that the explorer may look in.
    fn asked(&self) -> String {
        let Self { question, folders } = self;
        match folders.as_slice() {
            [] => question.clone(),
            folders => format!("{question}\n\nLook only below: {}", folders.join(", ")),
        }
    }
}

impl Tool for Delegate {
    type Input = DelegateInput;

    const SPEC: ToolSpec = ToolSpec {
        name: "delegate",
        toolkit: "agent",
        category: Category::Search,
        description: "Lets explorers answer questions about the files of the workspace, up to three at once. Each comes \
                      back with an answer and the lines that it cites; a sentence that they do not prove is marked [not verified]. Use it for questions that need much reading; \
                      what one search answers, search for yourself.",
        time_limit: Duration::from_secs(1800),
        shown_bytes: 24_000,
    };

    fn footprint(&self, input: &DelegateInput) -> Result<Footprint, ToolError> {
        let mut areas = Vec::new();
        for question in &input.questions {
            areas.extend(self.areas(question)?);
        }
        Ok(Footprint::reading(areas))
    }

    async fn run(&self, input: DelegateInput, ctx: &ToolContext) -> Result<Output, ToolError> {
        let n_questions = input.questions.len();
        if self.at_once < n_questions {
            let what = format!("{n_questions} questions are too many for one call");
            let hint = format!("Ask at most {} at once.", self.at_once);
            return Err(ToolError::new(Fault::Arguments, what, hint));
        }
        let mut running = JoinSet::new();
        for (number, question) in input.questions.into_iter().enumerate() {
            let areas = self.areas(&question)?;
            let child = Child {
                deps: Arc::clone(&self.deps),
                parent: self.events.clone(),
                permissions: Permissions { reads: areas, ..self.deps.permissions.clone() },
                budgets: self.budgets,
                control: RunControl::of_child(ctx.cancel.clone()),
            };
            self.children.fetch_add(1, Ordering::Relaxed);
            running.spawn(async move { (number, child.answer(&question.asked()).await) });
        }
        let mut answers = vec![json!({ "state": "failed(internal)" }); n_questions];
        while let Some(joined) = running.join_next().await {
            if let Ok((number, answer)) = joined {
                answers[number] = answer;
            }
        }
        let text = serde_json::to_string_pretty(&answers).unwrap_or_default();
        Ok(Output { text, value: Value::Array(answers), changed: Vec::new() })
    }
}

impl Delegate {
    /// The tool of an agent that may start helpers; none for one that may not. They are counted in `children`.
    pub fn new(
        spawn: Spawn,
        deps: Arc<AgentDeps>,
        events: Events,
        children: Arc<AtomicU32>,
    ) -> Option<Self> {
        match spawn {
            Spawn::Nothing => None,
            Spawn::Explorers { at_once, budgets } => {
                let at_once = at_once.min(Spawn::MAX_AT_ONCE);
                Some(Self { deps, events, at_once, budgets, children })
            }
        }
    }

    /// What an explorer may read: the folders it was given, as far as its parent may read them.
    fn areas(&self, question: &Question) -> Result<Vec<Area>, ToolError> {
        if question.folders.is_empty() {
            return Ok(self.deps.permissions.reads.clone());
        }
        let area = |folder: &String| match folder.trim_end_matches('/') {
            "" | "." => Ok(Area::Tree(None)),
            path => RelPath::new(path).map(|path| Area::Tree(Some(path))).map_err(|_| {
                let what = format!("`{}` is no folder below the workspace", path.escape_debug());
                ToolError::new(Fault::Arguments, what, "Name folders relative to the workspace.")
            }),
        };
        question.folders.iter().map(area).collect()
    }
}

/// An explorer about to be run.
struct Child {
    deps: Arc<AgentDeps>,
    parent: Events,
    permissions: Permissions,
    budgets: Budgets,
    control: RunControl,
}

impl Child {
    async fn answer(&self, question: &str) -> Value {
        let spec = self.deps.explorer(&self.permissions, Some(self.budgets));
        let (task, outcome) = self.deps.help(&self.parent, question, &spec, &self.control).await;
        match outcome {
            Ok(outcome) => self.told(&task, &outcome),
            Err(error) => {
                json!({ "task": task, "state": "failed(unusable)", "error": error.to_string() })
            }
        }
    }

    fn told(&self, task: &TaskId, outcome: &Outcome) -> Value {
        let mut told = json!({ "task": task, "state": outcome.ending.state().to_string() });
        match (&outcome.answer, &outcome.ending) {
            (Some(report), _) => {
                let files = CitedFiles {
                    workspace: &self.deps.workspace,
                    permissions: &self.permissions,
                    shown: &outcome.effects.shown,
                };
                let checked = check_report(report, &files).unwrap_or_default();
                told["verified"] = json!(checked.is_verified());
                told["answer"] = json!(checked.answer);
                told["citations"] = checked.citations.iter().map(cited).collect();
            }
            (None, Ending::Failed(error)) => told["error"] = json!(error.to_string()),
            (None, Ending::Completed { .. } | Ending::Cancelled(_)) => {}
        }
        told
    }
}

/// A citation with its lines, so that nobody has to read them again.
fn cited(one: &LookedAt) -> Value {
    let mut told = json!(one.citation);
    told["verified"] = json!(one.state == CitationState::Verified);
    told["lines"] = json!(one.lines);
    told
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the test plays the person who writes files")]
mod tests;
