//! `torture`: what a store must survive, done to it over and over.
//!
//! Every exercise prints what it did and the seed it used, and ends with 1 when a promise was
//! broken, so that a failure can be repeated. Exercises that need a victim start this program again
//! with a hidden verb, or the real `nacre` that lies beside it.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a test program: it owns its clock, its folders and its terminal"
)]

mod corpus;
mod edits;
mod edits_worker;
mod hammer;
mod hammer_worker;
mod hostile;
mod kill9;
mod kill9_worker;
mod maintain_kill9;
mod map_trees;
mod paths;
mod paths_binary;
mod rng;
mod sandbox;
mod scenarios;
mod serve_kill9;
mod strangers;
mod sweep;
mod sync_kill9;
mod tally;
mod traces;
mod traces_kill9;
mod traces_soak;
mod tree;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::map_trees::Sizes;
use crate::sweep::SweepArgs;
use crate::tally::Tally;

/// Kills, fills, races and misleads Nacre, and looks at what is left
#[derive(Debug, Parser)]
#[command(name = "torture")]
struct Cli {
    /// Where every random choice starts; printed, so that a failure can be repeated
    #[arg(long, global = true, default_value_t = 1)]
    seed: u64,
    /// The `nacre` to run [default: the one built beside this program]
    #[arg(long, global = true, value_name = "PATH")]
    nacre: Option<PathBuf>,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Kill, or fail, every mutating system call of real commands in turn
    Sweep(SweepArgs),
    /// Kill a committing process at random instants
    Kill9 {
        /// How many kills
        #[arg(short, default_value_t = 1000)]
        n: u64,
    },
    /// Many writers on one store
    Hammer {
        #[arg(long, default_value_t = 16)]
        writers: usize,
        #[arg(long, default_value_t = 60)]
        secs: u64,
    },
    /// A person edits, deletes and renames files while they are being committed
    Edits {
        /// How many things the person does
        #[arg(short, default_value_t = 5000)]
        n: u64,
    },
    /// Hostile paths and titles against everything that writes
    Paths {
        /// How many strings
        #[arg(short, default_value_t = 10_000)]
        n: u64,
        /// How many of them through the command line too
        #[arg(long, default_value_t = 500)]
        binary: u64,
    },
    /// Kill syncs, and the holders of jobs, at random instants
    TracesKill9 {
        /// How many kills of syncs
        #[arg(short, default_value_t = 300)]
        n: u64,
        #[arg(long, default_value_t = 240)]
        traces: usize,
    },
    /// Kill syncs that make memories at random instants; one clean sync must come to the undisturbed tree
    SyncKill9 {
        /// How many kills
        #[arg(short, default_value_t = 500)]
        n: u64,
        #[arg(long, default_value_t = 40)]
        traces: usize,
        /// Sizes for every change rather than for a release
        #[arg(long)]
        quick: bool,
    },
    /// Kill maintenances at random instants: all of it or nothing, and one clean run comes to the undisturbed tree
    MaintainKill9 {
        /// How many kills
        #[arg(short, default_value_t = 300)]
        n: u64,
        #[arg(long, default_value_t = 60)]
        memories: usize,
    },
    /// Kill servers at random instants while memories are edited and candidates decided about through them
    ServeKill9 {
        /// How many kills
        #[arg(short, default_value_t = 200)]
        n: u64,
    },
    /// Traces that break, go and come back while syncs are killed; the sum must hold at every moment
    TracesSoak {
        #[arg(long, default_value_t = 2000)]
        traces: usize,
        #[arg(long, default_value_t = 80)]
        steps: u64,
    },
    /// Map a tree that was made to hurt: 100,000 files in a folder, a gigabyte in a line, circles, pipes, depth 2,000
    MapTrees {
        /// Sizes for every change rather than for a release
        #[arg(long)]
        quick: bool,
    },
    /// Every command in repositories, stores and beside servers that a stranger made to do harm
    Strangers {
        /// Sizes for every change rather than for a release
        #[arg(long)]
        quick: bool,
    },
    /// Everything
    All {
        /// Sizes for every change rather than for a release
        #[arg(long)]
        quick: bool,
    },
    /// Fill a new store with realistic memories
    Corpus {
        /// The repository's folder; `.nacre` is made in it
        dir: PathBuf,
        n: usize,
    },
    #[command(hide = true)]
    Kill9Worker { dir: PathBuf },
    #[command(hide = true)]
    HammerWorker(hammer_worker::WorkerArgs),
    #[command(hide = true)]
    EditsWorker { dir: PathBuf },
    #[command(hide = true)]
    TracesWorker { catalog: PathBuf, now: i64 },
}

type AnyError = Box<dyn Error>;

/// The short form of `sync-kill9`.
const QUICK_KILLS: u64 = 20;
const QUICK_TRACES: usize = 12;

fn main() -> ExitCode {
    let cli = Cli::parse();
    match run(&cli) {
        Ok(tally) if tally.is_clean() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::from(1),
        Err(error) => {
            println!("torture could not go on: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(cli: &Cli) -> Result<Tally, AnyError> {
    let seed = cli.seed;
    let nacre = || sandbox::find_nacre(cli.nacre.as_deref());
    match &cli.verb {
        Verb::Sweep(args) => sweep::run(&nacre()?, args),
        Verb::Kill9 { n } => kill9::run(seed, *n),
        Verb::Hammer { writers, secs } => hammer::run(&nacre()?, seed, *writers, *secs),
        Verb::Edits { n } => edits::run(&nacre()?, seed, *n),
        Verb::Paths { n, binary } => paths::run(&nacre()?, seed, *n, *binary),
        Verb::TracesKill9 { n, traces } => traces_kill9::run(&nacre()?, seed, *n, *traces),
        Verb::SyncKill9 { n, traces, quick } => {
            let (n, traces) = if *quick { (QUICK_KILLS, QUICK_TRACES) } else { (*n, *traces) };
            sync_kill9::run(&nacre()?, seed, n, traces)
        }
        Verb::MaintainKill9 { n, memories } => maintain_kill9::run(&nacre()?, seed, *n, *memories),
        Verb::ServeKill9 { n } => serve_kill9::run(&nacre()?, seed, *n),
        Verb::TracesSoak { traces, steps } => traces_soak::run(&nacre()?, seed, *traces, *steps),
        Verb::MapTrees { quick } => map_trees::run(&nacre()?, sizes(*quick)),
        Verb::Strangers { quick } => strangers::run(&nacre()?, *quick),
        Verb::All { quick } => run_all(&nacre()?, seed, *quick),
        Verb::Corpus { dir, n } => corpus::run(seed, dir, *n),
        Verb::Kill9Worker { dir } => kill9_worker::run(seed, dir),
        Verb::HammerWorker(args) => hammer_worker::run(seed, args),
        Verb::EditsWorker { dir } => edits_worker::run(seed, dir),
        Verb::TracesWorker { catalog, now } => traces_kill9::worker(catalog, *now),
    }
}

fn sizes(is_quick: bool) -> Sizes {
    if is_quick { Sizes::QUICK } else { Sizes::FULL }
}

fn run_all(nacre: &std::path::Path, seed: u64, is_quick: bool) -> Result<Tally, AnyError> {
    let mut all = Tally::new("all");
    if sweep::is_possible() {
        let args = if is_quick { SweepArgs::quick() } else { SweepArgs::full() };
        all.absorb(&sweep::run(nacre, &args)?);
    } else {
        println!("sweep: skipped: strace is not installed");
    }
    let (kills, writers, secs) = if is_quick { (60, 4, 5) } else { (1000, 16, 60) };
    let (edits, strings, binary) = if is_quick { (300, 3000, 30) } else { (5000, 10_000, 500) };
    all.absorb(&kill9::run(seed, kills)?);
    all.absorb(&hammer::run(nacre, seed, writers, secs)?);
    all.absorb(&edits::run(nacre, seed, edits)?);
    all.absorb(&paths::run(nacre, seed, strings, binary)?);
    let (kills, traces, steps) = if is_quick { (16, 120, 12) } else { (300, 2000, 80) };
    all.absorb(&traces_kill9::run(nacre, seed, kills, 240.min(traces))?);
    all.absorb(&traces_soak::run(nacre, seed, traces, steps)?);
    let (kills, traces) = if is_quick { (QUICK_KILLS, QUICK_TRACES) } else { (500, 40) };
    all.absorb(&sync_kill9::run(nacre, seed, kills, traces)?);
    let (kills, memories) = if is_quick { (QUICK_KILLS, 30) } else { (300, 60) };
    all.absorb(&maintain_kill9::run(nacre, seed, kills, memories)?);
    all.absorb(&serve_kill9::run(nacre, seed, if is_quick { 15 } else { 200 })?);
    all.absorb(&map_trees::run(nacre, sizes(is_quick))?);
    all.absorb(&strangers::run(nacre, is_quick)?);
    all.end(&format!("{} exercises", 12));
    Ok(all)
}
