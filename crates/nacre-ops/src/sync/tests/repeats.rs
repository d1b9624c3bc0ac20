//! Tests that repetition across sessions creates memories, and that copies and small talk do not.

use std::fmt::Write as _;

use insta::assert_snapshot;

use super::edits::Place;

/// Syncs one session for each list of messages, and lists the memories with the number of quotes.
fn learned(sessions: &[&[&str]]) -> String {
    let place = Place::new();
    for (day, said) in (1..).zip(sessions) {
        let trace = place.talk(&format!("s{day}"), day, said);
        place.sync_with(&trace, None, |_| {}).unwrap();
    }
    let mut lines = String::new();
    for memory in place.store.outlines(|_| true).unwrap().memories {
        let evidence = place.store.evidence(&memory.at.id).unwrap();
        if let Some(evidence) = evidence.filter(|evidence| !evidence.quotes.is_empty()) {
            let (status, n_quotes) = (memory.status.as_str(), evidence.quotes.len());
            writeln!(lines, "{status}, {n_quotes} quotes: {}", memory.title).unwrap();
        }
    }
    lines
}

const OTHER: &str = "Add a health endpoint to the gateway";

#[test]
fn a_request_is_reviewed_when_repeated_and_active_the_third_time() {
    let said: [&[&str]; 3] = [
        &[OTHER, "can you group the changes into meaningful commits?"],
        &["Rename the server", "please group these changes into meaningful commits"],
        &["Mend the cache", "group the changes into small meaningful commits please"],
    ];
    assert_snapshot!(learned(&said[..1]), @"");
    assert_snapshot!(learned(&said[..2]), @"candidate, 2 quotes: Group these changes into meaningful commits");
    assert_snapshot!(learned(&said), @"active, 3 quotes: Group these changes into meaningful commits");
}

#[test]
fn copies_questions_and_tasks_are_not_repetitions() {
    let pasted: &[&str] =
        &["Use the linear comment for the plan of this. Then write the release notes."];
    for said in [
        [pasted, pasted],
        [&[OTHER, "yes, continue"], &["Mend the cache", "yes, continue"]],
        [
            &[OTHER, "why does mise run lint fail in CI?"],
            &["x", "why does mise run lint fail in CI?"],
        ],
        [&[OTHER, "fix the failing lint checks"], &["x", "please fix the failing lint checks"]],
    ] {
        assert_eq!(learned(&said), "");
    }
}

#[test]
fn rules_that_differ_in_a_name_or_number_do_not_repeat_each_other() {
    for (one, other) in [
        ("Always run lint before you push a branch.", "Always run test before you push a branch."),
        ("Never restart db-1 during office hours.", "Never restart db-2 during office hours."),
        (
            "We run the staging server on port 4000, never on another.",
            "We run the staging server on port 4001, never on another.",
        ),
        (
            "Never rebase the main branch without a backup.",
            "Never rebase the develop branch without a backup.",
        ),
    ] {
        let learned = learned(&[&[OTHER, one], &["Mend the cache", other]]);
        assert_eq!(learned.lines().count(), 2, "{one}\n{learned}");
        assert!(!learned.contains("2 quotes"), "{learned}");
    }
}
