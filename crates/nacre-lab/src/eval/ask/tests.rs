//! Asks a hundred questions without a model. One memory answers each question.

use super::measure::{Measured, measure, read_table};

const MEMORIES: &str = include_str!("../../../../nacre-engine/tests/fixtures/ask/memories.txt");
const UNKNOWN: &str = include_str!("../../../../nacre-engine/tests/fixtures/ask/unknown.txt");

/// One question per memory, written by an author who saw the memories but not the other questions.
const OTHERS: &str = include_str!("../../../../nacre-engine/tests/fixtures/ask/others.txt");

fn measured(memories: &str) -> Measured {
    let folder = tempfile::tempdir().unwrap();
    let (pages, questions) = read_table(memories, UNKNOWN);
    measure(&folder.path().canonicalize().unwrap(), &pages, &questions)
}

#[test]
fn nine_questions_in_ten_are_answered_and_unknown_ones_are_declined() {
    let measured = measured(MEMORIES);
    assert_eq!(measured.known, 100);
    assert!(measured.right >= 90, "{:#?}", measured.missed);
    assert!(measured.first >= 85, "{} are first", measured.first);
    assert!(measured.declined >= 18, "{:#?}", measured.missed);
}

/// No constants were fitted to these questions. The bound is the measured result, so that
/// regressions are detected.
#[test]
fn questions_in_the_words_of_another_are_answered_if_they_match_well() {
    let reworded = MEMORIES.lines().zip(OTHERS.lines()).map(|(memory, question)| {
        let (page, _) = memory.rsplit_once(" | ").unwrap();
        format!("{page} | {question}\n")
    });
    let measured = measured(&reworded.collect::<String>());
    assert_eq!(measured.known, 100);
    assert!(measured.right >= 63, "{:#?}", measured.missed);
}
