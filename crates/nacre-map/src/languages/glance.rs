//! Analyses source code line by line without parsing it.
//!
//! Parsing takes a hundred times longer, so a large project is analysed this way first. Comments
//! that look like code can cause errors, which the full analysis corrects later.

use xxhash_rust::xxh3::xxh3_64;

use super::analysis::{
    Analysis, Depth, Import, MAX_IMPORTS, MAX_SYMBOLS, Problem, SymbolFacts, SymbolKind,
    format_signature,
};
use super::imports::{imports_of, without_visibility};
use super::language::Language;
use super::role::{Around, has_tests, is_entry_text, visibility};
use super::{MAX_TEXT_BYTES, place};
use nacre_base::text::is_listed;

/// Longer statements are ignored.
const MAX_STATEMENT_LINES: usize = 200;
const MAX_STATEMENT_BYTES: usize = 20_000;

/// Longer lines are probably generated code without relevant definitions.
const MAX_LINE_BYTES: usize = 1_000;

/// Analyses source code line by line. A symbol's span covers only its first line, and bodies have
/// no hash.
pub fn glance(language: Language, bytes: &[u8]) -> Analysis {
    let Ok(text) = simdutf8::basic::from_utf8(bytes) else {
        return Analysis::with_problem(Problem::NotText);
    };
    if MAX_TEXT_BYTES < text.len() {
        return Analysis::with_problem(Problem::TooLarge);
    }
    let (imports, symbols) = (Vec::new(), Vec::new());
    let style = LineStyle::of(language);
    let mut scanner = Scanner { language, style, text, next_call: 0, imports, symbols };
    scanner.find_call(0);
    let is_cut = scanner.scan();
    let Scanner { imports, symbols, .. } = scanner;
    let has_function = |is_it: &dyn Fn(&str) -> bool| {
        symbols.iter().any(|symbol| symbol.kind == SymbolKind::Function && is_it(&symbol.name))
    };
    Analysis {
        depth: Depth::Glance,
        is_entry: is_entry_text(language, text, &has_function),
        is_test: has_tests(language, text, &has_function),
        imports,
        problem: is_cut.then_some(Problem::TooMany),
        symbols,
    }
}

struct LineStyle {
    imports: &'static [&'static str],
    /// A function that imports a module and may be called anywhere in a line.
    call: Option<&'static str>,
    keywords: &'static str,
    /// Whether definitions are usually nested in modules or classes and therefore indented.
    is_nested: bool,
    /// Whether a definition or an import can begin with any byte.
    begins_anyhow: bool,
}

impl LineStyle {
    fn of(language: Language) -> Self {
        const SCRIPT: &[&str] = &[
            "import ",
            "import{",
            "import\"",
            "import'",
            "export{",
            "export {",
            "export *",
            "export type {",
        ];
        let (imports, keywords): (&'static [&'static str], _) = match language {
            Language::Rust => (
                &["mod ", "use ", "extern crate "],
                "fn struct union enum trait mod type const static macro_rules!",
            ),
            Language::Python => (&["import ", "from "], "def class"),
            Language::JavaScript | Language::Tsx | Language::TypeScript => {
                (SCRIPT, "function function* class interface type enum namespace")
            }
            Language::Go => (&["import "], "func type const"),
            Language::Java => (&["import "], "class interface @interface enum record"),
            Language::CSharp => {
                (&["using ", "global using "], "class interface enum record struct namespace")
            }
            Language::Kotlin => (&["import "], "fun class interface object enum typealias"),
            Language::Scala => (&["import "], "class object trait enum def type"),
            Language::Swift => (
                &["import ", "@testable import "],
                "func class actor struct enum protocol extension typealias",
            ),
            Language::C | Language::Cpp => (&[], "struct union class enum namespace"),
            Language::Ruby => {
                (&["require ", "require_relative ", "autoload ", "load "], "class module def")
            }
            Language::Php => {
                (&["use ", "require", "include"], "function class interface trait enum namespace")
            }
            Language::Bash => (&["source ", ". "], "function"),
            Language::Lua => (&[], "function"),
            Language::Elixir => (
                &["alias ", "import ", "use ", "require "],
                "defmodule defprotocol def defp defmacro",
            ),
        };
        let lua = (language == Language::Lua).then_some("require");
        Self {
            imports,
            call: if language.is_script() { Some("require(") } else { lua },
            keywords,
            is_nested: matches!(
                language,
                Language::CSharp | Language::Elixir | Language::Ruby | Language::Php
            ),
            begins_anyhow: matches!(
                language,
                Language::Bash | Language::C | Language::Cpp | Language::Lua
            ),
        }
    }

    /// Quickly rejects lines whose first byte cannot begin an import or a definition.
    fn may_begin(&self, first: u8) -> bool {
        self.begins_anyhow
            || first.is_ascii_lowercase()
            || matches!(first, b'@' | b'"')
            || !first.is_ascii_graphic()
    }
}

struct Scanner<'s> {
    language: Language,
    style: LineStyle,
    text: &'s str,
    next_call: usize,
    imports: Vec<Import>,
    symbols: Vec<SymbolFacts>,
}

impl<'s> Scanner<'s> {
    /// Scans all lines. Returns whether any results were omitted because of the limits.
    fn scan(&mut self) -> bool {
        let bytes = self.text.as_bytes();
        // Lines before `next` belong to the current statement.
        let (mut start, mut next) = (0, 0);
        let ends = memchr::memchr_iter(b'\n', bytes).chain([bytes.len()]);
        for (number, end) in (1..).zip(ends) {
            let may_matter = match bytes.get(start) {
                None | Some(b'\n') => false,
                Some(b' ' | b'\t') => self.style.is_nested,
                Some(first) => self.next_call < end || self.style.may_begin(*first),
            };
            if may_matter && next <= start && end - start <= MAX_LINE_BYTES {
                next = self.take_line(start, end, number);
                if MAX_SYMBOLS <= self.symbols.len() || MAX_IMPORTS <= self.imports.len() {
                    return true;
                }
            }
            start = end + 1;
        }
        false
    }

    fn find_call(&mut self, from: usize) {
        let rest = self.text.get(from..).unwrap_or_default();
        let found = self.style.call.and_then(|call| place(rest, call));
        self.next_call = found.map_or(self.text.len(), |at| from + at);
    }

    /// Processes the statement that begins on a line and returns where it ends.
    fn take_line(&mut self, start: usize, end: usize, number: u32) -> usize {
        let line = self.text.get(start..end).unwrap_or_default().trim();
        let Some(first) = line.as_bytes().first() else { return end };
        if self.next_call < start {
            self.find_call(start);
        }
        let has_call = self.next_call < end;
        if !has_call && !self.style.may_begin(*first) {
            return end;
        }
        if has_call || self.opens_import(line) {
            let statement = self.statement(start, end);
            self.take_imports(statement, number);
            return start + statement.len();
        }
        if let Some(definition) = definition(self.language, self.style.keywords, line) {
            self.take_symbol(line, &definition, number);
        }
        end
    }

    fn opens_import(&self, line: &str) -> bool {
        let begins = |line: &str| self.style.imports.iter().any(|start| line.starts_with(start));
        if matches!(self.language, Language::C | Language::Cpp) {
            let directive = line.strip_prefix('#').map(str::trim_start);
            return directive.is_some_and(|directive| directive.starts_with("include"));
        }
        if self.language == Language::Rust {
            let line = without_visibility(line);
            return begins(line) && (!line.starts_with("mod ") || line.contains(';'));
        }
        begins(line) && (self.language != Language::CSharp || line.ends_with(';'))
    }

    fn statement(&self, start: usize, mut end: usize) -> &'s str {
        for _ in 0..MAX_STATEMENT_LINES {
            let statement = self.text.get(start..end).unwrap_or_default();
            let is_bounded = statement.len() < MAX_STATEMENT_BYTES && end < self.text.len();
            if !is_bounded || is_whole(self.language, statement) {
                break;
            }
            let rest = self.text.as_bytes().get(end + 1..).unwrap_or_default();
            end = memchr::memchr(b'\n', rest).map_or(self.text.len(), |at| end + 1 + at);
        }
        self.text.get(start..end).unwrap_or_default()
    }

    fn take_imports(&mut self, statement: &str, number: u32) {
        let is_block = self.language == Language::Go && statement.contains('(');
        let mut take = |statement: &str, line: u32| {
            let imports = imports_of(statement, self.language).into_iter();
            self.imports.extend(imports.map(|(text, kind)| Import { text, line, kind }));
        };
        if !is_block {
            return take(statement, number);
        }
        for (line, text) in (number..).zip(statement.lines()).skip(1) {
            take(text.split("//").next().unwrap_or_default(), line);
        }
    }

    fn take_symbol(&mut self, line: &str, found: &Definition<'_>, number: u32) {
        let signature = format_signature(line.find('{').map_or(line, |at| &line[..at]));
        let Definition { kind, name, before } = *found;
        self.symbols.push(SymbolFacts {
            visibility: visibility(self.language, before, name, Around::Module),
            name: name.to_owned(),
            kind,
            first_line: number,
            last_line: number,
            signature_hash: xxh3_64(signature.as_bytes()),
            signature,
            body_hash: 0,
        });
    }
}

/// Determines from brackets and the language's terminators whether the statement is complete.
fn is_whole(language: Language, statement: &str) -> bool {
    let count = |sign: u8| memchr::memchr_iter(sign, statement.as_bytes()).count();
    let has_closed_parentheses = || count(b'(') <= count(b')');
    let has_closed_braces = || count(b'{') <= count(b'}');
    if matches!(language, Language::Rust | Language::Php) {
        statement.contains(';')
    } else if language.is_script() {
        has_closed_braces() && statement.contains(['"', '\'', '`', ';'])
    } else if matches!(language, Language::Scala | Language::Elixir) {
        has_closed_braces()
    } else if language == Language::Python {
        has_closed_parentheses() && !statement.trim_end().ends_with('\\')
    } else {
        language != Language::Go || has_closed_parentheses()
    }
}

struct Definition<'l> {
    kind: SymbolKind,
    name: &'l str,
    before: &'l str,
}

impl<'l> Definition<'l> {
    /// Creates a definition. `name` must be a subslice of `line`.
    fn new(line: &'l str, kind: SymbolKind, name: &'l str) -> Option<Self> {
        let is_name = name.starts_with(|c: char| c.is_alphabetic() || matches!(c, '_' | '$'));
        let at = name.as_ptr().addr().checked_sub(line.as_ptr().addr())?;
        is_name.then_some(Self { kind, name, before: line.get(..at)? })
    }
}

fn definition<'l>(language: Language, keywords: &str, line: &'l str) -> Option<Definition<'l>> {
    if line.starts_with("//") || matches!(line.as_bytes().first(), Some(b'*' | b'}' | b')')) {
        return None;
    }
    if language == Language::Rust && line.starts_with("impl") {
        return implementation(line);
    }
    if matches!(language, Language::C | Language::Cpp) {
        return c_definition(language, keywords, line);
    }
    if language == Language::Bash && line.contains("()") {
        let name = line.split('(').next().unwrap_or_default().trim();
        let found = Definition::new(line, SymbolKind::Function, last_identifier(name));
        return found.filter(|_| !name.contains(' '));
    }
    let assigned = || language.is_script().then(|| parse_assigned_function(line)).flatten();
    by_keyword(language, keywords, line).or_else(assigned)
}

const MODIFIERS: &str = "abstract actual annotation async case companion data declare default \
    expect export extern external fileprivate final implicit indirect infix inline inner internal \
    lazy local open operator override partial private protected pub public readonly sealed static \
    suspend tailrec unsafe value";

fn kind_of(keyword: &str) -> SymbolKind {
    match keyword {
        "class" | "object" | "actor" | "record" => SymbolKind::Class,
        "struct" | "union" => SymbolKind::Struct,
        "enum" => SymbolKind::Enum,
        "interface" | "@interface" | "trait" | "protocol" | "defprotocol" => SymbolKind::Interface,
        "extension" => SymbolKind::Implementation,
        "mod" | "module" | "namespace" | "defmodule" => SymbolKind::Module,
        "type" | "typealias" => SymbolKind::Type,
        "const" | "static" => SymbolKind::Constant,
        "macro_rules!" | "defmacro" => SymbolKind::Macro,
        _ => SymbolKind::Function,
    }
}

fn by_keyword<'l>(language: Language, keywords: &str, line: &'l str) -> Option<Definition<'l>> {
    let mut rest = line;
    for _ in 0..8 {
        let end = rest.find(char::is_whitespace)?;
        let (word, after) = rest.split_at(end);
        // `pub(in a::b) fn`
        let (word, after) = match word.split_once('(') {
            Some(("pub", _)) => ("pub", rest.split_once(')').map_or(after, |(_, after)| after)),
            Some((word, _)) => (word, after),
            None => (word, after),
        };
        let after = after.trim_start();
        // Matches `const fn`, `enum class`, `const unsafe fn`.
        let is_qualifier = matches!(word, "const" | "enum")
            && ["fn ", "class ", "unsafe ", "extern ", "async "]
                .iter()
                .any(|next| after.starts_with(next));
        if !is_qualifier && is_listed(keywords, word) {
            return Definition::new(line, kind_of(word), name_after(language, word, after));
        }
        if !is_qualifier && !word.starts_with(['@', '"']) && !is_listed(MODIFIERS, word) {
            return None;
        }
        rest = after;
    }
    None
}

fn name_after<'l>(language: Language, keyword: &str, after: &'l str) -> &'l str {
    // Matches `func (r *Receiver) Name(`.
    let receiver = after.strip_prefix('(').filter(|_| keyword == "func");
    let after = receiver.and_then(|rest| rest.split_once(')')).map_or(after, |(_, rest)| rest);
    let after = after.trim_start().trim_start_matches("self.");
    let has_parts = matches!(
        language,
        Language::CSharp | Language::Elixir | Language::Lua | Language::Php | Language::Ruby
    );
    let is_part = |c: char| {
        c.is_alphanumeric()
            || matches!(c, '_' | '$' | '?')
            || has_parts && matches!(c, '.' | ':' | '\\')
    };
    let end = after.find(|c: char| !is_part(c)).unwrap_or(after.len());
    after[..end].trim_end_matches([':', '.'])
}

fn last_identifier(text: &str) -> &str {
    &text[text.trim_end_matches(|c: char| c.is_alphanumeric() || c == '_').len()..]
}

/// Parses `impl<T> Trait for Type<T> {`.
fn implementation(line: &str) -> Option<Definition<'_>> {
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
    Definition::new(line, SymbolKind::Implementation, header)
}

/// C has no keyword for functions, so a line with parameters and no semicolon counts as a
/// definition.
fn c_definition<'l>(language: Language, keywords: &str, line: &'l str) -> Option<Definition<'l>> {
    if let Some(rest) = line.strip_prefix("#define ") {
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        return Definition::new(line, SymbolKind::Macro, &rest[..end]);
    }
    if line.starts_with('#') || line.ends_with(['\\', ':']) {
        return None;
    }
    if let Some(rest) = line.strip_prefix("typedef ").and_then(|rest| rest.strip_suffix(';')) {
        return Definition::new(line, SymbolKind::Type, last_identifier(rest));
    }
    if line.ends_with(';') {
        return None;
    }
    let Some(open) = line.find('(').filter(|_| !line.contains('=')) else {
        return by_keyword(language, keywords, line);
    };
    let before = line[..open].trim_end();
    let is_control = matches!(before, "if" | "for" | "while" | "switch" | "return" | "else if");
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':' | '~');
    let name = &before[before.trim_end_matches(is_part).len()..];
    let found = Definition::new(line, SymbolKind::Function, name);
    found.filter(|_| !is_control && name.len() < before.len())
}

/// Parses `const name = (…) =>` and `export const name = function`.
fn parse_assigned_function(line: &str) -> Option<Definition<'_>> {
    let bare = line.strip_prefix("export ").unwrap_or(line);
    let rest = ["const ", "let ", "var "].iter().find_map(|word| bare.strip_prefix(word))?;
    let is_function =
        rest.contains("=>") || rest.contains("= function") || rest.contains("= async");
    let end = rest.find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '$'))?;
    Definition::new(line, SymbolKind::Function, &rest[..end]).filter(|_| is_function)
}
