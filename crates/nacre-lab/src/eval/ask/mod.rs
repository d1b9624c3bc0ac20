//! Measures how often `nacre ask` finds the right memory without a model.
//!
//! Exits with 1 if fewer than three quarters of the questions are answered correctly.

mod measure;
mod sessions;
#[cfg(test)]
mod tests;

use std::fs;
use std::path::PathBuf;

use crate::Outcome;

/// Without a model, ask questions about memories and count the correct answers
#[derive(Debug, clap::Args)]
pub(crate) struct AskArgs {
    /// Directory with `memories.txt` and `unknown.txt`, or with `sessions.json` and
    /// `questions.json` from DevMemBench
    folder: PathBuf,
    /// Empty directory in which to create a store
    scratch: PathBuf,
    /// Print one line per question, for tuning the thresholds
    #[arg(long)]
    rows: bool,
}

pub(super) fn run(args: &AskArgs) -> Outcome {
    let AskArgs { folder, scratch, rows } = args;
    let read = |name: &str| fs::read_to_string(folder.join(name));
    let (pages, questions) = match read("memories.txt") {
        Ok(memories) => measure::read_table(&memories, &read("unknown.txt").unwrap_or_default()),
        Err(_) => sessions::read_sessions(
            &read("sessions.json").unwrap(),
            &read("questions.json").unwrap(),
        ),
    };
    let measured = measure::measure(scratch, &pages, &questions);
    if *rows {
        println!("{}", measured.rows);
    }
    measured.missed.iter().for_each(|missed| println!("{missed}"));
    let share = |n: usize, of: usize| n as f64 / of.max(1) as f64;
    println!("memories                  {:>6}", pages.len());
    println!("questions                 {:>6}", measured.known);
    println!("right memory in answer    {:>6.3}", share(measured.right, measured.known));
    println!("right memory first        {:>6.3}", share(measured.first, measured.known));
    println!("questions without answer   {:>6}", measured.unknown);
    println!("correctly declined         {:>6.3}", share(measured.declined, measured.unknown));
    Ok(measured.known * 3 <= measured.right * 4)
}
