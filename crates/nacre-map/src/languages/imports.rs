//! Extracts the imported names from an import statement.
//!
//! The grammar-based analysis and the line scanner (`glance`) find statements in different ways,
//! but both use this module.

use std::borrow::Cow;

use super::analysis::ImportKind;
use super::language::Language;
use super::{last_place, place};

const MAX_DEPTH: usize = 16;

const MAX_NAMES: usize = 500;

const MAX_TEXT_BYTES: usize = 300;

type Name = (String, ImportKind);

/// Returns the imported names, or an empty list if the statement is not an import.
pub(super) fn imports_of(statement: &str, language: Language) -> Vec<Name> {
    let statement = statement.trim().trim_end_matches(';').trim_end();
    let mut names = match language {
        Language::Rust => rust(statement),
        Language::Python => python(statement),
        Language::JavaScript | Language::Tsx | Language::TypeScript => script(statement),
        Language::Go => one(find_quoted(statement), ImportKind::Module),
        Language::Java | Language::Kotlin => parse_dotted(statement),
        Language::Scala => after_word(statement, "import")
            .map_or_else(Vec::new, |rest| group(&rest.replace('`', ""), ".", ImportKind::Module)),
        Language::C | Language::Cpp => include(statement),
        Language::CSharp => using(statement),
        Language::Ruby => ruby(statement),
        Language::Php => php(statement),
        Language::Swift => swift(statement),
        Language::Bash => bash(statement),
        Language::Lua => lua(statement),
        Language::Elixir => elixir(statement),
    };
    names.retain(|(name, _)| !name.is_empty() && name.len() <= MAX_TEXT_BYTES);
    names.truncate(MAX_NAMES);
    names
}

fn one(name: Option<&str>, kind: ImportKind) -> Vec<Name> {
    name.map(|name| (name.trim().to_owned(), kind)).into_iter().collect()
}

fn after_word<'s>(text: &'s str, word: &str) -> Option<&'s str> {
    let rest = text.strip_prefix(word)?;
    let is_whole =
        rest.starts_with(|c: char| c.is_whitespace() || matches!(c, '{' | '"' | '\'' | '*' | '('));
    is_whole.then(|| rest.trim_start())
}

fn find_quoted(text: &str) -> Option<&str> {
    let start = text.find(['"', '\'', '`'])?;
    let quote = text[start..].chars().next()?;
    let inside = &text[start + 1..];
    inside.find(quote).map(|end| &inside[..end])
}

fn without_comments(text: &str) -> Cow<'_, str> {
    let mut rest = text;
    if !rest.contains('/') {
        return Cow::Borrowed(text);
    }
    let mut clean = String::with_capacity(text.len());
    while let Some(at) = rest.find('/') {
        clean.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = match rest.as_bytes().get(1) {
            Some(b'/') => rest.find('\n'),
            Some(b'*') => rest.find("*/").map(|end| end + 2),
            _ => {
                clean.push('/');
                Some(1)
            }
        };
        rest = end.map_or("", |end| &rest[end..]);
    }
    clean.push_str(rest);
    Cow::Owned(clean)
}

/// Expands `a::{b, c::{d, self}, e as f, g::*}` into individual names.
fn group(text: &str, separator: &str, kind: ImportKind) -> Vec<Name> {
    let mut names = Vec::new();
    expand("", text, separator, MAX_DEPTH, &mut |name| names.push((name, kind)));
    names
}

fn expand(before: &str, text: &str, separator: &str, depth: usize, found: &mut dyn FnMut(String)) {
    for part in top_level_parts(text) {
        let part = part.trim();
        match part.find('{') {
            Some(_) if depth == 0 => {}
            Some(at) => {
                let inside = part[at + 1..].trim_end().trim_end_matches('}');
                let head = format!("{before}{}", part[..at].trim());
                expand(&head, inside, separator, depth - 1, found);
            }
            None => {
                let name = match own_name(part).trim() {
                    "" => continue,
                    "self" | "*" | "_" | "given" => "",
                    name => name,
                };
                let mut whole = [before, name].concat();
                cut_wildcard(&mut whole, separator);
                found(whole.split_whitespace().collect());
            }
        }
    }
}

/// Returns a renamed import's original name: `a` in `a => b` and `a as b`.
fn own_name(part: &str) -> &str {
    if !part.contains(' ') && !part.contains('=') {
        return part;
    }
    let before = |name: &'_ str, word: &str| place(name, word).unwrap_or(name.len());
    let name = &part[..before(part, "=>")];
    &name[..before(name, " as ")]
}

fn cut_wildcard(name: &mut String, separator: &str) {
    for wild in ["*", "_"] {
        let rest = name.strip_suffix(wild).and_then(|rest| rest.strip_suffix(separator));
        if let Some(len) = rest.map(str::len) {
            name.truncate(len);
        }
    }
    if let Some(len) = name.strip_suffix(separator).map(str::len) {
        name.truncate(len);
    }
}

fn top_level_parts(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0_usize, 0);
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

fn rust(statement: &str) -> Vec<Name> {
    let rest = without_visibility(statement);
    let is_public = rest.len() < statement.len();
    let kind = if is_public { ImportKind::Reexport } else { ImportKind::Module };
    if let Some(rest) = after_word(rest, "use") {
        return group(&without_comments(rest), "::", kind);
    }
    if let Some(rest) = after_word(rest, "extern crate") {
        return one(rest.split_whitespace().next(), kind);
    }
    let name = after_word(rest, "mod").filter(|rest| !rest.contains('{'));
    one(name, ImportKind::Child)
}

fn python(statement: &str) -> Vec<Name> {
    let statement = on_one_line(statement);
    let module = |name: String| (name, ImportKind::Module);
    if let Some(rest) = after_word(&statement, "import") {
        return rest.split(',').map(|name| module(first_word(name).to_owned())).collect();
    }
    let Some((from, names)) = statement
        .strip_prefix("from")
        .and_then(|rest| Some(rest.split_at(place(rest, " import")?)))
    else {
        return Vec::new();
    };
    let from: String = from.split_whitespace().collect();
    let names = names[" import".len()..].trim().trim_matches(['(', ')']);
    let names = names.split(',').map(first_word);
    let whole = names.filter(|name| !name.is_empty()).map(|name| match name {
        "*" => module(from.clone()),
        name if from.ends_with('.') => module([&from, name].concat()),
        name => module([&from, ".", name].concat()),
    });
    whole.collect()
}

fn first_word(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or_default()
}

fn on_one_line(statement: &str) -> Cow<'_, str> {
    if !statement.contains(['#', '\\', '\n']) {
        return Cow::Borrowed(statement);
    }
    let lines: Vec<&str> =
        statement.lines().map(|line| line.split('#').next().unwrap_or_default()).collect();
    Cow::Owned(lines.join(" ").replace('\\', " "))
}

fn script(statement: &str) -> Vec<Name> {
    let kind = match statement {
        _ if statement.starts_with("import type") => ImportKind::Type,
        _ if statement.starts_with("export") => ImportKind::Reexport,
        _ => ImportKind::Module,
    };
    let from = match place(statement, "require(") {
        Some(at) => &statement[at..],
        // Minifiers omit the space: `}from"x"`.
        None => last_place(statement, " from")
            .or_else(|| last_place(statement, "}from"))
            .map_or(statement, |at| &statement[at + 5..]),
    };
    one(find_quoted(from), kind)
}

fn parse_dotted(statement: &str) -> Vec<Name> {
    let Some(rest) = after_word(statement, "import") else { return Vec::new() };
    let rest = after_word(rest, "static").unwrap_or(rest);
    let name = rest.split(" as ").next().unwrap_or_default().split(';').next().unwrap_or_default();
    one(Some(&name.replace([' ', '`'], "")), ImportKind::Module)
}

fn include(statement: &str) -> Vec<Name> {
    let Some(rest) = statement.strip_prefix('#').map(str::trim_start) else { return Vec::new() };
    let rest = rest.strip_prefix("include_next").or_else(|| rest.strip_prefix("include"));
    let Some(rest) = rest.map(str::trim_start) else { return Vec::new() };
    match rest.strip_prefix('<') {
        Some(inside) => one(inside.split('>').next(), ImportKind::System),
        None => one(find_quoted(rest), ImportKind::Path),
    }
}

fn using(statement: &str) -> Vec<Name> {
    let rest = after_word(statement, "global").unwrap_or(statement);
    let Some(rest) = after_word(rest, "using").filter(|rest| !rest.starts_with('(')) else {
        return Vec::new();
    };
    let rest = after_word(rest, "static").unwrap_or(rest);
    let name = rest.split_once('=').map_or(rest, |(_, name)| name);
    let is_name =
        |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | ' ' | ':' | '<' | '>' | ',');
    one(Some(name.trim()).filter(|name| name.chars().all(is_name)), ImportKind::Module)
}

fn ruby(statement: &str) -> Vec<Name> {
    for (word, kind) in [
        ("require_relative", ImportKind::Path),
        ("require", ImportKind::Module),
        ("load", ImportKind::Path),
        ("autoload", ImportKind::Module),
    ] {
        if let Some(rest) = after_word(statement, word) {
            let is_plain = |text: &&str| !text.contains("#{");
            return one(find_quoted(rest).filter(is_plain), kind);
        }
    }
    Vec::new()
}

fn php(statement: &str) -> Vec<Name> {
    if let Some(rest) = after_word(statement, "use") {
        let rest = ["function", "const"]
            .iter()
            .fold(rest, |rest, word| after_word(rest, word).unwrap_or(rest));
        let mut names = group(&without_comments(rest), "\\", ImportKind::Module);
        for (name, _) in &mut names {
            *name = name.trim_start_matches('\\').to_owned();
        }
        return names;
    }
    let words = ["require_once", "require", "include_once", "include"];
    let rest = words.iter().find_map(|word| after_word(statement, word));
    let path = rest.and_then(find_quoted).map(|path| path.trim_start_matches('/'));
    one(path.filter(|path| !path.contains('$')), ImportKind::Path)
}

fn swift(statement: &str) -> Vec<Name> {
    let words: Vec<&str> = statement.split_whitespace().collect();
    if !words.contains(&"import") {
        return Vec::new();
    }
    one(words.last().copied(), ImportKind::Module)
}

fn bash(statement: &str) -> Vec<Name> {
    let rest = after_word(statement, "source").or_else(|| after_word(statement, "."));
    let Some(rest) = rest else { return Vec::new() };
    let path = rest.lines().next().unwrap_or_default();
    // In `"$(dirname "$0")/lib.sh"`, only the part after the expansion is a path.
    let tail = path.rfind(['}', ')']).map_or(path, |at| &path[at + 1..]);
    let tail = match tail.rfind('$') {
        Some(at) => tail[at..].find('/').map_or("", |slash| &tail[at + slash..]),
        None => tail,
    };
    let tail = tail.trim().trim_matches(['"', '\'']);
    let tail = if tail.len() == path.len() { tail } else { tail.trim_start_matches(['/', '"']) };
    one(tail.split_whitespace().next(), ImportKind::Path)
}

fn lua(statement: &str) -> Vec<Name> {
    let Some(at) = statement.find("require") else {
        let path = statement.strip_prefix("dofile").and_then(find_quoted);
        return one(path, ImportKind::Path);
    };
    let rest = statement[at + "require".len()..].trim_start().trim_start_matches('(').trim_start();
    let is_text = rest.starts_with(['"', '\'']);
    one(find_quoted(rest).filter(|_| is_text), ImportKind::Module)
}

fn elixir(statement: &str) -> Vec<Name> {
    let words = ["alias", "import", "use", "require"];
    let Some(rest) = words.iter().find_map(|word| after_word(statement, word)) else {
        return Vec::new();
    };
    // Use only the name before the options: `A` in `use A, only: [b: 1]`.
    let name = match rest.find('{') {
        Some(_) => rest.split('}').next().map(|group| format!("{group}}}")).unwrap_or_default(),
        None => rest.split([',', '\n']).next().unwrap_or_default().to_owned(),
    };
    let mut names = group(&name, ".", ImportKind::Module);
    names.retain(|(name, _)| name.starts_with(|c: char| c.is_ascii_uppercase()));
    names
}

pub(super) fn without_visibility(line: &str) -> &str {
    let Some(rest) = line.strip_prefix("pub").map(str::trim_start) else { return line };
    let inside = rest.strip_prefix('(').and_then(|rest| rest.split_once(')'));
    inside.map_or(rest, |(_, rest)| rest).trim_start()
}
