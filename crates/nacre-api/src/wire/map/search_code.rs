//! Search in a project's code by words, by a piece of text, or by a regular expression.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::Report;
use super::{MapFormat, MapHeader, SymbolKind};

/// What to search for, where, and how much of it to show.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SearchCodeRequest {
    /// A folder inside the project, or a registered name. Without it, the project around the current folder.
    #[serde(alias = "project_root")]
    pub project: Option<String>,
    /// Read every file again instead of trusting its times.
    pub refresh: bool,
    /// Fail when the map was not up to date, and write nothing.
    pub strict: bool,
    /// The form that the budget is counted in.
    pub format: MapFormat,
    /// Words, a piece of text, or a regular expression.
    pub query: String,
    /// How the query is read. Without it, as words; in double quotes, as a piece of text.
    pub mode: Option<CodeSearchMode>,
    /// Whether a pattern takes upper and lower case for the same. Without it, unless the pattern has a letter in upper case.
    pub ignore_case: Option<bool>,
    /// Globs of paths, of which one must match; those with a leading `!` leave files out.
    pub paths: Vec<String>,
    /// Only files of this language.
    pub language: Option<String>,
    /// Lines to show before and behind each match, at most 10.
    pub context: Option<u32>,
    /// Lines that match to show, or files with `files_only`: 30 unless said otherwise, at most 500.
    pub limit: Option<usize>,
    /// Tokens that the answer may have; 4000 unless said otherwise.
    pub budget: Option<usize>,
    /// List files alone, without their lines.
    pub files_only: bool,
}

/// How a query is read: as words and identifiers in any form, ranked; as a piece of text as it stands; or as a regular
/// expression, line by line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CodeSearchMode {
    Words,
    Fixed,
    Regex,
}

/// What was found, and in which state of the project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SearchCodeReport {
    #[serde(flatten)]
    pub map: MapHeader,
    #[serde(flatten)]
    pub found: MatchedCode,
}

impl Report for SearchCodeReport {}

/// What was found, as much of it as fits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MatchedCode {
    pub query: String,
    pub mode: CodeSearchMode,
    /// Lines that match, shown or not. For words, those of the files that were looked into.
    pub total_matches: usize,
    /// Files that have a match, shown or not. For words, those that have any of them.
    pub total_files: usize,
    /// The best first: files that define what is asked for, then by score.
    pub files: Vec<MatchedFile>,
    /// Lines that match and are not shown, and files that have such lines.
    pub more_matches: usize,
    pub more_files: usize,
    /// Files that could match and were not searched: they cannot be read, or there was no time.
    pub unsearched_files: usize,
}

/// A file with lines that match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MatchedFile {
    pub path: String,
    /// Whether it defines what was asked for.
    pub is_definition: bool,
    /// Lines of it that match, shown or not; 0 where they were not counted.
    pub matches: usize,
    /// In the order of the file.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub groups: Vec<MatchGroup>,
}

/// Lines that lie in the same symbol, or outside of all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MatchGroup {
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub symbol: Option<MatchSymbol>,
    pub lines: Vec<MatchedLine>,
}

/// The innermost symbol that lines lie in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MatchSymbol {
    pub name: String,
    pub kind: SymbolKind,
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub signature: String,
    pub first_line: u32,
    pub last_line: u32,
}

/// A line of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MatchedLine {
    /// From 1.
    pub line: u32,
    /// As far as it is shown.
    pub text: String,
    /// Whether it stands near a match and is none.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub is_context: bool,
}
