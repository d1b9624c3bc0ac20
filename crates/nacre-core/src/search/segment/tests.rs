//! Segments built from records, read back and merged.

use super::*;
use crate::search::record::{Record, Unit};

fn record(key: &str, title: &str, body: &str) -> Record {
    Record {
        key: key.to_owned(),
        title: title.to_owned(),
        body: body.to_owned(),
        facets: vec![("tag", "Db".to_owned())],
        time_ms: 42,
        voice: Voice::User,
        standing: Standing::Stale,
        confidence: 1.0,
        links: vec![Link { kind: LinkKind::Supersedes, to: "older".to_owned() }],
        ..Record::default()
    }
}

fn unit(key: &str, records: Vec<Record>) -> Unit {
    let fingerprint = Fingerprint { stamp: 1, side: 2, content: 3 };
    Unit { key: key.to_owned(), fingerprint, records }
}

fn segment(units: &[Unit]) -> Segment {
    let mut draft = Draft::new(2);
    for unit in units {
        let records = unit.records.iter().map(|record| Analysed::new(record, &[0.6, -0.8]));
        draft.push_unit(&unit.key, unit.fingerprint, records.collect());
    }
    Segment::open(Bytes::Held(draft.finish())).unwrap()
}

fn rows(segment: &Segment, term: &str) -> Vec<(u32, Counts)> {
    segment.postings(term.as_bytes()).map(Iterator::collect).unwrap_or_default()
}

#[test]
fn a_segment_tells_what_was_put_in() {
    let units = [
        unit("a.md", vec![record("a", "Queue in SQLite", "The queue is a table, a queue.")]),
        unit("b.md", vec![record("b", "Other", "SQLite again")]),
    ];
    let segment = segment(&units);
    assert_eq!((segment.n_units(), segment.n_rows(), segment.unit_key(1)), (2, 2, "b.md"));
    assert_eq!(rows(&segment, "queue"), [(0, [1, 0, 2, 0])]);
    assert_eq!(rows(&segment, "sqlite"), [(0, [1, 0, 0, 0]), (1, [0, 0, 1, 0])]);
    assert_eq!(rows(&segment, "\u{1}tag=db").len(), 2);
    assert!(segment.postings(b"nothing").is_none());
    let row = segment.row(1);
    assert_eq!((row.time_ms, row.unit, row.voice), (42, 1, Voice::User));
    assert_eq!((row.standing, row.confidence), (Standing::Stale, 255));
    assert_eq!(segment.row_key(1), "b");
    assert_eq!(segment.links(1), units[1].records[0].links);
    assert_eq!(segment.unit(1).fingerprint, units[1].fingerprint);
    let back = f32::from(segment.vectors()[3]) * segment.scale(1);
    assert!((back + 0.8).abs() < 0.01, "{back}");
}

#[test]
fn merging_keeps_the_living_as_if_built_at_once() {
    let units = [
        unit("a", vec![record("a", "one", "red green")]),
        unit("b", vec![record("b0", "two", "red"), record("b1", "three", "blue")]),
        unit("c", vec![record("c", "four", "green blue")]),
    ];
    let (left, right) = (segment(&units[..2]), segment(&units[2..]));
    let mut draft = Draft::new(2);
    draft.absorb(&left, |idx| idx != 0);
    draft.absorb(&right, |_| true);
    let merged = Segment::open(Bytes::Held(draft.finish())).unwrap();
    let whole = segment(&units[1..]);
    for term in ["red", "green", "blue", "two", "one"] {
        assert_eq!(rows(&merged, term), rows(&whole, term), "{term}");
    }
    for row in 0..3 {
        assert_eq!(merged.row(row), whole.row(row));
        assert_eq!(merged.row_key(row), whole.row_key(row));
        assert_eq!(merged.links(row), whole.links(row));
    }
    assert_eq!(merged.vectors(), whole.vectors());
}
