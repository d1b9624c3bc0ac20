//! Why a file is in the map, or is not.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::Report;
use super::MapHeader;

/// Which file to explain.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExplainRequest {
    /// Seen from the current folder.
    pub path: String,
}

/// Why a file is in the map, or is not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExplainReport {
    #[serde(flatten)]
    pub map: MapHeader,
    /// Seen from the root of the project.
    pub path: String,
    pub is_mapped: bool,
    #[serde(flatten)]
    pub verdict: MapVerdict,
}

impl Report for ExplainReport {}

/// What decides about a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "why", rename_all = "snake_case")]
pub enum MapVerdict {
    /// It is in the map.
    Mapped { is_tracked: bool, is_unread: bool },
    /// A rule about secrets keeps it out.
    Denied { rule: String },
    /// A rule leaves it out; `folder` is the folder, or the file, that the rule stands in.
    Ignored { rule: String, folder: String },
    /// It lies in a folder that programs fill.
    Noise { folder: String },
    /// It lies in a folder whose rules are beyond what is read.
    RulesUnread { folder: String },
    /// It lies in a repository that is not a submodule of this one.
    Nested { folder: String },
    /// It is a link, or lies behind one.
    Link { path: String },
    /// It is a pipe, a socket or a device.
    Special,
    /// It is a folder; files are mapped.
    Folder,
    /// There is nothing of that name.
    Missing,
    /// It lies too deep, or was made after the map was brought up to date.
    Unseen,
}
