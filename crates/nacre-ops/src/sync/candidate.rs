//! The contents of `extract.json` and `summary.json`. All strategies produce these types, so that
//! later steps do not depend on the strategy that read the session.

use std::collections::BTreeMap;

use jiff::Timestamp;
use nacre_base::is_hidden_char;
use nacre_memory::{Basis, Claim, Draft, LearningKind, MemoryId, Quote, Speaker, Status, Trust};
use nacre_traces::transcript::{Agent, WordSource};
use nacre_types::{DropReason, Gate, Signal, Strategy};
use serde::{Deserialize, Serialize};

pub const FORMAT_VERSION: u32 = 1;

/// Maximum number of candidates from rules, or from a model that read the session in one window.
pub const MAX_CANDIDATES: usize = 12;

/// Maximum number of candidates from a model that read the session in many windows.
pub const MAX_FROM_WINDOWS: usize = 48;

pub const MAX_SUSPECTED: usize = 6;

/// Returns the speaker of a message. Text that may have been sent by a program is attributed to the
/// agent.
pub(crate) fn person_speaker(source: WordSource) -> Speaker {
    if source == WordSource::Unverified { Speaker::Assistant } else { Speaker::User }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Extraction {
    pub version: u32,
    /// The session id that each quote's location starts with.
    pub session: String,
    pub agent: Agent,
    pub strategy: Strategy,
    pub gate: Gate,
    /// At most [`MAX_CANDIDATES`] or [`MAX_FROM_WINDOWS`] candidates, strongest first.
    pub candidates: Vec<Candidate>,
    pub dropped_counts: BTreeMap<DropReason, u64>,
    /// The dropped candidates. For a long session, only the first dropped candidates are stored.
    pub dropped: Vec<Dropped>,
    /// Sentences that become candidates if another session repeats them.
    #[serde(skip)]
    pub(crate) remarks: Vec<Remark>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Remark {
    pub(crate) kind: LearningKind,
    pub(crate) basis: Basis,
    pub(crate) form: Form,
    /// The sentence without introductory words, or what a command reported.
    pub(crate) claim: String,
    /// The command that reported it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) command: Option<String>,
    /// A hash of the message. Pasting a message into a second session is not a repetition.
    pub(crate) message: u64,
    /// The sentence as it was written.
    pub(crate) quotes: Vec<Quote>,
}

/// How well a remark states a claim, from worst to best. A fragment needs its context.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Form {
    Fragment,
    Report,
    Request,
    Statement,
    Rule,
}

/// Returns the id of a candidate: `c1`, `c2`, and so on.
pub fn candidate_id(index: usize) -> String {
    format!("c{}", index + 1)
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    pub id: String,
    #[serde(flatten)]
    pub claim: Claim,
    pub title: String,
    pub body: String,
    pub tags: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub applies: Vec<String>,
    pub confidence: f64,
    pub basis: Basis,
    pub status: Status,
    pub signal: Signal,
    /// At least one quote. Each quote is a verbatim part of the transcript, and its location has
    /// the form `SESSION:SEQUENCE`.
    pub quotes: Vec<Quote>,
    /// Whether the text repeats tool output or web content from the session.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_repeated: bool,
    /// From 1 to 3, if a model read the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub importance: Option<u8>,
    /// How a model says that the claim is related to a memory that it was shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<KnownLink>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownLink {
    pub id: MemoryId,
    /// Whether the claim replaces the memory. Otherwise, it confirms the memory.
    pub is_replaced: bool,
}

impl Candidate {
    pub(crate) fn draft(&self, source: &str, related: Vec<MemoryId>) -> Draft {
        Draft {
            claim: self.claim,
            title: fit_title(&self.title, "Untitled claim"),
            body: self.body.clone(),
            tags: self.tags.clone(),
            applies: self.applies.clone(),
            related,
            source: source.to_owned(),
            confidence: self.confidence,
            basis: Some(self.basis),
            importance: self.importance,
            quotes: self.quotes.clone(),
            limit: if self.is_repeated { Trust::Derived } else { Trust::User },
        }
    }
}

const MAX_TITLE_BYTES: usize = 200;

/// Returns `instead` if the title has no visible characters.
pub(crate) fn fit_title(title: &str, instead: &str) -> String {
    let line = title.split_whitespace().collect::<Vec<_>>().join(" ");
    let cut = &line[..line.floor_char_boundary(MAX_TITLE_BYTES)];
    let is_visible = cut.chars().any(|c| !is_hidden_char(c) && !c.is_whitespace());
    if is_visible { cut.trim().to_owned() } else { instead.to_owned() }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dropped {
    pub reason: DropReason,
    pub signal: Signal,
    pub title: String,
    /// The location, in the form `SESSION:SEQUENCE`.
    pub place: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionSummary {
    pub version: u32,
    pub session: String,
    pub agent: Agent,
    pub strategy: Strategy,
    pub title: String,
    /// The topic and outcome in one sentence.
    pub description: String,
    pub intent: String,
    pub narrative: Vec<String>,
    pub outcome: String,
    /// The changed files, most frequently changed first.
    pub files: Vec<String>,
    /// The commands that succeeded, in the order in which they were first run.
    pub commands: Vec<String>,
    pub started: Option<Timestamp>,
    pub ended: Option<Timestamp>,
    pub tags: Vec<String>,
    /// Whether any part of the summary that briefs include repeats tool output or web content from
    /// the session.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_repeated: bool,
}

impl SessionSummary {
    pub fn body(&self) -> String {
        let list = |heading: &str, items: &[String], mark: &str| match items {
            [] => String::new(),
            items => {
                let lines: Vec<String> =
                    items.iter().map(|item| format!("- {mark}{item}{mark}\n")).collect();
                format!("\n## {heading}\n\n{}", lines.concat())
            }
        };
        let what = list("What happened", &self.narrative, "");
        let files = list("Files changed", &self.files, "`");
        let commands = list("Commands that worked", &self.commands, "`");
        let Self { intent, outcome, .. } = self;
        format!("## Intent\n\n{intent}\n{what}\n## Outcome\n\n{outcome}\n{files}{commands}")
    }
}

#[cfg(test)]
mod tests {
    use nacre_memory::{LearningKind, Speaker};

    use super::*;

    fn candidate(claim: Claim) -> Candidate {
        Candidate {
            id: candidate_id(0),
            claim,
            title: "Install before you test".to_owned(),
            body: "The tests run what is installed.".to_owned(),
            tags: vec!["testing".to_owned()],
            applies: Vec::new(),
            confidence: 0.8,
            basis: Basis::Stated,
            status: Status::Active,
            signal: Signal::Correction,
            quotes: vec![Quote {
                text: "install before you test".to_owned(),
                speaker: Speaker::User,
                place: "42:7".to_owned(),
                at: "2026-11-15T08:30:00Z".to_owned(),
            }],
            is_repeated: false,
            importance: None,
            link: None,
        }
    }

    #[test]
    fn a_candidate_reads_back_from_its_json() {
        for claim in [Claim::Decision, Claim::Learning(LearningKind::Preference)] {
            let written = serde_json::to_value(candidate(claim)).unwrap();
            let read: Candidate = serde_json::from_value(written).unwrap();
            assert_eq!(read, candidate(claim));
        }
        let written =
            serde_json::to_value(candidate(Claim::Learning(LearningKind::Pitfall))).unwrap();
        assert_eq!(
            (written["id"].as_str(), written["type"].as_str(), written["kind"].as_str()),
            (Some("c1"), Some("learning"), Some("pitfall"))
        );
    }

    #[test]
    fn a_summary_is_no_candidate() {
        let mut written = serde_json::to_value(candidate(Claim::Decision)).unwrap();
        written["type"] = "summary".into();
        assert!(serde_json::from_value::<Candidate>(written).is_err());
    }
}
