//! Tests for `eval extraction`, which measures extraction on labelled sessions.

use insta::assert_snapshot;

use crate::lab::Lab;

/// Two Claude Code sessions: in one, the user says what to remember; the other has no user
/// messages.
const SAID: &str = concat!(
    r#"{"type":"user","uuid":"u1","sessionId":"s1","timestamp":"2026-03-01T10:00:00Z","message":{"role":"user","content":"add the retry to the importer please"}}"#,
    "\n",
    r#"{"type":"assistant","uuid":"a1","parentUuid":"u1","sessionId":"s1","timestamp":"2026-03-01T10:00:01Z","message":{"role":"assistant","content":[{"type":"text","text":"Done."}]}}"#,
    "\n",
    r#"{"type":"user","uuid":"u2","parentUuid":"a1","sessionId":"s1","timestamp":"2026-03-01T10:00:02Z","message":{"role":"user","content":"remember that the importer must never retry more than three times"}}"#,
    "\n",
);
const SILENT: &str = concat!(
    r#"{"type":"user","uuid":"u1","sessionId":"s2","timestamp":"2026-03-01T10:00:00Z","message":{"role":"user","content":"fix the typo in the heading of the page"}}"#,
    "\n",
    r#"{"type":"assistant","uuid":"a1","parentUuid":"u1","sessionId":"s2","timestamp":"2026-03-01T10:00:01Z","message":{"role":"assistant","content":[{"type":"text","text":"Done."}]}}"#,
    "\n",
);

const LABELS: &str = concat!(
    r#"{"file":"traces/said.jsonl","keep":[{"type":"learning","kind":"convention","claim":"The importer retries at most three times.","importance":3,"speaker":"user","how":"stated","event":3,"quote":"the importer must never retry more than three times"},{"type":"decision","kind":"none","claim":"The importer is written in Rust.","importance":2,"speaker":"assistant","how":"explained","event":9,"quote":"the importer is written in Rust"}],"not":[]}"#,
    "\n",
    r#"{"file":"traces/silent.jsonl","keep":[],"not":[{"quote":"fix the typo","why":"one-off"}]}"#,
    "\n",
    r#"{"file":"traces/gone.jsonl","keep":[]}"#,
    "\n",
);

fn set_up_lab() -> Lab {
    let lab = Lab::new();
    lab.put("traces/said.jsonl", SAID);
    lab.put("traces/silent.jsonl", SILENT);
    lab.put("labels.jsonl", LABELS);
    lab
}

#[test]
fn a_reader_is_scored_and_what_it_missed_is_named() {
    let lab = set_up_lab();
    let args =
        ["eval", "extraction", "--dataset", "labels.jsonl", "--strategy", "offline", "--missed"];
    assert_snapshot!(lab.run(&args), @"
                kept  right  wrong  not judged  precision
    active      1     1      0      0           100.0 %
    candidates  0     0      0      0           100.0 %

                        labels  found active  found at all
    importance 2        1       0 (0.0 %)     0
    importance 2 and 3  2       1 (50.0 %)    1
    importance 3        1       1 (100.0 %)   1
    kind convention     1       1 (100.0 %)   1
    kind decision       1       0 (0.0 %)     0
    speaker assistant   1       0 (0.0 %)     0
    speaker user        1       1 (100.0 %)   1

    2 sessions; no entries in 1 of 1 sessions without labels
    missed  traces/said.jsonl  The importer is written in Rust.
    unread  traces/gone.jsonl  Trace `$HOME/work/traces/gone.jsonl` not found
    ");
    let output = lab.json(&[&args[..], &["--json"]].concat());
    assert_eq!((&output["active"]["right"], &output["silent"]), (&1.into(), &1.into()));
}

#[test]
fn a_line_that_is_no_session_is_named() {
    let lab = Lab::new();
    lab.put("d.jsonl", "{\"keep\":[]}\n");
    assert_snapshot!(lab.run(&["eval", "extraction", "--dataset", "d.jsonl"]), @"
    Error: Line 1 is not a valid labelled session: missing field `file` at line 1 column 11; docs/evaluation.md describes the format
    [exit 2]
    ");
}
