//! Outlines and analyses source code with tree-sitter grammars.
//!
//! A signature is the part of a symbol that code using it depends on. It includes a type's
//! definition but not a function's body. Members have their own hashes and are not included in
//! their type's hash.

use std::iter;
use std::ops::Range;

use serde::{Deserialize, Serialize};
use tree_sitter::Node;
use xxhash_rust::xxh3::Xxh3Default;

use super::ParseError;
use super::analysis::{
    Analysis, Depth, Import, ImportKind, Problem, SymbolFacts, SymbolKind, Visibility,
    format_signature,
};
use super::bindings::find_exported_names;
use super::glance::glance;
use super::imports::imports_of;
use super::item_macros::tree_with_items;
use super::language::Language;
use super::role::{Around, has_tests, is_entry_text, visibility};
use super::walk::{Declaration, Reach, is_type, receiver, walk};

/// Longer import statements are ignored because they are probably generated.
const MAX_STATEMENT_BYTES: usize = 20_000;

const MAX_LINE_BYTES: usize = 200;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Symbol {
    pub kind: SymbolKind,
    pub name: String,
    /// The trimmed line that contains the symbol's name.
    pub signature: String,
    /// 1-based.
    pub first_line: usize,
    pub last_line: usize,
    /// Number of enclosing symbols.
    pub depth: usize,
}

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

pub fn enclosing(symbols: &[Symbol], line: usize) -> Option<&Symbol> {
    let holds = |symbol: &&Symbol| symbol.first_line <= line && line <= symbol.last_line;
    symbols.iter().filter(holds).max_by_key(|symbol| symbol.depth)
}

/// Returns the line that contains a name, without a trailing opening brace.
fn line_of(text: &str, name_start: usize) -> String {
    let start = text.get(..name_start).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1);
    let line = text.get(start..).unwrap_or_default().lines().next().unwrap_or_default().trim();
    let line = line.trim_end_matches(['{', ' ']);
    line[..line.floor_char_boundary(MAX_LINE_BYTES)].to_owned()
}

/// Returns the last line of a node. Some nodes include their final line break.
fn last_line(node: Node<'_>) -> usize {
    let end = node.end_position();
    let start = node.start_position().row;
    if end.column == 0 && start < end.row { end.row } else { end.row + 1 }
}

/// Analyses source code with its grammar. Never fails: if the lists are incomplete, `problem` says
/// why.
pub fn analyse(language: Language, bytes: &[u8]) -> Analysis {
    let Ok(text) = str::from_utf8(bytes) else {
        return Analysis::with_problem(Problem::NotText);
    };
    let tree = match tree_with_items(text, language) {
        Ok(tree) => tree,
        Err(ParseError::TooLarge { .. }) => return Analysis::with_problem(Problem::TooLarge),
        Err(ParseError::Grammar { .. }) => return glance(language, bytes),
        Err(ParseError::TooHard { .. }) => {
            return Analysis { problem: Some(Problem::Broken), ..glance(language, bytes) };
        }
    };
    let walked = walk(&tree, text, language, Reach::Everything);
    let mut imports = Vec::new();
    for statement in &walked.statements {
        let node = statement.node;
        let range = node.byte_range();
        let is_candidate = range.len() <= MAX_STATEMENT_BYTES && is_import(node, text, language);
        let Some(words) = text.get(range).filter(|_| is_candidate) else { continue };
        let line = u32::try_from(node.start_position().row + 1).unwrap_or(u32::MAX);
        let inline: Vec<&str> = statement
            .within
            .iter()
            .filter_map(|idx| walked.declarations.get(*idx))
            .filter(|around| language == Language::Rust && around.kind == SymbolKind::Module)
            .filter(|around| around.node != node)
            .map(|around| around.name.as_str())
            .collect();
        let found = imports_of(words, language).into_iter().map(|(mut name, mut kind)| {
            if kind == ImportKind::Child {
                if let Some(path) = read_path_attribute(node, text) {
                    (name, kind) = (path, ImportKind::Path);
                } else if !inline.is_empty() {
                    name = format!("{}::{name}", inline.join("::"));
                }
            } else if !inline.is_empty() {
                name = seen_from_file(&name, &inline);
            }
            Import { text: name, line, kind }
        });
        imports.extend(found);
    }
    let symbols = Symbols { text, language, declarations: &walked.declarations };
    let problem = if walked.is_cut {
        Some(Problem::TooMany)
    } else if tree.root_node().has_error() {
        Some(Problem::Broken)
    } else {
        None
    };
    let symbols = symbols.facts();
    let has_function = |is_it: &dyn Fn(&str) -> bool| {
        symbols.iter().any(|symbol| symbol.kind == SymbolKind::Function && is_it(&symbol.name))
    };
    Analysis {
        depth: Depth::Full,
        is_entry: is_entry_text(language, text, &has_function),
        is_test: has_tests(language, text, &has_function),
        imports,
        symbols,
        problem,
    }
}

fn is_import(node: Node<'_>, text: &str, language: Language) -> bool {
    let is_called = |field: &str, names: &[&str]| {
        let word = node.child_by_field_name(field).and_then(|name| text.get(name.byte_range()));
        word.is_some_and(|word| names.contains(&word))
    };
    let has_body = || node.child_by_field_name("body").is_some();
    match language {
        Language::JavaScript | Language::Tsx | Language::TypeScript => match node.kind() {
            "export_statement" => node.child_by_field_name("source").is_some(),
            "call_expression" => {
                let first =
                    node.child_by_field_name("arguments").and_then(|all| all.named_child(0));
                is_called("function", &["require", "import", "require.resolve"])
                    && first.is_some_and(|first| first.kind() == "string")
            }
            _ => true,
        },
        Language::Rust => node.kind() != "mod_item" || !has_body(),
        Language::Bash => is_called("name", &["source", "."]),
        Language::Ruby => {
            is_called("method", &["require", "require_relative", "load", "autoload"])
                && node.child_by_field_name("receiver").is_none()
        }
        Language::Lua => is_called("name", &["require", "dofile"]),
        Language::Elixir => is_called("target", &["alias", "import", "use", "require"]),
        Language::C
        | Language::Cpp
        | Language::CSharp
        | Language::Go
        | Language::Java
        | Language::Kotlin
        | Language::Php
        | Language::Python
        | Language::Scala
        | Language::Swift => true,
    }
}

/// Returns the path in a module's `#[path = "…"]` attribute.
fn read_path_attribute(node: Node<'_>, text: &str) -> Option<String> {
    let mut before = node.prev_named_sibling();
    while let Some(attribute) = before.filter(|before| before.kind() == "attribute_item") {
        let words = text.get(attribute.byte_range())?;
        if let Some(rest) = words.strip_prefix("#[path") {
            return rest.split('"').nth(1).map(str::to_owned);
        }
        before = attribute.prev_named_sibling();
    }
    None
}

/// Converts a Rust path used in nested inline modules to a path relative to the file's module.
fn seen_from_file(path: &str, inline: &[&str]) -> String {
    let mut rest = path;
    let mut n_up = 0;
    while let Some(after) = rest.strip_prefix("super") {
        n_up += 1;
        rest = after.strip_prefix("::").unwrap_or(after);
    }
    let own = path.strip_prefix("self::").or_else(|| (path == "self").then_some(""));
    let (kept, rest) = match (n_up, own) {
        (0, None) => return path.to_owned(),
        (0, Some(rest)) => (inline.len(), rest),
        (up, _) if up <= inline.len() => (inline.len() - up, rest),
        (up, _) => {
            let supers = vec!["super"; up - inline.len()].join("::");
            return if rest.is_empty() { supers } else { format!("{supers}::{rest}") };
        }
    };
    let mut parts = vec!["self"];
    parts.extend(&inline[..kept]);
    if !rest.is_empty() {
        parts.push(rest);
    }
    parts.join("::")
}

struct Symbols<'t, 's> {
    text: &'s str,
    language: Language,
    declarations: &'s [Declaration<'t>],
}

impl Symbols<'_, '_> {
    fn facts(&self) -> Vec<SymbolFacts> {
        let exported = if self.language.is_script() {
            find_exported_names(self.text)
        } else {
            Default::default()
        };
        let mut names: Vec<String> = Vec::with_capacity(self.declarations.len());
        let mut inside: Vec<Vec<Range<usize>>> = vec![Vec::new(); self.declarations.len()];
        for declared in self.declarations {
            names.push(self.qualify(declared, &names));
            if let Some(inside) = declared.within.and_then(|idx| inside.get_mut(idx)) {
                inside.push(declared.start..declared.node.end_byte());
            }
        }
        let facts =
            self.declarations.iter().zip(names).zip(inside).map(|((declared, name), inside)| {
                let mut facts = self.fact(declared, name, &inside);
                let is_top = declared.within.is_none();
                if is_top && exported.contains(declared.name.as_str()) {
                    facts.visibility = Visibility::Public;
                }
                facts
            });
        facts.collect()
    }

    fn qualify(&self, declared: &Declaration<'_>, names: &[String]) -> String {
        if let Some(of) = receiver(declared.node, self.text) {
            return format!("{of}.{}", declared.name);
        }
        match declared.within.and_then(|idx| names.get(idx)) {
            Some(around) => {
                // An `impl` block's members belong to the type.
                let around = around.rsplit(" for ").next().unwrap_or(around);
                let around = around.split('<').next().unwrap_or(around);
                format!("{around}{}{}", self.language.separator(), declared.name)
            }
            None => declared.name.clone(),
        }
    }

    fn fact(
        &self,
        declared: &Declaration<'_>,
        name: String,
        inside: &[Range<usize>],
    ) -> SymbolFacts {
        let whole = declared.start..declared.node.end_byte();
        let header = declared.start..self.body_start(declared);
        let own_header = self.text.get(declared.node.start_byte()..header.end).unwrap_or_default();
        let shown = match self.text.get(header.clone()) {
            // Decorators are part of the signature but not shown.
            Some(shown) if !shown.starts_with('@') => shown,
            _ => own_header,
        };
        let is_shape = matches!(
            declared.kind,
            SymbolKind::Struct
                | SymbolKind::Enum
                | SymbolKind::Interface
                | SymbolKind::Type
                | SymbolKind::Macro
        );
        let signed = if is_shape { whole.clone() } else { header };
        let before = self.text.get(declared.start..declared.name_at.start).unwrap_or_default();
        let line = |row: usize| u32::try_from(row).unwrap_or(u32::MAX);
        SymbolFacts {
            visibility: visibility(self.language, before, &declared.name, self.around(declared)),
            name,
            kind: declared.kind,
            first_line: line(declared.first_row + 1),
            last_line: line(last_line(declared.node)),
            signature: format_signature(&format!("{}{shown}", self.keyword(declared.kind))),
            signature_hash: self.signature_hash(&signed, inside),
            body_hash: self.body_hash(&whole, inside),
        }
    }

    /// Returns the keyword that appears only once per group of declarations in Go.
    fn keyword(&self, kind: SymbolKind) -> &'static str {
        match (self.language, kind) {
            (Language::Go, SymbolKind::Type) => "type ",
            (Language::Go, SymbolKind::Constant) => "const ",
            _ => "",
        }
    }

    fn around(&self, declared: &Declaration<'_>) -> Around {
        let Some(around) = declared.within.and_then(|idx| self.declarations.get(idx)) else {
            return Around::Module;
        };
        let is_trait_impl =
            around.kind == SymbolKind::Implementation && around.name.contains(" for ");
        if around.kind == SymbolKind::Interface || is_trait_impl {
            Around::Contract
        } else if is_type(around.kind) {
            Around::Type
        } else {
            Around::Module
        }
    }

    fn body_start(&self, declared: &Declaration<'_>) -> usize {
        let node = declared.node;
        let value = node.child_by_field_name("value");
        let body = node
            .child_by_field_name("body")
            .or_else(|| value.and_then(|value| value.child_by_field_name("body")))
            .or(value)
            .or_else(|| block(node));
        match body.filter(|body| declared.name_at.end <= body.start_byte()) {
            Some(body) => body.start_byte(),
            None => {
                let rest = self.text.get(declared.name_at.end..node.end_byte()).unwrap_or_default();
                rest.find('{').map_or(node.end_byte(), |at| declared.name_at.end + at)
            }
        }
    }

    /// Returns a hash of the signature, ignoring whitespace.
    fn signature_hash(&self, part: &Range<usize>, inside: &[Range<usize>]) -> u64 {
        let mut hasher = Xxh3Default::new();
        for word in self.pieces(part, inside).flat_map(str::split_ascii_whitespace) {
            hasher.update(word.as_bytes());
            hasher.update(b" ");
        }
        hasher.digest()
    }

    /// Returns a hash of the body, including whitespace because it may be significant.
    fn body_hash(&self, part: &Range<usize>, inside: &[Range<usize>]) -> u64 {
        let mut hasher = Xxh3Default::new();
        self.pieces(part, inside).for_each(|piece| hasher.update(piece.as_bytes()));
        hasher.digest()
    }

    /// Returns the parts of a source range that are not inside any of its symbols.
    fn pieces(&self, part: &Range<usize>, inside: &[Range<usize>]) -> impl Iterator<Item = &str> {
        let (mut at, end) = (part.start, part.end);
        let holes = inside.iter().cloned().chain(iter::once(end..end));
        holes.map(move |hole| {
            let start = at;
            at = hole.end.clamp(start, end);
            self.text.get(start..hole.start.clamp(start, end)).unwrap_or_default().trim()
        })
    }
}

/// Returns the body of a node, for grammars that do not name fields.
fn block(node: Node<'_>) -> Option<Node<'_>> {
    const BLOCKS: &[&str] = &["class_body", "enum_class_body", "function_body", "do_block"];
    let mut cursor = node.walk();
    node.named_children(&mut cursor).find(|child| BLOCKS.contains(&child.kind()))
}
