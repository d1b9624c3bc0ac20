//! Commands that generate traces and that check the adapters against real traces.

mod count_databases;
mod count_lines;
mod make;

use clap::Subcommand;

use crate::Outcome;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Write synthetic Claude Code and Codex traces
    #[command(subcommand)]
    Make(make::Make),
    CountLines(count_lines::CountLinesArgs),
    CountDatabases(count_databases::CountDatabasesArgs),
}

pub(crate) fn run(command: Command) -> Outcome {
    match command {
        Command::Make(command) => make::run(&command),
        Command::CountLines(args) => count_lines::run(&args),
        Command::CountDatabases(args) => count_databases::run(&args),
    }
}
