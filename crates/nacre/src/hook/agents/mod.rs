//! One file an agent, and the table of all of them.

mod claude;
mod codex;
mod copilot;
mod cursor;
mod droid;
mod gemini;
mod opencode;
mod pi;
mod qwen;

use super::contract::Contract;

/// Every agent that has hooks.
pub(super) const CONTRACTS: &[&Contract] = &[
    &claude::CONTRACT,
    &codex::CONTRACT,
    &copilot::CONTRACT,
    &cursor::CONTRACT,
    &droid::CONTRACT,
    &gemini::CONTRACT,
    &opencode::CONTRACT,
    &pi::CONTRACT,
    &qwen::CONTRACT,
];

pub(super) fn named(name: &str) -> Option<&'static Contract> {
    CONTRACTS.iter().find(|contract| contract.name == name).copied()
}
