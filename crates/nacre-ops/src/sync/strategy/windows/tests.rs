//! Tests what a model's review can and cannot change.

use nacre_base::config::StrategyChoice;
use nacre_memory::Status;
use serde_json::{Value, json};

use crate::sync::strategy::tests::{TALK, lines, pnpm, read, script, summary, turn};
use crate::test::{flow, no_limits};

/// Returns the status of the claim about pnpm after this review.
fn status_after(look: &Value) -> (Status, u64) {
    status_of(&pnpm(), look)
}

fn status_of(claim: &Value, look: &Value) -> (Status, u64) {
    let home = tempfile::tempdir().unwrap();
    let answer = json!({ "candidates": [claim], "summary": summary("Validation") });
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

fn look(entry: u64, told: &str) -> Value {
    let (against, in_favor) = ("It may pass.", "It cost an hour.");
    json!({ "entries": [{ "entry": entry, "against": against, "in_favor": in_favor, "told": told }] })
}

#[test]
fn an_entry_that_is_doubted_waits_for_a_person() {
    for told in super::RecallEffect::NAMES {
        let expected = if told == "misleads" { Status::Candidate } else { Status::Active };
        assert_eq!(status_after(&look(1, told)), (expected, 2), "{told}");
    }
}

#[test]
fn what_the_person_said_and_stands_nowhere_else_is_not_a_models_to_call_useless() {
    let useless = look(1, "useless");
    let mut findable = pnpm();
    findable["found_in"] = json!("docs");
    assert_eq!(status_of(&pnpm(), &useless).0, Status::Active);
    assert_eq!(status_of(&findable, &useless).0, Status::Candidate);
    assert_eq!(status_of(&findable, &look(1, "may_help")).0, Status::Active);
}

#[test]
fn what_was_found_and_stands_in_the_project_holds_if_the_second_look_is_for_it() {
    let mut found = pnpm();
    (found["basis"], found["found_in"], found["kind"]) =
        (json!("stated"), json!("code"), json!("pitfall"));
    for (told, expected) in [
        ("misleads", Status::Candidate),
        ("useless", Status::Candidate),
        ("may_help", Status::Active),
        ("helps", Status::Active),
    ] {
        assert_eq!(status_of(&found, &look(1, told)).0, expected, "{told}");
    }
    assert_eq!(status_of(&found, &json!({ "entries": [] })).0, Status::Candidate, "not judged");
}

#[test]
fn a_longer_session_may_have_more_claims() {
    let most = [1, 2, 5, 10, 1000].map(super::max_claims);
    assert_eq!(most, [12, 16, 28, 48, 48]);
}

#[test]
fn a_number_that_is_no_entrys_changes_nothing() {
    for entry in [0, 2, 99] {
        assert_eq!(status_after(&look(entry, "misleads")).0, Status::Active, "{entry}");
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
