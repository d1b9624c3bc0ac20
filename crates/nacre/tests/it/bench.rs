//! `nacre bench map`

use std::fs;

use crate::delta::{put, repository};
use crate::explore::settled;
use crate::home::TestHome;

fn report(home: &TestHome, more: &[&str]) -> serde_json::Value {
    let work = home.work();
    let mut args = vec!["bench", "map", "--repo", work.to_str().unwrap()];
    args.extend(more);
    let (code, value) = home.json(&args);
    assert_eq!(code, 0, "{value}");
    value["repos"][0].clone()
}

/// A project whose answers lie in long files.
fn large() -> TestHome {
    let home = repository();
    for number in 0..12 {
        let filler: String = (0..150)
            .map(|n| format!("fn filler_{number}_{n}() {{\n    let x = {n};\n}}\n"))
            .collect();
        let text =
            format!("{filler}pub fn measure_depth_of_{number}(sea: u8) -> u8 {{\n    sea\n}}\n");
        put(&home, &format!("src/deep{number}.rs"), &text);
    }
    home
}

#[test]
fn questions_about_long_files_cost_less_with_the_map() {
    let home = large();
    settled(&home);
    let report = report(&home, &["--count", "6", "--budget", "800"]);
    assert_eq!(
        (report["questions"].as_array().unwrap().len(), &report["answered"]),
        (6, &6.into())
    );
    assert!(0.5 < report["reduction_answered"].as_f64().unwrap(), "{report}");
    assert_eq!(report["hit_ratio"], 1.0);
}

#[test]
fn what_costs_more_than_it_saves_is_told() {
    let home = repository();
    let report = report(&home, &["--count", "3"]);
    // Three short files are read faster than asked about.
    assert!(report["reduction"].as_f64().unwrap() < 0.0, "{report}");
}

#[test]
fn an_answer_that_the_slice_does_not_have_counts_as_none() {
    let home = large();
    let questions = home.root().join("questions.jsonl");
    let line = r#"{"question":"where is the tide","find":["measure_depth_of_3"],"path":"src/deep3.rs","contains":"fn nowhere()"}"#;
    fs::write(&questions, format!("{line}\n")).unwrap();
    let report = report(&home, &["--questions", questions.to_str().unwrap()]);
    assert_eq!((&report["answered"], &report["cost_more"]), (&0.into(), &1.into()));
}
