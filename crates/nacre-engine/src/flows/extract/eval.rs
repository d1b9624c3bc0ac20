//! What a reader of sessions is worth, on sessions that people labelled before.
//!
//! A data set has one object a line: `file` (a trace below a folder), `keep` (what a project's memory should hold, with its
//! importance, its place and exact words) and `not` (tempting things that must not be kept). An entry matches a label by
//! place and quote. What matches nothing is neither right nor wrong by machine: it is listed, with the label that it is
//! nearest to, for a human eye, and a file of verdicts settles it.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use nacre_core::memory::{MemoryType, Status};
use nacre_core::transcript::{Error, Event, Place, Sink, Trace};
use serde::Deserialize;

use super::cues::fold;
use super::read as read_trace;
use super::reading::content_words;
use crate::flows::candidate::{Candidate, Extraction};

/// A shorter overlap of two quotes is chance.
const MIN_OVERLAP: usize = 12;
/// Words that an entry and a label of the same place must share.
const MIN_SHARED: usize = 2;

/// A session with what should be found in it.
#[derive(Clone, Debug, Deserialize)]
pub struct Labelled {
    /// The trace, below the folder of traces.
    pub file: String,
    #[serde(default)]
    pub keep: Vec<Label>,
    #[serde(default)]
    pub not: Vec<Tempting>,
}

/// Something worth keeping.
#[derive(Clone, Debug, Deserialize)]
pub struct Label {
    #[serde(rename = "type")]
    pub memory_type: String,
    #[serde(default)]
    pub kind: String,
    pub claim: String,
    /// 3 must be kept, 2 should be, 1 may be.
    pub importance: u8,
    pub speaker: String,
    #[serde(default)]
    pub how: String,
    /// The line of the trace, counted from 1.
    pub event: u64,
    pub quote: String,
}

/// Something that must not be kept.
#[derive(Clone, Debug, Deserialize)]
pub struct Tempting {
    pub quote: String,
    #[serde(default)]
    pub why: String,
}

/// What a person said of an entry that matches no label.
#[derive(Clone, Debug, Deserialize)]
pub struct Verdict {
    pub file: String,
    pub title: String,
    pub right: bool,
}

/// A line that is not what it should be.
#[derive(Debug, thiserror::Error)]
#[error("Line {line} is no {what}: {source}")]
pub struct BadLine {
    pub line: usize,
    what: &'static str,
    source: serde_json::Error,
}

/// Reads a data set.
pub fn read(text: &str) -> Result<Vec<Labelled>, BadLine> {
    lines(text, "labelled session")
}

/// Reads verdicts.
pub fn read_verdicts(text: &str) -> Result<Vec<Verdict>, BadLine> {
    lines(text, "verdict")
}

fn lines<'t, T: Deserialize<'t>>(text: &'t str, what: &'static str) -> Result<Vec<T>, BadLine> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let read = |(idx, line): (usize, &'t str)| {
        serde_json::from_str(line).map_err(|source| BadLine { line: idx + 1, what, source })
    };
    lines.map(read).collect()
}

/// An entry that a reader kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub title: String,
    pub body: String,
    pub status: Status,
    pub memory_type: MemoryType,
    /// Each with the line of the trace that it stands in.
    pub quotes: Vec<(u64, String)>,
}

/// The entries of an extraction, by the lines of its trace.
pub fn entries(trace: &Trace, extraction: &Extraction) -> Result<Vec<Entry>, Error> {
    let mut line_of: HashMap<u64, u64> = HashMap::new();
    let mut each = |event: Event| {
        if let Place::Line { line, .. } = event.place {
            line_of.insert(event.sequence, line);
        }
    };
    read_trace(trace, Sink::everything(&mut each))?;
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

/// What an entry turned out to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Match {
    /// It says what a label says.
    Label(usize),
    /// It says what must not be kept.
    Tempting(usize),
    /// A person judged it.
    Judged { right: bool },
    /// Nobody knows yet; the label that it is nearest to.
    Unknown { nearest: Option<usize> },
}

/// Holds the entries of a session against its labels.
pub fn matches(session: &Labelled, entries: &[Entry], verdicts: &[Verdict]) -> Vec<Match> {
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

/// The label that an entry says, by place and quote; where several do, the one that it shares most words with.
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

/// Whether entry and label share most of their words, wherever they were said: people say things twice.
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
    let folded = fold(text);
    let words = content_words(&folded).flat_map(|word| word.split(|c: char| !c.is_alphanumeric()));
    words.filter(|word| 2 < word.len()).map(stem).collect()
}

/// A word without its ending, about.
fn stem(word: &str) -> String {
    let ends = ["ing", "ed", "es", "s"];
    let cut = ends.iter().find_map(|end| word.strip_suffix(end)).filter(|rest| 3 < rest.len());
    cut.unwrap_or(word).to_owned()
}

/// Whether one of two quotes holds the other, blanks and marks aside.
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

/// What was kept with one status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    pub entries: usize,
    /// Those that match a label, or that a person found right.
    pub right: usize,
    /// Those that must not be kept, or that a person found wrong.
    pub wrong: usize,
    pub unknown: usize,
}

/// Labels, and how many of them were found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Found {
    pub labels: usize,
    /// By an entry that is active, and by any.
    pub active: usize,
    pub any: usize,
}

/// Counts over sessions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scores {
    pub sessions: usize,
    pub active: Kept,
    pub candidates: Kept,
    /// Sessions with nothing to keep, and those of them that gave nothing active.
    pub empty: usize,
    pub silent: usize,
    /// By importance, by speaker and by kind, such as `importance 3`.
    pub found: BTreeMap<String, Found>,
}

impl Scores {
    /// Adds a session: its entries and what each turned out to be.
    pub fn add(&mut self, session: &Labelled, entries: &[Entry], matches: &[Match]) {
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
