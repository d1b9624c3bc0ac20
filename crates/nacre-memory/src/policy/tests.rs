//! Tests how a candidate is handled, depending on its text and the existing memory.

use super::*;

const BASE: (&str, &str) =
    ("Install dependencies with pnpm", "Use pnpm here, npm writes a second lock file.");

/// A typical similarity of two claims about the same topic.
const NEAR: Likeness = Likeness { whole: 0.75, titles: 0.75 };
const FAR: Likeness = Likeness { whole: 0.05, titles: 0.02 };

fn time(text: &str) -> Option<Timestamp> {
    Some(text.parse().unwrap())
}

fn proposal(title: &str, body: &str) -> Proposal {
    Proposal {
        memory_type: MemoryType::Learning,
        profile: Profile::of(title, body),
        said: time("2026-11-10T00:00:00Z"),
        amends: false,
    }
}

fn neighbour(likeness: Likeness) -> Neighbour {
    Neighbour {
        id: "20261101-pnpm".parse().unwrap(),
        memory_type: MemoryType::Learning,
        status: Status::Active,
        confidence: 0.8,
        is_rejected: false,
        said: time("2026-11-01T00:00:00Z"),
        profile: Profile::of(BASE.0, BASE.1),
        likeness,
    }
}

fn told(proposal: &Proposal, neighbour: Neighbour) -> String {
    let decision = decide(proposal, &[neighbour]);
    format!("{} ({}): {}", decision.action.as_str(), decision.band.as_str(), decision.reason)
}

fn same() -> Proposal {
    proposal("install dependencies with PNPM!", "use pnpm here; npm writes a second lock file")
}

fn against() -> Proposal {
    proposal(
        "Do not install dependencies with pnpm any more",
        "We switched to npm from now on, pnpm is no longer used.",
    )
}

fn more() -> Proposal {
    proposal(
        "Install dependencies with pnpm 9 through corepack",
        "Use pnpm here, npm writes a second lock file. Run `corepack enable` first; version 8 rewrites pnpm-lock.yaml \
         on macOS, and CI checks it with --frozen-lockfile.",
    )
}

#[test]
fn a_candidate_is_decided_by_what_it_says() {
    let other = proposal("Sam is away on Fridays", "Leave questions in the issue.");
    for (proposal, likeness, expected) in [
        (same(), NEAR, "no-op (clear): the memory has the same wording"),
        (more(), NEAR, "update (clear): adds details to the memory"),
        (against(), NEAR, "supersede (clear): contradicts the memory and is newer"),
        (other, FAR, "add (clear): the most similar memory is about something else"),
    ] {
        assert_eq!(told(&proposal, neighbour(likeness)), expected);
    }
    assert_eq!(decide(&same(), &[]).reason, "no similar memory");
}

#[test]
fn similar_claims_are_distinct_if_values_denials_or_names_differ() {
    for (one, other, expected) in [
        ("The API calls the worker", "The worker calls the API", true),
        ("`billing` imports `ledger`", "`ledger` imports `billing`", true),
        ("Telemetry is enabled in tests", "Telemetry is disabled in tests", true),
        ("Always squash commits", "Never squash commits", true),
        ("Use tabs in Go files", "Do not use tabs in Go files", true),
        ("Retry waits 1 second", "Retry waits 2 seconds", true),
        ("Retry waits one second", "Retry waits two seconds", true),
        ("One is the chosen approach", "Four is the chosen approach", true),
        ("First retry waits a bit", "Third retry waits a bit", true),
        ("Store files in S3", "Store files in GCS", true),
        ("Never rebase the main branch", "Never rebase the develop branch", true),
        ("`atlas` is the GPU box", "The GPU box is `atlas`", false),
        ("Retry waits 30 seconds", "The retry waits 30s", false),
        ("Retry waits one second", "Retry waits 1 second", false),
        ("Ask before adding a dependency", "Do not add dependencies without asking", false),
        ("The build needs Node 20", "Build with Node 20", false),
        ("The job queue lives in SQLite", "Use SQLite for the job queue", false),
        ("Install dependencies with pnpm", "Use pnpm, never npm", false),
    ] {
        let (a, b) = (Profile::of(one, ""), Profile::of(other, ""));
        let found = (are_distinct(&a, &b), are_distinct(&b, &a));
        assert_eq!(found, (expected, expected), "{one} / {other}");
    }
}

#[test]
fn a_distinct_claim_is_never_dropped_as_a_repetition() {
    let same = Likeness { whole: 0.98, titles: 0.98 };
    for (known, said) in [
        ("Retry waits 1 second", "Retry waits 2 seconds"),
        ("The API calls the worker", "The worker calls the API"),
        ("Telemetry is enabled in tests", "Telemetry is disabled in tests"),
        ("Do not use tabs in Go files", "Use tabs in Go files"),
    ] {
        let memory = Neighbour { profile: Profile::of(known, ""), ..neighbour(same) };
        let action = decide(&proposal(said, ""), &[memory]).action;
        assert_ne!(action, Action::NoOp, "{known} / {said}");
    }
}

#[test]
fn what_a_person_decided_stays_decided() {
    let rejected = Neighbour { is_rejected: true, ..neighbour(NEAR) };
    assert_eq!(told(&same(), rejected.clone()), "no-op (clear): the user marked it as wrong");
    assert_eq!(told(&more(), rejected), "no-op (clear): the user marked it as wrong");
    let archived = Neighbour { status: Status::Archived, ..neighbour(NEAR) };
    assert_eq!(told(&same(), archived.clone()), "no-op (clear): archived by the user");
    assert_eq!(told(&more(), archived), "no-op (clear): archived by the user");
}

#[test]
fn what_is_said_again_holds_again() {
    for status in [Status::Candidate, Status::Stale] {
        let decision = decide(&same(), &[Neighbour { status, ..neighbour(NEAR) }]);
        assert_eq!((decision.action, decision.status), (Action::Update, Status::Active));
    }
}

#[test]
fn a_persons_amendment_supersedes_what_it_is_about() {
    for (text, expected) in [
        ("Amended rule, superseding the first one: install with yarn.", true),
        ("This replaces the earlier rule: install with yarn.", true),
        ("We changed our mind: now install with yarn.", true),
        ("No longer pnpm, use yarn.", true),
        ("Install with yarn, always.", false),
        ("It no longer fails.", false),
    ] {
        assert_eq!(is_amendment(text), expected, "{text}");
    }
    let unclear = proposal("Install dependencies with yarn", "It is what CI has.");
    let likeness = Likeness { whole: 0.5, titles: 0.6 };
    let amended = Proposal { amends: true, ..unclear.clone() };
    let expected = "supersede (clear): contradicts the memory and is newer";
    assert_ne!(told(&unclear, neighbour(likeness)), expected);
    assert_eq!(told(&amended, neighbour(likeness)), expected);
    // Neither a repetition nor a claim about something else replaces the memory.
    let again = Proposal { amends: true, ..same() };
    assert_eq!(decide(&again, &[neighbour(NEAR)]).action, Action::NoOp);
    let other = proposal("Sam is away on Fridays", "Leave questions in the issue.");
    let other = Proposal { amends: true, ..other };
    assert_eq!(decide(&other, &[neighbour(FAR)]).action, Action::Add);
}

#[test]
fn an_older_session_overturns_nothing() {
    let older = Proposal { said: time("2026-10-01T00:00:00Z"), ..against() };
    assert_eq!(told(&older, neighbour(NEAR)), "no-op (clear): contradicted by a later session");
    let overturned = Neighbour { status: Status::Superseded, ..neighbour(NEAR) };
    let again = Proposal { said: time("2026-10-01T00:00:00Z"), ..same() };
    assert_eq!(told(&again, overturned.clone()), "no-op (clear): already superseded");
    // If the claim was stated after the memory was superseded, it is added again.
    assert_eq!(decide(&same(), &[overturned]).action, Action::Add);
}

#[test]
fn the_grey_band_overwrites_nothing() {
    let likeness = Likeness { whole: 0.5, titles: 0.4 };
    for (title, body) in [
        ("pnpm", "npm"),
        ("Use yarn", "It is what the lock file says."),
        ("The lock file", "npm writes a lock file."),
        ("Dependencies", "Use pnpm or npm."),
    ] {
        let decision = decide(&proposal(title, body), &[neighbour(likeness)]);
        if decision.band == Band::Grey {
            let is_kept_apart =
                decision.action == Action::NoOp || decision.status == Status::Candidate;
            assert!(is_kept_apart, "{title}: {decision:?}");
        }
    }
}

#[test]
fn a_lead_settles_the_grey_band_within_what_people_decided() {
    let grey = Decision {
        band: Band::Grey,
        target: Some("20261101-pnpm".parse().unwrap()),
        ..decide(&more(), &[neighbour(NEAR)])
    };
    let older = Proposal { said: time("2026-10-01T00:00:00Z"), ..more() };
    let other_type = Proposal { memory_type: MemoryType::Decision, ..more() };
    let (plain, rejected) = (neighbour(NEAR), Neighbour { is_rejected: true, ..neighbour(NEAR) });
    let waiting = Neighbour { status: Status::Candidate, ..neighbour(NEAR) };
    for (relation, proposal, target, expected) in [
        (Relation::Same, more(), &plain, "no-op: the memory makes the same claim"),
        (Relation::Same, more(), &waiting, "update: confirmed by repetition"),
        (Relation::Refines, more(), &plain, "update: adds details to the memory"),
        (Relation::Refines, more(), &rejected, "no-op: the user marked it as wrong"),
        (Relation::Refines, other_type, &plain, "add: adds to a memory of another type"),
        (Relation::Contradicts, more(), &plain, "supersede: contradicts the memory and is newer"),
        (Relation::Contradicts, older, &plain, "no-op: contradicted by a later session"),
        (
            Relation::Different,
            more(),
            &plain,
            "add: the most similar memory is about something else",
        ),
    ] {
        let decision = settle_with_ruling(&grey, &proposal, target, relation);
        let told = format!("{}: {}", decision.action.as_str(), decision.reason);
        assert_eq!((told.as_str(), decision.band), (expected, Band::Grey));
        assert_eq!(decision.judgement, grey.judgement);
    }
}

#[test]
fn no_text_is_too_strange_to_be_judged() {
    for text in ["", "```", "….?!", "\u{202e}x", "没有空格的文字", &"x".repeat(100_000)] {
        let judgement = judge(&Profile::of(text, text), &Profile::of("a", text), FAR);
        assert!(judgement.likelihood.is_finite(), "{text:?}");
        decide(&proposal(text, ""), &[neighbour(FAR)]);
    }
}

#[test]
fn an_unclear_claim_that_says_more_is_never_dropped() {
    let judgement = Judgement::CERTAIN;
    for (title, expected) in [
        ("Install dependencies with pnpm", (Action::NoOp, Status::Active)),
        ("Install dependencies with pnpm after the mocks", (Action::Add, Status::Candidate)),
    ] {
        let nearest = neighbour(NEAR);
        for relation in [Relation::Same, Relation::Refines] {
            let decision = settle(&proposal(title, ""), &nearest, relation, judgement);
            assert_eq!((decision.action, decision.status), expected, "{title}");
        }
    }
}
