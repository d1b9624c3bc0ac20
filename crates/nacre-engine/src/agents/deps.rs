//! What explorers are run with: models, the workspace, and who hears of them.
//!
//! A program makes one deps for a run. An agent that may delegate has it in its `delegate` tool; a command that only
//! wants a question answered uses it directly. Either way an explorer gets a pipeline of its own.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::explorer::explorer;
use crate::lifecycle::AgentSpec;
use crate::lifecycle::Conversation;
use crate::lifecycle::RunControl;
use crate::lifecycle::{Engine, Job, Outcome, run};
use crate::model::{Limits, Models, RetryPolicy};
use crate::record::{CancelledBy, Failure, TaskId, TaskState};
use crate::record::{Clock, Event, Events};
use crate::tools::Workspace;
use crate::tools::toolkits;
use crate::tools::{ActiveSkills, SkillRegistry};
use crate::tools::{AnyTool, Approval};
use crate::tools::{Budgets, Permissions};
use crate::tools::{Cache, Pipeline, PipelineError, PipelineParts};

/// Everything that explorers share.
pub struct AgentDeps {
    pub models: Arc<Models>,
    pub policy: RetryPolicy,
    pub limits: Limits,
    pub clock: Clock,
    /// All tools there are but those of skills, which each run has for itself; an explorer is offered those of its spec.
    pub tools: Vec<Arc<dyn AnyTool>>,
    pub workspace: Arc<Workspace>,
    /// The skills of the workspace.
    pub skills: Arc<SkillRegistry>,
    pub spill: PathBuf,
    pub cache: Arc<Cache>,
    /// What its agents may read.
    pub permissions: Permissions,
    pub seed: u64,
    pub started: AtomicU32,
}

impl AgentDeps {
    /// Answers one question; the events are those of its task.
    pub async fn explore(
        &self,
        question: &str,
        spec: &AgentSpec,
        events: Events,
        control: &RunControl,
    ) -> Result<Outcome, PipelineError> {
        self.go_on(Conversation::default(), question, spec, events, control).await
    }

    /// The same after what was said before.
    pub async fn go_on(
        &self,
        history: Conversation,
        question: &str,
        spec: &AgentSpec,
        events: Events,
        control: &RunControl,
    ) -> Result<Outcome, PipelineError> {
        let skills = Arc::new(ActiveSkills::default());
        let mut tools = self.tools.clone();
        tools.extend(toolkits::skill::tools(&self.skills, &skills, &events));
        let parts = PipelineParts {
            tools,
            workspace: Arc::clone(&self.workspace),
            spill: self.spill.clone(),
            cache: Arc::clone(&self.cache),
            effects: None,
            approval: Approval::not_needed(),
            events: events.clone(),
        };
        let mut tools = Pipeline::new(spec.tool_policy(), parts)?;
        let engine = Engine {
            models: &self.models,
            policy: &self.policy,
            limits: &self.limits,
            clock: &self.clock,
        };
        let job = Job {
            spec,
            history,
            asked: question,
            attachments: Vec::new(),
            checkpoint: None,
            events,
            skills: Some(skills),
            children: Arc::default(),
            seed: self.next_seed(),
        };
        Ok(run(engine, job, &mut tools, control).await)
    }

    /// Lets a helper answer for the task that `parent` speaks for. Both sides hear its end, whatever becomes of it.
    pub(super) async fn help(
        &self,
        parent: &Events,
        question: &str,
        spec: &AgentSpec,
        control: &RunControl,
    ) -> (TaskId, Result<Outcome, PipelineError>) {
        let task = TaskId::from_random(self.next_seed());
        let helper = Helper::start(parent, &task, spec.name);
        let outcome = self.explore(question, spec, helper.own.clone(), control).await;
        match &outcome {
            Ok(outcome) => helper.end(outcome.ending.state()),
            Err(error) => {
                // It never came to a run, which would have told this.
                helper.own.emit(Event::Error { what: error.to_string().into(), hint: None });
                helper.end(TaskState::Failed { why: Failure::Unusable });
            }
        }
        (task, outcome)
    }

    /// The spec of an explorer with at most these budgets.
    pub fn explorer(&self, permissions: &Permissions, budgets: Option<Budgets>) -> AgentSpec {
        let spec = explorer(&self.workspace, permissions);
        AgentSpec { budgets: budgets.unwrap_or(spec.budgets), ..spec }
    }

    /// A number of its own for each run; the same deps draws the same ones.
    pub(super) fn next_seed(&self) -> u64 {
        let number = self.started.fetch_add(1, Ordering::Relaxed);
        self.seed.wrapping_add(u64::from(number).wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }
}

/// A helper that was announced, and the duty to tell how it ended. One whose future is dropped was left by who waited.
struct Helper {
    parent: Events,
    own: Events,
    is_told: bool,
}

impl Helper {
    fn start(parent: &Events, task: &TaskId, agent: &str) -> Self {
        parent.emit(Event::AgentSpawn { child: task.clone(), agent: agent.into() });
        Self { parent: parent.clone(), own: parent.of_task(task.clone()), is_told: false }
    }

    fn end(mut self, state: TaskState) {
        self.tell(state);
    }

    fn tell(&mut self, state: TaskState) {
        self.is_told = true;
        if !self.own.is_over() {
            self.own.emit(Event::TaskState(state));
        }
        self.parent.emit(Event::AgentEnd { child: self.own.task().clone(), state });
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        if !self.is_told {
            self.tell(TaskState::Cancelled { by: CancelledBy::Disconnect });
        }
    }
}
