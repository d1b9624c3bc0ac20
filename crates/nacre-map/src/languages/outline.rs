//! What a text declares: functions, types, modules, and where they lie in each other.

use serde::{Deserialize, Serialize};
use tree_sitter::Node;

use super::ParseError;
use super::language::Language;
use super::syntax::tree_of;
use super::walk::{Reach, walk};

/// A signature is shown as far as this.
const MAX_SIGNATURE_BYTES: usize = 200;

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

/// Lists what a text declares, in the order in which it does.
pub fn outline(text: &str, language: Language) -> Result<Vec<Symbol>, ParseError> {
    let tree = tree_of(text, language)?;
    let walked = walk(&tree, text, language, Reach::Declarations);
    let symbols = walked.declarations.into_iter().map(|declared| Symbol {
        kind: declared.kind,
        signature: line_of(text, declared.name_at.start),
        first_line: declared.node.start_position().row + 1,
        last_line: last_line(declared.node),
        depth: declared.depth,
        name: declared.name,
    });
    Ok(symbols.collect())
}

/// The innermost symbol that a line lies in.
pub fn enclosing(symbols: &[Symbol], line: usize) -> Option<&Symbol> {
    let holds = |symbol: &&Symbol| symbol.first_line <= line && line <= symbol.last_line;
    symbols.iter().filter(holds).max_by_key(|symbol| symbol.depth)
}

/// The last line that has something of the node; some end with their line break.
pub(super) fn last_line(node: Node<'_>) -> usize {
    let end = node.end_position();
    let start = node.start_position().row;
    if end.column == 0 && start < end.row { end.row } else { end.row + 1 }
}

/// The line that the name stands in, without what only opens a body.
fn line_of(text: &str, name_start: usize) -> String {
    let start = text.get(..name_start).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1);
    let line = text.get(start..).unwrap_or_default().lines().next().unwrap_or_default().trim();
    let line = line.trim_end_matches(['{', ' ']);
    line[..line.floor_char_boundary(MAX_SIGNATURE_BYTES)].to_owned()
}
