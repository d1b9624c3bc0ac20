//! Reads seeded mutations of real traces until a number of inputs is done.
//!
//! Usage: `fuzz_loop SEED COUNT SCRATCH_FOLDER AGENT=FOLDER...`; prints the slowest read and the peak memory.
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a tool for developers"
)]

use std::path::{Path, PathBuf};
use std::time::Instant;

use nacre_core::transcript::ADAPTERS;
use nacre_core::transcript::adapter::{Adapter, Source, Stamp, Trace};

/// Pieces that break things more often than random bytes.
const PIECES: [&[u8]; 16] = [
    b"{",
    b"}",
    b"[",
    b"]",
    b"\"",
    b"\\",
    b"\\u",
    b"\\ud800",
    b"null",
    b"-1e999",
    b"\n",
    b"\0",
    b"\xff",
    b"}{\"type\":\"user\"",
    b"<system-reminder>",
    b"\",\"",
];
const INPUT_MAX: usize = 6 * 1024;

struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit.max(1) as u64) as usize
    }
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let mut random = Random(args[0].parse::<u64>().unwrap() * 2 + 1);
    let count: u64 = args[1].parse().unwrap();
    let scratch = PathBuf::from(&args[2]);
    std::fs::create_dir_all(&scratch).unwrap();
    let corpora: Vec<(&dyn Adapter, Vec<Vec<u8>>)> =
        args[3..].iter().map(|arg| corpus(arg)).collect();
    let (mut slowest, mut n_events) = (0.0_f64, 0_u64);
    for _ in 0..count {
        let (adapter, inputs) = &corpora[random.below(corpora.len())];
        let mut input = inputs[random.below(inputs.len())].clone();
        for _ in 0..=random.below(6) {
            mutate(&mut input, inputs, &mut random);
        }
        let name = if adapter.agent().as_str() == "codex" && random.below(16) == 0 {
            "rollout-x.json"
        } else {
            "rollout-x.jsonl"
        };
        let path = scratch.join(name);
        std::fs::write(&path, &input).unwrap();
        let start = Instant::now();
        n_events += read(*adapter, &path);
        slowest = slowest.max(start.elapsed().as_secs_f64());
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
    println!("{count} inputs, {n_events} events, slowest {:.1} ms, {peak}", slowest * 1e3);
}

fn corpus(arg: &str) -> (&'static dyn Adapter, Vec<Vec<u8>>) {
    let (agent, folder) = arg.split_once('=').unwrap();
    let adapter = *ADAPTERS.iter().find(|adapter| adapter.agent().as_str() == agent).unwrap();
    let mut inputs = Vec::new();
    for source in adapter.discover(&[PathBuf::from(folder)]).sources {
        let bytes = std::fs::read(source.path).unwrap();
        let mut input = Vec::new();
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            input.extend_from_slice(&line[..line.len().min(INPUT_MAX)]);
            if INPUT_MAX < input.len() {
                inputs.push(std::mem::take(&mut input));
            }
        }
        inputs.push(input);
    }
    inputs.retain(|input| !input.is_empty());
    (adapter, inputs)
}

fn mutate(input: &mut Vec<u8>, inputs: &[Vec<u8>], random: &mut Random) {
    let at = random.below(input.len() + 1);
    match random.below(6) {
        0 if at < input.len() => input[at] = random.below(256) as u8,
        1 => {
            let end = (at + random.below(200)).min(input.len());
            input.drain(at..end);
        }
        2 => {
            let piece = PIECES[random.below(PIECES.len())];
            input.splice(at..at, piece.iter().copied());
        }
        3 => input.truncate(at),
        4 => {
            let other = &inputs[random.below(inputs.len())];
            let start = random.below(other.len());
            let end = (start + random.below(400)).min(other.len());
            input.splice(at..at, other[start..end].iter().copied());
        }
        _ => {
            let piece = PIECES[random.below(PIECES.len())].repeat(random.below(60));
            input.splice(at..at, piece);
        }
    }
}

fn read(adapter: &dyn Adapter, path: &Path) -> u64 {
    let stamp = Stamp { size: 0, modified: None, inode: 0 };
    let source = Source { agent: adapter.agent(), path: path.to_owned(), stamp };
    let mut n_events = 0;
    let _ = adapter.read(&Trace::whole(source), None, &mut |_| n_events += 1);
    n_events
}
