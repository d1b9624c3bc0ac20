//! Requests and reports about code for a task, and about code search.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::{MapFormat, MapHeader, SymbolKind};

/// A task to collect code for, and the size of the result.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ContextRequest {
    /// A folder in the project, or the name of a registered project. Defaults to the project that
    /// contains the current folder.
    #[serde(alias = "project_root")]
    pub project: Option<String>,
    /// Read every file again instead of trusting modification times.
    pub refresh: bool,
    /// Fail if the map is not up to date, and write nothing.
    pub strict: bool,
    /// The output format for which the budget is calculated.
    pub format: MapFormat,
    /// The client that receives the current state of the map with this answer.
    pub client: Option<String>,
    /// Description of the task. Without it, `files` defines the task.
    #[serde(alias = "for")]
    pub task: Option<String>,
    /// Files that are known to be relevant, relative to the current folder or the root.
    #[serde(deserialize_with = "one_or_many")]
    pub files: Vec<String>,
    /// Maximum number of tokens of the answer. Defaults to 4000.
    pub budget: Option<usize>,
    /// List files without their code.
    pub files_only: bool,
}

/// Code relevant to a task, with the state of the project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContextReport {
    #[serde(flatten)]
    pub map: MapHeader,
    #[serde(flatten)]
    pub slice: ContextSlice,
}

/// Code relevant to a task.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContextSlice {
    pub budget: usize,
    /// The most relevant file first.
    pub files: Vec<ContextFile>,
    pub left_out: LeftOut,
}

/// A file, with as much of it as fits the budget.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContextFile {
    pub path: String,
    pub why: Vec<WhyRelevant>,
    /// Words of the task that it contains, the rarest first.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub words: Vec<String>,
    /// In the order of the file.
    pub symbols: Vec<ContextSymbol>,
}

names! {
    /// Why a file is part of an answer.
    pub enum WhyRelevant {
        /// The request named it.
        Asked = "asked",
        /// It contains words of the task.
        Words = "words",
        /// It imports a relevant file, or is imported by one.
        Near = "near",
        /// It is similar in meaning to the task.
        Meaning = "meaning",
        /// A memory mentions it.
        Memory = "memory",
    }
}

/// A symbol, with as much detail as fits the budget.
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

names! {
    /// How much of a symbol is shown.
    pub enum SymbolForm {
        Name = "name",
        Signature = "signature",
        Body = "body",
    }
}

/// Relevant files that did not fit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LeftOut {
    pub symbols: usize,
    pub files: usize,
    /// Some of these files with their number of symbols, the most relevant first.
    pub listed: Vec<(String, usize)>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a path, or a list of paths")]
enum OneOrMany {
    None(()),
    One(String),
    Many(Vec<String>),
}

/// Accepts a single file instead of a list.
fn one_or_many<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    Ok(match OneOrMany::deserialize(deserializer)? {
        OneOrMany::None(()) => Vec::new(),
        OneOrMany::One(path) => vec![path],
        OneOrMany::Many(paths) => paths,
    })
}

/// A code search.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SearchCodeRequest {
    /// A folder in the project, or the name of a registered project. Defaults to the project that
    /// contains the current folder.
    #[serde(alias = "project_root")]
    pub project: Option<String>,
    /// Read every file again instead of trusting modification times.
    pub refresh: bool,
    /// Fail if the map is not up to date, and write nothing.
    pub strict: bool,
    /// The output format for which the budget is calculated.
    pub format: MapFormat,
    /// Words, a literal text, or a regular expression.
    pub query: String,
    /// How the query is interpreted. By default as words, or as literal text if it is in double
    /// quotes.
    pub mode: Option<CodeSearchMode>,
    /// Whether a pattern ignores case. By default, it does unless it contains an uppercase letter.
    pub ignore_case: Option<bool>,
    /// Path globs, one of which must match. A glob with a leading `!` excludes files.
    pub paths: Vec<String>,
    /// Only files in this language.
    pub language: Option<String>,
    /// Number of lines to show before and after each match, at most 10.
    pub context: Option<u32>,
    /// Maximum number of matching lines to show, or of files with `files_only`. Defaults to 30, at
    /// most 500.
    pub limit: Option<usize>,
    /// Maximum number of tokens of the answer. Defaults to 4000.
    pub budget: Option<usize>,
    /// List files without their lines.
    pub files_only: bool,
}

names! {
    /// How a query is interpreted: as words and identifiers in any form, ranked; as literal text;
    /// or as a regular expression, line by line.
    pub enum CodeSearchMode {
        Words = "words",
        Fixed = "fixed",
        Regex = "regex",
    }
}

/// Search results, with the state of the project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SearchCodeReport {
    #[serde(flatten)]
    pub map: MapHeader,
    #[serde(flatten)]
    pub found: MatchedCode,
}

/// Search results, as many as fit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MatchedCode {
    pub query: String,
    pub mode: CodeSearchMode,
    /// Number of matching lines, including those not shown. For words, only searched files are
    /// counted.
    pub total_matches: usize,
    /// Number of matching files, including those not shown. For words, files with any of them are
    /// counted.
    pub total_files: usize,
    /// Files that define the searched symbol first, then by score.
    pub files: Vec<MatchedFile>,
    /// Number of matching lines that are not shown, and of the files that contain them.
    pub more_matches: usize,
    pub more_files: usize,
    /// Number of candidate files that were not searched because they are unreadable or time ran
    /// out.
    pub unsearched_files: usize,
}

/// A file with matching lines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MatchedFile {
    pub path: String,
    /// Whether it defines the searched symbol.
    pub is_definition: bool,
    /// Number of matching lines, including those not shown; 0 if they were not counted.
    pub matches: usize,
    /// In the order of the file.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub groups: Vec<MatchGroup>,
}

/// Lines in the same symbol, or outside of any symbol.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MatchGroup {
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub symbol: Option<MatchSymbol>,
    pub lines: Vec<MatchedLine>,
}

/// The innermost symbol that contains the lines.
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
    /// Line number, starting at 1.
    pub line: u32,
    /// Text of the line, which may be truncated.
    pub text: String,
    /// Whether the line is context and not a match.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub is_context: bool,
}
