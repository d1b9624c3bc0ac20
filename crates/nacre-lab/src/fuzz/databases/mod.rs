//! Fuzzes the adapters for Cursor and OpenCode with mutated databases and file trees.
//!
//! With `values`, each round fills a database with about 2,000 mutated values, and the adapter
//! lists and reads everything in it. With `files`, each round damages bytes in a small database or
//! its log. The command fails if a read panics, takes more than a second, needs more than 200 MB of
//! memory, or gives a different result when repeated.

mod cursor;
mod files;
mod opencode;
mod round;

use std::fs;
use std::num::ParseIntError;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use nacre_traces::agents::ADAPTERS;
use nacre_traces::transcript::Adapter;
use nacre_traces::transcript::Agent;

use self::files::Bases;
use self::round::{Round, Scale, Seeds};
use super::Places;
use super::mutate::{self, Random};
use super::watch::{Verdict, Watch};

type Make = fn(&mut Round<'_>, &Path);

/// The kinds of stores that the agent uses. A kind that is listed more than once is chosen more
/// often.
const CURSOR: [(&str, Make); 4] = [
    ("state", cursor::make_state),
    ("state", cursor::make_state),
    ("state", cursor::make_state),
    ("store", cursor::make_stores),
];
const OPENCODE: [(&str, Make); 6] = [
    ("typed", opencode::make_typed),
    ("typed", opencode::make_typed),
    ("tree", opencode::make_tree),
    ("typed", opencode::make_typed),
    ("typed", opencode::make_typed),
    ("old-tree", opencode::make_old_tree),
];
/// One in this many sessions is read again for comparison. Each session contains about a hundred
/// values.
const COMPARED_EVERY: u64 = 20;
const MAX_KEPT: usize = 10;

#[derive(Clone, Copy, Debug)]
enum Until {
    Inputs(u64),
    Seconds(u64),
}

impl FromStr for Until {
    type Err = ParseIntError;

    fn from_str(text: &str) -> Result<Self, ParseIntError> {
        match text.strip_suffix('s') {
            Some(seconds) => Ok(Self::Seconds(seconds.parse()?)),
            None => Ok(Self::Inputs(text.parse()?)),
        }
    }
}

/// What is mutated.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Target {
    /// About 2,000 values in a database
    Values,
    /// The bytes of a database or its log
    Files,
}

struct Fuzzer {
    adapter: &'static dyn Adapter,
    shapes: &'static [(&'static str, Make)],
    seed: u64,
    seeds: Seeds,
    bases: Bases,
    scratch: PathBuf,
    watch: Watch,
}

/// Read mutated Cursor and OpenCode databases and file trees
#[derive(Debug, clap::Args)]
pub(crate) struct DatabasesArgs {
    target: Target,
    agent: String,
    seed: u64,
    /// Number of inputs to read, or a duration such as `600s`
    until: Until,
    #[command(flatten)]
    places: Places,
    /// Repeat this round and leave its input in the scratch directory
    #[arg(long, value_name = "ROUND")]
    replay: Option<u64>,
}

/// Returns whether every read stayed within the limits.
pub(super) fn fuzz(args: &DatabasesArgs) -> bool {
    let DatabasesArgs { target, agent, seed, until, places, replay } = args;
    let (name, step): (&str, fn(&mut Fuzzer, u64) -> Verdict) = match target {
        Target::Values => ("values", Fuzzer::values),
        Target::Files => ("files", Fuzzer::files),
    };
    let mut fuzzer = Fuzzer::new(agent, *seed, places.scratch.clone(), &places.folders);
    match replay {
        Some(round) => {
            let verdict = step(&mut fuzzer, *round);
            println!("{verdict:?}, saved in {}", fuzzer.scratch.display());
        }
        None => fuzzer.run(*until, step),
    }
    fuzzer.watch.finish(&format!("{agent}-{name}"))
}

impl Fuzzer {
    fn new(agent: &str, seed: u64, scratch: PathBuf, folders: &[PathBuf]) -> Self {
        let adapter = *ADAPTERS.iter().find(|adapter| adapter.agent().as_str() == agent).unwrap();
        fs::create_dir_all(&scratch).unwrap();
        let roots: Vec<PathBuf> = folders.iter().map(|folder| folder.join(agent)).collect();
        let sources = adapter.discover(&roots).sources.into_iter().map(|source| source.path);
        let databases: Vec<PathBuf> = sources.filter(|path| is_database(path)).collect();
        Self {
            adapter,
            shapes: if adapter.agent() == Agent::Cursor { &CURSOR } else { &OPENCODE },
            seed,
            seeds: Seeds::load(&databases, &scratch),
            bases: Bases::new(databases),
            scratch,
            watch: Watch::new(seed, COMPARED_EVERY),
        }
    }

    fn run(&mut self, until: Until, step: fn(&mut Self, u64) -> Verdict) {
        let mut n_kept = 0;
        for round in 0.. {
            let is_over = match until {
                Until::Inputs(count) => count <= self.watch.n_inputs,
                Until::Seconds(seconds) => seconds <= self.watch.elapsed().as_secs(),
            };
            if is_over {
                return;
            }
            if step(self, round) != Verdict::Fine && n_kept < MAX_KEPT {
                n_kept += 1;
                println!("  saved: reproduce with --replay and round {round}");
            }
        }
    }

    fn values(&mut self, number: u64) -> Verdict {
        let (name, make) = self.shapes[number as usize % self.shapes.len()];
        let folder = self.scratch.join(name);
        let mut round = Round {
            random: Random::of(self.seed, number),
            seeds: &self.seeds,
            scale: Scale::Full,
            changes: &mut self.watch.changes,
            n_values: 0,
        };
        make(&mut round, &folder);
        let n_values = round.n_values;
        self.watch.begin(number, name, n_values);
        self.read_all(&folder)
    }

    fn files(&mut self, number: u64) -> Verdict {
        let folder = self.scratch.join("damaged");
        let base = self.bases.base(
            number,
            |number, folder| {
                // Only databases are damaged here, so trees are skipped.
                let shapes: Vec<_> =
                    self.shapes.iter().filter(|(name, _)| !name.ends_with("tree")).collect();
                let (_, make) = shapes[number as usize % shapes.len()];
                let mut round = Round {
                    random: Random::of(self.seed, number),
                    seeds: &self.seeds,
                    scale: Scale::Small,
                    changes: &mut [0; mutate::CHANGES.len()],
                    n_values: 0,
                };
                make(&mut round, folder);
            },
            &self.scratch,
        );
        // Do not reuse the base's random numbers.
        let mut random = Random::of(!self.seed, number);
        let part = base.damage(&folder, &mut random);
        self.watch.begin(number, part, 1);
        self.read_all(&folder)
    }

    fn read_all(&mut self, folder: &PathBuf) -> Verdict {
        let adapter = self.adapter;
        let (found, mut worst) =
            self.watch.guard(|| adapter.discover(std::slice::from_ref(folder)));
        for source in found.map(|found| found.sources).unwrap_or_default() {
            let (traces, verdict) = self.watch.guard(|| adapter.sessions(&source));
            worst = if verdict == Verdict::Fine { worst } else { verdict };
            for trace in traces.and_then(Result::ok).unwrap_or_default() {
                let (_, verdict) = self.watch.read(adapter, &trace, None);
                worst = if verdict == Verdict::Fine { worst } else { verdict };
            }
        }
        worst
    }
}

fn is_database(path: &Path) -> bool {
    let is_named = path.extension().is_some_and(|name| name == "db" || name == "vscdb");
    path.is_file() && is_named
}
