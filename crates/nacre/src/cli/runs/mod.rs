//! `nacre runs`: what syncs and maintenances did.

mod list;
mod show;

use clap::{Args, Subcommand};
use nacre_ops::{Host, OpError};

use super::exit::Exit;
use super::ui::Ui;

/// List what each sync and maintenance did, and why
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct RunsArgs {
    #[command(subcommand)]
    command: Option<RunsCommand>,
    #[command(flatten)]
    list: list::ListArgs,
}

#[derive(Debug, Subcommand)]
enum RunsCommand {
    List(list::ListArgs),
    Show(show::ShowArgs),
}

pub(crate) fn cmd_runs(ui: &mut Ui, host: &Host, args: &RunsArgs) -> Result<Exit, OpError> {
    match &args.command {
        Some(RunsCommand::Show(args)) => show::cmd_show(ui, host, args),
        Some(RunsCommand::List(list)) => list::cmd_list(ui, host, list),
        None => list::cmd_list(ui, host, &args.list),
    }
}
