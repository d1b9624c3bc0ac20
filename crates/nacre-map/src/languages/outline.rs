//! What a text declares: functions, types, modules, and where they lie in each other.

use ast_grep_core::Node;
use ast_grep_core::tree_sitter::StrDoc;
use ast_grep_language::SupportLang;
use serde::{Deserialize, Serialize};

use super::language::Language;
use super::rules::{NameAt, Rule, rules};
use super::{ParseError, parse};

/// A text with more symbols is data, not code.
const MAX_SYMBOLS: usize = 5_000;

/// A tree with more nodes is not walked to its end.
const MAX_NODES: usize = 500_000;

/// Declarators of C nest; more than these are nobody's.
const MAX_DECLARATORS: usize = 20;

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

    /// Whether an outline looks inside: what a function declares is its own affair.
    fn holds_symbols(self) -> bool {
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
}

type CodeNode<'r> = Node<'r, StrDoc<SupportLang>>;

/// Lists what a text declares, in the order in which it does.
pub fn outline(text: &str, language: Language) -> Result<Vec<Symbol>, ParseError> {
    let tree = parse(text, language)?;
    let rules = rules(language);
    let mut symbols = Vec::new();
    let mut waiting: Vec<(CodeNode<'_>, usize)> = vec![(tree.root(), 0)];
    let mut n_nodes = 0;
    while let Some((node, depth)) = waiting.pop() {
        n_nodes += 1;
        if MAX_NODES < n_nodes || MAX_SYMBOLS <= symbols.len() {
            break;
        }
        let found = symbol_of(&node, rules, text, depth);
        let (inside, is_closed) = match &found {
            Some(symbol) => (depth + 1, !symbol.kind.holds_symbols()),
            None => (depth, false),
        };
        symbols.extend(found);
        if !is_closed {
            let children: Vec<CodeNode<'_>> = node.named_children().collect();
            waiting.extend(children.into_iter().rev().map(|child| (child, inside)));
        }
    }
    Ok(symbols)
}

/// The innermost symbol that a line lies in.
pub fn enclosing(symbols: &[Symbol], line: usize) -> Option<&Symbol> {
    let holds = |symbol: &&Symbol| symbol.first_line <= line && line <= symbol.last_line;
    symbols.iter().filter(holds).max_by_key(|symbol| symbol.depth)
}

fn symbol_of(node: &CodeNode<'_>, rules: &[Rule], text: &str, depth: usize) -> Option<Symbol> {
    let node_kind = node.kind();
    let rule = rules.iter().find(|rule| rule.node == node_kind)?;
    let name = name_of(node, rule.name)?;
    // `struct pearl x;` names a type and declares none.
    let is_mention = node_kind.ends_with("_specifier") && node.field("body").is_none();
    if is_mention {
        return None;
    }
    let method = rule.kind == SymbolKind::Function && depth != 0 && is_member(node);
    Some(Symbol {
        kind: if method { SymbolKind::Method } else { rule.kind },
        name: full_name(node, &name),
        signature: signature(text, name.range().start),
        first_line: node.start_pos().line() + 1,
        last_line: last_line(node),
        depth,
    })
}

fn name_of<'r>(node: &CodeNode<'r>, name: NameAt) -> Option<CodeNode<'r>> {
    match name {
        NameAt::Field(field) => node.field(field),
        NameAt::Declarator => innermost(node).map(|(name, _)| name),
        NameAt::FunctionDeclarator => {
            innermost(node).and_then(|(name, is_function)| is_function.then_some(name))
        }
        NameAt::FunctionValue => {
            let value = node.field("value")?;
            let is_function =
                matches!(&*value.kind(), "arrow_function" | "function_expression" | "function");
            if is_function { node.field("name") } else { None }
        }
    }
}

/// Follows the declarators of C to the name; says whether one of them was a function's.
fn innermost<'r>(node: &CodeNode<'r>) -> Option<(CodeNode<'r>, bool)> {
    let mut at = node.field("declarator")?;
    let mut is_function = at.kind() == "function_declarator";
    for _ in 0..MAX_DECLARATORS {
        let inner = at.field("declarator").or_else(|| {
            let is_wrapper =
                matches!(&*at.kind(), "reference_declarator" | "parenthesized_declarator");
            if is_wrapper { at.named_children().next() } else { None }
        });
        match inner {
            Some(inner) => at = inner,
            None => break,
        }
        is_function |= at.kind() == "function_declarator";
    }
    Some((at, is_function))
}

/// The name, with the trait that an implementation is of.
fn full_name(node: &CodeNode<'_>, name: &CodeNode<'_>) -> String {
    let name = name.text();
    match node.field("trait") {
        Some(implemented) => format!("{} for {name}", implemented.text()),
        None => name.into_owned(),
    }
}

/// Whether a function is a member of a type rather than of a module.
fn is_member(node: &CodeNode<'_>) -> bool {
    let holders = [
        "impl_item",
        "trait_item",
        "class_definition",
        "class_specifier",
        "struct_specifier",
        "union_specifier",
    ];
    let mut above = node.parent();
    for _ in 0..4 {
        match above {
            Some(node) if holders.contains(&&*node.kind()) => return true,
            Some(node) => above = node.parent(),
            None => return false,
        }
    }
    false
}

/// The last line that has something of the node; some end with their line break.
fn last_line(node: &CodeNode<'_>) -> usize {
    let (line, column) = node.end_pos().byte_point();
    let start = node.start_pos().line();
    if column == 0 && start < line { line } else { line + 1 }
}

/// The line that the name stands in, without what only opens a body.
fn signature(text: &str, name_start: usize) -> String {
    let start = text[..name_start].rfind('\n').map_or(0, |at| at + 1);
    let line = text[start..].lines().next().unwrap_or_default().trim();
    let line = line.trim_end_matches(['{', ' ']);
    line[..line.floor_char_boundary(MAX_SIGNATURE_BYTES)].to_owned()
}
