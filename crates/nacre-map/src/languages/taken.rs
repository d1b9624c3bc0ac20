//! Which names a text takes from others by imports that say where from, wherever they stand in it.
//!
//! `from a.b import c as d` and `import a.b` of Python, also inside of functions; `import a.b.C` of Java, Kotlin and Scala. There is
//! no tree: statements are found by the first words of lines.

use super::language::Language;

/// A statement that goes over more lines is none.
const MAX_STATEMENT_LINES: usize = 200;

/// A name that is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken<'t> {
    /// The module or package: `a.b`.
    pub from: &'t str,
    /// What of it, as it is called there; `*` for all, and nothing for the module itself.
    pub name: &'t str,
    /// What it is called here.
    pub own: &'t str,
}

/// Hands out what a text takes from others.
pub fn each_taken<'t>(language: Language, text: &'t str, mut take: impl FnMut(Taken<'t>)) {
    match language {
        Language::Python => python(text, &mut take),
        Language::Java | Language::Kotlin | Language::Scala => jvm(text, &mut take),
        Language::Bash
        | Language::C
        | Language::Cpp
        | Language::CSharp
        | Language::Elixir
        | Language::Go
        | Language::JavaScript
        | Language::Lua
        | Language::Php
        | Language::Ruby
        | Language::Rust
        | Language::Swift
        | Language::Tsx
        | Language::TypeScript => {}
    }
}

fn python<'t>(text: &'t str, take: &mut dyn FnMut(Taken<'t>)) {
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let line = line.trim_start();
        if let Some(rest) = line.strip_prefix("import ") {
            for (from, own) in code(rest).split(',').filter_map(renamed) {
                let last = from.rsplit('.').next().unwrap_or(from);
                take(Taken { from, name: "", own: own.unwrap_or(last) });
            }
            continue;
        }
        let statement = line.strip_prefix("from ").and_then(|rest| rest.split_once(" import"));
        // What has spaces is a sentence.
        let Some((from, list)) = statement.map(|(from, list)| (from.trim(), list)) else {
            continue;
        };
        if from.is_empty() || from.contains(char::is_whitespace) {
            continue;
        }
        let mut part = code(list);
        let is_open = part.trim_start().starts_with('(');
        for _ in 0..MAX_STATEMENT_LINES {
            for (name, own) in part.split(',').filter_map(renamed) {
                take(Taken { from, name, own: own.unwrap_or(name) });
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

/// A line of Python without its comment and what follows a semicolon.
fn code(line: &str) -> &str {
    line.split(['#', ';']).next().unwrap_or_default()
}

/// `a` and `b` of `a as b`.
fn renamed(item: &str) -> Option<(&str, Option<&str>)> {
    let mut words = item.trim_matches(['(', ')', '\\', ' ', '\t']).split_whitespace();
    let name = words.next()?;
    let own = words.next().filter(|word| *word == "as").and_then(|_| words.next());
    Some((name, own))
}

fn jvm<'t>(text: &'t str, take: &mut dyn FnMut(Taken<'t>)) {
    for line in text.lines() {
        let Some(rest) = line.trim_start().strip_prefix("import ") else { continue };
        let rest = rest.split([';', '/']).next().unwrap_or_default().trim();
        let rest = rest.strip_prefix("static ").map_or(rest, str::trim_start);
        let Some((path, own)) = renamed(rest) else { continue };
        let Some((from, name)) = path.rsplit_once('.') else { continue };
        if name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$') {
            take(Taken { from, name, own: own.unwrap_or(name) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(language: Language, text: &str) -> String {
        let mut told = Vec::new();
        each_taken(language, text, |Taken { from, name, own }| {
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
        fn any_text_is_read(text in "(import |from |as |[a-c.(),\\\\#;*é\n ]){0,40}") {
            for language in [Language::Python, Language::Java] {
                each_taken(language, &text, |_| ());
            }
        }
    }
}
