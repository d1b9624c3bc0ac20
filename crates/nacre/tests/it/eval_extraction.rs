//! `nacre eval extraction`: the numbers of a labelled data set.

use std::fs;

use insta::assert_snapshot;

use crate::home::TestHome;

const DATASET: &str = concat!(
    r#"{"id":"rule","events":[{"type":"user","text":"add it"},{"type":"assistant","text":"Done."},{"type":"user","text":"never use npm here, it breaks the links"}],"keep":[{"quote":"never use npm here, it breaks the links","signal":"correction","explicit":true}]}"#,
    "\n",
    r#"{"id":"silent","events":[{"type":"user","text":"fix the typo in the heading"},{"type":"assistant","text":"Done."}]}"#,
    "\n",
    r#"{"id":"missed","events":[{"type":"user","text":"add it"},{"type":"assistant","text":"Done."},{"type":"user","text":"hm, I wonder about npm"}],"keep":[{"quote":"hm, I wonder about npm","signal":"correction","explicit":true}]}"#,
    "\n",
    r#"{"id":"wrong","events":[{"type":"user","text":"add it"},{"type":"assistant","text":"Done."},{"type":"user","text":"never use npm here, it breaks the links"}]}"#,
    "\n",
);

#[test]
fn each_half_is_scored_and_slips_are_named() {
    let home = TestHome::empty();
    fs::write(home.work().join("d.jsonl"), DATASET).unwrap();
    assert_snapshot!(home.run(&["eval", "extraction", "--dataset", "d.jsonl", "--slips"]), @"
              sessions  kept  precision    empty stays empty  explicit recall  recall
    tune      2         1     100.0 (1/1)  100.0 (0/0)        50.0 (1/2)       50.0 (1/2)
    held out  2         1     0.0 (0/1)    50.0 (1/2)         100.0 (0/0)      100.0 (0/0)
    all       4         2     50.0 (1/2)   50.0 (1/2)         50.0 (1/2)       50.0 (1/2)
    missed missed  hm, I wonder about npm
    wrong  wrong  Never use npm here, it breaks the links
    ");
    let (code, output) = home.json(&["eval", "extraction", "--dataset", "d.jsonl"]);
    assert_eq!((code, &output["halves"]["held_out"]["precision"]), (0, &0.0.into()));
    assert_eq!(output["halves"]["tune"]["explicit_recall"], 0.5);
    assert_eq!(output["slips"].as_array().map(Vec::len), Some(0));
}

#[test]
fn a_line_that_is_no_session_is_named() {
    let home = TestHome::empty();
    fs::write(home.work().join("d.jsonl"), "{\"id\":\"x\"}\n").unwrap();
    assert_snapshot!(home.run(&["eval", "extraction", "--dataset", "d.jsonl"]), @"
    Error: Line 1 is no labelled session: missing field `events` at line 1 column 10
    Hint: docs/extraction.md describes the format
    [exit 1]
    ");
}
