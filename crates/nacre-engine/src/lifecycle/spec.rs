//! The definition of an agent: its role, limits and result.
//!
//! The pipeline and the lifecycle enforce the limits; prompts only repeat them.

use std::sync::Arc;

use serde_json::Value;

use crate::model::{OutputSchema, Role};
use crate::record::RunEffects;
use crate::tools::{Budgets, Permissions, Pipeline, PipelineError, PipelineParts};

#[derive(Clone, Debug)]
pub struct AgentSpec {
    /// The agent's name as the user types it. A single word, such as `explorer`.
    pub name: &'static str,
    pub role: Role,
    pub prompt: String,
    pub tools: Vec<&'static str>,
    pub permissions: Permissions,
    pub budgets: Budgets,
    pub completion: Completion,
    /// Whether the model summarizes the beginning of an overlong conversation. Otherwise, the
    /// oldest part is omitted.
    pub sums_up: bool,
}

impl AgentSpec {
    /// Returns a pipeline that enforces the permissions and the call budget.
    pub fn pipeline(&self, parts: PipelineParts) -> Result<Pipeline, PipelineError> {
        Pipeline::new(&self.tools, &self.permissions, self.budgets.tool_calls, parts)
    }
}

#[derive(Clone, Debug)]
pub enum Completion {
    /// The agent is finished when it stops calling tools.
    EndTurn {
        /// Whether the agent gets the `signal` tool.
        signals: bool,
    },
    /// The agent is finished when it has returned an answer that matches the schema and passes
    /// every validator.
    Structured { output: OutputSchema, validators: Vec<Validator> },
}

impl Completion {
    pub(super) fn form(&self) -> Option<(&OutputSchema, &[Validator])> {
        match self {
            Self::EndTurn { signals: _ } => None,
            Self::Structured { output, validators } => Some((output, validators)),
        }
    }
}

/// Checks an answer against the recorded effects of the run.
#[derive(Clone)]
pub struct Validator {
    name: &'static str,
    pub weight: Weight,
    check: Arc<Check>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// If the check fails, the run fails.
    Must,
    /// If the check fails, the complaint is stored with the answer.
    Should,
}

type Check = dyn Fn(&Value, &RunEffects) -> Vec<String> + Send + Sync;

impl Validator {
    /// Creates a validator. `check` returns the problems, worded for the model. An empty list means
    /// that the answer is valid.
    pub fn new(
        name: &'static str,
        weight: Weight,
        check: impl Fn(&Value, &RunEffects) -> Vec<String> + Send + Sync + 'static,
    ) -> Self {
        Self { name, weight, check: Arc::new(check) }
    }

    pub fn complaints(&self, answer: &Value, effects: &RunEffects) -> Vec<String> {
        (self.check)(answer, effects)
    }
}

nacre_base::debug_only!(Validator { name });
