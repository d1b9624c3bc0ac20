//! `nacre connect`: whose traces are read.

use clap::Args;
use clap::builder::PossibleValuesParser;
use nacre_api::wire::{ConnectReport, ConnectRequest};
use nacre_ops::host::agent_names;
use nacre_ops::{Host, OpError, connect as ops};

use super::exit::Exit;
use super::traces::agent_parser;
use super::ui::{Role, Ui};

/// What can stand in the place of an agent.
const ACTIONS: [&str; 3] = ["auto", "list", "remove"];

/// Choose the agents whose sessions are read
///
/// Without any choice, every agent is read from where it usually keeps its traces.
///
///   nacre connect auto                 every agent that has traces on this machine
///   nacre connect codex --path DIR     one agent, from a folder of your choice
///   nacre connect list                 what is connected, and how much there is
///   nacre connect remove cursor        no longer read this one
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ConnectArgs {
    /// An agent, or what to do
    #[arg(value_parser = target_parser(), default_value = "list")]
    target: String,
    /// The agent to remove
    #[arg(value_parser = agent_parser())]
    agent: Option<String>,
    /// Where the agent keeps its traces (can be repeated)
    #[arg(long = "path", value_name = "PATH")]
    paths: Vec<String>,
}

fn target_parser() -> PossibleValuesParser {
    PossibleValuesParser::new(ACTIONS.into_iter().chain(agent_names()))
}

pub(crate) fn cmd_connect(ui: &mut Ui, host: &Host, args: &ConnectArgs) -> Result<Exit, OpError> {
    ui.report(&ops::connect(host, &request(args)?)?, print)
}

fn request(args: &ConnectArgs) -> Result<ConnectRequest, OpError> {
    let ConnectArgs { target, agent, paths } = args;
    match (target.as_str(), agent) {
        ("list", None) => Ok(ConnectRequest::List),
        ("auto", None) => Ok(ConnectRequest::Auto),
        ("remove", Some(agent)) => Ok(ConnectRequest::Remove { agent: agent.clone() }),
        ("remove", None) => Err(OpError::usage("Which agent?").hint("nacre connect remove cursor")),
        (agent, None) => Ok(ConnectRequest::Add { agent: agent.to_owned(), paths: paths.clone() }),
        (_, Some(_)) => Err(OpError::usage("Only `remove` takes a second agent")),
    }
}

fn print(ui: &mut Ui, report: &ConnectReport) -> Result<(), OpError> {
    let rows: Vec<_> = report
        .agents
        .iter()
        .map(|agent| {
            let state = if agent.connected { "connected" } else { "not connected" };
            vec![
                (Role::Id, agent.agent.clone()),
                (Role::Faint, state.to_owned()),
                (Role::Title, format!("{} sources", agent.sources)),
                (Role::Faint, agent.roots.join(", ")),
            ]
        })
        .collect();
    ui.table(&rows)?;
    for problem in report.agents.iter().flat_map(|agent| &agent.problems) {
        ui.warning(problem, None);
    }
    Ok(())
}
