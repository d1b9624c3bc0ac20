//! What a team learned, what is contested among its memories, and what nobody uses.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{MemoryUse, Report};

/// Since when.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TeamReportRequest {
    /// A day, a moment or an age. Without it, `7d`.
    pub since: Option<String>,
}

/// What is told of every project that the caller may read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TeamReport {
    pub since: String,
    pub until: String,
    /// Projects with something to tell, by name.
    pub projects: Vec<TeamProject>,
    /// How many projects were looked at.
    pub n_projects: usize,
    /// Decisions of one project of which another says otherwise. Told, and left to people.
    pub across: Vec<ProjectContradiction>,
    /// How many memories were not compared: there are more than one report compares.
    pub n_not_compared: usize,
    /// Projects that could not be read.
    pub unreadable: Vec<String>,
}

impl Report for TeamReport {}

/// What is told of one project.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TeamProject {
    pub project: String,
    /// What was learned since and is in use, the newest first.
    pub learned: Vec<MemoryUse>,
    /// How much of that there is, listed or not.
    pub n_learned: usize,
    /// Memories that contradict each other, the surest first.
    pub contested: Vec<ContestedPair>,
    /// Memories that nobody used in two weeks or more, the weakest first.
    pub unused: Vec<MemoryUse>,
    pub n_unused: usize,
}

/// Two memories of a project that contradict each other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContestedPair {
    pub newer: String,
    pub newer_title: String,
    pub older: String,
    pub older_title: String,
    /// How sure it is, from 0 to 1.
    pub likelihood: f32,
}

/// Two decisions of different projects that contradict each other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectContradiction {
    pub newer: ProjectMemory,
    pub older: ProjectMemory,
    /// How sure it is, from 0 to 1.
    pub likelihood: f32,
}

/// A memory of a project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectMemory {
    pub project: String,
    pub id: String,
    pub title: String,
}
