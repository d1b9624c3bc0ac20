//! Tests that a search finds the same matches as scanning every file, in the right order and within
//! its limits.

use nacre_types::CodeSearchMode;
use proptest::prelude::*;
use regex::bytes::RegexBuilder;

use super::pattern::Pattern;
use super::*;
use crate::languages::{Language, analyse};
use crate::slices::MadePaths;
use crate::words::{Bag, is_text, render_bag};

/// Pairs of a path and the file's content.
type Tree<'t> = &'t [(&'t str, &'t [u8])];

/// Searches a tree with an index, and passes the results to `take`.
fn search<T>(
    tree: Tree<'_>,
    query: &CodeQuery,
    filter: &FileFilter,
    take: impl FnOnce(&SearchedFiles<'_>, CodeHits) -> T,
) -> T {
    let bags: Vec<Vec<u8>> = tree
        .iter()
        .map(|(path, text)| render_bag(text, Language::of_path(path).is_some()))
        .collect();
    let names = |idx: usize| {
        let (path, text) = tree[idx];
        let language = Language::of_path(path);
        let analysis = language.map(|language| analyse(language, text)).unwrap_or_default();
        analysis.symbols.iter().map(|symbol| format!("{}\n", symbol.name)).collect()
    };
    let files = SearchedFiles {
        paths: tree.iter().map(|(path, _)| *path).collect(),
        bag: &|idx| Bag::read(&bags[idx]),
        made: &MadePaths::default(),
        bytes: &|idx| Some(tree[idx].1.to_vec()),
        names: &names,
        is_over: &|| false,
        n_threads: 2,
    };
    let hits = find(&files, query, filter);
    take(&files, hits)
}

fn answer(tree: Tree<'_>, query: &str, mode: Option<CodeSearchMode>, limit: usize) -> String {
    let query = CodeQuery::new(query, mode, None).unwrap();
    search(tree, &query, &FileFilter::default(), |files, hits| {
        let file = |idx: usize| {
            let (path, bytes) = tree[idx];
            let language = Language::of_path(path);
            let symbols = language.map(|one| analyse(one, bytes).symbols).unwrap_or_default();
            Some((bytes.to_vec(), symbols))
        };
        let request = PickRequest {
            limit,
            context: 0,
            is_files_only: false,
            file: &file,
            is_over: &|| false,
        };
        let picked = pick(&files.paths, &query, &hits, &request);
        matches_text(&picked.first(picked.len()), "--limit N")
    })
}

/// Returns each path with its number of matching lines, in path order.
fn indexed(tree: Tree<'_>, query: &CodeQuery) -> Vec<(String, usize)> {
    search(tree, query, &FileFilter::default(), |files, hits| {
        assert_eq!(hits.n_unsearched, 0);
        let found = |hit: &find::FileHit| (files.paths[hit.idx].to_owned(), hit.n_matches);
        let mut found: Vec<(String, usize)> = hits.files.iter().map(found).collect();
        found.sort();
        found
    })
}

/// Like `indexed`, but scans every file without an index.
fn scanned(tree: Tree<'_>, regex: &str, ignores_case: bool) -> Vec<(String, usize)> {
    let regex =
        RegexBuilder::new(regex).case_insensitive(ignores_case).multi_line(true).build().unwrap();
    let mut found = Vec::new();
    for (path, text) in tree.iter().filter(|(_, text)| is_text(text)) {
        let text = text.strip_suffix(b"\n").unwrap_or(text);
        let has_lines = !tree.iter().any(|(known, all)| known == path && all.is_empty());
        let lines = text.split(|byte| *byte == b'\n').filter(|_| has_lines);
        let is_match = |line: &&[u8]| regex.is_match(line.strip_suffix(b"\r").unwrap_or(line));
        let n_matches = lines.filter(is_match).count();
        found.extend((0 < n_matches).then(|| ((*path).to_owned(), n_matches)));
    }
    found.sort();
    found
}

fn regexes() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        "[a-dA-D_ks]{1,6}",
        "[a-c(. ]{1,4}".prop_map(|text| regex_syntax::escape(&text)),
        Just("é".to_owned()),
        prop_oneof![Just("."), Just("\\w"), Just("\\s"), Just("[^a]"), Just("[abk]"), Just("\\b")]
            .prop_map(str::to_owned),
        prop_oneof![Just("^"), Just("$"), Just("\\A"), Just("\\z"), Just("(?-u:\\xff)"), Just("")]
            .prop_map(str::to_owned),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..4).prop_map(|parts| parts.concat()),
            prop::collection::vec(inner.clone(), 1..4)
                .prop_map(|parts| format!("({})", parts.join("|"))),
            (
                inner.clone(),
                prop_oneof![Just("*"), Just("+"), Just("?"), Just("{2}"), Just("{0,3}")]
            )
                .prop_map(|(part, count)| format!("(?:{part}){count}")),
            inner.prop_map(|part| format!("(?i:{part})")),
        ]
    })
}

/// Unusual content: bytes that are not valid UTF-8, and characters that case-fold to ASCII.
const ODD: &[&[u8]] =
    &[b"\r\n", b"\r", b"\xff", b"\0", "é".as_bytes(), "ſ".as_bytes(), "\u{212a}".as_bytes()];

fn texts() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        6 => "[a-dA-DksKS_(. ]{1,8}".prop_map(String::into_bytes),
        2 => Just(b"\n".to_vec()),
        1 => prop::sample::select(ODD).prop_map(<[u8]>::to_vec),
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn an_indexed_search_finds_what_a_scan_of_every_file_finds(
        texts in prop::collection::vec(texts(), 1..6),
        regex in regexes(),
        fixed in "[a-cksKS_(. ]{1,7}",
        ignores_case: bool,
    ) {
        let paths = ["a.rs", "b.py", "c.md", "d.txt", "e"];
        let tree: Vec<(&str, &[u8])> =
            paths.iter().zip(&texts).map(|(path, text)| (*path, &text[..])).collect();
        let case = Some(ignores_case);
        let escaped = regex_syntax::escape(&fixed);
        for (text, mode, plain) in [(&regex, CodeSearchMode::Regex, &regex), (&fixed, CodeSearchMode::Fixed, &escaped)] {
            let Ok(query) = CodeQuery::new(text, Some(mode), case) else { continue };
            prop_assert_eq!(indexed(&tree, &query), scanned(&tree, plain, ignores_case), "{}", plain);
        }
    }

    #[test]
    fn any_text_is_a_query_or_an_error(text in "\\PC{0,60}", is_regex: bool) {
        let mode = is_regex.then_some(CodeSearchMode::Regex);
        if let Ok(query) = CodeQuery::new(&text, mode, None) {
            indexed(&[("a.rs", b"fn main() {}\n")], &query);
        }
    }
}

const TREE: Tree<'static> = &[
    ("docs/store.md", b"The store is opened by open_store.\n"),
    ("src/open.rs", b"use store;\n\npub fn open_store() {\n    let path = 1;\n    store::open(path);\n}\n"),
    ("src/store.rs", b"pub struct Store;\n\nimpl Store {\n    pub fn close(&self) {\n        open_store();\n        open_store();\n    }\n}\n"),
    ("tests/open.rs", b"fn a_store_opens() {\n    open_store();\n    open_store();\n    open_store();\n}\n"),
];

#[test]
fn what_defines_the_name_comes_first_and_tests_come_last() {
    insta::assert_snapshot!(answer(TREE, "open_store", None, 20), @"
    src/open.rs  1 match
      3-6 function open_store
        3: pub fn open_store() {
    src/store.rs  2 matches
      4-7 pub fn close(&self)
        5:         open_store();
        6:         open_store();
    tests/open.rs  3 matches
      1-5 fn a_store_opens()
        2:     open_store();
        3:     open_store();
        4:     open_store();
    docs/store.md  1 match
        1: The store is opened by open_store.
    ");
}

#[test]
fn words_are_found_in_any_form_and_lines_that_have_most_are_shown() {
    insta::assert_snapshot!(answer(TREE, "closing the store", None, 20), @"
    src/store.rs  1 match
      4-7 method Store::close
        4:     pub fn close(&self) {
    src/open.rs  3 matches
        1: use store;
      3-6 function open_store
        3: pub fn open_store() {
        5:     store::open(path);
    docs/store.md  1 match
        1: The store is opened by open_store.
    tests/open.rs  4 matches
      1-5 function a_store_opens
        1: fn a_store_opens() {
        2:     open_store();
        3:     open_store();
        4:     open_store();
    ");
}

#[test]
fn a_regex_is_matched_line_by_line_and_says_what_is_left_out() {
    insta::assert_snapshot!(answer(TREE, r"open\w*\(", Some(CodeSearchMode::Regex), 3), @"
    src/open.rs  2 matches
      3-6 function open_store
        3: pub fn open_store() {
    src/store.rs  2 matches
      4-7 pub fn close(&self)
        5:         open_store();
    tests/open.rs  4 matches
      1-5 function a_store_opens
        1: fn a_store_opens() {
    … 5 more matches in 3 files; --limit N
    ");
    insta::assert_snapshot!(answer(TREE, "\"store::open(\"", None, 3), @"
    src/open.rs  1 match
      3-6 pub fn open_store()
        5:     store::open(path);
    ");
    assert_eq!(answer(TREE, "\"Open_store\"", None, 3), "no matches\n");
}

#[test]
fn files_that_cannot_match_are_not_read() {
    let texts: Vec<(String, String)> = (0..50)
        .map(|n| (format!("{n:02}.rs"), format!("fn number_{n}() {{ shared(); }}\n")))
        .collect();
    let bags: Vec<Vec<u8>> =
        texts.iter().map(|(_, text)| render_bag(text.as_bytes(), true)).collect();
    let cases = [
        ("number_17", CodeSearchMode::Fixed, 1),
        (r"number_(17|23)\(", CodeSearchMode::Regex, 2),
        (r"NUMBER_17.*shared", CodeSearchMode::Regex, 1),
        (r"absent|missing", CodeSearchMode::Regex, 0),
        ("ed", CodeSearchMode::Fixed, 50),
        (r"\w+_4\d", CodeSearchMode::Regex, 50),
    ];
    for (text, mode, expected) in cases {
        let n_read = std::sync::atomic::AtomicUsize::new(0);
        let query = CodeQuery::new(text, Some(mode), Some(true)).unwrap();
        let files = SearchedFiles {
            paths: texts.iter().map(|(path, _)| path.as_str()).collect(),
            bag: &|idx| Bag::read(&bags[idx]),
            made: &MadePaths::default(),
            bytes: &|idx| {
                n_read.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                Some(texts[idx].1.clone().into_bytes())
            },
            names: &|_| String::new(),
            is_over: &|| false,
            n_threads: 2,
        };
        find(&files, &query, &FileFilter::default());
        let n_read = n_read.into_inner();
        assert!(n_read <= expected + 3 && expected <= n_read, "{text}: {n_read} read");
    }
}

#[test]
fn a_search_ends_when_time_is_over_and_says_so() {
    let line = "x = 1\n".repeat(40_000);
    let tree: Tree<'_> = &[("a.py", line.as_bytes())];
    let query = CodeQuery::new(r"x\s", Some(CodeSearchMode::Regex), Some(false)).unwrap();
    let n_asked = std::sync::atomic::AtomicUsize::new(0);
    let is_over = || 2 < n_asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let files = SearchedFiles {
        paths: vec!["a.py"],
        bag: &|_| None,
        made: &MadePaths::default(),
        bytes: &|idx| Some(tree[idx].1.to_vec()),
        names: &|_| String::new(),
        is_over: &is_over,
        n_threads: 1,
    };
    let hits = find(&files, &query, &FileFilter::default());
    assert_eq!(hits.n_unsearched, 1);
    assert!(0 < hits.files[0].n_matches && hits.files[0].n_matches < 40_000);
}

#[test]
fn hostile_patterns_and_texts_are_bounded() {
    let error = |text: &str| Pattern::new(text, false).unwrap_err().to_string();
    assert!(error("(a{1000}){1000}").contains("too large"), "{}", error("(a{1000}){1000}"));
    assert!(error(&"(".repeat(500)).contains("is not a valid regular expression"));
    assert!(error("a(").contains("unclosed group"), "{}", error("a("));
    let too_long = CodeQuery::new(&"a".repeat(3_000), None, None);
    assert!(matches!(too_long, Err(QueryError::TooLong)));
    assert!(matches!(CodeQuery::new(" \n", None, None), Err(QueryError::Empty)));
    let broken = CodeQuery::new("a\nb", Some(CodeSearchMode::Fixed), None);
    assert!(matches!(broken, Err(QueryError::LineBreak)));
    // The pattern takes exponential time in a backtracking engine, and the line has a million
    // letters.
    let long = [&b"a".repeat(1_000_000)[..], b"\nneedle here\n"].concat();
    let query = CodeQuery::new("(a+)+$|needle", Some(CodeSearchMode::Regex), Some(false)).unwrap();
    assert_eq!(indexed(&[("a.js", &long)], &query), [("a.js".to_owned(), 2)]);
}

#[test]
fn a_long_line_is_shown_around_its_match_and_secrets_are_replaced() {
    let long = format!("{}needle{}\n", "x".repeat(5_000), "y".repeat(5_000));
    let shown = answer(&[("a.js", long.as_bytes())], "\"needle\"", None, 3);
    assert!(shown.contains("…xxx") && shown.contains("needley"), "{shown}");
    assert!(shown.len() < 400, "{}", shown.len());
    let key = "ghp_0123456789abcdefghijklmnopqrstuvwxyzAB";
    let text = format!("token = \"{key}\"\n");
    let shown = answer(&[("a.py", text.as_bytes())], "token", Some(CodeSearchMode::Fixed), 3);
    assert!(shown.contains("token") && !shown.contains(key), "{shown}");
    let body = "MIIEpAIBAAKCAQEA7bq3VZz5p3mE9n4kQyUu2Xw8Hq0tLrJ6fYv1sGcKdRbPiOaN\n".repeat(6);
    let text = format!(
        "-----BEGIN RSA PRIVATE KEY-----\n{body}-----END RSA PRIVATE KEY-----\nMIIE is a mark\n"
    );
    let shown = answer(&[("key.txt", text.as_bytes())], "MIIE", Some(CodeSearchMode::Fixed), 9);
    assert!(!shown.contains("AAKCAQEA") && shown.contains("is a mark"), "{shown}");
}

#[test]
fn one_file_does_not_take_all_lines() {
    let many = "call();\n".repeat(100);
    let tree: Tree<'_> =
        &[("a.rs", many.as_bytes()), ("b.rs", b"call();\n"), ("c.rs", b"call();\n")];
    let shown = answer(tree, "\"call()\"", None, 20);
    assert!(shown.contains("b.rs") && shown.contains("c.rs"), "{shown}");
    assert!(shown.contains("… 82 more matches in 1 file"), "{shown}");
}
