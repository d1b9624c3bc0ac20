//! What the map costs and saves, measured on repositories.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::Report;

/// Which repositories to measure, and with which questions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BenchMapRequest {
    pub repos: Vec<String>,
    /// A file with one `BenchQuestion` a line. Without it, questions are made from public symbols.
    pub questions: Option<String>,
    /// How many questions to make; 20 unless said otherwise.
    pub count: Option<usize>,
    /// Tokens that each context may have; 4000 unless said otherwise.
    pub budget: Option<usize>,
    /// How many commits to take as tasks; 40 unless said otherwise, 200 at most. 0 leaves this out.
    pub tasks: Option<usize>,
}

/// A question about code, and how to tell that it is answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BenchQuestion {
    pub question: String,
    /// Words that somebody without a map would search for.
    pub find: Vec<String>,
    /// The file that has the answer.
    pub path: String,
    /// What an answer must contain, spacing aside.
    pub contains: String,
}

/// What was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BenchMapReport {
    pub budget: usize,
    pub repos: Vec<BenchedRepo>,
}

impl Report for BenchMapReport {}

/// What was measured on one repository.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BenchedRepo {
    pub repo: String,
    pub files: usize,
    /// Files that had to be read when the map was first opened, of all.
    pub changed_ratio: f64,
    /// How often the map was up to date already, of all times that it was opened again.
    pub hit_ratio: f64,
    pub latency_ms: BenchLatency,
    pub session: TokenCost,
    /// Questions whose answer the slice has, checked.
    pub answered: usize,
    pub questions: Vec<BenchedQuestion>,
    /// Tokens saved on answered questions, of those without the map; below 0 when it cost more.
    pub reduction_answered: f64,
    /// Over all questions and the beginning of the session.
    pub reduction: f64,
    /// Questions that cost more with the map.
    pub cost_more: usize,
    /// Whether `context` names the files that later commits changed.
    pub localisation: Option<BenchedLocalisation>,
    /// Why that was not measured.
    pub no_localisation: Option<String>,
}

/// How long each operation took.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BenchLatency {
    pub cold: f64,
    pub hit: f64,
    pub explore: f64,
    pub delta: f64,
    pub context: f64,
}

/// Tokens without and with the map.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TokenCost {
    pub without: usize,
    pub with: usize,
}

impl TokenCost {
    /// Whether the map cost more than it saved.
    pub fn is_more(self) -> bool {
        self.without < self.with
    }
}

/// What one question cost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BenchedQuestion {
    pub question: String,
    pub path: String,
    pub is_answered: bool,
    #[serde(flatten)]
    pub cost: TokenCost,
}

/// Whether `context` names the files that commits changed, asked on the state before them with their subjects as tasks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BenchedLocalisation {
    /// The commit that was asked about. None of the tasks is part of its history.
    pub state: String,
    /// Files in the map of that state.
    pub files: usize,
    /// Tokens that each context may have.
    pub budget: usize,
    pub context: LocalisationScore,
    /// Plain word search (BM25) over the same files, named as many as `context` did.
    pub bm25: LocalisationScore,
    /// The median time of a context, with the look whether the map is up to date.
    pub p50_ms: f64,
    /// Commits that change no file of that state.
    pub left_out: usize,
    /// Commits that there was no time for.
    pub postponed: usize,
    /// The newest first.
    pub tasks: Vec<LocalisedTask>,
}

/// How many of the changed files were named: means over tasks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LocalisationScore {
    /// The share of the changed files among the first 5.
    pub recall_5: f64,
    /// Among the first 10.
    pub recall_10: f64,
    /// Anywhere in the answer.
    pub recall_any: f64,
    /// Tasks with a changed file among the first 5.
    pub tasks_5: usize,
}

/// A commit, and where the first of its files was named.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LocalisedTask {
    pub commit: String,
    /// The subject of the commit.
    pub task: String,
    /// What it changed, as far as it was there.
    pub files: Vec<String>,
    /// From 1; nothing where none was named.
    pub context_rank: Option<usize>,
    pub bm25_rank: Option<usize>,
}
