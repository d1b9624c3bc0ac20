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

/// Only whole memories are shown, whatever a model writes.
#[test]
fn nothing_but_memories_is_shown() {
    let shelf = shelf();
    let whole: Vec<String> = SOURCES
        .lines()
        .map(|row| {
            let [key, title, body]: [&str; 3] =
                row.splitn(3, " | ").collect::<Vec<_>>().try_into().unwrap();
            format!("\"{title}: {body}\" [{}]", shelf.ids[key])
        })
        .collect();
    let cheats = CHEATS.lines().map(|row| row.split_once(" | ").unwrap().1);
    let rows: Vec<&str> = cheats.chain(TWISTED.lines()).chain(HONEST.lines()).collect();
    assert!(rows.len() >= 150, "{}", rows.len());
    for row in rows {
        for said in shelf.answer(row).said {
            let mut rest = said.text.clone();
            whole.iter().for_each(|memory| rest = rest.replace(memory, ""));
            assert!(!rest.contains(char::is_alphanumeric), "{row}: {}", said.text);
        }
    }
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
