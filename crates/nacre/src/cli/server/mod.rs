//! `nacre server`: what several servers share.

mod migrate;
mod status;

use clap::{Args, Subcommand};
use nacre_ops::{Host, OpError};

use super::exit::Exit;
use super::ui::Ui;

/// Share one memory between several servers
///
/// A team's servers share a PostgreSQL (`nacre config set server.database postgres://USER@HOST/NAME`): which of them reads which
/// session is decided there. `nacre serve` runs a server; docs/scale.md says what is shared.
#[derive(Debug, Args)]
pub(crate) struct ServerArgs {
    #[command(subcommand)]
    command: ServerCommand,
}

#[derive(Debug, Subcommand)]
enum ServerCommand {
    Migrate(migrate::MigrateArgs),
    Status(status::StatusArgs),
}

pub(crate) fn cmd_server(ui: &mut Ui, host: &Host, args: &ServerArgs) -> Result<Exit, OpError> {
    match &args.command {
        ServerCommand::Migrate(args) => migrate::cmd_migrate(ui, host, args),
        ServerCommand::Status(args) => status::cmd_status(ui, host, args),
    }
}
