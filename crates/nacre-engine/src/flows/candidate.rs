//! What a pipeline proposes, and what it left out: the shapes of `extract.json` and `summary.json`.
//!
//! Every strategy fills the same types, so that what follows cannot tell, and need not ask, whether a model was at
//! work. Ids are given here by count: a model never names a candidate.

use std::collections::BTreeMap;
use std::fmt;

use jiff::Timestamp;
use nacre_core::memory::{Basis, Claim, LearningKind, MemoryType, Quote, Status};
use nacre_core::transcript::Agent;
use serde::{Deserialize, Serialize};

/// The version of both shapes.
pub const FORMAT_VERSION: u32 = 1;

/// The most candidates of one session; more is noise.
pub const MAX_CANDIDATES: usize = 12;

/// The most that rules only suspect.
pub const MAX_SUSPECTED: usize = 6;

/// What one session gave.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Extraction {
    pub version: u32,
    /// The session's own id, which the places of its quotes begin with.
    pub session: String,
    pub agent: Agent,
    pub strategy: Strategy,
    pub gate: Gate,
    /// At most [`MAX_CANDIDATES`], the strongest first.
    pub candidates: Vec<Candidate>,
    /// How many proposals each check turned away.
    pub dropped_counts: BTreeMap<DropReason, u64>,
    /// The proposals that were turned away; of a long session the first ones.
    pub dropped: Vec<Dropped>,
}

/// How candidates are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Strategy {
    /// By rules, without a model.
    Offline,
    /// A model reads the transcript in windows.
    Windows,
    /// A model explores the transcript by code.
    Rlm,
}

/// Whether a session is worth a look at all; no model is asked about one that is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gate {
    Open,
    /// An agent worked for another agent, or for itself: no person spoke.
    NotAPersons,
    /// All that has the role of the user was put there by programs.
    NoWords,
    /// It was left before anything happened.
    Abandoned,
    /// The person only gave orders that leave nothing behind.
    Mechanical,
}

impl Gate {
    pub fn is_open(self) -> bool {
        self == Self::Open
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::NotAPersons => "not_a_persons",
            Self::NoWords => "no_words",
            Self::Abandoned => "abandoned",
            Self::Mechanical => "mechanical",
        }
    }
}

/// The name of a candidate inside its extraction: `c1`, `c2`, …
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CandidateId(String);

impl CandidateId {
    /// The name of the candidate at `index`, counted from 0.
    pub fn at(index: usize) -> Self {
        Self(format!("c{}", index + 1))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for CandidateId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A claim that may become a memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    pub id: CandidateId,
    #[serde(flatten, with = "claim")]
    pub claim: Claim,
    pub title: String,
    pub body: String,
    pub tags: Vec<String>,
    /// Situations in which it should be told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub applies: Vec<String>,
    pub confidence: f64,
    /// How it comes to be known.
    #[serde(with = "basis")]
    pub basis: Basis,
    /// What it may become: a memory that holds, or one that waits for a person.
    #[serde(with = "status")]
    pub status: Status,
    pub signal: Signal,
    /// At least one, each verbatim in the transcript. Their places read `SESSION:SEQUENCE`, as
    /// `nacre trace show` takes them.
    pub quotes: Vec<Quote>,
    /// Whether its text repeats what a tool or a page said in the session.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_repeated: bool,
}

/// What in a session gave a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Signal {
    /// The person asked for it to be remembered.
    Remember,
    /// The person corrected what the agent did, or refused it.
    Correction,
    /// The person said how they want things done.
    Preference,
    /// The person chose, and said why.
    Decision,
    /// The person took one of the options that the agent offered.
    Choice,
    /// The person stated a rule of the project.
    Convention,
    /// The person told a fact of the project's world.
    Context,
    /// Something failed, and another way worked.
    Failure,
    /// How the project is built, run and tested.
    Procedure,
    /// A model found it.
    Model,
}

impl Signal {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Remember => "remember",
            Self::Correction => "correction",
            Self::Preference => "preference",
            Self::Decision => "decision",
            Self::Choice => "choice",
            Self::Convention => "convention",
            Self::Context => "context",
            Self::Failure => "failure",
            Self::Procedure => "procedure",
            Self::Model => "model",
        }
    }
}

/// A proposal that a check turned away.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dropped {
    pub reason: DropReason,
    pub signal: Signal,
    pub title: String,
    /// Where it was said, as `SESSION:SEQUENCE`.
    pub place: String,
}

/// Why a proposal is no candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DropReason {
    /// Its quote does not occur in the transcript.
    NoEvidence,
    /// What is left of it without its secrets says nothing.
    Secret,
    TooShort,
    TooLong,
    /// The body only repeats the title.
    Tautology,
    /// The code or git says it: a path, a list, a count, a finished task.
    Derivable,
    /// It speaks of Nacre's own work.
    AboutNacre,
    /// Its words came from a rule file, a hook or a tool, not from the one who is quoted.
    Injected,
    /// It is a memory that was handed to the agent, coming back.
    Recalled,
    /// A person threw this claim away.
    Forgotten,
    /// It holds for this session only.
    NotDurable,
    /// A later message took it back, or the person undid the turn.
    Revoked,
    /// Another candidate of this session says the same.
    Repeated,
    /// It is too little of a signal to stand alone.
    Weak,
    /// Stronger ones filled the session's [`MAX_CANDIDATES`].
    OverCap,
    /// A sentence after more of them than one look at a session reads.
    Unread,
}

impl DropReason {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NoEvidence => "no_evidence",
            Self::Secret => "secret",
            Self::TooShort => "too_short",
            Self::TooLong => "too_long",
            Self::Tautology => "tautology",
            Self::Derivable => "derivable",
            Self::AboutNacre => "about_nacre",
            Self::Injected => "injected",
            Self::Recalled => "recalled",
            Self::Forgotten => "forgotten",
            Self::NotDurable => "not_durable",
            Self::Revoked => "revoked",
            Self::Repeated => "repeated",
            Self::Weak => "weak",
            Self::OverCap => "over_cap",
            Self::Unread => "unread",
        }
    }
}

/// What a session was about; the words are the person's and the agent's own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionSummary {
    pub version: u32,
    pub session: String,
    pub agent: Agent,
    pub strategy: Strategy,
    pub title: String,
    /// One sentence: what it was about and how it ended.
    pub description: String,
    /// What the person wanted.
    pub intent: String,
    /// What happened, in order.
    pub narrative: Vec<String>,
    pub outcome: String,
    /// Files that were changed, most often changed first.
    pub files: Vec<String>,
    /// Commands that were run and worked, in the order of their first run.
    pub commands: Vec<String>,
    pub started: Option<Timestamp>,
    pub ended: Option<Timestamp>,
    pub tags: Vec<String>,
    /// Whether what a brief would tell of it repeats what a tool or a page said in the session.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_repeated: bool,
}

impl SessionSummary {
    /// The summary as the body of a memory.
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

/// A basis by its name.
mod basis {
    use super::{Basis, Deserialize, Serialize};
    use serde::de::Error as _;
    use serde::{Deserializer, Serializer};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
    pub(super) fn serialize<S: Serializer>(basis: &Basis, out: S) -> Result<S::Ok, S::Error> {
        basis.as_str().serialize(out)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(input: D) -> Result<Basis, D::Error> {
        let name = String::deserialize(input)?;
        Basis::from_name(&name).ok_or_else(|| D::Error::custom("no basis of this name"))
    }
}

/// A status by its name.
mod status {
    use super::{Deserialize, Serialize, Status};
    use serde::de::Error as _;
    use serde::{Deserializer, Serializer};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
    pub(super) fn serialize<S: Serializer>(status: &Status, out: S) -> Result<S::Ok, S::Error> {
        status.as_str().serialize(out)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(input: D) -> Result<Status, D::Error> {
        String::deserialize(input)?.parse().map_err(D::Error::custom)
    }
}

/// A claim as two keys, `type` and `kind`.
mod claim {
    use super::{Claim, Deserialize, LearningKind, MemoryType, Serialize};
    use serde::de::Error as _;
    use serde::{Deserializer, Serializer};

    #[derive(Serialize, Deserialize)]
    struct Keys {
        #[serde(rename = "type")]
        memory_type: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kind: Option<String>,
    }

    pub(super) fn serialize<S: Serializer>(claim: &Claim, out: S) -> Result<S::Ok, S::Error> {
        let kind = match claim {
            Claim::Decision => None,
            Claim::Learning(kind) => Some(kind.as_str().to_owned()),
        };
        let keys = Keys { memory_type: claim.memory_type().as_str().to_owned(), kind };
        keys.serialize(out)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(input: D) -> Result<Claim, D::Error> {
        let keys = Keys::deserialize(input)?;
        match keys.memory_type.parse::<MemoryType>().map_err(D::Error::custom)? {
            MemoryType::Decision => Ok(Claim::Decision),
            MemoryType::Learning => {
                let kind = keys.kind.unwrap_or_default();
                kind.parse::<LearningKind>().map(Claim::Learning).map_err(D::Error::custom)
            }
            MemoryType::Summary => Err(D::Error::custom("a summary is no claim")),
        }
    }
}

#[cfg(test)]
mod tests {
    use nacre_core::memory::Speaker;

    use super::*;

    fn candidate(claim: Claim) -> Candidate {
        Candidate {
            id: CandidateId::at(0),
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

    #[test]
    fn names_in_json_are_the_names_on_screen() {
        let json = |value: serde_json::Value| value.as_str().unwrap_or_default().to_owned();
        for gate in
            [Gate::Open, Gate::NotAPersons, Gate::NoWords, Gate::Abandoned, Gate::Mechanical]
        {
            assert_eq!(json(serde_json::to_value(gate).unwrap()), gate.as_str());
        }
        for reason in [DropReason::NoEvidence, DropReason::AboutNacre, DropReason::OverCap] {
            assert_eq!(json(serde_json::to_value(reason).unwrap()), reason.as_str());
        }
        for signal in [Signal::Remember, Signal::Choice, Signal::Model] {
            assert_eq!(json(serde_json::to_value(signal).unwrap()), signal.as_str());
        }
    }
}
