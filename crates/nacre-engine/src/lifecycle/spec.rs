//! An agent as data: who it is, what it may do and for how long, and what it has to hand in.
//!
//! Nothing here is a request to a model. A prompt may repeat a limit politely; the limit itself holds because the
//! pipeline and the lifecycle read it from here.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use crate::model::{OutputSchema, Role};
use crate::record::RunEffects;
use crate::tools::{Budgets, Effects, Permissions, ToolPolicy};

/// Everything that makes one agent different from another.
#[derive(Clone, Debug)]
pub struct AgentSpec {
    /// One word, as a person types it: `explorer`.
    pub name: &'static str,
    /// Which models answer for it.
    pub role: Role,
    /// Its instructions.
    pub prompt: String,
    /// The tools that it is shown; what is not listed does not exist for it.
    pub tools: Vec<&'static str>,
    pub permissions: Permissions,
    pub budgets: Budgets,
    pub completion: Completion,
    pub effects: Effects,
    pub spawn: Spawn,
    pub compaction: Compaction,
}

impl AgentSpec {
    /// What of it holds for tool calls.
    pub fn tool_policy(&self) -> ToolPolicy<'_> {
        let tool_calls = self.budgets.tool_calls;
        ToolPolicy { tools: &self.tools, permissions: &self.permissions, tool_calls }
    }
}

/// When an agent is finished.
#[derive(Clone, Debug)]
pub enum Completion {
    /// When it stops calling tools.
    EndTurn { signals: Signals },
    /// When it handed in an answer of this shape that every validator accepts.
    Structured { output: OutputSchema, validators: Vec<Validator> },
}

/// Whether an agent is offered a tool to say how its work ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signals {
    Off,
    Offered,
}

/// A check of an answer against what really happened.
#[derive(Clone)]
pub struct Validator {
    name: &'static str,
    weight: Weight,
    check: Arc<Check>,
}

/// What becomes of an answer that a validator still complains about after the last repair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// The run fails.
    Must,
    /// The complaint stays with the answer.
    Should,
}

type Check = dyn Fn(&Value, &RunEffects) -> Vec<String> + Send + Sync;

impl Validator {
    /// `check` returns what is wrong, in words for the model; nothing if the answer holds.
    pub fn new(
        name: &'static str,
        weight: Weight,
        check: impl Fn(&Value, &RunEffects) -> Vec<String> + Send + Sync + 'static,
    ) -> Self {
        Self { name, weight, check: Arc::new(check) }
    }

    pub fn name(&self) -> &'static str {
        self.name
    }

    pub fn weight(&self) -> Weight {
        self.weight
    }

    pub fn complaints(&self, answer: &Value, effects: &RunEffects) -> Vec<String> {
        (self.check)(answer, effects)
    }
}

impl fmt::Debug for Validator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Validator").field(&self.name).finish()
    }
}

/// What becomes of the beginning of a conversation that does not fit into the model's window any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compaction {
    /// The oldest is left out.
    LeaveOut,
    /// The model sums it up; where it cannot, the oldest is left out.
    Summary,
}

/// Which helpers an agent may start. A helper never starts helpers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spawn {
    Nothing,
    Explorers { at_once: usize, budgets: Budgets },
}

impl Spawn {
    /// The most questions that one call may hand to helpers.
    pub const MAX_AT_ONCE: usize = 3;
}
