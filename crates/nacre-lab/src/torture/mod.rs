//! `torture` repeatedly crashes and disturbs Nacre, and gives it misleading input.
//!
//! Every exercise prints its actions and its seed, so that a failure can be reproduced, and exits
//! with 1 if a check fails. If an exercise needs a process to kill, it starts this program with a
//! hidden command or starts the real `nacre`.

mod corpus;
mod edits;
mod edits_worker;
mod hammer;
mod hammer_worker;
mod kill9;
mod kill9_worker;
mod maintain_kill9;
mod map_trees;
mod paths;
mod paths_binary;
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

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::torture::map_trees::Sizes;
use crate::torture::sweep::SweepArgs;
use crate::torture::tally::Tally;
use crate::{AnyError, Outcome};

/// Kill, overload, race and mislead Nacre, and check the result
#[derive(Debug, Args)]
pub(crate) struct TortureArgs {
    /// Seed for every random choice
    #[arg(long, global = true, default_value_t = 1)]
    seed: u64,
    /// The `nacre` to run [default: the one in the same directory as this program]
    #[arg(long, global = true, value_name = "PATH")]
    nacre: Option<PathBuf>,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Interrupt each mutating system call of real commands in turn, with a kill or an error
    Sweep(SweepArgs),
    /// Kill a committing process at random times
    Kill9 {
        /// Number of kills
        #[arg(short, default_value_t = 1000)]
        n: u64,
    },
    /// Write to one store from many processes
    Hammer {
        #[arg(long, default_value_t = 16)]
        writers: usize,
        #[arg(long, default_value_t = 60)]
        secs: u64,
    },
    /// Edit, delete and rename files while changes to them are being committed
    Edits {
        /// Number of user actions
        #[arg(short, default_value_t = 5000)]
        n: u64,
    },
    /// Pass hostile paths and titles to everything that writes files
    Paths {
        /// Number of strings
        #[arg(short, default_value_t = 10_000)]
        n: u64,
        /// Number of strings that are also tried through the command line
        #[arg(long, default_value_t = 500)]
        binary: u64,
    },
    /// Kill syncs and job holders at random times
    TracesKill9 {
        /// Number of killed syncs
        #[arg(short, default_value_t = 300)]
        n: u64,
        #[arg(long, default_value_t = 240)]
        traces: usize,
    },
    /// Kill syncs that create memories at random times; one uninterrupted sync must then produce
    /// the expected tree
    SyncKill9 {
        /// Number of kills
        #[arg(short, default_value_t = 500)]
        n: u64,
        #[arg(long, default_value_t = 40)]
        traces: usize,
        /// Use smaller sizes than in a release check
        #[arg(long)]
        quick: bool,
    },
    /// Kill maintenance at random times; it must be atomic, and one uninterrupted run must produce
    /// the expected tree
    MaintainKill9 {
        /// Number of kills
        #[arg(short, default_value_t = 300)]
        n: u64,
        #[arg(long, default_value_t = 60)]
        memories: usize,
    },
    /// Kill servers at random times while clients edit memories and review candidates
    ServeKill9 {
        /// Number of kills
        #[arg(short, default_value_t = 200)]
        n: u64,
    },
    /// Damage, remove and restore traces while syncs are killed; the totals must always be correct
    TracesSoak {
        #[arg(long, default_value_t = 2000)]
        traces: usize,
        #[arg(long, default_value_t = 80)]
        steps: u64,
    },
    /// Map a hostile tree: 100,000 files in one directory, a one-gigabyte line, link cycles, pipes,
    /// 2,000 nested directories
    MapTrees {
        /// Use smaller sizes than in a release check
        #[arg(long)]
        quick: bool,
    },
    /// Run every command in hostile repositories and stores, and against hostile servers
    Strangers {
        /// Use smaller sizes than in a release check
        #[arg(long)]
        quick: bool,
    },
    /// Run every exercise
    All {
        /// Use smaller sizes than in a release check
        #[arg(long)]
        quick: bool,
    },
    /// Fill a new store with realistic memories
    Corpus {
        /// The repository's directory, in which `.nacre` is created
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

const QUICK_KILLS: u64 = 20;
const QUICK_TRACES: usize = 12;

pub(crate) fn run(args: &TortureArgs) -> Outcome {
    Ok(exercise(args)?.is_clean())
}

fn exercise(cli: &TortureArgs) -> Result<Tally, AnyError> {
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
