//! What a text declares: functions, types, modules, and where they lie in each other.

use tree_sitter::Node;

use super::ParseError;
use super::item_macros::tree_with_items;
use super::language::Language;
use super::symbol::Symbol;
use super::walk::{Reach, walk};

/// A signature is shown as far as this.
const MAX_SIGNATURE_BYTES: usize = 200;

/// Lists what a text declares, in the order in which it does.
pub fn outline(text: &str, language: Language) -> Result<Vec<Symbol>, ParseError> {
    let tree = tree_with_items(text, language)?;
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
