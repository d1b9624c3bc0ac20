//! `nacre eval`: measure what Nacre promises, on data with known answers.

mod extraction;
mod retrieval;

use std::path::Path;

use clap::{Args, Subcommand};

use super::error::{CommandError, Exit};
use super::runtime::Runtime;
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
}

pub(crate) fn cmd_eval(
    ui: &mut Ui,
    runtime: &Runtime,
    args: &EvalArgs,
) -> Result<Exit, CommandError> {
    match &args.command {
        EvalCommand::Retrieval(args) => retrieval::cmd_retrieval(ui, runtime, args),
        EvalCommand::Extraction(args) => extraction::cmd_extraction(ui, args),
    }
}

/// The text of a data set.
fn read(path: &Path) -> Result<String, CommandError> {
    std::fs::read_to_string(path).map_err(|error| CommandError {
        causes: vec![error.to_string()],
        ..CommandError::failed(format!("Cannot read `{}`", path.display()))
    })
}
