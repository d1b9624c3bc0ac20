//! Hooks: what an agent's hook asks on standard input, answered in the one shape that this agent takes.
//!
//! A hook never breaks, blocks or slows its host. Whatever goes wrong, it prints nothing and ends with 0, within its
//! deadline; what went wrong stands in a log. One file an agent in `agents/`; what is said is decided by the operations.

mod agents;
mod background;
mod contract;
mod deadline;
mod event;
mod host;
mod input;
mod lead_tool;
mod reply;
#[cfg(test)]
mod tests;
mod tool_call;

use std::io::Write as _;

use nacre_api::wire::{
    HookContextReport, HookEnd, HookEndRequest, HookPromptRequest, HookSession, HookStartRequest,
    HookToolReport,
};
use nacre_ops::host::Environment;
use nacre_ops::{Host, OpError, hook as ops};

use self::background::Work;
use self::contract::Contract;
use self::deadline::Deadline;
use self::event::Event;
use self::input::Input;
use self::reply::{Output, Reply};

/// Answers a hook; returns the code to end with.
pub(crate) fn run(words: &[String], environment: Environment) -> u8 {
    let word = |idx: usize| words.get(idx).map(String::as_str).unwrap_or_default();
    let (agent, event) = (word(0), word(1));
    // Asked for by Nacre alone, of an agent that it runs itself: this guard is never silent.
    if (agent, event) == ("claude", ops::LEAD_TOOL) {
        return print(&lead_tool::answer(word(2)));
    }
    if environment.is_child() {
        return 0;
    }
    deadline::end_silently_on_panic();
    if agent == background::OWN_NAME {
        background::run(event, word(2), environment);
        return 0;
    }
    let deadline = Deadline::start(&environment, agent, event);
    let answered = answer(agent, event, &environment, &deadline);
    // Whoever comes second says nothing.
    if !deadline.finish() {
        return 0;
    }
    match answered {
        Ok(output) => print(&output),
        Err(error) => {
            host::log(&environment, (agent, event), &error);
            0
        }
    }
}

fn answer(
    agent: &str,
    event: &str,
    environment: &Environment,
    deadline: &Deadline,
) -> Result<Output, OpError> {
    let contract =
        agents::named(agent).ok_or_else(|| OpError::usage("The agent of the hook is not known"))?;
    let event =
        Event::named(event).ok_or_else(|| OpError::usage("The event of the hook is not known"))?;
    let input = input::read_standard_input(&contract.keys)?;
    let mut environment = environment.clone();
    if let Some(folder) = &input.folder {
        environment.folder.clone_from(folder);
    }
    let host = host::open(environment)?;
    deadline.set(host.settings().hooks.deadline);
    let (reply, work) = reply(&host, contract, event, input)?;
    if let Some(work) = work {
        background::hand_over(work, &host);
    }
    Ok((contract.write)(event, &reply))
}

fn reply(
    host: &Host,
    contract: &Contract,
    event: Event,
    input: Input,
) -> Result<(Reply, Option<Work>), OpError> {
    let session = HookSession { agent: contract.name.to_owned(), id: input.session };
    match event {
        Event::Start | Event::Prompt if !contract.hears.contains(&event) => {
            Ok((Reply::Silent, None))
        }
        Event::Start => {
            let request = HookStartRequest { session, source: input.source };
            ops::start(host, &request).map(in_context)
        }
        Event::Prompt => {
            let request = HookPromptRequest { session, prompt: input.prompt };
            ops::prompt(host, &request).map(in_context)
        }
        Event::BeforeTool => {
            let Some(call) = input.call else { return Ok((Reply::Silent, None)) };
            let request = call.request(session);
            // What is not heard is not told: it would count as told.
            let report = match contract.hears.contains(&event) {
                true => ops::before_tool(host, &request)?,
                false => {
                    let denied = ops::ToolGuard::open(host)?.refuse(&request);
                    HookToolReport { denied, ..HookToolReport::default() }
                }
            };
            Ok((Reply::to_tool(report), None))
        }
        Event::TurnEnd | Event::SessionEnd => {
            let can_ask = contract.can_ask && !input.is_asked && event == Event::TurnEnd;
            let end = if event == Event::TurnEnd { HookEnd::Turn } else { HookEnd::Session };
            let request = HookEndRequest { session, end, trace: input.trace, can_ask };
            let report = ops::end(host, &request)?;
            Ok((Reply::ask(report.ask), report.is_due.then_some(Work::Sync)))
        }
    }
}

fn in_context(report: HookContextReport) -> (Reply, Option<Work>) {
    (Reply::context(report.text), report.is_behind.then_some(Work::Index))
}

fn print(output: &Output) -> u8 {
    // A reader that went away has lost nothing.
    let _ = std::io::stdout().write_all(output.stdout.as_bytes());
    let _ = std::io::stdout().flush();
    let _ = std::io::stderr().write_all(output.stderr.as_bytes());
    output.code
}
