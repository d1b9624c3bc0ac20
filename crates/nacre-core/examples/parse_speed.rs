//! Measures cold parsing against `json.loads` and `jq -c .`, in one run.
//!
//! Usage: `parse_speed AGENT=FILE_OR_FOLDER...`; all numbers are CPU seconds of one process.
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a tool for developers"
)]

use std::path::PathBuf;
use std::process::{Command, Stdio};

use nacre_core::transcript::ADAPTERS;
use nacre_core::transcript::adapter::{Source, Trace};

const ROUNDS: usize = 5;

fn main() {
    let sources: Vec<Source> = std::env::args().skip(1).flat_map(|arg| sources(&arg)).collect();
    let bytes: u64 = sources.iter().map(|source| source.stamp.size).sum();
    let megabytes = bytes as f64 / 1e6;
    println!("{} traces, {megabytes:.0} MB, best of {ROUNDS}", sources.len());
    let paths: Vec<PathBuf> = sources.iter().map(|source| source.path.clone()).collect();
    let (mut ours, mut python) = (f64::INFINITY, f64::INFINITY);
    // Interleaved, so that a busy machine slows both.
    for _ in 0..ROUNDS {
        ours = ours.min(measure_ours(&sources));
        python = python.min(measure_python(&paths));
    }
    println!("nacre       {ours:7.3} s {:7.0} MB/s  peak RSS {} MB", megabytes / ours, peak_rss());
    println!(
        "json.loads  {python:7.3} s {:7.0} MB/s  ratio {:.2}",
        megabytes / python,
        python / ours
    );
    let jq = measure_jq(&paths);
    println!("jq -c .     {jq:7.3} s {:7.0} MB/s  ratio {:.2}", megabytes / jq, jq / ours);
}

fn sources(arg: &str) -> Vec<Source> {
    let (agent, path) = arg.split_once('=').unwrap();
    let adapter = ADAPTERS.iter().find(|adapter| adapter.agent().as_str() == agent).unwrap();
    let found = adapter.discover(&[PathBuf::from(path)]).sources;
    found
        .into_iter()
        .filter(|source| source.path.extension().is_some_and(|e| e == "jsonl"))
        .collect()
}

fn measure_ours(sources: &[Source]) -> f64 {
    let start = cpu_seconds();
    let mut n_events = 0_u64;
    for source in sources {
        let adapter = ADAPTERS.iter().find(|adapter| adapter.agent() == source.agent).unwrap();
        adapter.read(&Trace::whole(source.clone()), None, &mut |_| n_events += 1).unwrap();
    }
    let seconds = cpu_seconds() - start;
    std::hint::black_box(n_events);
    seconds
}

fn measure_python(paths: &[PathBuf]) -> f64 {
    let output = Command::new("python3")
        .arg("tools/trace-checks/json_loads.py")
        .args(paths)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.split_whitespace().next().unwrap().parse().unwrap()
}

/// `jq` stops at the first bad line, so each file is its own run; user and system time are summed.
fn measure_jq(paths: &[PathBuf]) -> f64 {
    let before = children_seconds();
    for path in paths {
        let mut child = Command::new("jq");
        child
            .arg("-c")
            .arg(".")
            .arg(path)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap();
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
