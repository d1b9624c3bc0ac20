//! What stands beside a memory: the quotes that prove it, and its local counters.
//!
//! Evidence is committed with the memory. State is local: what one person's machine counted is no
//! news to a team, and would conflict at every merge.

use jiff::Timestamp;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::id::MemoryId;
use super::kinds::Status;
use super::stage::{Life, SAID_WRONG, Stage};
use crate::base::bounded::at_most;

/// The largest memory, quoted and escaped in its evidence, stays below this; a larger one is not ours.
pub(super) const MAX_SIDECAR_BYTES: u64 = 1 << 20;

const VERSION: u32 = 1;

/// No memory of ours gets more than 50 quotes (`revision`); a file with more than this is not ours, and is not read further.
const MAX_QUOTES: usize = 256;

/// The verbatim quotes behind a memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    pub version: u32,
    pub id: MemoryId,
    #[serde(deserialize_with = "at_most::<_, _, MAX_QUOTES>")]
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
    /// When it was first offered to somebody, in a brief or an answer. Until then nobody could have used it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offered: Option<String>,
    /// How often an answer cited it, and when last.
    #[serde(default)]
    pub citations: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_cited: Option<String>,
    /// How often it was confirmed, by a person or by a new trace, and when last.
    #[serde(default)]
    pub confirmations: u64,
    #[serde(default)]
    pub last_confirmed: Option<String>,
    /// The status to give back when it is restored.
    #[serde(default)]
    pub status_before_archive: Option<String>,
    /// The sessions that said it again; each counts once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub confirmed_in: Vec<String>,
    /// What people said of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub feedback: Vec<Feedback>,
    /// Where it is in its life, where its status does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub life: Option<Life>,
    /// The memory that says it now, when it was archived for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged_into: Option<MemoryId>,
    /// Memories that say the same and that a person wants beside it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub apart_from: Vec<MemoryId>,
    /// Whether this machine wrote the memory, or a person at it took it over. To be counted or cited here is not enough:
    /// that happens to memories of strangers, too. [`Store::state`](super::Store::state) gives `true` only with the mark that
    /// proves it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub own: bool,
    /// What proves `own`: a hash with the person's key, which no repository can bring.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark: Option<String>,
}

/// What a person said of a memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Feedback {
    pub verdict: Verdict,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    pub at: String,
}

/// How a memory served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Useful,
    /// It was never true.
    Wrong,
    /// It is no longer true.
    Outdated,
}

impl Verdict {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Useful => "useful",
            Self::Wrong => "wrong",
            Self::Outdated => "outdated",
        }
    }

    /// The confidence of a memory after it: half of the doubt goes, or half of the trust.
    pub fn adjusted(self, confidence: f64) -> f64 {
        let adjusted = match self {
            Self::Useful => confidence + (1.0 - confidence) / 2.0,
            Self::Wrong | Self::Outdated => confidence / 2.0,
        };
        (adjusted.clamp(0.0, 1.0) * 100.0).round() / 100.0
    }
}

impl State {
    /// Whether the last word of a person about it is that it is wrong.
    pub fn is_rejected(&self) -> bool {
        self.feedback.last().is_some_and(|feedback| feedback.verdict == Verdict::Wrong)
    }

    /// Of a memory that nothing was counted of yet.
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
        }
    }

    /// A person's word on a memory that age made stale or put away: from now on the status is theirs.
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

    /// Puts it away because a person said that it is wrong; `before` is the status that they gave it until then.
    pub(super) fn put_away_as_wrong(&mut self, before: Status) {
        let before = Some(before.as_str().to_owned());
        self.status_before_archive.clone_from(&before);
        let reason = SAID_WRONG.to_owned();
        self.life = Some(Life { stage: Stage::Archived, reason, status_before: before });
    }

    /// Whether it is put away for that and no other reason.
    pub(super) fn is_put_away_as_wrong(&self) -> bool {
        let is_archived = self.life.as_ref().is_some_and(|life| life.stage == Stage::Archived);
        self.is_rejected() && is_archived
    }

    /// A person stands behind it.
    pub(super) fn confirm(&mut self, now: Timestamp) {
        self.confirmations = self.confirmations.saturating_add(1);
        self.last_confirmed = Some(now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string());
    }

    /// What a person brings back from the archive is confirmed, and not merged again.
    pub(super) fn bring_back(&mut self, now: Timestamp) {
        self.status_before_archive = None;
        self.life = None;
        self.confirm(now);
        if self.is_rejected() {
            // Who brings it back no longer says that it is wrong.
            let at = now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
            self.feedback.push(Feedback { verdict: Verdict::Useful, note: None, at });
        }
        self.apart_from.extend(self.merged_into.take());
    }

    /// Adds what was counted of another memory that says the same, and that it was said once more.
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
        let read = |n: usize| parse::<Evidence>(file(n).as_bytes()).map(|of| of.quotes.len());
        assert_eq!(read(MAX_QUOTES).unwrap(), MAX_QUOTES);
        let error = read(MAX_QUOTES + 1).unwrap_err().to_string();
        assert!(error.contains("more than 256"), "{error}");
    }
}
