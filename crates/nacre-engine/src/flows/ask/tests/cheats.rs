//! The tables of sentences that cheat and of sentences that do not.
//!
//! `tests/fixtures/proof/` has them: what a dishonest model tried, honest paraphrases of the same memories, and sentences of
//! the source's own words whose roles are exchanged.

use std::collections::BTreeMap;

use super::*;

const SOURCES: &str = include_str!("../../../../tests/fixtures/proof/sources.txt");
const CHEATS: &str = include_str!("../../../../tests/fixtures/proof/cheats.txt");
const HONEST: &str = include_str!("../../../../tests/fixtures/proof/honest.txt");

const TWISTED: &str = include_str!("../../../../tests/fixtures/proof/twisted.txt");

/// At most this share of the honest sentences may be lost.
const MAX_LOST: f32 = 0.1;

/// What is true in a row that mixes true and false sentences.
const TRUE_REST: &str = "hooks have 200 ms";

struct Shelf {
    world: World,
    ids: BTreeMap<String, String>,
}

/// A store with all sources.
fn shelf() -> Shelf {
    let world = world();
    let store = &world.stores[0].store;
    let owner = Owner { pid: 1, command: "test".to_owned(), since: String::new() };
    let mut batch = store.begin(&owner, Duration::ZERO).unwrap();
    let mut ids = BTreeMap::new();
    for row in SOURCES.lines() {
        let [key, title, body]: [&str; 3] =
            row.splitn(3, " | ").collect::<Vec<_>>().try_into().unwrap();
        let id = batch.add(&draft(title, body), now()).unwrap().to_string();
        world.seen.note(&id, &format!("{title}\n{body}"));
        ids.insert(key.to_owned(), id);
    }
    batch.commit().unwrap();
    Shelf { world, ids }
}

impl Shelf {
    /// The answer to a row, with the keys in brackets as ids.
    fn answer(&self, row: &str) -> Answer {
        let mut text = row.to_owned();
        for (key, id) in &self.ids {
            for end in ["]", "-", ","] {
                text = text.replace(&format!("[{key}{end}"), &format!("[{id}{end}"));
            }
        }
        self.world.answer(&text)
    }
}

#[test]
fn no_sentence_of_the_cheats_passes() {
    let shelf = shelf();
    let mut kinds = std::collections::BTreeSet::new();
    let mut passed = Vec::new();
    for row in CHEATS.lines() {
        let (kind, sentence) = row.split_once(" | ").unwrap();
        kinds.insert(kind.parse::<u32>().unwrap());
        let answer = shelf.answer(sentence);
        let is_true =
            |said: &Said| said.text.to_lowercase().trim_start_matches('"').starts_with(TRUE_REST);
        if answer.n_left_out() == 0 || !answer.said.iter().all(is_true) {
            passed.push(sentence);
        }
    }
    assert!(CHEATS.lines().count() >= 40 && kinds.len() == 14, "{kinds:?}");
    assert!(passed.is_empty(), "passed: {passed:#?}");
}

#[test]
fn nearly_all_honest_sentences_pass() {
    let shelf = shelf();
    let mut lost = Vec::new();
    for row in HONEST.lines() {
        let answer = shelf.answer(row);
        if answer.n_left_out() != 0 {
            lost.push((row, answer.doubts));
        }
    }
    let n = HONEST.lines().count();
    assert!(n >= 40);
    assert!(lost.len() as f32 <= n as f32 * MAX_LOST, "{} of {n} lost: {lost:#?}", lost.len());
}

/// Sentences of the source's own words with their roles exchanged. Words cannot decide them, so the words of the source
/// stand in their place.
#[test]
fn what_is_twisted_is_shown_in_the_words_of_its_source() {
    let shelf = shelf();
    for row in TWISTED.lines().chain(HONEST.lines()) {
        for said in shelf.answer(row).said {
            let is_told = |quote: &SourceQuote| said.text.contains(quote.text.trim());
            let is_source = said.wording == Wording::Source && said.quotes.iter().all(is_told);
            assert!(is_source || HONEST.contains(row), "{row}");
            let is_whole = SOURCES.contains(&said.quotes[0].text);
            assert!(!said.quotes.is_empty() && is_whole, "{row}: {:?}", said.quotes);
        }
    }
}

#[test]
fn a_sentence_comes_with_the_words_of_its_source() {
    let shelf = shelf();
    let answer =
        shelf.answer("500 ms was refused because Claude Code users noticed the delay [hooks].");
    let quotes: Vec<&str> = answer.said[0].quotes.iter().map(|quote| quote.text.as_str()).collect();
    assert_eq!(quotes, ["500 ms was refused because Claude Code users noticed the delay."]);
}
