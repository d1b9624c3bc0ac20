//! Answers a question without a language model, by selecting the memories and lines that match it
//! best.

use jiff::Timestamp;
use nacre_base::fs::Owner;

use super::graded::{GradedHit, lower_contradicted, order_hits};
use crate::search::{MemoryHit, MemoryIndex, MemoryOptions, Mode, Query, snippet};
use crate::{LearningKind, MemoryError, MemoryId, MemoryType, Quote, Status, Store, Trust};

const MAX_BODY_BYTES: usize = 2_400;

/// The search fetches this many times the requested number of hits, so that files in a clone cannot
/// displace the user's own memories.
const CANDIDATES: usize = 4;

const MAX_QUOTES: usize = 2;
const MAX_QUOTE_BYTES: usize = 400;

const MAX_OVERTURNED: usize = 3;

/// A passage may answer a question if its lexical score and similarity add up to at least this.
/// Fitted on two hundred questions, each asked with and without its answer in the store (`nacre-lab
/// eval ask`).
const MIN_FIT: f32 = 0.45;

/// From this value on, the passage is presented as the answer. A weaker match often shares only the
/// question's topic. Fitted on 40 questions of which half had no answer among memories on the same
/// topics.
const SURE_FIT: f32 = 0.84;

/// Further answers that score less than this share of the best score are dropped.
const MIN_SHARE: f32 = 0.6;

/// A memory that may answer a question. The text is redacted.
#[derive(Clone, Debug)]
pub struct Passage {
    pub id: MemoryId,
    /// Index of the memory's store in the list of searched stores.
    pub store: usize,
    pub memory_type: MemoryType,
    pub kind: Option<LearningKind>,
    pub status: Status,
    pub updated: Option<Timestamp>,
    pub title: String,
    pub body: String,
    pub quotes: Vec<Quote>,
    pub trust: Trust,
    /// Newest first.
    pub overturned: Vec<OverturnedPassage>,
    /// A later memory that contradicts this one, although no link records this.
    pub contradicted_by: Option<MemoryId>,
    pub score: f32,
    /// The lexical part of the score, from 0 to 1.
    pub lexical: f32,
    /// Cosine similarity to the question, from 0 to 1.
    pub similarity: f32,
}

#[derive(Clone, Debug)]
pub struct OverturnedPassage {
    pub id: MemoryId,
    pub title: String,
    /// Whether the older memory's own file also marks it as superseded.
    pub is_verified: bool,
}

pub struct RecallStore<'a> {
    pub store: &'a Store,
    /// The owner recorded in the lock while the index is being written.
    pub owner: &'a Owner,
}

#[derive(Clone, Debug, Default)]
pub struct Recalled {
    /// Best first.
    pub passages: Vec<Passage>,
    /// Number of files that could not be parsed as memories.
    pub n_broken: usize,
    /// Number of memories that are not indexed yet.
    pub n_postponed: usize,
}

/// Finds passages that match a question, best first. Summaries come last, because they only point
/// to sessions.
pub fn recall(
    stores: &[RecallStore<'_>],
    question: &str,
    limit: usize,
    now: Timestamp,
) -> Result<Recalled, MemoryError> {
    let mut query = Query::parse(question, now);
    // Quotation marks in a question, as in "NaN", do not mark an exact phrase.
    query.phrases.clear();
    let mut recalled = Recalled::default();
    let mut found = Vec::new();
    let candidates = limit.saturating_mul(CANDIDATES);
    for (number, RecallStore { store, owner }) in stores.iter().enumerate() {
        let index = MemoryIndex::open(store, owner, now)?;
        let options = MemoryOptions { mode: Mode::Hybrid, limit: candidates, archived: false };
        let offered = index.offer(&query, &options);
        recalled.n_broken += offered.broken.len();
        recalled.n_postponed += index.n_postponed();
        let hits = offered.hits.into_iter().filter(holds);
        found.extend(hits.map(|hit| GradedHit::new(hit, store, number)));
    }
    // Quarantined memories contain instructions that the user did not give, so they are shown only
    // during review.
    found.retain(|found| found.trust != Trust::Quarantined);
    order_hits(&mut found);
    lower_contradicted(&mut found);
    found.sort_by_key(|found| found.hit.memory.at.memory_type == MemoryType::Summary);
    found.truncate(limit);
    let passage = |found: &GradedHit| Passage::new(stores[found.store].store, found);
    recalled.passages = found.iter().map(passage).collect();
    Ok(recalled)
}

/// Returns whether a memory can be part of an answer. Hits also include superseded memories whose
/// successor was removed.
fn holds(hit: &MemoryHit) -> bool {
    !hit.memory.says_overturned() && !hit.memory.is_archived()
}

impl Passage {
    fn new(store: &Store, found: &GradedHit) -> Self {
        let hit = &found.hit;
        let memory = &hit.memory;
        let clean = |text: &str, most: usize| cut(&store.redact_text(text), most);
        let evidence = store.proof_of(memory);
        let quotes = evidence.into_iter().flat_map(|evidence| evidence.quotes).take(MAX_QUOTES);
        let older = hit.history.iter().take(MAX_OVERTURNED);
        Self {
            id: memory.at.id.clone(),
            store: found.store,
            memory_type: memory.at.memory_type,
            kind: memory.kind,
            status: memory.status,
            updated: memory.updated.or(memory.created),
            title: clean(&memory.title, MAX_QUOTE_BYTES),
            body: clean(memory.document.body().trim(), MAX_BODY_BYTES),
            trust: found.trust,
            quotes: quotes
                .map(|quote| Quote { text: clean(quote.text.trim(), MAX_QUOTE_BYTES), ..quote })
                .collect(),
            overturned: older
                .map(|older| OverturnedPassage {
                    id: older.at.id.clone(),
                    title: clean(&older.title, MAX_QUOTE_BYTES),
                    is_verified: !older.is_only_claimed(),
                })
                .collect(),
            contradicted_by: hit.contradicted_by.clone(),
            score: hit.score,
            lexical: hit.why.lexical,
            similarity: hit.why.similarity,
        }
    }

    fn fit(&self) -> f32 {
        self.lexical + self.similarity
    }

    /// Returns whether the passage may answer the question. A summary never does, because it
    /// describes what a session was about rather than what is true.
    fn may_answer(&self) -> bool {
        self.memory_type != MemoryType::Summary && self.fit() >= MIN_FIT
    }

    /// Returns the memories that this one claims to supersede, but that do not confirm the claim.
    pub fn find_unverified(&self) -> Vec<&MemoryId> {
        self.overturned.iter().filter(|one| !one.is_verified).map(|one| &one.id).collect()
    }

    /// Returns the kind of a learning, or the type of any other memory.
    pub fn word(&self) -> &'static str {
        self.kind.map_or(self.memory_type.as_str(), LearningKind::as_str)
    }

    /// Returns whether a quote adds something to the memory's text. For a memory added by hand, the
    /// quote is the text itself.
    pub fn says_more(&self, quote: &Quote) -> bool {
        let folded = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        !folded(&self.words_of_its_own()).contains(&folded(&quote.text))
    }

    /// Returns the title and body, without quotes.
    pub fn words_of_its_own(&self) -> String {
        format!("{}\n{}", self.title, self.body)
    }

    /// Returns the title, body and quotes.
    pub fn words(&self) -> String {
        let quotes: Vec<&str> = self.quotes.iter().map(|quote| quote.text.as_str()).collect();
        format!("{}\n{}", self.words_of_its_own(), quotes.join("\n"))
    }
}

#[derive(Clone, Debug)]
pub struct Told {
    pub passage: Passage,
    /// The line in the body that matches the question best. Empty if it equals the title.
    pub line: String,
    /// Whether the passage answers the question, rather than only being close to it.
    pub is_answer: bool,
}

/// Selects the passages that may answer the question. A search nearly always returns hits, but most
/// of them do not answer the question.
pub fn tell(question: &str, mut passages: Vec<Passage>) -> Vec<Told> {
    passages.retain(Passage::may_answer);
    let least = passages.first().map_or(0.0, |best| best.score * MIN_SHARE);
    passages.retain(|passage| passage.score >= least);
    passages
        .into_iter()
        .map(|passage| Told {
            line: line_of(question, &passage),
            is_answer: passage.fit() >= SURE_FIT,
            passage,
        })
        .collect()
}

fn line_of(question: &str, passage: &Passage) -> String {
    let line = snippet(&passage.body, question);
    if line.trim() == passage.title.trim() { String::new() } else { line }
}

fn cut(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    format!("{}…", text[..text.floor_char_boundary(most)].trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passage(id: &str) -> Passage {
        Passage {
            id: id.parse().unwrap(),
            store: 0,
            memory_type: MemoryType::Decision,
            kind: None,
            status: Status::Active,
            updated: None,
            title: String::new(),
            body: String::new(),
            quotes: Vec::new(),
            trust: Trust::Human,
            overturned: Vec::new(),
            contradicted_by: None,
            score: 1.0,
            lexical: 0.5,
            similarity: 0.5,
        }
    }

    #[test]
    fn a_quote_that_repeats_the_memory_says_no_more() {
        let quote = |text: &str| Quote {
            text: text.to_owned(),
            speaker: crate::Speaker::Human,
            place: String::new(),
            at: String::new(),
        };
        let quotes = vec![quote("Use SQLite\n\nOne file."), quote("we said one file")];
        let (title, body) = ("Use SQLite".to_owned(), "One file.".to_owned());
        let passage = Passage { title, body, quotes, ..passage("20260101-one") };
        assert!(!passage.says_more(&passage.quotes[0]) && passage.says_more(&passage.quotes[1]));
    }

    #[test]
    fn only_claims_that_match_well_answer() {
        let answers = |changed: Passage| {
            let told = tell("", vec![changed, Passage { score: 0.7, ..passage("20260102-two") }]);
            told.iter().map(|told| told.passage.id.to_string()).collect::<Vec<_>>().join(" ")
        };
        let one = || passage("20260101-one");
        assert_eq!(answers(one()), "20260101-one 20260102-two");
        assert_eq!(answers(Passage { score: 2.0, ..one() }), "20260101-one");
        assert_eq!(answers(Passage { lexical: 0.05, similarity: 0.2, ..one() }), "20260102-two");
        let summary = MemoryType::Summary;
        assert_eq!(answers(Passage { memory_type: summary, ..one() }), "20260102-two");
    }
}
