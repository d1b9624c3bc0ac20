//! Tests realistic instruction files and arbitrary text.

use std::fmt::Write as _;

use insta::assert_snapshot;
use proptest::prelude::*;

use super::split::{Split, split};

/// Formats statements as `LINE TITLE`, followed by their bodies, and then lists the omitted pieces.
fn shown(text: &str) -> String {
    let Split { statements, left_out } = split(text);
    let mut shown = String::new();
    for statement in statements {
        let _ = writeln!(shown, "{} {}", statement.line, statement.title);
        for line in statement.body.lines().filter(|line| !line.is_empty()) {
            let _ = writeln!(shown, "   | {line}");
        }
    }
    for left in left_out {
        let _ = writeln!(shown, "{} left out ({:?}): {}", left.line, left.reason, left.text);
    }
    shown
}

#[test]
fn headings_give_the_topic_and_items_give_statements() {
    assert_snapshot!(shown(
        "# Shop\n\nThe shop sells **pearls** to people on [the web](https://x.y). It has no accounts.\n\n\
         ## Testing\n\n- Use vitest\n- Never mock the database in integration tests; start it with `make db`.\n\
         - Run them before you push:\n  - unit tests first\n  - then the rest\n\n\
         ## Build\n\n```bash\n# all\nnpm run build\nnpm test\n```\n\n\
         ## Style\n\nWhen writing Go:\n\n1. Wrap errors with `%w`\n2. Keep functions short, so that\n   a screen holds them\n\n\
         ## Releasing a version\n1. Bump the version in Cargo.toml\n2. Tag it\n   - with `v` in front\n3. Push the tag\n"
    ), @"
    3 The shop sells pearls to people on the web
       | Shop: The shop sells pearls to people on the web. It has no accounts.
    7 Testing: Use vitest
       | Testing: Use vitest
    8 Never mock the database in integration tests; start it with `make db`
       | Testing: Never mock the database in integration tests; start it with `make db`.
    10 Run them before you push: unit tests first
       | Testing > Run them before you push: unit tests first
    11 Run them before you push: then the rest
       | Testing > Run them before you push: then the rest
    15 Build: `npm run build`
       | Build:
       | ```bash
       | # all
       | npm run build
       | npm test
       | ```
    25 When writing Go: Wrap errors with `%w`
       | Style > When writing Go: Wrap errors with `%w`
    26 Keep functions short, so that a screen holds them
       | Style > When writing Go: Keep functions short, so that a screen holds them
    30 Releasing a version: Bump the version in Cargo.toml
       | Releasing a version: Bump the version in Cargo.toml
       | - Tag it
       | - with `v` in front
       | - Push the tag
    ");
}

#[test]
fn code_tables_and_nested_items_belong_to_the_statement_before() {
    assert_snapshot!(shown(
        "Deploys go through the queue, never by hand.\n\n```sh\nmake deploy\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n\
         * The cache is warmed at start.\n  * It takes a minute.\n  * Wait for `ready`.\n\n  It is safe to skip.\n"
    ), @"
    1 Deploys go through the queue, never by hand
       | Deploys go through the queue, never by hand.
       | ```sh
       | make deploy
       | ```
       | | a | b |
       | |---|---|
       | | 1 | 2 |
    11 The cache is warmed at start
       | The cache is warmed at start.
       | - It takes a minute.
       | - Wait for `ready`.
       | It is safe to skip.
    ");
}

#[test]
fn what_is_not_a_statement_is_left_out() {
    assert_snapshot!(shown(
        "# CLAUDE.md\n\n@AGENTS.md\n<!-- a note\nfor people -->\n- [ ] write the docs\n- Why is it slow?\n- src/main.rs\n\
         - [Guide](docs/guide.md)\n\nLinks:\n\nTODO\n---\n| only | a table |\n"
    ), @"
    3 left out (NotAStatement): @AGENTS.md
    6 left out (NotAStatement): [ ] write the docs
    7 left out (NotAStatement): Why is it slow?
    8 left out (NotAStatement): src/main.rs
    9 left out (NotAStatement): Guide
    15 left out (NotAStatement): | only | a table |
    ");
    let shown_with_code =
        shown("- Do not edit it. Write it again with:\n  ```\n  make it\n  ```\n- Then:\n");
    assert!(shown_with_code.starts_with("1 Do not edit it\n"), "{shown_with_code}");
    assert!(shown_with_code.ends_with("5 left out (NotAStatement): Then:\n"), "{shown_with_code}");
    let long = format!("- Remember this: {}\n", "word ".repeat(600));
    assert!(shown(&long).starts_with("1 left out (TooLong): Remember this: word word"));
}

#[test]
fn titles_are_whole_words_and_at_most_90_characters() {
    let split = split(&format!(
        "- Use {} in every module e.g. the first one. Then stop.\n",
        "a long name ".repeat(9)
    ));
    assert_eq!(
        split.statements[0].title,
        "Use a long name a long name a long name a long name a long name a long name a long name a…"
    );
    let one = super::split(&format!("- Use {}\n", "x".repeat(400)));
    assert_eq!(one.statements.first().map(|one| one.title.chars().count()), Some(4));
}

#[test]
fn a_rule_of_an_editor_says_which_files_it_is_for() {
    assert_snapshot!(shown(
        "---\ndescription: React components\nglobs: src/**/*.tsx\nalwaysApply: false\n---\n- Use hooks\n\n# Props\n- Name them after what they hold\n"
    ), @"
    6 React components: Use hooks
       | React components: Use hooks
       | Applies to `src/**/*.tsx`.
    9 Name them after what they hold
       | Props: Name them after what they hold
       | Applies to `src/**/*.tsx`.
    ");
}

#[test]
fn a_memory_that_an_agent_wrote_is_one_statement() {
    assert_snapshot!(shown(
        "---\nname: small-prs\ndescription: The user wants small pull requests\ntype: feedback\n---\nOne change each.\n\n**Why:** reviews take days.\n"
    ), @"
    6 The user wants small pull requests
       | One change each.
       | **Why:** reviews take days.
    ");
    let topic = "---\nname: deploy\ndescription: how to deploy\ntype: project\n---\n# Deploying\n\nRun `make ship`. Never push by hand.\n";
    assert_snapshot!(shown(topic), @"
    6 how to deploy: Run `make ship`
       | # Deploying
       | Run `make ship`. Never push by hand.
    ");
}

proptest! {
    #[test]
    fn no_text_breaks_it(text in any::<String>()) {
        sound(&text)?;
    }

    #[test]
    fn nothing_that_looks_like_markdown_breaks_it(
        pieces in prop::collection::vec(
            prop_oneof![
                Just("---\n"), Just("# A\n"), Just("## Rules:\n"), Just("- item one\n"), Just("  - nested two\n"), Just("\t* x\n"),
                Just("```\n"), Just("~~~~\n"), Just("| a |\n"), Just("<!--\n"), Just("-->\n"), Just("1. first\n"), Just("Use this:\n"),
                Just("\n"), Just("===\n"), Just("[a](b) ["), Just("`"), Just("**"), Just("ü\u{3000}ß\r\n"), Just("a. b. c. "), Just("@x\n"),
            ],
            0..40,
        )
    ) {
        sound(&pieces.concat())?;
    }
}

fn sound(text: &str) -> Result<(), TestCaseError> {
    for statement in split(text).statements {
        prop_assert!(statement.title.chars().count() <= 90, "{}", statement.title);
        prop_assert!(!statement.title.trim().is_empty() && !statement.title.contains('\n'));
        prop_assert!(statement.body.len() <= 2200 && !statement.quote.trim().is_empty());
        let first = statement.quote.lines().next().unwrap_or_default();
        let at = text.strip_prefix('\u{feff}').unwrap_or(text).lines().nth(statement.line - 1);
        prop_assert!(
            at.is_some_and(|line| line.contains(first)),
            "line {}: {first}",
            statement.line
        );
    }
    Ok(())
}
