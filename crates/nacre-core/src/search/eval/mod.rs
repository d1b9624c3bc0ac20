//! How good is recall: questions with known answers, asked of the very engine that people use.
//!
//! A data set is a list of haystacks, each indexed by itself in memory and asked its own questions. Nothing
//! is written and nothing is random, so two runs differ in their times only.

mod baseline;
mod devmembench;
mod jsonl;
mod locomo;
mod longmemeval;
pub mod messages;
mod metrics;
#[cfg(test)]
mod tests;
mod time;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::time::Duration;

use jiff::Timestamp;

pub use metrics::{Latency, Scores};

use super::embed::Embedder;
use super::index::{self, IndexError};
use super::query::Query;
use super::rank::{self, Level, Mode, RankOptions};
use super::record::{Record, Unit};
use super::settle;
use super::snapshot::Snapshot;
use super::spoken;

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
    /// Whether the baseline is measured, too.
    pub has_baseline: bool,
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
    /// Its answers: of each, the keys of the records, or units, that give it. One of them is enough.
    pub truth: Vec<HashSet<String>>,
    /// Those that answered it once and were overturned.
    pub outdated: HashSet<String>,
}

impl Question {
    /// Whether a record, or unit, answers it.
    fn is_answered_by(&self, key: &str) -> bool {
        self.truth.iter().any(|keys| keys.contains(key))
    }
}

/// Answers that each have one key.
fn single_keys(keys: impl IntoIterator<Item = String>) -> Vec<HashSet<String>> {
    let keys: BTreeSet<String> = keys.into_iter().collect();
    keys.into_iter().map(|key| HashSet::from([key])).collect()
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

/// Scores over all questions, and over those of each category.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    pub overall: Scores,
    pub categories: BTreeMap<String, Scores>,
}

impl Tally {
    fn add(&mut self, category: &str, scores: &Scores) {
        self.overall.add(scores);
        self.categories.entry(category.to_owned()).or_default().add(scores);
    }
}

/// What an evaluation measured.
#[derive(Clone, Debug, Default)]
pub struct Report {
    pub ranking: Tally,
    /// Of plain BM25, where a haystack asks for it.
    pub baseline: Option<Tally>,
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
        let texts = Texts::of(haystack);
        for question in &haystack.questions {
            let asked = Asked { haystack, snapshot: &snapshot, texts: &texts, question, mode };
            let begun = clock();
            let found = asked.found(embedder)?;
            times.push(clock().saturating_sub(begun));
            asked.judge(&found, &mut report);
        }
    }
    report.latency = Latency::of(times);
    Ok(report)
}

/// The texts of a haystack's records by their keys, and the time of the latest.
struct Texts<'a> {
    records: HashMap<&'a str, &'a Record>,
    latest_ms: i64,
}

impl<'a> Texts<'a> {
    fn of(haystack: &'a Haystack) -> Self {
        let records = || haystack.units.iter().flat_map(|unit| &unit.records);
        Self {
            records: records().map(|record| (record.key.as_str(), record)).collect(),
            latest_ms: records().map(|record| record.time_ms).max().unwrap_or(0),
        }
    }
}

/// A question to a haystack.
struct Asked<'a> {
    haystack: &'a Haystack,
    snapshot: &'a Snapshot,
    texts: &'a Texts<'a>,
    question: &'a Question,
    mode: Mode,
}

impl<'a> Asked<'a> {
    /// What is found, as a person sees it: what was overturned stands below what overturned it.
    fn found(&self, embedder: &dyn Embedder) -> Result<Vec<&'a str>, IndexError> {
        let Self { haystack, snapshot, texts, question, mode } = *self;
        let now_ms = question.asked.map_or(texts.latest_ms, Timestamp::as_millisecond);
        let limit = DEPTH.max(spoken::N_COMPARED);
        let options = RankOptions { mode, level: haystack.level, limit, now_ms };
        let query = Query::plain(&question.text);
        let allowed = rank::allowed(snapshot, &query, false);
        let ranked = rank::rank(snapshot, &query, &allowed, embedder, &options)?;
        let text_of =
            |row: usize| texts.records.get(snapshot.key(row)).map(|record| record.embedded_text());
        let mut found: Vec<&str> = match haystack.level {
            Level::Units => ranked.iter().map(|hit| snapshot.unit_key(hit.row)).collect(),
            Level::Records if haystack.is_conversation => {
                let ranked = spoken::settle(snapshot, &query, ranked, &text_of);
                ranked.iter().map(|hit| snapshot.key(hit.row)).collect()
            }
            Level::Records => {
                let is_foreign = |_: usize| false;
                let facts = settle::RowFacts {
                    is_wanted: &|_| true,
                    text_of: &text_of,
                    is_foreign: &is_foreign,
                };
                let groups = settle::settle(snapshot, ranked, &facts);
                let rows = groups.iter().flat_map(|group| {
                    [group.best.row].into_iter().chain(group.older.iter().copied())
                });
                rows.map(|row| snapshot.key(row)).collect()
            }
        };
        found.truncate(DEPTH);
        Ok(found)
    }

    fn judge(&self, found: &[&str], report: &mut Report) {
        let Self { haystack, snapshot, question, .. } = *self;
        let scores = metrics::judge(found, question);
        report.ranking.add(&question.category, &scores);
        if scores.recall_5() < 1.0 {
            let place = found.iter().position(|key| question.is_answered_by(key));
            report.missed.push((question.id.clone(), place));
        }
        if haystack.has_baseline {
            let rows = baseline::rank(snapshot, &question.text);
            let found: Vec<&str> = rows.into_iter().map(|row| snapshot.key(row)).collect();
            let scores = metrics::judge(&found, question);
            report.baseline.get_or_insert_default().add(&question.category, &scores);
        }
    }
}
