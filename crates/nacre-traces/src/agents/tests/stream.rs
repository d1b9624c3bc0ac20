//! Tests damaged, growing and rewritten traces in the simplest format.

use std::path::Path;

use super::*;

const A: &str = r#"{"type":"user","text":"a"}"#;
const B: &str = r#"{"type":"user","text":"b"}"#;
const SHOWN_A: &str = "user person.prompt: a";
const SHOWN_B: &str = "user person.prompt: b";

#[test]
fn both_records_of_a_line_without_a_newline_between_are_read() {
    let (events, outcome) = read(&Generic, "t.jsonl", format!("{A}{B}\n"));
    assert_eq!(show(&events), format!("{SHOWN_A}\n{SHOWN_B}\n"));
    assert_eq!((outcome.report.mended_lines, outcome.report.bad_lines), (1, 0));
}

#[test]
fn a_record_after_a_stub_is_saved() {
    for stub in [r#"{"type":"user","text":"lo"#, r#"{"type":"us"#, "}]", r#"{"a":{"b":1},"c":"x"#] {
        let (events, outcome) = read(&Generic, "t.jsonl", format!("{stub}{A}\n{B}\n"));
        assert_eq!(show(&events), format!("{SHOWN_A}\n{SHOWN_B}\n"), "after {stub}");
        assert_eq!((outcome.report.mended_lines, outcome.report.bad_lines), (1, 0));
    }
}

#[test]
fn a_torn_line_in_the_middle_costs_only_itself() {
    let (events, outcome) =
        read(&Generic, "t.jsonl", format!("{A}\n{{\"type\":\"user\",\"te\n[1]\n7\n\"x\"\n{B}\n"));
    assert_eq!(show(&events), format!("{SHOWN_A}\n{SHOWN_B}\n"));
    assert_eq!((outcome.report.lines, outcome.report.bad_lines), (6, 4));
}

#[test]
fn marks_and_separators_of_other_systems_are_understood() {
    check(&Generic, "t.jsonl", &format!("\u{feff}{A}\r\n\r\n{B}\r\n"), &[SHOWN_A, SHOWN_B]);
    let text = "{\"type\":\"user\",\"text\":\"x\u{2028}y\u{2029}z\u{85}\"}\n";
    check(&Generic, "t.jsonl", text, &["user person.prompt: x\u{2028}y\u{2029}z"]);
}

#[test]
fn nul_bytes_of_a_power_loss_are_passed_over() {
    let (events, outcome) =
        read(&Generic, "t.jsonl", format!("{A}\n\0\0\0\0\n\0\0{B}\n\0\0\0\0\0\0"));
    assert_eq!(show(&events), format!("{SHOWN_A}\n{SHOWN_B}\n"));
    assert_eq!(outcome.report.bad_lines, 1);
    assert_eq!(outcome.report.torn_tail, Some(2 * A.len() as u64 + 9));
}

#[test]
fn bytes_that_are_no_text_are_replaced_and_counted() {
    let mut bytes = br#"{"type":"user","text":"x"#.to_vec();
    bytes.extend_from_slice(b"\xff\xfe\"}\n");
    let (events, outcome) = read(&Generic, "t.jsonl", bytes);
    assert_eq!(show(&events), "user person.prompt: x\u{fffd}\u{fffd}\n");
    assert_eq!(outcome.report.invalid_utf8, 1);
}

#[test]
fn an_unfinished_last_line_waits_for_the_next_read() {
    let (first, second) = B.split_at(12);
    let trace = TestTrace::new("t.jsonl", format!("{A}\n{first}"));
    let (events, outcome) = trace.read(&Generic, None);
    assert_eq!(show(&events), format!("{SHOWN_A}\n"));
    assert_eq!(outcome.report.torn_tail, Some(A.len() as u64 + 1));
    trace.append(format!("{second}\n").as_bytes());
    let (events, outcome) = trace.read(&Generic, outcome.watermark.as_ref());
    assert_eq!(show(&events), format!("{SHOWN_B}\n"));
    assert_eq!(outcome.began, Began::AtWatermark);
    assert_eq!(events[0].sequence, 1);
    assert_eq!(events[0].place, Position::Line { line: 2, offset: A.len() as u64 + 1 });
    assert_eq!(outcome.facts.counts.user, 2);
}

#[test]
fn a_whole_last_record_needs_no_newline() {
    let trace = TestTrace::new("t.jsonl", A);
    let (events, outcome) = trace.read(&Generic, None);
    assert_eq!(show(&events), format!("{SHOWN_A}\n"));
    trace.append(format!("\n{B}\n").as_bytes());
    let (events, _) = trace.read(&Generic, outcome.watermark.as_ref());
    assert_eq!(show(&events), format!("{SHOWN_B}\n"));
    assert_eq!(events[0].place, Position::Line { line: 2, offset: A.len() as u64 + 1 });
}

#[test]
fn a_rewritten_trace_is_read_anew() {
    let trace = TestTrace::new("t.jsonl", format!("{A}\n"));
    let (_, outcome) = trace.read(&Generic, None);
    let mark = outcome.watermark.unwrap();
    for content in [format!("{B}\n{A}\n"), String::new(), format!("{B}\n")] {
        trace.rewrite(content.as_bytes());
        let (events, outcome) = trace.read(&Generic, Some(&mark));
        assert_eq!(outcome.began, Began::Restarted);
        assert_eq!(events.len(), content.lines().count());
    }
    trace.rewrite(format!("{A}\n").as_bytes());
    let older = Watermark { version: 0, ..mark };
    assert_eq!(trace.read(&Generic, Some(&older)).1.began, Began::Restarted);
}

#[test]
fn a_watermark_survives_being_stored() {
    let trace = TestTrace::new("t.jsonl", format!("{A}\n"));
    let mark = trace.read(&Generic, None).1.watermark.unwrap();
    let stored = serde_json::to_string(&mark).unwrap();
    assert_eq!(serde_json::from_str::<Watermark>(&stored).unwrap(), mark);
}

#[test]
fn every_record_comes_once_however_the_trace_grows() {
    let whole: String = (0..40)
        .map(|n| format!("{{\"type\":\"user\",\"text\":\"{n} é 😀 {}\"}}\n", "x".repeat(n)))
        .collect();
    let expected = show(&read(&Generic, "t.jsonl", &whole).0);
    for step in [1, 2, 3, 7, 64, 501] {
        let trace = TestTrace::new("t.jsonl", "");
        let mut mark: Option<Watermark> = None;
        let mut shown = String::new();
        let mut next_sequence = 0;
        for piece in whole.as_bytes().chunks(step) {
            trace.append(piece);
            let (events, outcome) = trace.read(&Generic, mark.as_ref());
            for event in &events {
                assert_eq!(event.sequence, next_sequence);
                next_sequence += 1;
            }
            shown.push_str(&show(&events));
            mark = outcome.watermark;
        }
        assert_eq!(shown, expected, "in steps of {step} bytes");
    }
}

#[test]
fn a_compressed_trace_is_read_like_a_plain_one() {
    let plain = format!("{A}\n{B}\n");
    let packed = ruzstd::encoding::compress_to_vec(
        plain.as_bytes(),
        ruzstd::encoding::CompressionLevel::Fastest,
    );
    let (events, outcome) = read(&Generic, "t.jsonl.zst", &packed);
    assert_eq!(show(&events), format!("{SHOWN_A}\n{SHOWN_B}\n"));
    assert_eq!(outcome.watermark, None);
    // A damaged frame is not an error, and the data before the damage is still read.
    for length in 4..packed.len() {
        let trace = TestTrace::new("t.jsonl.zst", &packed[..length]);
        let source = crate::transcript::TraceSource {
            agent: crate::transcript::Agent::Generic,
            path: trace.path.clone(),
            stamp: stamp(&std::fs::metadata(&trace.path).unwrap()),
        };
        let trace = crate::transcript::Trace::whole(source);
        let mut n_events = 0;
        let _ = crate::transcript::Adapter::read(
            &Generic,
            &trace,
            None,
            Sink::everything(&mut |_| n_events += 1),
        );
        assert!(n_events <= 2);
    }
}

#[test]
fn a_line_with_a_large_picture_is_read_whole() {
    let picture = "A".repeat(12 * 1024 * 1024);
    let line = format!("{{\"type\":\"user\",\"picture\":\"{picture}\",\"text\":\"look\"}}\n{A}\n");
    let (events, outcome) = read(&Generic, "t.jsonl", line);
    assert_eq!(show(&events), format!("user person.prompt: look\n{SHOWN_A}\n"));
    assert_eq!((outcome.report.long_lines, outcome.report.bad_lines), (0, 0));
    let said = format!("{{\"type\":\"assistant\",\"text\":\"{picture}\"}}\n");
    let (events, outcome) = read(&Generic, "t.jsonl", said);
    assert_eq!(outcome.report.cut_texts, 1);
    let full = events[0].text.full_bytes();
    assert!((picture.len() as u64..picture.len() as u64 + 100).contains(&full), "{full}");
}

/// Compresses blocks that each repeat one byte 128 KiB times.
fn packed_blanks(n_blocks: usize) -> Vec<u8> {
    let block = |kind: u32, size: u32, is_last: bool| {
        (u32::from(is_last) | kind << 1 | size << 3).to_le_bytes()[..3].to_vec()
    };
    let mut packed = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x38];
    for _ in 0..n_blocks {
        packed.extend(block(1, 128 * 1024, false));
        packed.push(b' ');
    }
    packed.extend(block(0, 1, true));
    packed.push(b'\n');
    packed
}

fn try_read(path: &Path) -> Result<ReadOutcome> {
    let source = crate::transcript::TraceSource {
        agent: crate::transcript::Agent::Generic,
        path: path.to_owned(),
        stamp: stamp(&std::fs::metadata(path).unwrap()),
    };
    let trace = crate::transcript::Trace::whole(source);
    crate::transcript::Adapter::read(&Generic, &trace, None, Sink::everything(&mut |_| {}))
}

#[test]
fn a_packed_trace_that_becomes_far_longer_is_refused() {
    // A small compressed trace must not expand to more than 16 MiB.
    let n_blocks = 128;
    let small = TestTrace::new("t.jsonl.zst", packed_blanks(n_blocks - 1));
    assert!(try_read(&small.path).is_ok());
    let large = TestTrace::new("t.jsonl.zst", packed_blanks(n_blocks + 1));
    let error = try_read(&large.path).unwrap_err();
    assert!(matches!(error, Error::TooLarge { .. }), "{error:?}");
}

#[test]
fn what_all_packed_traces_become_is_bounded_in_a_sync() {
    let trace = TestTrace::new("t.jsonl.zst", packed_blanks(4));
    let sync = crate::transcript::SyncBudget::of(std::time::Duration::MAX, 1);
    assert!(try_read(&trace.path).is_ok());
    let error = try_read(&trace.path).unwrap_err();
    assert!(matches!(error, Error::LeftOut { .. }), "{error:?}");
    drop(sync);
    assert!(try_read(&trace.path).is_ok());
}
