//! How far memories are trusted, and a person's word on those that came from elsewhere.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{MemoryEntry, Report, Scope};

/// Which memories to look at, and whether the person agrees.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TrustRequest {
    /// Their ids, or the starts of them; without any, all that wait are listed.
    pub ids: Vec<String>,
    /// All that came from elsewhere. What is quarantined has to be named.
    pub all: bool,
    /// Show what would be trusted, and change nothing.
    pub dry_run: bool,
    /// With their texts, and the texts that were trusted before.
    pub diff: bool,
    /// The hashes of the texts that the person saw: others are not trusted.
    pub seen: Vec<String>,
    pub scope: Option<Scope>,
}

/// The memories that wait for a person, or that were just trusted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrustReport {
    pub memories: Vec<TrustItem>,
    /// How many still came from elsewhere.
    pub foreign: usize,
    /// How many are still quarantined.
    pub quarantined: usize,
    /// How many were trusted.
    pub trusted: usize,
    /// How many wait besides these: so many at once are neither shown nor trusted.
    #[serde(default)]
    pub more: usize,
    pub dry_run: bool,
    /// The id that `nacre undo` takes; nothing where nothing changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<String>,
}

impl Report for TrustReport {}

/// One of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrustItem {
    #[serde(flatten)]
    pub memory: MemoryEntry,
    /// Why it waits.
    pub reason: String,
    /// Whether it was trusted once, and something else than Nacre changed it since.
    pub changed: bool,
    /// Who committed it last, as git says.
    pub committed_by: Option<String>,
    /// On which day.
    pub committed: Option<String>,
    /// The hash of its file.
    pub hash: String,
    /// Its file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Its file as it was trusted before, where git still has that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// Whether the person's word was just taken.
    pub trusted: bool,
}
