//! The bars that the offline extractor must hold on labelled sessions it was not tuned on.

use nacre_engine::flows::extract::eval::{Half, read, run};

const SESSIONS: &str = include_str!("../fixtures/extraction/sessions.jsonl");

#[test]
fn held_out_sessions_are_judged_as_well_as_promised() {
    let report = run(&read(SESSIONS).unwrap(), Half::HeldOut);
    let scores = report.scores;
    assert!(scores.precision() >= 0.85, "{report:#?}");
    assert!(scores.empty_stays_empty() >= 0.90, "{report:#?}");
    assert!(scores.explicit_recall() >= 0.60, "{report:#?}");
    println!("{scores:?}");
}

#[test]
fn tuning() {
    let report = run(&read(SESSIONS).unwrap(), Half::Tune);
    println!("{report:#?}");
}
