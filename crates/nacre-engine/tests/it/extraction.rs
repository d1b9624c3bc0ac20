//! The bars that the offline extractor must hold on labelled sessions it was not tuned on.

use std::collections::BTreeSet;

use nacre_core::transcript::{Event, Sink, generic};
use nacre_engine::flows::extract::Verbatim;
use nacre_engine::flows::extract::eval::{Half, read, run};

const SESSIONS: &str = include_str!("../fixtures/extraction/sessions.jsonl");

#[test]
fn held_out_sessions_are_judged_as_well_as_promised() {
    let report = run(&read(SESSIONS).unwrap(), Half::HeldOut);
    let scores = report.scores;
    assert!(scores.precision() >= 0.85, "{report:#?}");
    assert!(scores.empty_stays_empty() >= 0.90, "{report:#?}");
    assert!(scores.explicit_recall() >= 0.60, "{report:#?}");
}

#[test]
fn the_set_is_large_varied_and_a_third_of_it_empty() {
    let sessions = read(SESSIONS).unwrap();
    let ids: BTreeSet<&str> = sessions.iter().map(|session| session.id.as_str()).collect();
    assert!(ids.len() == sessions.len() && sessions.len() >= 60);
    assert!(
        sessions.iter().filter(|session| session.keep.is_empty()).count() * 3 >= sessions.len()
    );
}

#[test]
fn every_quote_of_every_candidate_stands_where_it_says() {
    let mut n_quotes = 0;
    for session in read(SESSIONS).unwrap() {
        let extraction = session.extract();
        let quotes = || extraction.candidates.iter().flat_map(|candidate| &candidate.quotes);
        n_quotes += quotes().count();
        let mut verbatim = Verbatim::new(quotes());
        let mut each = |event: Event| verbatim.take(&event);
        generic::read_text(&session.id, &session.transcript(), Sink::everything(&mut each));
        assert!(verbatim.missing().is_empty(), "{}", session.id);
    }
    assert!(n_quotes > 40);
}
