//! The lead: an agent that decides on candidates whose similarity scores are inconclusive.
//!
//! It receives the candidates, the most similar memories and its explorers' findings, and returns
//! one decision per candidate. It never sees trace text and has no tools that write. The caller
//! checks the decisions against the store and applies them.

mod explorers;
mod form;
#[cfg(test)]
mod tests;
mod work;

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use nacre_base::ContentHash;
use nacre_memory::{Claim, LEARNING_KINDS, Located, MemoryId, MemoryType, Status, Store, TYPES};
pub use nacre_types::LeadAction;
use serde_json::{Value, json};

use crate::agents::merged::MergedText;
use crate::lifecycle::{AgentSpec, Completion};
use crate::model::Role;
use crate::tools::{Budgets, MemoryUse, Permissions};

pub use self::explorers::ExplorerReport;
pub use self::work::{Lead, LeadReport};

/// Directories in the memory root that the lead and its explorers cannot read. Summaries describe
/// what happened in a session rather than what was learned from it.
pub const LEAD_DENIED: &[&str] = &["summaries"];

/// Read-only tools. Write tools would be refused anyway.
const TOOLS: &[&str] = &["file_read", "file_find", "file_search", "memory_search"];

const BUDGETS: Budgets = Budgets {
    steps: 12,
    tool_calls: 24,
    wall: Duration::from_secs(300),
    context_tokens: 48_000,
    answer_tokens: 4096,
    total_tokens: Some(300_000),
};

/// Maximum bytes per memory in the prompt. The lead can read the rest from the file.
const MAX_SHOWN_BYTES: usize = 1_200;

#[derive(Clone, Debug)]
pub struct LeadRequest {
    pub run_id: String,
    pub session: String,
    pub trace_path: String,
    pub run_folder: String,
    /// Never empty.
    pub cases: Vec<Case>,
}

/// A candidate whose similarity scores are inconclusive.
#[derive(Clone, Debug)]
pub struct Case {
    pub candidate_id: String,
    pub claim: Claim,
    pub title: String,
    pub body: String,
    /// Timestamp of the candidate's latest evidence.
    pub said: Option<Timestamp>,
    pub quotes: Vec<String>,
    /// The most similar memories, best match first.
    pub near: Vec<NearMemory>,
}

#[derive(Clone, Debug)]
pub struct NearMemory {
    pub at: Located,
    pub title: String,
    pub body: String,
    /// Timestamp of the memory's latest evidence.
    pub said: Option<Timestamp>,
    pub status: Status,
    /// Probability that the memory has the same subject as the candidate, from 0 to 1.
    pub overlap: f32,
    /// The file's hash when the memories were compared.
    pub seen: ContentHash,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeadRuling {
    pub candidate_id: String,
    pub action: LeadAction,
    pub target: Option<MemoryId>,
    /// The target file's hash when the lead read it. If the file has changed since then, the lead
    /// must decide again.
    pub seen: Option<ContentHash>,
    pub quote: String,
    pub reason: String,
    /// The memory's new text, already checked. Set only for updates.
    pub merged: Option<MergedText>,
}

nacre_base::words! {
    /// The lead's steps, in the fixed order in which the host runs them. Only two of them call a
    /// model.
    LeadStep {
        Explore = "explore",
        Settle = "settle",
        Check = "check",
    }
}

impl Case {
    fn memory_type(&self) -> MemoryType {
        self.claim.memory_type()
    }

    fn to_json(&self) -> Value {
        let kind = match self.claim {
            Claim::Decision => None,
            Claim::Learning(kind) => Some(kind.as_str()),
        };
        let near: Vec<Value> = self.near.iter().map(NearMemory::to_json).collect();
        json!({
            "candidate_id": self.candidate_id, "type": self.memory_type().as_str(), "kind": kind,
            "said": day(self.said), "title": self.title, "body": self.body,
            "evidence": self.quotes, "near": near,
        })
    }
}

impl NearMemory {
    fn to_json(&self) -> Value {
        let overlap = (f64::from(self.overlap) * 100.0).round() / 100.0;
        let path = self.at.path.as_str();
        let file = path.strip_prefix("memory/").unwrap_or(path);
        json!({
            "matched_file": file, "type": self.at.memory_type.as_str(),
            "status": self.status.as_str(), "said": day(self.said), "title": self.title,
            "body": &self.body[..self.body.floor_char_boundary(MAX_SHOWN_BYTES)], "overlap": overlap,
        })
    }
}

fn day(said: Option<Timestamp>) -> Option<String> {
    said.map(|said| said.strftime("%Y-%m-%d").to_string())
}

fn permissions() -> Permissions {
    Permissions {
        memory: MemoryUse::Reads,
        denied: LEAD_DENIED.iter().map(|name| (*name).to_owned()).collect(),
        ..Permissions::read_only()
    }
}

pub fn lead(order: &LeadRequest, store: &Arc<Store>) -> AgentSpec {
    AgentSpec {
        name: "lead",
        role: Role::Lead,
        prompt: prompt(),
        tools: TOOLS.to_vec(),
        permissions: permissions(),
        budgets: BUDGETS,
        completion: Completion::Structured {
            output: form::output(&order.cases),
            validators: form::validators(&order.cases, store),
        },
        sums_up: false,
    }
}

fn prompt() -> String {
    format!(include_str!("prompt.md"), types = types())
}

pub(super) fn types() -> String {
    let mut text = String::from("A memory is one Markdown file, of one of these types:\n");
    for spec in TYPES {
        let line = format!(
            "- {} (folder `{}`): {}. For example: {}.\n",
            spec.memory_type, spec.folder, spec.definition, spec.example
        );
        text.push_str(&line);
    }
    text.push_str("Kinds of learning:\n");
    for spec in LEARNING_KINDS {
        text.push_str(&format!("- {}: {}.\n", spec.kind, spec.definition));
    }
    text
}
