//! Squeezed texts stay JSON, keep the ends of their strings and know what they lost.

use proptest::prelude::*;

use super::*;

fn squeezed(text: &str, limit: usize) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let length = squeeze(&mut bytes, limit);
    bytes.truncate(length);
    String::from_utf8(bytes).unwrap()
}

#[test]
fn short_strings_stay_as_they_are() {
    let text = r#"{"a":"b\"c","d":["é",1,null]}"#;
    assert_eq!(squeezed(text, 64), text);
}

#[test]
fn a_long_string_loses_its_middle() {
    let text = format!(r#"{{"a":"{}","b":"kept"}}"#, "x".repeat(1000));
    let short = squeezed(&text, 80);
    let expected = format!(
        r#"{{"a":"{}[... 920 bytes cut ...]{}","b":"kept"}}"#,
        "x".repeat(60),
        "x".repeat(20)
    );
    assert_eq!(short, expected);
    assert_eq!(marked_bytes(short.as_bytes()), 920);
}

#[test]
fn an_unfinished_string_can_be_squeezed_again_and_again() {
    let mut bytes = b"{\"a\":\"".to_vec();
    for _ in 0..20 {
        bytes.extend_from_slice("y".repeat(500).as_bytes());
        let length = squeeze(&mut bytes, 80);
        bytes.truncate(length);
        assert!(bytes.len() < 200);
    }
    bytes.extend_from_slice(b"\"}");
    let value: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
    let text = value["a"].as_str().unwrap();
    let kept = text.bytes().filter(|byte| *byte == b'y').count() as u64;
    // The word "bytes" of the mark has one more.
    let kept = kept - text.matches("bytes cut").count() as u64;
    // Marks that were cut out later are themselves among the bytes that were lost.
    assert!((10_000..11_000).contains(&(kept + marked_bytes(text.as_bytes()))));
}

proptest! {
    #[test]
    fn squeezed_json_is_json(strings in prop::collection::vec("([a-z]{0,40}|[\"\\\\\n]|é|😀|\u{1}){0,60}", 0..6), limit in 64_usize..200) {
        let text = serde_json::to_string(&strings).unwrap();
        let short = squeezed(&text, limit);
        let read: Vec<String> = serde_json::from_str(&short).unwrap();
        prop_assert_eq!(read.len(), strings.len());
        for (read, whole) in read.iter().zip(&strings) {
            let written = serde_json::to_string(whole).unwrap().len() - 2;
            if written <= limit {
                prop_assert_eq!(read, whole);
            } else {
                let first: String = whole.chars().take(4).collect();
                prop_assert!(read.starts_with(&first));
            }
        }
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..600), limit in 64_usize..200) {
        let mut copy = bytes.clone();
        let length = squeeze(&mut copy, limit);
        prop_assert!(length <= bytes.len());
    }
}

#[test]
fn no_word_that_may_be_a_secret_is_halved() {
    let word = "abc123def456".repeat(4);
    let text = format!(r#"{{"a":"{}"}}"#, format!("{word}\\n{word} ").repeat(40));
    for limit in 64..160 {
        let short = squeezed(&text, limit);
        let value: serde_json::Value = serde_json::from_str(&short).unwrap();
        let kept = value["a"].as_str().unwrap();
        let (head, tail) = kept.split_once("[...").unwrap();
        let tail = tail.split_once("...]").unwrap().1;
        // A part without a digit is too short to be told from a word of prose.
        let is_whole =
            |part: &str| part.split_whitespace().all(|found| found == word || found.len() < 4);
        assert!(is_whole(head) && is_whole(tail), "{limit}: {kept}");
    }
}
