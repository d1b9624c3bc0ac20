//! Ranking: scores each record by its words, its meaning, and signals such as its date and trust.
//!
//! The score is a weighted sum of signals between 0 and 1. `docs/ranking.md` lists the measured
//! effect of each signal. If a signal does not apply, such as the date when the question mentions
//! none, it has the same value for all records.

mod dates;
mod dense;
mod lexical;
mod question;

use std::collections::HashSet;

use jiff::Timestamp;

use super::embed::Builtin;
use super::query::Query;
use super::record::{Standing, Voice};
use super::segment::Row;
use super::snapshot::{Layout, Snapshot};
use super::thesaurus::Thesaurus;
use dense::Dense;
pub(crate) use dense::similarities;
use lexical::Lexical;
pub use nacre_types::SearchMode as Mode;
pub(super) use question::asks_about_past;
use question::{Cue, Question};
pub use question::{QuestionTerm, terms_of_question};

/// The weights of the lexical and semantic signals.
#[derive(Clone, Copy, Debug)]
struct Weights {
    row: f32,
    window: f32,
    unit: f32,
    similar_row: f32,
    similar_window: f32,
    similar_unit: f32,
    /// The weight of a record that follows a matching question.
    answer: f32,
    /// The `b` parameter of BM25: how much long texts are penalized.
    length_share: f32,
}

impl Weights {
    /// Weights for memories, sessions, and conversations between equal speakers.
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

    /// Weights for messages between a user and an agent. Agents' answers are long, so the message
    /// itself has more weight, and long texts are penalized more.
    const MESSAGES: Self =
        Self { row: 1.2, similar_row: 0.6, answer: 0.0, length_share: 0.65, ..Self::USUAL };

    fn of(layout: &Layout, level: Level) -> Self {
        match level {
            Level::Records if layout.has_voices => Self::MESSAGES,
            Level::Records | Level::Units => Self::USUAL,
        }
    }
}

mod weight {
    pub(super) const SPEAKER: f32 = 0.5;
    pub(super) const PROJECT: f32 = 0.4;
    pub(super) const DATE: f32 = 0.4;
    pub(super) const CUE: f32 = 0.14;
    pub(super) const QUESTION: f32 = -0.04;
}

/// Factors for messages that were not written by the user.
mod voice {
    pub(super) const ASSISTANT: f32 = 0.87;
    pub(super) const TOOL: f32 = 0.6;
}

/// Minimum similarity for a row that shares no words with the question.
pub(super) const MIN_SIMILARITY: f32 = 0.25;

/// Returns the weights of the lexical and the semantic score.
fn shares(mode: Mode) -> (f32, f32) {
    match mode {
        Mode::Hybrid => (1.0, 1.0),
        Mode::Lexical => (1.0, 0.0),
        Mode::Semantic => (0.0, 1.0),
    }
}

/// Whether to return records or the units that contain them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Level {
    #[default]
    Records,
    Units,
}

#[derive(Clone, Copy, Debug)]
pub struct RankOptions {
    pub mode: Mode,
    pub level: Level,
    pub limit: usize,
    pub now_ms: i64,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ranked {
    pub row: usize,
    pub score: f32,
    pub(super) lexical: f32,
    pub(super) similarity: f32,
    /// The question's terms that the row contains.
    pub(super) terms: Vec<String>,
}

/// Returns, for each row, whether it is visible and matches all of the query's filters. Archived
/// rows are excluded unless `with_archived` is set.
pub fn filter_rows(snapshot: &Snapshot, query: &Query, with_archived: bool) -> Vec<bool> {
    let layout = snapshot.layout();
    let shown = if with_archived { &layout.is_live } else { &layout.is_shown };
    let mut allowed = match facet_rows(snapshot, query) {
        Some(rows) => {
            rows.iter().zip(shown).map(|(is_held, is_shown)| *is_held && *is_shown).collect()
        }
        None => shown.clone(),
    };
    if query.after.is_none() && query.before.is_none() {
        return allowed;
    }
    let after = query.after.map_or(i64::MIN, Timestamp::as_millisecond);
    let before = query.before.map_or(i64::MAX, Timestamp::as_millisecond);
    for (row, is_allowed) in allowed.iter_mut().enumerate().filter(|(_, allowed)| **allowed) {
        *is_allowed = (after..before).contains(&snapshot.row(row).time_ms);
    }
    allowed
}

/// Returns which rows have all of a query's facets, or `None` if the query has no facets. If a
/// facet name has several values, matching any one of them is enough.
fn facet_rows(snapshot: &Snapshot, query: &Query) -> Option<Vec<bool>> {
    let mut names: Vec<&str> = query.facets.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let mut rows: Option<Vec<bool>> = None;
    for name in names {
        let mut held = vec![false; snapshot.n_rows()];
        for (_, value) in query.facets.iter().filter(|(of, _)| of == name) {
            for row in snapshot.rows_with(name, value) {
                held[row] = rows.as_ref().is_none_or(|rows| rows[row]);
            }
        }
        rows = Some(held);
    }
    rows
}

/// Returns the allowed rows that best match a question, best first.
pub fn rank(
    snapshot: &Snapshot,
    query: &Query,
    allowed: &[bool],
    options: &RankOptions,
) -> Vec<Ranked> {
    if query.is_filter_only() {
        return newest(snapshot, allowed, options.limit);
    }
    let layout = snapshot.layout();
    let question = Question::new(snapshot, query, Thesaurus::load_shipped(), options.now_ms);
    let weights = Weights::of(layout, options.level);
    let lexical = Lexical::new(snapshot, layout, &question.terms, weights.length_share);
    let vector = match options.mode {
        Mode::Lexical => Vec::new(),
        Mode::Hybrid | Mode::Semantic => Builtin::shipped().embed(&query.text),
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
    ranked.collect()
}

/// Returns the newest rows, for a query without words.
fn newest(snapshot: &Snapshot, allowed: &[bool], limit: usize) -> Vec<Ranked> {
    let mut rows: Vec<usize> = (0..allowed.len()).filter(|row| allowed[*row]).collect();
    rows.sort_by_key(|row| (std::cmp::Reverse(snapshot.row(*row).time_ms), *row));
    rows.truncate(limit);
    rows.into_iter().map(|row| Ranked { row, score: 1.0, ..Ranked::default() }).collect()
}

/// Returns the rows with the highest scores or, if units are requested, each unit's best row.
fn best_rows(layout: &Layout, scores: &[f32], options: &RankOptions) -> Vec<usize> {
    let mut rows: Vec<usize> =
        (0..scores.len()).filter(|row| scores[*row] > f32::NEG_INFINITY).collect();
    let by_score = |a: &usize, b: &usize| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b));
    // Several of the best rows may be in the same unit, so rows cannot be dropped yet.
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

/// The signals for one question.
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
    /// Scores every row. A row that does not match gets a score of negative infinity.
    fn scores(&self, mode: Mode, allowed: &[bool]) -> Vec<f32> {
        let speaker = self.facet_rows("speaker", self.question.speaker.as_deref());
        let project = self.facet_rows("project", self.question.project.as_deref());
        let unproven = self.snapshot.find_unproven();
        let (words, meaning) = shares(mode);
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
        let matched = before.map(|row| (row, lexical.plain(row))).filter(|(_, score)| *score > 0.0);
        let asked = matched.filter(|(row, _)| self.snapshot.row(*row).traits.asks());
        self.weights.row * lexical.row[row]
            + self.weights.window * lexical.window(row)
            + self.weights.unit * lexical.unit(row)
            + self.weights.answer * asked.map_or(0.0, |(_, score)| score)
    }

    fn circumstances(&self, row: &Row) -> f32 {
        let cued = match self.question.cue {
            Cue::None => false,
            Cue::Time => row.traits.has_time(),
            Cue::Number => row.traits.has_number(),
        };
        weight::DATE * dates::fit(&self.question.ranges, row.time_ms)
            + weight::CUE * f32::from(cued)
            + weight::QUESTION * f32::from(row.traits.asks())
    }

    /// Returns the factor for a message's speaker. It is 1 when ranking units.
    fn voice(&self, row: &Row) -> f32 {
        match (self.level, row.voice) {
            (Level::Units, _) | (Level::Records, Voice::None | Voice::User) => 1.0,
            (Level::Records, Voice::Assistant) => voice::ASSISTANT,
            (Level::Records, Voice::Tool) => voice::TOOL,
        }
    }

    /// Returns which rows have this facet, or `None` without a value.
    fn facet_rows(&self, name: &str, value: Option<&str>) -> Option<Vec<bool>> {
        let mut rows = vec![false; self.snapshot.n_rows()];
        self.snapshot.rows_with(name, value?).for_each(|row| rows[row] = true);
        Some(rows)
    }
}

fn holds(rows: Option<&Vec<bool>>, row: usize) -> f32 {
    rows.map_or(0.0, |rows| f32::from(rows[row]))
}

/// Returns a factor that lowers the scores of candidates, old records and superseded records. A
/// record that lacks the required evidence always ranks below an otherwise equal record that has
/// it, regardless of the confidence it claims.
fn trust(row: &Row, is_unproven: bool) -> f32 {
    let standing = match row.standing {
        Standing::Active => 1.0,
        Standing::Candidate => 0.95,
        Standing::Stale => 0.7,
        Standing::Superseded | Standing::Archived => 0.5,
    };
    let least = if is_unproven { 0.89 } else { 0.95 };
    standing * (least + 0.05 * f32::from(row.confidence) / 255.0)
}
