//! What stands beside a memory: the quotes that prove it, and its local counters.
//!
//! Evidence is committed with the memory. State is local: what one person's machine counted is no
//! news to a team, and would conflict at every merge.

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::id::MemoryId;
use super::kinds::Status;

/// The largest memory, quoted and escaped in its evidence, stays below this; a larger one is not ours.
pub(super) const MAX_SIDECAR_BYTES: u64 = 16 << 20;

const VERSION: u32 = 1;

/// The verbatim quotes behind a memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    pub version: u32,
    pub id: MemoryId,
    pub quotes: Vec<Quote>,
}

/// What was said, by whom, and where that can be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quote {
    pub text: String,
    pub speaker: Speaker,
    /// The transcript's line or row, or the command that a person typed.
    pub place: String,
    /// When it was said.
    pub at: String,
}

/// Whose words a quote holds; trust is computed from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Speaker {
    /// A person, to Nacre itself.
    Human,
    /// A person, to their agent.
    User,
    Assistant,
    Tool,
}

impl Evidence {
    /// Evidence for `id`.
    pub fn new(id: MemoryId, quotes: Vec<Quote>) -> Self {
        Self { version: VERSION, id, quotes }
    }
}

/// Counters and lifecycle of a memory on this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    pub version: u32,
    pub id: MemoryId,
    /// How often an answer cited it.
    #[serde(default)]
    pub citations: u64,
    /// How often it was confirmed, by a person or by a new trace, and when last.
    #[serde(default)]
    pub confirmations: u64,
    #[serde(default)]
    pub last_confirmed: Option<String>,
    /// The status to give back when it is restored.
    #[serde(default)]
    pub status_before_archive: Option<String>,
}

impl State {
    /// A memory that was just made.
    pub fn new(id: MemoryId) -> Self {
        Self {
            version: VERSION,
            id,
            citations: 0,
            confirmations: 0,
            last_confirmed: None,
            status_before_archive: None,
        }
    }

    /// The status to restore to.
    pub fn status_to_restore(&self) -> Status {
        self.status_before_archive
            .as_deref()
            .and_then(|status| status.parse().ok())
            .filter(|status| *status != Status::Archived)
            .unwrap_or(Status::Active)
    }
}

/// A sidecar as it is stored: readable, one key a line, so that merges stay small.
pub(super) fn render<T: Serialize>(sidecar: &T) -> Vec<u8> {
    // Maps with string keys only; serialising them cannot fail.
    let mut json = serde_json::to_vec_pretty(sidecar).unwrap_or_default();
    json.push(b'\n');
    json
}

/// Reads a sidecar of a version that we know.
pub(super) fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, serde_json::Error> {
    serde_json::from_slice(bytes)
}
