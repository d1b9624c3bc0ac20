//! Tests the shared team stores on a real PostgreSQL server.

#[expect(dead_code, reason = "some items are used only by tests")]
#[path = "../../../nacre-team/tests/it/chance.rs"]
mod chance;
mod quality;
mod scale;
#[path = "../../../nacre-team/tests/it/server.rs"]
mod server;
mod workers;

use clap::Subcommand;

use crate::Outcome;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Workers(workers::WorkersArgs),
    #[command(hide = true)]
    Worker(workers::WorkerArgs),
    Scale(scale::ScaleArgs),
    Quality(quality::QualityArgs),
}

pub(crate) fn run(command: Command) -> Outcome {
    match command {
        Command::Workers(args) => workers::run(&args),
        Command::Worker(args) => workers::work(&args),
        Command::Scale(args) => scale::run(&args),
        Command::Quality(args) => quality::run(&args),
    }
}
