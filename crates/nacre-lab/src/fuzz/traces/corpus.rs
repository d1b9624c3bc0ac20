//! Slices of real traces, from which fuzzed inputs are made.
//!
//! Long strings are truncated on loading, so that a few kilobytes contain many records. The
//! original bytes are also kept, so that slices can start and end at any byte.

use std::path::{Path, PathBuf};

use nacre_traces::agents::ADAPTERS;
use nacre_traces::agents::generic::{write_end, write_event, write_session};
use nacre_traces::transcript::Agent;
use nacre_traces::transcript::Sink;
use nacre_traces::transcript::{Adapter, Trace};

use crate::fuzz::mutate::{Random, shorten};

const SLICE_MAX: usize = 4 * 1024;
const LINES_MAX: usize = 12;
const STRING_MAX: usize = 120;
/// Maximum total size of the original bytes and of the shortened bytes, and maximum size of one
/// file.
const RAW_MAX: usize = 24 * 1024 * 1024;
const SHORT_MAX: usize = 48 * 1024 * 1024;
const FILE_MAX: usize = 2 * 1024 * 1024;
/// One in this many inputs is large, to find code whose running time is worse than linear.
const LARGE_EVERY: usize = 2000;
const LARGE_MIN: usize = 64 * 1024;
const LARGE_MAX: usize = 1024 * 1024;
/// One in this many inputs is compressed before it is damaged.
const PACKED_EVERY: usize = 1000;

/// A transcript in Cursor's oldest format.
const PLAIN: &str = "user:\n<user_query>\nRename the crate\n</user_query>\n\nassistant:\n[Thinking] It \
    has two users.\n\nI rename it.\n\n[Tool call] Shell\n  command: ls -l\n  working_directory: /home/me/app\n\n\
    [Tool result] Shell\ntotal 0\n\nassistant:\nDone.\n\nuser:\nThanks\n\nA:\nSure\n";

#[derive(Default)]
pub(crate) struct Corpus {
    raw: Vec<u8>,
    short: Vec<u8>,
    ends: Vec<usize>,
    heads: Vec<usize>,
}

impl Corpus {
    /// Loads the files that an adapter finds in its directory below `folders`. For Nacre's own
    /// format, also converts and adds the other agents' traces.
    pub(crate) fn load(agent: Agent, folders: &[PathBuf]) -> Self {
        let mut corpus = Self::default();
        for adapter in ADAPTERS.iter() {
            let name = adapter.agent().as_str();
            let roots: Vec<PathBuf> = folders.iter().map(|folder| folder.join(name)).collect();
            for source in adapter.discover(&roots).sources {
                if adapter.agent() == agent && is_text(&source.path) {
                    corpus.add(&std::fs::read(source.path).unwrap());
                } else if agent == Agent::Generic {
                    let traces = adapter.sessions(&source).unwrap_or_default();
                    traces.iter().for_each(|trace| corpus.add(&render(*adapter, trace)));
                }
            }
        }
        if agent == Agent::Cursor {
            corpus.add(PLAIN.as_bytes());
        }
        corpus
    }

    pub(crate) fn n_lines(&self) -> usize {
        self.ends.len()
    }

    fn add(&mut self, bytes: &[u8]) {
        let bytes = &bytes[..bytes.len().min(FILE_MAX)];
        self.raw.extend_from_slice(&bytes[..bytes.len().min(RAW_MAX - self.raw.len())]);
        self.heads.push(self.ends.len());
        for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            if SHORT_MAX < self.short.len() {
                break;
            }
            shorten(line, STRING_MAX, &mut self.short);
            self.short.push(b'\n');
            self.ends.push(self.short.len());
        }
        self.heads.retain(|head| *head < self.ends.len());
    }

    /// Fills `input` with bytes to mutate, and returns the name of the slice's shape.
    pub(crate) fn slice(&self, random: &mut Random, input: &mut Vec<u8>) -> &'static str {
        input.clear();
        if random.one_in(LARGE_EVERY) {
            let wanted = LARGE_MIN + random.below(LARGE_MAX - LARGE_MIN);
            while input.len() < wanted {
                if random.one_in(2) {
                    input.extend_from_slice(&self.raw[random.range(self.raw.len(), wanted)]);
                } else {
                    self.lines(random, wanted, input);
                }
            }
            input.truncate(wanted);
            return "large";
        }
        if random.one_in(PACKED_EVERY) {
            self.lines(random, SLICE_MAX, input);
            return "packed";
        }
        match random.below(8) {
            0 => {
                let range = random.range(self.raw.len(), SLICE_MAX);
                input.extend_from_slice(&self.raw[range]);
                "raw piece"
            }
            1 => {
                let range = random.range(self.short.len(), SLICE_MAX / 2);
                input.extend_from_slice(&self.short[range]);
                "piece"
            }
            2 => {
                self.lines(random, SLICE_MAX / 2, input);
                let torn = random.range(input.len(), SLICE_MAX);
                input.drain(torn);
                self.lines(random, SLICE_MAX, input);
                "two slices"
            }
            _ => {
                self.lines(random, SLICE_MAX, input);
                "lines"
            }
        }
    }

    pub(crate) fn other(&self, random: &mut Random) -> &[u8] {
        &self.short[random.range(self.short.len(), SLICE_MAX)]
    }

    /// Adds some consecutive lines, sometimes preceded by the first line of a file.
    fn lines(&self, random: &mut Random, max: usize, input: &mut Vec<u8>) {
        if random.one_in(3) {
            input.extend_from_slice(self.line(random.pick(&self.heads)));
        }
        let first = random.below(self.ends.len());
        let n_lines = 1 + random.below(LINES_MAX).min(random.below(LINES_MAX));
        for idx in first..self.ends.len().min(first + n_lines) {
            input.extend_from_slice(self.line(idx));
            if max < input.len() {
                input.truncate(max);
                return;
            }
        }
    }

    fn line(&self, idx: usize) -> &[u8] {
        let start = idx.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.short[start..self.ends[idx]]
    }
}

fn is_text(path: &Path) -> bool {
    path.extension().is_some_and(|name| name == "jsonl" || name == "json" || name == "txt")
}

fn render(adapter: &dyn Adapter, trace: &Trace) -> Vec<u8> {
    let mut events = Vec::new();
    let outcome = adapter.read(
        trace,
        None,
        Sink::everything(&mut |event| write_event(&event, &mut events).unwrap()),
    );
    let Ok(outcome) = outcome else { return Vec::new() };
    let mut bytes = Vec::new();
    write_session(&outcome.facts, &mut bytes).unwrap();
    bytes.append(&mut events);
    write_end(&outcome.facts, &mut bytes).unwrap();
    bytes
}
