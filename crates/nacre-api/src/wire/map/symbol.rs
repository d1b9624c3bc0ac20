//! What is known of symbols and files, in words that fit every language.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a symbol is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SymbolKind {
    Function,
    Method,
    Class,
    Struct,
    Enum,
    /// Also traits and annotation types.
    Interface,
    Implementation,
    /// Also namespaces.
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

/// How closely a text was analysed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AnalysisDepth {
    /// Not at all: there is no grammar for it, or it is not text.
    None,
    /// Line by line, without a tree: imports and what is defined at the top.
    Glance,
    /// By its grammar.
    Full,
}

/// Why the analysis of a file is not whole.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum AnalysisProblem {
    /// The bytes are not valid UTF-8.
    NotText,
    TooLarge,
    /// The grammar does not accept some part of it.
    Broken,
    /// More symbols or imports than a person would write.
    TooMany,
    /// The file could not be read.
    Unreadable,
}
