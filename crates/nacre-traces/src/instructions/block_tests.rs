//! Property tests that Nacre's block can be written and removed without changing the text around
//! it.

use proptest::prelude::*;

use super::block::{BEGIN, BlockFault, END, blank_out, find, put, take_out};

const TEXT: &str = "Remembered here.\n\n- Use tabs [20260101-use-tabs]";

fn edited(file: &[u8]) -> bool {
    find(file).unwrap().unwrap().is_edited()
}

#[test]
fn a_block_comes_at_the_end_and_its_file_goes_with_it() {
    let made = put(None, TEXT).unwrap();
    let shown = String::from_utf8(made.clone()).unwrap();
    assert!(shown.starts_with("<!-- nacre:begin ") && shown.ends_with("<!-- nacre:end -->\n"));
    assert!(shown.contains(" made-file | Written by `nacre export --agents-md`;"), "{shown}");
    assert_eq!(take_out(&made).unwrap(), None);
    assert_eq!(take_out(&put(Some(b""), TEXT).unwrap()).unwrap(), Some(Vec::new()));
    let more = [made.as_slice(), b"Mine.\n"].concat();
    assert_eq!(take_out(&more).unwrap(), Some(b"Mine.\n".to_vec()), "a person's text stays");
}

#[test]
fn an_edit_between_the_marks_is_noticed_and_other_line_breaks_are_not() {
    let file = put(Some(b"# Rules\n"), TEXT).unwrap();
    assert!(!edited(&file));
    let text = String::from_utf8(file).unwrap();
    assert!(!edited(text.replace('\n', "\r\n").as_bytes()));
    assert!(!edited(text.replace("# Rules", "# Other rules").as_bytes()));
    assert!(edited(text.replace("tabs [", "spaces [").as_bytes()));
}

#[test]
fn broken_marks_are_left_alone() {
    let good = String::from_utf8(put(Some(b"# Rules\n"), TEXT).unwrap()).unwrap();
    for (file, fault) in [
        (good.replace(END, ""), BlockFault::Open { line: 3 }),
        (format!("{good}{good}"), BlockFault::Twice { line: 10 }),
        (good.replace(" breaks=1", ""), BlockFault::BadMark { line: 3 }),
        (good.replace(" breaks=1", " breaks=9"), BlockFault::BadMark { line: 3 }),
    ] {
        assert_eq!(find(file.as_bytes()), Err(fault), "{file}");
        assert_eq!(put(Some(file.as_bytes()), TEXT), Err(fault));
        assert_eq!(take_out(file.as_bytes()), Err(fault));
    }
    let quoted = format!("See `{BEGIN}` and {END}\n");
    assert_eq!(find(quoted.as_bytes()), Ok(None), "only marks at the start of a line count");
}

#[test]
fn a_text_cannot_end_its_block() {
    let file = put(None, &format!("one\n{END}\n{BEGIN} x\r\ntwo")).unwrap();
    assert!(!edited(&file));
    assert_eq!(take_out(&file).unwrap(), None);
}

#[test]
fn a_block_is_blanked_out_line_by_line() {
    let file = put(Some(b"# Rules\n"), TEXT).unwrap();
    let text = format!("{}- after\n", String::from_utf8(file).unwrap());
    let (clean, lines) = blank_out(&text);
    assert_eq!((clean.as_str(), lines), ("# Rules\n\n\n\n\n\n\n- after\n", vec![3]));
    let (clean, lines) = blank_out(&format!("a\n{BEGIN} x -->\nb\n"));
    assert_eq!((clean.as_str(), lines), ("a\n\n\n", vec![2]));
}

/// Generates arbitrary files with plenty of line breaks and markers.
fn any_file() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..8),
        Just(b"\r\n".to_vec()),
        Just(b"\n".to_vec()),
        Just(b"\r".to_vec()),
        Just(b"# Rules\n- Use tabs\n".to_vec()),
        Just(format!("{BEGIN} ").into_bytes()),
        Just(format!("\n{END}").into_bytes()),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn what_is_put_in_and_taken_out_leaves_the_same_bytes(file in any_file(), text in "[a-z<!\\-: \r\n]{0,60}") {
        let Ok(None) = find(&file) else { return Ok(()) };
        let with = put(Some(&file), &text).unwrap();
        prop_assert!(with.starts_with(&file));
        prop_assert!(!find(&with).unwrap().unwrap().is_edited());
        prop_assert_eq!(put(Some(&with), &text).unwrap(), with.clone(), "once more changes nothing");
        let other = put(Some(&with), "other").unwrap();
        for with in [with, other] {
            prop_assert_eq!(take_out(&with).unwrap(), Some(file.clone()));
        }
    }

    #[test]
    fn no_file_breaks_it(file in any_file()) {
        let _ = take_out(&file);
        let text = String::from_utf8_lossy(&file);
        let (clean, _) = blank_out(&text);
        prop_assert_eq!(clean.matches('\n').count(), text.matches('\n').count());
    }
}
