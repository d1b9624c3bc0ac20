//! Whether a sentence may be shown: every source that it names was shown to the model, is there now, and says the same.
//!
//! What a model says is never shown, only what it cites, in the words of the source and as whole as it must be: words can be
//! exchanged, left out and joined so that each of them stands in the source and nothing is true. A sentence whose sources do
//! not hold is left out, and only the reason is counted: somebody would take a made-up id for a real one.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use nacre_core::memory::{Memory, MemoryId, Overturned};
use nacre_core::search::{Embedder, MemoryIndex, shared_words};

use super::passage::passage;
use crate::proof::{Clause, Marks, Sentence, Sentences, marks};
use crate::tools::{MemoryHandle, Seen};

/// A sentence that shares no word with its source must be at least this near in meaning.
const MIN_SIMILARITY: f32 = 0.35;

/// A sentence that holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// What its sources say, each with its id.
    pub text: String,
    /// Whether a new line begins with it.
    pub starts_line: bool,
    /// The memories that prove it.
    pub ids: Vec<MemoryId>,
    /// The messages of sessions that do.
    pub places: Vec<String>,
    /// The words of each source.
    pub quotes: Vec<SourceQuote>,
}

/// Words of a source, as they stand there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceQuote {
    /// The id of a memory, or the place of a message.
    pub source: String,
    pub text: String,
    pub is_overturned: bool,
}

impl SourceQuote {
    fn told(&self) -> String {
        let before = if self.is_overturned { "Overturned: " } else { "" };
        format!("{before}\"{}\" [{}]", self.text, self.source)
    }
}

/// Why a sentence is not shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Doubt {
    /// It names no source.
    NoSource,
    /// It names one that nobody showed the model.
    NotShown,
    /// The memory is not there any more, or cannot be read.
    Gone,
    Archived,
    /// The memory was overturned, and the sentence does not name by what.
    Overturned,
    /// The source is about something else.
    Unrelated,
}

impl Doubt {
    /// A stable word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NoSource => "no_source",
            Self::NotShown => "not_shown",
            Self::Gone => "gone",
            Self::Archived => "archived",
            Self::Overturned => "overturned",
            Self::Unrelated => "unrelated",
        }
    }

    /// What was wrong, for people and for the model.
    pub fn told(self) -> &'static str {
        match self {
            Self::NoSource => "named no source",
            Self::NotShown => "named a source that was not found",
            Self::Gone => "named a memory that is gone",
            Self::Archived => "named a memory that is archived",
            Self::Overturned => "named an overturned memory without what overturned it",
            Self::Unrelated => "named a source that is about something else",
        }
    }
}

/// What was left out, counted.
pub type Doubts = BTreeMap<Doubt, usize>;

/// Looks up what sentences cite.
pub struct Verifier<'a> {
    pub stores: &'a [MemoryHandle],
    pub seen: &'a Seen,
    /// Memories that claim to overturn others are looked up as of this time.
    pub now: Timestamp,
}

/// A memory that a sentence names, as it is now.
struct Cited<'a> {
    memory: Memory,
    /// The memories that claim to overturn it.
    claimants: Vec<MemoryId>,
    embedder: &'a dyn Embedder,
    /// What the model was shown of it.
    shown: String,
}

/// What a sentence cites, and the words of it.
struct Proved {
    ids: Vec<MemoryId>,
    places: Vec<String>,
    quotes: Vec<SourceQuote>,
}

impl Cited<'_> {
    /// What a reader is shown of it: its title, and what stands below it as far as it matters.
    fn quote(&self, said: &str) -> SourceQuote {
        let memory = &self.memory;
        let below = passage(memory.document.body(), said);
        let is_more = !below.is_empty() && below != memory.title;
        let text =
            if is_more { format!("{}: {below}", memory.title) } else { memory.title.clone() };
        let is_overturned = self.overturned() != Overturned::No;
        SourceQuote { source: memory.at.id.to_string(), text, is_overturned }
    }

    fn overturned(&self) -> Overturned {
        Overturned::of(&self.memory, !self.claimants.is_empty())
    }

    /// Whether `other` is what overturned it.
    fn was_overturned_by(&self, other: &Memory) -> bool {
        let id = &other.at.id;
        self.memory.superseded_by.as_ref() == Some(id)
            || self.claimants.contains(id)
            || other.supersedes.contains(&self.memory.at.id)
    }
}

impl Verifier<'_> {
    /// Checks a whole answer.
    pub fn check(&self, text: &str) -> (Vec<Said>, Doubts) {
        let mut sentences = Sentences::default();
        let mut whole = sentences.take(text);
        whole.extend(sentences.finish());
        let mut checker = Checker::new(self);
        let (mut said, mut doubts) = (Vec::new(), Doubts::new());
        for sentence in &whole {
            match checker.take(sentence) {
                Some(Ok(one)) => said.push(one),
                Some(Err(doubt)) => *doubts.entry(doubt).or_default() += 1,
                None => {}
            }
        }
        (said, doubts)
    }

    /// Checks one sentence; `None` where it says nothing at all.
    fn judge(&self, sentence: &Sentence) -> Option<Result<Said, Doubt>> {
        let marks = marks(&sentence.text);
        if !marks.words.chars().any(char::is_alphanumeric) {
            return None;
        }
        Some(self.sources(&marks).map(|proved| Said {
            text: bullet(sentence).to_owned() + &self.redacted(&told(&proved.quotes)),
            starts_line: sentence.starts_line,
            ids: proved.ids,
            places: proved.places,
            quotes: proved.quotes,
        }))
    }

    /// A file may hold what the model was never shown.
    fn redacted(&self, text: &str) -> String {
        self.stores.first().map_or_else(String::new, |memories| memories.store.redacted(text))
    }

    /// Everything that a sentence names, if all of it holds.
    fn sources(&self, marks: &Marks) -> Result<Proved, Doubt> {
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
        // What was overturned stands behind what holds.
        quotes.sort_by_key(|quote| quote.is_overturned);
        let ids = cited.into_iter().map(|one| one.memory.at.id).collect();
        let places = places.into_iter().map(|(place, _)| place).collect();
        Ok(Proved { ids, places, quotes })
    }

    /// Whether a clause names sources that are about what it says.
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

    /// The memory of exactly this id, as it is now.
    fn memory(&self, id: &MemoryId) -> Result<Cited<'_>, Doubt> {
        for memories in self.stores {
            // A prefix of another id finds that one; it is not the one that was named.
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

    /// The memories of a store that claim to overturn `id`. Without an index all files are read.
    fn claimants(&self, memories: &MemoryHandle, id: &MemoryId) -> Vec<MemoryId> {
        let index = MemoryIndex::peek(&memories.store, memories.embedder.as_ref(), self.now);
        let claimants = match index {
            Ok(index) => index.claimants(id),
            Err(_) => memories.store.claimants(id).unwrap_or_default(),
        };
        claimants.into_iter().map(|memory| memory.at.id).collect()
    }
}

/// Checks sentences as they come.
pub struct Checker<'a> {
    verifier: &'a Verifier<'a>,
    /// Whether a line began with something that is not shown.
    owes_line: bool,
    /// What was shown of sources already.
    told: BTreeSet<(String, String)>,
}

impl<'a> Checker<'a> {
    pub fn new(verifier: &'a Verifier<'a>) -> Self {
        Self { verifier, owes_line: false, told: BTreeSet::new() }
    }

    /// Notes what is shown; false where all of it was shown before.
    fn is_new(&mut self, said: &Said) -> bool {
        let keys = said.quotes.iter().map(|quote| (quote.source.clone(), quote.text.clone()));
        keys.filter(|key| self.told.insert(key.clone())).count() != 0
    }

    /// Checks the next sentence; `None` where it says nothing at all, or what was shown already.
    pub fn take(&mut self, sentence: &Sentence) -> Option<Result<Said, Doubt>> {
        self.owes_line |= sentence.starts_line;
        match self.verifier.judge(sentence)? {
            // Two sentences about the same source show it once.
            Ok(said) if !self.is_new(&said) => None,
            Ok(said) => {
                let starts_line = std::mem::take(&mut self.owes_line);
                Some(Ok(Said { starts_line, ..said }))
            }
            Err(doubt) => Some(Err(doubt)),
        }
    }
}

/// What was overturned stands beside what overturned it, or not at all.
fn still_hold(cited: &[Cited<'_>]) -> Result<(), Doubt> {
    let holds = |one: &Cited<'_>| one.overturned() == Overturned::No;
    for one in cited.iter().filter(|one| !holds(one)) {
        let id = &one.memory.at.id;
        let mut others = cited.iter().map(|other| &other.memory).filter(|other| other.at.id != *id);
        if !others.any(|other| one.was_overturned_by(other)) {
            return Err(Doubt::Overturned);
        }
    }
    // A line of three that only name each other in a circle holds nothing.
    let has_head = cited.iter().any(holds);
    if cited.is_empty() || has_head { Ok(()) } else { Err(Doubt::Overturned) }
}

/// The mark of a list before a sentence.
fn bullet(sentence: &Sentence) -> &'static str {
    if sentence.starts_line && sentence.text.starts_with(['-', '*', '•']) { "- " } else { "" }
}

fn told(quotes: &[SourceQuote]) -> String {
    quotes.iter().map(SourceQuote::told).collect::<Vec<_>>().join(" ")
}

fn whole_text(memory: &Memory) -> String {
    format!("{}\n{}\n{}", memory.title, memory.tags.join(" "), memory.document.body())
}

/// Whether a source is about what the sentence says: by a word, or else by its meaning.
fn is_about(embedder: Option<&dyn Embedder>, words: &str, text: &str) -> Result<(), Doubt> {
    if shared_words(text, words) > 0 {
        return Ok(());
    }
    let vectors = embedder.and_then(|embedder| embedder.embed(&[words, text]).ok());
    let near = vectors.map_or(0.0, |vectors| match vectors.as_slice() {
        [one, other] => one.iter().zip(other).map(|(a, b)| a * b).sum::<f32>(),
        _ => 0.0,
    });
    if near >= MIN_SIMILARITY { Ok(()) } else { Err(Doubt::Unrelated) }
}
