//! `nacre run`: let an agent work, and look at what runs did.

mod agent;
mod list;
mod show;

use clap::{Args, Subcommand};

use super::exit::Exit;
use super::ui::Ui;
use nacre_ops::Host;
use nacre_ops::OpError;

/// Ask an agent about this repository, or see what runs did
///
/// The explorer reads files and can change nothing. It answers with the files and lines that prove
/// what it says; each of them is looked up, and what is not there is marked. The question and what
/// the agent reads go to the model that is set for it: `nacre model list`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct RunArgs {
    #[command(subcommand)]
    command: Option<RunCommand>,
    #[command(flatten)]
    agent: agent::AgentArgs,
}

#[derive(Debug, Subcommand)]
enum RunCommand {
    List(list::ListArgs),
    Show(show::ShowArgs),
}

pub(crate) fn cmd_run(ui: &mut Ui, host: &Host, args: &RunArgs) -> Result<Exit, OpError> {
    match &args.command {
        Some(RunCommand::List(args)) => list::cmd_list(ui, host, args),
        Some(RunCommand::Show(args)) => show::cmd_show(ui, host, args),
        None => agent::cmd_agent(ui, host, &args.agent),
    }
}
