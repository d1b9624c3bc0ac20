//! `nacre project`: the register of repositories.

mod add;
mod list;
mod remove;

use clap::{Args, Subcommand};
use nacre_ops::{Host, OpError};

use super::exit::Exit;
use super::ui::Ui;
use nacre_ops::host::Tolerance;

/// Manage the projects that Nacre knows
#[derive(Debug, Args)]
pub(crate) struct ProjectArgs {
    #[command(subcommand)]
    command: ProjectCommand,
}

#[derive(Debug, Subcommand)]
enum ProjectCommand {
    Add(add::AddArgs),
    List(list::ListArgs),
    Remove(remove::RemoveArgs),
}

impl ProjectArgs {
    pub(crate) fn tolerance(&self) -> Tolerance {
        match self.command {
            ProjectCommand::List(_) | ProjectCommand::Remove(_) => Tolerance::OfRepository,
            ProjectCommand::Add(_) => Tolerance::None,
        }
    }
}

pub(crate) fn cmd_project(ui: &mut Ui, host: &Host, args: &ProjectArgs) -> Result<Exit, OpError> {
    match &args.command {
        ProjectCommand::Add(args) => add::cmd_add(ui, host, args),
        ProjectCommand::List(args) => list::cmd_list(ui, host, args),
        ProjectCommand::Remove(args) => remove::cmd_remove(ui, host, args),
    }
}
