//! How far a session was read into memories, and what came of it: one small file a session.
//!
//! It is committed with the memories themselves. That is what makes a sync repeatable: a session that was read to
//! its end is left alone, a grown one is read on from there, and a kill in between leaves both or neither.

use nacre_core::base::ContentHash;
use nacre_core::memory::{MemoryId, Store};
use nacre_core::safefs::{FsError, RelPath};
use nacre_core::transcript::Agent;
use serde::{Deserialize, Serialize};

use crate::flows::run::RunId;

const VERSION: u32 = 1;

/// A mark is a page; a larger one is not ours.
const MAX_MARK_BYTES: u64 = 1 << 20;

/// What is known of a session in a store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    pub version: u32,
    /// The session's own id.
    pub session: String,
    pub agent: Agent,
    /// Events before this one were extracted.
    pub next_sequence: u64,
    /// Of these events, so that a rewritten trace is noticed.
    pub digest: String,
    /// Its summary, and the bytes that were written: a person may have changed them since.
    pub summary: Option<MemoryId>,
    pub summary_bytes: Option<ContentHash>,
    /// The runs whose transcripts are kept, newest last.
    pub runs: Vec<RunId>,
}

impl Mark {
    pub(super) fn new(session: &str, agent: Agent) -> Self {
        Self {
            version: VERSION,
            session: session.to_owned(),
            agent,
            next_sequence: 0,
            digest: String::new(),
            summary: None,
            summary_bytes: None,
            runs: Vec::new(),
        }
    }

    /// Where the mark of a session lies.
    pub fn path(key: &str) -> Result<RelPath, FsError> {
        RelPath::new(&format!("meta/sessions/{key}.json"))
    }

    /// The mark of a session; a file that is none is as good as none.
    pub fn read(store: &Store, key: &str) -> Result<Option<Self>, FsError> {
        let bytes = store.scope().read_optional(&Self::path(key)?, MAX_MARK_BYTES)?;
        let mark = bytes.and_then(|bytes| serde_json::from_slice::<Self>(&bytes).ok());
        Ok(mark.filter(|mark| mark.version == VERSION))
    }

    /// Where the transcript of a run is kept.
    pub fn transcript(agent: Agent, run: &RunId) -> Result<RelPath, FsError> {
        RelPath::new(&format!("meta/traces/sessions/{}/{run}.jsonl", agent.as_str()))
    }
}
