//! `nacre trace`: the sessions that agents left behind.

mod import;
mod list;
mod search;
mod show;

use clap::{Args, Subcommand};
use nacre_ops::{Host, OpError};

use super::exit::Exit;
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

pub(crate) fn cmd_trace(ui: &mut Ui, host: &Host, args: &TraceArgs) -> Result<Exit, OpError> {
    match &args.command {
        TraceCommand::List(args) => list::cmd_list(ui, host, args),
        TraceCommand::Show(args) => show::cmd_show(ui, host, args),
        TraceCommand::Search(args) => search::cmd_search(ui, host, args),
        TraceCommand::Import(args) => import::cmd_import(ui, host, args),
    }
}

/// A time of the wire (`2026-11-15T08:30:00Z`) to the minute, as rows show it.
fn minute(time: Option<&str>) -> String {
    let time = time.unwrap_or_default();
    time.get(..16).unwrap_or(time).replacen('T', " ", 1)
}
