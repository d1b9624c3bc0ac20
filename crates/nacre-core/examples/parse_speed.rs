//! Measures cold parsing against `json.loads` and `jq -c .`, in one run, and fails when it is too slow.
//!
//! Usage: `parse_speed AGENT=FILE_OR_FOLDER...`. Parsing is all that `nacre sync` does with a trace before
//! the catalog: adapter, emitter and redactor, down to whole events, on one thread, with the texts of what
//! was said. The column `all` tells how many times the speed of `json.loads` it is with every text, as
//! `nacre trace show` reads; that one is for information. All times are CPU seconds; every file is read
//! again and again until enough bytes have gone through.
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a tool for developers"
)]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use nacre_core::transcript::adapter::{Source, Trace};
use nacre_core::transcript::{ADAPTERS, Detail, Sink};

/// In each round all are measured one right after the other, so that a busy machine slows all of them; the ratio is the
/// median of the rounds.
const ROUNDS: usize = 13;
/// As much goes through in all rounds together, at least.
const ENOUGH: u64 = 500_000_000;
/// How many times the speed of each other program is wanted.
const OVER_PYTHON: f64 = 5.0;
const OVER_JQ: f64 = 2.0;
const MAX_RSS_MB: u64 = 150;

const LOOP: &str = "
import json, sys, time
start = time.process_time()
for path in sys.argv[2:] * int(sys.argv[1]):
    with open(path, 'rb') as lines:
        for line in lines:
            try:
                json.loads(line)
            except ValueError:
                pass
print(time.process_time() - start)
";

fn main() {
    let corpora: Vec<(String, Vec<Source>)> =
        std::env::args().skip(1).map(|arg| corpus(&arg)).collect();
    println!(
        "{:<16} {:>7} {:>6} {:>7} {:>7} {:>7} {:>7}",
        "parsing", "traces", "MB", "MB/s", "json", "jq", "all"
    );
    let mut is_fast = true;
    for (agent, sources) in &corpora {
        is_fast &= row(agent, sources);
    }
    if 1 < corpora.len() {
        let all: Vec<Source> = corpora.into_iter().flat_map(|(_, sources)| sources).collect();
        is_fast &= row("together", &all);
    }
    let rss = peak_rss();
    println!(
        "peak memory {rss} MB, allowed {MAX_RSS_MB}; wanted {OVER_PYTHON} times json.loads, {OVER_JQ} times jq -c"
    );
    if !is_fast || MAX_RSS_MB < rss {
        std::process::exit(1);
    }
}

/// Measures one corpus; says whether it was read fast enough.
fn row(name: &str, sources: &[Source]) -> bool {
    let bytes: u64 = sources.iter().map(|source| source.stamp.size).sum();
    let paths: Vec<&Path> = sources.iter().map(|source| source.path.as_path()).collect();
    let passes = ENOUGH.div_ceil(ROUNDS as u64 * bytes.max(1));
    let megabytes = (passes * bytes) as f64 / 1e6;
    let (mut best, mut said, mut everything) = (f64::INFINITY, Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let whole = measure_ours(sources, passes, Detail::Everything);
        let ours = measure_ours(sources, passes, Detail::Said);
        let python = measure_python(&paths, passes);
        best = best.min(ours);
        said.push(python / ours);
        everything.push(python / whole);
    }
    let speed = megabytes / best;
    let over_python = median(&mut said);
    // One pass is plenty for the slowest of them.
    let over_jq = speed / (bytes as f64 / 1e6 / measure_jq(&paths));
    let is_fast = OVER_PYTHON <= over_python && OVER_JQ <= over_jq;
    println!(
        "{name:<16} {:>7} {:>6.0} {speed:>7.0} {over_python:>6.2}x {over_jq:>6.1}x {:>6.2}x  {}",
        sources.len(),
        megabytes * ROUNDS as f64,
        median(&mut everything),
        if is_fast { "ok" } else { "FAIL" },
    );
    is_fast
}

fn median(ratios: &mut [f64]) -> f64 {
    ratios.sort_by(f64::total_cmp);
    ratios[ratios.len() / 2]
}

fn corpus(arg: &str) -> (String, Vec<Source>) {
    let (agent, path) = arg.split_once('=').unwrap();
    let adapter = ADAPTERS.iter().find(|adapter| adapter.agent().as_str() == agent).unwrap();
    let mut sources = adapter.discover(&[PathBuf::from(path)]).sources;
    sources.retain(|source| source.path.extension().is_some_and(|end| end == "jsonl"));
    (agent.to_owned(), sources)
}

fn measure_ours(sources: &[Source], passes: u64, detail: Detail) -> f64 {
    let start = cpu_seconds();
    let mut n_bytes = 0;
    for source in (0..passes).flat_map(|_| sources) {
        let adapter = ADAPTERS.iter().find(|adapter| adapter.agent() == source.agent).unwrap();
        let mut sink = |event: nacre_core::transcript::Event| n_bytes += event.text.head().len();
        let sink = Sink::new(detail, &mut sink);
        adapter.read(&Trace::whole(source.clone()), None, sink).unwrap();
    }
    std::hint::black_box(n_bytes);
    cpu_seconds() - start
}

fn measure_python(paths: &[&Path], passes: u64) -> f64 {
    let output = Command::new("python3")
        .args(["-c", LOOP, &passes.to_string()])
        .args(paths)
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap().trim().parse().unwrap()
}

/// `jq` stops at the first bad line, so each file is its own run; user and system time are summed.
fn measure_jq(paths: &[&Path]) -> f64 {
    let before = children_seconds();
    for path in paths {
        let mut jq = Command::new("jq");
        jq.arg("-c").arg(".").arg(path).stdout(Stdio::null()).stderr(Stdio::null());
        jq.status().unwrap();
    }
    children_seconds() - before
}

fn stat(field: usize) -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    fields[field].parse::<f64>().unwrap() / 100.0
}

fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap();
    text.split_whitespace().next().unwrap().parse::<f64>().unwrap() / 1e9
}

fn children_seconds() -> f64 {
    stat(13) + stat(14)
}

fn peak_rss() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024
}
