//! Walks a syntax tree once to collect declarations and import statements.
//!
//! The walk uses a cursor and an explicit stack, because tree-sitter finds a node's parent by
//! searching from the root, and recursion could exhaust the stack on malicious input.

use std::ops::Range;

use tree_sitter::{Node, Tree};

use super::analysis::SymbolKind;
use super::analysis::{MAX_IMPORTS, MAX_SYMBOLS};
use super::language::Language;
use super::rules::{Meaning, NameAt, Rule, meanings};

const MAX_NODES: usize = 500_000;

#[derive(Clone, Debug)]
pub(super) struct Declaration<'t> {
    pub(super) kind: SymbolKind,
    pub(super) name: String,
    pub(super) name_at: Range<usize>,
    pub(super) node: Node<'t>,
    /// Start byte, including `export` and decorators.
    pub(super) start: usize,
    pub(super) first_row: usize,
    pub(super) depth: usize,
    /// Index of the innermost enclosing declaration.
    pub(super) within: Option<usize>,
}

#[derive(Clone, Debug)]
pub(super) struct Statement<'t> {
    pub(super) node: Node<'t>,
    /// Indexes of the enclosing declarations, outermost first.
    pub(super) within: Vec<usize>,
}

#[derive(Debug, Default)]
pub(super) struct Walked<'t> {
    pub(super) declarations: Vec<Declaration<'t>>,
    pub(super) statements: Vec<Statement<'t>>,
    /// Whether a limit was reached, which makes the results incomplete.
    pub(super) is_cut: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// All declarations that are not local to a function.
    Declarations,
    /// Every node. Imports may be inside functions.
    Everything,
}

#[derive(Clone, Copy)]
struct Open {
    level: usize,
    idx: usize,
    kind: SymbolKind,
}

pub(super) fn walk<'t>(tree: &'t Tree, text: &str, language: Language, reach: Reach) -> Walked<'t> {
    let mut walker = Walker {
        text,
        meanings: meanings(language),
        open: Vec::new(),
        wrapper: None,
        walked: Walked::default(),
    };
    let mut cursor = tree.walk();
    let (mut level, mut n_nodes) = (0, 0);
    loop {
        n_nodes += 1;
        if MAX_NODES < n_nodes || walker.is_full() {
            walker.walked.is_cut = true;
            break;
        }
        let is_closed = walker.visit(cursor.node(), level) && reach == Reach::Declarations;
        if !is_closed && cursor.goto_first_child() {
            level += 1;
            continue;
        }
        loop {
            walker.leave(level);
            if cursor.goto_next_sibling() {
                break;
            }
            if !cursor.goto_parent() {
                return walker.walked;
            }
            level -= 1;
        }
    }
    walker.walked
}

struct Walker<'t, 's> {
    text: &'s str,
    meanings: &'static [Meaning],
    open: Vec<Open>,
    /// The innermost wrapper. Directly nested wrappers use the start of the outermost one.
    wrapper: Option<Wrapper>,
    walked: Walked<'t>,
}

#[derive(Clone, Copy)]
struct Wrapper {
    level: usize,
    start: usize,
    row: usize,
}

impl<'t> Walker<'t, '_> {
    fn is_full(&self) -> bool {
        MAX_SYMBOLS <= self.walked.declarations.len() || MAX_IMPORTS <= self.walked.statements.len()
    }

    /// Records a node. Returns whether to skip the node's content because it is local.
    fn visit(&mut self, node: Node<'t>, level: usize) -> bool {
        let Some(meaning) = self.meanings.get(usize::from(node.kind_id())).copied() else {
            return false;
        };
        if meaning.is_wrapper {
            let around = self.wrapper.filter(|wrapper| wrapper.level + 1 == level);
            let own = Wrapper { level, start: node.start_byte(), row: node.start_position().row };
            self.wrapper = Some(around.map_or(own, |around| Wrapper { level, ..around }));
        }
        if meaning.is_import {
            let within = self.open.iter().map(|open| open.idx).collect();
            self.walked.statements.push(Statement { node, within });
        }
        let is_inside = self.open.last().is_none_or(|open| holds_symbols(open.kind));
        let found =
            meaning.rule.filter(|_| is_inside).and_then(|rule| find_name(node, rule, self.text));
        found.is_some_and(|found| self.declare(node, level, found))
    }

    fn declare(&mut self, node: Node<'t>, level: usize, found: Named) -> bool {
        let around = self.open.last();
        let is_member = around.is_some_and(|open| is_type(open.kind));
        let is_method = is_member && found.kind == SymbolKind::Function;
        let kind = if is_method { SymbolKind::Method } else { found.kind };
        let wrapper = self.wrapper.filter(|wrapper| wrapper.level + 1 == level);
        let own = (node.start_byte(), node.start_position().row);
        let (start, first_row) = wrapper.map_or(own, |wrapper| (wrapper.start, wrapper.row));
        let idx = self.walked.declarations.len();
        self.walked.declarations.push(Declaration {
            kind,
            name: found.name,
            name_at: found.name_at,
            node,
            start,
            first_row,
            depth: self.open.len(),
            within: around.map(|open| open.idx),
        });
        self.open.push(Open { level, idx, kind });
        !holds_symbols(kind)
    }

    fn leave(&mut self, level: usize) {
        while self.open.last().is_some_and(|open| level <= open.level) {
            self.open.pop();
        }
    }
}

/// Returns whether to list the declarations inside a symbol. Declarations inside functions are
/// local and are not listed.
fn holds_symbols(kind: SymbolKind) -> bool {
    is_type(kind) || matches!(kind, SymbolKind::Module | SymbolKind::Type)
}

pub(super) fn is_type(kind: SymbolKind) -> bool {
    matches!(
        kind,
        SymbolKind::Class
            | SymbolKind::Struct
            | SymbolKind::Enum
            | SymbolKind::Interface
            | SymbolKind::Implementation
    )
}

const MAX_DECLARATORS: usize = 20;

const MAX_NAME_BYTES: usize = 200;

#[derive(Clone, Debug)]
pub(super) struct Named {
    pub(super) kind: SymbolKind,
    pub(super) name: String,
    pub(super) name_at: Range<usize>,
}

/// Returns the name that a node declares, or `None` if the node only refers to a name.
pub(super) fn find_name(node: Node<'_>, rule: &Rule, text: &str) -> Option<Named> {
    if rule.name == NameAt::Definer {
        return find_definition(node, text);
    }
    // `struct pearl x;` uses a type but does not declare it.
    if rule.node.ends_with("_specifier") && node.child_by_field_name("body").is_none() {
        return None;
    }
    let name = name_of(node, rule.name)?;
    let word = text.get(name.byte_range())?;
    let name_text = match node.child_by_field_name("trait") {
        // The name of a trait implementation includes the trait.
        Some(implemented) => format!("{} for {word}", text.get(implemented.byte_range())?),
        None => word.to_owned(),
    };
    Some(Named {
        kind: refine_kind(rule.kind, node, &name, text),
        name: shorten_name(name_text),
        name_at: name.byte_range(),
    })
}

fn shorten_name(name: String) -> String {
    let is_one_line = name.len() <= MAX_NAME_BYTES && !name.contains('\n');
    if is_one_line {
        return name;
    }
    let words: Vec<&str> = name.split_whitespace().collect();
    let mut name = words.join(" ");
    name.truncate(name.floor_char_boundary(MAX_NAME_BYTES));
    name
}

fn name_of<'t>(node: Node<'t>, name: NameAt) -> Option<Node<'t>> {
    match name {
        NameAt::Field(field) => node.child_by_field_name(field),
        NameAt::Declarator => innermost(node).map(|(name, _)| name),
        NameAt::FunctionDeclarator => {
            innermost(node).and_then(|(name, is_function)| is_function.then_some(name))
        }
        NameAt::FunctionValue => {
            let value = node.child_by_field_name("value")?;
            let is_function =
                matches!(value.kind(), "arrow_function" | "function_expression" | "function");
            if is_function { node.child_by_field_name("name") } else { None }
        }
        NameAt::Child(kinds) => {
            let mut cursor = node.walk();
            node.named_children(&mut cursor).find(|child| kinds.contains(&child.kind()))
        }
        NameAt::Assigned => {
            let value = node.named_child(1)?.named_child(0)?;
            if value.kind() == "function_definition" { node.named_child(0) } else { None }
        }
        NameAt::Definer => None,
    }
}

/// Follows C's nested declarators to the name. Also returns whether one of the declarators declares
/// a function.
fn innermost(node: Node<'_>) -> Option<(Node<'_>, bool)> {
    let mut at = node.child_by_field_name("declarator")?;
    let mut is_function = at.kind() == "function_declarator";
    for _ in 0..MAX_DECLARATORS {
        let inner = at.child_by_field_name("declarator").or_else(|| {
            let is_wrapper =
                matches!(at.kind(), "reference_declarator" | "parenthesized_declarator");
            if is_wrapper { at.named_child(0) } else { None }
        });
        match inner {
            Some(inner) => at = inner,
            None => break,
        }
        is_function |= at.kind() == "function_declarator";
    }
    Some((at, is_function))
}

/// Returns a Go method's receiver type.
pub(super) fn receiver<'s>(node: Node<'_>, text: &'s str) -> Option<&'s str> {
    let of = node.child_by_field_name("receiver").filter(|of| of.kind() == "parameter_list")?;
    let words = text.get(of.byte_range())?.trim_matches(['(', ')', ' ']);
    let of = words.rsplit([' ', '*']).next()?;
    Some(of.split('[').next().unwrap_or(of)).filter(|of| !of.is_empty())
}

/// Returns a node's symbol kind. In some grammars, one node kind represents several symbol kinds
/// that differ only in the keyword before the name.
fn refine_kind(kind: SymbolKind, node: Node<'_>, name: &Node<'_>, text: &str) -> SymbolKind {
    if kind != SymbolKind::Class || node.kind() != "class_declaration" {
        return kind;
    }
    let before = text.get(node.start_byte()..name.start_byte()).unwrap_or_default();
    match before.split_whitespace().next_back() {
        Some("struct") => SymbolKind::Struct,
        Some("interface") => SymbolKind::Interface,
        Some("extension") => SymbolKind::Implementation,
        // Kotlin enums are written as `enum class`.
        Some("enum") => SymbolKind::Enum,
        Some("class") if before.split_whitespace().any(|word| word == "enum") => SymbolKind::Enum,
        _ => kind,
    }
}

fn find_definition(node: Node<'_>, text: &str) -> Option<Named> {
    let target =
        node.child_by_field_name("target").filter(|target| target.kind() == "identifier")?;
    let kind = match text.get(target.byte_range())? {
        "defmodule" => SymbolKind::Module,
        "defprotocol" => SymbolKind::Interface,
        "defimpl" => SymbolKind::Implementation,
        "defmacro" | "defmacrop" => SymbolKind::Macro,
        "def" | "defp" | "defdelegate" | "defguard" | "defguardp" => SymbolKind::Function,
        _ => return None,
    };
    let mut cursor = node.walk();
    let arguments = node.named_children(&mut cursor).find(|child| child.kind() == "arguments")?;
    let mut name = arguments.named_child(0)?;
    if name.kind() == "binary_operator" {
        name = name.child_by_field_name("left")?;
    }
    if name.kind() == "call" {
        name = name.child_by_field_name("target")?;
    }
    let name_text = text.get(name.byte_range())?.to_owned();
    Some(Named { kind, name: shorten_name(name_text), name_at: name.byte_range() })
}
