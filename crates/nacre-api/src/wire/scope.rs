//! Where recall looks, and which store holds a memory.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// The project first, then what a person keeps for all projects.
    ProjectFallbackGlobal,
    /// The project alone.
    ProjectOnly,
    /// What a person keeps for all projects.
    GlobalOnly,
}

impl Scope {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ProjectFallbackGlobal => "project_fallback_global",
            Self::ProjectOnly => "project_only",
            Self::GlobalOnly => "global_only",
        }
    }
}

/// Which store a memory is in.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum StoreScope {
    Project,
    Global,
}

impl StoreScope {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::Global => "global",
        }
    }
}

/// Another file of the same id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OtherPlace {
    pub scope: StoreScope,
    pub path: String,
}
