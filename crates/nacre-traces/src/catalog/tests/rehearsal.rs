//! Tests that a dry run on a copy makes the same decisions as a sync and does not change the
//! catalog.

use super::*;
use std::ops::ControlFlow;

/// Returns the sessions that a sync would process, in order.
fn claim_all(catalog: &mut Catalog, now: Timestamp) -> Vec<String> {
    let mut ids = Vec::new();
    while let Some(claim) = catalog.claim("t", now, LEASE, ClaimOrder::OldestFirst).unwrap() {
        ids.push(catalog.session(&claim.key).unwrap().facts.id);
        let done = Outcome::Done { run: "run".to_owned() };
        catalog.finish(&claim, &done, now).unwrap();
    }
    ids
}

#[test]
fn a_copy_admits_what_the_catalog_then_admits() {
    let mut world = World::new();
    world.write("one", "/work/shop", &["use sqlite"]);
    world.write("by-hand", "/work/shop", &["skip me"]);
    world.refresh();
    let skipped = world.catalog.session("by-hand").unwrap().key;
    let now = world.now;
    world.catalog.skip(&[skipped], "by hand", now).unwrap();
    world.write("elsewhere", "/other", &["not ours"]);
    world.write("empty", "/work/shop", &[]);
    world.write("two", "/work/shop", &["use redis"]);
    world.append("by-hand", &line("more"));
    let (states, n_changes) = (world.states(), world.catalog.connection.total_changes());

    let mut copy = world.catalog.rehearsal().unwrap();
    let report = copy.refresh(&world.options(), |_| ControlFlow::Continue(())).unwrap();
    assert_eq!((report.opened.len(), report.read, report.unchanged), (4, 4, 1));
    let promised = claim_all(&mut copy, now);
    assert_eq!(promised, ["one", "two"]);
    assert_eq!((world.states(), world.catalog.connection.total_changes()), (states, n_changes));

    let report = world.refresh();
    assert_eq!((report.read, report.unchanged), (4, 1));
    assert_eq!(claim_all(&mut world.catalog, now), promised);
}

#[test]
fn a_copy_leaves_a_session_alone_that_is_still_written_to() {
    let mut world = World::new();
    world.write("one", "/work/shop", &["use sqlite"]);
    world.now = "2026-11-01T00:00:00Z".parse().unwrap();
    let mut copy = world.catalog.rehearsal().unwrap();
    copy.refresh(&world.options(), |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(claim_all(&mut copy, world.now), Vec::<String>::new());
    let later = world.now.checked_add(Duration::from_secs(3600)).unwrap();
    assert_eq!(claim_all(&mut copy, later), ["one"]);
}

#[test]
fn a_copy_keeps_nothing_of_what_was_said() {
    let mut world = World::new();
    world.write("one", "/work/shop", &["use sqlite"]);
    world.refresh();
    world.append("one", &line("use redis"));
    let mut copy = world.catalog.rehearsal().unwrap();
    assert_eq!(copy.refresh(&world.options(), |_| ControlFlow::Continue(())).unwrap().resumed, 1);
    let count = "SELECT count(*) FROM message";
    let n_texts: i64 = copy.connection.query_row(count, [], |row| row.get(0)).unwrap();
    assert_eq!(n_texts, 0);
}

#[test]
fn a_catalog_that_went_away_is_not_copied_as_an_empty_one() {
    let world = World::new();
    for tail in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(world.dir.path().join(format!("catalog.sqlite3{tail}")));
    }
    assert!(matches!(world.catalog.rehearsal(), Err(CatalogError::Open { .. })));
}
