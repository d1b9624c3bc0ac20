//! The four lanes find what one plain automaton finds, byte by byte.

use aho_corasick::AhoCorasick;
use proptest::prelude::*;

use super::super::automaton::{Automaton, Hit};
use super::super::finding::{FoundSecret, merge};
use super::super::prefix;
use super::super::scan::{self, Search};
use super::super::text::Text;
use super::corpus::{Dice, KINDS, PLACES};
use super::json::tangle;

/// Every place where words end, by an automaton that is not ours.
fn plain_hits(words: &[&str], text: &str) -> Vec<(usize, Vec<u16>)> {
    let plain = AhoCorasick::new(words).unwrap();
    let mut hits: Vec<(usize, Vec<u16>)> = Vec::new();
    for found in plain.find_overlapping_iter(text) {
        let word = found.pattern().as_usize() as u16;
        match hits.last_mut() {
            Some((end, words)) if *end == found.end() => words.push(word),
            Some(_) | None => hits.push((found.end(), vec![word])),
        }
    }
    hits
}

fn lane_hits(words: &[&str], text: &str) -> Vec<(usize, Vec<u16>)> {
    let mut hits = Vec::new();
    Automaton::new(words).each_hit(text.as_bytes(), &(0..text.len()), |hit| {
        hits.push((hit.end, hit.words.to_vec()));
    });
    hits
}

/// The findings of a scan whose hits come from the plain automaton.
fn plain_scan(text: &str) -> Vec<FoundSecret> {
    let words: Vec<&str> = scan::words().collect();
    let mut search = Search::new(Text::new(text));
    let mut found = Vec::new();
    for (end, words) in plain_hits(&words, text) {
        search.take(Hit { end, words: &words }, &mut found);
    }
    let whole = 0..text.len();
    scan::find_foreign(&mut search.text, std::slice::from_ref(&whole), &mut found);
    prefix::find(&mut search.text, &[whole], &mut found);
    merge(found)
}

#[test]
fn words_that_meet_the_edge_of_a_lane_are_found() {
    let words = ["ab", "b", "abcabcabcabc", "ca"];
    for len in [0, 1, 255, 256, 1023, 4096, 16_384, 16_385, 40_000] {
        for shift in 0..3 {
            let text: String = "abc".chars().cycle().skip(shift).take(len).collect();
            assert_eq!(lane_hits(&words, &text), plain_hits(&words, &text), "{len} {shift}");
        }
    }
}

/// Long enough for several blocks of lanes, with secrets at any distance from their edges.
fn long_text() -> impl Strategy<Value = String> {
    prop::collection::vec((tangle(), 0..1500_usize, 0..KINDS.len(), 0..PLACES.len()), 1..30)
        .prop_map(|parts| {
            let mut text = String::new();
            for (idx, (tangle, n_filler, kind, place)) in parts.into_iter().enumerate() {
                let sample = KINDS[kind].sample(&mut Dice::new(idx as u64));
                text.push_str(&"the path of a filler. ".repeat(n_filler / 22));
                text.push_str(&PLACES[place].write(&KINDS[kind], &sample));
                text.push_str(&tangle);
            }
            text
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn lanes_find_what_one_plain_automaton_finds(text in long_text()) {
        prop_assert_eq!(scan::scan_decoded(&text, 0), plain_scan(&text));
    }

    #[test]
    fn any_words_are_found_in_any_text(
        words in prop::collection::btree_set("[ab\u{e9}]{1,9}", 1..12),
        text in "[ab\u{e9}c]{0,3000}",
    ) {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        prop_assert_eq!(lane_hits(&words, &text), plain_hits(&words, &text));
    }

    #[test]
    fn without_a_table_the_same_anchors_are_found(
        text in long_text(), other in "[\\PC\t\r\n\u{1b}\u{7}]{0,400}", from in 0..40_usize,
    ) {
        let words: Vec<&str> = scan::words().collect();
        let text = text + &other;
        let part = text.floor_char_boundary(from)..text.floor_char_boundary(text.len() / 2);
        let (mut few, mut lanes) = (Vec::new(), Vec::new());
        let is_ascii = scan::each_hit_small(text.as_bytes(), &part, |hit| few.push((hit.end, hit.words.to_vec())));
        let also = Automaton::new(&words).each_hit(text.as_bytes(), &part, |hit| lanes.push((hit.end, hit.words.to_vec())));
        prop_assert_eq!((few, is_ascii), (lanes, also));
    }
}
