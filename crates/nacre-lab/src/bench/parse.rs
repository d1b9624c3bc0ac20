//! Compares the speed of cold trace parsing with `json.loads` and `jq -c .`, and fails if it is too
//! slow.
//!
//! The benchmark covers the work that `nacre sync` does on a trace before writing to the catalog:
//! adapter, emitter and redactor, on one thread, including message text. The `all` column is the
//! speed relative to `json.loads` with all text included, as in `nacre trace show`; it is not
//! checked. Times are CPU seconds. Files are read repeatedly until enough bytes have been
//! processed.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use nacre_traces::agents::ADAPTERS;
use nacre_traces::transcript::{Detail, Sink};
use nacre_traces::transcript::{Trace, TraceSource};

use crate::Outcome;

/// Number of rounds. In each round, the programs run directly after one another, so that a busy
/// machine slows all of them down equally. The result is the median of the ratios.
const ROUNDS: usize = 13;
const ENOUGH: u64 = 500_000_000;
const OVER_PYTHON: f64 = 3.0;
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

/// Compare the speed of cold trace parsing with `json.loads` and `jq -c .`
#[derive(Debug, clap::Args)]
pub(crate) struct ParseArgs {
    /// AGENT=FILE_OR_FOLDER
    #[arg(required = true)]
    corpora: Vec<String>,
}

pub(super) fn run(args: &ParseArgs) -> Outcome {
    let corpora: Vec<(String, Vec<TraceSource>)> =
        args.corpora.iter().map(|arg| corpus(arg)).collect();
    println!(
        "{:<16} {:>7} {:>6} {:>7} {:>7} {:>7} {:>7}",
        "parsing", "traces", "MB", "MB/s", "json", "jq", "all"
    );
    let mut is_fast = true;
    for (agent, sources) in &corpora {
        is_fast &= row(agent, sources);
    }
    if 1 < corpora.len() {
        let all: Vec<TraceSource> = corpora.into_iter().flat_map(|(_, sources)| sources).collect();
        is_fast &= row("together", &all);
    }
    let rss = peak_rss();
    println!(
        "peak memory {rss} MB, limit {MAX_RSS_MB}; required: {OVER_PYTHON} times json.loads, \
         {OVER_JQ} times jq -c"
    );
    Ok(is_fast && rss <= MAX_RSS_MB)
}

fn row(name: &str, sources: &[TraceSource]) -> bool {
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
    // `jq` is the slowest program, so one pass is enough.
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

fn corpus(arg: &str) -> (String, Vec<TraceSource>) {
    let (agent, path) = arg.split_once('=').unwrap();
    let adapter = ADAPTERS.iter().find(|adapter| adapter.agent().as_str() == agent).unwrap();
    let mut sources = adapter.discover(&[PathBuf::from(path)]).sources;
    sources.retain(|source| source.path.extension().is_some_and(|end| end == "jsonl"));
    (agent.to_owned(), sources)
}

fn measure_ours(sources: &[TraceSource], passes: u64, detail: Detail) -> f64 {
    let start = cpu_seconds();
    let mut n_bytes = 0;
    for source in (0..passes).flat_map(|_| sources) {
        let adapter = ADAPTERS.iter().find(|adapter| adapter.agent() == source.agent).unwrap();
        let mut sink =
            |event: nacre_traces::transcript::TranscriptEvent| n_bytes += event.text.head().len();
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

/// Measures the user and system time of `jq`. `jq` stops at the first invalid line, so each file is
/// a separate run.
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
