//! `nacre hook`

use clap::Args;
use nacre_ops::OpError;

use super::env;
use super::exit::Exit;
use crate::hook;

/// Answer a hook of a coding agent
///
/// Agents call this; `nacre connect` sets it up. What the agent says comes on standard input as JSON, and what is
/// printed is the one shape that this agent takes, or nothing. Whatever goes wrong, nothing is printed and the exit
/// code is 0; `logs/hooks.log` in the folder of global data has the reason. docs/hooks.md tells what is said when.
#[derive(Debug, Args)]
pub(crate) struct HookArgs {
    /// claude, codex, copilot, cursor, droid, gemini, opencode, pi or qwen
    agent: String,
    /// start, prompt, before-tool, turn-end or session-end
    event: String,
}

pub(crate) fn cmd_hook(args: &HookArgs) -> Result<Exit, OpError> {
    let words = [args.agent.clone(), args.event.clone()];
    Ok(match hook::run(&words, env::read()) {
        0 => Exit::Done,
        _ => Exit::Usage,
    })
}
