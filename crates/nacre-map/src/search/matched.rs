//! What a search found, as it is handed out: files, the symbols in them that matches lie in, and the lines.

use super::query::SearchMode;
use crate::languages::SymbolKind;

/// What a search found, within its bounds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeMatches {
    /// How the query was read.
    pub mode: SearchMode,
    /// Lines that match, shown or not. For words, those of the files that were looked into.
    pub n_matches: usize,
    /// Files that have a match, shown or not. For words, those that have any of them.
    pub n_files: usize,
    /// The best first.
    pub files: Vec<MatchedFile>,
    /// Lines that match and are not shown, and files that have such lines.
    pub more_matches: usize,
    pub more_files: usize,
    /// Files that could match and were not searched.
    pub n_unsearched: usize,
}

/// A file with lines that match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchedFile {
    pub path: String,
    /// Whether it defines what was asked for.
    pub is_definition: bool,
    /// Lines of it that match, shown or not.
    pub n_matches: usize,
    /// In the order of the file.
    pub groups: Vec<MatchGroup>,
}

/// Lines that lie in the same symbol, or outside of all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchGroup {
    pub symbol: Option<MatchSymbol>,
    pub lines: Vec<MatchedLine>,
}

/// The innermost symbol that lines lie in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchSymbol {
    pub name: String,
    pub kind: SymbolKind,
    pub signature: String,
    pub first_line: u32,
    pub last_line: u32,
}

/// A line of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchedLine {
    /// From 1.
    pub number: u32,
    pub text: String,
    /// Whether it matches, or stands near one that does.
    pub is_match: bool,
}
