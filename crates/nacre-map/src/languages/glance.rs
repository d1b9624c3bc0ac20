//! A first look at a text, line by line, without a tree.
//!
//! A cold answer cannot wait for grammars: reading lines is a hundred times faster. It tells imports and what is defined at the
//! top, and may be fooled by a comment that looks like code; the whole analysis follows and is not.

use std::borrow::Cow;
use std::ops::ControlFlow;

use xxhash_rust::xxh3::xxh3_64;

use super::MAX_TEXT_BYTES;
use super::analysis::{Analysis, AnalysisRef, Depth, Import, Problem, SymbolFactsRef};
use super::find::place;
use super::imports::asked;
use super::keywords::{Defined, defined, import_call, may_begin, opens_import};
use super::language::Language;
use super::lines::each_break;
use super::role::{has_tests, is_entry_text};
use super::signature::shown_signature;
use super::symbol::SymbolKind;
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
    glimpse(language, bytes).into_owned()
}

/// The same, in words of the text itself.
pub fn glimpse(language: Language, bytes: &[u8]) -> AnalysisRef<'_> {
    let Ok(text) = simdutf8::basic::from_utf8(bytes) else {
        return AnalysisRef { problem: Some(Problem::NotText), ..AnalysisRef::default() };
    };
    if MAX_TEXT_BYTES < text.len() {
        return AnalysisRef { problem: Some(Problem::TooLarge), ..AnalysisRef::default() };
    }
    let (imports, symbols) = (Vec::new(), Vec::new());
    let mut scanner = Scanner { language, text, next_call: 0, imports, symbols };
    scanner.find_call(0);
    let is_cut = scanner.scan();
    let Scanner { imports, symbols, .. } = scanner;
    let has_function = |is_it: &dyn Fn(&str) -> bool| {
        symbols.iter().any(|symbol| symbol.kind == SymbolKind::Function && is_it(symbol.name))
    };
    AnalysisRef {
        depth: Depth::Glance,
        is_entry: is_entry_text(language, text, &has_function),
        is_test: has_tests(language, text, &has_function),
        imports: Cow::Owned(imports),
        problem: is_cut.then_some(Problem::TooMany),
        symbols,
    }
}

struct Scanner<'s> {
    language: Language,
    text: &'s str,
    /// Where the next call is that imports; the end of the text where there is none.
    next_call: usize,
    imports: Vec<Import>,
    symbols: Vec<SymbolFactsRef<'s>>,
}

impl<'s> Scanner<'s> {
    /// Goes through the lines; says whether there were more than could be kept.
    fn scan(&mut self) -> bool {
        let looks_inside = looks_inside(self.language);
        let text = self.text;
        // What comes before `next` was a part of the statement before.
        let (mut start, mut next, mut number) = (0, 0, 0);
        let mut take = |end: usize| {
            number += 1;
            let first = text.as_bytes().get(start).copied();
            if first.is_some_and(|first| self.may_say(first, looks_inside, end))
                && next <= start
                && end - start <= MAX_LINE_BYTES
            {
                next = self.line(start, end, number);
                if MAX_SYMBOLS <= self.symbols.len() || MAX_IMPORTS <= self.imports.len() {
                    return ControlFlow::Break(());
                }
            }
            start = end + 1;
            ControlFlow::Continue(())
        };
        each_break(text, &mut take).is_break() || take(text.len()).is_break()
    }

    /// Whether a line that begins so may be one to look at.
    fn may_say(&self, first: u8, looks_inside: bool, end: usize) -> bool {
        match first {
            b' ' | b'\t' => looks_inside,
            b'\n' => false,
            first => self.next_call < end || may_begin(self.language, first),
        }
    }

    /// Looks for the next call that imports.
    fn find_call(&mut self, from: usize) {
        let rest = self.text.get(from..).unwrap_or_default();
        let found = import_call(self.language).and_then(|call| place(rest, call));
        self.next_call = found.map_or(self.text.len(), |at| from + at);
    }

    /// Whether a line has a call that imports.
    fn has_call(&mut self, start: usize, end: usize) -> bool {
        if self.next_call < start {
            self.find_call(start);
        }
        self.next_call < end
    }

    /// Takes a line in, with the statement that begins in it; says where that has ended.
    fn line(&mut self, start: usize, end: usize, number: u32) -> usize {
        let line = self.text.get(start..end).unwrap_or_default().trim();
        let Some(first) = line.as_bytes().first() else { return end };
        let has_call = self.has_call(start, end);
        if !has_call && !may_begin(self.language, *first) {
            return end;
        }
        if has_call || opens_import(self.language, line) {
            let statement = self.statement(start, end);
            self.take_imports(statement, number);
            return start + statement.len();
        }
        if let Some(found) = defined(self.language, line) {
            self.take_symbol(line, found, number);
        }
        end
    }

    /// The statement that begins in a line, however many it takes.
    fn statement(&self, start: usize, end: usize) -> &'s str {
        let mut end = end;
        let mut n_more = 0;
        let (mut seen, mut seen_end) = (Signs::default(), start);
        loop {
            let statement = self.text.get(start..end).unwrap_or_default();
            // Each line is looked at once, however many there are.
            seen.add(self.text.get(seen_end..end).unwrap_or_default());
            seen_end = end;
            let is_bounded = n_more < MAX_STATEMENT_LINES && statement.len() < MAX_STATEMENT_BYTES;
            if seen.is_whole(self.language) || !is_bounded || self.text.len() <= end {
                return statement;
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

    fn take_symbol(&mut self, line: &'s str, found: Defined<'s>, number: u32) {
        let signature = shown_signature(line.find('{').map_or(line, |at| &line[..at]));
        let Defined { kind, name, before } = found;
        self.symbols.push(SymbolFactsRef {
            visibility: visibility(self.language, before, name, Around::Module),
            name,
            kind,
            first_line: number,
            last_line: number,
            signature_hash: xxh3_64(signature.as_bytes()),
            signature,
            body_hash: 0,
        });
    }
}

/// Languages that put their definitions into modules or classes, indented.
fn looks_inside(language: Language) -> bool {
    matches!(language, Language::CSharp | Language::Elixir | Language::Ruby | Language::Php)
}

/// What was seen of a statement that decides whether it has come to its end.
#[derive(Clone, Copy, Debug, Default)]
struct Signs {
    /// How many brackets are open; less than none where more were closed.
    parentheses: isize,
    braces: isize,
    has_semicolon: bool,
    has_quote: bool,
    /// Whether the last line goes on in the next.
    is_continued: bool,
}

impl Signs {
    fn add(&mut self, text: &str) {
        for byte in text.bytes() {
            match byte {
                b'(' => self.parentheses += 1,
                b')' => self.parentheses -= 1,
                b'{' => self.braces += 1,
                b'}' => self.braces -= 1,
                b';' => self.has_semicolon = true,
                b'"' | b'\'' | b'`' => self.has_quote = true,
                _ => {}
            }
        }
        let trimmed = text.trim_end();
        self.is_continued =
            if trimmed.is_empty() { self.is_continued } else { trimmed.ends_with('\\') };
    }

    fn is_whole(self, language: Language) -> bool {
        match language {
            Language::Rust | Language::Php => self.has_semicolon,
            Language::Python => self.parentheses <= 0 && !self.is_continued,
            Language::JavaScript | Language::Tsx | Language::TypeScript => {
                self.braces <= 0 && (self.has_quote || self.has_semicolon)
            }
            Language::Go => self.parentheses <= 0,
            Language::Scala | Language::Elixir => self.braces <= 0,
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
}
