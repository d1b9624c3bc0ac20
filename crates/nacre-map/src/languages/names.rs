//! What a declaration is called: every grammar keeps the name in another place.

use std::ops::Range;

use tree_sitter::Node;

use super::rules::{NameAt, Rule};
use super::symbol::SymbolKind;

/// Declarators of C nest; more than these are nobody's.
const MAX_DECLARATORS: usize = 20;

/// A longer name is not one.
const MAX_NAME_BYTES: usize = 200;

/// A name and what bears it.
#[derive(Clone, Debug)]
pub(super) struct Named {
    pub(super) kind: SymbolKind,
    pub(super) name: String,
    pub(super) name_at: Range<usize>,
}

/// The name of what a node declares; `None` when it only mentions something.
pub(super) fn named(node: Node<'_>, rule: &Rule, text: &str) -> Option<Named> {
    if rule.name == NameAt::Definer {
        return defined(node, text);
    }
    // `struct pearl x;` names a type and declares none.
    if rule.node.ends_with("_specifier") && node.child_by_field_name("body").is_none() {
        return None;
    }
    let name = name_of(node, rule.name)?;
    let word = text.get(name.byte_range())?;
    let name_text = match node.child_by_field_name("trait") {
        // An implementation is called after the trait, too.
        Some(implemented) => format!("{} for {word}", text.get(implemented.byte_range())?),
        None => word.to_owned(),
    };
    Some(Named {
        kind: refined(rule.kind, node, &name, text),
        name: shortened(name_text),
        name_at: name.byte_range(),
    })
}

fn shortened(name: String) -> String {
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

/// Follows the declarators of C to the name; says whether one of them was a function's.
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

/// The type that a method of Go belongs to, which stands before its name.
pub(super) fn receiver<'s>(node: Node<'_>, text: &'s str) -> Option<&'s str> {
    let of = node.child_by_field_name("receiver").filter(|of| of.kind() == "parameter_list")?;
    let words = text.get(of.byte_range())?.trim_matches(['(', ')', ' ']);
    let of = words.rsplit([' ', '*']).next()?;
    Some(of.split('[').next().unwrap_or(of)).filter(|of| !of.is_empty())
}

/// One node stands for several kinds in some grammars; the word before the name tells which.
fn refined(kind: SymbolKind, node: Node<'_>, name: &Node<'_>, text: &str) -> SymbolKind {
    if kind != SymbolKind::Class || node.kind() != "class_declaration" {
        return kind;
    }
    let before = text.get(node.start_byte()..name.start_byte()).unwrap_or_default();
    match before.split_whitespace().next_back() {
        Some("struct") => SymbolKind::Struct,
        Some("interface") => SymbolKind::Interface,
        Some("extension") => SymbolKind::Implementation,
        // Kotlin writes `enum class`.
        Some("enum") => SymbolKind::Enum,
        Some("class") if before.split_whitespace().any(|word| word == "enum") => SymbolKind::Enum,
        _ => kind,
    }
}

/// What a call of Elixir defines.
fn defined(node: Node<'_>, text: &str) -> Option<Named> {
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
    Some(Named { kind, name: shortened(name_text), name_at: name.byte_range() })
}
