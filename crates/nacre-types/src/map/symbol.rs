//! Symbol kinds and analysis levels, the same for all languages.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The kind of a symbol.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum SymbolKind {
    Function,
    Method,
    Class,
    Struct,
    Enum,
    /// Includes traits and annotation types.
    Interface,
    Implementation,
    /// Includes namespaces.
    Module,
    Type,
    Constant,
    Macro,
}

impl SymbolKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Function => "function",
            Self::Method => "method",
            Self::Class => "class",
            Self::Struct => "struct",
            Self::Enum => "enum",
            Self::Interface => "interface",
            Self::Implementation => "implementation",
            Self::Module => "module",
            Self::Type => "type",
            Self::Constant => "constant",
            Self::Macro => "macro",
        }
    }
}

/// How thoroughly a file was analyzed.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum AnalysisDepth {
    /// Not analyzed: the file is not text, or its language is not supported.
    #[default]
    None,
    /// Scanned line by line for imports and top-level definitions, without a syntax tree.
    Glance,
    /// Parsed with the grammar of its language.
    Full,
}

/// Why the analysis of a file is incomplete.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum AnalysisProblem {
    /// The bytes are not valid UTF-8.
    NotText,
    TooLarge,
    /// The file has syntax errors.
    Broken,
    /// The file has more symbols or imports than the limit.
    TooMany,
    /// The file cannot be read.
    Unreadable,
}
