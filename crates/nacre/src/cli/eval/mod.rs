//! `nacre eval`: measure what Nacre promises, on data with known answers.

mod extraction;
mod hook;
mod retrieval;

use clap::{Args, Subcommand};
use nacre_ops::{Host, OpError};

use super::exit::Exit;
use super::ui::Ui;

/// Measure what Nacre promises, on data sets with known answers
#[derive(Debug, Args)]
pub(crate) struct EvalArgs {
    #[command(subcommand)]
    command: EvalCommand,
}

#[derive(Debug, Subcommand)]
enum EvalCommand {
    Retrieval(retrieval::RetrievalArgs),
    Extraction(extraction::ExtractionArgs),
    Hook(hook::HookArgs),
}

pub(crate) fn cmd_eval(ui: &mut Ui, host: &Host, args: &EvalArgs) -> Result<Exit, OpError> {
    match &args.command {
        EvalCommand::Retrieval(args) => retrieval::cmd_retrieval(ui, host, args),
        EvalCommand::Extraction(args) => extraction::cmd_extraction(ui, host, args),
        EvalCommand::Hook(args) => hook::cmd_hook(ui, host, args),
    }
}
