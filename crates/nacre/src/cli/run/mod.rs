//! `nacre run`: what runs did.

mod list;
mod show;

use clap::{Args, Subcommand};

use super::error::{CommandError, Exit};
use super::runtime::Runtime;
use super::ui::Ui;

/// Look at what runs did
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    #[command(subcommand)]
    command: RunCommand,
}

#[derive(Debug, Subcommand)]
enum RunCommand {
    List(list::ListArgs),
    Show(show::ShowArgs),
}

pub(crate) fn cmd_run(
    ui: &mut Ui,
    runtime: &Runtime,
    args: &RunArgs,
) -> Result<Exit, CommandError> {
    match &args.command {
        RunCommand::List(args) => list::cmd_list(ui, runtime, args),
        RunCommand::Show(args) => show::cmd_show(ui, runtime, args),
    }
}
