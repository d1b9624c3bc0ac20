//! The whole analysis of a text, by its grammar.
//!
//! A signature is what others must agree with, so the shape of a type belongs to it and the body of a function does not.
//! What a type's own members say is theirs: a changed method changes no hash but its own.

use std::ops::Range;

use tree_sitter::Node;
use xxhash_rust::xxh3::Xxh3Default;

use super::analysis::{Analysis, Depth, Import, ImportKind, Problem, SymbolFacts, Visibility};
use super::exports::exported_names;
use super::glance::glance;
use super::imports::asked;
use super::item_macros::tree_with_items;
use super::language::Language;
use super::names::receiver;
use super::outline::last_line;
use super::role::{has_tests, is_entry_text};
use super::signature::shown_signature;
use super::symbol::SymbolKind;
use super::visibility::{Around, visibility};
use super::walk::{Declaration, Reach, Statement, walk};
use super::{MAX_TEXT_BYTES, ParseError};

/// A longer statement imports nothing that a person wrote.
const MAX_STATEMENT_BYTES: usize = 20_000;

/// Says what a text is made of. Never fails: what could not be told is a `problem`, and the lists end early.
pub fn analyse(language: Language, bytes: &[u8]) -> Analysis {
    let Ok(text) = str::from_utf8(bytes) else {
        return Analysis { problem: Some(Problem::NotText), ..Analysis::default() };
    };
    if MAX_TEXT_BYTES < text.len() {
        return Analysis { problem: Some(Problem::TooLarge), ..Analysis::default() };
    }
    let tree = match tree_with_items(text, language) {
        Ok(tree) => tree,
        Err(ParseError::TooLarge { .. }) => {
            return Analysis { problem: Some(Problem::TooLarge), ..Analysis::default() };
        }
        // The lines still tell something.
        Err(ParseError::Grammar { .. }) => return glance(language, bytes),
        Err(ParseError::TooHard { .. }) => {
            return Analysis { problem: Some(Problem::Broken), ..glance(language, bytes) };
        }
    };
    let walked = walk(&tree, text, language, Reach::Everything);
    let mut imports = Vec::new();
    for statement in &walked.statements {
        imports.extend(imports_of(statement, &walked.declarations, text, language));
    }
    let symbols = Symbols { text, language, declarations: &walked.declarations };
    let problem = match () {
        () if walked.is_cut => Some(Problem::TooMany),
        () if tree.root_node().has_error() => Some(Problem::Broken),
        () => None,
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

fn imports_of(
    statement: &Statement<'_>,
    declarations: &[Declaration<'_>],
    text: &str,
    language: Language,
) -> Vec<Import> {
    let node = statement.node;
    let range = node.byte_range();
    let is_candidate = range.len() <= MAX_STATEMENT_BYTES && is_import(node, text, language);
    let Some(words) = text.get(range).filter(|_| is_candidate) else { return Vec::new() };
    let line = u32::try_from(node.start_position().row + 1).unwrap_or(u32::MAX);
    let inline: Vec<&str> = statement
        .within
        .iter()
        .filter_map(|idx| declarations.get(*idx))
        .filter(|around| language == Language::Rust && around.kind == SymbolKind::Module)
        .filter(|around| around.node != node)
        .map(|around| around.name.as_str())
        .collect();
    let imports = asked(words, language).into_iter().map(|mut asked| {
        if asked.kind == ImportKind::Child {
            if let Some(path) = given_path(node, text) {
                asked.kind = ImportKind::Path;
                asked.text = path;
            } else if !inline.is_empty() {
                asked.text = format!("{}::{}", inline.join("::"), asked.text);
            }
        } else if !inline.is_empty() {
            asked.text = seen_from_file(&asked.text, &inline);
        }
        Import { text: asked.text, line, kind: asked.kind }
    });
    imports.collect()
}

/// Whether a node whose kind may import does so.
fn is_import(node: Node<'_>, text: &str, language: Language) -> bool {
    let is_called = |field: &str, names: &[&str]| {
        let word = node.child_by_field_name(field).and_then(|name| text.get(name.byte_range()));
        word.is_some_and(|word| names.contains(&word))
    };
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
        Language::Rust => node.kind() != "mod_item" || node.child_by_field_name("body").is_none(),
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

/// The file that `#[path = "…"]` before a module gives it.
fn given_path(node: Node<'_>, text: &str) -> Option<String> {
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

/// A path of Rust that stands in inline modules, as the file would write it.
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

/// The declarations of a text on their way to facts.
struct Symbols<'t, 's> {
    text: &'s str,
    language: Language,
    declarations: &'s [Declaration<'t>],
}

impl Symbols<'_, '_> {
    fn facts(&self) -> Vec<SymbolFacts> {
        let is_script =
            matches!(self.language, Language::JavaScript | Language::Tsx | Language::TypeScript);
        let exported = if is_script { exported_names(self.text) } else { Default::default() };
        let mut names: Vec<String> = Vec::with_capacity(self.declarations.len());
        let mut inside: Vec<Vec<Range<usize>>> = vec![Vec::new(); self.declarations.len()];
        for declared in self.declarations {
            names.push(self.qualified(declared, &names));
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

    fn qualified(&self, declared: &Declaration<'_>, names: &[String]) -> String {
        if let Some(of) = receiver(declared.node, self.text) {
            return format!("{of}.{}", declared.name);
        }
        match declared.within.and_then(|idx| names.get(idx)) {
            Some(around) => {
                // The members of an implementation are the type's.
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
            // Decorators are part of the contract, and no part of what is shown.
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
            signature: shown_signature(&format!("{}{shown}", self.keyword(declared.kind)))
                .into_owned(),
            signature_hash: self.hash(&signed, inside, Spacing::Ignored),
            body_hash: self.hash(&whole, inside, Spacing::Kept),
        }
    }

    /// The word that Go writes once for a group of declarations.
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
        match around.kind {
            SymbolKind::Interface => Around::Contract,
            SymbolKind::Implementation if around.name.contains(" for ") => Around::Contract,
            SymbolKind::Class
            | SymbolKind::Struct
            | SymbolKind::Enum
            | SymbolKind::Implementation => Around::Type,
            SymbolKind::Function
            | SymbolKind::Method
            | SymbolKind::Module
            | SymbolKind::Type
            | SymbolKind::Constant
            | SymbolKind::Macro => Around::Module,
        }
    }

    /// Where the signature ends and the body begins.
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

    /// The hash of a part of the text without what lies inside; spacing counts in bodies alone, where it may mean something.
    fn hash(&self, part: &Range<usize>, inside: &[Range<usize>], spacing: Spacing) -> u64 {
        let mut hasher = Xxh3Default::new();
        let mut at = part.start;
        for hole in inside.iter().chain([&(part.end..part.end)]) {
            let end = hole.start.clamp(at, part.end);
            let piece = self.text.get(at..end).unwrap_or_default().trim();
            match spacing {
                Spacing::Kept => hasher.update(piece.as_bytes()),
                Spacing::Ignored => {
                    for word in piece.split_ascii_whitespace() {
                        hasher.update(word.as_bytes());
                        hasher.update(b" ");
                    }
                }
            }
            at = hole.end.clamp(at, part.end);
        }
        hasher.digest()
    }
}

#[derive(Clone, Copy)]
enum Spacing {
    Kept,
    Ignored,
}

/// The body of grammars that name no fields.
fn block(node: Node<'_>) -> Option<Node<'_>> {
    const BLOCKS: &[&str] = &["class_body", "enum_class_body", "function_body", "do_block"];
    let mut cursor = node.walk();
    node.named_children(&mut cursor).find(|child| BLOCKS.contains(&child.kind()))
}
