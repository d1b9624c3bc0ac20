//! Finds Rust items inside macro calls, such as `cfg_rt! { impl Handle { … } }`, which the grammar
//! parses as plain tokens.
//!
//! Most macros that contain items expand to those items unchanged. The macro's name and braces are
//! therefore replaced with spaces, which preserves all positions, and the source is parsed again.
//! The result is used only if it has no syntax errors.

use std::ops::Range;

use tree_sitter::Tree;

use super::language::Language;
use super::syntax::tree_of;
use super::{ParseError, holds};

const MAX_MACROS: usize = 1_000;

const ITEM_WORDS: &[&str] = &[
    "async", "const", "enum", "extern", "fn", "impl", "mod", "pub", "static", "struct", "trait",
    "type", "union", "unsafe", "use",
];

pub(super) fn tree_with_items(text: &str, language: Language) -> Result<Tree, ParseError> {
    let mut macros = match language == Language::Rust && holds(text, "! {") {
        true => item_macros(text),
        false => Vec::new(),
    };
    // The first attempt includes all candidates, and the second only those that did not cause
    // errors.
    for _ in 0..2 {
        if macros.is_empty() {
            break;
        }
        let Ok(tree) = tree_of(&without(text, &macros), language) else { break };
        let errors = errors(&tree);
        if errors.is_empty() {
            return Ok(tree);
        }
        let is_inside = |one: &ItemMacro, at: usize| one.head.start <= at && at <= one.end;
        if errors.iter().any(|at| !macros.iter().any(|one| is_inside(one, *at))) {
            break;
        }
        macros.retain(|one| !errors.iter().any(|at| is_inside(one, *at)));
    }
    tree_of(text, language)
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct ItemMacro {
    /// The byte range of `cfg_rt! {`.
    head: Range<usize>,
    end: usize,
}

/// Returns the macro calls whose head and closing brace are on separate lines with the same
/// indentation, and whose content begins like an item.
fn item_macros(text: &str) -> Vec<ItemMacro> {
    let mut found = Vec::new();
    let mut open: Vec<(usize, Range<usize>)> = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let words = line.trim();
        let indent = line.len() - line.trim_start().len();
        let at = start + indent;
        start += line.len();
        if is_head(words) && MAX_MACROS <= found.len() + open.len() {
            break;
        }
        if is_head(words) && begins_like_item(&text[start..]) {
            open.push((indent, at..at + words.len()));
        } else if words == "}" && open.last().is_some_and(|(around, _)| *around == indent) {
            let head = open.pop().map(|(_, head)| head);
            found.extend(head.map(|head| ItemMacro { head, end: at }));
        }
    }
    found
}

/// Returns whether a line is the head of a macro call: `cfg_rt! {` or `tokio::cfg_rt! {`, but not
/// `macro_rules! name {`.
fn is_head(words: &str) -> bool {
    let name = words.strip_suffix("! {").unwrap_or_default();
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':');
    !name.is_empty() && name.chars().all(is_name)
}

const MAX_COMMENT_LINES: usize = 100;

fn begins_like_item(text: &str) -> bool {
    let lines = text.lines().map(str::trim).take(MAX_COMMENT_LINES);
    let mut code = lines.filter(|line| !line.is_empty() && !line.starts_with("//"));
    let Some(line) = code.next() else { return false };
    let end = line.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(line.len());
    line.starts_with("#[") || is_head(line) || ITEM_WORDS.contains(&&line[..end])
}

/// Replaces the heads and closing braces of macro calls with spaces.
fn without(text: &str, macros: &[ItemMacro]) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut cuts: Vec<Range<usize>> =
        macros.iter().flat_map(|one| [one.head.clone(), one.end..one.end + 1]).collect();
    cuts.sort_unstable_by_key(|cut| cut.start);
    for cut in cuts {
        kept.push_str(text.get(kept.len()..cut.start).unwrap_or_default());
        kept.extend(cut.map(|_| ' '));
    }
    kept.push_str(text.get(kept.len()..).unwrap_or_default());
    kept
}

const MAX_ERRORS: usize = 200;

fn errors(tree: &Tree) -> Vec<usize> {
    let mut found = Vec::new();
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        let is_error = node.is_error() || node.is_missing();
        if is_error {
            found.push(node.start_byte());
        }
        if MAX_ERRORS <= found.len() {
            return found;
        }
        if !is_error && node.has_error() && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return found;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> String {
        let symbols = crate::languages::outline(text, Language::Rust).unwrap();
        let shown = symbols.iter().map(|one| format!("{}@{}", one.name, one.first_line));
        shown.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn items_in_macros_are_found_where_they_stand() {
        let cases: &[(&str, &str)] = &[
            ("cfg_rt! {\n    // A.\n    impl A {\n        fn b(&self) {}\n    }\n}\n", "A@3 b@4"),
            (
                "cfg_a! {\n    cfg_b! {\n        #[x]\n        pub(crate) fn c() {}\n    }\n}\nfn d() {}\n",
                "c@4 d@7",
            ),
            ("impl A {\n    cfg_b! {\n        fn c() {}\n    }\n}\n", "A@1 c@3"),
            // A macro without items does not affect other macros.
            (
                "bits! {\n    struct A: u32 {\n        const B = 1;\n    }\n}\ncfg_c! {\n    fn d() {}\n}\nfn e() {}\n",
                "d@7 e@9",
            ),
            ("choose! {\n    a => b,\n}\nfn c() {}\n", "c@4"),
            ("macro_rules! m {\n    () => {};\n}\n", "m@1"),
            // Items are not found if the macro is inside a function or if the file has other
            // errors.
            ("fn a() {\n    quote! {\n        fn b() {}\n    }\n}\n", "a@1"),
            ("cfg_a! {\n    fn b() {}\n}\nfn c( {}\nfn d() {}\n", "c@4 d@5"),
            ("cfg_a! {\n    fn ü() {}\n", ""),
        ];
        for (text, expected) in cases {
            assert_eq!(names(text), *expected, "{text}");
        }
    }

    #[test]
    fn all_places_stay_what_they_are() {
        let text = "// ü\ncfg_a! {\n    fn ü() {}\n}\nfn b() {}\n";
        let clean = without(text, &item_macros(text));
        assert_eq!(clean, "// ü\n        \n    fn ü() {}\n \nfn b() {}\n");
    }

    proptest::proptest! {
        #[test]
        fn any_text_has_the_same_length_without_them(
            text in "(cfg_a! \\{\n|fn b\\(\\) \\{|\\}\n|pub |[ü \n{}!#a]){0,40}"
        ) {
            let macros = item_macros(&text);
            proptest::prop_assert_eq!(without(&text, &macros).len(), text.len());
        }
    }
}
