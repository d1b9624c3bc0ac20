//! An agent as data: who it is, what it may do and for how long, and what it has to hand in.
//!
//! Nothing here is a request to a model. A prompt may repeat a limit politely; the limit itself holds because the
//! pipeline and the lifecycle read it from here.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::footprint::{Area, MemoryUse};
use super::tool::Change;
use crate::model::{OutputSchema, Role};

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
}

/// What an agent may touch. The default is nothing at all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Permissions {
    pub reads: Vec<Area>,
    pub writes: Vec<Area>,
    /// Globs of paths relative to the workspace that are neither read nor written, whatever the areas say.
    pub denied: Vec<String>,
    pub exec: ExecPolicy,
    pub network: NetworkPolicy,
    /// The most that it may do with memories.
    pub memory: MemoryUse,
}

impl Permissions {
    /// May read the whole workspace and run our own helpers over it, and change nothing.
    pub fn read_only() -> Self {
        Self { reads: vec![Area::Tree(None)], exec: ExecPolicy::Helpers, ..Self::default() }
    }

    /// Whether nothing that the agent does can change anything.
    pub fn is_read_only(&self) -> bool {
        self.writes.is_empty()
            && self.exec != ExecPolicy::Confined
            && self.memory != MemoryUse::Changes
    }
}

/// Which programs an agent may start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExecPolicy {
    #[default]
    Nothing,
    /// Fixed programs of ours with bounded arguments.
    Helpers,
    /// Anything, as long as the system confines it; where it cannot, nothing.
    Confined,
}

/// Which addresses an agent may reach. Private ones are never reached by a tool that fetches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum NetworkPolicy {
    #[default]
    Nothing,
    Hosts(Vec<String>),
    /// Every public host, by tools that fetch.
    Public,
    /// The same, and programs may connect wherever they like.
    Anything,
}

/// How much an agent may use up. Each is a hard limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budgets {
    /// Model calls, those that only repeat what was refused included.
    pub steps: u32,
    pub tool_calls: u32,
    /// From the first step to the last word.
    pub wall: Duration,
    /// What one model call may be sent, in tokens as we estimate them.
    pub context_tokens: usize,
    /// What one model call may answer.
    pub answer_tokens: u32,
    /// All tokens of all model calls; `None` leaves it to the steps.
    pub total_tokens: Option<u64>,
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

type Check = dyn Fn(&Value, &Deeds) -> Vec<String> + Send + Sync;

impl Validator {
    /// `check` returns what is wrong, in words for the model; nothing if the answer holds.
    pub fn new(
        name: &'static str,
        weight: Weight,
        check: impl Fn(&Value, &Deeds) -> Vec<String> + Send + Sync + 'static,
    ) -> Self {
        Self { name, weight, check: Arc::new(check) }
    }

    pub fn name(&self) -> &'static str {
        self.name
    }

    pub fn weight(&self) -> Weight {
        self.weight
    }

    pub fn complaints(&self, answer: &Value, deeds: &Deeds) -> Vec<String> {
        (self.check)(answer, deeds)
    }
}

impl fmt::Debug for Validator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Validator").field(&self.name).finish()
    }
}

/// What an agent really did, as the host saw it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Deeds {
    /// Files that changed, in the order in which they did.
    pub changed: Vec<Change>,
    pub tool_calls: u32,
    pub failed_calls: u32,
    pub denied_calls: u32,
    pub memory_changes: u32,
}

impl Deeds {
    /// Whether anything outside the conversation is different now.
    pub fn changed_something(&self) -> bool {
        !self.changed.is_empty() || self.memory_changes != 0
    }
}

/// What the host does by itself after a tool changed a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effects {
    pub kinds: Vec<EffectKind>,
    /// For all effects of one change together.
    pub time_limit: Duration,
}

impl Effects {
    /// Nothing; all that an agent which changes nothing can have.
    pub fn none() -> Self {
        Self { kinds: Vec::new(), time_limit: Duration::ZERO }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EffectKind {
    /// The project's own formatter, on the file that changed.
    Format,
    /// The project's own linter; what it says is added to the result of the call.
    Lint,
    /// The frontmatter of a memory, in the form that Nacre writes.
    Frontmatter,
    /// The index of memories takes the change in.
    Index,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_permission_is_none() {
        let none = Permissions::default();
        assert!(none.reads.is_empty() && none.is_read_only());
        assert_eq!((none.exec, none.network), (ExecPolicy::Nothing, NetworkPolicy::Nothing));
    }

    #[test]
    fn who_may_change_anything_is_not_read_only() {
        let read_only = Permissions::read_only();
        assert!(read_only.is_read_only());
        let writes = vec![Area::Tree(None)];
        for other in [
            Permissions { writes, ..read_only.clone() },
            Permissions { exec: ExecPolicy::Confined, ..read_only.clone() },
            Permissions { memory: MemoryUse::Changes, ..read_only.clone() },
        ] {
            assert!(!other.is_read_only(), "{other:?}");
        }
    }
}
