//! `nacre bench`: what Nacre costs and saves, measured on your own repositories.

mod map;

use clap::{Args, Subcommand};

use super::exit::Exit;
use super::ui::Ui;
use nacre_ops::Host;
use nacre_ops::OpError;

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

pub(crate) fn cmd_bench(ui: &mut Ui, host: &Host, args: &BenchArgs) -> Result<Exit, OpError> {
    match &args.command {
        BenchCommand::Map(args) => map::cmd_map(ui, host, args),
    }
}
