//! Requests and reports for reviewing candidates and memories from other sources.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{BrokenFile, MemoryEntry, MemoryQuote, Scope};

/// Limits the list of candidates.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ReviewListRequest {
    /// Maximum number of results; 0 means no limit. Defaults to the `memory.max_results` setting.
    pub limit: Option<usize>,
    /// List the statements imported from this file one by one.
    pub file: Option<String>,
    pub scope: Option<Scope>,
    /// List the candidates of all registered projects, regardless of `scope`.
    pub all_projects: bool,
}

/// Candidates from sessions, newest first, and then those from imported files. Unless there are
/// only a few, the statements of a file are listed as one candidate with the ID `import:FILE`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReviewListReport {
    pub candidates: Vec<ReviewCandidate>,
    /// Total number of candidates, including those not listed.
    pub total: usize,
    pub broken: Vec<BrokenFile>,
}

/// A candidate with its evidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReviewCandidate {
    #[serde(flatten)]
    pub memory: MemoryEntry,
    /// The project of the candidate, if all projects are listed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    pub body: String,
    pub quotes: Vec<MemoryQuote>,
    /// Why the candidate is quarantined, if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

names! {
    /// The user's decision about a candidate.
    pub enum ReviewDecision {
        /// Make the candidate an active memory.
        Accept = "accept",
        /// Remove the candidate, and do not learn it again.
        Reject = "reject",
    }
}

/// The user's decision, and the candidates that it applies to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReviewDecideRequest {
    /// IDs of the candidates or prefixes of them. `import:FILE` stands for all statements that were
    /// imported from a file.
    pub ids: Vec<String>,
    pub decision: ReviewDecision,
    /// ID of the memory that the accepted candidate supersedes, or a prefix of that ID. Requires
    /// exactly one candidate.
    pub supersedes: Option<String>,
    pub scope: Option<Scope>,
}

/// The memories to review for trust, and the user's decision.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TrustRequest {
    /// IDs of the memories or prefixes of them. If empty, all pending memories are listed.
    pub ids: Vec<String>,
    /// Select all memories from other sources. Quarantined memories must be selected by ID.
    pub all: bool,
    /// Show which memories would be trusted, without changing anything.
    pub dry_run: bool,
    /// Include the content of each memory, both current and as last trusted.
    pub diff: bool,
    /// Hashes of the memory files that the user has reviewed. A file with any other hash is not
    /// trusted.
    pub seen: Vec<String>,
    pub scope: Option<Scope>,
}

/// Memories pending review or trusted by this request.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrustReport {
    pub memories: Vec<TrustItem>,
    /// Number of memories from other sources that are still pending.
    pub foreign: usize,
    /// Number of memories that are still quarantined.
    pub quarantined: usize,
    /// Number of memories trusted by this request.
    pub trusted: usize,
    /// Number of matching memories beyond the request limit.
    #[serde(default)]
    pub more: usize,
    pub dry_run: bool,
    /// The change ID to pass to `nacre undo`. Absent if nothing changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<String>,
}

/// A memory in a trust report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrustItem {
    #[serde(flatten)]
    pub memory: MemoryEntry,
    /// Why the memory is not yet trusted.
    pub reason: String,
    /// Whether a program other than Nacre changed the memory after it was last trusted.
    pub changed: bool,
    /// The author of the memory's last commit, from Git.
    pub committed_by: Option<String>,
    /// The date of the memory's last commit.
    pub committed: Option<String>,
    /// The hash of the memory file.
    pub hash: String,
    /// The content of the memory file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The content when the memory was last trusted, if Git still has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// Whether this request marked the memory as trusted.
    pub trusted: bool,
}

names! {
    /// The trust level of a memory on this machine, lowest first.
    pub enum TrustLevel {
        /// Contains an instruction that did not come from the user and has an address, a command or
        /// a secret.
        Quarantined = "quarantined",
        /// From another source, and not yet reviewed on this machine.
        Foreign = "foreign",
        /// From a tool, a web page or an unknown speaker.
        Derived = "derived",
        /// Stated by an agent in a session on this machine.
        Assistant = "assistant",
        /// Stated by the user in a session on this machine.
        User = "user",
        /// Written by the user, or reviewed and accepted by the user.
        Human = "human",
    }
}

impl TrustLevel {
    /// Returns whether memories at this level are given to agents automatically.
    pub fn is_offered(self) -> bool {
        self >= Self::Assistant
    }

    /// Returns whether `nacre trust` lists memories at this level as pending.
    pub fn waits(self) -> bool {
        self <= Self::Foreign
    }

    /// Returns whether a memory at this level can supersede one at level `older`. The user's
    /// statements can supersede any memory, so that users can correct earlier decisions. Other
    /// memories can supersede only memories at the same or a lower level.
    pub fn can_replace(self, older: Self) -> bool {
        self >= older || self >= Self::User
    }
}
