//! Decides whether a sentence may be shown. Each source that it cites must have been shown to the
//! model, must still exist, and must be about the same subject.
//!
//! The model's own words are never shown, because a false sentence can be built entirely from words
//! in the source. Only the cited passages are shown. A sentence with an invalid source is dropped,
//! because users could mistake an invented ID for a real one. Dropped sentences are only counted,
//! by reason.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use nacre_base::text::n_shared_terms;
use nacre_memory::search::{Embedder, MemoryIndex};
use nacre_memory::{Memory, MemoryId, Overturned};

use super::passage::passage;
use crate::proof::{Clause, Marks, Sentence, Sentences, marks};
use crate::tools::{MemoryHandle, Seen};
pub use nacre_types::SentenceDoubt as Doubt;

/// Minimum semantic similarity between a sentence and a source that have no words in common.
const MIN_SIMILARITY: f32 = 0.35;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    /// The cited passages, each with its source's ID.
    pub text: String,
    pub starts_line: bool,
    pub ids: Vec<MemoryId>,
    pub places: Vec<String>,
    pub quotes: Vec<SourceQuote>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceQuote {
    /// A memory ID, or the location of a message.
    pub source: String,
    pub text: String,
    pub is_overturned: bool,
}

impl SourceQuote {
    fn render(&self) -> String {
        let before = if self.is_overturned { "Overturned: " } else { "" };
        format!("{before}\"{}\" [{}]", self.text, self.source)
    }
}

pub type Doubts = BTreeMap<Doubt, usize>;

pub struct Verifier<'a> {
    pub stores: &'a [MemoryHandle],
    pub seen: &'a Seen,
    /// Whether one memory supersedes another is decided as of this time.
    pub now: Timestamp,
}

/// A memory cited by a sentence, in its current state.
struct Cited<'a> {
    memory: Memory,
    claimants: Vec<MemoryId>,
    embedder: &'a dyn Embedder,
    /// The part of the memory's text that was shown to the model.
    shown: String,
}

impl Cited<'_> {
    fn quote(&self, said: &str) -> SourceQuote {
        let memory = &self.memory;
        let below = passage(memory.document.body(), said);
        let text = match below.is_empty() || below == memory.title {
            true => memory.title.clone(),
            false => format!("{}: {below}", memory.title),
        };
        let is_overturned = self.overturn_status() != Overturned::No;
        SourceQuote { source: memory.at.id.to_string(), text, is_overturned }
    }

    fn overturn_status(&self) -> Overturned {
        Overturned::of(&self.memory, !self.claimants.is_empty())
    }

    fn was_overturned_by(&self, other: &Memory) -> bool {
        let id = &other.at.id;
        self.memory.superseded_by.as_ref() == Some(id)
            || self.claimants.contains(id)
            || other.supersedes.contains(&self.memory.at.id)
    }
}

impl Verifier<'_> {
    pub fn check(&self, text: &str) -> (Vec<Said>, Doubts) {
        let mut checker = Checker::new(self);
        let (mut said, mut doubts) = (Vec::new(), Doubts::new());
        for sentence in &Sentences::of(text) {
            match checker.take(sentence) {
                Some(Ok(one)) => said.push(one),
                Some(Err(doubt)) => *doubts.entry(doubt).or_default() += 1,
                None => {}
            }
        }
        (said, doubts)
    }

    fn judge(&self, sentence: &Sentence) -> Option<Result<Said, Doubt>> {
        let marks = marks(&sentence.text);
        if !marks.words.chars().any(char::is_alphanumeric) {
            return None;
        }
        Some(self.sources(&marks).map(|proved| {
            let quotes: Vec<String> = proved.quotes.iter().map(SourceQuote::render).collect();
            let text = bullet(sentence).to_owned() + &self.redact(&quotes.join(" "));
            Said { text, starts_line: sentence.starts_line, ..proved }
        }))
    }

    /// Redacts the text again, because the file may have changed and may now contain more than the
    /// model was shown.
    fn redact(&self, text: &str) -> String {
        self.stores.first().map_or_else(String::new, |memories| memories.store.redact_text(text))
    }

    fn sources(&self, marks: &Marks) -> Result<Said, Doubt> {
        if marks.named.is_empty() {
            return Err(Doubt::NoSource);
        }
        let (mut cited, mut places): (Vec<Cited<'_>>, Vec<(String, String)>) = Default::default();
        for name in &marks.named {
            let shown = self.seen.text(name).ok_or(Doubt::NotShown)?;
            match name.parse::<MemoryId>() {
                Ok(id) => cited.push(Cited { shown, ..self.memory(&id)? }),
                Err(_) => places.push((name.clone(), shown)),
            }
        }
        still_hold(&cited)?;
        for clause in &marks.clauses {
            self.check_clause(clause, &cited, &places)?;
        }
        let mut quotes: Vec<SourceQuote> =
            cited.iter().map(|one| one.quote(&marks.words)).collect();
        quotes.extend(places.iter().map(|(place, shown)| SourceQuote {
            source: place.clone(),
            text: passage(shown, &marks.words),
            is_overturned: false,
        }));
        quotes.sort_by_key(|quote| quote.is_overturned);
        let ids = cited.into_iter().map(|one| one.memory.at.id).collect();
        let places = places.into_iter().map(|(place, _)| place).collect();
        Ok(Said { ids, places, quotes, ..Said::default() })
    }

    fn check_clause(
        &self,
        clause: &Clause,
        cited: &[Cited<'_>],
        places: &[(String, String)],
    ) -> Result<(), Doubt> {
        let plain = clause.words.replace('`', "");
        if !plain.chars().any(char::is_alphanumeric) {
            return Ok(());
        }
        if clause.named.is_empty() {
            return Err(Doubt::NoSource);
        }
        let is_named = |name: &str| clause.named.iter().any(|other| other == name);
        for one in cited.iter().filter(|one| is_named(one.memory.at.id.as_str())) {
            let text = format!("{}\n{}", whole_text(&one.memory), one.shown);
            is_about(Some(one.embedder), &plain, &text)?;
        }
        for (_, shown) in places.iter().filter(|(place, _)| is_named(place)) {
            let embedder = self.stores.first().map(|memories| memories.embedder.as_ref());
            is_about(embedder, &plain, shown)?;
        }
        Ok(())
    }

    fn memory(&self, id: &MemoryId) -> Result<Cited<'_>, Doubt> {
        for memories in self.stores {
            // `get` also accepts a prefix of an ID, so check that the memory has exactly the cited
            // ID.
            match memories.store.get(id.as_str()) {
                Ok(memory) if memory.at.id == *id && memory.is_archived() => {
                    return Err(Doubt::Archived);
                }
                Ok(memory) if memory.at.id == *id => {
                    let claimants = self.claimants(memories, id);
                    let embedder = memories.embedder.as_ref();
                    return Ok(Cited { memory, claimants, embedder, shown: String::new() });
                }
                Ok(_) | Err(_) => {}
            }
        }
        Err(Doubt::Gone)
    }

    /// Returns the memories in a store that claim to supersede `id`. If there is no index, reads
    /// all files.
    fn claimants(&self, memories: &MemoryHandle, id: &MemoryId) -> Vec<MemoryId> {
        let index = MemoryIndex::peek(&memories.store, memories.embedder.as_ref(), self.now);
        let claimants = match index {
            Ok(index) => index.claimants(id),
            Err(_) => memories.store.claimants(id).unwrap_or_default(),
        };
        claimants.into_iter().map(|memory| memory.at.id).collect()
    }
}

pub struct Checker<'a> {
    verifier: &'a Verifier<'a>,
    /// Whether the next displayed sentence must begin a new line, because the sentence that began
    /// the current line was dropped.
    owes_line: bool,
    told: BTreeSet<(String, String)>,
}

impl<'a> Checker<'a> {
    pub fn new(verifier: &'a Verifier<'a>) -> Self {
        Self { verifier, owes_line: false, told: BTreeSet::new() }
    }

    /// Marks the passages as shown. Returns false if all of them already were.
    fn is_new(&mut self, said: &Said) -> bool {
        let keys = said.quotes.iter().map(|quote| (quote.source.clone(), quote.text.clone()));
        keys.filter(|key| self.told.insert(key.clone())).count() != 0
    }

    /// Checks the next sentence. Returns `None` if it contains no words or only repeats passages
    /// that have already been shown.
    pub fn take(&mut self, sentence: &Sentence) -> Option<Result<Said, Doubt>> {
        self.owes_line |= sentence.starts_line;
        match self.verifier.judge(sentence)? {
            // A passage cited by several sentences is shown only once.
            Ok(said) if !self.is_new(&said) => None,
            Ok(said) => {
                let starts_line = std::mem::take(&mut self.owes_line);
                Some(Ok(Said { starts_line, ..said }))
            }
            Err(doubt) => Some(Err(doubt)),
        }
    }
}

/// Checks that every superseded memory is cited together with the memory that supersedes it.
fn still_hold(cited: &[Cited<'_>]) -> Result<(), Doubt> {
    let holds = |one: &Cited<'_>| one.overturn_status() == Overturned::No;
    for one in cited.iter().filter(|one| !holds(one)) {
        let id = &one.memory.at.id;
        let mut others = cited.iter().map(|other| &other.memory).filter(|other| other.at.id != *id);
        if !others.any(|other| one.was_overturned_by(other)) {
            return Err(Doubt::Overturned);
        }
    }
    // Memories that supersede each other in a cycle are not valid evidence.
    let has_head = cited.iter().any(holds);
    if cited.is_empty() || has_head { Ok(()) } else { Err(Doubt::Overturned) }
}

fn bullet(sentence: &Sentence) -> &'static str {
    if sentence.starts_line && sentence.text.starts_with(['-', '*', '•']) { "- " } else { "" }
}

fn whole_text(memory: &Memory) -> String {
    format!("{}\n{}\n{}", memory.title, memory.tags.join(" "), memory.document.body())
}

/// Checks that a sentence and a source are about the same subject: they share a word or are similar
/// in meaning.
fn is_about(embedder: Option<&dyn Embedder>, words: &str, text: &str) -> Result<(), Doubt> {
    if n_shared_terms(text, words) > 0 {
        return Ok(());
    }
    let vectors = embedder.and_then(|embedder| embedder.embed(&[words, text]).ok());
    let near = vectors.map_or(0.0, |vectors| match vectors.as_slice() {
        [one, other] => one.iter().zip(other).map(|(a, b)| a * b).sum::<f32>(),
        _ => 0.0,
    });
    if near >= MIN_SIMILARITY { Ok(()) } else { Err(Doubt::Unrelated) }
}
