//! Hooks: what an agent's hook asks on standard input, answered in the one shape that this agent takes.
//!
//! A hook never breaks, blocks or slows its host. Whatever goes wrong, it prints nothing and ends with 0, within its
//! deadline; what went wrong stands in a log. One file an agent in `agents/`; what is said is decided by the operations.

mod agents;
mod background;
mod by_server;
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
use std::path::PathBuf;

use nacre_api::wire::{
    HookEnd, HookEndRequest, HookPromptRequest, HookQuestion, HookReport, HookRequest, HookSession,
    HookStartRequest,
};
use nacre_ops::host::Environment;
use nacre_ops::{OpError, hook as ops, service};

use self::background::Work;
use self::by_server::ServerAnswer;
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
    let (input, n_bytes) = input::read_standard_input(&contract.keys)?;
    let folder = input.folder.clone().unwrap_or_else(|| environment.folder.clone());
    let Some(question) = question(contract, event, input) else { return Ok(Output::default()) };
    let asked = Asked { question, folder, n_bytes };
    let report = match answer_by_server(environment, &asked) {
        Some(report) => report?,
        None => answer_here(environment, &asked, deadline)?,
    };
    Ok((contract.write)(event, &Reply::of(report)))
}

/// What a hook was called for.
struct Asked {
    question: HookQuestion,
    folder: PathBuf,
    /// How long the input was.
    n_bytes: usize,
}

/// What is asked of the operations; nothing where the agent would not hear the answer.
fn question(contract: &Contract, event: Event, input: Input) -> Option<HookQuestion> {
    let session = HookSession { agent: contract.name.to_owned(), id: input.session };
    let hears = contract.hears.contains(&event);
    match event {
        Event::Start | Event::Prompt if !hears => None,
        Event::Start => {
            Some(HookQuestion::Start(HookStartRequest { session, source: input.source }))
        }
        Event::Prompt => {
            Some(HookQuestion::Prompt(HookPromptRequest { session, prompt: input.prompt }))
        }
        Event::BeforeTool => {
            let request = input.call?.request(session);
            // What is not heard is not told: it would count as told.
            let of = if hears { HookQuestion::BeforeTool } else { HookQuestion::Guard };
            Some(of(request))
        }
        Event::TurnEnd | Event::SessionEnd => {
            let can_ask = contract.can_ask && !input.is_asked && event == Event::TurnEnd;
            let end = if event == Event::TurnEnd { HookEnd::Turn } else { HookEnd::Session };
            Some(HookQuestion::End(HookEndRequest { session, end, trace: input.trace, can_ask }))
        }
    }
}

/// Has the server of this home answer; `None` where none can.
fn answer_by_server(
    environment: &Environment,
    asked: &Asked,
) -> Option<Result<HookReport, OpError>> {
    let version = env!("CARGO_PKG_VERSION").to_owned();
    let folder = asked.folder.to_str()?.to_owned();
    let request = HookRequest { version, folder, question: asked.question.clone() };
    let ServerAnswer { report, server } = by_server::ask(environment, &request, asked.n_bytes)?;
    if let Some(work) = report.as_ref().ok().and_then(work_of) {
        background::hand_over(work, Some(&server), &asked.folder);
    }
    Some(report)
}

/// Answers in this process.
fn answer_here(
    environment: &Environment,
    asked: &Asked,
    deadline: &Deadline,
) -> Result<HookReport, OpError> {
    let host = host::open(Environment { folder: asked.folder.clone(), ..environment.clone() })?;
    deadline.set(host.settings().hooks.deadline);
    let report = ops::answer(&host, &asked.question)?;
    if let Some(work) = work_of(&report) {
        let server = service::find(&host).ok().flatten();
        background::hand_over(work, server.as_ref(), &asked.folder);
    }
    Ok(report)
}

/// What is left to the background.
fn work_of(report: &HookReport) -> Option<Work> {
    match (report.is_due, report.is_behind) {
        (true, _) => Some(Work::Sync),
        (false, true) => Some(Work::Index),
        (false, false) => None,
    }
}

fn print(output: &Output) -> u8 {
    // A reader that went away has lost nothing.
    let _ = std::io::stdout().write_all(output.stdout.as_bytes());
    let _ = std::io::stdout().flush();
    let _ = std::io::stderr().write_all(output.stderr.as_bytes());
    output.code
}
