//! Benchmarks for time, memory and tokens.

mod brief;
mod embed;
mod engine;
mod events;
mod first_look;
mod graph;
mod maintain;
mod map;
mod parse;
mod programs;
mod redact;
mod search;

use clap::Subcommand;

use crate::{Outcome, block_on};

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Map(map::MapArgs),
    Maintain(maintain::MaintainArgs),
    Search(search::SearchArgs),
    Graph(graph::GraphArgs),
    FirstLook(first_look::FirstLookArgs),
    Brief(brief::BriefArgs),
    /// Measure the embedding model that ships with the program
    Embed,
    Parse(parse::ParseArgs),
    Redact(redact::RedactArgs),
    /// Measure the overhead of events in a run of tool calls
    Events,
    Engine(engine::EngineArgs),
    Programs(programs::ProgramsArgs),
}

pub(crate) fn run(command: Command) -> Outcome {
    match command {
        Command::Map(args) => map::run(&args),
        Command::Maintain(args) => maintain::run(&args),
        Command::Search(args) => search::run(&args),
        Command::Graph(args) => graph::run(&args),
        Command::FirstLook(args) => first_look::run(&args),
        Command::Brief(args) => brief::run(&args),
        Command::Embed => embed::run(),
        Command::Parse(args) => parse::run(&args),
        Command::Redact(args) => redact::run(&args),
        Command::Events => events::run(),
        Command::Engine(args) => block_on(engine::run(&args))?,
        Command::Programs(args) => block_on(programs::run(&args))?,
    }
}
