//! Answers a question without a language model, by selecting the memories and lines that match it
//! best.

use jiff::Timestamp;
use nacre_base::fs::Owner;

use crate::search::{
    Embedder, MemoryHit, MemoryIndex, MemoryOptions, Mode, Query, SearchError, snippet,
};
use crate::{LearningKind, MemoryId, MemoryType, Quote, Status, Store, Trust};

const MAX_BODY_BYTES: usize = 2_400;

/// A backed memory counts as an equally good match if it has at least this share of the best score.
const BACKED_FLOOR: f32 = 0.5;

/// Like `BACKED_FLOOR`, but for the user's own memories. They take precedence over files in a
/// clone, which could be written to match any question and contain forged evidence.
const OWN_FLOOR: f32 = 0.7;

/// The search fetches this many times the requested hits, so that files in a clone cannot displace
/// the user's own memories.
const CANDIDATES: usize = 4;

const MAX_QUOTES: usize = 2;
const MAX_QUOTE_BYTES: usize = 400;

const MAX_OVERTURNED: usize = 3;

/// Minimum sum of a passage's lexical score and similarity. Fitted on a hundred questions with an
/// answer and twenty without (`nacre-lab eval ask`).
const MIN_FIT: f32 = 0.42;

/// Passages that score less than this share of the best score are dropped.
const MIN_SHARE: f32 = 0.4;

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
    /// Whether the memory is trusted: it has a quote, was written on this machine, or is in the
    /// global store.
    pub is_backed: bool,
    /// Whether the memory was written on this machine, adopted by the user, or is in the global
    /// store.
    pub is_own: bool,
    pub trust: Trust,
    /// Newest first.
    pub overturned: Vec<OverturnedPassage>,
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
    pub embedder: &'a dyn Embedder,
    /// Recorded in the lock while the index is written.
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

/// Finds passages that match a question, best first.
pub fn recall(
    stores: &[RecallStore<'_>],
    question: &str,
    limit: usize,
    now: Timestamp,
) -> Result<Recalled, SearchError> {
    let mut query = Query::parse(question, now);
    // Quotation marks in a question, as in "NaN", do not mark an exact phrase.
    query.phrases.clear();
    let mut recalled = Recalled::default();
    let candidates = limit.saturating_mul(CANDIDATES);
    for (number, RecallStore { store, embedder, owner }) in stores.iter().enumerate() {
        let index = MemoryIndex::open(store, *embedder, owner, now)?;
        let options = MemoryOptions { mode: Mode::Hybrid, limit: candidates, archived: false };
        let found = index.offer(&query, &options)?;
        recalled.n_broken += found.broken.len();
        recalled.n_postponed += index.n_postponed();
        let hits = found.hits.iter().filter(|hit| holds(hit));
        let passages = hits.map(|hit| Passage::new(store, number, hit));
        // Quarantined memories contain instructions that the user did not give, so they are shown
        // only during review.
        let shown = passages.filter(|passage| passage.trust != Trust::Quarantined);
        recalled.passages.extend(shown);
    }
    put_in_order(&mut recalled.passages);
    recalled.passages.truncate(limit);
    Ok(recalled)
}

/// Sorts passages, best first. Among similar scores, the user's own memories come before other
/// backed ones.
fn put_in_order(passages: &mut [Passage]) {
    // If scores are equal, the first store wins.
    passages.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.store.cmp(&b.store)));
    // Foreign files could be written to match anything, so their scores must not count as the best.
    let holding = passages.iter().find(|passage| passage.holds());
    let best = holding.or(passages.first()).map_or(0.0, |best| best.score);
    passages.sort_by_key(|passage| passage.tier(best));
    // A memory that makes an unverified claim to supersede one of the user's own must not rank
    // above it.
    for at in 0..passages.len() {
        let claimant = &passages[at];
        let is_overturned = |own: &Passage| {
            own.is_own
                && own.store == claimant.store
                && claimant.find_unverified().contains(&&own.id)
        };
        let below =
            (at + 1..passages.len()).find(|idx| !claimant.is_own && is_overturned(&passages[*idx]));
        if let Some(below) = below {
            passages[at..=below].rotate_right(1);
        }
    }
}

/// Returns whether a memory can be part of an answer. Hits also include superseded memories whose
/// successor was removed.
fn holds(hit: &MemoryHit) -> bool {
    !hit.memory.says_overturned() && !hit.memory.is_archived()
}

impl Passage {
    fn new(store: &Store, number: usize, hit: &MemoryHit) -> Self {
        let memory = &hit.memory;
        let clean = |text: &str, most: usize| cut(&store.redact_text(text), most);
        let evidence = store.proof_of(memory);
        let quotes: Vec<Quote> =
            evidence.into_iter().flat_map(|evidence| evidence.quotes).take(MAX_QUOTES).collect();
        let trust = store.trust_of(memory);
        let is_persons =
            store.scope().is_private() || (store.is_own(&memory.at.id) && !trust.waits());
        let older = hit.history.iter().take(MAX_OVERTURNED);
        Self {
            id: memory.at.id.clone(),
            store: number,
            memory_type: memory.at.memory_type,
            kind: memory.kind,
            status: memory.status,
            updated: memory.updated.or(memory.created),
            title: clean(&memory.title, MAX_QUOTE_BYTES),
            body: clean(memory.document.body().trim(), MAX_BODY_BYTES),
            is_backed: (!quotes.is_empty() && !trust.waits()) || is_persons,
            is_own: is_persons,
            trust,
            quotes: quotes
                .into_iter()
                .map(|quote| Quote { text: clean(quote.text.trim(), MAX_QUOTE_BYTES), ..quote })
                .collect(),
            overturned: older
                .map(|older| OverturnedPassage {
                    id: older.at.id.clone(),
                    title: clean(&older.title, MAX_QUOTE_BYTES),
                    is_verified: !older.is_only_claimed(),
                })
                .collect(),
            score: hit.score,
            lexical: hit.why.lexical,
            similarity: hit.why.similarity,
        }
    }

    /// Returns whether the memory is accepted and trusted.
    pub fn holds(&self) -> bool {
        self.status != Status::Candidate && !self.trust.waits()
    }

    /// Returns the rank group. Lower groups come first, regardless of the score: decisions and
    /// learnings, then summaries, then weak matches, candidates and foreign memories.
    fn tier(&self, best: f32) -> u8 {
        let summary = u8::from(self.memory_type == MemoryType::Summary) * 2;
        if self.trust.waits() {
            6
        } else if self.status == Status::Candidate {
            5
        } else if self.is_own && best * OWN_FLOOR <= self.score {
            summary
        } else if self.is_backed && best * BACKED_FLOOR <= self.score {
            1 + summary
        } else {
            4
        }
    }

    /// Returns the memories that this one claims to supersede but that do not confirm it.
    pub fn find_unverified(&self) -> Vec<&MemoryId> {
        self.overturned.iter().filter(|one| !one.is_verified).map(|one| &one.id).collect()
    }

    /// Returns a learning's kind, or any other memory's type.
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
}

/// Selects the passages that answer the question. A search always returns hits, so the answer is
/// empty unless at least one of them matches well enough.
pub fn tell(question: &str, passages: Vec<Passage>) -> Vec<Told> {
    let is_about = |passage: &Passage| passage.lexical + passage.similarity >= MIN_FIT;
    if !passages.iter().any(is_about) {
        return Vec::new();
    }
    let holding = passages.iter().filter(|passage| passage.holds());
    let best = holding.map(|passage| passage.score).fold(0.0, f32::max);
    let mut passages = passages;
    if !passages.first().is_some_and(is_about) {
        // The first passage becomes the answer, so put passages on the topic first.
        let is_answer = |passage: &Passage| is_about(passage) && !passage.trust.waits();
        if passages.iter().any(is_answer) {
            passages.sort_by_key(|passage| (passage.trust.waits(), !is_about(passage)));
        } else {
            // If only foreign memories are on the topic, remove all others.
            passages.retain(is_about);
        }
    }
    let told = passages.into_iter().filter(|passage| passage.score >= best * MIN_SHARE);
    told.map(|passage| Told { line: line_of(question, &passage), passage }).collect()
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

    fn passage(id: &str, score: f32, is_own: bool, is_backed: bool) -> Passage {
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
            is_backed,
            is_own,
            trust: Trust::Human,
            overturned: Vec::new(),
            score,
            lexical: 0.0,
            similarity: 0.0,
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
        let passage = Passage { title, body, quotes, ..passage(OWN, 1.0, true, true) };
        assert!(!passage.says_more(&passage.quotes[0]) && passage.says_more(&passage.quotes[1]));
    }

    fn order_ids(mut passages: Vec<Passage>) -> Vec<String> {
        put_in_order(&mut passages);
        passages.iter().map(|passage| passage.id.to_string()).collect()
    }

    const OWN: &str = "20260101-own";
    const OTHER: &str = "20260201-other";

    #[test]
    fn a_persons_own_memory_stands_above_one_that_fits_about_as_well() {
        let order = |own: f32, is_backed: bool| {
            let other = passage(OTHER, 1.0, false, is_backed);
            order_ids(vec![other, passage(OWN, own, true, true)])
        };
        assert_eq!(order(0.75, true), [OWN, OTHER], "forged evidence does not help");
        assert_eq!(order(0.65, true), [OTHER, OWN], "a much better match comes first");
        assert_eq!(order(0.65, false), [OWN, OTHER], "an unbacked memory does not come first");
        assert_eq!(order(0.45, false), [OTHER, OWN]);
    }

    #[test]
    fn what_was_decided_stands_above_summaries_and_candidates_stand_last() {
        let order = |score: f32| {
            let summary = Passage {
                memory_type: MemoryType::Summary,
                ..passage("20260101-summary", 1.0, true, true)
            };
            let candidate = Passage {
                status: Status::Candidate,
                ..passage("20260101-candidate", 2.0, true, true)
            };
            order_ids(vec![summary, candidate, passage(OWN, score, true, true)])
        };
        assert_eq!(order(1.1), [OWN, "20260101-summary", "20260101-candidate"]);
        assert_eq!(order(0.4), ["20260101-summary", OWN, "20260101-candidate"]);
    }

    #[test]
    fn a_claim_that_is_not_verified_does_not_stand_above_what_it_claims_to_overturn() {
        let order = |is_verified: bool, is_own: bool| {
            let mut claimant = passage(OTHER, 1.0, is_own, true);
            let title = String::new();
            let id = OWN.parse().unwrap();
            claimant.overturned = vec![OverturnedPassage { id, title, is_verified }];
            let third = passage("20260301-third", 0.8, false, true);
            order_ids(vec![third, claimant, passage(OWN, 0.1, true, true)])
        };
        assert_eq!(order(false, false), [OWN, OTHER, "20260301-third"]);
        assert_eq!(order(true, false), [OTHER, "20260301-third", OWN]);
        assert_eq!(order(false, true), [OTHER, "20260301-third", OWN]);
    }
}
