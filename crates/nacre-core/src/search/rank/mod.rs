//! Ranking: what each record gets for its words, its meaning and its circumstances.
//!
//! A sum of few signals, each between 0 and 1 and each explainable; `docs/ranking.md` tells what every one
//! of them gave, and what was tried and gave nothing. Where a signal has nothing to say (no neighbours, no
//! speakers, no date in the question) it adds the same to all.

mod dates;
mod dense;
mod filter;
mod lexical;
mod question;

use std::collections::HashSet;

use super::embed::{EmbedError, Embedder};
use super::layout::Layout;
use super::query::Query;
use super::record::{Standing, Voice};
use super::segment::Row;
use super::snapshot::Snapshot;
use super::thesaurus::Thesaurus;
use super::words;
use dense::Dense;
pub(super) use dense::similarities;
pub(super) use filter::allowed;
use lexical::Lexical;
use question::{Cue, Question};
pub(super) use question::{asks_about_past, question_terms};

/// What the signals of words and meaning are worth.
#[derive(Clone, Copy, Debug)]
struct Weights {
    row: f32,
    window: f32,
    unit: f32,
    similar_row: f32,
    similar_window: f32,
    similar_unit: f32,
    /// The record before asks.
    answer: f32,
    /// How much longer texts are held back.
    length_share: f32,
}

impl Weights {
    /// Of memories, of sessions, and of turns whose speakers are equals.
    const USUAL: Self = Self {
        row: 0.9,
        window: 1.1,
        unit: 0.7,
        similar_row: 0.2,
        similar_window: 0.4,
        similar_unit: 0.15,
        answer: 0.5,
        length_share: 0.4,
    };

    /// Of messages between a person and an agent, whose answers are long: the message itself counts more, and its
    /// length less.
    const MESSAGES: Self =
        Self { row: 1.2, similar_row: 0.6, answer: 0.0, length_share: 0.65, ..Self::USUAL };

    fn of(layout: &Layout, level: Level) -> Self {
        match level {
            Level::Records if layout.has_voices => Self::MESSAGES,
            Level::Records | Level::Units => Self::USUAL,
        }
    }
}

/// What each other signal is worth.
mod weight {
    pub(super) const SPEAKER: f32 = 0.5;
    pub(super) const PROJECT: f32 = 0.4;
    pub(super) const DATE: f32 = 0.4;
    pub(super) const CUE: f32 = 0.14;
    pub(super) const QUESTION: f32 = -0.04;
}

/// What a message of somebody else is worth beside the person's.
mod voice {
    pub(super) const ASSISTANT: f32 = 0.87;
    pub(super) const TOOL: f32 = 0.6;
}

/// A row that shares no word with the question must be at least this near in meaning.
pub(super) const MIN_SIMILARITY: f32 = 0.25;

/// What a search goes by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    #[default]
    Hybrid,
    Lexical,
    Semantic,
}

impl Mode {
    fn shares(self) -> (f32, f32) {
        match self {
            Self::Hybrid => (1.0, 1.0),
            Self::Lexical => (1.0, 0.0),
            Self::Semantic => (0.0, 1.0),
        }
    }
}

/// What is found: a record, or the unit that holds it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Level {
    #[default]
    Records,
    Units,
}

/// How to rank.
#[derive(Clone, Copy, Debug)]
pub(super) struct RankOptions {
    pub(super) mode: Mode,
    pub(super) level: Level,
    pub(super) limit: usize,
    pub(super) now_ms: i64,
}

/// A row and what it got.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Ranked {
    pub(super) row: usize,
    pub(super) score: f32,
    pub(super) lexical: f32,
    pub(super) similarity: f32,
    /// Terms of the question that the row holds.
    pub(super) terms: Vec<String>,
}

/// The best of the allowed rows for a question, best first.
pub(super) fn rank(
    snapshot: &Snapshot,
    query: &Query,
    allowed: &[bool],
    embedder: &dyn Embedder,
    options: &RankOptions,
) -> Result<Vec<Ranked>, EmbedError> {
    if query.is_filter_only() {
        return Ok(newest(snapshot, allowed, options.limit));
    }
    let layout = snapshot.layout();
    let question = Question::new(snapshot, query, Thesaurus::shipped(), options.now_ms);
    let weights = Weights::of(layout, options.level);
    let lexical = Lexical::new(snapshot, layout, &question.terms, weights.length_share);
    let vector = match options.mode {
        Mode::Lexical => Vec::new(),
        Mode::Hybrid | Mode::Semantic => embedder.embed(&[&query.text])?.pop().unwrap_or_default(),
    };
    let dense = Dense::new(snapshot, layout, &vector);
    let signals = Signals {
        snapshot,
        layout,
        question: &question,
        lexical: &lexical,
        dense: &dense,
        weights,
        level: options.level,
    };
    let scores = signals.scores(options.mode, allowed);
    let best = best_rows(layout, &scores, options);
    let ranked = best.into_iter().map(|row| Ranked {
        row,
        score: scores[row],
        lexical: lexical.row[row],
        similarity: dense.row[row].max(0.0),
        terms: lexical.terms_of(row).map(|idx| question.terms[idx].stem.clone()).collect(),
    });
    Ok(ranked.collect())
}

/// Without words the newest come first.
fn newest(snapshot: &Snapshot, allowed: &[bool], limit: usize) -> Vec<Ranked> {
    let mut rows: Vec<usize> = (0..allowed.len()).filter(|row| allowed[*row]).collect();
    rows.sort_by_key(|row| (std::cmp::Reverse(snapshot.row(*row).time_ms), *row));
    rows.truncate(limit);
    rows.into_iter().map(|row| Ranked { row, score: 1.0, ..Ranked::default() }).collect()
}

/// The rows with the highest scores; of a unit only its best row when units are asked for.
fn best_rows(layout: &Layout, scores: &[f32], options: &RankOptions) -> Vec<usize> {
    let mut rows: Vec<usize> =
        (0..scores.len()).filter(|row| scores[*row] > f32::NEG_INFINITY).collect();
    let by_score = |a: &usize, b: &usize| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b));
    // Units need some rows to spare, since their best rows may be few.
    let n_wanted = match options.level {
        Level::Records => options.limit,
        Level::Units => rows.len(),
    };
    if n_wanted < rows.len() {
        rows.select_nth_unstable_by(n_wanted, by_score);
        rows.truncate(n_wanted);
    }
    rows.sort_unstable_by(by_score);
    if options.level == Level::Units {
        let mut seen = HashSet::new();
        rows.retain(|row| seen.insert(layout.unit_of[*row]));
    }
    rows.truncate(options.limit);
    rows
}

/// Everything that speaks for or against a row.
struct Signals<'a> {
    snapshot: &'a Snapshot,
    layout: &'a Layout,
    question: &'a Question,
    lexical: &'a Lexical,
    dense: &'a Dense,
    weights: Weights,
    level: Level,
}

impl Signals<'_> {
    /// The score of every row; minus infinity for those that are not to be found.
    fn scores(&self, mode: Mode, allowed: &[bool]) -> Vec<f32> {
        let speaker = self.facet_rows("speaker", self.question.speaker.as_deref());
        let project = self.facet_rows("project", self.question.project.as_deref());
        let unproven = self.snapshot.unproven();
        let (words, meaning) = mode.shares();
        let score = |row: usize| {
            let is_near = self.dense.row[row] >= MIN_SIMILARITY;
            if !allowed[row] || !(is_near || (words > 0.0 && self.lexical.window(row) > 0.0)) {
                return f32::NEG_INFINITY;
            }
            let own = words * self.words(row) + meaning * self.dense.score(row, &self.weights);
            let named = weight::SPEAKER * holds(speaker.as_ref(), row)
                + weight::PROJECT * holds(project.as_ref(), row);
            let numbers = self.snapshot.row(row);
            let trust = trust(&numbers, unproven.contains(&row));
            (own + named + self.circumstances(&numbers)) * trust * self.voice(&numbers)
        };
        (0..allowed.len()).map(score).collect()
    }

    fn words(&self, row: usize) -> f32 {
        let lexical = self.lexical;
        let before = row.checked_sub(1).filter(|before| self.layout.are_together(*before, row));
        let told =
            before.map(|before| (before, lexical.plain(before))).filter(|(_, told)| *told > 0.0);
        let asked = told.filter(|(before, _)| self.snapshot.row(*before).traits.asks());
        self.weights.row * lexical.row[row]
            + self.weights.window * lexical.window(row)
            + self.weights.unit * lexical.unit(row)
            + self.weights.answer * asked.map_or(0.0, |(_, told)| told)
    }

    fn circumstances(&self, row: &Row) -> f32 {
        let cued = match self.question.cue {
            Cue::None => false,
            Cue::Time => row.traits.has_time(),
            Cue::Number => row.traits.has_number(),
        };
        weight::DATE * dates::fit(&self.question.ranges, row.time_ms)
            + weight::CUE * f32::from(u8::from(cued))
            + weight::QUESTION * f32::from(u8::from(row.traits.asks()))
    }

    /// What is said counts by who says it. Where units are asked for, one says as much as the other.
    fn voice(&self, row: &Row) -> f32 {
        match (self.level, row.voice) {
            (Level::Units, _) | (Level::Records, Voice::None | Voice::User) => 1.0,
            (Level::Records, Voice::Assistant) => voice::ASSISTANT,
            (Level::Records, Voice::Tool) => voice::TOOL,
        }
    }

    /// The rows that have the property that the question names.
    fn facet_rows(&self, name: &str, value: Option<&str>) -> Option<Vec<bool>> {
        let mut rows = vec![false; self.snapshot.n_rows()];
        for (row, _) in self.snapshot.postings(&words::facet(name, value?)) {
            rows[row] = true;
        }
        Some(rows)
    }
}

fn holds(rows: Option<&Vec<bool>>, row: usize) -> f32 {
    rows.map_or(0.0, |rows| f32::from(u8::from(rows[row])))
}

/// What is doubted, old or overturned stands back. A record that should have evidence and has none stands below an equal
/// one that has, however sure it says it is.
fn trust(row: &Row, is_unproven: bool) -> f32 {
    let standing = match row.standing {
        Standing::Active => 1.0,
        Standing::Candidate => 0.9,
        Standing::Stale => 0.7,
        Standing::Superseded | Standing::Archived => 0.5,
    };
    let least = if is_unproven { 0.89 } else { 0.95 };
    standing * (least + 0.05 * f32::from(row.confidence) / 255.0)
}
