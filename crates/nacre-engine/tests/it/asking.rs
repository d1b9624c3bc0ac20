//! A hundred questions, each with the one memory that answers it, asked without a model.

use super::measure::{Measured, measure, read_table};

const MEMORIES: &str = include_str!("../fixtures/ask/memories.txt");
const UNKNOWN: &str = include_str!("../fixtures/ask/unknown.txt");

fn measured() -> Measured {
    let folder = tempfile::tempdir().unwrap();
    let (pages, questions) = read_table(MEMORIES, UNKNOWN);
    measure(&folder.path().canonicalize().unwrap(), &pages, &questions)
}

#[test]
fn the_right_memory_is_in_the_answer_of_nine_questions_in_ten() {
    let measured = measured();
    assert_eq!(measured.known, 100);
    assert!(measured.right >= 90, "{:#?}", measured.missed);
    assert!(measured.first >= 80, "{} are first", measured.first);
    assert!(measured.declined * 10 >= measured.unknown * 8, "{:#?}", measured.missed);
}
