//! Tests that the extraction rules reach a minimum quality on labelled sessions. Odd lines were
//! used for tuning.
//!
//! These sessions were written for this test. `docs/evaluation.md` describes measurements on real
//! sessions.

use std::collections::BTreeSet;

use nacre_memory::Status;
use nacre_traces::agents::generic;
use nacre_traces::transcript::{Sink, TranscriptEvent};
use serde::Deserialize;
use serde_json::Value;

use crate::sync::candidate::{Candidate, Extraction};
use crate::sync::evidence::is_quote_of;
use crate::sync::extract::{Extractor, Rules};

const SESSIONS: &str =
    include_str!("../../../../nacre-engine/tests/fixtures/extraction/sessions.jsonl");

/// A session, and the candidates that should be found in it.
#[derive(Deserialize)]
struct Session {
    id: String,
    events: Vec<Value>,
    #[serde(default)]
    keep: Vec<Label>,
    #[serde(default)]
    allow: Vec<String>,
}

#[derive(Deserialize)]
struct Label {
    quote: String,
    /// Whether this is one of the three signals that the rules must find.
    #[serde(default)]
    promised: bool,
}

fn sessions() -> Vec<Session> {
    SESSIONS.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

impl Session {
    fn read(
        &self,
        mut each: impl FnMut(TranscriptEvent),
    ) -> nacre_traces::transcript::SessionFacts {
        let lines: Vec<String> = self.events.iter().map(Value::to_string).collect();
        generic::read_text(&self.id, &(lines.join("\n") + "\n"), Sink::everything(&mut each))
    }

    fn extract(&self) -> Extraction {
        let mut extractor = Extractor::new(Rules::default());
        let facts = self.read(|event| extractor.take(&event));
        extractor.finish(&facts)
    }

    fn is_right(&self, candidate: &Candidate) -> bool {
        let labels = self.keep.iter().map(|label| &label.quote).chain(&self.allow);
        labels.into_iter().any(|label| holds(candidate, label))
    }
}

fn holds(candidate: &Candidate, label: &str) -> bool {
    let holds = |one: &str, other: &str| one.contains(other) && (other.len() >= 12 || one == other);
    candidate.quotes.iter().any(|quote| holds(&quote.text, label) || holds(label, &quote.text))
}

fn share(part: usize, whole: usize) -> f64 {
    part as f64 / whole.max(1) as f64
}

#[test]
fn held_out_sessions_are_judged_as_well_as_promised() {
    let (mut kept, mut right, mut empty, mut silent) = (0, 0, 0, 0);
    let mut wrong = Vec::new();
    for session in sessions().iter().skip(1).step_by(2) {
        let candidates = session.extract().candidates;
        kept += candidates.len();
        right += candidates.iter().filter(|candidate| session.is_right(candidate)).count();
        wrong.extend(
            candidates.iter().filter(|one| !session.is_right(one)).map(|one| one.title.clone()),
        );
        if session.keep.is_empty() && session.allow.is_empty() {
            empty += 1;
            silent += usize::from(candidates.is_empty());
        }
    }
    assert!(share(right, kept) >= 0.85, "{right} of {kept}: {wrong:#?}");
    assert!(share(silent, empty) >= 0.90, "{silent} of {empty}: {wrong:#?}");
}

#[test]
fn the_three_signals_are_found() {
    let mut missed = Vec::new();
    for session in sessions() {
        let candidates = session.extract().candidates;
        let is_found =
            |label: &&Label| candidates.iter().any(|candidate| holds(candidate, &label.quote));
        let promised = session.keep.iter().filter(|label| label.promised);
        missed.extend(promised.filter(|label| !is_found(label)).map(|label| label.quote.clone()));
    }
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn nothing_is_held_to_be_true_that_should_not_be_kept() {
    for session in sessions() {
        let candidates = session.extract().candidates;
        let is_active = |candidate: &&Candidate| candidate.status == Status::Active;
        for candidate in candidates.iter().filter(is_active) {
            assert!(session.is_right(candidate), "{}: {}", session.id, candidate.title);
        }
    }
}

#[test]
fn the_set_is_large_varied_and_a_third_of_it_empty() {
    let sessions = sessions();
    let ids: BTreeSet<&str> = sessions.iter().map(|session| session.id.as_str()).collect();
    assert!(ids.len() == sessions.len() && sessions.len() >= 60);
    assert!(
        sessions.iter().filter(|session| session.keep.is_empty()).count() * 3 >= sessions.len()
    );
}

#[test]
fn every_quote_of_every_candidate_stands_where_it_says() {
    let mut n_quotes = 0;
    for session in sessions() {
        let extraction = session.extract();
        let quotes = extraction.candidates.iter().flat_map(|candidate| &candidate.quotes);
        let mut missing: Vec<_> = quotes.collect();
        n_quotes += missing.len();
        session.read(|event| missing.retain(|quote| !is_quote_of(quote, &event)));
        assert!(missing.is_empty(), "{}", session.id);
    }
    assert!(n_quotes > 15);
}
