//! Enforces the limits on every read in both fuzzers. A read must not panic, may take at most one
//! second and 200 MB, and must give the same events when repeated.
//!
//! In builds that unwind, panics are caught, so that fuzzing continues after a fault. In builds
//! that abort, the panic hook has already printed the number of the input.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use nacre_traces::transcript::TranscriptEvent;
use nacre_traces::transcript::{Adapter, ReadOutcome, Trace, Watermark};
use nacre_traces::transcript::{Detail, Sink};

use super::mutate::CHANGES;
use crate::Outcome;

const MAX_TIME: Duration = Duration::from_secs(1);
const MAX_RSS_KIB: u64 = 200 * 1024;
/// Maximum number of reports per panic location.
const TOLD: u64 = 3;
/// Default stack size of a Rust thread.
const STACK: usize = 2 * 1024 * 1024;

static NUMBER: AtomicU64 = AtomicU64::new(0);
static PANICS: Mutex<BTreeMap<String, u64>> = Mutex::new(BTreeMap::new());

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Fine,
    Panicked,
    Slow,
    /// Two reads of the same bytes gave different results.
    Unlike,
}

pub(crate) struct Watch {
    seed: u64,
    /// One in this many reads is repeated for comparison.
    compared_every: u64,
    began: Instant,
    pub(crate) n_inputs: u64,
    n_reads: u64,
    n_compared: u64,
    n_events: u64,
    n_records: u64,
    n_speaking: u64,
    n_slow: u64,
    n_unlike: u64,
    slowest: Duration,
    pub(crate) changes: [u64; CHANGES.len()],
    pub(crate) shapes: BTreeMap<&'static str, u64>,
}

pub(crate) fn run(work: impl FnOnce() -> bool + Send + 'static) -> Outcome {
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(work)?;
    thread.join().map_err(|_| "the fuzzer panicked".into())
}

impl Watch {
    pub(crate) fn new(seed: u64, compared_every: u64) -> Self {
        std::panic::set_hook(Box::new(move |panic| {
            let place = panic.location().map(ToString::to_string).unwrap_or_default();
            let mut panics = PANICS.lock().unwrap();
            let count = panics.entry(place).or_default();
            *count += 1;
            if *count <= TOLD {
                println!("PANIC seed {seed} input {}: {panic}", NUMBER.load(Ordering::Relaxed));
            }
        }));
        Self {
            seed,
            compared_every,
            began: Instant::now(),
            n_inputs: 0,
            n_reads: 0,
            n_compared: 0,
            n_events: 0,
            n_records: 0,
            n_speaking: 0,
            n_slow: 0,
            n_unlike: 0,
            slowest: Duration::ZERO,
            changes: [0; CHANGES.len()],
            shapes: BTreeMap::new(),
        }
    }

    pub(crate) fn begin(&mut self, number: u64, shape: &'static str, n_inputs: u64) {
        NUMBER.store(number, Ordering::Relaxed);
        self.n_inputs += n_inputs;
        *self.shapes.entry(shape).or_default() += n_inputs;
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    /// Runs `work`, which must not panic or take long. Returns `None` if it panicked.
    pub(crate) fn guard<T>(&mut self, work: impl Fn() -> T) -> (Option<T>, Verdict) {
        let begin = Instant::now();
        let Ok(done) = catch_unwind(AssertUnwindSafe(&work)) else {
            return (None, Verdict::Panicked);
        };
        let mut took = begin.elapsed();
        if MAX_TIME < took {
            // A slow run is repeated before it is reported, because another program may have used
            // the core.
            let begin = Instant::now();
            drop(work());
            took = took.min(begin.elapsed());
        }
        self.slowest = self.slowest.max(took);
        if MAX_TIME < took {
            self.n_slow += 1;
            println!("SLOW seed {} input {}: {took:?}", self.seed, NUMBER.load(Ordering::Relaxed));
            return (Some(done), Verdict::Slow);
        }
        (Some(done), Verdict::Fine)
    }

    pub(crate) fn read(
        &mut self,
        adapter: &dyn Adapter,
        trace: &Trace,
        from: Option<&Watermark>,
    ) -> (Option<ReadOutcome>, Verdict) {
        self.n_reads += 1;
        // Alternate between the two levels of detail, because the product uses both.
        let detail = if self.n_reads.is_multiple_of(2) { Detail::Said } else { Detail::Everything };
        let (done, verdict) = self.guard(|| {
            let mut n_events = 0;
            (adapter.read(trace, from, Sink::new(detail, &mut |_| n_events += 1)), n_events)
        });
        let Some((outcome, n_events)) = done else { return (None, verdict) };
        self.n_events += n_events;
        self.n_speaking += u64::from(0 < n_events);
        self.n_records += outcome.as_ref().map_or(0, |outcome| outcome.report.lines);
        if self.n_reads.is_multiple_of(self.compared_every) && verdict == Verdict::Fine {
            self.n_compared += 1;
            if all(adapter, trace, from) != all(adapter, trace, from) {
                self.n_unlike += 1;
                let number = NUMBER.load(Ordering::Relaxed);
                println!(
                    "UNLIKE seed {} input {number}: a repeated read gives different events",
                    self.seed
                );
                return (outcome.ok(), Verdict::Unlike);
            }
        }
        (outcome.ok(), verdict)
    }

    pub(crate) fn finish(&self, name: &str) -> bool {
        let seconds = self.elapsed().as_secs_f64();
        let panics = PANICS.lock().unwrap();
        let n_panics: u64 = panics.values().sum();
        let peak = peak_kib();
        println!("  shapes: {}", format_counts(self.shapes.iter().map(|(name, n)| (*name, *n))));
        if self.changes != [0; CHANGES.len()] {
            let changes = CHANGES.iter().zip(self.changes);
            println!("  changes: {}", format_counts(changes.map(|((name, _), n)| (*name, n))));
        }
        println!(
            "  {} reads, {} with events, {} records, {} compared",
            self.n_reads, self.n_speaking, self.n_records, self.n_compared
        );
        for (place, count) in panics.iter() {
            println!("  {count} panics at {place}");
        }
        let is_held = n_panics == 0 && self.n_slow == 0 && self.n_unlike == 0;
        let is_good = is_held && peak <= MAX_RSS_KIB && 0 < self.n_events;
        println!(
            "ROW {name:<16} {:>10} {:>8.0} {seconds:>7.0} {:>11} {n_panics:>6} {:>5} {:>6} {:>8.1} {:>5}  {}",
            self.n_inputs,
            self.n_inputs as f64 / seconds,
            self.n_events,
            self.n_slow,
            self.n_unlike,
            self.slowest.as_secs_f64() * 1e3,
            peak / 1024,
            if is_good { "ok" } else { "FAILED" }
        );
        is_good
    }
}

fn all(
    adapter: &dyn Adapter,
    trace: &Trace,
    from: Option<&Watermark>,
) -> (Vec<TranscriptEvent>, String) {
    let mut events = Vec::new();
    let outcome = adapter.read(trace, from, Sink::everything(&mut |event| events.push(event)));
    (events, format!("{outcome:?}"))
}

fn format_counts<'a>(counts: impl Iterator<Item = (&'a str, u64)>) -> String {
    let all: Vec<String> = counts.map(|(name, count)| format!("{name} {count}")).collect();
    all.join(", ")
}

fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
    peak.split_whitespace().nth(1).unwrap().parse().unwrap()
}
