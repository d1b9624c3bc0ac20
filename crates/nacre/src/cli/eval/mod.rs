//! `nacre eval`: measure what Nacre promises, on data with known answers.

mod retrieval;

use clap::{Args, Subcommand};

use super::error::{CommandError, Exit};
use super::runtime::Runtime;
use super::ui::Ui;

/// Measure recall on a data set with known answers
#[derive(Debug, Args)]
pub(crate) struct EvalArgs {
    #[command(subcommand)]
    command: EvalCommand,
}

#[derive(Debug, Subcommand)]
enum EvalCommand {
    Retrieval(retrieval::RetrievalArgs),
}

pub(crate) fn cmd_eval(
    ui: &mut Ui,
    runtime: &Runtime,
    args: &EvalArgs,
) -> Result<Exit, CommandError> {
    match &args.command {
        EvalCommand::Retrieval(args) => retrieval::cmd_retrieval(ui, runtime, args),
    }
}
