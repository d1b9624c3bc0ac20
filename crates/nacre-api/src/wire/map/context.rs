//! What a task needs of a project's code, within a budget.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use super::super::Report;
use super::{MapFormat, MapHeader, SymbolKind};

/// Which task to collect code for, and how much of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ContextRequest {
    /// A folder inside the project, or a registered name. Without it, the project around the current folder.
    #[serde(alias = "project_root")]
    pub project: Option<String>,
    /// Read every file again instead of trusting its times.
    pub refresh: bool,
    /// Fail when the map was not up to date, and write nothing.
    pub strict: bool,
    /// The form that the budget is counted in.
    pub format: MapFormat,
    /// The client that has then seen the map as it is now.
    pub client: Option<String>,
    /// What is to be done, in words. Without it, `files` says what the task is about.
    #[serde(alias = "for")]
    pub task: Option<String>,
    /// Files that are surely meant, seen from the current folder or from the root.
    #[serde(deserialize_with = "one_or_many")]
    pub files: Vec<String>,
    /// Tokens that the answer may have; 4000 unless said otherwise.
    pub budget: Option<usize>,
    /// List files alone, without their code.
    pub files_only: bool,
}

/// What is asked of a map that is open.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ContextQuestion {
    pub client: Option<String>,
    #[serde(rename = "for")]
    pub task: Option<String>,
    #[serde(deserialize_with = "one_or_many")]
    pub files: Vec<String>,
    pub budget: Option<usize>,
    /// List files alone, without their code.
    pub files_only: bool,
}

/// What a task needs, and of which state of the project that was said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContextReport {
    #[serde(flatten)]
    pub map: MapHeader,
    #[serde(flatten)]
    pub slice: ContextSlice,
}

impl Report for ContextReport {}

/// What a task needs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContextSlice {
    pub budget: usize,
    /// The most relevant first.
    pub files: Vec<ContextFile>,
    pub left_out: LeftOut,
}

/// A file, and what of it fits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContextFile {
    pub path: String,
    pub why: Vec<WhyRelevant>,
    /// What it has of the task, the rarest first.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub words: Vec<String>,
    /// In the order of the file.
    pub symbols: Vec<ContextSymbol>,
}

/// Why a file is part of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WhyRelevant {
    /// It was named.
    Asked,
    /// It has words of the task.
    Words,
    /// It imports, or is imported by, a file that is meant.
    Near,
    /// It means something like the task.
    Meaning,
    /// A memory names it.
    Memory,
}

/// A symbol, in as much detail as fits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContextSymbol {
    pub name: String,
    pub kind: SymbolKind,
    pub first_line: u32,
    pub last_line: u32,
    pub form: SymbolForm,
    /// The whole symbol, its signature, or nothing.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub text: String,
}

/// How much of a symbol is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SymbolForm {
    Name,
    Signature,
    Body,
}

/// What was relevant and did not fit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LeftOut {
    pub symbols: usize,
    pub files: usize,
    /// Some of those files with the number of their symbols, the most relevant first.
    pub listed: Vec<(String, usize)>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a path, or a list of paths")]
enum OneOrMany {
    None(()),
    One(String),
    Many(Vec<String>),
}

/// One file need not be a list.
fn one_or_many<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    Ok(match OneOrMany::deserialize(deserializer)? {
        OneOrMany::None(()) => Vec::new(),
        OneOrMany::One(path) => vec![path],
        OneOrMany::Many(paths) => paths,
    })
}
