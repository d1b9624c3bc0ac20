//! Tests with tables of dishonest and honest sentences.
//!
//! The tables in `tests/fixtures/proof/` contain a dishonest model's attempts, honest paraphrases
//! of the same memories, and sentences that reuse a source's words with the roles swapped.

use std::collections::BTreeMap;

use super::*;

const SOURCES: &str = include_str!("../../../../tests/fixtures/proof/sources.txt");
const CHEATS: &str = include_str!("../../../../tests/fixtures/proof/cheats.txt");
const HONEST: &str = include_str!("../../../../tests/fixtures/proof/honest.txt");

const TWISTED: &str = include_str!("../../../../tests/fixtures/proof/twisted.txt");

// The checks were not tuned on these.
const HELD_OUT_CHEATS: &str = include_str!("../../../../tests/fixtures/proof/held_out_cheats.txt");
const HELD_OUT_HONEST: &str = include_str!("../../../../tests/fixtures/proof/held_out_honest.txt");

struct Shelf {
    world: World,
    ids: BTreeMap<String, String>,
}

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
    /// Returns the answer in a row of the table, with the bracketed keys replaced by IDs.
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

/// Returns how many of the rows are shown, and how many of these as verified.
fn count(rows: &str) -> (usize, usize) {
    let shelf = shelf();
    let rows = rows.lines().map(|row| row.split_once(" | ").map_or(row, |(_, row)| row));
    let said: Vec<Said> = rows.flat_map(|row| shelf.answer(row).said).collect();
    (said.len(), said.iter().filter(|said| said.is_verified).count())
}

/// The counts are the measured result, so that regressions are detected. Comparing words cannot
/// detect every false sentence, so the sources are shown, too.
#[test]
fn most_dishonest_sentences_are_dropped_or_marked() {
    let tables = [CHEATS, TWISTED, HONEST, HELD_OUT_CHEATS, HELD_OUT_HONEST];
    let counts = tables.map(|rows| {
        let (n_shown, n_verified) = count(rows);
        format!("{} rows: {n_shown} shown, {n_verified} of them verified", rows.lines().count())
    });
    insta::assert_snapshot!(counts.join("\n"), @"
    99 rows: 93 shown, 3 of them verified
    19 rows: 19 shown, 5 of them verified
    60 rows: 60 shown, 47 of them verified
    30 rows: 30 shown, 3 of them verified
    25 rows: 25 shown, 18 of them verified
    ");
}

#[test]
fn no_honest_sentence_is_lost() {
    let shelf = shelf();
    for row in HONEST.lines() {
        let answer = shelf.answer(row);
        assert_eq!(answer.n_left_out(), 0, "{row}: {:?}", answer.doubts);
        let key = row.rsplit('[').next().unwrap().trim_end_matches(['.', ']']);
        assert!(answer.text().contains(&shelf.ids[key]), "{row}: {}", answer.text());
    }
}
