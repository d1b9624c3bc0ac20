//! Fuzzes the trace adapters. Every read must stay within its limits, must not panic, and must give
//! the same result when repeated.

mod databases;
mod mutate;
mod traces;
mod watch;

use std::path::PathBuf;

use clap::Subcommand;

use crate::Outcome;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Traces(traces::TracesArgs),
    Databases(databases::DatabasesArgs),
}

#[derive(Clone, Debug, clap::Args)]
struct Places {
    /// Directory for the current input; preferably in memory, because it is rewritten for every
    /// input
    scratch: PathBuf,
    /// Directories with traces in `claude/`, `codex/` and so on
    #[arg(required = true)]
    folders: Vec<PathBuf>,
}

pub(crate) fn run(command: Command) -> Outcome {
    match command {
        Command::Traces(args) => watch::run(move || traces::fuzz(&args)),
        Command::Databases(args) => watch::run(move || databases::fuzz(&args)),
    }
}
