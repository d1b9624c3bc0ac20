//! Tests inputs that are designed to be expensive. Work is counted in steps, because times differ
//! between machines.

use super::*;

/// Allows twice the limit, because the step that exceeds the limit may be large.
fn is_bounded(cost: ParseCost, size: usize) -> bool {
    let most = ParseCost::limit_for(size);
    cost.reports <= most.reports + 1
        && cost.blocks <= 2 * most.blocks
        && cost.dropped <= 2 * most.dropped
        && cost.held <= 2 * most.held
        && cost.stacked <= 2 * most.stacked
}

fn check_pattern(language: Language, pattern: &str, size: usize) {
    let text = pattern.repeat(size / pattern.len());
    let cost = parse_cost(&text, language, true).unwrap();
    assert!(is_bounded(cost, text.len()), "{language} {pattern:?} {cost:?}");
    let analysis = analyse(language, text.as_bytes());
    assert!(analysis.problem.is_some(), "{language} {pattern:?}");
}

#[test]
fn an_error_that_unwinds_all_that_came_before_ends_by_what_it_drops() {
    // Without a limit, this takes hours.
    check_pattern(Language::TypeScript, "->", 200_000);
}

#[test]
fn a_text_of_quotes_ends_by_what_it_drops() {
    check_pattern(Language::TypeScript, "\"", MAX_TEXT_BYTES);
}

#[test]
fn types_and_calls_that_never_close_end_by_what_they_hold() {
    check_pattern(Language::TypeScript, "a<b(", MAX_TEXT_BYTES);
    check_pattern(Language::TypeScript, "a<b<", MAX_TEXT_BYTES);
}

#[cfg(feature = "more-languages")]
#[test]
fn types_that_never_close_end_by_the_depth_of_the_stack() {
    // Without a limit, the last step runs out of memory.
    check_pattern(Language::CSharp, "template<", MAX_TEXT_BYTES);
}

#[cfg(feature = "more-languages")]
#[test]
fn a_character_that_a_block_would_cut_is_read_whole() {
    // The scanner requests more blocks than it receives, and the input must not end inside a
    // character.
    check_pattern(Language::Scala, "\u{feff}", MAX_TEXT_BYTES);
}

#[cfg(feature = "more-languages")]
#[test]
fn strings_in_strings_of_kotlin_do_not_end_the_process() {
    for n_deep in [400, 600, 300_000] {
        let text = "\"${".repeat(n_deep);
        assert!(analyse(Language::Kotlin, text.as_bytes()).problem.is_some());
    }
    let text = "val a = \"${b}\"\n".repeat(440);
    assert_eq!(analyse(Language::Kotlin, text.as_bytes()).depth, Depth::Full);
}

#[test]
fn real_code_takes_a_small_part_of_what_it_may() {
    for text in [
        include_str!("../analyse.rs"),
        include_str!("../imports.rs"),
        include_str!("../glance.rs"),
        include_str!("mod.rs"),
    ] {
        let cost = parse_cost(text, Language::Rust, false).unwrap();
        // Exclude the fixed allowance for short files.
        let size = text.len();
        assert!(cost.reports * 2 < 30 * size / 1_000, "{cost:?} of {size}");
        assert!(cost.blocks * 2 < 20 * size / 1_000, "{cost:?} of {size}");
        assert!(cost.dropped * 2 < 150 * size / 1_000, "{cost:?} of {size}");
        assert!(cost.held < 850 * size / 1_000, "{cost:?} of {size}");
    }
}

#[test]
fn the_same_text_takes_the_same_each_time() {
    let text = "a<b(\"".repeat(20_000);
    let costs = [0, 1].map(|_| parse_cost(&text, Language::Tsx, true).unwrap());
    assert_eq!(costs[0], costs[1]);
}

#[test]
fn a_tree_too_deep_to_be_compared_is_not_searched() {
    let deep = format!("{}1{}", "(".repeat(100_000), ")".repeat(100_000));
    let text = format!("{deep} == {deep};");
    let pattern = CodePattern::new("$A == $A", Language::JavaScript).unwrap();
    let found = pattern.find(&text, 10);
    assert_eq!(found, Err(ParseError::TooHard { language: Language::JavaScript }));
    assert_eq!(pattern.find("(1) == (1);", 10).unwrap().len(), 1);
}

#[test]
fn a_search_is_bounded_as_an_analysis_is() {
    let pattern = CodePattern::new("a($B)", Language::TypeScript).unwrap();
    let found = pattern.find(&"->".repeat(100_000), 10);
    assert_eq!(found, Err(ParseError::TooHard { language: Language::TypeScript }));
}

#[test]
fn a_pattern_that_nobody_wrote_is_refused() {
    let deep = format!("{}1{}", "(".repeat(4_000), ")".repeat(4_000));
    for pattern in [deep, "a + ".repeat(5_000) + "a"] {
        assert!(CodePattern::new(&pattern, Language::JavaScript).is_err());
    }
}

#[test]
fn a_statement_over_many_lines_ends_where_it_did() {
    for (language, text, expected) in [
        (Language::TypeScript, "import {\n  a,\n  b,\n} from './c';\nlet x = 1;\n", "./c"),
        (Language::Python, "from a import (\n  b,\n)\nx = 1\n", "a.b"),
        (Language::Python, "import a, \\\n\n  b\n", "a"),
        (Language::Go, "import (\n\t\"a/b\"\n)\nfunc c() {}\n", "a/b"),
        (Language::Rust, "use a::{\n  b,\n  c,\n};\n", "a::b"),
    ] {
        let imports = glance(language, text.as_bytes()).imports;
        assert!(imports.iter().any(|import| import.text == expected), "{language} {imports:?}");
    }
}
