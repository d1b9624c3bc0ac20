//! Transcripts that a person sends to a server: theirs alone, until they share them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Report;

/// A piece of a transcript, in Nacre's own format.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TranscriptPutRequest {
    /// The agent whose session it is.
    pub agent: String,
    /// The session's name on the machine that it comes from.
    pub session: String,
    /// The hash of the whole transcript, as it is sent.
    pub hash: String,
    /// How many bytes the whole transcript has.
    pub bytes: u64,
    /// Where this piece begins.
    pub offset: u64,
    pub text: String,
    /// Let everybody read it who may read the project.
    #[serde(default)]
    pub share: bool,
}

/// What a server has of a transcript now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TranscriptPutReport {
    pub state: TranscriptState,
    /// Where the next piece begins.
    pub received: u64,
}

impl Report for TranscriptPutReport {}

/// What a server did with a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TranscriptState {
    /// The whole is there now.
    Taken,
    /// The whole was there already.
    Known,
    /// More is to come.
    Partial,
    /// It is larger than the server takes.
    TooLarge,
    /// The person has as many there as the server takes.
    Full,
    /// It is not a transcript, or not the one that its hash names.
    Invalid,
}

/// Which transcripts a server has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TranscriptListRequest {}

/// The transcripts of a project that the caller may read: their own, and what others shared. The newest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TranscriptListReport {
    pub transcripts: Vec<TranscriptEntry>,
}

impl Report for TranscriptListReport {}

/// A transcript on a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TranscriptEntry {
    pub id: String,
    /// Who sent it; nobody is the owner of the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person: Option<String>,
    pub agent: String,
    pub session: String,
    /// The hash of what was sent.
    pub hash: String,
    pub bytes: u64,
    /// When it was whole.
    pub at: String,
    /// Whether everybody may read it who may read the project.
    pub shared: bool,
}

/// Which transcript is meant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TranscriptRequest {
    pub id: String,
}

/// A transcript with its text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TranscriptShowReport {
    pub transcript: TranscriptEntry,
    pub text: String,
}

impl Report for TranscriptShowReport {}

/// A transcript that is gone from the server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TranscriptForgetReport {
    pub id: String,
}

impl Report for TranscriptForgetReport {}

/// What became of the transcripts of a push.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PushedTranscripts {
    /// Sessions that the server has now and did not have.
    pub sent: Vec<String>,
    /// How many it had already.
    pub known: usize,
    /// Sessions that are too large, or that the server did not take.
    pub refused: Vec<String>,
    /// Sessions that are still to be sent.
    pub waiting: usize,
}
