//! `nacre server migrate`

use clap::Args;
use nacre_api::wire::{MoveStores, MovedStores, ServerMigrateReport, ServerMigrateRequest};
use nacre_ops::{Host, OpError, server as ops};

use super::super::exit::Exit;
use super::super::ui::Ui;

/// Prepare the database for this version
///
/// Takes the steps of its schema that were not taken yet, all of them or none, and says which. Running it again changes nothing.
/// A program that is older than the schema refuses.
#[derive(Debug, Args)]
pub(crate) struct MigrateArgs {
    /// Also move the queue of this machine into the database, and index its memories there
    #[arg(long)]
    from_embedded: bool,
    /// Also take over from the database where the sessions of this machine stand
    #[arg(long, conflicts_with = "from_embedded")]
    to_embedded: bool,
}

pub(crate) fn cmd_migrate(ui: &mut Ui, host: &Host, args: &MigrateArgs) -> Result<Exit, OpError> {
    let r#move = match args {
        MigrateArgs { from_embedded: true, .. } => Some(MoveStores::FromEmbedded),
        MigrateArgs { to_embedded: true, .. } => Some(MoveStores::ToEmbedded),
        MigrateArgs { from_embedded: false, to_embedded: false } => None,
    };
    let report = ops::migrate(host, &ServerMigrateRequest { r#move }, &ui.events())?;
    ui.report(&report, print)
}

fn print(ui: &mut Ui, report: &ServerMigrateReport) -> Result<(), OpError> {
    let ServerMigrateReport { from, to, steps, moved, next } = report;
    if steps.is_empty() {
        ui.line(format_args!("The database is up to date (format {to})"))?;
    } else {
        let steps = steps.join(", ");
        ui.line(format_args!("Took the database from format {from} to {to}: {steps}"))?;
    }
    if let Some(MovedStores { direction, sessions, memories }) = moved {
        let told = match direction {
            MoveStores::FromEmbedded => {
                format!(
                    "into the database (sessions: {sessions}), and its index has {memories} memories"
                )
            }
            MoveStores::ToEmbedded => format!("back to this machine (sessions: {sessions})"),
        };
        ui.line(format_args!("Moved the queue {told}"))?;
    }
    ui.line(format_args!("Next: {next}"))
}
