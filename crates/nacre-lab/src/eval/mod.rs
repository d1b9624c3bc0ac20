//! Quality measurements on data sets with known answers. They write nothing, and are deterministic
//! and offline unless a model is configured.

pub(crate) mod ask;
pub(crate) mod datasets;
mod extraction;
mod hook;
pub(crate) mod in_memory;
mod labels;
mod redaction;
mod retrieval;

use crate::Outcome;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    Retrieval(retrieval::RetrievalArgs),
    Extraction(extraction::ExtractionArgs),
    Hook(hook::HookArgs),
    Ask(ask::AskArgs),
    Redaction(redaction::RedactionArgs),
}

pub(crate) fn run(command: Command) -> Outcome {
    match command {
        Command::Retrieval(args) => retrieval::run(&args),
        Command::Extraction(args) => extraction::run(&args),
        Command::Hook(args) => hook::run(&args),
        Command::Ask(args) => ask::run(&args),
        Command::Redaction(args) => redaction::run(&args),
    }
}
