//! `nacre server`: what several servers share, and the people who may ask them.

mod audit;
mod migrate;
mod status;
mod token;

use clap::{Args, Subcommand};
use nacre_ops::{Host, OpError};

use super::exit::Exit;
use super::ui::Ui;

/// Run servers for others: the database they share, tokens of people, and what they asked for
///
/// `nacre serve` answers on its own machine alone; others reach it through a proxy of yours that speaks TLS. docs/team.md tells how. A team's
/// servers share a PostgreSQL (`nacre config set server.database postgres://USER@HOST/NAME`); docs/scale.md says what is shared.
#[derive(Debug, Args)]
pub(crate) struct ServerArgs {
    #[command(subcommand)]
    command: ServerCommand,
}

#[derive(Debug, Subcommand)]
enum ServerCommand {
    Migrate(migrate::MigrateArgs),
    Status(status::StatusArgs),
    Token(token::TokenArgs),
    Audit(audit::AuditArgs),
}

pub(crate) fn cmd_server(ui: &mut Ui, host: &Host, args: &ServerArgs) -> Result<Exit, OpError> {
    match &args.command {
        ServerCommand::Migrate(args) => migrate::cmd_migrate(ui, host, args),
        ServerCommand::Status(args) => status::cmd_status(ui, host, args),
        ServerCommand::Token(args) => token::cmd_token(ui, host, args),
        ServerCommand::Audit(args) => audit::cmd_audit(ui, host, args),
    }
}
