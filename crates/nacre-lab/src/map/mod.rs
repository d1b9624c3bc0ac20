//! Commands that measure the code map on real and hostile code.

mod ablations;
mod grammars;
mod ignore_rules;
mod limits;
mod resolution;

use clap::Subcommand;

use crate::Outcome;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Ablations(ablations::AblationsArgs),
    /// Measure the cost of parsing real code and hostile patterns
    #[command(subcommand)]
    Grammars(grammars::Grammars),
    IgnoreRules(ignore_rules::IgnoreRulesArgs),
    /// Measure how fast this machine can list, stat, hash and parse files
    #[command(subcommand)]
    Limits(limits::Limits),
    Resolution(resolution::ResolutionArgs),
}

pub(crate) fn run(command: Command) -> Outcome {
    match command {
        Command::Ablations(args) => ablations::run(&args),
        Command::Grammars(command) => grammars::run(command),
        Command::IgnoreRules(args) => ignore_rules::run(&args),
        Command::Limits(command) => limits::run(command),
        Command::Resolution(args) => resolution::run(&args),
    }
}
