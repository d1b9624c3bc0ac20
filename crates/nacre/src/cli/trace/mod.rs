//! `nacre trace`: the sessions that agents left behind.

mod import;
mod list;
mod search;
mod show;

use clap::{Args, Subcommand};

use super::error::{CommandError, Exit};
use super::runtime::Runtime;
use super::ui::Ui;

/// List, read and search the sessions of your agents
#[derive(Debug, Args)]
pub(crate) struct TraceArgs {
    #[command(subcommand)]
    command: TraceCommand,
}

#[derive(Debug, Subcommand)]
enum TraceCommand {
    List(list::ListArgs),
    Show(show::ShowArgs),
    Search(search::SearchArgs),
    Import(import::ImportArgs),
}

pub(crate) fn cmd_trace(
    ui: &mut Ui,
    runtime: &Runtime,
    args: &TraceArgs,
) -> Result<Exit, CommandError> {
    match &args.command {
        TraceCommand::List(args) => list::cmd_list(ui, runtime, args),
        TraceCommand::Show(args) => show::cmd_show(ui, runtime, args),
        TraceCommand::Search(args) => search::cmd_search(ui, runtime, args),
        TraceCommand::Import(args) => import::cmd_import(ui, runtime, args),
    }
}
