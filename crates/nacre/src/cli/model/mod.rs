//! `nacre model`: the models that answer, and those that turn text into vectors.

mod install;
mod list;
mod remove;
mod test;

use clap::{Args, Subcommand, ValueEnum};
use nacre_api::wire::InstallableModel;
use nacre_ops::{Host, OpError};

use super::exit::Exit;
use super::ui::Ui;

/// Show, try and install models
///
/// Two kinds of models are at work. Those that answer are set by role in the configuration, and
/// served by a provider; none is needed. Those that search by meaning turn texts into vectors: one
/// is part of the program, and a better and slower one is fetched only by `nacre model install`.
#[derive(Debug, Args)]
pub(crate) struct ModelArgs {
    #[command(subcommand)]
    command: ModelCommand,
}

#[derive(Debug, Subcommand)]
enum ModelCommand {
    Install(install::InstallArgs),
    List(list::ListArgs),
    Remove(remove::RemoveArgs),
    Test(test::TestArgs),
}

/// Models that are not part of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Installable {
    /// all-MiniLM-L6-v2, for texts in English
    Minilm,
}

impl From<Installable> for InstallableModel {
    fn from(model: Installable) -> Self {
        match model {
            Installable::Minilm => Self::Minilm,
        }
    }
}

pub(crate) fn cmd_model(ui: &mut Ui, host: &Host, args: &ModelArgs) -> Result<Exit, OpError> {
    match &args.command {
        ModelCommand::Install(args) => install::cmd_install(ui, host, args),
        ModelCommand::List(args) => list::cmd_list(ui, host, args),
        ModelCommand::Remove(args) => remove::cmd_remove(ui, host, args),
        ModelCommand::Test(args) => test::cmd_test(ui, host, args),
    }
}
