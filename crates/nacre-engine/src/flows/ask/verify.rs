//! Whether a sentence may be shown: every source that it names was shown to the model, is there now, and says the same.
//!
//! What holds is shown in the words of its source: the model's own words stay only where they repeat it, for words can be
//! exchanged so that everything stands in the source and nothing is true. What does not hold is left out whole. Its words go nowhere: neither to the screen nor into JSON, where somebody would
//! take a made-up id for a real one. Only the reason is counted.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use nacre_core::memory::{Memory, MemoryId, Overturned};
use nacre_core::search::{Embedder, MemoryIndex, shared_words};

use super::overturned::{Telling, telling_of};
use crate::proof::{
    Clause, Flaw, Marks, Sentence, Sentences, Source, SourceKind, check_statement, has_invented,
    marks, repeats,
};
use crate::tools::{MemoryHandle, Seen};

/// A sentence that shares no word with its source must be at least this near in meaning.
const MIN_SIMILARITY: f32 = 0.35;

/// A sentence that holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    pub text: String,
    pub wording: Wording,
    /// Whether a new line begins with it.
    pub starts_line: bool,
    /// The memories that prove it.
    pub ids: Vec<MemoryId>,
    /// The messages of sessions that do.
    pub places: Vec<String>,
    /// The words of each source that are nearest to the sentence.
    pub quotes: Vec<SourceQuote>,
}

/// Whose words a sentence is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wording {
    /// The model's, which repeat the source word for word.
    Model,
    /// Those of the source: the model said the same in another way, or seemed to.
    Source,
}

/// Words of a source, as they stand there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceQuote {
    /// The id of a memory, or the place of a message.
    pub source: String,
    pub text: String,
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
    /// It names something, or a number, that no source of it names, or names of something else.
    Invented,
    /// It denies what its source says, or says what its source denies.
    Negated,
    /// It says more than its source.
    Unsupported,
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
            Self::Negated => "negated",
            Self::Unsupported => "unsupported",
        }
    }

    /// What was wrong, for people and for the model.
    pub fn told(self) -> &'static str {
        match self {
            Self::NoSource => "named no source",
            Self::NotShown => "named a source that was not found",
            Self::Gone => "named a memory that is gone",
            Self::Archived => "named a memory that is archived",
            Self::Overturned => {
                "told of an overturned memory as if it held, or without what overturned it"
            }
            Self::Unrelated => "named a source that is about something else",
            Self::Invented => "had a name, number or command that its source does not have there",
            Self::Negated => "said the opposite of its source",
            Self::Unsupported => "said more than its source",
        }
    }
}

impl From<Flaw> for Doubt {
    fn from(flaw: Flaw) -> Self {
        match flaw {
            Flaw::Invented => Self::Invented,
            Flaw::Negated => Self::Negated,
            Flaw::Unsupported | Flaw::Exchanged => Self::Unsupported,
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
    /// Of the ids those that are overturned.
    overturned: Vec<MemoryId>,
    wording: Wording,
}

impl Proved {
    /// The words of the sources in place of the sentence; what is overturned stands behind what holds.
    fn source_words(&self) -> String {
        let is_old =
            |quote: &&SourceQuote| self.overturned.iter().any(|id| id.as_str() == quote.source);
        let told = |quote: &SourceQuote| format!("\"{}\" [{}]", folded(&quote.text), quote.source);
        let (old, new): (Vec<_>, Vec<_>) = self.quotes.iter().partition(is_old);
        let mut words: Vec<String> = new.into_iter().map(told).collect();
        words.extend(old.into_iter().map(|quote| format!("Overturned: {}", told(quote))));
        words.join(" ")
    }
}

impl Cited<'_> {
    fn source(&self) -> Source {
        let mut source = Source::default();
        self.add_to(&mut source);
        source
    }

    fn add_to(&self, source: &mut Source) {
        let memory = &self.memory;
        source.add_prose(&memory.title, memory.document.body());
        source.add_topic(&memory.tags.join(" "));
        // Evidence that a model was shown proves as much as the text.
        let body = memory.document.body();
        let more = self.shown.lines().filter(|line| !body.contains(line.trim()));
        source.add_prose("", &more.collect::<Vec<_>>().join("\n"));
        for day in days_of(memory) {
            source
                .add_topic(&day.strftime("%Y-%m-%d %Y %B %-d %-dst %-dnd %-drd %-dth").to_string());
        }
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
            text: match proved.wording {
                Wording::Model => sentence.text.clone(),
                Wording::Source => {
                    format!("{}{}", bullet(sentence), self.redacted(&proved.source_words()))
                }
            },
            wording: proved.wording,
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
        let (mut quotes, mut wording): (Vec<SourceQuote>, _) = (Vec::new(), Wording::Model);
        for clause in &marks.clauses {
            let (found, of_clause) = self.check_clause(clause, &cited, &places)?;
            for quote in found {
                if !quotes.contains(&quote) {
                    quotes.push(quote);
                }
            }
            if of_clause == Wording::Source {
                wording = Wording::Source;
            }
        }
        if wording == Wording::Source && quotes.is_empty() {
            return Err(Doubt::Unsupported);
        }
        let is_old = |one: &&Cited<'_>| one.overturned() != Overturned::No;
        let overturned = cited.iter().filter(is_old).map(|one| one.memory.at.id.clone()).collect();
        let ids = cited.into_iter().map(|one| one.memory.at.id).collect();
        let places = places.into_iter().map(|(place, _)| place).collect();
        Ok(Proved { ids, places, quotes, overturned, wording })
    }

    /// Holds a clause against the sources behind it.
    fn check_clause(
        &self,
        clause: &Clause,
        cited: &[Cited<'_>],
        places: &[(String, String)],
    ) -> Result<(Vec<SourceQuote>, Wording), Doubt> {
        let plain = clause.words.replace('`', "");
        if !plain.chars().any(char::is_alphanumeric) {
            return Ok((Vec::new(), Wording::Model));
        }
        if clause.named.is_empty() {
            return Err(Doubt::NoSource);
        }
        let is_named = |name: &str| clause.named.iter().any(|other| other == name);
        let (mut all, mut proof, mut days) = (Source::default(), String::new(), Vec::new());
        let mut quotes = Vec::new();
        for one in cited.iter().filter(|one| is_named(one.memory.at.id.as_str())) {
            let text = format!("{}\n{}", whole_text(&one.memory), one.shown);
            is_about(Some(one.embedder), &plain, &text)?;
            proof.push_str(&format!("{text}\n{}\n", slug(&one.memory)));
            days.extend(days_of(&one.memory));
            quotes.extend(quote_of(one.memory.at.id.as_str(), &one.source(), &clause.words));
            one.add_to(&mut all);
        }
        for (place, shown) in places.iter().filter(|(place, _)| is_named(place)) {
            let embedder = self.stores.first().map(|memories| memories.embedder.as_ref());
            is_about(embedder, &plain, shown)?;
            proof.push_str(&format!("{shown}\n"));
            let mut source = Source::default();
            source.add_prose("", shown);
            quotes.extend(quote_of(place, &source, &clause.words));
            all.add_prose("", shown);
        }
        if has_invented(&plain, &proof, &days) {
            return Err(Doubt::Invented);
        }
        if tells_overturned(clause, cited)? {
            all.allow_change();
        }
        check_statement(&clause.words, &all, SourceKind::Prose)?;
        let is_repeated = repeats(&clause.words, &all);
        Ok((quotes, if is_repeated { Wording::Model } else { Wording::Source }))
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
    /// Words of sources that stand in the answer already.
    told: BTreeSet<String>,
}

impl<'a> Checker<'a> {
    pub fn new(verifier: &'a Verifier<'a>) -> Self {
        Self { verifier, owes_line: false, told: BTreeSet::new() }
    }

    /// Checks the next sentence; `None` where it says nothing at all.
    pub fn take(&mut self, sentence: &Sentence) -> Option<Result<Said, Doubt>> {
        self.owes_line |= sentence.starts_line;
        match self.verifier.judge(sentence)? {
            // Two sentences about the same words of a source say them once.
            Ok(said) if said.wording == Wording::Source && !self.told.insert(said.text.clone()) => {
                None
            }
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

/// Whether a clause tells of what was overturned, as something of the past and with what came after it.
fn tells_overturned(clause: &Clause, cited: &[Cited<'_>]) -> Result<bool, Doubt> {
    let is_named =
        |one: &&Cited<'_>| clause.named.iter().any(|name| *name == *one.memory.at.id.as_str());
    let is_old = |one: &&Cited<'_>| one.overturned() != Overturned::No;
    if !cited.iter().filter(is_named).any(|one| is_old(&one)) {
        return Ok(false);
    }
    let mut newer = Source::default();
    cited.iter().filter(|one| !is_old(one)).for_each(|one| one.add_to(&mut newer));
    match telling_of(&clause.words, &newer) {
        Telling::Past => Ok(true),
        Telling::Present => Err(Doubt::Overturned),
    }
}

/// The mark of a list before a sentence.
fn bullet(sentence: &Sentence) -> &'static str {
    if sentence.starts_line && sentence.text.starts_with(['-', '*', '•']) { "- " } else { "" }
}

/// On one line, whatever the file looks like.
fn folded(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.trim_start_matches(['-', '*', '#', '>', ' ']).to_owned()
}

fn quote_of(id: &str, source: &Source, words: &str) -> Option<SourceQuote> {
    let text = source.quote(words)?.to_owned();
    Some(SourceQuote { source: id.to_owned(), text })
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
