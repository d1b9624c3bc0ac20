//! Tests that caching snapshots does not change a process's results.

use super::tests::{World, later, owner};
use super::*;

/// Searches with cached snapshots.
fn kept_ids(world: &World, kept: &Arc<KeptSnapshots>, query: &str, due: DueLook) -> Vec<String> {
    let store = &world.store;
    let index = MemoryIndex::open_kept(store, &owner(), later(), Some(kept), due).unwrap();
    let options = MemoryOptions { mode: Mode::Hybrid, limit: 2, archived: false };
    let found = index.offer(&Query::parse(query, later()), &options);
    let ids = found.hits.iter().map(|hit| format!("{} {}", hit.memory.at.id, hit.memory.title));
    ids.chain([format!("of {}", found.total)]).collect()
}

fn fresh_ids(world: &World, query: &str) -> Vec<String> {
    kept_ids(world, &Arc::default(), query, DueLook::Files)
}

#[test]
fn the_same_question_is_ranked_once_and_shown_as_the_files_are() {
    let world = World::new();
    for n in 0..30 {
        world.write(
            &format!("20260101-n{n:02}"),
            &format!("Queue number {n}"),
            "",
            "It is a table.",
        );
    }
    let kept = Arc::default();
    let first = kept_ids(&world, &kept, "queue", DueLook::Files);
    assert_eq!(first, fresh_ids(&world, "queue"));
    let index =
        MemoryIndex::open_kept(&world.store, &owner(), later(), Some(&kept), DueLook::Folders);
    let snapshot = Arc::clone(&index.unwrap().snapshot);
    assert_eq!(kept_ids(&world, &kept, "queue", DueLook::Folders), first);
    let again =
        MemoryIndex::open_kept(&world.store, &owner(), later(), Some(&kept), DueLook::Folders);
    assert!(Arc::ptr_eq(&snapshot, &again.unwrap().snapshot), "nothing is read again");

    // An in-place edit is shown immediately, but affects the result order only after the next file
    // scan.
    let id = first[0].split(' ').next().unwrap();
    world.write(id, "Something else altogether", "", "Nothing.");
    let edited = kept_ids(&world, &kept, "queue", DueLook::Folders);
    assert!(edited[0].ends_with("Something else altogether"), "{edited:?}");
    assert_eq!(kept_ids(&world, &kept, "queue", DueLook::Files), fresh_ids(&world, "queue"));

    // The next search that performs a scan finds the new file, even if it checks only directories.
    world.write("20260102-new", "The queue queue queue", "", "A queue.");
    let unlooked = kept_ids(&world, &kept, "queue", DueLook::Nothing);
    assert!(unlooked.iter().all(|line| !line.contains("20260102-new")), "{unlooked:?}");
    assert_eq!(kept_ids(&world, &kept, "queue", DueLook::Folders), fresh_ids(&world, "queue"));
    assert_eq!(
        kept_ids(&world, &kept, "\"a queue\"", DueLook::Folders),
        fresh_ids(&world, "\"a queue\"")
    );
}
