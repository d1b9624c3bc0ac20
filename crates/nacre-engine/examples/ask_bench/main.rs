//! Measures `nacre ask` without a model: how often the right memory is in the answer.
//!
//! Usage: ask_bench FOLDER SCRATCH [--rows]
//!
//! FOLDER holds `memories.txt` and `unknown.txt` (as `tests/fixtures/ask` does), or `sessions.json` and `questions.json` of
//! DevMemBench. SCRATCH is an empty folder that a store is made in. Ends with 1 when fewer than nine in ten are right.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a developer's program"
)]

mod measure;
mod sessions;

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use nacre_core::search::{Builtin, Embedder};

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [folder, scratch, flags @ ..] = &args[..] else {
        println!("usage: ask_bench FOLDER SCRATCH [--rows]");
        return ExitCode::from(2);
    };
    let read = |name: &str| fs::read_to_string(PathBuf::from(folder).join(name));
    let (pages, questions) = match read("memories.txt") {
        Ok(memories) => measure::read_table(&memories, &read("unknown.txt").unwrap_or_default()),
        Err(_) => sessions::read_sessions(
            &read("sessions.json").unwrap(),
            &read("questions.json").unwrap(),
        ),
    };
    let embedder: Arc<dyn Embedder> = Arc::new(Builtin::shipped().unwrap());
    let measured = measure::measure(&PathBuf::from(scratch), &pages, &questions, embedder);
    if flags.iter().any(|flag| flag == "--rows") {
        println!("{}", measured.rows);
    }
    measured.missed.iter().for_each(|missed| println!("{missed}"));
    let share = |n: usize, of: usize| n as f64 / of.max(1) as f64;
    println!("memories                  {:>6}", pages.len());
    println!("questions                 {:>6}", measured.known);
    println!("right memory in answer    {:>6.3}", share(measured.right, measured.known));
    println!("right memory first        {:>6.3}", share(measured.first, measured.known));
    println!("without an answer         {:>6}", measured.unknown);
    println!("said to have none         {:>6.3}", share(measured.declined, measured.unknown));
    ExitCode::from(u8::from(measured.right * 10 < measured.known * 9))
}
