//! Help and arguments of `nacre hook`. `main` handles real hook calls, which skip the argument
//! parser.

use super::env;
use super::prelude::*;
use crate::hook;

/// Answer a coding agent's hook
///
/// Called by agents; `nacre connect` sets it up. Reads the agent's event as JSON from standard
/// input and prints the response in the agent's format, or nothing. On any error it prints nothing
/// and exits with 0; the reason is logged to `logs/hooks.log` in the global data directory.
/// docs/hooks.md describes the responses.
#[derive(Debug, Args)]
#[command(hide = true)]
pub(crate) struct HookArgs {
    /// claude, codex, copilot, cursor, droid, gemini, opencode, pi or qwen
    agent: String,
    /// start, prompt, before-tool, after-tool, subagent, turn-end or session-end
    event: String,
}

pub(crate) fn cmd_hook(HookArgs { agent, event }: HookArgs) -> CommandResult {
    let code = hook::run(&[agent, event], env::read());
    Ok(if code == 0 { Exit::DONE } else { Exit::USAGE })
}
