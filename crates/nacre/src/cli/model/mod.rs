//! `nacre model`: the models that answer, and those that turn text into vectors.

mod list;
mod test;

use clap::{Args, Subcommand};
use nacre_ops::{Host, OpError};

use super::exit::Exit;
use super::ui::Ui;

/// Show and try models
///
/// Two kinds of models are at work. Those that answer are set by role in the configuration, and
/// served by a provider; none is needed. Those that search by meaning turn texts into vectors: one
/// is part of the program, and a service can do it instead (the setting `search.embedding`).
#[derive(Debug, Args)]
pub(crate) struct ModelArgs {
    #[command(subcommand)]
    command: ModelCommand,
}

#[derive(Debug, Subcommand)]
enum ModelCommand {
    List(list::ListArgs),
    Test(test::TestArgs),
}

pub(crate) fn cmd_model(ui: &mut Ui, host: &Host, args: &ModelArgs) -> Result<Exit, OpError> {
    match &args.command {
        ModelCommand::List(args) => list::cmd_list(ui, host, args),
        ModelCommand::Test(args) => test::cmd_test(ui, host, args),
    }
}
