//! Projects: repositories that get a store, and the register that gives each of them a name.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{AgentSessions, Outcome, Report};

/// Prepares the repository around the current folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct InitRequest {
    /// The project's name; without it, the folder's.
    pub name: Option<String>,
}

/// A repository that has a store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InitReport {
    pub root: String,
    /// `null` when it could not be registered.
    pub project: Option<String>,
    pub is_git: bool,
    /// What was made now; nothing when the store was there already.
    pub created: Vec<String>,
    pub memories: usize,
    /// Of these, memories that came from elsewhere and wait for `nacre trust`.
    #[serde(default)]
    pub foreign: usize,
    /// The sessions of this repository that the agents hold.
    #[serde(default)]
    pub sessions: Vec<AgentSessions>,
    /// Of these, sessions that no sync has finished.
    #[serde(default)]
    pub new_sessions: u64,
    /// There may be more sessions: the look was ended early.
    #[serde(default)]
    pub is_partial: bool,
    /// Whether any agent's sessions were found, of whatever folder.
    #[serde(default)]
    pub has_agents: bool,
    /// Agents that left sessions here and that a person took out, so that they are not read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub switched_off: Vec<String>,
    /// Whether git shares the summaries of sessions.
    pub shares_summaries: bool,
    /// A command to try next.
    pub next: String,
}

impl Report for InitReport {
    fn outcome(&self) -> Outcome {
        Outcome::partial_if(self.project.is_none())
    }
}

/// Prepares the repository at a path, as `init` does for the one around the current folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProjectAddRequest {
    /// The repository's folder.
    pub path: PathBuf,
    /// Its name; without it, the one it has, or the folder's.
    #[serde(default)]
    pub name: Option<String>,
}

/// A registered repository that has a store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectAddReport {
    pub path: String,
    #[serde(flatten)]
    pub prepared: InitReport,
    /// The id that `nacre undo` takes; nothing where nothing changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<String>,
}

impl Report for ProjectAddReport {}

/// Lists the registered projects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProjectListRequest {}

/// The registered projects, in the order of the register.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectListReport {
    pub projects: Vec<ProjectEntry>,
}

impl Report for ProjectListReport {}

/// One registered project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectEntry {
    pub name: String,
    pub path: String,
    pub state: ProjectState,
}

/// What there is at the path of a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProjectState {
    /// A folder with a store.
    Ready,
    /// A folder without a store.
    #[serde(rename = "no store")]
    NoStore,
    /// No folder.
    Missing,
}

impl ProjectState {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::NoStore => "no store",
            Self::Missing => "missing",
        }
    }
}

/// Takes a project out of the register. Its files stay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProjectRemoveRequest {
    pub name: String,
}

/// A project that is no longer registered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectRemoveReport {
    /// Its name.
    pub removed: String,
    /// The id that `nacre undo` takes; nothing where nothing changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<String>,
}

impl Report for ProjectRemoveReport {}
