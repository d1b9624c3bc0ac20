//! How good is recall: questions with known answers, asked of the very engine that people use.
//!
//! A data set is a list of haystacks, each indexed by itself in memory and asked its own questions. Nothing
//! is written and nothing is random, so two runs differ in their times only.

mod devmembench;
mod jsonl;
mod locomo;
mod longmemeval;
mod metrics;
#[cfg(test)]
mod tests;
mod time;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Duration;

use jiff::Timestamp;

pub use metrics::{Latency, Scores};

use super::embed::Embedder;
use super::index::{self, IndexError};
use super::query::Query;
use super::rank::{self, Level, Mode, RankOptions, Ranked};
use super::record::{Record, Unit};
use super::settle;
use super::snapshot::Snapshot;

/// How many results a question is judged by.
const DEPTH: usize = 50;

/// The shape of a data set's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Locomo,
    LongMemEval,
    DevMemBench,
    Jsonl,
}

/// Something to search, and questions about it.
#[derive(Clone, Debug)]
pub struct Haystack {
    pub name: String,
    pub units: Vec<Unit>,
    pub level: Level,
    /// Turns that follow each other, and not claims of which a newer one replaces an older.
    pub is_conversation: bool,
    pub questions: Vec<Question>,
}

/// A question with its answer.
#[derive(Clone, Debug, Default)]
pub struct Question {
    pub id: String,
    pub text: String,
    pub category: String,
    /// When it was asked; by default after everything that was said.
    pub asked: Option<Timestamp>,
    /// The keys of the records, or units, that answer it.
    pub truth: HashSet<String>,
    /// Those that answered it once and were overturned.
    pub outdated: HashSet<String>,
}

/// A file that is no data set of its format.
#[derive(Debug, thiserror::Error)]
#[error("Cannot read this as a `{format}` data set: {reason}")]
pub struct DatasetError {
    format: &'static str,
    reason: String,
}

impl DatasetError {
    fn new(format: &'static str, reason: impl std::fmt::Display) -> Self {
        Self { format, reason: reason.to_string() }
    }
}

/// Reads a data set. A DevMemBench set is two files: the one with questions is `text`, the other `beside`.
pub fn read(format: Format, text: &str, beside: &str) -> Result<Vec<Haystack>, DatasetError> {
    match format {
        Format::Locomo => locomo::read(text),
        Format::LongMemEval => longmemeval::read(text),
        Format::DevMemBench => devmembench::read(text, beside),
        Format::Jsonl => jsonl::read(text),
    }
}

/// What an evaluation measured.
#[derive(Clone, Debug, Default)]
pub struct Report {
    pub overall: Scores,
    pub categories: BTreeMap<String, Scores>,
    pub latency: Latency,
    pub n_records: usize,
    /// Questions that were answered badly, with the place of the first right answer.
    pub missed: Vec<(String, Option<usize>)>,
}

/// Asks every question. `clock` tells the time that has passed since some moment.
pub fn run(
    haystacks: &[Haystack],
    embedder: &dyn Embedder,
    mode: Mode,
    clock: &dyn Fn() -> Duration,
) -> Result<Report, IndexError> {
    let mut report = Report::default();
    let mut times = Vec::new();
    for haystack in haystacks {
        let snapshot = index::in_memory(&haystack.units, embedder)?;
        report.n_records += snapshot.n_records();
        let latest =
            haystack.units.iter().flat_map(|unit| &unit.records).map(|record| record.time_ms);
        let latest = latest.max().unwrap_or(0);
        let ages = ages(haystack);
        for question in &haystack.questions {
            let now_ms = question.asked.map_or(latest, Timestamp::as_millisecond);
            let options = RankOptions { mode, level: haystack.level, limit: DEPTH, now_ms };
            let begun = clock();
            let query = Query::plain(&question.text);
            let allowed = rank::allowed(&snapshot, &query, false);
            let ranked = rank::rank(&snapshot, &query, &allowed, embedder, &options)?;
            times.push(clock().saturating_sub(begun));
            let found = keys(&snapshot, ranked, haystack);
            let scores = metrics::judge(&found, question, &ages);
            report.overall.add(&scores);
            report.categories.entry(question.category.clone()).or_default().add(&scores);
            if scores.recall_5() < 1.0 {
                let place = found.iter().position(|key| question.truth.contains(*key));
                report.missed.push((question.id.clone(), place));
            }
        }
    }
    report.latency = Latency::of(times);
    Ok(report)
}

/// What was found, as a person sees it: what was overturned stands below what overturned it.
fn keys<'s>(snapshot: &'s Snapshot, ranked: Vec<Ranked>, haystack: &Haystack) -> Vec<&'s str> {
    let text_of = |row: usize| {
        let key = snapshot.key(row);
        let mut records = haystack.units.iter().flat_map(|unit| &unit.records);
        records.find(|record| record.key == key).map(Record::embedded_text)
    };
    match haystack.level {
        Level::Units => ranked.iter().map(|hit| snapshot.unit_key(hit.row)).collect(),
        // The turns of a conversation are no claims that replace each other.
        Level::Records if haystack.is_conversation => {
            ranked.iter().map(|hit| snapshot.key(hit.row)).collect()
        }
        Level::Records => {
            let facts = settle::RowFacts { is_wanted: &|_| true, text_of: &text_of };
            let groups = settle::settle(snapshot, ranked, &facts);
            let rows = groups
                .iter()
                .flat_map(|group| [group.best.row].into_iter().chain(group.older.iter().copied()));
            rows.map(|row| snapshot.key(row)).collect()
        }
    }
}

/// When each key was said, to tell newer from older.
fn ages(haystack: &Haystack) -> HashMap<&str, i64> {
    let mut ages = HashMap::new();
    for unit in &haystack.units {
        let latest = unit.records.iter().map(|record| record.time_ms).max().unwrap_or(0);
        ages.insert(unit.key.as_str(), latest);
        ages.extend(unit.records.iter().map(|record| (record.key.as_str(), record.time_ms)));
    }
    ages
}
