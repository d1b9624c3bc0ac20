//! How well memories fit a prompt, in numbers that mean the same in a store of ten memories and of ten thousand.
//!
//! A search answers a question: somebody wants the best there is. A prompt is no question to the memory: most of them have no
//! fitting one, and then nothing must be told. So what counts here is not the order alone but how much speaks for the best:
//! words that say something and stand in both, and the meaning, against what any prompt shares with any text.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::chores::CHORES;
use super::wording::Wording;
use super::{MemoryIndex, SearchError};
use crate::memory::{Located, Memory, MemoryType};
use crate::search::embed::{Builtin, Embedder as _};
use crate::search::held::HeldRow;
use crate::search::index::IndexError;
use crate::search::rank::similarities;
use crate::search::record::DESCRIBED;
use crate::search::segment::Counts;
use crate::search::words;

/// A longer prompt is a document, and is compared by its beginning.
const MAX_PROMPT_BYTES: usize = 4000;

/// Memories that are looked at more closely.
const MAX_FITS: usize = 12;

/// What a word is worth by where it stands in a memory: title and tags, text, evidence.
const FIELD_SHARES: [f32; 4] = [1.0, 1.0, 0.7, 0.5];

/// What a word is worth that stands in paths alone: they name places, not topics.
const PATH_SHARE: f32 = 0.45;

/// No word weighs more, however rare it is.
const MAX_WEIGHT: f32 = 3.5;

/// A word that the model does not know as a whole weighs at least this: most are names, such as `failwith` or `pgbouncer`.
const UNKNOWN_WEIGHT: f32 = 3.0;

/// Shorter unknown words are abbreviations of anything.
const MIN_UNKNOWN_BYTES: usize = 3;

/// A store of fewer memories is taken for one of this many: two memories do not tell which words are rare.
const MIN_TEXTS: usize = 30;

/// What meaning is worth beside words.
const MEANING: f32 = 10.0;

/// What speaks for one memory.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FitSignals {
    /// How near the meanings are, from -1 to 1.
    pub similarity: f32,
    /// What the words weigh that both have.
    pub words: f32,
    /// Whether it says in which situations it should be told. Its words then meet any prompt's more often.
    pub is_described: bool,
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

/// A row and its score; the greatest has the best.
#[derive(Clone, Copy)]
struct Scored {
    score: f32,
    row: usize,
}

impl Ord for Scored {
    fn cmp(&self, other: &Self) -> Ordering {
        self.score.total_cmp(&other.score)
    }
}

impl PartialOrd for Scored {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Scored {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Scored {}

/// The best first, and of those with one score the first by their ids. Only what is taken is put in order, and few are.
struct BestFirst<'a, F> {
    waiting: BinaryHeap<Scored>,
    fit: F,
    /// Those of one score, the last first.
    alike: Vec<Fit<'a>>,
}

impl<'a, F: Fn(Scored) -> Fit<'a>> Iterator for BestFirst<'a, F> {
    type Item = Fit<'a>;

    fn next(&mut self) -> Option<Fit<'a>> {
        if self.alike.is_empty() {
            let best = self.waiting.pop()?;
            self.alike.push((self.fit)(best));
            while let Some(other) = self.waiting.peek().copied().filter(|other| *other == best) {
                self.waiting.pop();
                self.alike.push((self.fit)(other));
            }
            self.alike.sort_unstable_by(|a, b| b.id.cmp(a.id));
        }
        self.alike.pop()
    }
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
    /// What its wording tells.
    pub wording: Wording,
    /// Whether meanings were compared; words alone decide otherwise.
    pub is_comparable: bool,
    /// How many memories may be told: the more, the more of them share a word with it by chance.
    pub n_memories: usize,
}

/// A word of the prompt.
struct PromptTerm {
    stem: String,
    weight: f32,
}

/// Memories with a word that are looked at, to tell how many of them may be told.
const MAX_HOLDING: usize = 1_000;

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
        for (row, _) in self.snapshot.postings(&words::facet(DESCRIBED, "")) {
            signals[row].is_described = true;
        }
        let knows_few = self.store.knows_few(self.held().len());
        let is_asked = |row: &usize| !knows_few || self.store.may_know(self.snapshot.key(*row));
        let scored = self.claims().filter(is_asked).map(|row| {
            let signals = signals[row];
            Scored { score: signals.words + MEANING * signals.similarity.max(0.0), row }
        });
        let waiting: BinaryHeap<Scored> = scored.collect();
        let fit = |Scored { score, row }| Fit {
            row,
            id: self.snapshot.key(row),
            signals: signals[row],
            score,
        };
        let best_first = BestFirst { waiting, fit, alike: Vec::new() };
        // What came from elsewhere is never told unasked, so it must not take the place of what is.
        let fits = best_first.filter(|fit| self.store.may_know(fit.id)).take(MAX_FITS);
        Ok(Fitting {
            fits: fits.collect(),
            n_terms: terms.len(),
            chore: nearest_chore(model, &vector)?,
            wording: Wording::of(prompt),
            is_comparable,
            n_memories: self.store.n_tellable(self.snapshot.layout().rows.n_counted),
        })
    }

    /// Reads a memory that may fit, as it is now.
    pub fn read_fit(&self, fit: &Fit<'_>) -> Option<Memory> {
        let at = Located::from_path(self.snapshot.unit_key(fit.row))?;
        self.pages().reader.borrow_mut().read_leniently(&at)
    }

    /// The rows of decisions and learnings that hold.
    fn claims(&self) -> impl Iterator<Item = usize> {
        let is_claim = |held: &&HeldRow| match held.memory_type {
            MemoryType::Decision | MemoryType::Learning => true,
            MemoryType::Summary => false,
        };
        self.held().iter().filter(is_claim).map(|held| held.row as usize)
    }

    /// The words of a prompt with what each weighs: by the language, and by how few memories have it.
    fn prompt_terms(&self, prompt: &str, model: &Builtin) -> Vec<PromptTerm> {
        let n_texts = self.store.n_tellable(self.snapshot.layout().rows.n_counted);
        let prose = words::terms(&without_paths(prompt));
        let weighed = words::terms_with_words(prompt).into_iter().map(|(stem, word)| {
            let rarity = rarity(n_texts, self.n_tellable_holding(stem.as_bytes(), n_texts).max(1));
            let share = if prose.contains(&stem) { 1.0 } else { PATH_SHARE };
            PromptTerm { weight: share * rarity * word_weight(model, &word), stem }
        });
        weighed.collect()
    }

    /// How many of the memories that may be told have a word: those from elsewhere must not make it look common. Where many have it,
    /// the first of them stand for all.
    fn n_tellable_holding(&self, stem: &[u8], n_texts: usize) -> usize {
        let n_holding = self.snapshot.n_holding(stem) as usize;
        if n_texts == self.snapshot.layout().rows.n_counted {
            return n_holding;
        }
        let looked_at = self.snapshot.postings(stem).take(MAX_HOLDING);
        let is_tellable = |(row, _): &(usize, Counts)| self.store.may_know(self.snapshot.key(*row));
        let (n_tellable, n_looked) = looked_at.fold((0, 0), |(n_tellable, n_looked), held| {
            (n_tellable + usize::from(is_tellable(&held)), n_looked + 1)
        });
        n_holding * n_tellable / n_looked.max(1)
    }

    /// What the words of a prompt say for each row.
    fn word_signals(&self, terms: &[PromptTerm]) -> Vec<FitSignals> {
        let mut signals = vec![FitSignals::default(); self.snapshot.n_rows()];
        for term in terms {
            for (row, counts) in self.snapshot.postings(term.stem.as_bytes()) {
                signals[row].words += term.weight * field_share(counts);
            }
        }
        signals
    }
}

fn vector(model: &Builtin, text: &str) -> Result<Vec<f32>, SearchError> {
    let made = model.embed(&[text]).map_err(IndexError::Embed)?;
    Ok(made.into_iter().next().unwrap_or_default())
}

/// How rare a word is that so many of the texts have: from 0 to 1, which is a word that one has.
fn rarity(n_texts: usize, n_holding: usize) -> f32 {
    let n_texts = n_texts.max(MIN_TEXTS) as f32;
    let inverse = |n: f32| (1.0 + (n_texts - n + 0.5).max(0.0) / (n + 0.5)).ln();
    (inverse(n_holding as f32) / inverse(1.0)).clamp(0.0, 1.0)
}

/// How much a word says by the language, whatever the store.
fn word_weight(model: &Builtin, word: &str) -> f32 {
    let weight = model.weight(word).min(MAX_WEIGHT);
    let may_be_name = word.len() >= MIN_UNKNOWN_BYTES && word.contains(char::is_alphabetic);
    match may_be_name && !model.knows(word) {
        true => weight.max(UNKNOWN_WEIGHT),
        false => weight,
    }
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

/// No larger store was measured: it counts as one of this size.
const MAX_MEASURED: usize = 560;

/// What each signal is worth to the question whether to speak at all: a logistic regression, fitted by `tools/fit-prompts.py` on
/// labelled prompts. `docs/hooks.md` has what it gave on projects that it was not fitted on.
mod floor {
    pub(super) const SIMILARITY: f32 = 11.89;
    pub(super) const WORDS: f32 = 2.40;
    pub(super) const CHORE: f32 = -2.21;
    pub(super) const LENGTH: f32 = 1.77;
    pub(super) const EXCESS: f32 = -2.84;
    pub(super) const TIDYING: f32 = -0.23;
    pub(super) const SURROUNDINGS: f32 = -0.64;
    pub(super) const STORE: f32 = -0.20;
    pub(super) const DESCRIBED: f32 = -0.40;
    pub(super) const BIAS: f32 = -13.07;
}

/// From so many terms on a prompt tells enough of itself, and from so many it is a text that shares words with everything.
const FEW_TERMS: f32 = 3.0;
const MANY_TERMS: f32 = 11.0;

/// What similarity counts as where meanings cannot be compared: that of an average prompt and its best memory.
const USUAL_SIMILARITY: f32 = 0.35;

impl Fitting<'_> {
    /// Whether a memory fits so well that it may be told to somebody who did not ask for it.
    pub fn is_fit(&self, fit: &Fit<'_>) -> bool {
        self.evidence(fit) > 0.0
    }

    /// What speaks for it against what speaks for silence, as log odds.
    fn evidence(&self, fit: &Fit<'_>) -> f32 {
        let FitSignals { similarity, words, is_described } = fit.signals;
        let Wording { tidying, surroundings, phrasing } = self.wording;
        let similarity = if self.is_comparable { similarity } else { USUAL_SIMILARITY };
        let length = (self.n_terms as f32).ln_1p();
        let (few, many) = (FEW_TERMS.ln_1p(), MANY_TERMS.ln_1p());
        floor::SIMILARITY * similarity
            + floor::WORDS * words.sqrt()
            + floor::CHORE * self.chore
            + floor::LENGTH * length.clamp(few, many)
            + floor::EXCESS * (length - many).max(0.0)
            + floor::TIDYING * tidying
            + floor::SURROUNDINGS * surroundings
            + phrasing
            + floor::STORE * (self.n_memories.clamp(1, MAX_MEASURED) as f32).ln()
            + if is_described { floor::DESCRIBED } else { 0.0 }
            + floor::BIAS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fit(similarity: f32, words: f32) -> Fit<'static> {
        Fit {
            row: 0,
            id: "",
            signals: FitSignals { similarity, words, is_described: false },
            score: 0.0,
        }
    }

    fn fitting(n_terms: usize, n_memories: usize) -> Fitting<'static> {
        Fitting { n_terms, n_memories, is_comparable: true, ..Fitting::default() }
    }

    #[test]
    fn a_name_that_the_model_does_not_know_weighs_as_a_rare_word() {
        let model = Builtin::shipped().unwrap();
        for word in ["failwith", "tokio", "exfat", "int_bookings__current"] {
            assert!(!model.knows(word), "{word}");
            let weight = word_weight(&model, word);
            assert!((UNKNOWN_WEIGHT..=MAX_WEIGHT).contains(&weight), "{word}: {weight}");
        }
        assert!(model.knows("use") && word_weight(&model, "use") < 1.5);
        assert_eq!(word_weight(&model, "zq"), model.weight("zq").min(MAX_WEIGHT));
        assert_eq!(word_weight(&model, "90210"), model.weight("90210").min(MAX_WEIGHT));
    }

    #[test]
    fn a_small_store_does_not_tell_which_words_are_rare() {
        assert!(rarity(2, 2) > 0.7, "both memories of a new store have it");
        assert!(rarity(1000, 1000) < 0.01 && rarity(1000, 500) < 0.2);
        for n_texts in [0, 1, 30, 10_000] {
            assert_eq!(rarity(n_texts, 1), 1.0);
        }
    }

    #[test]
    fn shared_words_and_meaning_speak_for_a_memory() {
        let prompt = fitting(8, 30);
        assert!(!prompt.is_fit(&fit(0.2, 1.0)));
        assert!(prompt.is_fit(&fit(0.6, 9.0)));
        assert!(prompt.evidence(&fit(0.5, 4.0)) < prompt.evidence(&fit(0.6, 4.0)));
        assert!(prompt.evidence(&fit(0.5, 4.0)) < prompt.evidence(&fit(0.5, 5.0)));
    }

    #[test]
    fn a_longer_text_and_a_larger_store_need_more() {
        let fit = fit(0.5, 6.0);
        let evidence = |n_terms, n_memories| fitting(n_terms, n_memories).evidence(&fit);
        assert!(evidence(60, 30) < evidence(12, 30));
        assert!(evidence(12, 10_000) < evidence(12, 30));
        assert_eq!(evidence(0, 0), evidence(1, 1));
    }

    #[test]
    fn a_memory_that_says_when_it_applies_needs_more() {
        let (bare, prompt) = (fit(0.5, 6.0), fitting(8, 30));
        let described = FitSignals { is_described: true, ..bare.signals };
        let described = Fit { signals: described, ..bare.clone() };
        assert!(prompt.evidence(&described) < prompt.evidence(&bare));
    }

    #[test]
    fn an_order_of_every_day_needs_more() {
        let fit = fit(0.5, 6.0);
        let plain = fitting(8, 30);
        let chore = Fitting { chore: 0.9, ..plain.clone() };
        let tidying = Fitting { wording: Wording::of("rename typo"), ..plain.clone() };
        assert!(chore.evidence(&fit) < plain.evidence(&fit));
        assert!(tidying.evidence(&fit) < plain.evidence(&fit));
    }

    #[test]
    fn words_decide_where_meanings_cannot_be_compared() {
        let prompt = Fitting { is_comparable: false, ..fitting(8, 30) };
        assert_eq!(prompt.evidence(&fit(0.0, 9.0)), prompt.evidence(&fit(0.9, 9.0)));
        assert!(prompt.is_fit(&fit(0.0, 16.0)) && !prompt.is_fit(&fit(0.0, 1.0)));
    }
}
