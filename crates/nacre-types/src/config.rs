//! Requests and reports about settings and registered projects.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{AgentSessions, FolderSessions, Outcome, Report};

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
    /// Where the value was set. A list can combine values from several origins.
    pub origin: String,
    pub doc: String,
}

/// One setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Setting {
    pub value: SettingValue,
    /// Where the value was set. A list can combine values from several origins.
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

/// The configuration files, in loading order.
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
        /// The user's settings.
        Home = "home",
        /// The repository's settings.
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
    /// The new value. Separate list items with commas. If no value is given, the key is removed
    /// from the file.
    pub value: Option<String>,
    /// Whether to change the repository's settings, which are shared through git.
    #[serde(default)]
    pub repo: bool,
}

/// The result of setting or unsetting a key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConfigSetReport {
    pub key: String,
    /// The new value, or `null` if the key was removed.
    pub value: Option<String>,
    /// Path of the changed file.
    pub path: String,
    /// The change ID to pass to `nacre undo`. Absent if nothing changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<String>,
}

/// The result of initializing a repository.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InitReport {
    pub root: String,
    /// Name of the project, or `null` if it could not be registered.
    pub project: Option<String>,
    pub is_git: bool,
    /// Paths created by this command; empty if the store already existed.
    pub created: Vec<String>,
    pub memories: usize,
    /// Number of memories that were not recorded on this machine and await review with `nacre
    /// trust`.
    #[serde(default)]
    pub foreign: usize,
    /// Number of sessions in this repository, by agent.
    #[serde(default)]
    pub sessions: Vec<AgentSessions>,
    /// Number of sessions in this repository that have not been processed yet.
    #[serde(default)]
    pub new_sessions: u64,
    /// Whether the session search stopped early. If so, more sessions may exist.
    #[serde(default)]
    pub is_partial: bool,
    /// Whether any agent sessions were found on this machine.
    #[serde(default)]
    pub has_agents: bool,
    /// Disconnected agents that have sessions in this repository. Their sessions are not read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub switched_off: Vec<String>,
    /// Whether session summaries are shared through git.
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
    /// The repository directory.
    pub path: PathBuf,
    /// Name of the project. Defaults to the project's current name or, for a new project, to the
    /// directory name.
    pub name: Option<String>,
    /// Other directories whose sessions belong to the project, such as its path before it moved.
    #[serde(default)]
    pub also: Vec<PathBuf>,
}

/// Every directory that has sessions, exists and was not set up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InitAllReport {
    pub folders: Vec<FolderSessions>,
    /// The projects that were set up. Empty if the user has not confirmed.
    pub projects: Vec<ProjectEntry>,
    /// The change ID to pass to `nacre undo`. Absent if nothing changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<String>,
}

/// A registered project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectAddReport {
    pub path: String,
    #[serde(flatten)]
    pub prepared: InitReport,
    /// The change ID to pass to `nacre undo`. Absent if nothing changed.
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
    /// Other directories whose sessions belong to the project.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<String>,
    pub state: ProjectState,
}

names! {
    /// State of a project directory.
    pub enum ProjectState {
        /// The directory has a store.
        Ready = "ready",
        /// The directory has no store.
        NoStore = "no store",
        /// The directory does not exist.
        Missing = "missing",
    }
}

/// Unregisters a project. Its files are kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProjectRemoveRequest {
    pub name: String,
}

/// The result of unregistering a project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectRemoveReport {
    /// Name of the unregistered project.
    pub removed: String,
    /// The change ID to pass to `nacre undo`. Absent if nothing changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<String>,
}
