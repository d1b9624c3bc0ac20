//! What the extractor is worth, on sessions whose labels were written before it.
//!
//! A data set is one JSON object a line: `id`, `events` (lines of the transcript format as values), `keep` (what
//! should be found: `quote`, `signal`, `explicit`) and `allow` (quotes that may be). Odd lines are for tuning, even
//! lines are held out.

use nacre_core::transcript::{Event, Sink, generic};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Extractor, Rules};
use crate::flows::candidate::{Candidate, Extraction};

/// A shorter overlap of a quote and a label is chance.
const MIN_OVERLAP: usize = 12;

/// A session with what should be found in it.
#[derive(Debug, Deserialize)]
pub struct Labelled {
    pub id: String,
    events: Vec<Box<RawValue>>,
    #[serde(default)]
    pub keep: Vec<Label>,
    #[serde(default)]
    pub allow: Vec<String>,
}

/// Something worth keeping.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Label {
    pub quote: String,
    pub signal: String,
    /// The person said it outright: a correction, a decision, a request to remember.
    #[serde(default)]
    pub explicit: bool,
}

/// Which lines of a data set to go by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    Tune,
    HeldOut,
    All,
}

/// A line that is no labelled session.
#[derive(Debug, thiserror::Error)]
#[error("Line {line} is no labelled session: {source}")]
pub struct BadLine {
    pub line: usize,
    source: serde_json::Error,
}

/// Reads a data set.
pub fn read(text: &str) -> Result<Vec<Labelled>, BadLine> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(idx, line)| {
            serde_json::from_str(line).map_err(|source| BadLine { line: idx + 1, source })
        })
        .collect()
}

impl Labelled {
    /// The session in the transcript format.
    pub fn transcript(&self) -> String {
        let lines: Vec<&str> = self.events.iter().map(|event| event.get()).collect();
        lines.join("\n") + "\n"
    }

    /// What the offline strategy finds in it.
    pub fn extract(&self) -> Extraction {
        let mut extractor = Extractor::new(Rules::default());
        let mut each = |event: Event| extractor.take(&event);
        let facts = generic::read_text(&self.id, &self.transcript(), Sink::everything(&mut each));
        extractor.finish(&facts)
    }
}

/// Counts over sessions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scores {
    pub sessions: usize,
    /// Candidates, and those of them that match a label no other matched.
    pub kept: usize,
    pub right: usize,
    /// Sessions with nothing to keep, and those of them that gave nothing.
    pub empty: usize,
    pub stayed_empty: usize,
    pub explicit: usize,
    pub explicit_found: usize,
    pub labels: usize,
    pub labels_found: usize,
}

impl Scores {
    /// The share of candidates that are right; 1 where there are none.
    pub fn precision(&self) -> f64 {
        share(self.right, self.kept)
    }

    pub fn empty_stays_empty(&self) -> f64 {
        share(self.stayed_empty, self.empty)
    }

    pub fn explicit_recall(&self) -> f64 {
        share(self.explicit_found, self.explicit)
    }

    pub fn recall(&self) -> f64 {
        share(self.labels_found, self.labels)
    }
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 {
        return 1.0;
    }
    #[expect(clippy::cast_precision_loss, reason = "counts of a data set")]
    let share = part as f64 / whole as f64;
    share
}

/// What went otherwise than labelled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Slip {
    /// Kept, and no label says so.
    Wrong { session: String, title: String },
    /// Labelled, and not found.
    Missed { session: String, quote: String },
}

/// The scores, and every slip.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    pub scores: Scores,
    pub slips: Vec<Slip>,
}

/// Runs the offline strategy over a data set.
pub fn run(sessions: &[Labelled], half: Half) -> Report {
    let mut report = Report::default();
    for (idx, session) in sessions.iter().enumerate() {
        let is_wanted = match half {
            Half::All => true,
            Half::Tune => idx % 2 == 0,
            Half::HeldOut => idx % 2 == 1,
        };
        if is_wanted {
            report.add(session, &session.extract());
        }
    }
    report
}

impl Report {
    fn add(&mut self, session: &Labelled, extraction: &Extraction) {
        let Self { scores, slips } = self;
        scores.sessions += 1;
        scores.kept += extraction.candidates.len();
        let mut is_found = vec![false; session.keep.len()];
        for candidate in &extraction.candidates {
            let label = session.keep.iter().position(|label| matches(candidate, &label.quote));
            let is_new = label.is_some_and(|at| !std::mem::replace(&mut is_found[at], true));
            let is_allowed =
                label.is_none() && session.allow.iter().any(|quote| matches(candidate, quote));
            if is_new || is_allowed {
                scores.right += 1;
            } else {
                slips.push(Slip::Wrong {
                    session: session.id.clone(),
                    title: candidate.title.clone(),
                });
            }
        }
        if session.keep.is_empty() && session.allow.is_empty() {
            scores.empty += 1;
            scores.stayed_empty += usize::from(extraction.candidates.is_empty());
        }
        for (label, is_found) in session.keep.iter().zip(is_found) {
            scores.labels += 1;
            scores.labels_found += usize::from(is_found);
            scores.explicit += usize::from(label.explicit);
            scores.explicit_found += usize::from(label.explicit && is_found);
            if !is_found {
                slips
                    .push(Slip::Missed { session: session.id.clone(), quote: label.quote.clone() });
            }
        }
    }
}

/// Whether one of a candidate's quotes and the label hold one another.
fn matches(candidate: &Candidate, label: &str) -> bool {
    let holds = |one: &str, other: &str| {
        one.contains(other) && (other.len() >= MIN_OVERLAP || one == other)
    };
    candidate.quotes.iter().any(|quote| holds(&quote.text, label) || holds(label, &quote.text))
}
