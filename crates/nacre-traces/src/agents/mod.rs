//! The supported coding agents. Each agent has one module and one row in [`AGENTS`], from which all
//! lists of agents, names, files, variables and hooks are derived.

mod aider;
mod claude;
mod cline;
mod codex;
mod continue_dev;
mod copilot;
mod cursor;
mod droid;
mod editors;
mod gemini;
pub mod generic;
mod opencode;
mod pi;
mod qwen;
mod sniff;
mod spec;
#[cfg(test)]
mod tests;

use std::sync::LazyLock;

pub use self::claude::config_folders as claude_config_folders;
pub use self::codex::trust;
pub use self::sniff::{trace_at, trace_in, traces_at};
pub use self::spec::{AgentSpec, HookContract, InputKeys};
pub(crate) use self::spec::{Copies, Mark};
use crate::transcript::{Adapter, Agent};

pub static AGENTS: &[&AgentSpec] = &[
    &claude::SPEC,
    &codex::SPEC,
    &cursor::SPEC,
    &opencode::SPEC,
    &gemini::SPEC,
    &qwen::SPEC,
    &copilot::SPEC,
    &pi::SPEC,
    &droid::SPEC,
    &cline::SPEC,
    &continue_dev::SPEC,
    &aider::SPEC,
    &generic::SPEC,
    &editors::VSCODE,
    &editors::ZED,
];

pub static ADAPTERS: LazyLock<Vec<&'static dyn Adapter>> =
    LazyLock::new(|| AGENTS.iter().filter_map(|spec| spec.adapter).collect());

/// Returns the agents that can be connected. Agents with hooks come first.
pub fn connectable_agents() -> impl Iterator<Item = &'static AgentSpec> {
    let with_hooks = AGENTS.iter().filter(|spec| spec.hooks.is_some());
    let without = AGENTS.iter().filter(|spec| spec.hooks.is_none() && spec.mcp.is_some());
    with_hooks.chain(without).copied()
}

pub fn connectable_agent(name: &str) -> Option<&'static AgentSpec> {
    connectable_agents().find(|spec| spec.name == name)
}

pub fn hook_contracts() -> impl Iterator<Item = (&'static str, &'static HookContract)> {
    AGENTS.iter().filter_map(|spec| Some((spec.name, spec.contract.as_ref()?)))
}

pub fn variables() -> impl Iterator<Item = &'static str> {
    let shared = ["XDG_CONFIG_HOME", "XDG_DATA_HOME"];
    shared.into_iter().chain(AGENTS.iter().flat_map(|spec| spec.variables).copied())
}

pub fn adapter_of(agent: Agent) -> &'static dyn Adapter {
    spec_of(agent).adapter.unwrap_or(&generic::Generic)
}

/// An agent without its own row uses the row for Nacre's own format.
pub(crate) fn spec_of(agent: Agent) -> &'static AgentSpec {
    AGENTS.iter().find(|spec| spec.name == agent.as_str()).copied().unwrap_or(&generic::SPEC)
}
