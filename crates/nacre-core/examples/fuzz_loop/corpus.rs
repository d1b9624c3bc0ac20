//! Slices of real traces: what a fuzzed input is made from.
//!
//! Long strings are cut when a trace is loaded, so that a few kilobytes hold many records; the uncut
//! bytes are kept beside them for pieces that start and end anywhere.

use std::path::{Path, PathBuf};

use nacre_core::transcript::adapter::{Adapter, Trace};
use nacre_core::transcript::facts::Agent;
use nacre_core::transcript::render::{write_end, write_event, write_session};
use nacre_core::transcript::{ADAPTERS, Sink};

use crate::mutate::{Random, shorten};

/// The longest ordinary input before it is changed.
const SLICE_MAX: usize = 4 * 1024;
const LINES_MAX: usize = 12;
/// What strings are cut to.
const STRING_MAX: usize = 120;
/// What is kept of the uncut and of the cut bytes, and of one file.
const RAW_MAX: usize = 24 * 1024 * 1024;
const SHORT_MAX: usize = 48 * 1024 * 1024;
const FILE_MAX: usize = 2 * 1024 * 1024;
/// One input in so many is large: what takes more than linear time shows there.
const LARGE_EVERY: usize = 2000;
const LARGE_MIN: usize = 64 * 1024;
const LARGE_MAX: usize = 1024 * 1024;
/// One input in so many is compressed before it is damaged.
const PACKED_EVERY: usize = 1000;

/// A transcript of the oldest kind that Cursor wrote.
const PLAIN: &str = "user:\n<user_query>\nRename the crate\n</user_query>\n\nassistant:\n[Thinking] It \
    has two users.\n\nI rename it.\n\n[Tool call] Shell\n  command: ls -l\n  working_directory: /home/me/app\n\n\
    [Tool result] Shell\ntotal 0\n\nassistant:\nDone.\n\nuser:\nThanks\n\nA:\nSure\n";

/// The traces of one agent.
#[derive(Default)]
pub(crate) struct Corpus {
    /// Uncut, as they were found.
    raw: Vec<u8>,
    /// With short strings.
    short: Vec<u8>,
    /// Where each line of `short` ends.
    ends: Vec<usize>,
    /// The first line of each file.
    heads: Vec<usize>,
}

impl Corpus {
    /// Loads what an adapter finds in its folder below `folders`; for Nacre's own format also what
    /// the others find, rendered in it.
    pub(crate) fn load(agent: Agent, folders: &[PathBuf]) -> Self {
        let mut corpus = Self::default();
        for adapter in ADAPTERS {
            let name = adapter.agent().as_str();
            let roots: Vec<PathBuf> = folders.iter().map(|folder| folder.join(name)).collect();
            for source in adapter.discover(&roots).sources {
                if adapter.agent() == agent && is_text(&source.path) {
                    corpus.add(&std::fs::read(source.path).unwrap());
                } else if agent == Agent::Generic {
                    let traces = adapter.sessions(&source).unwrap_or_default();
                    traces.iter().for_each(|trace| corpus.add(&rendered(*adapter, trace)));
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

    /// Fills `input` with what shall be changed; says of which shape it is.
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

    /// A part of another trace, to splice in.
    pub(crate) fn other(&self, random: &mut Random) -> &[u8] {
        &self.short[random.range(self.short.len(), SLICE_MAX)]
    }

    /// Adds a few consecutive lines, now and then after the first of a file.
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

fn rendered(adapter: &dyn Adapter, trace: &Trace) -> Vec<u8> {
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
