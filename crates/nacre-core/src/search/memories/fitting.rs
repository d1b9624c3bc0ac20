//! How well memories fit a prompt, in numbers that mean the same in a store of ten memories and of ten thousand.
//!
//! A search answers a question: somebody wants the best there is. A prompt is no question to the memory: most of them have no
//! fitting one, and then nothing must be told. So what counts here is not the order alone but how much speaks for the best:
//! words that say something and stand in both, and the meaning, against what any prompt shares with any text.

use super::chores::CHORES;
use super::{MemoryIndex, SearchError, outline};
use crate::memory::{Located, Memory, MemoryType};
use crate::search::embed::{Builtin, Embedder as _};
use crate::search::index::IndexError;
use crate::search::rank::similarities;
use crate::search::record::Standing;
use crate::search::segment::Counts;
use crate::search::words;

/// A longer prompt is a document, and is compared by its beginning.
const MAX_PROMPT_BYTES: usize = 4000;

/// A prompt of more bytes is a text.
const LONG_BYTES: usize = 400;

/// Memories that are looked at more closely.
const MAX_FITS: usize = 12;

/// What a word is worth by where it stands in a memory: title and tags, text, evidence.
const FIELD_SHARES: [f32; 4] = [1.0, 1.0, 0.7, 0.5];

/// What a word is worth that stands in paths alone: they name places, not topics.
const PATH_SHARE: f32 = 0.45;

/// No word weighs more, however rare it is.
const MAX_WEIGHT: f32 = 3.5;

/// What meaning is worth beside words.
const MEANING: f32 = 10.0;

/// What speaks for one memory.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FitSignals {
    /// How near the meanings are, from -1 to 1.
    pub similarity: f32,
    /// What the words weigh that both have.
    pub words: f32,
    /// The three heaviest of them.
    pub heaviest: [f32; 3],
    /// The share of the prompt's weight that these words have, from 0 to 1.
    pub coverage: f32,
}

/// A memory that may fit.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit<'a> {
    row: usize,
    pub id: &'a str,
    pub signals: FitSignals,
    /// All of them as one number, to compare memories of one prompt.
    pub score: f32,
}

/// The memories that fit a prompt best, and what is known of the prompt itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fitting<'a> {
    /// Best first.
    pub fits: Vec<Fit<'a>>,
    /// How many different words say something.
    pub n_terms: usize,
    /// How near the prompt is to an order of every day, from -1 to 1.
    pub chore: f32,
    /// It is a text more than an order.
    pub is_long: bool,
}

/// A word of the prompt.
struct PromptTerm {
    stem: String,
    weight: f32,
}

impl MemoryIndex<'_> {
    /// The decisions and learnings that hold and fit a prompt best. `model` tells how much words say; it is the one that the
    /// index was made with, or meanings are not compared.
    pub fn fitting(&self, prompt: &str, model: &Builtin) -> Result<Fitting<'_>, SearchError> {
        let prompt = &prompt[..prompt.floor_char_boundary(MAX_PROMPT_BYTES)];
        let terms = self.prompt_terms(prompt, model);
        let is_comparable = self.snapshot.model() == model.model().as_str();
        let vector = vector(model, prompt)?;
        let meaning = if is_comparable { vector.as_slice() } else { &[] };
        let mut signals = self.word_signals(&terms);
        for (row, similarity) in similarities(&self.snapshot, meaning).into_iter().enumerate() {
            signals[row].similarity = similarity;
        }
        let mut fits: Vec<Fit<'_>> = (0..self.snapshot.n_rows())
            .filter(|row| self.is_claim_that_holds(*row))
            .map(|row| {
                let signals = signals[row];
                let score = signals.words + MEANING * signals.similarity.max(0.0);
                Fit { row, id: self.snapshot.key(row), signals, score }
            })
            .collect();
        fits.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.id.cmp(b.id)));
        // What came from elsewhere is never told unasked, so it must not take the place of what is.
        let fits = fits.into_iter().filter(|fit| self.store.may_know(fit.id)).take(MAX_FITS);
        let fits: Vec<Fit<'_>> = fits.collect();
        let (n_terms, is_long) = (terms.len(), prompt.len() > LONG_BYTES);
        Ok(Fitting { fits, n_terms, chore: nearest_chore(model, &vector)?, is_long })
    }

    /// Reads a memory that may fit, as it is now.
    pub fn read_fit(&self, fit: &Fit<'_>) -> Option<Memory> {
        let at = Located::from_path(self.snapshot.unit_key(fit.row))?;
        self.pages().reader.borrow_mut().read_leniently(&at)
    }

    fn is_claim_that_holds(&self, row: usize) -> bool {
        let memory_type = outline::type_of(self.snapshot.unit_key(row));
        let is_claim = matches!(memory_type, Some(MemoryType::Decision | MemoryType::Learning));
        is_claim
            && self.snapshot.is_live(row)
            && self.snapshot.row(row).standing == Standing::Active
    }

    /// The words of a prompt with what each weighs: by the language, and by how few memories have it.
    fn prompt_terms(&self, prompt: &str, model: &Builtin) -> Vec<PromptTerm> {
        let lengths = &self.snapshot.layout().rows;
        let rarest = lengths.rarity(1).max(f32::MIN_POSITIVE);
        let prose = words::terms(&without_paths(prompt));
        let weighed = words::terms_with_words(prompt).into_iter().map(|(stem, word)| {
            let n_holding = self.snapshot.n_holding(stem.as_bytes()).max(1) as usize;
            let rarity = (lengths.rarity(n_holding) / rarest).clamp(0.0, 1.0);
            let share = if prose.contains(&stem) { 1.0 } else { PATH_SHARE };
            PromptTerm { weight: share * rarity * model.weight(&word).min(MAX_WEIGHT), stem }
        });
        weighed.collect()
    }

    /// What the words of a prompt say for each row.
    fn word_signals(&self, terms: &[PromptTerm]) -> Vec<FitSignals> {
        let mut signals = vec![FitSignals::default(); self.snapshot.n_rows()];
        let total: f32 = terms.iter().map(|term| term.weight).sum();
        for term in terms {
            for (row, counts) in self.snapshot.postings(term.stem.as_bytes()) {
                let weight = term.weight * field_share(counts);
                signals[row].words += weight;
                signals[row].coverage += weight / total.max(f32::MIN_POSITIVE);
                note_heavy(&mut signals[row].heaviest, weight);
            }
        }
        signals
    }
}

fn vector(model: &Builtin, text: &str) -> Result<Vec<f32>, SearchError> {
    let made = model.embed(&[text]).map_err(IndexError::Embed)?;
    Ok(made.into_iter().next().unwrap_or_default())
}

/// How near a prompt is to the nearest of the orders of every day.
fn nearest_chore(model: &Builtin, prompt: &[f32]) -> Result<f32, SearchError> {
    let chores = model.embed(CHORES).map_err(IndexError::Embed)?;
    let near = chores.iter().map(|chore| prompt.iter().zip(chore).map(|(a, b)| a * b).sum::<f32>());
    Ok(near.fold(0.0, f32::max))
}

/// The share of the best field that a word stands in.
fn field_share(counts: Counts) -> f32 {
    let shares = counts.iter().zip(FIELD_SHARES).filter(|(count, _)| **count > 0);
    shares.map(|(_, share)| share).fold(0.0, f32::max)
}

/// Keeps the heaviest weights, heaviest first.
fn note_heavy(heaviest: &mut [f32; 3], weight: f32) {
    let Some(place) = heaviest.iter().position(|known| *known < weight) else { return };
    heaviest[place..].rotate_right(1);
    heaviest[place] = weight;
}

/// A prompt without its paths, addresses, names of files, and the frames of a stack.
fn without_paths(prompt: &str) -> String {
    let is_path = |word: &&str| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        let extension = word.rsplit_once('.').map_or("", |(_, extension)| extension);
        let has_extension =
            (1..=5).contains(&extension.len()) && extension.chars().all(char::is_alphanumeric);
        word.contains('/') || has_extension
    };
    let lines = prompt.lines().filter(|line| !is_frame(line.trim_start()));
    let kept: Vec<&str> =
        lines.flat_map(str::split_whitespace).filter(|word| !is_path(word)).collect();
    kept.join(" ")
}

/// Whether a line tells where a program was, as stacks are printed.
fn is_frame(line: &str) -> bool {
    const STARTS: [&str; 4] = ["at ", "File \"", "#", "Traceback"];
    let is_numbered = |rest: &str| rest.starts_with(|c: char| c.is_ascii_digit());
    STARTS.iter().any(|start| match (line.strip_prefix(start), *start) {
        (Some(rest), "#") => is_numbered(rest),
        (Some(rest), "at ") => rest.contains(['(', ':']),
        (found, _) => found.is_some(),
    })
}

/// What each signal is worth to the question whether to speak at all; fitted with the example `prompt_fit` on labelled prompts.
mod floor {
    pub(super) const SIMILARITY: f32 = 4.3;
    pub(super) const WORDS: f32 = 1.1;
    pub(super) const SECOND: f32 = 0.8;
    pub(super) const TERMS: f32 = 0.7;
    pub(super) const CHORE: f32 = -10.5;
    pub(super) const LONG: f32 = -4.0;
    pub(super) const BIAS: f32 = -2.25;
}

impl Fitting<'_> {
    /// Whether a memory fits so well that it may be told to somebody who did not ask for it.
    pub fn is_fit(&self, fit: &Fit<'_>) -> bool {
        self.evidence(fit) > 0.0
    }

    /// What speaks for it against what speaks for silence. One heavy word is a coincidence more often than two are, and a
    /// long text shares words with everything.
    fn evidence(&self, fit: &Fit<'_>) -> f32 {
        let FitSignals { similarity, words, heaviest, .. } = fit.signals;
        floor::SIMILARITY * similarity
            + floor::WORDS * words.sqrt()
            + floor::SECOND * heaviest[1]
            + floor::TERMS * (1.0 + self.n_terms as f32).ln()
            + floor::CHORE * self.chore
            + floor::LONG * f32::from(u8::from(self.is_long))
            + floor::BIAS
    }
}
