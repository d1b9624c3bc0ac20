//! Cursor: a hook at the prompt can only stop it, so that nothing is said there. Written from its documentation; the agent
//! itself could not be run.

use serde::Serialize;

use crate::hook::contract::Contract;
use crate::hook::event::Event;
use crate::hook::input::Keys;
use crate::hook::reply::{Output, Reply};

pub(in crate::hook) const CONTRACT: Contract = Contract {
    name: "cursor",
    keys: Keys {
        session: &["conversation_id", "session_id"],
        folder: &["workspace_roots", "cwd"],
        source: &["source"],
        prompt: &["prompt"],
        tool: &["tool_name", "hook_event_name"],
        arguments: &["tool_input"],
        trace: &["transcript_path"],
        is_asked: &[],
    },
    hears: &[Event::Start],
    can_ask: false,
    write,
};

#[derive(Serialize)]
struct Context<'a> {
    additional_context: &'a str,
}

#[derive(Serialize)]
struct Permission<'a> {
    permission: &'static str,
    user_message: &'a str,
    agent_message: &'a str,
}

fn write(event: Event, reply: &Reply) -> Output {
    match (event, reply) {
        (Event::Start, Reply::Context(text)) => Output::json(&Context { additional_context: text }),
        (Event::BeforeTool, Reply::Deny(why)) => {
            Output::json(&Permission { permission: "deny", user_message: why, agent_message: why })
        }
        _ => Output::default(),
    }
}
