//! Measures recall on questions with known answers, using the product's ranking.
//!
//! A data set is a list of haystacks, each with its own in-memory index and questions. Nothing is
//! written and nothing is random, so two runs differ only in their timings.

mod baseline;
mod metrics;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

use clap::{Args, ValueEnum};
use jiff::Timestamp;
use nacre_memory::search::{Builtin, Mode};
use nacre_ops::host::read_plain;
use serde::Serialize;

use self::baseline::Baseline;
use self::metrics::{Means, Scores};
use super::datasets::{self, Format, Haystack, Question, messages};
use super::in_memory::{InMemoryIndex, InMemoryOptions};
use crate::output::{self, Latency, row};
use crate::{AnyError, Outcome};

const DEPTH: usize = 50;

/// Run the questions in a data set, and count how often the answer is found
///
/// Every haystack is indexed in memory and searched with the product's ranking. Nothing is written,
/// sent or random. docs/evaluation.md describes the formats and the metrics.
#[derive(Debug, Args)]
pub(crate) struct RetrievalArgs {
    /// Data set file; for devmembench, the file with the questions
    #[arg(long, value_name = "FILE")]
    dataset: PathBuf,
    #[arg(long, value_enum, default_value_t = Format::Jsonl)]
    format: Format,
    /// Directory with the traces for `messages` questions
    #[arg(long, value_name = "FOLDER", required_if_eq("format", "messages"))]
    traces: Option<PathBuf>,
    /// Ranking mode
    #[arg(long, value_enum, default_value_t = ModeName::Hybrid)]
    mode: ModeName,
    /// List the questions whose answers are not all in the first five results
    #[arg(long)]
    missed: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ModeName {
    Hybrid,
    Lexical,
    Semantic,
}

#[derive(Debug, Serialize)]
struct RetrievalReport {
    model: String,
    records: usize,
    #[serde(flatten)]
    ranking: Tally,
    baseline: Option<Tally>,
    /// Number of unusable questions by reason.
    left_out: BTreeMap<&'static str, usize>,
    latency_ms: Latency,
    missed: Vec<MissedQuestion>,
}

#[derive(Debug, Serialize)]
struct Tally {
    overall: Means,
    categories: BTreeMap<String, Means>,
}

/// A question whose answers are not all in the first five results.
#[derive(Debug, Serialize)]
struct MissedQuestion {
    id: String,
    /// Zero-based rank of the first correct answer.
    place: Option<usize>,
}

pub(crate) fn run(args: &RetrievalArgs) -> Outcome {
    let mode = match args.mode {
        ModeName::Hybrid => Mode::Hybrid,
        ModeName::Lexical => Mode::Lexical,
        ModeName::Semantic => Mode::Semantic,
    };
    let (haystacks, left_out) = haystacks(args)?;
    let mut report = RetrievalReport { left_out, ..measure(&haystacks, mode) };
    report.missed.retain(|_| args.missed);
    if args.json {
        output::json(&report)?;
    } else {
        print(&report);
    }
    Ok(true)
}

/// Returns the data set, and the number of unusable questions by reason.
fn haystacks(
    args: &RetrievalArgs,
) -> Result<(Vec<Haystack>, BTreeMap<&'static str, usize>), AnyError> {
    let text = read_plain(&args.dataset)?;
    let mut left_out: BTreeMap<&'static str, usize> = BTreeMap::new();
    if let (Format::Messages, Some(folder)) = (args.format, &args.traces) {
        let set = messages::read(&text, datasets::sessions(folder)?)?;
        for (_, reason) in set.left_out {
            *left_out.entry(reason).or_default() += 1;
        }
        return Ok((vec![set.haystack], left_out));
    }
    let beside = match args.format {
        Format::Devmembench => read_plain(&args.dataset.with_file_name("sessions.json"))?,
        Format::Locomo | Format::Longmemeval | Format::Jsonl | Format::Messages => String::new(),
    };
    Ok((datasets::read(args.format, &text, &beside)?, left_out))
}

fn measure(haystacks: &[Haystack], mode: Mode) -> RetrievalReport {
    let (mut ranking, mut baseline) = (Sums::default(), Sums::default());
    let (mut times, mut missed, mut records) = (Vec::new(), Vec::new(), 0);
    for haystack in haystacks {
        let index = InMemoryIndex::new(&haystack.units);
        records += index.n_records();
        let plain = haystack.has_baseline.then(|| Baseline::new(haystack));
        let latest = haystack.units.iter().flat_map(|unit| &unit.records).map(|one| one.time_ms);
        let latest_ms = latest.max().unwrap_or(0);
        for question in &haystack.questions {
            let options = InMemoryOptions {
                mode,
                level: haystack.level,
                is_conversation: haystack.is_conversation,
                limit: DEPTH,
                now_ms: question.asked.map_or(latest_ms, Timestamp::as_millisecond),
            };
            let begun = Instant::now();
            let found = index.search(&question.text, options);
            times.push(begun.elapsed());
            if ranking.add(question, &found).recall_5 < 1.0 {
                let place = found.iter().position(|key| question.is_answered_by(key));
                missed.push(MissedQuestion { id: question.id.clone(), place });
            }
            if let Some(plain) = &plain {
                baseline.add(question, &plain.rank(&question.text));
            }
        }
    }
    RetrievalReport {
        model: Builtin::shipped().id().to_owned(),
        records,
        ranking: ranking.means(),
        baseline: (0 < baseline.overall.n_questions).then(|| baseline.means()),
        left_out: BTreeMap::new(),
        latency_ms: Latency::of(times),
        missed,
    }
}

#[derive(Default)]
struct Sums {
    overall: Scores,
    categories: BTreeMap<String, Scores>,
}

impl Sums {
    fn add(&mut self, question: &Question, found: &[&str]) -> Scores {
        let scores = metrics::judge(found, question);
        self.overall.add(&scores);
        self.categories.entry(question.category.clone()).or_default().add(&scores);
        scores
    }

    fn means(&self) -> Tally {
        let categories = self.categories.iter().map(|(name, sums)| (name.clone(), sums.means()));
        Tally { overall: self.overall.means(), categories: categories.collect() }
    }
}

fn print(report: &RetrievalReport) {
    let mut rows =
        vec![row(["", "questions", "R@1", "R@5", "R@10", "any@5", "MRR", "nDCG@10", "newer"])];
    for (prefix, tally) in [("", Some(&report.ranking)), ("BM25 ", report.baseline.as_ref())] {
        let Some(Tally { overall, categories }) = tally else { continue };
        rows.extend(categories.iter().map(|(name, means)| means.row(&format!("{prefix}{name}"))));
        rows.push(overall.row(&format!("{prefix}all")));
    }
    output::table(&rows);
    let Latency { p50, p95, p99 } = report.latency_ms;
    println!(
        "{} records, {}; query time {p50:.2} ms (p50), {p95:.2} (p95), {p99:.2} (p99)",
        report.records, report.model
    );
    for (reason, n_questions) in &report.left_out {
        println!("{n_questions} questions skipped: {reason}");
    }
    for MissedQuestion { id, place } in &report.missed {
        let place = place.map_or_else(|| "-".to_owned(), |place| (place + 1).to_string());
        println!("missed {id}: first answer at rank {place}");
    }
}
