//! Memories between the machines of a team: sent to a server, taken in there, and brought back.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{MemoryType, Outcome, PushedTranscripts, Report};

/// Where to send the memories of a project.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PushRequest {
    /// The server's URL, which is kept for the next time. Without it, the setting `push.to`.
    pub to: Option<String>,
    /// The token for it, which is kept for the next time.
    pub token: Option<String>,
    /// Tell what would be sent, and send nothing.
    pub dry_run: bool,
    /// Send the transcripts of sessions, too. Only you and whoever may do everything can read them there.
    pub transcripts: bool,
    /// Send transcripts, and let everybody read them who may read the project.
    pub share: bool,
}

/// What was sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PushReport {
    pub to: String,
    pub project: String,
    pub dry_run: bool,
    /// Memories that the server has now and did not have.
    pub sent: Vec<String>,
    /// How many it had already.
    pub known: usize,
    /// Memories that the server did not take.
    pub refused: Vec<RefusedMemory>,
    /// Memories that are still to be sent.
    pub waiting: usize,
    /// Memories that were forgotten here and are forgotten there now.
    #[serde(default)]
    pub withdrawn: Vec<String>,
    /// Memories that were forgotten here and that the server keeps, with what it says of it.
    #[serde(default)]
    pub kept: Vec<KeptMemory>,
    /// The transcripts, where they were to be sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transcripts: Option<PushedTranscripts>,
    /// Why sending ended before all was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
}

/// A memory that a server did not forget.
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

/// A memory that was not taken, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RefusedMemory {
    pub id: String,
    pub reason: PushState,
}

/// Whether to bring the memories of a project from the server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PullRequest {
    /// Tell what would come, and change nothing.
    pub dry_run: bool,
}

/// What came.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PullReport {
    pub from: String,
    pub project: String,
    pub dry_run: bool,
    /// Memories that are new here. They are foreign until you trust them.
    pub new: Vec<String>,
    /// Memories that replaced the version that came before and that nobody changed here.
    pub updated: Vec<String>,
    /// Memories that are otherwise here; yours stay.
    pub differ: Vec<String>,
    /// How many were here already.
    pub same: usize,
    /// How many you forgot, which do not come back.
    pub forgotten: usize,
    /// How many are still to come.
    pub waiting: usize,
    /// The id that `nacre undo` takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<String>,
}

impl Report for PullReport {}

/// Memories that a person sends to a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TakeInRequest {
    pub memories: Vec<MovedMemory>,
}

/// A memory on its way between two machines: its files as they are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MovedMemory {
    pub id: String,
    pub r#type: MemoryType,
    pub text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<String>,
    /// The hash of the version that it may replace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<String>,
}

/// What became of each.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TakeInReport {
    pub memories: Vec<TakenMemory>,
}

impl Report for TakeInReport {}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TakenMemory {
    pub id: String,
    pub state: PushState,
}

/// What a server did with a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PushState {
    /// It is there now.
    Taken,
    /// It was there already.
    Known,
    /// Something else is there under its id, and stays.
    Differs,
    /// It was forgotten there.
    Forgotten,
    /// It is not a memory, or too large.
    Invalid,
}

impl PushState {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Taken => "taken",
            Self::Known => "known",
            Self::Differs => "differs",
            Self::Forgotten => "forgotten",
            Self::Invalid => "invalid",
        }
    }
}

/// Which memories a server has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct OfferRequest {
    /// Only those behind this id, in the order of ids.
    pub after: Option<String>,
}

/// Memories of a project with the hashes of their files, in the order of ids.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OfferReport {
    pub memories: Vec<OfferedMemory>,
    /// Where there are more: the id to ask for those behind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub more: Option<String>,
}

impl Report for OfferReport {}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OfferedMemory {
    pub id: String,
    pub hash: String,
}

/// Which memories to hand over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HandOverRequest {
    pub ids: Vec<String>,
}

/// Memories with their files. One that is gone meanwhile is left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HandOverReport {
    pub memories: Vec<MovedMemory>,
}

impl Report for HandOverReport {}
