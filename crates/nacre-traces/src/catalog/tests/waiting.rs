//! Tests why sessions wait, and how sessions are counted without a catalog.

use super::*;
use crate::agents::ADAPTERS;
use crate::agents::trace_at;
use crate::transcript::Sink;

#[test]
fn a_look_counts_the_sessions_of_one_repository_from_their_beginnings() {
    let world = World::new();
    world.write("one", "/work/shop", &["use sqlite", "and more", "and more"]);
    world.write("two", "/work/shop/src", &["use redis"]);
    world.write("silent", "/work/shop", &[]);
    world.write("inner", "/work/shop/inner/src", &["of another project"]);
    world.write("other", "/work/other", &["use mysql"]);
    let options = world.options();
    let inner = [PathBuf::from("/work/shop/inner")];
    let root = PathBuf::from("/work/shop");
    let found = look(&options.connections, &root, &inner, || true);
    assert_eq!((found.sessions(), found.sources, found.is_partial), (2, 5, false));
    assert_eq!(found.agents.get(&Agent::Generic), Some(&2));
    let stopped = look(&options.connections, &root, &inner, || false);
    assert_eq!((stopped.sessions(), stopped.is_partial), (0, true));
    let trace = trace_at(&world.trace("one")).unwrap();
    let adapter = ADAPTERS.iter().find(|adapter| adapter.agent() == Agent::Generic).unwrap();
    let read = adapter.read(&trace, None, Sink::opening(&mut |_| {})).unwrap();
    assert_eq!(read.facts.counts.user, 1, "the rest of the file is not read");
}

#[test]
fn what_waits_is_counted_by_its_reason() {
    let mut world = World::new();
    world.write("old", "/work/shop", &["use sqlite"]);
    world.write("a", "/elsewhere/a", &["one"]);
    world.write("b", "/elsewhere/a", &["two"]);
    world.write("c", "/elsewhere/c", &["three"]);
    world.refresh();
    let waiting = world.catalog.waiting(world.now).unwrap();
    assert_eq!((waiting.ready, waiting.active, waiting.retried), (1, None, None));
    let folders = [("/elsewhere/a".to_owned(), 2), ("/elsewhere/c".to_owned(), 1)];
    assert_eq!(waiting.unregistered, folders);
    let claim =
        world.catalog.claim("w", world.now, LEASE, ClaimOrder::OldestFirst).unwrap().unwrap();
    let failed = Outcome::Failed { reason: "no".to_owned() };
    world.catalog.finish(&claim, &failed, world.now, &RetryPolicy::default()).unwrap();
    let waiting = world.catalog.waiting(world.now).unwrap();
    let retried = waiting.retried.unwrap();
    assert_eq!((waiting.ready, retried.sessions, retried.example), (0, 1, claim.key));
}

#[test]
fn a_session_in_use_is_active_also_when_its_project_comes_later() {
    let mut world = World::new();
    world.projects.clear();
    world.now = Timestamp::now();
    world.write("one", "/work/shop", &["use sqlite"]);
    world.refresh();
    assert_eq!(world.catalog.waiting(world.now).unwrap().unregistered.len(), 1);
    world.projects.push(PathBuf::from("/work/shop"));
    assert_eq!(world.refresh().readmitted, 1);
    let waiting = world.catalog.waiting(world.now).unwrap();
    let active = waiting.active.unwrap();
    assert_eq!((waiting.ready, active.sessions), (0, 1));
    assert!(active.ready_at > world.now);
}

#[test]
fn what_was_said_before_a_project_was_registered_is_found_in_it() {
    let mut world = World::new();
    world.projects.clear();
    world.write("one", "/work/shop", &["use sqlite"]);
    world.refresh();
    assert_eq!(world.search("sqlite", Some("/work/shop")), Vec::<String>::new());
    assert_eq!(world.search("sqlite", None), ["use sqlite"]);
    world.projects.push(PathBuf::from("/work/shop"));
    world.refresh();
    assert_eq!(world.search("sqlite", Some("/work/shop")), ["use sqlite"]);
}
