//! Any input is survived, in linear time, and redacting twice is redacting once.

use proptest::prelude::*;

use super::super::corpus::{Dice, KINDS};
use super::super::{Redactor, redact};
use super::json::tangle;

fn in_pieces(text: &str, cuts: &[usize]) -> String {
    let mut redactor = Redactor::new();
    let mut clean = String::new();
    let mut rest = text;
    for cut in cuts {
        let (piece, tail) = rest.split_at(rest.floor_char_boundary(*cut));
        redactor.push(piece, &mut clean);
        rest = tail;
    }
    redactor.push(rest, &mut clean);
    redactor.finish(&mut clean);
    clean
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2048, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn redacting_twice_is_redacting_once(text in tangle()) {
        let once = redact(&text).into_owned();
        prop_assert_eq!(redact(&once), once.as_str());
    }

    #[test]
    fn any_string_is_survived(text in any::<String>(), cuts in prop::collection::vec(0..64_usize, 0..8)) {
        prop_assert_eq!(in_pieces(&text, &cuts), redact(&text));
    }
}

#[test]
fn a_key_that_never_ends_is_dropped_to_the_end() {
    let kind = KINDS.iter().find(|kind| kind.label == "pem-cut").unwrap();
    let mut dice = Dice::new(9);
    let mut text = kind.sample(&mut dice).text;
    let other = kind.sample(&mut dice).secret;
    for _ in 0..2_000 {
        text.push('\n');
        text.push_str(&other);
    }
    let clean = in_pieces(&format!("{text}\nafter the key\n"), &[10_000; 60]);
    assert_eq!(clean, "[redacted:private-key]\nafter the key\n");
}
