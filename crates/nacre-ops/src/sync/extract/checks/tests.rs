//! Tests one candidate for each drop reason.

use nacre_memory::{Basis, Claim, Quote, Speaker, Status};
use nacre_types::Signal;

use super::*;
use crate::sync::candidate::candidate_id;

fn candidate(title: &str, body: &str, quote: &str) -> Candidate {
    Candidate {
        id: candidate_id(0),
        claim: Claim::Decision,
        title: title.to_owned(),
        body: body.to_owned(),
        tags: Vec::new(),
        applies: Vec::new(),
        confidence: 0.8,
        basis: Basis::Stated,
        status: Status::Active,
        signal: Signal::Decision,
        quotes: vec![Quote {
            text: quote.to_owned(),
            speaker: Speaker::User,
            place: "s:1".to_owned(),
            at: String::new(),
        }],
        is_repeated: false,
        importance: None,
        link: None,
    }
}

const BODY: &str = "Use SQLite for the queue, because there is one file to back up and no server.";

fn reason(candidate: &Candidate) -> Option<DropReason> {
    fault(candidate, &Injected::default(), &|_, _| false)
}

#[test]
fn a_sound_candidate_passes() {
    assert_eq!(reason(&candidate("Use SQLite for the queue", BODY, "use sqlite")), None);
}

#[test]
fn a_word_of_a_persons_own_is_no_secret_that_costs_the_claim() {
    let title = "Use SQLite for the queue of [redacted:extra]";
    assert_eq!(reason(&candidate(title, BODY, "use sqlite for [redacted:extra]")), None);
    let both = "Use [redacted:api-key] for [redacted:extra]";
    assert_eq!(reason(&candidate(both, BODY, "use it")), Some(DropReason::Secret));
}

#[test]
fn every_fault_has_its_reason() {
    let titled = |title: &str| candidate(title, BODY, "use sqlite");
    let cases = [
        (candidate("Use SQLite for it", BODY, " "), DropReason::NoEvidence),
        (titled("Use the key [redacted:anthropic] here"), DropReason::Secret),
        (titled("Use it"), DropReason::TooShort),
        (titled(&"long ".repeat(60)), DropReason::TooLong),
        (
            candidate("Use SQLite for the queue", "Use SQLite for the queue, always.", "x"),
            DropReason::Tautology,
        ),
        (titled("Nacre wrote three memories in the last run"), DropReason::AboutNacre),
        (titled("src/queue/mod.rs crates/a/b.rs"), DropReason::Derivable),
        (titled("The fix is in 8c1d22ef on main"), DropReason::Derivable),
        (Candidate { confidence: 0.3, ..titled("Use SQLite for the queue") }, DropReason::Weak),
    ];
    for (candidate, expected) in cases {
        assert_eq!(reason(&candidate), Some(expected), "{}", candidate.title);
    }
}

#[test]
fn what_a_program_said_or_a_person_forgot_does_not_come_back() {
    let own = candidate("Always run the linter first", BODY, "Always run the linter, first!");
    let mut claim = own.clone();
    claim.quotes[0].speaker = Speaker::Assistant;
    let mut injected = Injected::default();
    injected.note(InjectedReason::Instructions, "Rules:\n- always run the linter first\n");
    assert_eq!(fault(&claim, &injected, &|_, _| false), Some(DropReason::Injected));
    assert_eq!(fault(&own, &injected, &|_, _| false), None, "what the person typed is theirs");
    let mut recalled = Injected::default();
    recalled.note(InjectedReason::Nacre, "Always run the linter first");
    assert_eq!(fault(&claim, &recalled, &|_, _| false), Some(DropReason::Recalled));
    let forgotten = |title: &str, _: &str| title.starts_with("Always run");
    assert_eq!(fault(&claim, &Injected::default(), &forgotten), Some(DropReason::Forgotten));
}
