//! Items of Rust that stand inside of a macro: `cfg_rt! { impl Handle { … } }`.
//!
//! To a grammar they are tokens. Most macros that are given items hand them on as they are, so the macro's name and braces are read as
//! spaces, and all places in the text stay what they are. That counts only where the rest has no errors: what a macro was given may
//! look like items and be none. A text without such macros costs one search, and one whose macros all hold items one tree, as ever.

use std::ops::Range;

use tree_sitter::Tree;

use super::ParseError;
use super::find::holds;
use super::language::Language;
use super::syntax::tree_of;

/// A text with more of them was made by a program.
const MAX_MACROS: usize = 1_000;

/// What an item begins with.
const ITEM_WORDS: &[&str] = &[
    "async", "const", "enum", "extern", "fn", "impl", "mod", "pub", "static", "struct", "trait",
    "type", "union", "unsafe", "use",
];

/// The tree of a text, with the items that stand in macros.
pub(super) fn tree_with_items(text: &str, language: Language) -> Result<Tree, ParseError> {
    let mut macros = match language == Language::Rust && holds(text, "! {") {
        true => item_macros(text),
        false => Vec::new(),
    };
    // Once with all that may hold items, once without those that proved not to.
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

/// A macro that may hold items.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ItemMacro {
    /// `cfg_rt! {`
    head: Range<usize>,
    /// Where its last brace stands.
    end: usize,
}

/// The macros of a text whose first line is nothing but their beginning, whose last is nothing but a brace below it, and that begin like
/// items.
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

/// `cfg_rt! {`, `tokio::cfg_rt! {`; not `macro_rules! name {`.
fn is_head(words: &str) -> bool {
    let name = words.strip_suffix("! {").unwrap_or_default();
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':');
    !name.is_empty() && name.chars().all(is_name)
}

/// So many lines of comments may stand before the first item.
const MAX_COMMENT_LINES: usize = 100;

fn begins_like_item(text: &str) -> bool {
    let lines = text.lines().map(str::trim).take(MAX_COMMENT_LINES);
    let mut code = lines.filter(|line| !line.is_empty() && !line.starts_with("//"));
    let Some(line) = code.next() else { return false };
    let end = line.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(line.len());
    line.starts_with("#[") || is_head(line) || ITEM_WORDS.contains(&&line[..end])
}

/// A text with spaces in place of the macros' own words.
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

/// More errors than these are not told apart.
const MAX_ERRORS: usize = 200;

/// Where a tree has errors.
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
            // What is no item leaves the others alone.
            (
                "bits! {\n    struct A: u32 {\n        const B = 1;\n    }\n}\ncfg_c! {\n    fn d() {}\n}\nfn e() {}\n",
                "d@7 e@9",
            ),
            ("choose! {\n    a => b,\n}\nfn c() {}\n", "c@4"),
            ("macro_rules! m {\n    () => {};\n}\n", "m@1"),
            // Inside of a function nothing is told, and nothing is told of a text that is broken elsewhere.
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
