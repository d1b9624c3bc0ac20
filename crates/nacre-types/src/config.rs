//! Requests and reports about settings and registered projects.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{AgentSessions, Outcome, Report};

/// Filter for a list of settings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ConfigShowRequest {
    /// Only keys with this prefix.
    pub prefix: Option<String>,
}

/// Settings by key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConfigShowReport {
    pub settings: BTreeMap<String, Setting>,
    /// Keys without a value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_set: Vec<String>,
}

/// A setting and its description.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConfigGetReport {
    pub key: String,
    pub value: SettingValue,
    /// Where the value was set. A list can have several origins.
    pub origin: String,
    pub doc: String,
}

/// One setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Setting {
    pub value: SettingValue,
    /// Where the value was set. A list can have several origins.
    pub origin: String,
}

/// Value of a setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum SettingValue {
    Text(String),
    Int(i64),
    Decimal(f64),
    Flag(bool),
    Texts(Vec<String>),
}

/// The configuration files, in the order in which they are read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConfigPathReport {
    pub files: Vec<ConfigFile>,
}

/// One configuration file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConfigFile {
    pub layer: ConfigLayer,
    pub path: String,
    pub exists: bool,
}

names! {
    /// Scope of a configuration file.
    pub enum ConfigLayer {
        /// Settings of the user.
        Home = "home",
        /// Settings of the repository.
        Repo = "repo",
        /// The file named by `NACRE_CONFIG`.
        File = "file",
    }
}

/// Sets or unsets one key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConfigSetRequest {
    pub key: String,
    /// The new value; lists are separated by commas. Without a value, the key is removed from the
    /// file.
    pub value: Option<String>,
    /// Whether to change the repository's settings, which are shared through git.
    #[serde(default)]
    pub repo: bool,
}

/// A key that was set or unset.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConfigSetReport {
    pub key: String,
    /// The new value, or `null` if the key was removed.
    pub value: Option<String>,
    /// Path of the changed file.
    pub path: String,
    /// ID for `nacre undo`; absent if nothing changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<String>,
}

/// An initialized repository.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InitReport {
    pub root: String,
    /// Name of the project, or `null` if it could not be registered.
    pub project: Option<String>,
    pub is_git: bool,
    /// Paths created by this command; empty if the store already existed.
    pub created: Vec<String>,
    pub memories: usize,
    /// Number of these memories that were not recorded on this machine and are pending in `nacre
    /// trust`.
    #[serde(default)]
    pub foreign: usize,
    /// Number of this repository's sessions for each agent.
    #[serde(default)]
    pub sessions: Vec<AgentSessions>,
    /// Number of these sessions that are not yet processed.
    #[serde(default)]
    pub new_sessions: u64,
    /// Whether the search for sessions stopped early, so that there may be more.
    #[serde(default)]
    pub is_partial: bool,
    /// Whether sessions of any agent were found in any folder.
    #[serde(default)]
    pub has_agents: bool,
    /// Agents with sessions in this repository that the user disconnected, so they are not read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub switched_off: Vec<String>,
    /// Whether summaries of sessions are shared through git.
    pub shares_summaries: bool,
    /// Suggested next command.
    pub next: String,
}

impl Report for InitReport {
    fn outcome(&self) -> Outcome {
        Outcome::partial_if(self.project.is_none())
    }
}

/// Initializes the repository at a path and registers it as a project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProjectAddRequest {
    /// Folder of the repository.
    pub path: PathBuf,
    /// Name of the project. Defaults to its current name, or to the name of the folder.
    pub name: Option<String>,
}

/// A registered project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectAddReport {
    pub path: String,
    #[serde(flatten)]
    pub prepared: InitReport,
    /// ID for `nacre undo`; absent if nothing changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<String>,
}

/// The registered projects, in the order of registration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectListReport {
    pub projects: Vec<ProjectEntry>,
}

/// One registered project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectEntry {
    pub name: String,
    pub path: String,
    pub state: ProjectState,
}

names! {
    /// State of a project's folder.
    pub enum ProjectState {
        /// The folder has a store.
        Ready = "ready",
        /// The folder has no store.
        NoStore = "no store",
        /// The folder does not exist.
        Missing = "missing",
    }
}

/// Removes a project from the register. Its files are kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProjectRemoveRequest {
    pub name: String,
}

/// A project that was removed from the register.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectRemoveReport {
    /// Name of the project.
    pub removed: String,
    /// ID for `nacre undo`; absent if nothing changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<String>,
}
