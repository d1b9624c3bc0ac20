//! `nacre-lab` benchmarks, stress-tests and fuzzes Nacre. It is a developer tool and is neither
//! published nor linked into `nacre`.
//!
//! Every command prints its measurements and exits with 1 if a check fails or with 2 if it cannot
//! run.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "test programs control their clock, files and terminal, and exit on invalid input"
)]

mod bench;
mod campaign;
mod eval;
mod fit;
mod fuzz;
mod host;
#[path = "../../nacre/tests/support/hostile.rs"]
mod hostile;
mod live;
mod map;
mod one_session;
mod output;
#[path = "../../nacre/tests/support/rng.rs"]
mod rng;
mod team;
mod torture;
mod traces;

use std::error::Error;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Benchmarks, stress-tests and fuzzes Nacre
#[derive(Debug, Parser)]
#[command(name = "nacre-lab")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Measure quality on data with known answers
    #[command(subcommand)]
    Eval(eval::Command),
    /// Measure time, memory and tokens
    #[command(subcommand)]
    Bench(bench::Command),
    Torture(torture::TortureArgs),
    Campaign(campaign::CampaignArgs),
    /// Read mutated traces and check the limits of every read
    #[command(subcommand)]
    Fuzz(fuzz::Command),
    /// Fit the product's constants to labelled data
    #[command(subcommand)]
    Fit(fit::Command),
    /// Inspect the code map of real repositories
    #[command(subcommand)]
    Map(map::Command),
    /// Test the shared team stores; needs PostgreSQL
    #[command(subcommand)]
    Team(team::Command),
    /// Generate traces, and count the records that the adapters read
    #[command(subcommand)]
    Traces(traces::Command),
    Extract(one_session::ExtractArgs),
    Summarize(one_session::SummarizeArgs),
    Live(live::LiveArgs),
    /// Print statistics about the tool calls in the current home: calls, times, errors, cache hits,
    /// bytes
    Tools,
}

type AnyError = Box<dyn Error>;

/// True if every check passed.
type Outcome = Result<bool, AnyError>;

fn main() -> ExitCode {
    // To sandbox the programs that agents run, `nacre-engine` starts this binary again.
    #[cfg(target_os = "linux")]
    if let Some(code) = nacre_engine::confine::helper(&std::env::args_os().collect::<Vec<_>>()) {
        return code;
    }
    match run(Cli::parse().command) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("Error: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(command: Command) -> Outcome {
    match command {
        Command::Eval(command) => eval::run(command),
        Command::Bench(command) => bench::run(command),
        Command::Torture(args) => torture::run(&args),
        Command::Campaign(args) => campaign::run(&args),
        Command::Fuzz(command) => fuzz::run(command),
        Command::Fit(command) => fit::run(command),
        Command::Map(command) => map::run(command),
        Command::Team(command) => team::run(command),
        Command::Traces(command) => traces::run(command),
        Command::Extract(args) => one_session::extract(&args),
        Command::Summarize(args) => one_session::summarize(&args),
        Command::Live(args) => live::run(&args),
        Command::Tools => tools(),
    }
}

fn tools() -> Outcome {
    let report = host::open().and_then(|host| nacre_ops::tasks::tools(&host));
    output::json(&report.map_err(host::format_error)?)?;
    Ok(true)
}

fn block_on<T>(work: impl Future<Output = T>) -> Result<T, AnyError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    Ok(runtime.block_on(work))
}
