//! Requests and reports for teams that share a server: push and pull, shared transcripts, and
//! access tokens.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{MemoryType, MemoryUse, Outcome, Report};

/// The server that receives the memories of a project.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PushRequest {
    /// The URL of the server. It is saved for later pushes. Defaults to the `push.to` setting.
    pub to: Option<String>,
    /// The access token for the server. It is saved for later pushes.
    pub token: Option<String>,
    /// Show what would be sent, without sending anything.
    pub dry_run: bool,
    /// Also send session transcripts. On the server, only you and administrators can read them.
    pub transcripts: bool,
    /// Send transcripts, and share them with everyone who can read the project.
    pub share: bool,
}

/// The result of a push.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PushReport {
    pub to: String,
    pub project: String,
    pub dry_run: bool,
    /// Memories that were added to the server.
    pub sent: Vec<String>,
    /// Number of memories that the server already had.
    pub known: usize,
    /// Memories that the server rejected.
    pub refused: Vec<RefusedMemory>,
    /// Number of memories not sent yet.
    pub waiting: usize,
    /// Memories forgotten on this machine and then deleted from the server.
    #[serde(default)]
    pub withdrawn: Vec<String>,
    /// Memories forgotten on this machine that the server did not delete, with the reason.
    #[serde(default)]
    pub kept: Vec<KeptMemory>,
    /// The result of sending transcripts, if requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transcripts: Option<PushedTranscripts>,
    /// Why the push stopped early.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
}

/// A memory that the server did not delete.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KeptMemory {
    pub id: String,
    pub reason: String,
}

impl Report for PushReport {
    fn outcome(&self) -> Outcome {
        let is_partial =
            self.stopped.is_some() || !self.refused.is_empty() || !self.kept.is_empty();
        Outcome::partial_if(is_partial)
    }
}

/// A memory that was rejected, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RefusedMemory {
    pub id: String,
    pub reason: PushState,
}

/// The result of a pull.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PullReport {
    pub from: String,
    pub project: String,
    pub dry_run: bool,
    /// New memories. They are not given to agents until you trust them.
    pub new: Vec<String>,
    /// Memories that replaced a previously pulled version that had no local changes.
    pub updated: Vec<String>,
    /// Memories that differ from the local versions. The local versions are kept.
    pub differ: Vec<String>,
    /// Number of memories that already exist on this machine.
    pub same: usize,
    /// Number of memories skipped because you forgot them.
    pub forgotten: usize,
    /// Number of memories not pulled yet.
    pub waiting: usize,
    /// The change ID to pass to `nacre undo`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<String>,
}

/// Memories transferred between two machines. A response omits memories that no longer exist.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MovedMemories {
    pub memories: Vec<MovedMemory>,
}

/// A memory transferred between two machines, with the content of its files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MovedMemory {
    pub id: String,
    pub r#type: MemoryType,
    pub text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<String>,
    /// The hash of the version that this memory may replace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<String>,
}

/// What the server did with each pushed memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TakeInReport {
    pub memories: Vec<TakenMemory>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TakenMemory {
    pub id: String,
    pub state: PushState,
}

names! {
    /// What the server did with a pushed memory.
    pub enum PushState {
        /// The memory was added.
        Taken = "taken",
        /// The server already had the memory.
        Known = "known",
        /// The server has a different memory with this ID and keeps its own version.
        Differs = "differs",
        /// The memory was forgotten on the server.
        Forgotten = "forgotten",
        /// The content is not a memory, or is too large.
        Invalid = "invalid",
    }
}

/// Selects which of a server's memories to list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct OfferRequest {
    /// Only memories after this ID, sorted by ID.
    pub after: Option<String>,
}

/// A project's memories with the hashes of their files, in ID order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OfferReport {
    pub memories: Vec<OfferedMemory>,
    /// The ID after which the next page starts. Absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub more: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OfferedMemory {
    pub id: String,
    pub hash: String,
}

/// The memories to transfer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HandOverRequest {
    pub ids: Vec<String>,
}

/// Memories from all projects that the caller can read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TeamReport {
    pub since: String,
    pub until: String,
    /// Projects with content in this report, sorted by name.
    pub projects: Vec<TeamProject>,
    /// Number of projects examined.
    pub n_projects: usize,
    /// Decisions from different projects that contradict each other and must be resolved by users.
    pub across: Vec<ProjectContradiction>,
    /// Number of memories that were not compared because the report reached its limit.
    pub n_not_compared: usize,
    /// Projects that cannot be read.
    pub unreadable: Vec<String>,
}

/// The memories of one project.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TeamProject {
    pub project: String,
    /// Memories learned in the period that are in use, newest first.
    pub learned: Vec<MemoryUse>,
    /// Total number of memories learned in the period, including those not listed.
    pub n_learned: usize,
    /// Pairs of contradictory memories, the most likely contradictions first.
    pub contested: Vec<ContestedPair>,
    /// Memories unused for two weeks or more, lowest confidence first.
    pub unused: Vec<MemoryUse>,
    pub n_unused: usize,
}

/// Two contradictory memories of a project.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContestedPair {
    pub newer: String,
    pub newer_title: String,
    pub older: String,
    pub older_title: String,
    /// Likelihood of a contradiction, from 0 to 1.
    pub likelihood: f32,
}

/// Two contradictory decisions from different projects.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectContradiction {
    pub newer: ProjectMemory,
    pub older: ProjectMemory,
    /// Likelihood of a contradiction, from 0 to 1.
    pub likelihood: f32,
}

/// A memory of a project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectMemory {
    pub project: String,
    pub id: String,
    pub title: String,
}

/// A part of a transcript in Nacre's format.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TranscriptPutRequest {
    /// The agent of the session.
    pub agent: String,
    /// The name of the session on its original machine.
    pub session: String,
    /// The hash of the complete transcript as sent.
    pub hash: String,
    /// Size of the complete transcript in bytes.
    pub bytes: u64,
    /// Offset of this part in bytes.
    pub offset: u64,
    pub text: String,
    /// Share the transcript with everyone who can read the project.
    #[serde(default)]
    pub share: bool,
}

/// The state of a transcript on the server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TranscriptPutReport {
    pub state: TranscriptState,
    /// Number of bytes received so far, which is the offset of the next part.
    pub received: u64,
}

names! {
    /// What the server did with a part of a transcript.
    pub enum TranscriptState {
        /// The transcript is now complete.
        Taken = "taken",
        /// The server already had the complete transcript.
        Known = "known",
        /// More parts are expected.
        Partial = "partial",
        /// The transcript is larger than the server's limit.
        TooLarge = "too_large",
        /// The user has reached the server's transcript limit.
        Full = "full",
        /// The content is not a transcript or does not match its hash.
        Invalid = "invalid",
    }
}

/// A project's transcripts that are shared or belong to the caller, newest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TranscriptListReport {
    pub transcripts: Vec<TranscriptEntry>,
}

/// A transcript on a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TranscriptEntry {
    pub id: String,
    /// The user who sent the transcript. Absent for the owner of the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person: Option<String>,
    pub agent: String,
    pub session: String,
    /// The hash of the transcript as sent.
    pub hash: String,
    pub bytes: u64,
    /// When the upload was completed.
    pub at: String,
    /// Whether everyone who can read the project can also read the transcript.
    pub shared: bool,
}

/// A transcript, including its text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TranscriptShowReport {
    pub transcript: TranscriptEntry,
    pub text: String,
}

/// The result of pushing transcripts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PushedTranscripts {
    /// Sessions that were added to the server.
    pub sent: Vec<String>,
    /// Number of transcripts that the server already had.
    pub known: usize,
    /// Sessions that are too large or were rejected by the server.
    pub refused: Vec<String>,
    /// Number of sessions not sent yet.
    pub waiting: usize,
}

names! {
    /// An access level. Each level includes all previous ones.
    pub enum AccessScope {
        /// Read memories and code.
        Read = "read",
        /// Also change memories.
        Write = "write",
        /// Full access. If granted for all projects, this also covers the server itself.
        Admin = "admin",
    }
}

/// A project, and the access level in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProjectScope {
    pub project: String,
    /// The access level, if it differs from the token's level.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<AccessScope>,
}

/// The recipient of a new token, and its permissions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TokenAddRequest {
    pub person: String,
    pub scope: AccessScope,
    /// Only these projects. If empty, the token is valid for all projects.
    #[serde(default)]
    pub projects: Vec<ProjectScope>,
    /// A duration such as `90d`, or a date such as `2027-01-31`. By default, the token does not
    /// expire.
    pub expires: Option<String>,
}

/// A new token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TokenAddReport {
    /// The secret token. It is shown only once.
    pub token: String,
    #[serde(flatten)]
    pub entry: TokenEntry,
}

names! {
    /// Whether a token is valid.
    pub enum TokenState {
        Valid = "valid",
        Expired = "expired",
        Revoked = "revoked",
    }
}

/// A token without its secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TokenEntry {
    pub id: String,
    pub person: String,
    /// The access level for all projects.
    pub everywhere: Option<AccessScope>,
    /// Access levels for individual projects.
    pub projects: Vec<ProjectScope>,
    pub created: String,
    pub expires: Option<String>,
    pub state: TokenState,
}

/// Tokens, sorted by user and then by age.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TokenListReport {
    pub tokens: Vec<TokenEntry>,
}

/// Selects the audit log entries to show.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AuditRequest {
    pub person: Option<String>,
    pub project: Option<String>,
    /// A date or an age, such as `2026-01-31` or `7d`.
    pub since: Option<String>,
    /// Maximum number of entries; 0 means no limit. Defaults to 50.
    pub limit: Option<usize>,
}

/// Audit log entries, newest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AuditReport {
    pub entries: Vec<AuditLine>,
}

/// An audit log entry for one request. It does not contain the request's content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AuditLine {
    pub at: String,
    pub who: String,
    /// The route or tool that was requested.
    pub what: String,
    pub project: Option<String>,
    /// `ok` or the error code.
    pub outcome: String,
}
