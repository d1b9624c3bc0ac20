//! Fits the product's constants to labelled data and prints them.

mod policy;
mod prompts;

use clap::Subcommand;

use crate::Outcome;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Policy(policy::PolicyArgs),
    Prompts(prompts::PromptsArgs),
}

pub(crate) fn run(command: Command) -> Outcome {
    match command {
        Command::Policy(args) => policy::run(&args),
        Command::Prompts(args) => prompts::run(&args),
    }
}
