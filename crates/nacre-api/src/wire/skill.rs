//! Skills: instructions that agents take up.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Outcome, Report};

/// Lists skills.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SkillListRequest {}

/// Skills by name, and folders that are not skills.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkillListReport {
    pub skills: Vec<SkillEntry>,
    pub problems: Vec<SkillProblem>,
}

impl Report for SkillListReport {
    fn outcome(&self) -> Outcome {
        Outcome::partial_if(!self.problems.is_empty())
    }
}

/// A skill without its instructions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkillEntry {
    pub name: String,
    pub description: String,
    pub origin: SkillOrigin,
    /// Its file; `null` for one inside the program.
    pub path: Option<String>,
    pub license: Option<String>,
    /// The only tools that may be used with it; `null` leaves all.
    pub allowed_tools: Option<Vec<String>>,
}

/// Whose skill it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SkillOrigin {
    /// It came with the repository.
    Project,
    /// The person's own.
    User,
    /// It is part of the program.
    Bundled,
}

impl SkillOrigin {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::User => "user",
            Self::Bundled => "bundled",
        }
    }
}

/// A folder that is not a skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkillProblem {
    pub path: String,
    pub why: String,
}

/// Shows a skill as an agent reads it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SkillShowRequest {
    pub name: String,
    /// The words that it is called with.
    #[serde(default)]
    pub arguments: String,
}

/// A skill and its instructions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkillShowReport {
    #[serde(flatten)]
    pub skill: SkillEntry,
    pub instructions: String,
}

impl Report for SkillShowReport {}
