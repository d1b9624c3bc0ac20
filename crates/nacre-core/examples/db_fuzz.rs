//! Feeds mutated traces to the Cursor and OpenCode adapters for a number of rounds and reports the
//! slowest input: `db_fuzz <scratch folder> <rounds> <seed> <trace>...`.
//!
//! A trace is a file; its `-wal` is mutated with it. Deterministic for a seed.
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a tool for developers"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nacre_core::transcript::ADAPTERS;
use nacre_core::transcript::facts::Agent;

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound.max(1) as u64).unwrap()
    }
}

fn mutate(bytes: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..=random.below(6) {
        if bytes.is_empty() {
            return;
        }
        let at = random.below(bytes.len());
        match random.below(6) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes[at] = [0, 1, 0x7f, 0x80, 0xff][random.below(5)],
            2 => bytes[at] = u8::try_from(random.below(256)).unwrap(),
            3 => {
                let from = random.below(bytes.len());
                let length = random.below(64).min(bytes.len() - at.max(from));
                bytes.copy_within(from..from + length, at);
            }
            4 => {
                let end = (at + random.below(64)).min(bytes.len());
                bytes[at..end].fill(u8::try_from(random.below(256)).unwrap());
            }
            _ if random.below(20) == 0 => bytes.truncate(at),
            // The header and the first pages decide most.
            _ => {
                let at = at % 200.min(bytes.len());
                bytes[at] = u8::try_from(random.below(256)).unwrap();
            }
        }
    }
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let scratch = PathBuf::from(&args[0]);
    let rounds: u64 = args[1].parse().unwrap();
    let mut random = Random(args[2].parse::<u64>().unwrap() * 2 + 1);
    let log_of = |path: &Path| PathBuf::from(format!("{}-wal", path.display()));
    let corpus: Vec<(PathBuf, Vec<u8>, Vec<u8>)> = args[3..]
        .iter()
        .map(PathBuf::from)
        .map(|path| {
            let log = fs::read(log_of(&path)).unwrap_or_default();
            (path.clone(), fs::read(&path).unwrap(), log)
        })
        .collect();
    let (mut slowest, mut n_events, mut n_sessions) = (Duration::ZERO, 0_u64, 0_u64);
    for round in 0..rounds {
        let (path, main, log) = &corpus[random.below(corpus.len())];
        let (mut main, mut log) = (main.clone(), log.clone());
        match random.below(3) {
            0 => mutate(&mut log, &mut random),
            _ => mutate(&mut main, &mut random),
        }
        let directory = scratch.join("agent-transcripts");
        fs::create_dir_all(&directory).unwrap();
        let file = directory.join(path.file_name().unwrap());
        fs::write(&file, &main).unwrap();
        if log.is_empty() {
            fs::remove_file(log_of(&file)).ok();
        } else {
            fs::write(log_of(&file), &log).unwrap();
        }
        let begin = Instant::now();
        for adapter in ADAPTERS {
            if !matches!(adapter.agent(), Agent::Cursor | Agent::OpenCode) {
                continue;
            }
            for source in adapter.discover(std::slice::from_ref(&scratch)).sources {
                for trace in adapter.sessions(&source).unwrap_or_default() {
                    n_sessions += 1;
                    drop(adapter.read(&trace, None, &mut |_| n_events += 1));
                }
            }
        }
        let took = begin.elapsed();
        if slowest < took {
            slowest = took;
            println!(
                "round {round}: {took:?} for {} ({} + {})",
                file.display(),
                main.len(),
                log.len()
            );
            if Duration::from_secs(1) < took {
                fs::copy(&file, scratch.join(format!("slow-{round}"))).unwrap();
            }
        }
        fs::remove_file(&file).unwrap();
        fs::remove_file(log_of(&file)).ok();
    }
    println!("{rounds} rounds, {n_sessions} sessions, {n_events} events, slowest {slowest:?}");
}
