//! Tests which edits change a symbol's hashes, and that no input breaks an analysis.

use proptest::prelude::*;
use proptest::sample::select;

use super::super::*;

/// Returns how an edit changes the symbol `name`.
fn change(language: Language, name: &str, before: &str, after: &str) -> &'static str {
    let find = |text: &str| {
        let analysis = analyse(language, text.as_bytes());
        analysis.symbols.into_iter().find(|symbol| symbol.name == name).unwrap()
    };
    let (before, after) = (find(before), find(after));
    match (before.signature_hash == after.signature_hash, before.body_hash == after.body_hash) {
        (true, true) => "none",
        (true, false) => "body",
        (false, _) => "signature",
    }
}

#[test]
fn only_what_others_must_agree_with_changes_a_signature() {
    let rust = "struct P { a: u8 }\nimpl P {\n    fn grow(&self) -> u8 { 1 }\n}\n";
    let cases = [
        ("P::grow", "{ 1 }", "{ 2 }", "body"),
        ("P::grow", "-> u8", "-> u16", "signature"),
        ("P::grow", "fn grow(&self)", "fn grow( &self )", "signature"),
        ("P::grow", "-> u8 {", "->\n        u8 {", "body"),
        ("P", "{ 1 }", "{ 2 }", "none"),
        ("P", "a: u8", "a: u16", "signature"),
        ("P", "struct P", "\n\n// far away\nstruct P", "none"),
    ];
    for (name, from, to, expected) in cases {
        let after = rust.replacen(from, to, 1);
        assert_ne!(rust, after, "{from}");
        assert_eq!(change(Language::Rust, name, rust, &after), expected, "{name}: {from} -> {to}");
    }
}

#[test]
fn a_changed_method_leaves_its_class_alone_and_an_indentation_counts() {
    let python = "class P:\n    \"\"\"Doc.\"\"\"\n    def a(self):\n        if x:\n            b()\n            c()\n";
    let body = python.replacen("b()", "d()", 1);
    assert_eq!(change(Language::Python, "P", python, &body), "none");
    assert_eq!(change(Language::Python, "P.a", python, &body), "body");
    let indent = python.replacen("            c()", "        c()", 1);
    assert_eq!(change(Language::Python, "P.a", python, &indent), "body");
    let second = format!("{python}\n    def z(self): pass\n");
    assert_eq!(change(Language::Python, "P", python, &second), "none");
    let decorated = python.replacen("    def a", "    @cache\n    def a", 1);
    assert_eq!(change(Language::Python, "P.a", python, &decorated), "signature");
}

#[test]
fn a_file_that_breaks_its_grammar_costs_itself_alone_and_says_so() {
    let broken = analyse(Language::Rust, b"use a::b;\nfn good() {}\nfn ( { ]\n");
    assert_eq!(broken.problem, Some(Problem::Broken));
    assert_eq!(broken.imports[0].text, "a::b");
    assert!(broken.symbols.iter().any(|symbol| symbol.name == "good"));
    let huge = vec![b'x'; MAX_TEXT_BYTES + 1];
    assert_eq!(analyse(Language::Rust, &huge).problem, Some(Problem::TooLarge));
    assert_eq!(glance(Language::Rust, &huge).problem, Some(Problem::TooLarge));
    assert_eq!(analyse(Language::Rust, b"fn \xff()").problem, Some(Problem::NotText));
}

#[test]
fn a_text_that_leads_a_grammar_astray_ends_within_its_bounds() {
    // Bash's scanner searches from each bracket to the end of the file. The line-by-line analysis
    // still finds the definition.
    let text = format!("grow() {{ :; }}\n{}", "((((a)".repeat(20_000));
    let analysis = analyse(Language::Bash, text.as_bytes());
    assert_eq!((analysis.problem, analysis.depth), (Some(Problem::Broken), Depth::Glance));
    assert_eq!(analysis.symbols[0].name, "grow");
    // This input keeps many parser states active at once.
    let text = "a<b>(c)<d>(e)".repeat(2_000);
    assert_eq!(analyse(Language::TypeScript, text.as_bytes()).problem, Some(Problem::Broken));
}

#[test]
fn a_name_that_is_part_of_a_word_before_it_is_as_public_as_that_word_says() {
    let texts =
        [(Language::Rust, "pub fn b() {}"), (Language::TypeScript, "export const e = () => 1")];
    for (language, text) in texts {
        let symbol = &glance(language, text.as_bytes()).symbols[0];
        assert_eq!(symbol.visibility, Visibility::Public, "{text}");
    }
}

#[test]
fn an_analysis_of_nothing_is_empty() {
    for language in Language::all() {
        let analysis = analyse(language, b"");
        assert_eq!((analysis.symbols.len(), analysis.imports.len()), (0, 0), "{language}");
        assert_eq!(analysis.problem, None, "{language}");
    }
}

fn languages() -> impl Strategy<Value = Language> {
    select(Language::all().collect::<Vec<_>>())
}

proptest! {
    #[test]
    fn no_bytes_break_an_analysis(
        language in languages(),
        bytes in proptest::collection::vec(any::<u8>(), 0..300),
    ) {
        for analysis in [analyse(language, &bytes), glance(language, &bytes)] {
            let ordered = analysis.symbols.iter().all(|one| one.first_line <= one.last_line);
            prop_assert!(ordered);
        }
    }

    #[test]
    fn no_text_breaks_an_analysis(
        language in languages(),
        text in "(use |import |from |def |class |fn |impl |mod |export |require|include|#|[{}();:<>=*&.,'\"]|[a-zé]| |\t|\n|\u{1f980}){0,80}",
    ) {
        let full = analyse(language, text.as_bytes());
        let again = analyse(language, text.as_bytes());
        prop_assert_eq!(&full, &again);
        let quick = glance(language, text.as_bytes());
        let n_lines = u32::try_from(text.lines().count()).unwrap().max(1);
        for analysis in [full, quick] {
            prop_assert!(analysis.symbols.iter().all(|one| one.first_line <= one.last_line && one.last_line <= n_lines));
            prop_assert!(analysis.imports.iter().all(|one| one.line <= n_lines && !one.text.is_empty()));
        }
    }
}
