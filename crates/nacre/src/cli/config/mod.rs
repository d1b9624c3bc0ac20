//! `nacre config`: what is set, where, and by whom.

mod get;
mod path;
mod set;
mod show;

use clap::{Args, Subcommand};
use nacre_ops::host::Tolerance;
use nacre_ops::{Host, OpError};

use super::exit::Exit;
use super::ui::Ui;

/// Show and change settings
#[derive(Debug, Args)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    command: ConfigCommand,
}

#[derive(Debug, Subcommand)]
enum ConfigCommand {
    #[command(alias = "list")]
    Show(show::ShowArgs),
    Get(get::GetArgs),
    Path(path::PathArgs),
    Set(set::SetArgs),
}

impl ConfigArgs {
    pub(crate) fn tolerance(&self) -> Tolerance {
        match self.command {
            ConfigCommand::Set(_) | ConfigCommand::Path(_) => Tolerance::Mistakes,
            ConfigCommand::Show(_) | ConfigCommand::Get(_) => Tolerance::OfRepository,
        }
    }
}

pub(crate) fn cmd_config(ui: &mut Ui, host: &Host, args: &ConfigArgs) -> Result<Exit, OpError> {
    match &args.command {
        ConfigCommand::Show(args) => show::cmd_show(ui, host, args),
        ConfigCommand::Get(args) => get::cmd_get(ui, host, args),
        ConfigCommand::Path(args) => path::cmd_path(ui, host, args),
        ConfigCommand::Set(args) => set::cmd_set(ui, host, args),
    }
}
