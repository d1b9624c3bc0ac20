//! Requests and reports for the code map, and the header of every map response.

mod context;
mod delta;
mod explore;

pub use context::*;
pub use delta::*;
pub use explore::*;

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

names! {
    /// The output format of the map. The token budget is calculated for this format.
    #[derive(Default)]
    pub enum MapFormat {
        /// A single-line JSON object.
        #[default]
        Json = "json",
        Text = "text",
    }

    /// The map command that produced a response.
    pub enum MapCommand {
        Explore = "explore",
        Context = "context",
        Delta = "delta",
        Refresh = "refresh",
        Explain = "explain",
        Watch = "watch",
        SearchCode = "search_code",
    }
}

impl MapCommand {
    pub fn label(self) -> &'static str {
        if self == Self::SearchCode { "search-code" } else { self.as_str() }
    }
}

names! {
    /// How the map was updated for a response.
    pub enum CacheStatus {
        /// The cached map was current.
        Hit = "hit",
        /// No readable cached map was found.
        Miss = "miss",
        /// Changed files were reread, or a full refresh was requested.
        Refreshed = "refreshed",
        /// The cached map had an outdated format, so all files were reread.
        StaleRebuild = "stale_rebuild",
    }
}

/// The header of every map response: the project and its map revision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MapHeader {
    pub command: MapCommand,
    pub project_root: String,
    pub project_id: String,
    pub cache_status: CacheStatus,
    pub revision: MapRevision,
    pub stats: MapStats,
}

/// The cost of updating the map, and the number of files examined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MapStats {
    pub file_count: usize,
    pub total_bytes: u64,
    pub reused_entries: usize,
    pub rehashed_entries: usize,
    /// Files that are too large or unreadable.
    pub unread_files: usize,
    /// Files skipped because the time limit was reached. The next command reads them.
    pub postponed_files: usize,
    pub skipped: SkippedCounts,
}

/// Number of project entries excluded from the map, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkippedCounts {
    /// Files that usually contain secrets, such as keys and passwords.
    pub denied: u32,
    pub links: u32,
    /// Pipes, sockets and devices.
    pub special: u32,
    /// Directories that cannot be opened.
    pub unreadable: u32,
    /// Names that are not valid UTF-8.
    pub unnamable: u32,
    /// Git repositories inside the project that are not submodules.
    pub nested: u32,
    /// Directories and files that are nested too deeply, and tracked files that exceed the limit.
    pub too_deep: u32,
    /// Directories skipped because their ignore rules exceed a limit.
    pub unread_rules: u32,
}

impl SkippedCounts {
    pub fn total(self) -> u32 {
        let Self { denied, links, special, unreadable, unnamable, nested, too_deep, unread_rules } =
            self;
        denied + links + special + unreadable + unnamable + nested + too_deep + unread_rules
    }
}

const EXPECTED: &str =
    "expected a revision such as 6af1b3c4.17, a git ref, client:NAME, or 0 for everything";

/// A revision of the project's files, such as `6af1b3c4.17`. It is incremented when files change.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(into = "String", try_from = "String")]
#[schemars(with = "String")]
pub struct MapRevision {
    /// When the map was created, in Unix seconds. A rebuilt map has a different epoch.
    pub epoch: u32,
    pub number: u64,
}

impl fmt::Display for MapRevision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08x}.{}", self.epoch, self.number)
    }
}

impl FromStr for MapRevision {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parsed = text.split_once('.').and_then(|(epoch, number)| {
            let epoch = u32::from_str_radix(epoch, 16).ok()?;
            Some(Self { epoch, number: number.parse().ok()? })
        });
        parsed.ok_or_else(|| "expected a revision such as 6af1b3c4.17".to_owned())
    }
}

/// The start of a delta: a revision, a git ref (`git:REF` or `REF`), `client:NAME`, or `0` for
/// everything.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(into = "String", try_from = "String")]
#[schemars(with = "String")]
pub enum Since {
    Beginning,
    Revision(MapRevision),
    Git(String),
    Client(String),
}

impl fmt::Display for Since {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Beginning => f.write_str("0"),
            Self::Revision(revision) => revision.fmt(f),
            Self::Git(reference) => write!(f, "git:{reference}"),
            Self::Client(name) => write!(f, "client:{name}"),
        }
    }
}

impl FromStr for Since {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            Some(("git", reference)) => Ok(Self::Git(reference.to_owned())),
            Some(("client", name)) => Ok(Self::Client(name.to_owned())),
            None if text == "0" => Ok(Self::Beginning),
            None if !text.is_empty() => {
                Ok(text.parse().map_or_else(|_| Self::Git(text.to_owned()), Self::Revision))
            }
            Some(_) | None => Err(EXPECTED.to_owned()),
        }
    }
}

crate::text_in_json!(MapRevision, Since);

names! {
    /// The kind of a symbol.
    pub enum SymbolKind {
        Function = "function",
        Method = "method",
        Class = "class",
        Struct = "struct",
        Enum = "enum",
        /// Includes traits and annotation types.
        Interface = "interface",
        Implementation = "implementation",
        /// Includes namespaces.
        Module = "module",
        Type = "type",
        Constant = "constant",
        Macro = "macro",
    }

    /// How thoroughly a file was analyzed.
    #[derive(Default)]
    pub enum AnalysisDepth {
        /// Not analyzed, because the file is not text or its language is not supported.
        #[default]
        None = "none",
        /// Scanned line by line for imports and top-level definitions, without a syntax tree.
        Glance = "glance",
        /// Parsed with the grammar of its language.
        Full = "full",
    }

    /// Why the analysis of a file is incomplete.
    pub enum AnalysisProblem {
        /// The file is not valid UTF-8.
        NotText = "not_text",
        TooLarge = "too_large",
        /// The file has syntax errors.
        Broken = "broken",
        /// The file has too many symbols or imports.
        TooMany = "too_many",
        /// The file cannot be read.
        Unreadable = "unreadable",
    }
}

/// Why a file is or is not in the map.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExplainReport {
    #[serde(flatten)]
    pub map: MapHeader,
    /// Path relative to the project root.
    pub path: String,
    pub is_mapped: bool,
    #[serde(flatten)]
    pub verdict: MapVerdict,
}

/// The reason why a path is or is not in the map.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "why", rename_all = "snake_case")]
pub enum MapVerdict {
    /// The file is in the map.
    Mapped { is_tracked: bool, is_unread: bool },
    /// The file is excluded by a rule that protects secrets.
    Denied { rule: String },
    /// The file is excluded by an ignore rule. `folder` is the directory or file that contains the
    /// rule.
    Ignored { rule: String, folder: String },
    /// The file is in a directory of generated files.
    Noise { folder: String },
    /// The file is in a directory whose ignore rules exceed a limit.
    RulesUnread { folder: String },
    /// The file is in a Git repository that is not a submodule of the project.
    Nested { folder: String },
    /// The path is a symbolic link or passes through one.
    Link { path: String },
    /// The path is a pipe, a socket or a device.
    Special,
    /// The path is a directory. Only files are mapped.
    Folder,
    /// The path does not exist.
    Missing,
    /// The file is nested too deeply, or was created after the map was last updated.
    Unseen,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_since_is_written_as_it_is_read() {
        for text in ["0", "6af1b3c4.17", "git:HEAD~2", "git:a:b", "client:me"] {
            assert_eq!(text.parse::<Since>().unwrap().to_string(), text);
        }
        for text in ["main", "HEAD~2", "6af1b3c4", "v1.2"] {
            assert_eq!(text.parse::<Since>(), Ok(Since::Git(text.to_owned())));
        }
        for text in ["", "ref:HEAD"] {
            assert!(text.parse::<Since>().is_err(), "{text}");
        }
    }
}
