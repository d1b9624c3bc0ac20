//! What a text declares, as an outline lists it.

use serde::{Deserialize, Serialize};

/// Something that a text declares.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Symbol {
    pub kind: SymbolKind,
    pub name: String,
    /// The line that its name stands in, trimmed.
    pub signature: String,
    /// From 1.
    pub first_line: usize,
    pub last_line: usize,
    /// How many symbols it lies in.
    pub depth: usize,
}

/// What a symbol is, in words that fit every language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
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

    /// Whether others use it: modules say where things are, and implementations what was offered already.
    pub(crate) fn is_offered(self) -> bool {
        !matches!(self, Self::Module | Self::Implementation)
    }

    /// Whether an outline looks inside: what a function declares is its own affair.
    pub(super) fn holds_symbols(self) -> bool {
        match self {
            Self::Class
            | Self::Struct
            | Self::Enum
            | Self::Interface
            | Self::Implementation
            | Self::Module
            | Self::Type => true,
            Self::Function | Self::Method | Self::Constant | Self::Macro => false,
        }
    }

    /// Whether its functions are members of it rather than of a module.
    pub(super) fn is_type(self) -> bool {
        matches!(
            self,
            Self::Class | Self::Struct | Self::Enum | Self::Interface | Self::Implementation
        )
    }
}
