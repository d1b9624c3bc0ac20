//! Answers coding agents' hooks, in the format that each agent expects.
//!
//! A hook must never break or block the agent. On any error, it logs the error, prints nothing, and
//! exits with 0 before its deadline. `nacre_traces::agents` defines the formats, and
//! `nacre_ops::hook` decides on the answer.

mod background;
mod by_server;
mod deadline;
mod input;
mod reply;
#[cfg(test)]
mod tests;
mod tool_call;

use std::io::Write as _;
use std::path::Path;

use nacre_ops::host::{Environment, OpenOptions, Registering, Tolerance};
use nacre_ops::{Host, OpError, Result, hook as ops, service};
use nacre_traces::agent_config::HookEvent;
use nacre_traces::agents::{HookContract, hook_contracts};
use nacre_types::{
    ErrorCode, HookEnd, HookEndRequest, HookQuestion, HookReport, HookSession, LoopName,
};

use self::deadline::Deadline;
use self::input::Input;
use self::reply::Output;

/// Answers a hook and returns the exit code.
pub(crate) fn run(words: &[String], environment: Environment) -> u8 {
    let word = |idx: usize| words.get(idx).map(String::as_str).unwrap_or_default();
    let (agent, event) = (word(0), word(1));
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
    // The deadline has passed, and its thread is ending the process.
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
        Some((report, server)) => {
            let report = report?;
            if let Some(work) = work_of(&report) {
                background::hand_over(work, Some(&server), &folder);
            }
            report
        }
        None => answer_here(environment, &folder, &question, deadline)?,
    };
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
        HookEvent::Start | HookEvent::Prompt if !hears => None,
        HookEvent::Start => Some(HookQuestion::Start { session, source: input.source }),
        HookEvent::Prompt => {
            let Input { prompt, trace, .. } = input;
            Some(HookQuestion::Prompt { session, prompt, trace })
        }
        HookEvent::BeforeTool => {
            let request = input.call?.request(session);
            // If the agent ignores notes for this event, only the guard runs. Otherwise, notes that
            // nobody saw would be recorded as shown.
            let of = if hears { HookQuestion::BeforeTool } else { HookQuestion::Guard };
            Some(of(request))
        }
        HookEvent::TurnEnd | HookEvent::SessionEnd => {
            let can_ask = contract.can_ask && !input.is_asked && event == HookEvent::TurnEnd;
            let end = if event == HookEvent::TurnEnd { HookEnd::Turn } else { HookEnd::Session };
            Some(HookQuestion::End(HookEndRequest { session, end, trace: input.trace, can_ask }))
        }
    }
}

fn answer_here(
    environment: &Environment,
    folder: &Path,
    question: &HookQuestion,
    deadline: &Deadline,
) -> Result<HookReport> {
    let host = open_host(Environment { folder: folder.to_owned(), ..environment.clone() })?;
    deadline.set(host.settings().hooks.deadline);
    let report = ops::answer(&host, question)?;
    if let Some(work) = work_of(&report) {
        let server = service::find(&host).ok().flatten();
        background::hand_over(work, server.as_ref(), folder);
    }
    Ok(report)
}

/// Returns the background work that a report calls for.
fn work_of(report: &HookReport) -> Option<LoopName> {
    match (report.is_due, report.is_behind) {
        (true, _) => Some(LoopName::Sync),
        (false, true) => Some(LoopName::Index),
        (false, false) => None,
    }
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

/// Logs a failure. A missing project does not count as one.
fn log_failure(environment: &Environment, agent: &str, event: &str, error: &OpError) {
    if error.code != ErrorCode::NoProject {
        ops::log_failure(environment, agent, event, error);
    }
}
