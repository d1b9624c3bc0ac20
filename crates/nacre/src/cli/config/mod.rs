//! `nacre config`: what is set, where, and by whom.

mod path;
mod set;
mod show;

use clap::{Args, Subcommand};

use super::error::{CommandError, Exit};
use super::runtime::{Runtime, Tolerance};
use super::ui::Ui;

/// Show and change settings
#[derive(Debug, Args)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    command: ConfigCommand,
}

#[derive(Debug, Subcommand)]
enum ConfigCommand {
    Show(show::ShowArgs),
    Path(path::PathArgs),
    Set(set::SetArgs),
}

impl ConfigArgs {
    pub(crate) fn tolerance(&self) -> Tolerance {
        match self.command {
            ConfigCommand::Set(_) | ConfigCommand::Path(_) => Tolerance::Mistakes,
            ConfigCommand::Show(_) => Tolerance::None,
        }
    }
}

pub(crate) fn cmd_config(
    ui: &mut Ui,
    runtime: &Runtime,
    args: &ConfigArgs,
) -> Result<Exit, CommandError> {
    match &args.command {
        ConfigCommand::Show(args) => show::cmd_show(ui, runtime, args),
        ConfigCommand::Path(args) => path::cmd_path(ui, runtime, args),
        ConfigCommand::Set(args) => set::cmd_set(ui, runtime, args),
    }
}
