//! Settings: what is set, by which file, and how one is changed.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Report;

/// Which settings to show.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ConfigShowRequest {
    /// Only keys that begin with this.
    pub prefix: Option<String>,
}

/// Settings by key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConfigShowReport {
    pub settings: BTreeMap<String, Setting>,
    /// Keys that have no value until somebody sets one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_set: Vec<String>,
}

impl Report for ConfigShowReport {}

/// Which setting to get.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConfigGetRequest {
    pub key: String,
}

/// One setting, and what it means.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConfigGetReport {
    pub key: String,
    pub value: SettingValue,
    /// Where it was set; a list may come from several places.
    pub origin: String,
    pub doc: String,
}

impl Report for ConfigGetReport {}

/// One setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Setting {
    pub value: SettingValue,
    /// Where it was set; a list may come from several places.
    pub origin: String,
}

/// What a key holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum SettingValue {
    Text(String),
    Int(i64),
    Decimal(f64),
    Flag(bool),
    Texts(Vec<String>),
}

/// Lists the configuration files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConfigPathRequest {}

/// The configuration files, in the order they are read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConfigPathReport {
    pub files: Vec<ConfigFile>,
}

impl Report for ConfigPathReport {}

/// One configuration file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConfigFile {
    pub layer: ConfigLayer,
    pub path: String,
    pub exists: bool,
}

/// Whose configuration file it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ConfigLayer {
    /// The person's own.
    Home,
    /// The repository's.
    Repo,
    /// The one that `NACRE_CONFIG` names.
    File,
}

impl ConfigLayer {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Home => "home",
            Self::Repo => "repo",
            Self::File => "file",
        }
    }
}

/// Sets or unsets one key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConfigSetRequest {
    pub key: String,
    /// A list is comma separated. Without a value, the key is taken out of the file.
    #[serde(default)]
    pub value: Option<String>,
    /// Whether to write to the repository's own settings, which are shared through git.
    #[serde(default)]
    pub repo: bool,
}

/// A key that was set or unset.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConfigSetReport {
    pub key: String,
    /// `null` when it was taken out.
    pub value: Option<String>,
    /// The file that was changed.
    pub path: String,
    /// The id that `nacre undo` takes; nothing where the file was so already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<String>,
}

impl Report for ConfigSetReport {}
