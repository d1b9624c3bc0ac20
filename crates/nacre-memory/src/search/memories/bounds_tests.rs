//! Tests the limits on how many untrusted memories one scan indexes.

#![expect(clippy::disallowed_methods, reason = "the tests play the person who edits files")]

use std::fs;

use super::tests::{World, later, owner};
use super::*;
use crate::Rules;
use nacre_base::fs::Access;

/// Scans once with the given budget. Returns how many memories were left out and how many are in
/// the index.
fn look(world: &World, budget: IndexBudget) -> (usize, usize) {
    let index = Index::new(place::open_or_create(&world.store), INDEX_NAME);
    let snapshot = index.load();
    let store = &world.store;
    let opening = Opening { store, index: &index, owner: Some(&owner()), now: later() };
    let (looked, n_left) = opening.update(snapshot, budget, &mut |_, _| {}).unwrap();
    // The next command reads the index from disk, so check the stored version too.
    assert_eq!(looked.n_records(), index.load().n_records());
    (n_left, looked.n_records())
}

fn world(n_memories: usize, body: &str) -> World {
    let world = World::new();
    for n in 0..n_memories {
        world.write(&format!("20260101-n{n:03}"), &format!("Number {n}"), "", body);
    }
    world
}

#[test]
fn what_one_look_leaves_is_counted_and_the_next_goes_on_from_there() {
    let world = world(40, "Text.");
    let budget = IndexBudget { n_files: 15, n_bytes: usize::MAX };
    let looks =
        [look(&world, budget), look(&world, budget), look(&world, budget), look(&world, budget)];
    assert_eq!(looks, [(25, 15), (10, 30), (0, 40), (0, 40)]);
    let index = MemoryIndex::open(&world.store, &owner(), later()).unwrap();
    assert_eq!((index.n_postponed(), index.snapshot().n_records()), (0, 40));
}

#[test]
fn the_bytes_of_one_look_are_bounded_too() {
    // Files are read 256 at a time, and all files that were read are indexed.
    let world = world(600, &"word ".repeat(20));
    let budget = IndexBudget { n_files: usize::MAX, n_bytes: 1_000 };
    assert_eq!([look(&world, budget), look(&world, budget)], [(344, 256), (88, 512)]);
    assert_eq!(look(&world, budget), (0, 600));
}

#[test]
fn an_index_that_waits_for_another_look_is_told_as_outdated() {
    let world = world(40, "Text.");
    look(&world, IndexBudget { n_files: 15, n_bytes: usize::MAX });
    let status = index_status(&world.store, later()).unwrap();
    assert_eq!((status.n_records, status.n_outdated), (15, 25));
}

#[test]
fn a_piece_is_small_whatever_is_left() {
    // Only 16 KiB of each 60 KB file is indexed, so 256 files are enough to fill one step.
    let world = world(600, &"word ".repeat(12_000));
    let survey = world.store.survey().unwrap();
    let look = Look { store: &world.store, survey: &survey, now: later(), alarm: None };
    let mut budget = IndexBudget::OF_ONE_LOOK;
    let (changes, n_left) = look.changes(&Snapshot::default(), &mut budget).unwrap();
    let n_units = changes.unwrap().units.len();
    assert_eq!((n_units, n_left), (256, 344), "4 MiB, in steps of 256 files");
}

#[test]
fn a_memory_is_found_by_its_first_page_alone() {
    let world = World::new();
    let body = format!("aardvark {} zyzzyva", "word ".repeat(10_000));
    world.write("20260101-long", "A long one", "", &body);
    assert_eq!(world.ids("aardvark"), ["20260101-long"]);
    assert_eq!(world.ids("zyzzyva"), [""; 0]);
}

#[test]
fn evidence_with_too_many_quotes_proves_nothing_and_hides_no_memory() {
    let world = World::new();
    world.write("20260101-quoted", "The queue is blue", "", &"ab".repeat(30_000));
    let folder = world.dir.path().join("meta/evidence");
    fs::create_dir_all(&folder).unwrap();
    let quote = r#"{"text":"ababx","speaker":"tool","place":"","at":""}"#;
    let quotes = vec![quote; 18_000].join(",");
    let text = format!(r#"{{"version":1,"id":"20260101-quoted","quotes":[{quotes}]}}"#);
    assert!(text.len() < 1 << 20, "a larger file is not read at all");
    fs::write(folder.join("20260101-quoted.json"), text).unwrap();
    assert_eq!(world.ids("blue queue"), ["20260101-quoted"]);
    let index = world.open(later());
    assert_eq!(index.snapshot().find_unproven().len(), 1);
    assert!(world.store.evidence(&"20260101-quoted".parse().unwrap()).is_err());
}

#[test]
fn a_look_without_time_takes_in_one_piece_and_leaves_the_rest() {
    let mut world = world(600, &"word ".repeat(12_000));
    let rules = Rules { index_time: Some(std::time::Duration::ZERO), ..Rules::default() };
    let scope = WriteScope::open(world.dir.path(), Access::Shared).unwrap();
    world.store = Store::new(scope, rules);
    let (n_left, n_indexed) = look(&world, IndexBudget::OF_ONE_LOOK);
    assert_eq!(n_left + n_indexed, 600);
    assert_eq!(n_indexed, 64, "1 MiB");
}
