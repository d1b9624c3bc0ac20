//! Tests that the user's own words are redacted in all their forms without damaging the text around
//! them.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::ExtraWords;
use super::corpus::{Dice, KINDS};

fn words(words: &[&str]) -> ExtraWords {
    ExtraWords::new(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
}

#[test]
fn own_words_go_and_so_do_secrets() {
    let github = KINDS.iter().find(|kind| kind.label == "github-classic").unwrap();
    let secret = github.sample(&mut Dice::new(3)).text;
    let text = format!("Project Oyster uses {secret}, project oyster does not");
    let clean = words(&["Project Oyster"]).redact_counted(&text);
    assert_eq!(
        clean.text,
        "[redacted:extra] uses [redacted:github-token], project oyster does not"
    );
    assert_eq!(clean.hits.into_iter().collect::<Vec<_>>(), [("extra", 1), ("github-token", 1)]);
    let without = words(&[]).redact("Project Oyster").into_owned();
    assert_eq!(without, "Project Oyster");
}

#[test]
fn the_longest_of_several_words_wins() {
    let list = words(&["Oyster", "Project Oyster", "Project Oyster GmbH", ""]);
    assert_eq!(list.redact("Project Oyster GmbH, Oyster"), "[redacted:extra], [redacted:extra]");
}

#[test]
fn a_word_that_holds_a_secret_goes_with_it() {
    let github = KINDS.iter().find(|kind| kind.label == "github-classic").unwrap();
    let secret = github.sample(&mut Dice::new(3)).text;
    let list = words(&[&format!("Oyster:{secret}:Pearl"), &secret[8..16]]);
    assert_eq!(list.redact(&format!("a Oyster:{secret}:Pearl b")), "a [redacted:github-token] b");
    assert_eq!(list.redact(&format!("a {secret} b")), "a [redacted:github-token] b");
}

#[test]
fn placeholders_are_not_searched_for_own_words() {
    let list = words(&["redacted", "token", "extra", "[redacted:"]);
    let once = list.redact("a token, [redacted:token] and [redacted:github-token]").into_owned();
    assert_eq!(once, "a [redacted:extra], [redacted:token] and [redacted:github-token]");
    assert_eq!(list.redact(&once), once);
}

#[test]
fn own_words_are_found_as_json_writes_them() {
    let list = words(&["say \"hi\" now", "C:\\oyster\\pearl", "Müller & Söhne", "a/b/oyster"]);
    for (text, expected) in [
        (r#"{"t":"say \"hi\" now"}"#, r#"{"t":"[redacted:extra]"}"#),
        (r#"{"t":"{\"u\":\"say \\\"hi\\\" now\"}"}"#, r#"{"t":"{\"u\":\"[redacted:extra]\"}"}"#),
        (r#"{"t":"C:\\oyster\\pearl"}"#, r#"{"t":"[redacted:extra]"}"#),
        (r"C:\oyster\pearl", "[redacted:extra]"),
        (r#"{"t":"M\u00fcller & S\u00F6hne"}"#, r#"{"t":"M\u00fcller & S\u00F6hne"}"#),
        (r#"{"t":"M\u00fcller & S\u00f6hne"}"#, r#"{"t":"[redacted:extra]"}"#),
        (r#"{"t":"M\u00FCller & S\u00F6hne"}"#, r#"{"t":"[redacted:extra]"}"#),
        (r#"{"t":"Müller \u0026 Söhne"}"#, r#"{"t":"[redacted:extra]"}"#),
        (r#"{"t":"a\/b\/oyster"}"#, r#"{"t":"[redacted:extra]"}"#),
    ] {
        assert_eq!(list.redact(text), expected, "{text}");
    }
}

#[test]
fn no_escape_is_cut_by_an_own_word() {
    let list =
        words(&["nacre", "beef", "ud83d", "de00", "dir\\", "\"quoted", "a\":\"b", "1234", "true"]);
    for (text, expected) in [
        (r#"{"t":"x\nacre"}"#, r#"{"t":"x[redacted:extra]"}"#),
        (r#"{"t":"{\"u\":\"x\\nacre\"}"}"#, r#"{"t":"{\"u\":\"x[redacted:extra]\"}"}"#),
        (r#"{"t":"x\ubeefy"}"#, r#"{"t":"x[redacted:extra]y"}"#),
        (r#"{"t":"x\ud83d\ude00y"}"#, r#"{"t":"x[redacted:extra]y"}"#),
        (r#"{"t":"dir\\"}"#, r#"{"t":"[redacted:extra]\\"}"#),
        (r#"{"t":"dir\"x"}"#, r#"{"t":"[redacted:extra]\"x"}"#),
        (r#"{"quoted":1}"#, r#"{"[redacted:extra]":1}"#),
        (r#"{"a":"b"}"#, r#"{"a":"b"}"#),
        (r#"{"id":99123456,"at":"x"}"#, r#"{"id":"[redacted:extra]","at":"x"}"#),
        (
            r#"[123456, true, "1234"]"#,
            r#"["[redacted:extra]", "[redacted:extra]", "[redacted:extra]"]"#,
        ),
        ("1234 is true", "[redacted:extra] is [redacted:extra]"),
        ("1\n{\"a\":\"b\"}\n", "1\n{\"a\":\"b\"}\n"),
        (r#"it is a":"b"#, "it is [redacted:extra]"),
    ] {
        assert_eq!(list.redact(text), expected, "{text}");
    }
}

#[test]
fn own_words_are_found_as_escapes_and_in_color() {
    let list = words(&["Project Oyster"]);
    assert_eq!(list.redact("on Project \u{1b}[1mOyster."), "on [redacted:extra].");
    assert_eq!(list.redact(r#"{"t":"Project\u0020Oyster"}"#), r#"{"t":"[redacted:extra]"}"#);
}

#[test]
fn the_fingerprint_follows_the_list_and_not_its_order() {
    let of = |list: &[&str]| words(list).fingerprint();
    assert_eq!(of(&["pearl", "oyster"]), of(&["oyster", "pearl", "", "pearl"]));
    assert_ne!(of(&["pearl", "oyster"]), of(&["pearl"]));
    assert_ne!(of(&["pearloyster"]), of(&["pearl", "oyster"]));
    assert_eq!(of(&[]), of(&[""]));
    assert!(words(&[""]).is_empty() && !words(&["pearl"]).is_empty());
    assert_eq!(format!("{:?}", words(&["pearl"])), "ExtraWords { n_words: 1, .. }");
}

/// Generates short strings from characters used in escape sequences, and documents that contain
/// them.
fn crumbs(n: usize) -> impl Strategy<Value = String> {
    let crumb = prop::sample::select(vec![
        "\\",
        "\"",
        "n",
        "u",
        "1",
        "inner",
        "00",
        "d83d",
        "é",
        "\u{1f600}",
        "\n",
        "a",
        ":",
        ",",
        "{",
        "}",
        "/",
    ]);
    prop::collection::vec(crumb, 1..n).prop_map(|crumbs| crumbs.concat())
}

fn documents() -> impl Strategy<Value = (Value, Value)> {
    let pair = (crumbs(12), crumbs(12));
    pair.prop_map(|(one, two)| {
        let inner = json!({ "k": one, "l": [two] });
        (json!({ "t": one, "u": two, "list": [1, one] }), json!({ "inner": inner.to_string() }))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2048, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn json_stays_valid_whatever_the_words_are(
        list in prop::collection::vec(crumbs(5), 1..4),
        (flat, nested) in documents(),
    ) {
        let list = ExtraWords::new(&list);
        let ascii = flat.to_string().replace('é', "\\u00e9").replace('\u{1f600}', "\\ud83d\\ude00");
        for text in [flat.to_string(), nested.to_string(), ascii] {
            let clean = list.redact(&text);
            let is_valid = serde_json::from_str::<Value>(&clean).is_ok();
            prop_assert!(is_valid, "{} became {}", text, clean);
        }
    }
}
