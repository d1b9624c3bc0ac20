//! Tests redaction of text that is displayed while it is generated: no piece contains a secret, and
//! the pieces add up to the redacted text.

use proptest::prelude::*;

use super::corpus::{Dice, KINDS, PLACES};
use super::survives;
use super::{ExtraWords, LiveRedactor, LiveText, redact};

#[derive(Default)]
struct Sent {
    pieces: Vec<String>,
    whole: String,
    void: Vec<String>,
}

impl Sent {
    fn take(&mut self, text: LiveText) {
        match text {
            LiveText::Nothing => {}
            LiveText::More(more) => {
                self.whole.push_str(&more);
                self.pieces.push(more);
            }
            LiveText::Instead(whole) => {
                self.void.push(std::mem::replace(&mut self.whole, whole.clone()));
                self.pieces.push(whole);
            }
        }
    }
}

fn send(text: &str, words: &ExtraWords, mut next: impl FnMut() -> usize) -> Sent {
    let mut redactor = LiveRedactor::new(words.clone());
    let mut sent = Sent::default();
    let mut rest = text;
    while !rest.is_empty() {
        let (piece, tail) = rest.split_at(rest.ceil_char_boundary(next().max(1).min(rest.len())));
        redactor.push(piece);
        sent.take(redactor.ready());
        rest = tail;
    }
    sent.take(redactor.finish());
    sent
}

const BEFORE: &str = "I looked at the folder and found what you asked for. The tests pass now, and nothing else changed.\n\n";
const AFTER: &str = "\n\nThat is all that there is to say about it. The rest of the project does not use it at all, so \
                     you can leave it where it is. If you want me to take it out, tell me, and I will do that next.\n";

#[test]
fn secrets_of_every_form_stand_in_no_piece_however_the_text_is_cut() {
    let (mut n_texts, mut n_again, mut leaks) = (0, 0, Vec::new());
    for (idx, kind) in KINDS.iter().enumerate() {
        let mut dice = Dice::new(idx as u64 + 1);
        for place in PLACES {
            let sample = kind.sample(&mut dice);
            let text = format!("{BEFORE}{}{AFTER}", place.write(kind, &sample));
            let expected = redact(&text).into_owned();
            let most = [1, 4, 9, 40][dice.below(4)];
            let sent = send(&text, &ExtraWords::default(), || 1 + dice.below(most));
            assert_eq!(sent.whole, expected, "{} in {}", kind.label, place.label);
            let secret = place.spell(&sample.secret);
            let is_known = !survives(&secret, &expected);
            // Two consecutive pieces must not form a secret either.
            let mut told = sent.pieces.iter().chain(&sent.void);
            if is_known && told.any(|piece| survives(&secret, piece)) {
                leaks.push(format!("{} in {}: {text}", kind.label, place.label));
            }
            n_texts += 1;
            n_again += sent.void.len();
        }
    }
    assert!(leaks.is_empty(), "{} of {n_texts}:\n{}", leaks.len(), leaks.join("\n"));
    // Later words rarely change what earlier ones redact to, such as the kind of a secret.
    assert!(n_again * 200 <= n_texts, "{n_again} of {n_texts} were told again");
}

#[test]
fn prose_is_not_held_back_for_longer_than_a_word() {
    let mut redactor = LiveRedactor::default();
    let mut sent = Sent::default();
    let mut most = 0;
    for (n_bytes, piece) in BEFORE.split_inclusive(' ').scan(0, |n, piece| {
        *n += piece.len();
        Some((*n, piece))
    }) {
        redactor.push(piece);
        sent.take(redactor.ready());
        most = most.max(n_bytes - sent.whole.len());
    }
    assert!(most < 24, "{most} bytes were held back");
}

#[test]
fn words_of_the_persons_own_list_stand_in_no_piece() {
    let words = ExtraWords::new(&["Project Falcon".to_owned(), "hush".to_owned()]);
    let text = format!("{BEFORE}We call it Project Falcon here, and hush about it.{AFTER}");
    for most in [1, 3, 20] {
        let mut dice = Dice::new(most as u64);
        let sent = send(&text, &words, || 1 + dice.below(most));
        assert_eq!(sent.whole, words.redact(&text));
        let all = sent.pieces.concat();
        assert!(!all.contains("Falcon") && !all.contains("hush") && sent.void.is_empty(), "{all}");
    }
}

#[test]
fn what_has_no_end_is_bounded() {
    let mut redactor = LiveRedactor::default();
    let mut n_out = 0;
    for n_in in 1..=300_usize {
        redactor.push(&"a1".repeat(512));
        if let LiveText::More(more) = redactor.ready() {
            n_out += more.len();
        }
        assert!(n_in * 1024 - n_out <= 8192, "{n_in} KiB in, {n_out} bytes out");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_in_any_pieces_is_the_redacted_whole(
        text in "([a-zA-Z0-9 =:.'\"\\n-]|password|token|sk-|ghp_|Bearer ){0,400}",
        cuts in prop::collection::vec(1..40_usize, 1..8),
    ) {
        let mut cuts = cuts.into_iter().cycle();
        let sent = send(&text, &ExtraWords::default(), || cuts.next().unwrap_or(1));
        prop_assert_eq!(sent.whole, redact(&text));
    }
}
