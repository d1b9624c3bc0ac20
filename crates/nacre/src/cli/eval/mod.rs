//! `nacre eval`: measure what Nacre promises, on data with known answers.

mod extraction;
mod retrieval;

use std::path::Path;

use clap::{Args, Subcommand};

use super::exit::Exit;
use super::ui::Ui;
use nacre_ops::Host;
use nacre_ops::OpError;

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

pub(crate) fn cmd_eval(ui: &mut Ui, host: &Host, args: &EvalArgs) -> Result<Exit, OpError> {
    match &args.command {
        EvalCommand::Retrieval(args) => retrieval::cmd_retrieval(ui, host, args),
        EvalCommand::Extraction(args) => extraction::cmd_extraction(ui, args),
    }
}

/// The text of a data set.
fn read(path: &Path) -> Result<String, OpError> {
    std::fs::read_to_string(path).map_err(|error| OpError {
        causes: vec![error.to_string()],
        ..OpError::failed(format!("Cannot read `{}`", path.display()))
    })
}
