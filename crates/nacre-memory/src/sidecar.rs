//! The files that accompany a memory: evidence (quotes) and local state.
//!
//! Evidence is committed with the memory. The state stays on this machine, because its counters
//! would cause a conflict in every merge.

use nacre_base::bounded::at_most;
use serde::{Deserialize, Serialize};

use crate::prelude::*;
pub use nacre_types::{MemoryQuote as Quote, Speaker, Stage, Verdict};

/// Nacre never writes a sidecar this large, even after escaping.
pub(super) const MAX_SIDECAR_BYTES: u64 = 1 << 20;

const VERSION: u32 = 1;

/// Maximum number of quotes to read. Nacre writes at most 50 per memory (see `revision`), but other
/// programs may write more.
const MAX_QUOTES: usize = 256;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    pub version: u32,
    pub id: MemoryId,
    #[serde(deserialize_with = "at_most::<_, _, MAX_QUOTES>")]
    pub quotes: Vec<Quote>,
}

impl Evidence {
    pub fn new(id: MemoryId, quotes: Vec<Quote>) -> Self {
        Self { version: VERSION, id, quotes }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LocalState {
    pub version: u32,
    pub id: MemoryId,
    /// When a brief or an answer first offered the memory. All uses are later than this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offered: Option<String>,
    /// How often answers cited the memory.
    #[serde(default)]
    pub citations: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_cited: Option<String>,
    /// How often the user or new traces confirmed the memory.
    #[serde(default)]
    pub confirmations: u64,
    #[serde(default)]
    pub last_confirmed: Option<String>,
    #[serde(default)]
    pub status_before_archive: Option<String>,
    /// The sessions that repeated the memory. Each session counts once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub confirmed_in: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub feedback: Vec<Feedback>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub life: Option<Life>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged_into: Option<MemoryId>,
    /// Similar memories that the user wants to keep separate.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub apart_from: Vec<MemoryId>,
    /// Whether the memory was written on this machine or accepted by its owner. Counters prove
    /// neither, because foreign memories have them too. [`Store::state`](super::Store::state)
    /// returns `true` only with a valid `mark`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub own: bool,
    /// A keyed hash that proves `own`, or that the feedback was given on this machine. A repository
    /// cannot forge it, because it depends on the user's key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark: Option<String>,
    /// A keyed hash of the file version that the review showed to the owner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Feedback {
    pub verdict: Verdict,
    /// Who gave the verdict. Older versions of Nacre did not record this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Actor>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    pub at: String,
}

/// Returns the confidence after a verdict. If the memory was useful, its confidence moves halfway
/// to 1; any other verdict halves it.
pub(crate) fn adjust_confidence(confidence: f64, verdict: Verdict) -> f64 {
    let adjusted = match verdict {
        Verdict::Useful => confidence + (1.0 - confidence) / 2.0,
        Verdict::Wrong | Verdict::Outdated => confidence / 2.0,
    };
    (adjusted.clamp(0.0, 1.0) * 100.0).round() / 100.0
}

impl LocalState {
    pub fn is_rejected(&self) -> bool {
        self.feedback.last().is_some_and(|feedback| feedback.verdict == Verdict::Wrong)
    }

    pub fn new(id: MemoryId) -> Self {
        Self {
            version: VERSION,
            id,
            offered: None,
            citations: 0,
            last_cited: None,
            confirmations: 0,
            last_confirmed: None,
            status_before_archive: None,
            confirmed_in: Vec::new(),
            feedback: Vec::new(),
            life: None,
            merged_into: None,
            apart_from: Vec::new(),
            own: false,
            mark: None,
            shown: None,
        }
    }

    /// Applies the user's verdict to a memory that became stale or archived because of its age.
    /// From then on, its status depends on the verdict instead.
    pub(super) fn heed(&mut self, verdict: Verdict) {
        let status = match verdict {
            Verdict::Useful => Status::Active,
            Verdict::Outdated => Status::Stale,
            Verdict::Wrong => return,
        };
        let stage = self.life.as_ref().map(|life| life.stage);
        match (stage, &mut self.life) {
            (Some(Stage::Stale), life) => *life = None,
            (Some(Stage::Archived), Some(life)) => {
                life.status_before = Some(status.as_str().to_owned());
                self.status_before_archive.clone_from(&life.status_before);
            }
            (_, _) => {}
        }
    }

    /// Archives a memory that the user judged wrong. `before` is its previous status.
    pub(super) fn put_away_as_wrong(&mut self, before: Status) {
        let before = Some(before.as_str().to_owned());
        self.status_before_archive.clone_from(&before);
        let reason = SAID_WRONG.to_owned();
        self.life = Some(Life { stage: Stage::Archived, reason, status_before: before });
    }

    /// Returns whether the memory is archived only because the user judged it wrong.
    pub(super) fn is_put_away_as_wrong(&self) -> bool {
        let is_archived = self.life.as_ref().is_some_and(|life| life.stage == Stage::Archived);
        self.is_rejected() && is_archived
    }

    pub(super) fn confirm(&mut self, now: Timestamp) {
        self.confirmations = self.confirmations.saturating_add(1);
        self.last_confirmed = Some(now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string());
    }

    /// Restores an archived memory. This confirms the memory and prevents it from being merged
    /// again.
    pub(super) fn bring_back(&mut self, by: Actor, now: Timestamp) {
        self.status_before_archive = None;
        self.life = None;
        self.confirm(now);
        if self.is_rejected() {
            // Restoring a memory revokes the verdict that it is wrong.
            let at = now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
            let (verdict, by) = (Verdict::Useful, Some(by));
            self.feedback.push(Feedback { verdict, by, note: None, at });
        }
        self.apart_from.extend(self.merged_into.take());
    }

    /// Adds the counters of a memory that was merged into this one, and counts the merge as a
    /// confirmation.
    pub fn unite(&mut self, other: &Self, said: Timestamp) {
        self.offered = [&self.offered, &other.offered].into_iter().flatten().min().cloned();
        self.citations = self.citations.saturating_add(other.citations);
        self.last_cited = self.last_cited.take().max(other.last_cited.clone());
        let n_more = other.confirmations.saturating_add(1);
        self.confirmations = self.confirmations.saturating_add(n_more);
        let said = said.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        let confirmed = self.last_confirmed.take().max(other.last_confirmed.clone());
        self.last_confirmed = confirmed.max(Some(said));
        self.confirmed_in.extend(other.confirmed_in.iter().cloned());
        self.confirmed_in.sort();
        self.confirmed_in.dedup();
        self.feedback.extend(other.feedback.iter().cloned());
        self.feedback.sort_by(|a, b| a.at.cmp(&b.at));
    }

    pub fn status_to_restore(&self) -> Status {
        self.status_before_archive
            .as_deref()
            .and_then(Status::from_name)
            .filter(|status| *status != Status::Archived)
            .unwrap_or(Status::Active)
    }
}

/// Serializes a sidecar with one key per line, which keeps merge conflicts small.
pub(super) fn render<T: Serialize>(sidecar: &T) -> Vec<u8> {
    // Serialization cannot fail because the types contain only maps with string keys.
    let mut json = serde_json::to_vec_pretty(sidecar).unwrap_or_default();
    json.push(b'\n');
    json
}

pub(super) const SAID_WRONG: &str = "the user marked it as wrong";

pub fn stage_of(status: Status) -> Stage {
    let other = if status == Status::Active { Stage::Validated } else { Stage::Stale };
    Stage::from_name(status.as_str()).unwrap_or(other)
}

/// A stage in a memory's life that cannot be determined from its status alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Life {
    pub stage: Stage,
    pub reason: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status_before: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evidence_with_more_quotes_than_any_memory_has_is_refused() {
        let file = |n: usize| {
            let quote = r#"{"text":"ababx","speaker":"tool","place":"","at":""}"#;
            let quotes = vec![quote; n].join(",");
            format!(r#"{{"version":1,"id":"20260101-a","quotes":[{quotes}]}}"#)
        };
        let read = |n: usize| {
            serde_json::from_slice::<Evidence>(file(n).as_bytes()).map(|of| of.quotes.len())
        };
        assert_eq!(read(MAX_QUOTES).unwrap(), MAX_QUOTES);
        let error = read(MAX_QUOTES + 1).unwrap_err().to_string();
        assert!(error.contains("more than 256"), "{error}");
    }
}
