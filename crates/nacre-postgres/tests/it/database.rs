//! The connection itself: the schema, limits, a server that goes and comes back.

use std::time::Duration;

use nacre_core::catalog::{CatalogError, ClaimOrder, JobQueue as _};
use nacre_postgres::database::{DatabaseError, Health, Migration, NEWEST};
use nacre_postgres::queue::SharedQueue;

use crate::server::Server;

#[test]
fn the_schema_is_made_once_and_a_newer_one_is_refused() {
    let Some(server) = Server::start() else { return };
    let database = server.connect();
    let error = SharedQueue::open(&database).unwrap_err();
    assert!(matches!(error, DatabaseError::Older { found: 0, .. }), "{error:?}");
    let first = database.migrate().unwrap();
    assert_eq!(
        first,
        Migration {
            from: 0,
            to: NEWEST,
            steps: vec!["queue", "search", "state", "readers", "people", "audience"]
        }
    );
    let second = database.migrate().unwrap();
    assert_eq!(second, Migration { from: NEWEST, to: NEWEST, steps: Vec::new() });
    SharedQueue::open(&database).unwrap();
    server.sql("INSERT INTO nacre.migration (version, name) VALUES (99, 'later')");
    for error in [database.migrate().unwrap_err(), SharedQueue::open(&database).unwrap_err()] {
        assert!(matches!(error, DatabaseError::Newer { found: 99 }), "{error:?}");
    }
}

#[test]
fn several_servers_may_make_the_schema_at_once() {
    let Some(server) = Server::start() else { return };
    std::thread::scope(|scope| {
        let begun: Vec<_> =
            (0..4).map(|_| scope.spawn(|| server.connect().migrate().unwrap())).collect();
        let taken: usize = begun.into_iter().map(|one| one.join().unwrap().steps.len()).sum();
        assert_eq!(taken, NEWEST as usize, "each step was taken once");
    });
}

#[test]
fn a_server_that_crashes_is_away_and_then_used_again() {
    let Some(mut server) = Server::start() else { return };
    let database = server.database();
    let mut queue = SharedQueue::open(&database).unwrap();
    let now = jiff::Timestamp::from_second(2_000_000_000).unwrap();
    let mut claim = || queue.claim("w", now, Duration::from_secs(9), ClaimOrder::OldestFirst);
    assert!(claim().unwrap().is_none());
    server.crash();
    assert_eq!(database.health(), Health::Away);
    let error = claim().unwrap_err();
    assert!(matches!(error, CatalogError::Shared { is_passing: true, .. }), "{error:?}");
    server.run();
    assert!(claim().unwrap().is_none(), "the same queue works again");
    assert!(matches!(database.health(), Health::Ready { .. } | Health::Slow { .. }));
}

#[test]
fn calls_end_in_time_however_slow_the_database_is() {
    let Some(server) = Server::start() else { return };
    server.database();
    let hurried = server.connect_with(|options| {
        options.max_connections = 1;
        options.wait_for_connection = Duration::from_millis(200);
        options.call_timeout = Duration::from_secs(1);
    });
    let now = jiff::Timestamp::from_second(2_000_000_000).unwrap();
    // Somebody else holds the table.
    std::thread::scope(|scope| {
        let holder = scope.spawn(|| {
            server.sql(
                "BEGIN; LOCK TABLE nacre.service_run IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(5)",
            )
        });
        std::thread::sleep(Duration::from_millis(700));
        let blocked =
            scope.spawn(|| SharedQueue::open(&hurried).unwrap().begin_run("a", "sync", now));
        std::thread::sleep(Duration::from_millis(50));
        // The only connection is in use.
        let refused = SharedQueue::open(&hurried);
        let error = blocked.join().unwrap().unwrap_err();
        assert!(matches!(error, CatalogError::Shared { is_passing: true, .. }), "{error:?}");
        if let Err(error) = refused {
            assert!(error.is_passing(), "{error:?}");
        }
        holder.join().unwrap();
    });
    SharedQueue::open(&hurried).unwrap().begin_run("a", "sync", now).unwrap();
}

#[test]
fn one_server_leads_until_its_connection_ends() {
    let Some(mut server) = Server::start() else { return };
    let (one, other) = (server.database(), server.database());
    let leadership = one.try_lead().unwrap().unwrap();
    assert!(leadership.is_held());
    assert!(other.try_lead().unwrap().is_none(), "there is one already");
    drop(leadership);
    let end = std::time::Instant::now() + Duration::from_secs(10);
    let leadership = loop {
        match other.try_lead().unwrap() {
            Some(leadership) => break leadership,
            None => assert!(std::time::Instant::now() < end, "nobody leads"),
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    server.crash();
    assert!(!leadership.is_held());
    server.run();
    assert!(one.try_lead().unwrap().is_some(), "the next one leads");
}
