//! Tests that index files built from records can be read back and copied.

use proptest::prelude::*;

use super::*;
use crate::search::record::{Link, LinkKind, Standing, Voice};
use crate::search::segment::Postings;

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
    let mut draft = Draft::new("model", 2, 7);
    for unit in units {
        let analyze = |record| AnalyzedRecord::new(record, &[0.6, -0.8], |_| true);
        draft.push_unit(unit, unit.records.iter().map(analyze).collect());
    }
    draft.finish()
}

fn rows(segment: &Segment, term: &str) -> Vec<(u32, Counts)> {
    segment.postings(term).map(Iterator::collect).unwrap_or_default()
}

#[test]
fn an_index_file_is_read_back() {
    let units = [
        unit("a.md", vec![record("a", "Queue in SQLite", "The queue is a table, a queue.")]),
        unit("b.md", vec![record("b", "Other", "SQLite again")]),
    ];
    let segment = segment(&units);
    assert_eq!((segment.n_units(), segment.n_rows, segment.unit_key(1)), (2, 2, "b.md"));
    assert_eq!(rows(&segment, "queue"), [(0, [1, 0, 2, 0])]);
    assert_eq!(rows(&segment, "sqlite"), [(0, [1, 0, 0, 0]), (1, [0, 0, 1, 0])]);
    assert_eq!(rows(&segment, "\u{1}tag=db").len(), 2);
    assert!(segment.postings("nothing").is_none());
    let row = segment.row(1);
    assert_eq!((row.time_ms, row.unit, row.voice), (42, 1, Voice::User));
    assert_eq!((row.standing, row.confidence), (Standing::Stale, 255));
    assert_eq!(segment.row_key(1), "b");
    assert_eq!(segment.links(1).collect::<Vec<_>>(), units[1].records[0].links);
    assert_eq!(segment.fingerprint(1), units[1].fingerprint);
    assert_eq!((segment.model(), segment.watermark(), segment.dims), ("model", 7, 2));
    let back = f32::from(segment.vectors()[3]) * segment.scale(1);
    assert!((back + 0.8).abs() < 0.01, "{back}");
}

#[test]
fn copied_units_are_as_if_built_at_once() {
    let units = [
        unit("a", vec![record("a", "one", "red green")]),
        unit("b", vec![record("b0", "two", "red"), record("b1", "three", "blue")]),
        unit("c", vec![record("c", "four", "green blue")]),
    ];
    let (left, right) = (segment(&units[..2]), segment(&units[2..]));
    let mut draft = Draft::new("model", 2, 7);
    draft.absorb(&left, |key| key != "a");
    draft.absorb(&right, |_| true);
    let merged = draft.finish();
    let whole = segment(&units[1..]);
    for term in ["red", "green", "blue", "two", "one"] {
        assert_eq!(rows(&merged, term), rows(&whole, term), "{term}");
    }
    for row in 0..3 {
        assert_eq!(merged.row(row), whole.row(row));
        assert_eq!(merged.row_key(row), whole.row_key(row));
    }
    assert_eq!(merged.bytes[..], whole.bytes[..]);
}

proptest! {
    #[test]
    fn packed_postings_are_read_back(
        rows in prop::collection::btree_map(0_u32..1_000_000, prop::array::uniform4(0_u8..12), 0..50)
    ) {
        let rows: Vec<(u32, Counts)> =
            rows.into_iter().filter(|(_, counts)| counts.iter().any(|n| *n > 0)).collect();
        let mut builder = PostingsBuilder::default();
        for (row, counts) in &rows {
            builder.push(*row, *counts);
        }
        let packed = builder.finish();
        let postings = Postings::new(&packed);
        prop_assert_eq!(postings.n_rows() as usize, rows.len());
        prop_assert_eq!(postings.collect::<Vec<_>>(), rows);
    }

    #[test]
    fn postings_of_any_bytes_end(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(Postings::new(&bytes).count() <= 200);
    }

    #[test]
    fn a_damaged_file_is_not_opened(at in 0_usize..400, cut in any::<bool>()) {
        let units = [unit("a", vec![record("a", "one", "red green")])];
        let mut file = segment(&units).bytes.to_vec();
        let at = at % file.len();
        if cut { file.truncate(at) } else { file[at] ^= 0xff }
        prop_assert!(Segment::open(FileBytes::Memory(file)).is_none());
    }
}
