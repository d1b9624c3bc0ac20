//! Finds the names that a file imports or exports, without parsing it.
//!
//! Supports ES modules, CommonJS (`require`, `module.exports`), Python's `import` and `from …
//! import`, even inside functions, and `import` in Java, Kotlin and Scala.

use std::collections::HashSet;

use super::language::Language;

const MAX_STATEMENT_BYTES: usize = 20_000;

/// How far before a `require` or `import` call to search for the variables that its result is
/// assigned to.
const MAX_BEFORE_BYTES: usize = 1_000;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScriptBindings<'t> {
    /// Imported names, as declared in the other file.
    pub named: HashSet<&'t str>,
    /// Local names of default imports and of modules imported as a whole.
    pub modules: HashSet<&'t str>,
    pub exported: HashSet<&'t str>,
    /// Whether the file imports a module without listing the names it uses.
    pub is_loose: bool,
}

pub fn script_bindings(text: &str) -> ScriptBindings<'_> {
    let mut bindings =
        ScriptBindings { exported: find_exported_names(text), ..ScriptBindings::default() };
    for at in words_at(text, "import") {
        let rest = &text[at + "import".len()..];
        match rest.trim_start().chars().next() {
            Some('(') => bindings.take_call(&text[..at]),
            Some('.') | None => {}
            Some(_) => bindings.take_import(head(rest)),
        }
    }
    for at in words_at(text, "require") {
        if text[at + "require".len()..].starts_with('(') {
            bindings.take_call(&text[..at]);
        }
    }
    for at in words_at(text, "export") {
        bindings.take_export(head(&text[at + "export".len()..]));
    }
    bindings
}

impl<'t> ScriptBindings<'t> {
    /// Parses ` x, { a, type b as c } from './other'`.
    fn take_import(&mut self, rest: &'t str) {
        let Some((clause, _)) = rest.split_once(['\'', '"']) else { return };
        let Some(clause) = clause.trim_end().strip_suffix("from") else {
            // A quote in a comment can end the list early.
            self.is_loose |= clause.trim_start().starts_with('{');
            return;
        };
        let (before, list) = clause.split_once('{').unwrap_or((clause, ""));
        self.named.extend(list_names(list));
        // In `x`, `* as x` and `type x`, the last word is the name.
        let names = before.split(',').filter_map(|part| part.split_whitespace().next_back());
        self.modules.extend(names.filter(|name| is_name(name)));
    }

    /// Parses ` { a, b as c } from './other'`.
    fn take_export(&mut self, rest: &'t str) {
        let rest = rest.trim_start();
        let rest = rest.strip_prefix("type").map_or(rest, str::trim_start);
        let Some((list, behind)) = rest.strip_prefix('{').and_then(|rest| rest.split_once('}'))
        else {
            return;
        };
        self.exported.extend(list_names(list));
        if behind.trim_start().starts_with("from") {
            self.named.extend(list_names(list));
        }
    }

    /// Parses `const { a, b: c } = await ` or `const x = ` before a call that imports a module.
    fn take_call(&mut self, before: &'t str) {
        let start = before.ceil_char_boundary(before.len().saturating_sub(MAX_BEFORE_BYTES));
        let before = before[start..].trim_end();
        let before = before.strip_suffix("await").map_or(before, str::trim_end);
        let Some(target) = before.strip_suffix('=').map(str::trim_end) else {
            let is_alone = before.is_empty() || before.ends_with([';', '}']);
            self.is_loose |= !is_alone;
            return;
        };
        match target.strip_suffix('}').and_then(|list| list.rsplit_once('{')) {
            Some((_, list)) => self.named.extend(list_names(list)),
            None => {
                let name = target.rsplit(|c: char| !is_name_letter(c)).next();
                self.modules.extend(name.filter(|name| is_name(name)));
            }
        }
    }
}

fn head(text: &str) -> &str {
    &text[..text.floor_char_boundary(text.len().min(MAX_STATEMENT_BYTES))]
}

/// Returns the positions of a word that is neither part of a longer word nor a member access.
fn words_at<'t>(text: &'t str, word: &'t str) -> impl Iterator<Item = usize> {
    let is_apart = move |at: usize| {
        let before = text[..at].chars().next_back();
        let behind = text[at + word.len()..].chars().next();
        !before.is_some_and(|c| is_name_letter(c) || c == '.')
            && !behind.is_some_and(is_name_letter)
    };
    text.match_indices(word).map(|(at, _)| at).filter(move |at| is_apart(*at))
}

/// Returns the names in a list as the other file declares them: the first word of each item,
/// without a leading `type`.
fn list_names(list: &str) -> impl Iterator<Item = &str> {
    let list = list.split('}').next().unwrap_or_default();
    let lines = list.lines().map(|line| line.split("//").next().unwrap_or_default());
    lines.flat_map(|line| line.split(',')).filter_map(|item| {
        let mut words =
            item.split(|c: char| !is_name_letter(c)).filter(|word| !word.is_empty()).peekable();
        let first = words.next()?;
        let is_mark = first == "type" && words.peek().is_some_and(|next| *next != "as");
        if is_mark { words.next() } else { Some(first) }
    })
}

fn is_name_letter(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_' || letter == '$'
}

fn is_name(word: &str) -> bool {
    !matches!(word, "" | "type" | "*") && word.chars().all(is_name_letter)
}

const MAX_NAMES: usize = 2_000;

const MAX_LIST_BYTES: usize = 20_000;

pub(super) fn find_exported_names(text: &str) -> HashSet<&str> {
    let mut names = HashSet::new();
    for line_start in line_starts(text) {
        let rest = &text[line_start..];
        if let Some(list) = rest.strip_prefix("export {").or_else(|| rest.strip_prefix("export{")) {
            names.extend(split_export_list(list));
        } else if let Some(rest) = rest.strip_prefix("export default ") {
            names.extend(word(rest));
        } else if let Some(rest) = rest.strip_prefix("export = ") {
            names.extend(word(rest));
        } else if let Some(rest) = rest.strip_prefix("module.exports = ") {
            match rest.strip_prefix('{') {
                Some(list) => names.extend(split_export_list(list)),
                None => names.extend(word(rest)),
            }
        } else if let Some(rest) =
            rest.strip_prefix("module.exports.").or_else(|| rest.strip_prefix("exports."))
        {
            names.extend(word(rest));
            names.extend(rest.split_once('=').and_then(|(_, value)| word(value.trim_start())));
        }
        if MAX_NAMES < names.len() {
            break;
        }
    }
    names
}

fn line_starts(text: &str) -> impl Iterator<Item = usize> + '_ {
    let starts = memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1);
    let is_candidate = |start: &usize| matches!(text.as_bytes().get(*start), Some(b'e' | b'm'));
    std::iter::once(0).chain(starts).filter(is_candidate)
}

fn split_export_list(list: &str) -> impl Iterator<Item = &str> {
    let end = list.floor_char_boundary(MAX_LIST_BYTES);
    let inside = list[..end].split('}').next().unwrap_or_default();
    // For simplicity, both names in `a as b` and `b: a` count as exported.
    inside.split([',', ':', '\n']).filter_map(|part| word(part.trim_start()))
}

fn word(text: &str) -> Option<&str> {
    let end = text.find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '$'));
    let name = &text[..end.unwrap_or(text.len())];
    let is_keyword = matches!(name, "" | "function" | "class" | "async" | "new" | "require");
    (!is_keyword).then_some(name)
}

const MAX_IMPORT_LINES: usize = 200;

/// An import such as `from a.b import c as d`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FromImport {
    /// The module or package: `a.b`.
    pub from: String,
    /// The imported name: `c`. This is `*` if all names are imported, or empty if the module itself
    /// is imported.
    pub name: String,
    /// The local name: `d`.
    pub own: String,
}

impl FromImport {
    fn new(from: &str, name: &str, own: &str) -> Self {
        Self { from: from.to_owned(), name: name.to_owned(), own: own.to_owned() }
    }
}

pub fn each_taken(language: Language, text: &str, mut take: impl FnMut(FromImport)) {
    if language == Language::Python {
        python(text, &mut take);
    } else if language.is_jvm() {
        jvm(text, &mut take);
    }
}

fn python(text: &str, take: &mut dyn FnMut(FromImport)) {
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let line = line.trim_start();
        if let Some(rest) = line.strip_prefix("import ") {
            for (from, own) in code(rest).split(',').filter_map(split_rename) {
                let last = from.rsplit('.').next().unwrap_or(from);
                take(FromImport::new(from, "", own.unwrap_or(last)));
            }
            continue;
        }
        let statement = line.strip_prefix("from ").and_then(|rest| rest.split_once(" import"));
        // If the supposed module path contains spaces, the line is a sentence, not an import.
        let Some((from, list)) = statement.map(|(from, list)| (from.trim(), list)) else {
            continue;
        };
        if from.is_empty() || from.contains(char::is_whitespace) {
            continue;
        }
        let mut part = code(list);
        let is_open = part.trim_start().starts_with('(');
        for _ in 0..MAX_IMPORT_LINES {
            for (name, own) in part.split(',').filter_map(split_rename) {
                take(FromImport::new(from, name, own.unwrap_or(name)));
            }
            let goes_on =
                if is_open { !part.contains(')') } else { part.trim_end().ends_with('\\') };
            if !goes_on {
                break;
            }
            let Some(next) = lines.next() else { break };
            part = code(next);
        }
    }
}

/// Returns a line of Python up to the first comment or semicolon.
fn code(line: &str) -> &str {
    line.split(['#', ';']).next().unwrap_or_default()
}

/// Splits `a as b` into `a` and `b`.
fn split_rename(item: &str) -> Option<(&str, Option<&str>)> {
    let mut words = item.trim_matches(['(', ')', '\\', ' ', '\t']).split_whitespace();
    let name = words.next()?;
    let own = words.next().filter(|word| *word == "as").and_then(|_| words.next());
    Some((name, own))
}

fn jvm(text: &str, take: &mut dyn FnMut(FromImport)) {
    for line in text.lines() {
        let Some(rest) = line.trim_start().strip_prefix("import ") else { continue };
        let rest = rest.split([';', '/']).next().unwrap_or_default().trim();
        let rest = rest.strip_prefix("static ").map_or(rest, str::trim_start);
        let Some((path, own)) = split_rename(rest) else { continue };
        let Some((from, name)) = path.rsplit_once('.') else { continue };
        if name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$') {
            take(FromImport::new(from, name, own.unwrap_or(name)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_script_takes_is_told_by_name_or_as_a_whole() {
        let text = "import up, { fall, type Tide as T, // not this\n  rise as r } from './tide'\n\
                    import * as sea from \"./sea\"\nimport type Ship from './ship'\nimport './effect'\n\
                    export { ebb as low, flow } from './ebb'\nexport { local }\n\
                    const { dive, sink: s } = require('./deep')\nlet net = require('./net')\n\
                    const { late } = await import('./late')\nconsole.log(import.meta.url)\n";
        let found = script_bindings(text);
        let sorted = |names: &HashSet<&str>| {
            let mut names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            names.sort();
            names.join(" ")
        };
        assert_eq!(sorted(&found.named), "Tide dive ebb fall flow late rise sink");
        assert_eq!(sorted(&found.modules), "Ship net sea up");
        assert!(found.exported.contains("local") && !found.is_loose);
        for loose in ["(await import('./a')).b()", "x = [require('./a')]", "use(require('./a').b)"]
        {
            assert!(script_bindings(loose).is_loose, "{loose}");
        }
        assert!(!script_bindings("require('./a');\nrequire('./b')").is_loose);
        assert_eq!(script_bindings("const important = reexport(1)"), ScriptBindings::default());
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read(text in "(import|export|from|require\\(|type|[{}'\"=*, é\n;.a]){0,40}") {
            script_bindings(&text);
        }
    }

    fn told(language: Language, text: &str) -> String {
        let mut told = Vec::new();
        each_taken(language, text, |FromImport { from, name, own }| {
            told.push(format!("{from}|{name}|{own}"));
        });
        told.join(" ")
    }

    #[test]
    fn what_is_taken_is_told_with_where_it_comes_from() {
        let python = "import os, a.b as c, d.e  # f\nfrom .x import y as z, w\nfrom m import (\n    n,  # o\n    p as q,\n)\n\
                      def f():\n    from .. import r; r()\n    from s import t, \\\n        u\nfrom v import *\nfrom here we import it\n";
        let expected = "os||os a.b||c d.e||e .x|y|z .x|w|w m|n|n m|p|q ..|r|r s|t|t s|u|u v|*|*";
        assert_eq!(told(Language::Python, python), expected);
        let java =
            "package a;\nimport b.c.D; // e\nimport static f.G.h;\nimport i.*;\nclass J { }\n";
        assert_eq!(told(Language::Java, java), "b.c|D|D f.G|h|h");
        assert_eq!(told(Language::Kotlin, "import a.B as C\n"), "a|B|C");
        assert_eq!(told(Language::Rust, "use a::b;\n"), "");
    }

    proptest::proptest! {
        #[test]
        fn any_text_has_imports(text in "(import |from |as |[a-c.(),\\\\#;*é\n ]){0,40}") {
            for language in [Language::Python, Language::Java] {
                each_taken(language, &text, |_| ());
            }
        }
    }
}
