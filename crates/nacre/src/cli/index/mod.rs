//! `nacre index`: the derived files behind search.

mod rebuild;
mod status;

use clap::{Args, Subcommand};
use nacre_ops::{Host, OpError};

use super::exit::Exit;
use super::ui::Ui;

/// Look at the search index, or build it anew
///
/// The index is derived from the memories and kept in step by every search. Deleting it loses nothing.
#[derive(Debug, Args)]
pub(crate) struct IndexArgs {
    #[command(subcommand)]
    command: IndexCommand,
}

#[derive(Debug, Subcommand)]
enum IndexCommand {
    Status(status::StatusArgs),
    Rebuild(rebuild::RebuildArgs),
}

pub(crate) fn cmd_index(ui: &mut Ui, host: &Host, args: &IndexArgs) -> Result<Exit, OpError> {
    match &args.command {
        IndexCommand::Status(args) => status::cmd_status(ui, host, args),
        IndexCommand::Rebuild(args) => rebuild::cmd_rebuild(ui, host, args),
    }
}
