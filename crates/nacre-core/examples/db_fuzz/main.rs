//! Reads mutated databases and trees of Cursor and OpenCode, and holds every read to bounds.
//!
//! Usage: `db_fuzz values|files AGENT SEED COUNT SCRATCH FOLDER...`, where COUNT is a number of inputs or a time
//! such as `600s`; `db_fuzz --replay values|files AGENT SEED ROUND SCRATCH FOLDER...` makes one round again and
//! leaves it in SCRATCH. `values` fills a database with some two thousand mutated values, each of them an input,
//! and has the adapter list and read all of it. `files` makes a small database and changes the bytes of the file
//! or of its log, one input a round. Ends with 1 after a panic, a read of more than a second, 200 MB of memory, or
//! a second read that gave something else.
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a tool for developers"
)]

mod cursor;
mod files;
#[path = "../fuzz_loop/mutate.rs"]
mod mutate;
mod opencode;
mod round;
#[path = "../fuzz_loop/watch.rs"]
mod watch;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use nacre_core::transcript::ADAPTERS;
use nacre_core::transcript::adapter::Adapter;
use nacre_core::transcript::facts::Agent;

use self::files::Bases;
use self::mutate::Random;
use self::round::{Round, Scale, Seeds};
use self::watch::{Verdict, Watch};

/// Makes a database or tree below a folder.
type Make = fn(&mut Round<'_>, &Path);

/// The shapes of an agent's store, each as often as it stands here.
const CURSOR: [(&str, Make); 4] = [
    ("state", cursor::make_state),
    ("state", cursor::make_state),
    ("state", cursor::make_state),
    ("store", cursor::make_stores),
];
const OPENCODE: [(&str, Make); 8] = [
    ("typed", opencode::make_typed),
    ("legacy", opencode::make_legacy),
    ("typed", opencode::make_typed),
    ("tree", opencode::make_tree),
    ("typed", opencode::make_typed),
    ("legacy", opencode::make_legacy),
    ("typed", opencode::make_typed),
    ("old-tree", opencode::make_old_tree),
];
/// One session in so many is read again and compared; each holds about a hundred values.
const COMPARED_EVERY: u64 = 20;
/// How many rounds that broke a bound are kept.
const MAX_KEPT: usize = 10;

/// When to stop.
#[derive(Clone, Copy)]
enum Until {
    Inputs(u64),
    Seconds(u64),
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

fn main() -> ExitCode {
    watch::run(fuzz)
}

fn fuzz() -> ExitCode {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let is_replay = args.first().is_some_and(|arg| arg == "--replay");
    args.drain(..usize::from(is_replay));
    let step: fn(&mut Fuzzer, u64) -> Verdict = match args.first().map(String::as_str) {
        Some("values") if 5 < args.len() => Fuzzer::values,
        Some("files") if 5 < args.len() => Fuzzer::files,
        _ => {
            println!(
                "usage: db_fuzz [--replay] values|files AGENT SEED COUNT|SECONDSs|ROUND SCRATCH FOLDER..."
            );
            return ExitCode::from(2);
        }
    };
    let folders: Vec<PathBuf> = args[5..].iter().map(PathBuf::from).collect();
    let scratch = PathBuf::from(&args[4]);
    let mut fuzzer = Fuzzer::new(&args[1], args[2].parse().unwrap(), scratch, &folders);
    if is_replay {
        let verdict = step(&mut fuzzer, args[3].parse().unwrap());
        println!("{verdict:?}, kept in {}", fuzzer.scratch.display());
    } else {
        let until = match args[3].strip_suffix('s') {
            Some(seconds) => Until::Seconds(seconds.parse().unwrap()),
            None => Until::Inputs(args[3].parse().unwrap()),
        };
        fuzzer.run(until, step);
    }
    fuzzer.watch.finish(&format!("{}-{}", args[1], args[0]))
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
                println!("  kept: make it again with --replay and round {round}");
            }
        }
    }

    /// One round of mutated values.
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

    /// One file with damaged bytes.
    fn files(&mut self, number: u64) -> Verdict {
        let folder = self.scratch.join("damaged");
        let base = self.bases.base(
            number,
            |number, folder| {
                // Trees have no bytes of their own: only databases are damaged here.
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
        // Not the numbers that the base was made with.
        let mut random = Random::of(!self.seed, number);
        let part = base.damage(&folder, &mut random);
        self.watch.begin(number, part, 1);
        self.read_all(&folder)
    }

    /// Lists and reads all that the adapter finds.
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
