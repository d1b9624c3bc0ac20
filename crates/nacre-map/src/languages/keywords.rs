//! The words that begin an import or a definition, for a look without a tree.

use super::language::Language;
use super::symbol::SymbolKind;

/// A definition that a line opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Defined<'l> {
    pub(super) kind: SymbolKind,
    pub(super) name: &'l str,
    /// What stands before the name.
    pub(super) before: &'l str,
}

/// Whether a word may stand before the one that says what is defined.
fn is_modifier(word: &str) -> bool {
    matches!(
        word,
        "abstract"
            | "actual"
            | "annotation"
            | "async"
            | "case"
            | "companion"
            | "data"
            | "declare"
            | "default"
            | "expect"
            | "export"
            | "extern"
            | "external"
            | "fileprivate"
            | "final"
            | "implicit"
            | "indirect"
            | "infix"
            | "inline"
            | "inner"
            | "internal"
            | "lazy"
            | "local"
            | "open"
            | "operator"
            | "override"
            | "partial"
            | "private"
            | "protected"
            | "pub"
            | "public"
            | "readonly"
            | "sealed"
            | "static"
            | "suspend"
            | "tailrec"
            | "unsafe"
            | "value"
    ) || word.starts_with(['@', '"'])
}

type Keywords = &'static [(&'static str, SymbolKind)];

fn keywords(language: Language) -> Keywords {
    match language {
        Language::Rust => RUST,
        Language::Python => &[("def", SymbolKind::Function), ("class", SymbolKind::Class)],
        Language::JavaScript | Language::Tsx | Language::TypeScript => SCRIPT,
        Language::Go => &[
            ("func", SymbolKind::Function),
            ("type", SymbolKind::Type),
            ("const", SymbolKind::Constant),
        ],
        Language::Java | Language::CSharp => TYPES,
        Language::Kotlin => KOTLIN,
        Language::Scala => SCALA,
        Language::Swift => SWIFT,
        Language::C | Language::Cpp => CPP,
        Language::Ruby => &[
            ("class", SymbolKind::Class),
            ("module", SymbolKind::Module),
            ("def", SymbolKind::Function),
        ],
        Language::Php => PHP,
        Language::Bash | Language::Lua => &[("function", SymbolKind::Function)],
        Language::Elixir => ELIXIR,
    }
}

const RUST: Keywords = &[
    ("fn", SymbolKind::Function),
    ("struct", SymbolKind::Struct),
    ("union", SymbolKind::Struct),
    ("enum", SymbolKind::Enum),
    ("trait", SymbolKind::Interface),
    ("mod", SymbolKind::Module),
    ("type", SymbolKind::Type),
    ("const", SymbolKind::Constant),
    ("static", SymbolKind::Constant),
    ("macro_rules!", SymbolKind::Macro),
];

const SCRIPT: Keywords = &[
    ("function", SymbolKind::Function),
    ("function*", SymbolKind::Function),
    ("class", SymbolKind::Class),
    ("interface", SymbolKind::Interface),
    ("type", SymbolKind::Type),
    ("enum", SymbolKind::Enum),
    ("namespace", SymbolKind::Module),
];

const TYPES: Keywords = &[
    ("class", SymbolKind::Class),
    ("interface", SymbolKind::Interface),
    ("@interface", SymbolKind::Interface),
    ("enum", SymbolKind::Enum),
    ("record", SymbolKind::Class),
    ("struct", SymbolKind::Struct),
    ("namespace", SymbolKind::Module),
];

const KOTLIN: Keywords = &[
    ("fun", SymbolKind::Function),
    ("class", SymbolKind::Class),
    ("interface", SymbolKind::Interface),
    ("object", SymbolKind::Class),
    ("enum", SymbolKind::Enum),
    ("typealias", SymbolKind::Type),
];

const SCALA: Keywords = &[
    ("class", SymbolKind::Class),
    ("object", SymbolKind::Class),
    ("trait", SymbolKind::Interface),
    ("enum", SymbolKind::Enum),
    ("def", SymbolKind::Function),
    ("type", SymbolKind::Type),
];

const SWIFT: Keywords = &[
    ("func", SymbolKind::Function),
    ("class", SymbolKind::Class),
    ("actor", SymbolKind::Class),
    ("struct", SymbolKind::Struct),
    ("enum", SymbolKind::Enum),
    ("protocol", SymbolKind::Interface),
    ("extension", SymbolKind::Implementation),
    ("typealias", SymbolKind::Type),
];

const CPP: Keywords = &[
    ("struct", SymbolKind::Struct),
    ("union", SymbolKind::Struct),
    ("class", SymbolKind::Class),
    ("enum", SymbolKind::Enum),
    ("namespace", SymbolKind::Module),
];

const PHP: Keywords = &[
    ("function", SymbolKind::Function),
    ("class", SymbolKind::Class),
    ("interface", SymbolKind::Interface),
    ("trait", SymbolKind::Interface),
    ("enum", SymbolKind::Enum),
    ("namespace", SymbolKind::Module),
];

const ELIXIR: Keywords = &[
    ("defmodule", SymbolKind::Module),
    ("defprotocol", SymbolKind::Interface),
    ("def", SymbolKind::Function),
    ("defp", SymbolKind::Function),
    ("defmacro", SymbolKind::Macro),
];

/// Whether a line may begin an import or a definition, by its first byte: most lines may not.
pub(super) fn may_begin(language: Language, first: u8) -> bool {
    match language {
        // A definition begins with a type, a call with anything.
        Language::Bash | Language::C | Language::Cpp | Language::Lua => true,
        Language::CSharp
        | Language::Elixir
        | Language::Go
        | Language::Java
        | Language::JavaScript
        | Language::Kotlin
        | Language::Php
        | Language::Python
        | Language::Ruby
        | Language::Rust
        | Language::Scala
        | Language::Swift
        | Language::Tsx
        | Language::TypeScript => {
            // All words that begin one, and what may stand before them; spaces are cut off later.
            first.is_ascii_lowercase() || matches!(first, b'@' | b'"') || !first.is_ascii_graphic()
        }
    }
}

/// What imports can be anywhere in a line with, where they are calls like others.
pub(super) fn import_call(language: Language) -> Option<&'static str> {
    match language {
        Language::JavaScript | Language::Tsx | Language::TypeScript => Some("require("),
        Language::Lua => Some("require"),
        Language::Bash
        | Language::C
        | Language::Cpp
        | Language::CSharp
        | Language::Elixir
        | Language::Go
        | Language::Java
        | Language::Kotlin
        | Language::Php
        | Language::Python
        | Language::Ruby
        | Language::Rust
        | Language::Scala
        | Language::Swift => None,
    }
}

/// Whether a line begins an import, but for a call.
pub(super) fn opens_import(language: Language, line: &str) -> bool {
    match language {
        Language::Rust => opens_rust_import(line),
        Language::Python => line.starts_with("import ") || line.starts_with("from "),
        Language::JavaScript | Language::Tsx | Language::TypeScript => opens_script_import(line),
        Language::Go | Language::Java | Language::Kotlin | Language::Scala => {
            line.starts_with("import ")
        }
        Language::Swift => line.starts_with("import ") || line.starts_with("@testable import "),
        Language::C | Language::Cpp => {
            line.strip_prefix('#').is_some_and(|rest| rest.trim_start().starts_with("include"))
        }
        Language::CSharp => {
            (line.starts_with("using ") || line.starts_with("global using ")) && line.ends_with(';')
        }
        Language::Ruby => begins(line, &["require ", "require_relative ", "autoload ", "load "]),
        Language::Php => begins(line, &["use ", "require", "include"]),
        Language::Bash => line.starts_with("source ") || line.starts_with(". "),
        Language::Lua => false,
        Language::Elixir => begins(line, &["alias ", "import ", "use ", "require "]),
    }
}

fn begins(line: &str, words: &[&str]) -> bool {
    words.iter().any(|word| line.starts_with(word))
}

fn opens_rust_import(line: &str) -> bool {
    let line = line.strip_prefix("pub").map_or(line, |rest| {
        let rest = rest.trim_start();
        let inside = rest.strip_prefix('(').and_then(|rest| rest.split_once(')'));
        inside.map_or(rest, |(_, rest)| rest).trim_start()
    });
    let is_child = line.starts_with("mod ") && line.contains(';');
    is_child || line.starts_with("use ") || line.starts_with("extern crate ")
}

fn opens_script_import(line: &str) -> bool {
    if let Some(rest) = line.strip_prefix("import") {
        return rest.starts_with([' ', '{', '"', '\'']);
    }
    line.strip_prefix("export")
        .is_some_and(|rest| rest.starts_with('{') || begins(rest, &[" {", " *", " type {"]))
}

/// What a line defines.
pub(super) fn defined(language: Language, line: &str) -> Option<Defined<'_>> {
    if line.starts_with("//") || matches!(line.as_bytes().first(), Some(b'*' | b'}' | b')')) {
        return None;
    }
    if language == Language::Rust && line.starts_with("impl") {
        return implementation(line);
    }
    if matches!(language, Language::C | Language::Cpp) {
        return c_like(language, line);
    }
    if language == Language::Bash && line.contains("()") {
        let name = line.split('(').next().unwrap_or_default().trim();
        return found(line, SymbolKind::Function, identifier(name)).filter(|_| !name.contains(' '));
    }
    if let Some(defined) = by_keyword(language, line) {
        return Some(defined);
    }
    let is_script = matches!(language, Language::JavaScript | Language::Tsx | Language::TypeScript);
    if is_script { assigned_function(line) } else { None }
}

fn by_keyword(language: Language, line: &str) -> Option<Defined<'_>> {
    let keywords = keywords(language);
    let mut rest = line;
    for _ in 0..8 {
        let end = rest.find(char::is_whitespace)?;
        let (word, after) = rest.split_at(end);
        let (word, is_called) = match word.find('(') {
            Some(open) => (&word[..open], true),
            None => (word, false),
        };
        // `pub(in a::b) fn`
        let close = if is_called && word == "pub" { rest.find(')') } else { None };
        let after = close.map_or(after, |close| &rest[close + 1..]).trim_start();
        // Most words differ in their first letter, which costs less to see.
        let first = word.as_bytes().first();
        let is_word = |keyword: &str| keyword.as_bytes().first() == first && keyword == word;
        if let Some((_, kind)) = keywords.iter().find(|(keyword, _)| is_word(keyword)) {
            let is_qualifier = matches!(word, "const" | "enum") && next_is_keyword(after);
            if !is_qualifier {
                return found(line, *kind, name_after(language, word, after));
            }
        } else if !is_modifier(word) {
            return None;
        }
        rest = after;
    }
    None
}

/// `const fn`, `enum class`, `const unsafe fn`.
fn next_is_keyword(after: &str) -> bool {
    ["fn ", "class ", "unsafe ", "extern ", "async "].iter().any(|word| after.starts_with(word))
}

fn name_after<'l>(language: Language, keyword: &str, after: &'l str) -> &'l str {
    // `func (r *Receiver) Name(`
    let receiver =
        after.strip_prefix('(').filter(|_| language == Language::Go && keyword == "func");
    let after = receiver.and_then(|rest| rest.split_once(')')).map_or(after, |(_, rest)| rest);
    let mut after = after.trim_start();
    while let Some(rest) = after.strip_prefix("self.") {
        after = rest;
    }
    // A module's name has parts.
    let dots = matches!(
        language,
        Language::CSharp | Language::Elixir | Language::Lua | Language::Php | Language::Ruby
    );
    let is_part = |c: char| {
        c.is_alphanumeric()
            || matches!(c, '_' | '$' | '?')
            || (dots && matches!(c, '.' | ':' | '\\'))
    };
    let end = after.find(|c: char| !is_part(c)).unwrap_or(after.len());
    after[..end].trim_end_matches([':', '.'])
}

/// A definition of a name that is a part of the line.
fn found<'l>(line: &'l str, kind: SymbolKind, name: &'l str) -> Option<Defined<'l>> {
    let is_name = name.starts_with(|c: char| c.is_alphabetic() || matches!(c, '_' | '$'));
    // The name was cut out of the line, so their addresses tell how much stands before it.
    let at = name.as_ptr().addr().checked_sub(line.as_ptr().addr())?;
    is_name.then_some(Defined { kind, name, before: line.get(..at)? })
}

/// The identifier at the end of a text.
fn identifier(text: &str) -> &str {
    &text[text.trim_end_matches(|c: char| c.is_alphanumeric() || c == '_').len()..]
}

/// `impl<T> Trait for Type<T> {`
fn implementation(line: &str) -> Option<Defined<'_>> {
    let rest = line.strip_prefix("impl")?;
    let rest = match rest.strip_prefix('<') {
        Some(inside) => {
            let mut depth = 1_usize;
            let end = inside.char_indices().find_map(|(at, c)| {
                match c {
                    '<' => depth += 1,
                    '>' => depth -= 1,
                    _ => {}
                }
                (depth == 0).then_some(at + 1)
            })?;
            &inside[end..]
        }
        None => rest.strip_prefix(' ')?,
    };
    let header = rest.split(" where").next().unwrap_or_default();
    let header = header.split('{').next().unwrap_or_default().trim();
    found(line, SymbolKind::Implementation, header)
}

/// C has no word for a function: what has a list of parameters and no semicolon is one.
fn c_like(language: Language, line: &str) -> Option<Defined<'_>> {
    if let Some(rest) = line.strip_prefix("#define ") {
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        return found(line, SymbolKind::Macro, &rest[..end]);
    }
    if line.starts_with('#') || line.ends_with(['\\', ':']) {
        return None;
    }
    if let Some(rest) = line.strip_prefix("typedef ").and_then(|rest| rest.strip_suffix(';')) {
        return found(line, SymbolKind::Type, identifier(rest));
    }
    let is_statement = line.ends_with(';');
    let open = line.find('(').filter(|_| !is_statement && !line.contains('='));
    let Some(open) = open else {
        return by_keyword(language, line).filter(|_| !is_statement);
    };
    let before = line[..open].trim_end();
    let is_control = matches!(before, "if" | "for" | "while" | "switch" | "return" | "else if");
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':' | '~');
    let name = &before[before.trim_end_matches(is_part).len()..];
    found(line, SymbolKind::Function, name).filter(|_| !is_control && name.len() < before.len())
}

/// `const name = (…) =>`, `export const name = function`
fn assigned_function(line: &str) -> Option<Defined<'_>> {
    let bare = line.strip_prefix("export ").unwrap_or(line);
    let rest = ["const ", "let ", "var "].iter().find_map(|word| bare.strip_prefix(word))?;
    let is_function =
        rest.contains("=>") || rest.contains("= function") || rest.contains("= async");
    let end = rest.find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '$'))?;
    found(line, SymbolKind::Function, &rest[..end]).filter(|_| is_function)
}
