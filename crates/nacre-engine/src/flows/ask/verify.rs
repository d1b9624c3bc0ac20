//! Decides whether a sentence may be shown, and whether its words are verified.
//!
//! A sentence is dropped unless every source that it cites was shown to the model, still exists and
//! is about the same subject, because users could mistake an invented ID for a real one. Dropped
//! sentences are not kept, only counted by reason. If the sources do not make the claims of a
//! sentence, it is shown next to its sources and marked as not verified.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use nacre_base::text::n_shared_terms;
use nacre_memory::search::{Builtin, MemoryIndex, cosine, snippet};
use nacre_memory::{Memory, MemoryId, Overturned};

use crate::proof::{
    CitedSource, Marks, Sentence, Sentences, check_statement, has_invented, is_stated, marks,
};
use crate::tools::{MemoryHandle, Seen};
pub use nacre_types::SentenceDoubt as Doubt;
use nacre_types::SourceQuote;

/// Minimum semantic similarity between a sentence and a source that have no words in common.
const MIN_SIMILARITY: f32 = 0.35;

const NOT_VERIFIED: &str = " [not verified]";

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    /// The sentence, with its citations.
    pub text: String,
    pub starts_line: bool,
    pub ids: Vec<MemoryId>,
    pub places: Vec<String>,
    pub quotes: Vec<SourceQuote>,
    /// Whether the cited sources contain the sentence's names and numbers, and each of its clauses
    /// is made by one clause of a source.
    pub is_verified: bool,
}

impl Said {
    /// Returns the sentence, marked if it is not verified.
    pub fn shown(&self) -> String {
        let mark = if self.is_verified { "" } else { NOT_VERIFIED };
        format!("{}{mark}", self.text)
    }
}

pub type Doubts = BTreeMap<Doubt, usize>;

pub struct Verifier<'a> {
    pub stores: &'a [MemoryHandle],
    pub seen: &'a Seen,
    /// The time as of which one memory is considered to supersede another.
    pub now: Timestamp,
}

/// A cited memory in its current state, or a message of a session.
struct Source {
    name: String,
    memory: Option<Memory>,
    claimants: Vec<MemoryId>,
    /// The text that the model was shown, plus the current text if the source is a memory.
    text: String,
}

impl Source {
    fn is_overturned(&self) -> bool {
        let memory = self.memory.as_ref();
        memory.is_some_and(|it| Overturned::of(it, !self.claimants.is_empty()) != Overturned::No)
    }

    fn was_overturned_by(&self, other: &Self) -> bool {
        let (Some(own), Some(other)) = (&self.memory, &other.memory) else { return false };
        let id = &other.at.id;
        own.at.id != *id
            && (own.superseded_by.as_ref() == Some(id)
                || self.claimants.contains(id)
                || other.supersedes.contains(&own.at.id))
    }

    /// Returns the part of the source that matches the sentence best.
    fn quote(&self, words: &str) -> SourceQuote {
        let text = match &self.memory {
            Some(memory) => match snippet(memory.document.body(), words) {
                body if body.is_empty() || body == memory.title => memory.title.clone(),
                body => format!("{}: {body}", memory.title),
            },
            None => snippet(&self.text, words),
        };
        SourceQuote { source: self.name.clone(), text }
    }

    /// Checks that a sentence and the source are about the same subject: they share a word or are
    /// similar in meaning.
    fn check_subject(&self, words: &str) -> Result<(), Doubt> {
        if n_shared_terms(&self.text, words) > 0 {
            return Ok(());
        }
        let model = Builtin::shipped();
        let near = cosine(&model.embed(words), &model.embed(&self.text));
        if near >= MIN_SIMILARITY { Ok(()) } else { Err(Doubt::Unrelated) }
    }
}

impl Verifier<'_> {
    pub fn check(&self, text: &str) -> (Vec<Said>, Doubts) {
        let (mut said, mut doubts) = (Vec::new(), Doubts::new());
        let mut owes_line = false;
        for sentence in &Sentences::of(text) {
            // If the first sentence on a line is dropped, the next sentence starts the line.
            owes_line |= sentence.starts_line;
            match self.judge(sentence) {
                Some(Ok(one)) => {
                    said.push(Said { starts_line: std::mem::take(&mut owes_line), ..one });
                }
                Some(Err(doubt)) => *doubts.entry(doubt).or_default() += 1,
                None => {}
            }
        }
        (said, doubts)
    }

    /// Returns `None` if the sentence contains no words.
    fn judge(&self, sentence: &Sentence) -> Option<Result<Said, Doubt>> {
        let marks = marks(&sentence.text);
        let words: Vec<&str> = marks.clauses.iter().map(|clause| clause.words.as_str()).collect();
        let words = words.join(" ");
        if !words.chars().any(char::is_alphanumeric) {
            return None;
        }
        let redact = |memories: &MemoryHandle| memories.store.redact_text(&sentence.text);
        Some(self.sources(&marks, &words).map(|sources| Said {
            text: self.stores.first().map_or_else(String::new, redact),
            starts_line: sentence.starts_line,
            quotes: sources.iter().map(|source| source.quote(&words)).collect(),
            is_verified: is_verified(&words, &sources),
            ids: sources.iter().filter_map(|it| Some(it.memory.as_ref()?.at.id.clone())).collect(),
            places:
                sources.into_iter().filter(|it| it.memory.is_none()).map(|it| it.name).collect(),
        }))
    }

    fn sources(&self, marks: &Marks, words: &str) -> Result<Vec<Source>, Doubt> {
        if marks.named.is_empty() {
            return Err(Doubt::NoSource);
        }
        let mut sources = Vec::new();
        for name in &marks.named {
            let shown = self.seen.text(name).ok_or(Doubt::NotShown)?;
            sources.push(match name.parse::<MemoryId>() {
                Ok(id) => self.memory(&id, &shown)?,
                Err(_) => {
                    Source { name: name.clone(), memory: None, claimants: Vec::new(), text: shown }
                }
            });
        }
        still_hold(&sources)?;
        sources.iter().try_for_each(|source| source.check_subject(words))?;
        Ok(sources)
    }

    fn memory(&self, id: &MemoryId, shown: &str) -> Result<Source, Doubt> {
        for memories in self.stores {
            // `get` also accepts a prefix of an ID, so check that the memory has exactly the cited
            // ID.
            let found = memories.store.get(id.as_str()).ok().filter(|memory| memory.at.id == *id);
            let Some(memory) = found else { continue };
            if memory.is_archived() {
                return Err(Doubt::Archived);
            }
            let (title, tags) = (&memory.title, memory.tags.join(" "));
            return Ok(Source {
                name: id.to_string(),
                claimants: self.claimants(memories, id),
                text: format!("{title}\n{tags}\n{}\n{shown}", memory.document.body()),
                memory: Some(memory),
            });
        }
        Err(Doubt::Gone)
    }

    /// Returns the memories in a store that claim to supersede `id`. If there is no index, reads
    /// all files.
    fn claimants(&self, memories: &MemoryHandle, id: &MemoryId) -> Vec<MemoryId> {
        let index = MemoryIndex::peek(&memories.store, self.now);
        let claimants = match index {
            Ok(index) => index.claimants(id),
            Err(_) => memories.store.claimants(id).unwrap_or_default(),
        };
        claimants.into_iter().map(|memory| memory.at.id).collect()
    }
}

/// Checks that every superseded memory is cited together with the memory that supersedes it.
fn still_hold(sources: &[Source]) -> Result<(), Doubt> {
    let holds = |one: &Source| {
        !one.is_overturned() || sources.iter().any(|other| one.was_overturned_by(other))
    };
    // Memories that supersede each other in a cycle are not valid evidence.
    let has_head = sources.iter().any(|one| !one.is_overturned());
    if has_head && sources.iter().all(holds) { Ok(()) } else { Err(Doubt::Overturned) }
}

fn is_verified(words: &str, sources: &[Source]) -> bool {
    let mut texts: Vec<&str> = sources.iter().map(|source| source.text.as_str()).collect();
    let memories = sources.iter().filter_map(|source| source.memory.as_ref());
    let times = memories.flat_map(|memory| [memory.created, memory.updated]).flatten();
    let days: Vec<_> = times.map(|at| at.to_zoned(TimeZone::UTC).date()).collect();
    let told_days: Vec<String> = days.iter().map(ToString::to_string).collect();
    let is_known = !has_invented(words, &texts.join("\n"), &days);
    texts.extend(told_days.iter().map(String::as_str));
    let mut cited = CitedSource::default();
    texts.iter().for_each(|text| cited.add_lines("", text));
    is_known && check_statement(words, &cited).is_ok() && is_stated(words, &texts)
}
