//! Scores extraction on manually labelled sessions.
//!
//! A data set has one JSON object per line: `file` (a trace), `keep` (the expected memories with
//! their importance, place and exact words) and `not` (tempting statements that must not be kept).
//! Entries are matched to labels by position and quote. An entry that matches no label is listed
//! with the most similar label, and a reviewer records in a verdict file whether it is right.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use nacre_memory::{MemoryType, Status};
use nacre_ops::sync::candidate::{Candidate, Extraction};
use nacre_traces::agents::ADAPTERS;
use nacre_traces::transcript::{Error, Position, Sink, Trace, TranscriptEvent};
use serde::{Deserialize, Serialize};

/// Minimum length of an overlap between two quotes. Shorter overlaps may be coincidental.
const MIN_OVERLAP: usize = 12;
/// Minimum number of words that an entry and a label at the same position must share to match.
const MIN_SHARED: usize = 2;

const EMPTY: &[&str] = &[
    "the", "a", "an", "it", "that", "this", "these", "those", "them", "they", "there", "is", "are",
    "was", "be", "been", "to", "of", "in", "on", "at", "for", "with", "and", "or", "but", "so",
    "not", "no", "do", "does", "did", "don't", "doesn't", "can", "could", "will", "would",
    "should", "must", "have", "has", "had", "just", "please", "now", "then", "here", "i", "i'd",
    "i'm", "we", "you", "he", "she", "my", "me", "our", "us", "your", "its", "it's", "all", "any",
    "some", "what", "which", "when", "if", "as", "by", "from", "up", "out", "about", "too", "very",
    "also", "ok", "yes", "like", "want", "need", "make", "get", "go", "let's", "lets", "thing",
    "things", "one", "always", "never", "stop", "use", "more", "again", "only", "because", "since",
    "instead", "rather", "than", "prefer", "keep", "remember", "next", "time", "mind", "idea",
    "much",
];

#[derive(Clone, Debug, Deserialize)]
pub(super) struct Labelled {
    /// Path of the trace, relative to the trace directory.
    pub(super) file: String,
    #[serde(default)]
    pub(super) keep: Vec<Label>,
    #[serde(default)]
    pub(super) not: Vec<Tempting>,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct Label {
    #[serde(rename = "type")]
    pub(super) memory_type: String,
    #[serde(default)]
    pub(super) kind: String,
    pub(super) claim: String,
    /// Importance: 3 must be kept, 2 should be kept, 1 may be kept.
    pub(super) importance: u8,
    pub(super) speaker: String,
    /// Line number in the trace, starting at 1.
    pub(super) event: u64,
    pub(super) quote: String,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct Tempting {
    pub(super) quote: String,
    #[serde(default)]
    pub(super) why: String,
}

/// A reviewer's verdict on an entry that matches no label.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Verdict {
    pub(super) file: String,
    pub(super) title: String,
    pub(super) right: bool,
}

#[derive(Debug, thiserror::Error)]
#[error("Line {line} is not a valid {what}: {source}; docs/evaluation.md describes the format")]
pub(super) struct BadLine {
    pub(super) line: usize,
    what: &'static str,
    source: serde_json::Error,
}

pub(super) fn read(text: &str) -> Result<Vec<Labelled>, BadLine> {
    lines(text, "labelled session")
}

pub(super) fn read_verdicts(text: &str) -> Result<Vec<Verdict>, BadLine> {
    lines(text, "verdict")
}

fn lines<'t, T: Deserialize<'t>>(text: &'t str, what: &'static str) -> Result<Vec<T>, BadLine> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let read = |(idx, line): (usize, &'t str)| {
        serde_json::from_str(line).map_err(|source| BadLine { line: idx + 1, what, source })
    };
    lines.map(read).collect()
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) title: String,
    pub(super) body: String,
    pub(super) status: Status,
    pub(super) memory_type: MemoryType,
    /// Quotes and their line numbers in the trace.
    pub(super) quotes: Vec<(u64, String)>,
}

pub(super) fn entries(trace: &Trace, extraction: &Extraction) -> Result<Vec<Entry>, Error> {
    let mut line_of: HashMap<u64, u64> = HashMap::new();
    let mut each = |event: TranscriptEvent| {
        if let Position::Line { line, .. } = event.place {
            line_of.insert(event.sequence, line);
        }
    };
    let adapter = ADAPTERS.iter().find(|adapter| adapter.agent() == trace.source.agent);
    if let Some(adapter) = adapter {
        adapter.read(trace, None, Sink::everything(&mut each))?;
    }
    let entry = |candidate: &Candidate| Entry {
        title: candidate.title.clone(),
        body: candidate.body.clone(),
        status: candidate.status,
        memory_type: candidate.claim.memory_type(),
        quotes: candidate
            .quotes
            .iter()
            .map(|quote| {
                let sequence = quote.place.rsplit_once(':').and_then(|(_, at)| at.parse().ok());
                let line = sequence.and_then(|at: u64| line_of.get(&at)).copied().unwrap_or(0);
                (line, quote.text.clone())
            })
            .collect(),
    };
    Ok(extraction.candidates.iter().map(entry).collect())
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Match {
    /// Matches this label.
    Label(usize),
    /// The entry matches this statement, which must not be kept.
    Tempting(usize),
    /// The entry matches no label, but a reviewer has judged it.
    Judged { right: bool },
    /// The entry has not been judged yet. `nearest` is the most similar label.
    Unknown { nearest: Option<usize> },
}

pub(super) fn matches(session: &Labelled, entries: &[Entry], verdicts: &[Verdict]) -> Vec<Match> {
    entries.iter().map(|entry| match_one(session, entry, verdicts)).collect()
}

fn match_one(session: &Labelled, entry: &Entry, verdicts: &[Verdict]) -> Match {
    let judged = verdicts.iter().find(|one| one.file == session.file && one.title == entry.title);
    if let Some(Verdict { right, .. }) = judged {
        return match (right, nearest_match(session, entry)) {
            (true, Some(label)) => Match::Label(label),
            (right, _) => Match::Judged { right: *right },
        };
    }
    if let Some(label) = nearest_match(session, entry) {
        return Match::Label(label);
    }
    let is_tempting = |tempting: &Tempting| {
        entry.quotes.iter().all(|(_, quote)| is_overlap(quote, &tempting.quote))
    };
    if let Some(tempting) = session.not.iter().position(is_tempting) {
        return Match::Tempting(tempting);
    }
    let shared = |label: &Label| n_shared(entry, &label.claim);
    let nearest = session.keep.iter().enumerate().max_by_key(|(_, label)| shared(label));
    let nearest = nearest.filter(|(_, label)| MIN_SHARED <= shared(label)).map(|(at, _)| at);
    Match::Unknown { nearest }
}

/// Returns the label that matches the entry by position and quote. If several match, it returns the
/// one that shares the most words.
fn nearest_match(session: &Labelled, entry: &Entry) -> Option<usize> {
    let is_same = |label: &Label| {
        let by_quote = entry.quotes.iter().any(|(_, quote)| is_overlap(quote, &label.quote));
        let by_place = entry.quotes.iter().any(|(line, _)| *line == label.event);
        let n_shared = n_shared(entry, &label.claim);
        (by_quote && 0 < n_shared) || (by_place && MIN_SHARED <= n_shared) || is_alike(entry, label)
    };
    let found = session.keep.iter().enumerate().filter(|(_, label)| is_same(label));
    found.max_by_key(|(_, label)| n_shared(entry, &label.claim)).map(|(at, _)| at)
}

/// Returns whether the entry and the label share most of their words. The position is ignored,
/// because statements may be repeated in a session.
fn is_alike(entry: &Entry, label: &Label) -> bool {
    let n_label = words(&label.claim).len();
    let n_title = words(&entry.title).len();
    let n_shared = n_shared(entry, &label.claim);
    6 <= n_shared && n_label <= n_shared * 2 && n_title <= n_shared * 2
}

fn n_shared(entry: &Entry, claim: &str) -> usize {
    let own = words(&format!("{} {}", entry.title, entry.body));
    own.intersection(&words(claim)).count()
}

fn words(text: &str) -> BTreeSet<String> {
    let is_edge = |c: char| !c.is_alphanumeric() && !matches!(c, '/' | '.' | '~' | '-' | '$');
    let folded = fold(text);
    let words = folded.split_whitespace().map(|word| word.trim_matches(is_edge));
    let words = words.map(|word| word.trim_end_matches('.'));
    let content = words.filter(|word| 2 < word.len() && !EMPTY.contains(word));
    let parts = content.flat_map(|word| word.split(|c: char| !c.is_alphanumeric()));
    parts.filter(|word| 2 < word.len()).map(stem).collect()
}

fn fold(text: &str) -> String {
    text.to_lowercase().replace(['’', '‘', '`'], "'")
}

fn stem(word: &str) -> String {
    let ends = ["ing", "ed", "es", "s"];
    let cut = ends.iter().find_map(|end| word.strip_suffix(end)).filter(|rest| 3 < rest.len());
    cut.unwrap_or(word).to_owned()
}

/// Returns whether either quote contains the other, ignoring everything except letters and digits.
fn is_overlap(one: &str, other: &str) -> bool {
    let plain = |text: &str| -> String {
        let folded = fold(text);
        folded.chars().filter(|c| c.is_alphanumeric()).collect()
    };
    let (one, other) = (plain(one), plain(other));
    let holds = |long: &str, short: &str| {
        long.contains(short) && (MIN_OVERLAP <= short.len() || long == short) && !short.is_empty()
    };
    holds(&one, &other) || holds(&other, &one)
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Kept {
    pub(super) entries: usize,
    /// Number of entries that match a label or were judged right.
    pub(super) right: usize,
    /// Number of entries that must not be kept or were judged wrong.
    pub(super) wrong: usize,
    pub(super) unknown: usize,
}

/// Returns part/whole, or 1 if the whole is 0.
pub(super) fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Found {
    pub(super) labels: usize,
    /// Number of labels matched by an active entry. `any` also counts labels matched by entries
    /// with another status.
    pub(super) active: usize,
    pub(super) any: usize,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Scores {
    pub(super) sessions: usize,
    pub(super) active: Kept,
    pub(super) candidates: Kept,
    /// Number of sessions without labels. `silent` counts those that produced no active entries.
    pub(super) empty: usize,
    pub(super) silent: usize,
    /// The results by importance, speaker and kind, with keys such as `importance 3`.
    pub(super) found: BTreeMap<String, Found>,
}

impl Scores {
    pub(super) fn add(&mut self, session: &Labelled, entries: &[Entry], matches: &[Match]) {
        self.sessions += 1;
        for (entry, matched) in entries.iter().zip(matches) {
            let is_active = entry.status == Status::Active;
            let kept = if is_active { &mut self.active } else { &mut self.candidates };
            kept.entries += 1;
            match matched {
                Match::Label(_) | Match::Judged { right: true } => kept.right += 1,
                Match::Tempting(_) | Match::Judged { right: false } => kept.wrong += 1,
                Match::Unknown { .. } => kept.unknown += 1,
            }
        }
        let has_active = entries.iter().any(|entry| entry.status == Status::Active);
        if session.keep.is_empty() {
            self.empty += 1;
            self.silent += usize::from(!has_active);
        }
        for (at, label) in session.keep.iter().enumerate() {
            let by = |wants_active: bool| {
                let mut both = entries.iter().zip(matches);
                both.any(|(entry, matched)| {
                    *matched == Match::Label(at)
                        && (!wants_active || entry.status == Status::Active)
                })
            };
            for group in groups(label) {
                let found = self.found.entry(group).or_default();
                found.labels += 1;
                found.active += usize::from(by(true));
                found.any += usize::from(by(false));
            }
        }
    }
}

fn groups(label: &Label) -> Vec<String> {
    let mut groups = vec![
        format!("importance {}", label.importance),
        format!("kind {}", if label.memory_type == "decision" { "decision" } else { &label.kind }),
    ];
    if label.importance >= 2 {
        groups.push("importance 2 and 3".to_owned());
        groups.push(format!("speaker {}", label.speaker));
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session() -> Labelled {
        let line = r#"{"file":"a.jsonl","keep":[{"type":"decision","kind":"none","claim":"The queue is stored in SQLite, not in Redis.","importance":3,"speaker":"user","how":"chosen","event":7,"quote":"let's take sqlite then"}],"not":[{"quote":"push it to main now","why":"one-off"}]}"#;
        read(line).unwrap().remove(0)
    }

    fn entry(title: &str, line: u64, quote: &str, status: Status) -> Entry {
        Entry {
            title: title.to_owned(),
            body: String::new(),
            status,
            memory_type: MemoryType::Decision,
            quotes: vec![(line, quote.to_owned())],
        }
    }

    #[test]
    fn entries_are_matched_by_place_and_quote() {
        let entries = [
            entry("SQLite holds the queue", 7, "let's take SQLite, then", Status::Active),
            entry("The queue is in SQLite", 7, "then", Status::Candidate),
            entry("Push to main", 9, "push it to main now", Status::Active),
            entry("Tabs in Makefiles", 3, "use tabs in makefiles please", Status::Active),
        ];
        let session = session();
        let found = matches(&session, &entries, &[]);
        assert_eq!(
            found,
            [
                Match::Label(0),
                Match::Label(0),
                Match::Tempting(0),
                Match::Unknown { nearest: None }
            ]
        );
        let mut scores = Scores::default();
        scores.add(&session, &entries, &found);
        assert_eq!((scores.active.right, scores.active.wrong, scores.active.unknown), (1, 1, 1));
        assert_eq!(scores.found["importance 3"], Found { labels: 1, active: 1, any: 1 });
    }

    #[test]
    fn a_persons_verdict_settles_what_no_label_does() {
        let verdict = r#"{"file":"a.jsonl","title":"Tabs in Makefiles","right":false}"#;
        let verdicts = read_verdicts(verdict).unwrap();
        let entries = [entry("Tabs in Makefiles", 3, "use tabs in makefiles", Status::Active)];
        assert_eq!(matches(&session(), &entries, &verdicts), [Match::Judged { right: false }]);
        assert!(read_verdicts("{}").is_err());
    }
}
