//! Responds to coding agents' hooks in the format that each agent expects.
//!
//! A hook must never break or block the agent. On any error, it logs the error, prints nothing, and
//! exits with 0 before its deadline. `nacre_traces::agents` defines the formats, and
//! `nacre_ops::hook` decides on the answer.

mod background;
mod by_server;
mod deadline;
mod failure;
mod input;
mod reply;
#[cfg(test)]
mod tests;
mod tool_call;

use std::io::Write as _;

use nacre_ops::host::{Environment, OpenOptions, Registering, Tolerance};
use nacre_ops::{Host, OpError, Result, hook as ops};
use nacre_traces::agent_config::HookEvent;
use nacre_traces::agents::{HookContract, hook_contracts};
use nacre_types::{
    ErrorCode, HookEndRequest, HookPromptRequest, HookQuestion, HookSession, HookSource,
    HookToolRequest,
};

use self::deadline::Deadline;
use self::input::Input;
use self::reply::Output;

/// Responds to a hook and returns the exit code.
pub(crate) fn run(words: &[String], environment: Environment) -> u8 {
    let word = |idx: usize| words.get(idx).map(String::as_str).unwrap_or_default();
    let (agent, event) = (word(0), word(1));
    if environment.is_child() {
        return 0;
    }
    deadline::end_silently_on_panic();
    if agent == background::OWN_NAME {
        background::run(event, words.get(2..).unwrap_or_default(), environment);
        return 0;
    }
    let deadline = Deadline::start(&environment, agent, event);
    let answered = answer(agent, event, &environment, &deadline);
    // The deadline has passed, and the deadline thread is ending the process.
    if !deadline.finish() {
        return 0;
    }
    match answered {
        Ok(output) => {
            // Write errors are ignored, because an agent that closed the pipe no longer needs the
            // answer.
            let _ = std::io::stdout().write_all(output.stdout.as_bytes());
            let _ = std::io::stdout().flush();
            let _ = std::io::stderr().write_all(output.stderr.as_bytes());
            output.code
        }
        Err(error) => {
            log_failure(&environment, agent, event, &error);
            0
        }
    }
}

fn answer(
    agent: &str,
    event: &str,
    environment: &Environment,
    deadline: &Deadline,
) -> Result<Output> {
    let (name, contract) = hook_contracts()
        .find(|(name, _)| *name == agent)
        .ok_or_else(|| OpError::usage("Unknown agent in the hook command"))?;
    let event = HookEvent::from_name(event)
        .ok_or_else(|| OpError::usage("Unknown event in the hook command"))?;
    let (input, n_bytes) = input::read_standard_input(&contract.keys)?;
    let folder = input.folder.clone().unwrap_or_else(|| environment.folder.clone());
    let Some(question) = question(name, contract, event, input) else {
        return Ok(Output::default());
    };
    let report = match by_server::ask(environment, &folder, &question, n_bytes) {
        Some(report) => report?,
        None => {
            let host = open_host(Environment { folder: folder.clone(), ..environment.clone() })?;
            deadline.set(host.settings().hooks.deadline);
            ops::answer(&host, &question)?
        }
    };
    if let Some(work) = report.work {
        background::hand_over(environment, &folder, work, ended(&question));
    }
    Ok(Output::of(&report, event, contract))
}

/// Returns the question for `nacre_ops::hook`, or `None` if the agent ignores answers to this
/// event.
fn question(
    agent: &str,
    contract: &HookContract,
    event: HookEvent,
    input: Input,
) -> Option<HookQuestion> {
    let session = HookSession { agent: agent.to_owned(), id: input.session };
    let hears = contract.hears.contains(&event);
    match event {
        HookEvent::Start | HookEvent::Prompt | HookEvent::AfterTool | HookEvent::Subagent
            if !hears =>
        {
            None
        }
        HookEvent::Start => {
            let is_lost = contract.forgets_on_resume && input.source == HookSource::Resume;
            let source = if is_lost { HookSource::Forgotten } else { input.source };
            Some(HookQuestion::Start { session, source })
        }
        HookEvent::Subagent => Some(HookQuestion::Start { session, source: HookSource::Subagent }),
        HookEvent::Prompt => {
            let Input { prompt, trace, .. } = input;
            let is_failure = false;
            Some(HookQuestion::Prompt(HookPromptRequest { session, prompt, trace, is_failure }))
        }
        HookEvent::BeforeTool => {
            // If the agent ignores notes for this event, the notes must not be recorded as shown.
            let request = HookToolRequest { hears, ..input.call?.request(session) };
            Some(HookQuestion::BeforeTool(request))
        }
        HookEvent::AfterTool => {
            let prompt = format!("{}\n{}", input.call?.command?, input.failure?);
            let (trace, is_failure) = (None, true);
            Some(HookQuestion::Prompt(HookPromptRequest { session, prompt, trace, is_failure }))
        }
        HookEvent::TurnEnd | HookEvent::SessionEnd => {
            let is_session = event == HookEvent::SessionEnd;
            Some(HookQuestion::End(HookEndRequest { session, is_session }))
        }
    }
}

/// Returns the ID of the session that has ended, if any.
fn ended(question: &HookQuestion) -> Option<&str> {
    let HookQuestion::End(end) = question else { return None };
    end.session.id.as_deref().filter(|_| end.is_session)
}

/// Opens the host. Invalid repository settings are tolerated, because they must not affect the
/// agent.
fn open_host(environment: Environment) -> Result<Host> {
    let options = OpenOptions {
        tolerance: Tolerance::OfRepository,
        registering: Registering::Yes,
        ..OpenOptions::default()
    };
    Host::open(environment, &options).host
}

/// Logs a failure. A missing project does not count as a failure.
fn log_failure(environment: &Environment, agent: &str, event: &str, error: &OpError) {
    if error.code != ErrorCode::NoProject {
        ops::log_failure(environment, agent, event, error);
    }
}
