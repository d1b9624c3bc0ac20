//! `nacre bench`: what Nacre costs and saves, measured on your own repositories.

mod baseline;
mod map;
mod questions;

use clap::{Args, Subcommand};

use super::error::{CommandError, Exit};
use super::runtime::Runtime;
use super::ui::Ui;

/// Measure what Nacre costs and saves, on repositories of yours
#[derive(Debug, Args)]
pub(crate) struct BenchArgs {
    #[command(subcommand)]
    command: BenchCommand,
}

#[derive(Debug, Subcommand)]
enum BenchCommand {
    Map(map::MapBenchArgs),
}

pub(crate) fn cmd_bench(
    ui: &mut Ui,
    runtime: &Runtime,
    args: &BenchArgs,
) -> Result<Exit, CommandError> {
    match &args.command {
        BenchCommand::Map(args) => map::cmd_map(ui, runtime, args),
    }
}
