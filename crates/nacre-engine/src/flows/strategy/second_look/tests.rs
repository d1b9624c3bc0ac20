//! What a second look changes, and what it cannot.

use nacre_core::config::StrategyChoice;
use nacre_core::memory::Status;
use serde_json::{Value, json};

use super::super::tests::{TALK, lines, pnpm, read, script, summary, turn};
use crate::flows::testing::{flow, no_limits};

/// What becomes of the entry about pnpm after this second look.
fn status_after(look: &Value) -> (Status, u64) {
    let home = tempfile::tempdir().unwrap();
    let answer = json!({ "candidates": [pnpm()], "summary": summary("Validation") });
    let asked = [
        "<entries-",
        "1. Packages are installed with pnpm",
        "basis: stated",
        "[2] person: no, we use pnpm",
    ];
    let turns = [turn(&[], "session_reading", &answer), turn(&asked, "second_look", look)];
    let models = flow(&home, &script(&turns), no_limits());
    let (read, n_calls) = read(&models, StrategyChoice::Auto, &lines(TALK));
    (read.unwrap().extraction.candidates[0].status, n_calls)
}

fn look(entry: u64, finding: &str) -> Value {
    json!({ "entries": [{ "entry": entry, "against": "It may pass.", "finding": finding }] })
}

#[test]
fn an_entry_that_is_doubted_waits_for_a_person() {
    for finding in super::Finding::NAMES {
        let expected = if finding == "holds" { Status::Active } else { Status::Candidate };
        assert_eq!(status_after(&look(1, finding)), (expected, 2), "{finding}");
    }
}

#[test]
fn a_number_that_is_no_entrys_changes_nothing() {
    for entry in [0, 2, 99] {
        assert_eq!(status_after(&look(entry, "one_off")).0, Status::Active, "{entry}");
    }
    assert_eq!(status_after(&json!({ "entries": [] })).0, Status::Active);
}

#[test]
fn nothing_found_costs_no_second_look() {
    let home = tempfile::tempdir().unwrap();
    let answer = json!({ "candidates": [], "summary": summary("Validation") });
    let models = flow(&home, &script(&[turn(&[], "session_reading", &answer)]), no_limits());
    assert_eq!(read(&models, StrategyChoice::Auto, &lines(TALK)).1, 1);
}
