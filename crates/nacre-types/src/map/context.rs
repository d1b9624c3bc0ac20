//! Requests and reports for code search and for code relevant to a task.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::{MapDetail, MapFormat, MapHeader, SymbolKind};

/// The task to collect code for, and the maximum size of the result.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ContextRequest {
    /// A directory in the project, or the name of a registered project. Defaults to the project
    /// that contains the current directory.
    #[serde(alias = "project_root")]
    pub project: Option<String>,
    /// Reread every file instead of relying on modification times.
    pub refresh: bool,
    /// Do not write the map; fail if it is out of date.
    pub strict: bool,
    /// The output format used to calculate the token budget.
    pub format: MapFormat,
    /// Name of a client to mark as up to date with this revision. A later delta can start at
    /// `client:NAME`.
    pub client: Option<String>,
    /// Description of the task. If absent, the task is defined by `files`.
    #[serde(alias = "for")]
    pub task: Option<String>,
    /// Files known to be relevant, relative to the current directory or the project root.
    #[serde(deserialize_with = "one_or_many")]
    pub files: Vec<String>,
    /// Maximum number of tokens in the response. Defaults to 4000.
    pub budget: Option<usize>,
    /// List files without their code.
    pub files_only: bool,
    /// Accepted as in other requests, but has no effect: the budget sets the level of detail.
    pub detail: Option<MapDetail>,
}

/// Code relevant to a task, and the state of the project.
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

/// A file, with as much of its code as fits the budget.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContextFile {
    pub path: String,
    pub why: Vec<WhyRelevant>,
    /// Words from the task that occur in the file, rarest first.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub words: Vec<String>,
    /// Symbols in file order.
    pub symbols: Vec<ContextSymbol>,
}

names! {
    /// Why a file was included.
    pub enum WhyRelevant {
        /// The request listed the file.
        Asked = "asked",
        /// The file contains words from the task.
        Words = "words",
        /// The file imports a relevant file or is imported by one.
        Near = "near",
        /// The file is semantically similar to the task.
        Meaning = "meaning",
        /// A memory mentions the file.
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
    /// The whole symbol, only its signature, or an empty string.
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

/// Relevant files that did not fit the budget.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LeftOut {
    pub symbols: usize,
    pub files: usize,
    /// Some of these files, most relevant first, each with its number of symbols.
    pub listed: Vec<(String, usize)>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a path or a list of paths")]
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
    /// A directory in the project, or the name of a registered project. Defaults to the project
    /// that contains the current directory.
    #[serde(alias = "project_root")]
    pub project: Option<String>,
    /// Reread every file instead of relying on modification times.
    pub refresh: bool,
    /// Do not write the map, and fail if it is out of date.
    pub strict: bool,
    /// The output format used to calculate the token budget.
    pub format: MapFormat,
    /// Words, literal text, or a regular expression.
    pub query: String,
    /// How to interpret the query. Defaults to words, or to literal text if the query is in double
    /// quotes.
    pub mode: Option<CodeSearchMode>,
    /// Whether to ignore case in a pattern. By default, case is ignored unless the pattern contains
    /// an uppercase letter.
    pub ignore_case: Option<bool>,
    /// Path globs. A file must match at least one of these globs. Globs with a leading `!` exclude
    /// files.
    pub paths: Vec<String>,
    /// Only files in this language.
    pub language: Option<String>,
    /// Number of lines to show before and after each match, at most 10.
    pub context: Option<u32>,
    /// Maximum number of matching lines, or of files with `files_only`. Defaults to 30, at most
    /// 500.
    pub limit: Option<usize>,
    /// Maximum number of tokens in the response. Defaults to 4000.
    pub budget: Option<usize>,
    /// List files without their lines.
    pub files_only: bool,
}

names! {
    /// How to interpret a query: as words and identifiers in any form, with ranked results; as
    /// literal text; or as a regular expression that is matched against each line.
    pub enum CodeSearchMode {
        Words = "words",
        Fixed = "fixed",
        Regex = "regex",
    }
}

/// Search results, and the state of the project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SearchCodeReport {
    #[serde(flatten)]
    pub map: MapHeader,
    #[serde(flatten)]
    pub found: MatchedCode,
}

/// Search results that fit the budget.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MatchedCode {
    pub query: String,
    pub mode: CodeSearchMode,
    /// Number of matching lines, including those not shown. In a word search, only the files that
    /// were searched are counted.
    pub total_matches: usize,
    /// Number of matching files, including those not shown. In a word search, a file matches if it
    /// contains any of the words.
    pub total_files: usize,
    /// Files, sorted by score. Files that define the searched symbol come first.
    pub files: Vec<MatchedFile>,
    /// Number of matching lines that are not shown, and number of files that contain them.
    pub more_matches: usize,
    pub more_files: usize,
    /// Number of candidate files not searched because they were unreadable or the time limit was
    /// reached.
    pub unsearched_files: usize,
}

/// A file with matching lines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MatchedFile {
    pub path: String,
    /// Whether the file defines the searched symbol.
    pub is_definition: bool,
    /// Number of matching lines, including those not shown; 0 if they were not counted.
    pub matches: usize,
    /// Groups in file order.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub groups: Vec<MatchGroup>,
}

/// Matching lines within the same symbol, or outside all symbols.
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
    /// The text of the line, which may be truncated.
    pub text: String,
    /// Whether this is a context line rather than a match.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub is_context: bool,
}
