//! Data sets of questions with known answers, in their authors' formats and in Nacre's own format.

mod devmembench;
mod jsonl;
mod locomo;
mod longmemeval;
pub(crate) mod messages;
mod time;
mod traces;

use std::collections::{BTreeSet, HashSet};

use clap::ValueEnum;
use jiff::Timestamp;
use nacre_memory::search::{Level, Unit};

pub(crate) use traces::sessions;

/// The file format of a data set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Locomo,
    Longmemeval,
    Devmembench,
    Jsonl,
    /// Questions about the messages in a directory of traces
    Messages,
}

#[derive(Clone, Debug)]
pub(crate) struct Haystack {
    pub(crate) units: Vec<Unit>,
    pub(crate) level: Level,
    /// Whether the records are consecutive turns, rather than claims that replace older ones.
    pub(crate) is_conversation: bool,
    pub(crate) has_baseline: bool,
    pub(crate) questions: Vec<Question>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Question {
    pub(crate) id: String,
    pub(crate) text: String,
    pub(crate) category: String,
    /// Time at which the question was asked. If missing, the question is treated as coming after
    /// all records.
    pub(crate) asked: Option<Timestamp>,
    /// The accepted answers. Each answer is a set of keys of records or units that contain it;
    /// finding any of these keys is enough.
    pub(crate) truth: Vec<HashSet<String>>,
    /// Keys of outdated answers.
    pub(crate) outdated: HashSet<String>,
}

impl Question {
    pub(crate) fn is_answered_by(&self, key: &str) -> bool {
        self.truth.iter().any(|keys| keys.contains(key))
    }
}

pub(crate) fn single_keys(keys: impl IntoIterator<Item = String>) -> Vec<HashSet<String>> {
    let keys: BTreeSet<String> = keys.into_iter().collect();
    keys.into_iter().map(|key| HashSet::from([key])).collect()
}

/// The error for a file that does not match its format.
#[derive(Debug, thiserror::Error)]
#[error("Not a valid `{format}` data set: {reason}")]
pub(crate) struct DatasetError {
    format: &'static str,
    reason: String,
}

impl DatasetError {
    fn new(format: &'static str, reason: impl std::fmt::Display) -> Self {
        Self { format, reason: reason.to_string() }
    }
}

/// Reads a data set. DevMemBench consists of two files: `text` is the file with the questions, and
/// `beside` the file with the sessions.
pub(crate) fn read(
    format: Format,
    text: &str,
    beside: &str,
) -> Result<Vec<Haystack>, DatasetError> {
    match format {
        Format::Locomo => locomo::read(text),
        Format::Longmemeval => longmemeval::read(text),
        Format::Devmembench => devmembench::read(text, beside),
        Format::Jsonl => jsonl::read(text),
        Format::Messages => Err(DatasetError::new("messages", "a trace directory is required")),
    }
}
