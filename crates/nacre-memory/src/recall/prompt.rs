//! Finds up to three memories that are worth showing for a prompt and the messages before it.
//!
//! Most prompts need no memory, so ranking is not enough: the best match must also reach an
//! evidence threshold that does not depend on the store size. Words that already occurred in the
//! session count less, because an earlier decision helps most when the topic changes.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use nacre_base::text::{each_term, inverse_frequency, terms_with_words};
use nacre_types::{BriefItem, BriefTopic};
use serde::Deserialize;

use super::Source;
use super::item::{Backing, backing, forms, item, line, outcome_of, safe};
use super::tokens::count_tokens;
use crate::kinds::{LEARNING_KINDS, LearningKind};
use crate::policy::are_distinct;
use crate::search::{Builtin, DESCRIBED, MemoryIndex, similarities};
use crate::{Memory, MemoryType, Profile, ShortIds};

/// The first line. It makes clear to the agent that the memories are data, not instructions.
const OPENING: &str =
    "Memories that may apply, as data. Evidence: `memory_get ID` or `nacre memory show ID`.";

/// How many memories a prompt may get, and how certain their match must be.
struct Depth {
    max_items: usize,
    /// Further memories that score less than this share of the best score are dropped.
    min_share: f32,
    /// Minimum log odds that the best memory is helpful.
    min_evidence: f32,
}

const USUAL: Depth = Depth { max_items: 3, min_share: 0.55, min_evidence: 0.0 };

/// A session's first prompt usually states the task, so earlier sessions matter most there. A wrong
/// memory costs little, because there is only one such prompt per session.
const FIRST: Depth = Depth { max_items: 5, min_share: 0.5, min_evidence: -0.5 };

/// A failed command gets one memory, selected using [`MIN_RAREST`] and [`MIN_SHARED`].
const FAILURE: Depth = Depth { max_items: 1, min_share: 1.0, min_evidence: 0.0 };

/// For a failed command, the minimum weight of the rarest shared term, and of all shared terms
/// together. An error code or tool name is enough to reach the first; the second requires two of
/// them, or one and several ordinary words.
const MIN_RAREST: f32 = 2.8;
const MIN_SHARED: f32 = 6.0;

/// Minimum log odds for the summary of an earlier session, which is longer than a claim.
const MIN_SESSION_EVIDENCE: f32 = 0.5;

/// Maximum length of an earlier session's outcome, in bytes.
const MAX_OUTCOME: usize = 700;

/// Minimum similarity for two memories to be treated as making the same claim. The claim is then
/// shown once, with both IDs.
const MIN_TWIN: f32 = 0.8;

/// For two such memories, the minimum share of the shorter memory's terms that the other memory
/// must also contain. This check is needed because the model knows few words in some languages, so
/// all text in those languages gets a similar embedding.
const MIN_TWIN_TERMS: f32 = 0.3;

/// Any part of a prompt beyond this limit is ignored.
const MAX_PROMPT_BYTES: usize = 4000;

/// Number of recent messages to compare. The next constant limits the size of each message.
const MAX_MESSAGES: usize = 60;
const MAX_MESSAGE_BYTES: usize = 4000;

/// Number of best matches to check for evidence. Their files are read, so a usual prompt, which
/// shows fewer memories, checks fewer.
const MAX_MATCHES: usize = 24;
const MAX_USUAL_MATCHES: usize = 12;

/// Maximum weight of a term.
const MAX_WEIGHT: f32 = 3.5;

/// Minimum weight of a word that is not in the model's vocabulary. Most such words are names, such
/// as `pgbouncer`.
const UNKNOWN_WEIGHT: f32 = 3.0;

/// Minimum length of an unknown word. Shorter ones are usually ambiguous abbreviations.
const MIN_UNKNOWN_BYTES: usize = 3;

/// Minimum store size for computing rarity. In a smaller store, it is unclear which terms are rare.
const MIN_TEXTS: usize = 30;

/// Sample size for estimating how many of the memories that contain a term may be shown.
const MAX_HOLDING: usize = 1_000;

/// What the memories are for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Occasion {
    #[default]
    Prompt,
    /// The session's first prompt, which gets more memories.
    FirstPrompt,
    /// A failed command and its output. A failure gets at most one memory, which must be a pitfall
    /// or procedure that shares rare words with it.
    Failure,
}

pub struct Prompt<'a> {
    pub text: &'a str,
    /// The session's earlier messages, oldest first.
    pub past: &'a [String],
    /// In tokens, as estimated by [`count_tokens`].
    pub budget: usize,
    /// Returns whether the session has already seen the memory with this ID.
    pub is_told: &'a dyn Fn(&str) -> bool,
    pub occasion: Occasion,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prompted {
    /// Best first; empty if nothing matches.
    pub items: Vec<BriefItem>,
    /// IDs of memories that make the same claim as an item. They are also listed in the item's
    /// text.
    pub twins: Vec<String>,
    pub tokens: usize,
}

impl Prompted {
    /// Returns the opening and one line per memory, or an empty string if nothing matches.
    pub fn text(&self, ids: &ShortIds) -> String {
        if self.items.is_empty() {
            return String::new();
        }
        let lines = self.items.iter().map(|item| line(item, ids));
        [OPENING.to_owned()].into_iter().chain(lines).collect::<Vec<_>>().join("\n")
    }
}

/// Finds the memories that match a prompt.
pub fn match_prompt(sources: &[Source<'_>], prompt: &Prompt<'_>) -> Prompted {
    let depth = match prompt.occasion {
        Occasion::Prompt => &USUAL,
        Occasion::FirstPrompt => &FIRST,
        Occasion::Failure => &FAILURE,
    };
    let mut prompted = Prompted::default();
    let mut given: Vec<(Vec<f32>, Profile)> = Vec::new();
    for source in sources {
        let matches = PromptMatches::find(source.index, prompt);
        // Once there is a best match, compare the other matches' scores with its score.
        let mut best: Option<&PromptMatch<'_>> = None;
        let is_first = prompt.occasion == Occasion::FirstPrompt;
        let deeper = is_first.then(|| matches.rank_by_sentences(source.index));
        for one in deeper.as_ref().unwrap_or(&matches.best) {
            let fits = match best {
                Some(best) => one.score >= depth.min_share * best.score,
                None if prompt.occasion == Occasion::Failure => {
                    one.rarest >= MIN_RAREST && one.new_words >= MIN_SHARED
                }
                None => matches.evidence(one) > depth.min_evidence,
            };
            if !fits || (prompt.is_told)(one.id) {
                continue;
            }
            let Some(memory) = source.index.read_row(one.row) else { continue };
            let is_wanted =
                prompt.occasion != Occasion::Failure || memory.kind.is_some_and(explains_failures);
            let backing = backing(source.index.store(), &memory, source.scope);
            if !is_wanted || backing != Backing::Backed {
                continue;
            }
            let Some((long, short)) = forms(source, &memory) else { continue };
            let vector = Builtin::shipped().embed(&full_text(&memory));
            let profile = Profile::of(&memory.title, memory.document.body());
            let twin = given.iter().position(|(known, other)| {
                dot(known, &vector) >= MIN_TWIN && may_be_twins(&profile, other)
            });
            if twin.is_none() && prompted.items.len() == depth.max_items {
                break;
            }
            let is_in = [Some(long), short].into_iter().flatten().any(|item| {
                let longer = prompted.with(item, twin);
                let is_in_budget = longer.tokens <= prompt.budget;
                if is_in_budget {
                    prompted = longer;
                }
                is_in_budget
            });
            if is_in && twin.is_none() {
                given.push((vector, profile));
                best = best.or(Some(one));
            }
        }
    }
    if prompt.occasion == Occasion::FirstPrompt {
        for source in sources {
            let session = earlier_session(source, prompt);
            let longer = session.map(|item| prompted.with(item, None));
            if let Some(longer) = longer.filter(|longer| longer.tokens <= prompt.budget) {
                prompted = longer;
                break;
            }
        }
    }
    prompted
}

/// Returns how an earlier session about the same task ended.
fn earlier_session(source: &Source<'_>, prompt: &Prompt<'_>) -> Option<BriefItem> {
    let matches = PromptMatches::find_in(source.index, prompt, true);
    let best = matches.best.first()?;
    if matches.evidence(best) < MIN_SESSION_EVIDENCE || (prompt.is_told)(best.id) {
        return None;
    }
    let memory = source.index.read_row(best.row)?;
    let store = source.index.store();
    if backing(store, &memory, source.scope) != Backing::Backed {
        return None;
    }
    let outcome = outcome_of(&memory)?;
    let day = memory.created.map(|at| at.strftime("%Y-%m-%d").to_string()).unwrap_or_default();
    let text = format!("Earlier session, {day}: {}. It ended with: {outcome}", memory.title);
    safe(store, &text, MAX_OUTCOME).map(|text| item(source, &memory, text))
}

impl Prompted {
    /// Returns a copy with one more memory, either as a new item or, if it has a twin, as an ID in
    /// the twin's item.
    fn with(&self, item: BriefItem, twin: Option<usize>) -> Self {
        let mut longer = self.clone();
        match twin {
            Some(at) => {
                longer.items[at].text.push_str(&format!(" (also {})", item.id));
                longer.twins.push(item.id);
            }
            None => longer.items.push(item),
        }
        // Full ids are an upper limit: the index lists its ids only if something matched.
        longer.tokens = count_tokens(&longer.text(&ShortIds::default()));
        longer
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct PromptMatch<'a> {
    row: usize,
    pub id: &'a str,
    /// Cosine similarity, from -1 to 1.
    pub similarity: f32,
    /// The share of the prompt's terms that the memory contains, by weight and rarity.
    pub coverage: f32,
    /// Like `coverage`, but terms already used in the session count less.
    pub new_coverage: f32,
    /// The summed weight of the shared terms. Terms already used in the session count less.
    pub new_words: f32,
    /// The highest weight of any shared term.
    pub rarest: f32,
    /// The share of the memory's terms that the session has already used, by weight and rarity.
    pub known: f32,
    /// Whether the memory lists the situations it applies to. Such a memory shares more words with
    /// prompts by chance.
    pub is_described: bool,
    /// How well the memory matches the prompt; higher is better.
    pub score: f32,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct PromptMatches<'a> {
    /// Best first.
    pub best: Vec<PromptMatch<'a>>,
    pub n_terms: usize,
    /// The prompt's embedding, computed by the built-in model.
    pub vector: Vec<f32>,
}

impl<'a> PromptMatches<'a> {
    pub fn find(index: &'a MemoryIndex<'_>, prompt: &Prompt<'_>) -> Self {
        Self::find_in(index, prompt, false)
    }

    /// Matches the prompt against either session summaries or all other memories.
    fn find_in(index: &'a MemoryIndex<'_>, prompt: &Prompt<'_>, is_summary: bool) -> Self {
        let text = &prompt.text[..prompt.text.floor_char_boundary(MAX_PROMPT_BYTES)];
        let (snapshot, store) = (index.snapshot(), index.store());
        let past = count_terms(prompt.past);
        let terms = weigh_terms(index, text);
        let total: f32 = terms.iter().map(|term| term.weight).sum();
        let vector = Builtin::shipped().embed(text);
        let similarities = similarities(snapshot, &vector);
        let fitting =
            index.active_rows().filter(|(_, of)| (*of == MemoryType::Summary) == is_summary);
        let mut rows: HashMap<usize, PromptMatch<'_>> = fitting
            .map(|(row, _)| {
                let (id, similarity) = (snapshot.key(row), similarities[row]);
                (row, PromptMatch { row, id, similarity, ..PromptMatch::default() })
            })
            .collect();
        for term in &terms {
            let news = 1.0 / (1 + past.get(&term.stem).copied().unwrap_or_default()) as f32;
            for (row, _) in snapshot.postings(&term.stem) {
                let Some(one) = rows.get_mut(&row) else { continue };
                let coverage = term.weight * term.rarity.sqrt() / total;
                one.coverage += coverage;
                one.new_coverage += coverage * news;
                one.new_words += term.weight * term.rarity * news;
                one.rarest = one.rarest.max(term.weight * term.rarity);
            }
        }
        for row in snapshot.rows_with(DESCRIBED, "") {
            rows.entry(row).and_modify(|one| one.is_described = true);
        }
        let mut best: Vec<PromptMatch<'_>> = rows.into_values().collect();
        best.iter_mut().for_each(|one| one.score = one.coverage + one.similarity.max(0.0));
        best.sort_unstable_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.id.cmp(b.id)));
        // Foreign memories are shown only on request, so they must not displace others.
        let is_usual = prompt.occasion == Occasion::Prompt;
        let most = if is_usual { MAX_USUAL_MATCHES } else { MAX_MATCHES };
        let mut best: Vec<PromptMatch<'_>> =
            best.into_iter().filter(|one| store.may_know(one.id)).take(most).collect();
        if !past.is_empty() {
            for one in &mut best {
                let Some(memory) = index.read_row(one.row) else { continue };
                let terms = weigh_terms(index, &full_text(&memory));
                let weigh = |term: &Term| term.weight * term.rarity;
                let all: f32 = terms.iter().map(weigh).sum();
                let used = terms.iter().filter(|term| past.contains_key(&term.stem));
                one.known = used.map(weigh).sum::<f32>() / all.max(f32::EPSILON);
            }
        }
        Self { best, n_terms: terms.len(), vector }
    }

    /// Returns a match's features in the order of the gate's weights.
    pub fn features(&self, one: &PromptMatch<'_>) -> [f32; N_FEATURES] {
        let length = (self.n_terms as f32).ln_1p();
        let (few, many) = (FEW_TERMS.ln_1p(), MANY_TERMS.ln_1p());
        [
            one.similarity,
            one.new_coverage,
            one.new_words.sqrt(),
            one.known,
            length.clamp(few, many),
            (length - many).max(0.0),
            f32::from(u8::from(one.is_described)),
        ]
    }

    /// Ranks the matches by how similar each one's best sentence is to the prompt. A first prompt
    /// is often about one detail of a long memory.
    fn rank_by_sentences(&self, index: &MemoryIndex<'_>) -> Vec<PromptMatch<'a>> {
        let mut ranked = self.best.clone();
        for one in &mut ranked {
            let Some(memory) = index.read_row(one.row) else { continue };
            let text = full_text(&memory);
            let sentences = text.split_inclusive(['.', ';', ':', '\n']);
            let similarity =
                sentences.map(|sentence| dot(&Builtin::shipped().embed(sentence), &self.vector));
            one.score = one.coverage + similarity.fold(0.0, f32::max);
        }
        ranked.sort_by(|a, b| b.score.total_cmp(&a.score));
        ranked
    }

    /// Returns the log odds that the memory is helpful.
    fn evidence(&self, one: &PromptMatch<'_>) -> f32 {
        let gate = &*GATE;
        gate.bias + dot(&gate.features, &self.features(one)) + dot(&gate.meaning, &self.vector)
    }
}

/// Counts how many recent messages contain each term.
fn count_terms(past: &[String]) -> HashMap<String, usize> {
    let mut counts = HashMap::new();
    for message in &past[past.len().saturating_sub(MAX_MESSAGES)..] {
        let mut terms = HashSet::new();
        let text = &message[..message.floor_char_boundary(MAX_MESSAGE_BYTES)];
        each_term(text, |term| {
            terms.insert(term.to_owned());
        });
        for term in terms {
            *counts.entry(term).or_default() += 1;
        }
    }
    counts
}

/// A term in a prompt. The weight says how informative its word is in the language; the rarity,
/// from 0 to 1, says how few memories in the store contain it.
struct Term {
    stem: String,
    weight: f32,
    rarity: f32,
}

fn weigh_terms(index: &MemoryIndex<'_>, text: &str) -> Vec<Term> {
    let n_texts = index.store().n_tellable(index.snapshot().layout().rows.n_counted);
    let weighed = terms_with_words(text).into_iter().map(|(stem, word)| {
        let rarity = rarity(n_texts, n_tellable_holding(index, &stem, n_texts).max(1));
        Term { weight: word_weight(&word), rarity, stem }
    });
    weighed.collect()
}

fn explains_failures(kind: LearningKind) -> bool {
    let topic = LEARNING_KINDS[kind as usize].topic;
    topic == BriefTopic::Pitfalls || kind == LearningKind::Procedure
}

fn may_be_twins(a: &Profile, b: &Profile) -> bool {
    let shared = a.share_held_by(b).max(b.share_held_by(a));
    shared >= MIN_TWIN_TERMS && !are_distinct(a, b)
}

fn full_text(memory: &Memory) -> String {
    format!("{}\n{}", memory.title, memory.document.body())
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Estimates from a sample how many memories that contain a term may be shown. Foreign memories are
/// excluded so that they cannot make a term look common.
fn n_tellable_holding(index: &MemoryIndex<'_>, stem: &str, n_texts: usize) -> usize {
    let snapshot = index.snapshot();
    let n_holding = snapshot.n_holding(stem);
    if n_texts == snapshot.layout().rows.n_counted {
        return n_holding;
    }
    let (mut n_tellable, mut n_looked) = (0, 0);
    for (row, _) in snapshot.postings(stem).take(MAX_HOLDING) {
        n_tellable += usize::from(index.store().may_know(snapshot.key(row)));
        n_looked += 1;
    }
    n_holding * n_tellable / n_looked.max(1)
}

/// Returns how rare a term is, from 0 to 1. The rarity is 1 if only one memory contains the term.
fn rarity(n_texts: usize, n_holding: usize) -> f32 {
    let n_texts = n_texts.max(MIN_TEXTS) as f32;
    let rarest = inverse_frequency(n_texts, 1.0);
    (inverse_frequency(n_texts, n_holding as f32) / rarest).clamp(0.0, 1.0)
}

/// Returns how informative a word is in the language, regardless of the store.
fn word_weight(word: &str) -> f32 {
    let model = Builtin::shipped();
    let weight = model.weight(word).min(MAX_WEIGHT);
    let may_be_name = word.len() >= MIN_UNKNOWN_BYTES && word.contains(char::is_alphabetic);
    match may_be_name && !model.knows(word) {
        true => weight.max(UNKNOWN_WEIGHT),
        false => weight,
    }
}

/// A logistic regression's weights: one per feature, and one per dimension of the prompt's vector.
/// The latter are needed because some kinds of requests seldom need a memory.
#[derive(Default, Deserialize)]
struct Gate {
    bias: f32,
    features: Vec<f32>,
    meaning: Vec<f32>,
}

/// Fitted by `crates/nacre-lab/scripts/fit-prompts.py`. `docs/evaluation.md` lists the results for
/// other projects.
static GATE: LazyLock<Gate> = LazyLock::new(|| {
    let text = include_str!("../../assets/prompt-gate.json");
    serde_json::from_str(text).unwrap_or_default()
});

const N_FEATURES: usize = 7;

/// Bounds for the number of terms in a prompt. A shorter prompt has too little content, and a
/// longer one shares words with most memories.
const FEW_TERMS: f32 = 3.0;
const MANY_TERMS: f32 = 11.0;

#[cfg(test)]
mod tests;

#[cfg(test)]
mod evidence_tests {
    use super::*;

    fn one(similarity: f32, new_words: f32) -> PromptMatch<'static> {
        let new_coverage = new_words / 20.0;
        PromptMatch { similarity, new_words, new_coverage, ..PromptMatch::default() }
    }

    fn prompt(n_terms: usize) -> PromptMatches<'static> {
        PromptMatches { n_terms, ..PromptMatches::default() }
    }

    #[test]
    fn a_name_that_the_model_does_not_know_weighs_as_a_rare_word() {
        let model = Builtin::shipped();
        for word in ["failwith", "tokio", "exfat", "int_bookings__current"] {
            assert!(!model.knows(word), "{word}");
            let weight = word_weight(word);
            assert!((UNKNOWN_WEIGHT..=MAX_WEIGHT).contains(&weight), "{word}: {weight}");
        }
        assert!(model.knows("use") && word_weight("use") < 1.5);
        assert_eq!(word_weight("zq"), model.weight("zq").min(MAX_WEIGHT));
        assert_eq!(word_weight("90210"), model.weight("90210").min(MAX_WEIGHT));
    }

    #[test]
    fn a_small_store_does_not_tell_which_words_are_rare() {
        assert!(rarity(2, 2) > 0.7, "both memories of a new store contain it");
        assert!(rarity(1000, 1000) < 0.01 && rarity(1000, 500) < 0.2);
        for n_texts in [0, 1, 30, 10_000] {
            assert_eq!(rarity(n_texts, 1), 1.0);
        }
    }

    #[test]
    fn the_gate_has_a_weight_for_each_feature_and_dimension() {
        assert_eq!(GATE.features.len(), N_FEATURES);
        assert_eq!(GATE.meaning.len(), Builtin::shipped().dims());
        assert!(GATE.bias < 0.0);
    }

    #[test]
    fn shared_words_and_meaning_speak_for_a_memory_and_a_known_topic_against_it() {
        let prompt = prompt(8);
        assert!(prompt.evidence(&one(0.2, 1.0)) < 0.0);
        assert!(prompt.evidence(&one(0.7, 9.0)) > 0.0);
        assert!(prompt.evidence(&one(0.5, 4.0)) < prompt.evidence(&one(0.6, 4.0)));
        assert!(prompt.evidence(&one(0.5, 4.0)) < prompt.evidence(&one(0.5, 5.0)));
        let known = PromptMatch { known: 0.9, ..one(0.5, 4.0) };
        let described = PromptMatch { is_described: true, ..one(0.5, 4.0) };
        assert!(prompt.evidence(&known) < prompt.evidence(&one(0.5, 4.0)));
        assert!(prompt.evidence(&described) < prompt.evidence(&one(0.5, 4.0)));
    }
}
