//! Tests realistic questions from agents with realistic answers from users.

use super::*;

/// Returns the chosen option and the number of other options.
fn made(said: &str, message: &str) -> Option<(String, usize)> {
    choice_of_message(said, message).map(|choice| (choice.chosen.name, choice.others.len()))
}

fn some(name: &str, n_others: usize) -> Option<(String, usize)> {
    Some((name.to_owned(), n_others))
}

const LETTERS: &str = "I see two ways:\n\nA) Stream it: constant memory, but late errors.\nB) Load it whole: simple, needs memory.\n\nWhich do you prefer?";
const NUMBERS: &str = "There are three options for the cache:\n\n1. **SQLite** — one file, no server\n2. **Redis** — fast, one more service\n3. **Memory** — lost at restart\n\nWhich one should we use?";
const BOLD: &str = "Two approaches:\n\n**Option A: keep the flag** — nobody breaks.\n**Option B: drop the flag** — less code.\n\nWhich approach do you want?";
const RECOMMENDED: &str =
    "Which store should hold the queue?\n\nA) SQLite (recommended): no server\nB) Redis: faster";
const DASHED: &str = "Either way works:\n\n- (a) Rename the command\n- (b) Keep the name and add an alias\n\nWhich would you choose?";

#[test]
fn answers_take_the_option_that_they_mean() {
    let cases = [
        (LETTERS, "A", some("Stream it", 1)),
        (LETTERS, "a, because files are huge", some("Stream it", 1)),
        (LETTERS, "let's do B", some("Load it whole", 1)),
        (LETTERS, "b.", some("Load it whole", 1)),
        (LETTERS, "a file", None),
        (LETTERS, "both", None),
        (NUMBERS, "1", some("SQLite", 2)),
        (NUMBERS, "2, we run it anyway", some("Redis", 2)),
        (NUMBERS, "sqlite", some("SQLite", 2)),
        (NUMBERS, "Option 3", some("Memory", 2)),
        (NUMBERS, "7", None),
        (BOLD, "B", some("drop the flag", 1)),
        (BOLD, "option a", some("keep the flag", 1)),
        (RECOMMENDED, "redis", some("Redis", 1)),
        (RECOMMENDED, "A", some("SQLite", 1)),
        (DASHED, "b", some("Keep the name and add an alias", 1)),
        (DASHED, "yes", None),
        (
            "Done. Next steps:\n1. Add the tests for the parser\n2. Update the docs and examples",
            "1",
            None,
        ),
        ("Shall I use tabs?", "yes", None),
    ];
    for (said, message, expected) in cases {
        assert_eq!(made(said, message), expected, "{message} after {said}");
    }
}

#[test]
fn the_question_is_the_one_that_was_asked_last() {
    let choice = choice_of_message(NUMBERS, "1").unwrap();
    assert_eq!(choice.question, "Which one should we use?");
    assert_eq!(choice.chosen.meaning.as_deref(), Some("one file, no server"));
}

const ASKED: &str = r#"{"questions":[{"header":"Version","question":"How are versions injected?","options":[{"label":"By ldflags (Recommended)","description":"No file"},{"label":"A VERSION file","description":"Works everywhere"}]},{"header":"Docs","question":"Where do the docs live?","options":[{"label":"docs/","description":""},{"label":"A wiki","description":"Not in git"}]}]}"#;

#[test]
fn an_answer_through_a_question_tool_is_always_a_choice() {
    let found = choice_of_answer(ASKED, "A VERSION file", 0).unwrap();
    assert_eq!(found.question, "How are versions injected?");
    assert_eq!(found.title(), "How are versions injected: A VERSION file, not By ldflags");
    let second = choice_of_answer(ASKED, "docs/", 1).unwrap();
    assert_eq!(second.title(), "Where do the docs live: docs/, not A wiki");
    let recommended = choice_of_answer(ASKED, "By ldflags (Recommended)", 0).unwrap();
    assert_eq!(recommended.chosen.name, "By ldflags");
    let free = choice_of_answer(ASKED, "neither, ask git describe", 0).unwrap();
    assert!(free.is_free && free.others.len() == 2, "{free:?}");
    assert_eq!(choice_of_answer("{\"questions\":[{\"question\":\"cut", "x", 0), None);
}

#[test]
fn an_answer_that_steers_the_moment_is_not_a_decision() {
    let cases = [
        ("Full run", "How should the full run end?", "Let it keep running", "drop"),
        ("", "What do you prefer?", "Fix them all now", "drop"),
        ("", "Want me to do that sequence?", "Path-aware credential helper doc note", "drop"),
        ("Update strategy", "How to update?", "Add a follow-up commit and regular push", "drop"),
        ("", "Do you have the actual error message?", "Yes — I can paste it", "drop"),
        ("Flag", "What happens to the flag?", "Drop the flag", "active"),
        ("Upload", "How do we handle large files?", "Add a chunked endpoint", "review"),
        ("Queue store", "Which database should the queue use?", "SQLite", "active"),
        ("Cache", "Which cache should the API use?", "No cache", "active"),
    ];
    for (header, question, label, expected) in cases {
        let arguments = serde_json::json!({ "questions": [{
            "header": header, "question": question,
            "options": [{ "label": label }, { "label": "Something else" }],
        }] });
        let choice = choice_of_answer(&arguments.to_string(), label, 0).unwrap();
        let made = match (choice.is_of_the_moment(), choice.is_sure()) {
            (true, _) => "drop",
            (false, true) => "active",
            (false, false) => "review",
        };
        assert_eq!(made, expected, "{question} {label}");
    }
}
