//! Finds mentions of names in code, outside comments and strings.
//!
//! Files are not parsed, because many of them are scanned at once. A single pass over the bytes
//! skips comments and strings and checks each searched word and its context. Template strings count
//! as code.

use std::collections::HashMap;

use super::holds;
use super::language::Language;
use nacre_base::text::is_listed;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mention<'t> {
    /// Index of the name in `SoughtNames`.
    pub name: usize,
    pub form: MentionForm,
    /// The word before the dot or double colon: `store` in `store.open`.
    pub qualifier: Option<&'t str>,
    /// The type before the name in a Rust path: `Vec` in `Vec::open`. Not `Self` or a macro
    /// parameter.
    pub path_type: Option<&'t str>,
    /// Whether the name is called or used as a function value, as in `open(` or `Store::open`.
    pub is_called: bool,
    /// The subtype that the line declares for the mentioned type: `Pearl` in
    /// `class Pearl extends Stone`.
    pub heir: Option<&'t str>,
    /// An alias for the name in Python or Rust: `Gem` in `use Stone as Gem` and `type Gem = Stone`.
    pub other_name: Option<&'t str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MentionForm {
    /// The name has no qualifier: `open(…)`, `use a::{open}`.
    Plain,
    /// The name follows a dot, an arrow or a double colon.
    Qualified,
    Declared,
}

#[derive(Debug, Default)]
pub struct SoughtNames {
    names: Vec<String>,
    by_name: HashMap<String, usize>,
}

impl SoughtNames {
    pub fn add(&mut self, name: &str) -> usize {
        if let Some(place) = self.by_name.get(name) {
            return *place;
        }
        self.names.push(name.to_owned());
        self.by_name.insert(name.to_owned(), self.names.len() - 1);
        self.names.len() - 1
    }

    pub fn place(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    pub fn name(&self, place: usize) -> Option<&str> {
        self.names.get(place).map(String::as_str)
    }

    pub fn len(&self) -> usize {
        self.names.len()
    }

    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}

/// If there are no more names than this, they are searched for one by one. With more names, the
/// source is split into words.
const MAX_TRIED: usize = 16;

const MAX_MENTIONS: usize = 1000;

/// Keywords that introduce a declared name.
const DECLARING: &str = "class const def defp enum fn fun func function interface let macro_rules! \
    mod module namespace object package protocol record static struct trait type union val var";

/// Keywords that can precede a use of a name, in languages whose declarations begin with a type.
const BEFORE_USE: &str = "abstract as assert await case catch do else extends final implements \
    import in instanceof is new not package private protected public return static throw throws \
    typeof using yield";

pub fn each_mention<'t>(
    language: Language,
    text: &'t str,
    names: &SoughtNames,
    mut take: impl FnMut(Mention<'t>),
) {
    let is_few = names.len() <= MAX_TRIED;
    if is_few && !names.names.iter().any(|name| holds(text, name)) {
        return;
    }
    let mut scan = Scan { text, bytes: text.as_bytes(), at: 0, style: Style::of(language) };
    let mut n_seen = vec![0_usize; names.len()];
    while let Some((start, end)) = scan.next_word() {
        let Some(name) = names.by_name.get(&text[start..end]) else { continue };
        n_seen[*name] += 1;
        if n_seen[*name] > MAX_MENTIONS {
            continue;
        }
        let (before_name, after) = (before_of(text, start), after_of(text, end));
        let (form, qualifier) = form_of(language, before_name, after);
        let before = before_name.trim_end_matches([' ', '\t']);
        // A single colon marks a field: `open: bool`.
        let is_called =
            before.ends_with("::") || after.starts_with(['(', '<']) || after.starts_with("::");
        let path_type = qualifier
            .filter(|_| language == Language::Rust && before.ends_with("::"))
            .filter(|word| *word != "Self" && word.starts_with(char::is_uppercase));
        let is_use = form != MentionForm::Declared;
        let heir = if is_use { heir_of(before_name) } else { None };
        let other_name = if is_use { other_name(language, before_name, after) } else { None };
        take(Mention { name: *name, form, qualifier, path_type, is_called, heir, other_name });
    }
}

/// Number of bytes to examine on either side of a name. Without this limit, processing a long line
/// with many mentions would take quadratic time.
const MAX_AROUND: usize = 512;

fn before_of(text: &str, start: usize) -> &str {
    &text[text.ceil_char_boundary(start.saturating_sub(MAX_AROUND))..start]
}

fn after_of(text: &str, end: usize) -> &str {
    &text[end..text.floor_char_boundary((end + MAX_AROUND).min(text.len()))]
}

fn form_of<'t>(
    language: Language,
    before: &'t str,
    after: &'t str,
) -> (MentionForm, Option<&'t str>) {
    let before = before.trim_end_matches([' ', '\t']);
    for mark in ["::", "->", "?.", "!.", "."] {
        if let Some(rest) = before.strip_suffix(mark) {
            return (MentionForm::Qualified, last_word(rest));
        }
    }
    let word = last_word(before);
    let is_declared = word.is_some_and(|word| is_listed(DECLARING, word))
        || before.ends_with("macro_rules!")
        || is_declared_otherwise(language, before, word, after);
    let form = if is_declared { MentionForm::Declared } else { MentionForm::Plain };
    (form, None)
}

/// Returns the class or interface that is declared earlier on the same line.
fn heir_of(before: &str) -> Option<&str> {
    let line = before.rsplit('\n').next()?;
    let mut words =
        line.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
    words.find(|word| matches!(*word, "class" | "interface" | "trait" | "protocol"))?;
    words.next()
}

/// Minimum length of an alias. Shorter aliases are assumed to be variables, as in `except Error as
/// e`.
const MIN_OTHER_NAME_BYTES: usize = 3;

/// Returns a type's alias: `Gem` in an import of `Pearl as Gem`, or in Rust's `type Gem = Pearl`.
fn other_name<'t>(language: Language, before: &'t str, after: &'t str) -> Option<&'t str> {
    let is_rust = language == Language::Rust;
    if !is_rust && language != Language::Python {
        return None;
    }
    let line = before.rsplit('\n').next()?;
    let declared = line.strip_prefix("type ").or_else(|| Some(line.split_once(" type ")?.1));
    // An indented `type` declares an associated type in a trait.
    let declared = declared.filter(|_| is_rust && !line.starts_with([' ', '\t']));
    let renamed = || after.strip_prefix(" as ");
    let name = declared.or_else(renamed).and_then(first_name)?;
    let is_type = name.starts_with(char::is_uppercase) && MIN_OTHER_NAME_BYTES <= name.len();
    is_type.then_some(name)
}

fn first_name(text: &str) -> Option<&str> {
    let text = text.trim_start();
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    Some(&text[..end]).filter(|name| !name.is_empty())
}

fn is_declared_otherwise(
    language: Language,
    before: &str,
    word: Option<&str>,
    after: &str,
) -> bool {
    let is_called = after.starts_with('(');
    let line = before.rsplit('\n').next().unwrap_or(before).trim_start();
    if language == Language::Go {
        // A Go method: `func (s *Store) Open(`.
        return is_called && before.ends_with(')') && line.starts_with("func");
    }
    if language.is_script() {
        // A method such as `async open(` at the start of a line that ends with an opening brace.
        const MODIFIERS: &str = "async static get set public private protected override *";
        let is_first = line.split_whitespace().all(|word| is_listed(MODIFIERS, word));
        let rest = after.lines().next().unwrap_or_default().trim_end();
        return is_called && is_first && rest.ends_with('{') && rest.contains(')');
    }
    let is_type = word.is_some_and(|word| !is_listed(BEFORE_USE, word));
    is_called
        && (is_type || before.ends_with(['>', ']']))
        && matches!(language, Language::Java | Language::CSharp | Language::C | Language::Cpp)
}

fn last_word(text: &str) -> Option<&str> {
    let rest = text.trim_end_matches(|c: char| c.is_alphanumeric() || c == '_' || c == '$');
    Some(&text[rest.len()..]).filter(|word| !word.is_empty())
}

#[derive(Clone, Copy, Debug)]
struct Style {
    line: &'static [&'static str],
    has_blocks: bool,
    /// Whether `"""` and, in Python, `'''` delimit strings.
    has_triples: bool,
    /// Whether double-quoted strings may span lines.
    is_long: bool,
    /// Whether single quotes delimit strings. Otherwise, single quotes delimit characters or begin
    /// lifetimes.
    has_single: bool,
    /// Whether backticks delimit raw strings.
    has_raw_ticks: bool,
    /// Whether the language has raw strings such as `r#"…"#`.
    has_hashes: bool,
}

impl Style {
    fn of(language: Language) -> Self {
        let usual = Self {
            line: &["//"],
            has_blocks: true,
            has_triples: false,
            is_long: false,
            has_single: true,
            has_raw_ticks: false,
            has_hashes: false,
        };
        let has_triples = language.is_jvm()
            || matches!(language, Language::Swift | Language::CSharp | Language::Elixir);
        let usual = Self { has_triples, ..usual };
        match language {
            Language::Rust => Self { is_long: true, has_single: false, has_hashes: true, ..usual },
            Language::Go => Self { has_raw_ticks: true, ..usual },
            Language::Python => {
                Self { line: &["#"], has_blocks: false, has_triples: true, ..usual }
            }
            Language::Php => Self { line: &["//", "#"], is_long: true, ..usual },
            Language::Bash | Language::Ruby | Language::Elixir => {
                Self { line: &["#"], has_blocks: false, ..usual }
            }
            Language::Lua => Self { line: &["--"], has_blocks: false, ..usual },
            Language::C
            | Language::Cpp
            | Language::CSharp
            | Language::Java
            | Language::JavaScript
            | Language::Kotlin
            | Language::Scala
            | Language::Swift
            | Language::Tsx
            | Language::TypeScript => usual,
        }
    }
}

struct Scan<'t> {
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
    style: Style,
}

impl Scan<'_> {
    fn next_word(&mut self) -> Option<(usize, usize)> {
        while let Some(byte) = self.bytes.get(self.at).copied() {
            if is_word(byte) {
                let start = self.at;
                while self.bytes.get(self.at).copied().is_some_and(is_word) {
                    self.at += 1;
                }
                if self.is_raw_string(start) {
                    self.skip_raw();
                    continue;
                }
                return Some((start, self.at));
            }
            if !self.skip_aside(byte) {
                self.at += 1;
            }
        }
        None
    }

    fn starts(&self, mark: &str) -> bool {
        self.bytes[self.at..].starts_with(mark.as_bytes())
    }

    fn skip_aside(&mut self, byte: u8) -> bool {
        let style = self.style;
        if style.line.iter().any(|mark| self.starts(mark)) {
            self.skip_to("\n", 0);
        } else if style.has_blocks && self.starts("/*") {
            self.skip_to("*/", 2);
        } else if style.has_triples && (self.starts("\"\"\"") || self.starts("'''")) {
            let mark = if byte == b'"' { "\"\"\"" } else { "'''" };
            self.skip_to(mark, 3);
        } else if byte == b'"' {
            self.skip_string(b'"', style.is_long);
        } else if byte == b'\'' && style.has_single {
            self.skip_string(b'\'', false);
        } else if byte == b'\'' {
            self.skip_character();
        } else if byte == b'`' && style.has_raw_ticks {
            self.skip_to("`", 1);
        } else {
            return false;
        }
        true
    }

    fn skip_to(&mut self, mark: &str, opening: usize) {
        let from = (self.at + opening).min(self.bytes.len());
        let found = memchr::memmem::find(&self.bytes[from..], mark.as_bytes());
        self.at = found.map_or(self.bytes.len(), |at| from + at + mark.len());
    }

    fn skip_string(&mut self, quote: u8, is_long: bool) {
        self.at += 1;
        while let Some(byte) = self.bytes.get(self.at).copied() {
            self.at += if byte == b'\\' { 2 } else { 1 };
            if byte == quote || (byte == b'\n' && !is_long) {
                return;
            }
        }
    }

    /// Skips a character literal such as `'a'`, but not a lifetime such as `'a`.
    fn skip_character(&mut self) {
        let rest = &self.text.as_bytes()[self.at + 1..];
        let is_escaped = rest.first() == Some(&b'\\');
        let end = rest.iter().take(8).position(|byte| *byte == b'\'');
        self.at += match end {
            Some(end) if is_escaped || end == 1 || 0x7f < rest[0] => end + 2,
            _ => 1,
        };
    }

    fn is_raw_string(&self, start: usize) -> bool {
        let is_prefix = matches!(&self.bytes[start..self.at], b"r" | b"br" | b"cr");
        let next = self.bytes.get(self.at);
        let opens = self.bytes[self.at..].iter().find(|byte| **byte != b'#') == Some(&b'"');
        self.style.has_hashes && is_prefix && opens && matches!(next, Some(b'#' | b'"'))
    }

    fn skip_raw(&mut self) {
        let n_hashes = self.bytes[self.at..].iter().take_while(|byte| **byte == b'#').count();
        let end = format!("\"{}", "#".repeat(n_hashes.min(255)));
        self.skip_to(&end, n_hashes + 1);
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || 0x7f < byte
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn find_mentions(language: Language, text: &str) -> Vec<(MentionForm, Option<&str>)> {
        let mut names = SoughtNames::default();
        names.add("open");
        let mut found = Vec::new();
        each_mention(language, text, &names, |one| found.push((one.form, one.qualifier)));
        found
    }

    #[test]
    fn a_long_line_is_looked_at_once() {
        // Checking each name from the start of its line would read a hundred gigabytes here.
        let text = "open<b(".repeat(1 << 17);
        for language in [Language::Rust, Language::TypeScript, Language::Java, Language::Go] {
            assert_eq!(find_mentions(language, &text).len(), MAX_MENTIONS, "{language:?}");
        }
    }

    #[test]
    fn names_are_found_in_code_alone() {
        use MentionForm::{Declared, Plain, Qualified};
        type Found<'t> = &'t [(MentionForm, Option<&'t str>)];
        let cases: &[(Language, &str, Found<'_>)] = &[
            (
                Language::Rust,
                "// open\n/* open */ let a = \"open\"; r#\"open\"#; b'a'; x::open(); 'a open",
                &[(Qualified, Some("x")), (Plain, None)],
            ),
            (
                Language::Rust,
                "fn open() {}\nreopen(); s.open()",
                &[(Declared, None), (Qualified, Some("s"))],
            ),
            (
                Language::Python,
                "\"\"\"open\n'open'\"\"\"\n# open\ndef open(a): pass\nopen(b'open')",
                &[(Declared, None), (Plain, None)],
            ),
            (
                Language::Go,
                "func (s *Store) open(a int) {}\nx := `open` + store.open(1)",
                &[(Declared, None), (Qualified, Some("store"))],
            ),
            (
                Language::Java,
                "public void open(int a) { return open(1); }\nList<A> open() {}",
                &[(Declared, None), (Plain, None), (Declared, None)],
            ),
            (
                Language::TypeScript,
                "  async open(a: number) {\n  `${open}` a?.open()",
                &[(Declared, None), (Plain, None), (Qualified, Some("a"))],
            ),
            (Language::C, "char c = '\\''; open(1);", &[(Plain, None)]),
        ];
        for (language, text, expected) in cases {
            assert_eq!(find_mentions(*language, text), *expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_breaks_it(text in "(?s)([\"'`/*#\\\\r\n]|open|ü|.){0,80}") {
            for language in Language::all() {
                find_mentions(language, &text);
            }
        }
    }
}
