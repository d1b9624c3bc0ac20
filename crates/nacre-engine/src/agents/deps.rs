//! The dependencies of explorers: models, the workspace, tools and listeners.
//!
//! Each explorer has its own pipeline.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::lifecycle::{AgentSpec, Conversation, Engine, Job, Outcome, RunControl, run};
use crate::model::{Limits, Models, RetryPolicy};
use crate::record::{CancelledBy, Clock, Event, Events, Failure, TaskId, TaskState};
use crate::tools::{
    ActiveSkills, AnyTool, Approval, Permissions, PipelineError, PipelineParts, SkillRegistry,
    Workspace, toolkits,
};

pub struct AgentDeps {
    pub models: Arc<Models>,
    pub policy: RetryPolicy,
    pub limits: Limits,
    pub clock: Clock,
    /// All tools except skill tools, which are created for each run. Each explorer gets the subset
    /// listed in its spec.
    pub tools: Vec<Arc<dyn AnyTool>>,
    pub workspace: Arc<Workspace>,
    pub skills: Arc<SkillRegistry>,
    pub spill: PathBuf,
    pub permissions: Permissions,
    pub seed: u64,
    pub started: AtomicU32,
}

impl AgentDeps {
    /// Answers one question. The explorer's own task records the events.
    pub async fn explore(
        &self,
        question: &str,
        spec: &AgentSpec,
        events: Events,
        control: &RunControl,
    ) -> Result<Outcome, PipelineError> {
        self.go_on(Conversation::default(), question, spec, events, control).await
    }

    /// Like `explore`, but continues an earlier conversation.
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
            effects: None,
            approval: Approval::not_needed(),
            events: events.clone(),
        };
        let mut tools = spec.pipeline(parts)?;
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

    /// Runs an explorer on behalf of the `parent` task. Both tasks always receive the end event,
    /// even if the explorer fails.
    pub(super) async fn help(
        &self,
        parent: &Events,
        question: &str,
        spec: &AgentSpec,
        control: &RunControl,
    ) -> (TaskId, Result<Outcome, PipelineError>) {
        let task = TaskId::from_random(self.next_seed());
        parent.emit(Event::AgentSpawn { child: task.clone(), agent: spec.name.into() });
        let own = parent.of_task(task.clone());
        let mut helper = Helper { parent: parent.clone(), own, end: None };
        let outcome = self.explore(question, spec, helper.own.clone(), control).await;
        helper.end = Some(match &outcome {
            Ok(outcome) => outcome.ending.state(),
            Err(error) => {
                // A run that never started has not emitted an error event, so emit one here.
                helper.own.emit(Event::Error { what: error.to_string().into(), hint: None });
                TaskState::Failed { why: Failure::Unusable }
            }
        });
        (task, outcome)
    }

    pub(super) fn next_seed(&self) -> u64 {
        let number = self.started.fetch_add(1, Ordering::Relaxed);
        self.seed.wrapping_add(u64::from(number).wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }
}

/// A running explorer. Dropping it marks its task as cancelled, unless another end state was set.
struct Helper {
    parent: Events,
    own: Events,
    end: Option<TaskState>,
}

impl Drop for Helper {
    fn drop(&mut self) {
        let state = self.end.unwrap_or(TaskState::Cancelled { by: CancelledBy::Disconnect });
        if !self.own.is_over() {
            self.own.emit(Event::TaskState(state));
        }
        self.parent.emit(Event::AgentEnd { child: self.own.task().clone(), state });
    }
}
