//! Whether a sentence may be shown: every source that it names was shown to the model, is there now, and is about the same.
//!
//! What does not hold is left out whole. Its words go nowhere: neither to the screen nor into JSON, where somebody would
//! take a made-up id for a real one. Only the reason is counted.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use nacre_core::memory::{Memory, MemoryId, Overturned};
use nacre_core::search::{Embedder, MemoryIndex, shared_words};

use super::super::invented::has_invented;
use super::marks::{Marks, marks};
use super::sentences::{Sentence, Sentences};
use crate::tools::{MemoryHandle, Seen};

/// A sentence that shares no word with its source must be at least this near in meaning.
const MIN_SIMILARITY: f32 = 0.35;

/// A sentence that holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    pub text: String,
    /// Whether a new line begins with it.
    pub starts_line: bool,
    /// The memories that prove it.
    pub ids: Vec<MemoryId>,
    /// The messages of sessions that do.
    pub places: Vec<String>,
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
    /// It names something, or a number, that no source of it names.
    Invented,
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
            Self::Invented => "invented",
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
            Self::Invented => "had a name or number that its source does not have",
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
}

impl Cited<'_> {
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
        Some(self.sources(&marks).map(|(ids, places)| Said {
            text: sentence.text.clone(),
            starts_line: sentence.starts_line,
            ids,
            places,
        }))
    }

    fn sources(&self, marks: &Marks) -> Result<(Vec<MemoryId>, Vec<String>), Doubt> {
        if marks.named.is_empty() {
            return Err(Doubt::NoSource);
        }
        let (mut cited, mut places): (Vec<Cited<'_>>, Vec<String>) = (Vec::new(), Vec::new());
        let (mut proof, mut days) = (String::new(), Vec::new());
        for name in &marks.named {
            let shown = self.seen.text(name).ok_or(Doubt::NotShown)?;
            match name.parse::<MemoryId>() {
                Ok(id) => {
                    let one = self.memory(&id)?;
                    let text = format!("{}\n{shown}", whole_text(&one.memory));
                    is_about(Some(one.embedder), &marks.words, &text)?;
                    proof.push_str(&format!("{text}\n{}\n", slug(&one.memory)));
                    days.extend(days_of(&one.memory));
                    cited.push(one);
                }
                Err(_) => {
                    let embedder = self.stores.first().map(|memories| memories.embedder.as_ref());
                    is_about(embedder, &marks.words, &shown)?;
                    proof.push_str(&format!("{shown}\n"));
                    places.push(name.clone());
                }
            }
        }
        still_hold(&cited)?;
        if has_invented(&marks.words, &proof, &days) {
            return Err(Doubt::Invented);
        }
        Ok((cited.into_iter().map(|one| one.memory.at.id).collect(), places))
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
                    return Ok(Cited { memory, claimants, embedder: memories.embedder.as_ref() });
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
}

impl<'a> Checker<'a> {
    pub fn new(verifier: &'a Verifier<'a>) -> Self {
        Self { verifier, owes_line: false }
    }

    /// Checks the next sentence; `None` where it says nothing at all.
    pub fn take(&mut self, sentence: &Sentence) -> Option<Result<Said, Doubt>> {
        self.owes_line |= sentence.starts_line;
        match self.verifier.judge(sentence)? {
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

/// The days that a model is told beside a memory.
fn days_of(memory: &Memory) -> impl Iterator<Item = Date> {
    let times = [memory.created, memory.updated].into_iter().flatten();
    times.map(|at| at.to_zoned(TimeZone::UTC).date())
}

/// The words of an id, without the day that it begins with: a day proves no number.
fn slug(memory: &Memory) -> &str {
    let id = memory.at.id.as_str();
    id.split_once('-').map_or(id, |(_, slug)| slug)
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
