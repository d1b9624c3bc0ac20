//! What an agent may do with tools, how much of it, and what happens after a change.

use std::time::Duration;

use super::footprint::{Area, MemoryUse};

/// What holds for the tool calls of one agent.
#[derive(Clone, Copy, Debug)]
pub struct ToolPolicy<'a> {
    /// The tools that it is shown; what is not listed does not exist for it.
    pub tools: &'a [&'static str],
    pub permissions: &'a Permissions,
    /// As many calls it may make.
    pub tool_calls: u32,
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
    /// What one model call may be sent, in tokens as we estimate them, unless the settings say what the model takes.
    pub context_tokens: usize,
    /// What one model call may answer.
    pub answer_tokens: u32,
    /// All tokens of all model calls; `None` leaves it to the steps.
    pub total_tokens: Option<u64>,
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
