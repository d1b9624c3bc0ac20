//! Reads seeded mutations of real traces made of lines, and holds every read to bounds.
//!
//! Usage: `fuzz_loop AGENT SEED COUNT SCRATCH FOLDER...` reads COUNT inputs; `fuzz_loop --replay AGENT SEED
//! NUMBER SCRATCH FOLDER...` makes one of them again, reads it and leaves it in SCRATCH. A FOLDER holds traces in
//! `claude/`, `codex/` and so on. An input depends on nothing but AGENT, SEED, its number and the folders. Ends
//! with 1 after a panic, a read of more than a second, 200 MB of memory, or a second read that gave something
//! else. SCRATCH should be in memory: every input is written there, over the one before it.
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a tool for developers"
)]

mod corpus;
mod mutate;
mod watch;

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use nacre_core::transcript::ADAPTERS;
use nacre_core::transcript::adapter::{Adapter, Source, Stamp, Trace};
use nacre_core::transcript::facts::Agent;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use self::corpus::Corpus;
use self::mutate::{Random, mutate};
use self::watch::{Verdict, Watch};

/// One input in so many is read again and compared.
const COMPARED_EVERY: u64 = 1000;
/// One input in so many is read in two goes, as if it had grown in between.
const GROWN_EVERY: usize = 50;
/// One input in so many has a name that is read in another way.
const OTHER_NAME_EVERY: usize = 12;
/// How many inputs that broke a bound are kept.
const MAX_KEPT: usize = 20;

/// A file that every input of one name is written to.
struct Slot {
    trace: Trace,
    file: File,
    size: u64,
}

struct Fuzzer {
    adapter: &'static dyn Adapter,
    seed: u64,
    corpus: Corpus,
    scratch: PathBuf,
    slots: Vec<Slot>,
    watch: Watch,
    input: Vec<u8>,
    n_kept: usize,
}

fn main() -> ExitCode {
    watch::run(fuzz)
}

fn fuzz() -> ExitCode {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let is_replay = args.first().is_some_and(|arg| arg == "--replay");
    args.drain(..usize::from(is_replay));
    if args.len() < 5 {
        println!("usage: fuzz_loop [--replay] AGENT SEED COUNT|NUMBER SCRATCH FOLDER...");
        return ExitCode::from(2);
    }
    let number: u64 = args[2].parse().unwrap();
    let folders: Vec<PathBuf> = args[4..].iter().map(PathBuf::from).collect();
    let mut fuzzer = Fuzzer::new(&args[0], args[1].parse().unwrap(), &args[3], &folders);
    if fuzzer.corpus.n_lines() == 0 {
        println!("fuzz_loop: there are no traces of {} to start from", args[0]);
        return ExitCode::from(2);
    }
    if is_replay {
        let kept = fuzzer.step(number);
        println!("{:?}, {} bytes, kept in {}", kept.1, fuzzer.input.len(), kept.0.display());
    } else {
        for number in 0..number {
            let (path, verdict) = fuzzer.step(number);
            if verdict != Verdict::Fine {
                fuzzer.keep(&path, number);
            }
        }
    }
    fuzzer.watch.finish(&format!("{}-lines", args[0]))
}

impl Fuzzer {
    fn new(agent: &str, seed: u64, scratch: &str, folders: &[PathBuf]) -> Self {
        let adapter = *ADAPTERS.iter().find(|adapter| adapter.agent().as_str() == agent).unwrap();
        let scratch = PathBuf::from(scratch);
        let slots = names(adapter.agent()).iter().map(|name| Slot::new(adapter, &scratch, name));
        Self {
            adapter,
            seed,
            corpus: Corpus::load(adapter.agent(), folders),
            slots: slots.collect(),
            scratch,
            watch: Watch::new(seed, COMPARED_EVERY),
            input: Vec::new(),
            n_kept: 0,
        }
    }

    /// Makes the input of a number and reads it.
    fn step(&mut self, number: u64) -> (PathBuf, Verdict) {
        let random = &mut Random::of(self.seed, number);
        let shape = self.corpus.slice(random, &mut self.input);
        self.watch.begin(number, shape, 1);
        let other = self.corpus.other(random);
        let slot = if random.one_in(OTHER_NAME_EVERY) { random.below(self.slots.len()) } else { 0 };
        let slot = &mut self.slots[slot];
        if slot.trace.source.path.extension().is_some_and(|name| name == "json") {
            into_document(&mut self.input);
        }
        if shape == "packed" {
            self.input = compress_to_vec(&self.input[..], CompressionLevel::Fastest);
        }
        mutate(&mut self.input, other, random, &mut self.watch.changes);
        let mut mark = None;
        if random.one_in(GROWN_EVERY) {
            slot.write(&self.input[..random.below(self.input.len())]);
            let (outcome, verdict) = self.watch.read(self.adapter, &slot.trace, None);
            if verdict != Verdict::Fine {
                return (slot.trace.source.path.clone(), verdict);
            }
            mark = outcome.and_then(|outcome| outcome.watermark);
        }
        slot.write(&self.input);
        let (_, verdict) = self.watch.read(self.adapter, &slot.trace, mark.as_ref());
        if verdict == Verdict::Fine {
            return (PathBuf::new(), verdict);
        }
        (slot.trace.source.path.clone(), verdict)
    }

    fn keep(&mut self, path: &Path, number: u64) {
        self.n_kept += 1;
        if self.n_kept <= MAX_KEPT {
            let name = path.file_name().unwrap().to_string_lossy();
            let kept = self.scratch.join(format!("kept-{}-{number}-{name}", self.seed));
            fs::copy(path, &kept).unwrap();
            println!("  kept as {}", kept.display());
        }
    }
}

/// The names that an agent's files have, the usual one first.
fn names(agent: Agent) -> &'static [&'static str] {
    match agent {
        Agent::Claude => &["s.jsonl", "agent-a1.jsonl", "agent-acompact1.jsonl"],
        Agent::Codex => &["rollout-x.jsonl", "rollout-x.json"],
        Agent::Cursor => &[
            "home-me-app/agent-transcripts/x/x.jsonl",
            "home-me-app/agent-transcripts/x/subagents/y.jsonl",
            "home-me-app/agent-transcripts/x.txt",
        ],
        Agent::Gemini => {
            &["p/chats/session-x.jsonl", "p/chats/session-x.json", "p/chats/x/y.jsonl"]
        }
        Agent::Cline => &["s/s.messages.json", "t/api_conversation_history.json"],
        Agent::Continue => &["s.json"],
        Agent::Aider => &[".aider.chat.history.md"],
        Agent::Copilot => &["x/events.jsonl", "x.jsonl"],
        Agent::Qwen => &["p/chats/s.jsonl", "p/subagents/agent-1.jsonl"],
        Agent::OpenCode | Agent::Pi | Agent::Droid | Agent::Generic => &["s.jsonl"],
    }
}

/// Makes one document of lines, as the first versions of Codex wrote it.
fn into_document(input: &mut Vec<u8>) {
    input.iter_mut().filter(|byte| **byte == b'\n').for_each(|byte| *byte = b',');
    input.pop();
    let head = br#"{"session":{"id":"1","timestamp":"2026-01-02T03:04:05.678Z"},"items":["#;
    input.splice(0..0, head.iter().copied());
    input.extend_from_slice(b"]}");
}

impl Slot {
    fn new(adapter: &dyn Adapter, scratch: &Path, name: &str) -> Self {
        let path = scratch.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let file = OpenOptions::new().write(true).create(true).truncate(true).open(&path).unwrap();
        let stamp = Stamp { size: 0, modified: None, inode: 0 };
        let source = Source { agent: adapter.agent(), path, stamp };
        Self { trace: Trace::whole(source), file, size: 0 }
    }

    fn write(&mut self, bytes: &[u8]) {
        let size = bytes.len() as u64;
        if size < self.size {
            self.file.set_len(size).unwrap();
        }
        self.file.write_all_at(bytes, 0).unwrap();
        self.size = size;
    }
}
