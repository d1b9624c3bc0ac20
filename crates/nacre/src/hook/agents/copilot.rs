//! Copilot CLI: keys in camel case, everything at the top. A hook before a tool that fails refuses every tool.

use crate::hook::contract::Contract;
use crate::hook::event::Event;
use crate::hook::input::Keys;
use crate::hook::reply::{Output, Reply, plain_context, plain_denial};

pub(in crate::hook) const CONTRACT: Contract = Contract {
    name: "copilot",
    keys: Keys {
        // With the second names it calls hooks that were written for Claude.
        session: &["sessionId", "session_id"],
        folder: &["cwd"],
        source: &["source"],
        prompt: &["prompt", "initialPrompt"],
        tool: &["toolName", "tool_name"],
        arguments: &["toolArgs", "tool_input"],
        trace: &["transcriptPath", "transcript_path"],
        is_asked: &["stop_hook_active"],
    },
    hears: &[Event::Start, Event::Prompt],
    can_ask: false,
    write,
};

fn write(event: Event, reply: &Reply) -> Output {
    match (event, reply) {
        (Event::Start | Event::Prompt, Reply::Context(text)) => plain_context(text),
        (Event::BeforeTool, Reply::Deny(why)) => plain_denial(why),
        _ => Output::default(),
    }
}
