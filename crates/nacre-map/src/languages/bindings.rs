//! How a script gets at what other files have: by name, or as a whole under a name of its own.
//!
//! `import { a, b as c } from`, `export { a } from` and `const { a } = require(` take names; `import x from`, `import * as x from` and
//! `const x = require(` take all. There is no tree: statements are found by their first words.

use std::collections::HashSet;

use super::exports::exported_names;

/// A longer statement is not read to its end.
const MAX_STATEMENT_BYTES: usize = 20_000;

/// So much is looked at before a call that takes a module.
const MAX_BEFORE_BYTES: usize = 1_000;

/// What a script takes from others, and what it hands on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScriptBindings<'t> {
    /// Names that it takes, as the other file calls them.
    pub named: HashSet<&'t str>,
    /// Its own names for whole modules, and for what those hand out without a name.
    pub modules: HashSet<&'t str>,
    /// Names that it hands out in a list.
    pub exported: HashSet<&'t str>,
    /// Whether it takes a module in a way that tells no names.
    pub is_loose: bool,
}

/// What a script takes from others.
pub fn script_bindings(text: &str) -> ScriptBindings<'_> {
    let mut bindings =
        ScriptBindings { exported: exported_names(text), ..ScriptBindings::default() };
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
    /// ` x, { a, type b as c } from './other'`
    fn take_import(&mut self, rest: &'t str) {
        let Some((clause, _)) = rest.split_once(['\'', '"']) else { return };
        let Some(clause) = clause.trim_end().strip_suffix("from") else {
            // A list with a quote in a comment.
            self.is_loose |= clause.trim_start().starts_with('{');
            return;
        };
        let (before, list) = clause.split_once('{').unwrap_or((clause, ""));
        self.named.extend(listed(list));
        // `x`, `* as x` and `type x`: the last word is the name.
        let names = before.split(',').filter_map(|part| part.split_whitespace().next_back());
        self.modules.extend(names.filter(|name| is_name(name)));
    }

    /// ` { a, b as c } from './other'`
    fn take_export(&mut self, rest: &'t str) {
        let rest = rest.trim_start();
        let rest = rest.strip_prefix("type").map_or(rest, str::trim_start);
        let Some((list, behind)) = rest.strip_prefix('{').and_then(|rest| rest.split_once('}'))
        else {
            return;
        };
        self.exported.extend(listed(list));
        if behind.trim_start().starts_with("from") {
            self.named.extend(listed(list));
        }
    }

    /// `const { a, b: c } = await ` or `const x = `, before a call that takes a module.
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
            Some((_, list)) => self.named.extend(listed(list)),
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

/// Where a word stands by itself, and belongs to nothing before it.
fn words_at<'t>(text: &'t str, word: &'t str) -> impl Iterator<Item = usize> {
    let is_apart = move |at: usize| {
        let before = text[..at].chars().next_back();
        let behind = text[at + word.len()..].chars().next();
        !before.is_some_and(|c| is_name_letter(c) || c == '.')
            && !behind.is_some_and(is_name_letter)
    };
    text.match_indices(word).map(|(at, _)| at).filter(move |at| is_apart(*at))
}

/// The names of a list as the other side calls them: the first word of each, behind `type`.
fn listed(list: &str) -> impl Iterator<Item = &str> {
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
}
