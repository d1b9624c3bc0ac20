//! Fuzzes the adapters for line-based traces with seeded mutations of real traces.
//!
//! An input depends only on the agent, the seed, the input's number and the corpus directories, so
//! it can be replayed. The command fails if a read panics, takes more than a second, needs more
//! than 200 MB of memory, or gives a different result when repeated.

mod corpus;

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use nacre_traces::agents::AGENTS;
use nacre_traces::transcript::{Adapter, Stamp, Trace, TraceSource};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use self::corpus::Corpus;
use super::Places;
use super::mutate::{Random, mutate};
use super::watch::{Verdict, Watch};

/// One in this many inputs is read again for comparison.
const COMPARED_EVERY: u64 = 1000;
/// One in this many inputs is read in two parts, as if the file had grown in between.
const GROWN_EVERY: usize = 50;
/// One in this many inputs gets a file name that selects another format.
const OTHER_NAME_EVERY: usize = 12;
const MAX_KEPT: usize = 20;

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

/// Read seeded mutations of real line-based traces
#[derive(Debug, clap::Args)]
pub(crate) struct TracesArgs {
    agent: String,
    seed: u64,
    /// Number of inputs to read, or with `--replay` the number of the input to repeat
    number: u64,
    #[command(flatten)]
    places: Places,
    /// Repeat one input and leave it in the scratch directory
    #[arg(long)]
    replay: bool,
}

/// Returns whether every read stayed within the limits.
pub(super) fn fuzz(args: &TracesArgs) -> bool {
    let TracesArgs { agent, seed, number, places, replay } = args;
    let mut fuzzer = Fuzzer::new(agent, *seed, places);
    if fuzzer.corpus.n_lines() == 0 {
        println!("no traces of {agent} found to start from");
        return false;
    }
    if *replay {
        let kept = fuzzer.step(*number);
        println!("{:?}, {} bytes, saved in {}", kept.1, fuzzer.input.len(), kept.0.display());
    } else {
        for number in 0..*number {
            let (path, verdict) = fuzzer.step(number);
            if verdict != Verdict::Fine {
                fuzzer.keep(&path, number);
            }
        }
    }
    fuzzer.watch.finish(&format!("{agent}-lines"))
}

impl Fuzzer {
    fn new(agent: &str, seed: u64, places: &Places) -> Self {
        let Places { scratch, folders } = places.clone();
        let spec = AGENTS.iter().find(|spec| spec.name == agent).unwrap();
        let adapter = spec.adapter.unwrap();
        let slots = spec.trace_names.iter().map(|name| Slot::new(adapter, &scratch, name));
        Self {
            adapter,
            seed,
            corpus: Corpus::load(adapter.agent(), &folders),
            slots: slots.collect(),
            scratch,
            watch: Watch::new(seed, COMPARED_EVERY),
            input: Vec::new(),
            n_kept: 0,
        }
    }

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

/// Merges the lines into a single JSON document.
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
        let source = TraceSource { agent: adapter.agent(), path, stamp };
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
