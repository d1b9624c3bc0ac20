//! A first look at a text, line by line, without a tree.
//!
//! A cold answer cannot wait for grammars: reading lines is a hundred times faster. It tells imports and what is defined at the
//! top, and may be fooled by a comment that looks like code; the whole analysis follows and is not.

use xxhash_rust::xxh3::xxh3_64;

use super::MAX_TEXT_BYTES;
use super::analyse::{has_tests, shown_signature};
use super::analysis::{Analysis, Depth, Import, Problem, SymbolFacts};
use super::imports::asked;
use super::keywords::{Defined, defined, opens_import};
use super::language::Language;
use super::outline::SymbolKind;
use super::visibility::{Around, visibility};

/// A text with more of either is data, not code.
const MAX_SYMBOLS: usize = 5_000;
const MAX_IMPORTS: usize = 2_000;

/// A statement that is open for longer is none.
const MAX_STATEMENT_LINES: usize = 200;
const MAX_STATEMENT_BYTES: usize = 20_000;

/// A longer line defines nothing that a person would look for.
const MAX_LINE_BYTES: usize = 1_000;

/// Tells what can be told without a tree. A symbol's span is its first line, and its body has no hash.
pub fn glance(language: Language, bytes: &[u8]) -> Analysis {
    let Ok(text) = str::from_utf8(bytes) else {
        return Analysis { problem: Some(Problem::NotText), ..Analysis::default() };
    };
    if MAX_TEXT_BYTES < text.len() {
        return Analysis { problem: Some(Problem::TooLarge), ..Analysis::default() };
    }
    let mut scanner = Scanner { language, text, imports: Vec::new(), symbols: Vec::new() };
    let is_cut = scanner.scan();
    Analysis {
        depth: Depth::Glance,
        is_entry: is_entry_text(language, text, &scanner.symbols),
        is_test: has_tests(language, text, &scanner.symbols),
        imports: scanner.imports,
        symbols: scanner.symbols,
        problem: is_cut.then_some(Problem::TooMany),
    }
}

/// Whether some words stand anywhere in a text. Much faster than the standard library's search, and asked of every text.
pub(super) fn holds(text: &str, words: &str) -> bool {
    memchr::memmem::find(text.as_bytes(), words.as_bytes()).is_some()
}

/// Whether a program starts in a text.
pub(super) fn is_entry_text(language: Language, text: &str, symbols: &[SymbolFacts]) -> bool {
    let has_main = || {
        symbols.iter().any(|symbol| symbol.kind == SymbolKind::Function && symbol.name == "main")
    };
    let has = |all: &[&str]| all.iter().any(|words| holds(text, words));
    match language {
        Language::Rust | Language::C | Language::Cpp | Language::Kotlin => has_main(),
        Language::Go => has_main() && has(&["package main"]),
        Language::Python => {
            has(&["__name__ == \"__main__\"", "__name__ == '__main__'"]) || text.starts_with("#!")
        }
        Language::Java => has(&["static void main("]),
        Language::CSharp => {
            has(&["static void Main(", "static int Main(", "static async Task Main("])
        }
        Language::Swift => has(&["\n@main"]),
        Language::Scala => has(&["\n@main", "extends App", "def main(args"]),
        Language::Bash
        | Language::Elixir
        | Language::JavaScript
        | Language::Lua
        | Language::Php
        | Language::Ruby
        | Language::Tsx
        | Language::TypeScript => text.starts_with("#!"),
    }
}

struct Scanner<'s> {
    language: Language,
    text: &'s str,
    imports: Vec<Import>,
    symbols: Vec<SymbolFacts>,
}

impl<'s> Scanner<'s> {
    /// Goes through the lines; says whether there were more than could be kept.
    fn scan(&mut self) -> bool {
        let looks_inside = looks_inside(self.language);
        let (mut start, mut number) = (0, 0);
        while start < self.text.len() {
            number += 1;
            let bytes = self.text.as_bytes();
            let end = memchr::memchr(b'\n', &bytes[start..]).map_or(bytes.len(), |at| start + at);
            let is_indented = matches!(bytes.get(start), Some(b' ' | b'\t'));
            let mut next = end + 1;
            if (!is_indented || looks_inside) && end - start <= MAX_LINE_BYTES {
                let lines = self.line(start, end, number);
                number += lines.n_more;
                next = lines.next.unwrap_or(next);
            }
            if MAX_SYMBOLS <= self.symbols.len() || MAX_IMPORTS <= self.imports.len() {
                return true;
            }
            start = next;
        }
        false
    }

    fn line(&mut self, start: usize, end: usize, number: u32) -> Taken {
        let line = self.text.get(start..end).unwrap_or_default().trim();
        if line.is_empty() {
            return Taken::default();
        }
        if opens_import(self.language, line) {
            let (statement, taken) = self.statement(start, end);
            self.take_imports(statement, number);
            return taken;
        }
        if let Some(found) = defined(self.language, line) {
            self.take_symbol(line, found, number);
        }
        Taken::default()
    }

    /// The statement that begins in a line, however many it takes.
    fn statement(&self, start: usize, end: usize) -> (&'s str, Taken) {
        let mut end = end;
        let mut n_more = 0;
        loop {
            let statement = self.text.get(start..end).unwrap_or_default();
            let is_bounded = n_more < MAX_STATEMENT_LINES && statement.len() < MAX_STATEMENT_BYTES;
            if is_whole(self.language, statement) || !is_bounded || self.text.len() <= end {
                let n_more = u32::try_from(n_more).unwrap_or_default();
                return (statement, Taken { n_more, next: Some(end + 1) });
            }
            let rest = self.text.as_bytes().get(end + 1..).unwrap_or_default();
            end = memchr::memchr(b'\n', rest).map_or(self.text.len(), |at| end + 1 + at);
            n_more += 1;
        }
    }

    fn take_imports(&mut self, statement: &str, number: u32) {
        let is_block = self.language == Language::Go && statement.contains('(');
        if is_block {
            for (at, line) in (0..).zip(statement.lines()).skip(1) {
                self.push(line.split("//").next().unwrap_or_default(), number + at);
            }
        } else {
            self.push(statement, number);
        }
    }

    fn push(&mut self, statement: &str, line: u32) {
        let imports = asked(statement, self.language).into_iter().map(|asked| Import {
            text: asked.text,
            line,
            kind: asked.kind,
        });
        self.imports.extend(imports);
    }

    fn take_symbol(&mut self, line: &str, found: Defined<'_>, number: u32) {
        let signature = shown_signature(line.split('{').next().unwrap_or(line));
        let before = line.split(found.name.as_ref()).next().unwrap_or_default();
        self.symbols.push(SymbolFacts {
            visibility: visibility(self.language, before, &found.name, Around::Module),
            name: found.name.into_owned(),
            kind: found.kind,
            first_line: number,
            last_line: number,
            signature_hash: xxh3_64(signature.as_bytes()),
            signature,
            body_hash: 0,
        });
    }
}

/// What a line took beyond itself.
#[derive(Default)]
struct Taken {
    n_more: u32,
    next: Option<usize>,
}

/// Languages that put their definitions into modules or classes, indented.
fn looks_inside(language: Language) -> bool {
    matches!(language, Language::CSharp | Language::Elixir | Language::Ruby | Language::Php)
}

/// Whether a statement has come to its end.
fn is_whole(language: Language, statement: &str) -> bool {
    let is_closed = |open: char, close: char| {
        statement.matches(open).count() <= statement.matches(close).count()
    };
    match language {
        Language::Rust | Language::Php => statement.contains(';'),
        Language::Python => is_closed('(', ')') && !statement.trim_end().ends_with('\\'),
        Language::JavaScript | Language::Tsx | Language::TypeScript => {
            is_closed('{', '}') && statement.contains(['"', '\'', '`', ';'])
        }
        Language::Go => is_closed('(', ')'),
        Language::Scala | Language::Elixir => is_closed('{', '}'),
        Language::Bash
        | Language::C
        | Language::Cpp
        | Language::CSharp
        | Language::Java
        | Language::Kotlin
        | Language::Lua
        | Language::Ruby
        | Language::Swift => true,
    }
}
