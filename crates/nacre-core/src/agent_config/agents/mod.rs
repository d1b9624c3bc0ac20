//! The agents that can be connected, one file each: which files they read, and what belongs into them.
//!
//! Everything here was seen by running the agent, or says that it was not.

mod claude;
mod codex;
mod copilot;
mod cursor;
mod droid;
mod gemini;
mod opencode;
mod pi;
mod qwen;
mod shared;
#[cfg(test)]
mod tests;
mod vscode;
mod zed;

pub use codex::trust;

use super::spec::AgentSpec;

/// Every agent that can be connected.
pub static AGENTS: &[&AgentSpec] = &[
    &claude::CLAUDE,
    &codex::CODEX,
    &opencode::OPENCODE,
    &gemini::GEMINI,
    &qwen::QWEN,
    &copilot::COPILOT,
    &pi::PI,
    &droid::DROID,
    &cursor::CURSOR,
    &vscode::VSCODE,
    &zed::ZED,
];

/// The agent of that name.
pub fn agent_spec(name: &str) -> Option<&'static AgentSpec> {
    AGENTS.iter().copied().find(|agent| agent.name == name)
}
